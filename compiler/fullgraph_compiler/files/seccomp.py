"""A system call filter that ignores changes of modes, owners, times, attributes.

The filter also applies to children. It is needed because Landlock does not restrict these changes. The filter
(seccomp(2), classic BPF) cannot see paths: it lets a change pass only if the unused sixth argument is a
secret of this process, which :func:`change` passes. So the guards can change files of the run, and all other
code can change no file.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

_RET, _LOAD, _SHIFT, _AND, _EQUAL, _AT_LEAST = 0x06, 0x20, 0x74, 0x54, 0x15, 0x35  # linux/bpf_common.h
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000  # linux/seccomp.h
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Byte offsets of the fields in ``struct seccomp_data``."""
_X32: Final = 0x40000000
_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_PR_SET_NO_NEW_PRIVS = 38
_HERE, _NO_FOLLOW = -100, 0x100  # linux/fcntl.h
_MACHINES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SECCOMP: Final = {"x86_64": 317, "aarch64": 277}
_NOW: Final = (1 << 30) - 1  # UTIME_NOW

# Numbers by call: x86_64 and aarch64, ``None`` if the call does not exist. From 403 on they are equal.
_CHANGES: Final[dict[str, tuple[int | None, int | None]]] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
_ATTRIBUTES: Final[dict[str, tuple[int | None, int | None]]] = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}
_REFUSED: Final[dict[str, tuple[int | None, int | None]]] = {
    "open_by_handle_at": (304, 265),
    "io_uring_setup": (425, 425),  # a ring makes calls that no filter sees
    "mount_setattr": (442, 442),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
}
_IOCTL: Final = (16, 29)
_OF_FILE_SYSTEMS: Final = (0x12, 0x58, 0x66, 0x76, 0x94)
"""The types of ``ioctl`` requests that change flags of files (FS_IOC_SETFLAGS) or whole file systems."""

Instruction = tuple[int, int, int, int]


class _MachineNumbers(NamedTuple):
    architecture: int
    column: int
    """The index of this machine's call numbers in the tuples of the tables."""


_secret = 0
"""The sixth argument that lets a change pass; 0 before :func:`restrict_changes`."""


def restrict_changes() -> bool:
    """Filter the system calls of all threads and children of this process.

    Return whether the kernel supports this.
    """
    global _secret
    machine = os.uname().machine if sys.platform == "linux" else ""
    if machine not in _MACHINES or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    secret = secrets.randbits(63) | 1
    filters = program(_MachineNumbers(_MACHINES[machine], list(_MACHINES).index(machine)), secret)
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *filter_) for filter_ in filters))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(filters), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.syscall(_SECCOMP[machine], _SET_MODE_FILTER, _ALL_THREADS, header) != 0:
        return False
    _secret = secret
    return True


def program(machine: _MachineNumbers, secret: int) -> list[Instruction]:
    """Return the instructions of the filter.

    An instruction is an operation code, two jump offsets (if true, if false), and a value.
    """
    return [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, machine.architecture),
        _answer(errno.EPERM),  # a 32-bit program uses other numbers
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        _answer(errno.EPERM),
        *_for_each(_CHANGES, machine, _unless_secret(secret, 0)),
        *_for_each(_ATTRIBUTES, machine, _unless_secret(secret, errno.EOPNOTSUPP)),
        *_for_each(_REFUSED, machine, [_answer(errno.EPERM)]),
        *_for_each({"ioctl": _IOCTL}, machine, _requests()),
        (_RET, 0, 0, _ALLOW),
    ]


def _for_each(
    calls: dict[str, tuple[int | None, int | None]] | dict[str, tuple[int, int]],
    machine: _MachineNumbers,
    then: list[Instruction],
) -> Iterator[Instruction]:
    """Yield, for each call, a test of its number and the instructions ``then``.

    ``then`` runs if the number matches, and must end the filter.
    """
    for numbers in calls.values():
        if (number := numbers[machine.column]) is not None:
            yield (_EQUAL, 0, len(then), number)
            yield from then


