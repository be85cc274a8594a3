"""The attributes that a Linux process passes on to the processes it starts."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
from pathlib import Path
from typing import Final

_STATUS: Final = re.compile(
    r"^(?:Umask|Uid|Gid|Groups|SigBlk|SigIgn|Cap\w+|NoNewPrivs|Seccomp\w*|Speculation\w+|THP_enabled"
    r"|(?:Cpus|Mems)_allowed):.*",
    re.MULTILINE,
)
"""Fields of proc_pid_status(5): credentials, signals, confinement and processors."""
_FILES: Final = (
    "limits",
    "cgroup",
    "personality",
    "oom_score_adj",
    "timerslack_ns",
    "coredump_filter",
    "loginuid",
    "timens_offsets",
    "attr/current",
    "attr/exec",
)
"""Files of ``/proc/self`` that hold only inherited attributes. A kernel without a feature lacks its file."""
_PRCTLS: Final = (27, 34, 66)
"""PR_GET_SECUREBITS, PR_MCE_KILL_GET and PR_GET_MDWE of prctl(2)."""
_SYSCALLS: Final = {"x86_64": (252, 239, 250), "aarch64": (31, 236, 219)}
"""The numbers of ioprio_get(2), get_mempolicy(2) and keyctl(2)."""
_IOPRIO_WHO_PROCESS: Final = 1
_KEYCTL_GET_KEYRING_ID, _SESSION_KEYRING = 0, -3


def inherited() -> str:
    """Return a text that is equal in two processes if their children start alike.

    The text contains the attributes that children inherit, for example namespaces and scheduling.
    """
    status = _STATUS.findall(_read("status"))
    spaces = [_link(f"ns/{name}") for name in sorted(os.listdir("/proc/self/ns"))]
    scheduling = (
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getscheduler(0),
        os.sched_getparam(0).sched_priority,
    )
    return repr((status, [_read(name) for name in _FILES], spaces, scheduling, _root(), _of_kernel()))


def _root() -> object:
    """Identify the root folder by mount, device and inode.

    Device and inode alone do not suffice: a folder can be mounted several times.
    """
    descriptor = os.open("/", os.O_PATH)
    try:
        mount = [line for line in _read(f"fdinfo/{descriptor}").splitlines() if line.startswith("mnt_id")]
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return mount, status.st_dev, status.st_ino


def _of_kernel() -> object:
    """Return attributes that no file has: I/O priority, memory policy, keyring, prctl."""
    libc = ctypes.CDLL(None)
    flags = [libc.prctl(option, 0, 0, 0, 0) for option in _PRCTLS]
    if (numbers := _SYSCALLS.get(platform.machine())) is None:
        return flags
    ioprio_get, get_mempolicy, keyctl = numbers
    mode, nodes = ctypes.c_int(), (ctypes.c_ulong * 64)()
    libc.syscall(get_mempolicy, ctypes.byref(mode), nodes, ctypes.sizeof(nodes) * 8, None, 0)
    priority = libc.syscall(ioprio_get, _IOPRIO_WHO_PROCESS, 0)
    keyring = libc.syscall(keyctl, _KEYCTL_GET_KEYRING_ID, ctypes.c_long(_SESSION_KEYRING), 0)
    return flags, mode.value, list(nodes), priority, keyring


def _read(name: str) -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/self", name).read_text(errors="replace")
    return ""


def _link(name: str) -> str:
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/self/{name}")
    return ""
