"""Landlock: the kernel forbids this thread and its children to change files.

Landlock can do this since Linux 6.2. See landlock(7) and landlock_create_ruleset(2). Forbidden writes fail,
whereas in a namespace they succeed without an effect on the user's files. Python's own writes are redirected
(:mod:`.guards`); Landlock restricts native code and child processes. It does not restrict changes of modes,
owners, times and attributes: see :mod:`.seccomp`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all architectures
_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_WRITE_FILE, _TRUNCATE, _REFER = 1 << 1, 1 << 14, 1 << 13
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_BLOCK = 1 << 11
_MAKE = sum(1 << bit for bit in range(6, 13))  # character device to symbolic link
_ALL = (_WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE, _REFER, _TRUNCATE)
"""Rights to change files: those added in versions 1, 2 and 3 of the interface."""
_OF_FILES = _WRITE_FILE | _TRUNCATE


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def restrict_writes(allowed: Iterable[Path]) -> bool:
    """Forbid writes outside of the ``allowed`` files and folders.

    Return whether the kernel supports this.
    """
    version = ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    # Older versions cannot forbid to truncate files.
    return version >= len(_ALL) and _enter_domain(sum(_ALL), allowed, gains_no_rights=True)


def keep_to_own_processes() -> bool:
    """Hide the files of other processes (``/proc/PID/root``, ``cwd``, ``fd``).

    Return whether it worked. A process in a Landlock domain, even one of root, may access only processes of
    the same domain. This domain allows everything below ``/``, so nothing else changes. The call needs
    ``CAP_SYS_ADMIN``.
    """
    return _enter_domain(_MAKE_BLOCK | _REFER, [Path("/")], gains_no_rights=False)


def _enter_domain(handled: int, allowed: Iterable[Path], *, gains_no_rights: bool) -> bool:
    """Give up the ``handled`` rights everywhere except below the ``allowed`` paths.

    Return whether the kernel supports this.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    ruleset = _Ruleset(handled)
    descriptor = libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.sizeof(ruleset), 0)
    if descriptor < 0:
        return False
    try:
        for path in allowed:
            _allow(libc, descriptor, path, handled)
        if gains_no_rights:
            libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return bool(libc.syscall(_RESTRICT_SELF, descriptor, 0) == 0)
    finally:
        os.close(descriptor)


def _allow(libc: Any, ruleset: int, path: Path, handled: int) -> None:
    place = os.open(path, os.O_PATH)
    try:
        rule = _PathBeneath(handled if path.is_dir() else handled & _OF_FILES, place)
        libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(place)