def _unless_secret(secret: int, number: int) -> list[Instruction]:
    sixth = _ARGUMENTS + 5 * 8
    return [
        (_LOAD, 0, 0, sixth),
        (_EQUAL, 0, 3, secret & 0xFFFFFFFF),
        (_LOAD, 0, 0, sixth + 4),
        (_EQUAL, 0, 1, secret >> 32),
        (_RET, 0, 0, _ALLOW),
        _answer(number),
    ]


def _requests() -> list[Instruction]:
    count = len(_OF_FILE_SYSTEMS)
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8),
        (_SHIFT, 0, 0, 8),
        (_AND, 0, 0, 0xFF),
        *((_EQUAL, count - index, 0, kind) for index, kind in enumerate(_OF_FILE_SYSTEMS)),
        (_RET, 0, 0, _ALLOW),
        _answer(errno.ENOTTY),
    ]


def _answer(number: int) -> Instruction:
    return (_RET, 0, 0, _ERRNO | number)


# -- changes of the run's own files ------------------------------------------------------------


def changes() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return functions that pass the filter, by the blocked functions of ``os``."""
    return {
        os.chmod: _chmod,
        os.chown: _chown,
        os.utime: _utime,
        os.setxattr: _set_attribute,
        os.removexattr: _remove_attribute,
        os.fchmod: _chmod,
        os.fchown: _chown,
        os.lchown: lambda path, uid, gid: _chown(path, uid, gid, follow_symlinks=False),
    }


def _chmod(path: Any, mode: int, *, follow_symlinks: bool = True) -> None:
    if not follow_symlinks:
        raise NotImplementedError("chmod: follow_symlinks unavailable on this platform")
    sys.audit("os.chmod", path, mode, -1)
    change("fchmodat", path, _HERE, _encoded(path), mode)


def _chown(path: Any, uid: int, gid: int, *, follow_symlinks: bool = True) -> None:
    sys.audit("os.chown", path, uid, gid, -1)
    change("fchownat", path, _HERE, _encoded(path), uid, gid, 0 if follow_symlinks else _NO_FOLLOW)


def _utime(
    path: Any,
    times: tuple[float, float] | None = None,
    *,
    ns: tuple[int, int] | None = None,
    follow_symlinks: bool = True,
) -> None:
    sys.audit("os.utime", path, times, ns, -1)
    if ns is None and times is not None:
        ns = (int(times[0] * 10**9), int(times[1] * 10**9))
    pairs = [divmod(value, 10**9) for value in ns] if ns else [(0, _NOW)] * 2
    both = (ctypes.c_int64 * 4)(*(part for pair in pairs for part in pair))
    change("utimensat", path, _HERE, _encoded(path), both, 0 if follow_symlinks else _NO_FOLLOW)


def _set_attribute(
    path: Any, attribute: Any, value: Any, flags: int = 0, *, follow_symlinks: bool = True
) -> None:
    sys.audit("os.setxattr", path, attribute, value, flags)
    name = "setxattr" if follow_symlinks else "lsetxattr"
    change(name, path, _encoded(path), os.fsencode(attribute), bytes(value), len(value), flags)


def _remove_attribute(path: Any, attribute: Any, *, follow_symlinks: bool = True) -> None:
    sys.audit("os.removexattr", path, attribute)
    name = "removexattr" if follow_symlinks else "lremovexattr"
    change(name, path, _encoded(path), os.fsencode(attribute))


def change(call: str, path: Any, *arguments: Any) -> None:
    """Make a system call with the secret, so that the filter lets it pass.

    Raises ``OSError`` with ``path``.
    """
    number = {**_CHANGES, **_ATTRIBUTES}[call][list(_MACHINES).index(os.uname().machine)]
    words = [*(ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)]
    words += [ctypes.c_long(0)] * (5 - len(words))
    if ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number or 0), *words, ctypes.c_long(_secret)):
        failed = ctypes.get_errno()
        raise OSError(failed, os.strerror(failed), path)


def _encoded(path: Any) -> bytes:
    return os.fsencode(f"/proc/self/fd/{path}" if isinstance(path, int) else path)
