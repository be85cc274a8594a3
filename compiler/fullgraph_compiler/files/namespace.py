"""Make a process's writes private: a mount namespace with overlays on all folders.

It needs Linux 5.11 or newer. Python code, native code, memory maps and child processes see the writes of this
process; other processes do not. Sources: namespaces(7), user_namespaces(7), mount(2), and
``filesystems/overlayfs.rst`` of the kernel's documentation.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from .covering import NamespaceError, check, cover, libc, mount
from .descriptors import OpenFile, open_files
from .landlock import keep_to_own_processes
from .mounts import covers, read_mounts

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000  # linux/sched.h
_MS_REC, _MS_PRIVATE = 16384, 1 << 18  # linux/mount.h
_CAPABILITIES_V3: Final = 0x20080522  # linux/capability.h
_CAPABILITIES: Final = {
    2: "DAC_READ_SEARCH",  # open_by_handle_at(2)
    16: "SYS_MODULE",
    17: "SYS_RAWIO",
    19: "SYS_PTRACE",  # the files of other processes in /proc
    21: "SYS_ADMIN",  # mount(2)
    27: "MKNOD",  # raw disks
    40: "CHECKPOINT_RESTORE",  # /proc/self/map_files
}
"""The capabilities of root that would bypass covers, by their numbers in linux/capability.h."""
_PR_CAPBSET_DROP = 24  # linux/prctl.h
_MOST: Final = 500
"""The maximum number of covers. On a container host there may be more, which would take too long."""


_separated: Literal["", "mounts", "user"] = ""
"""The namespaces that this process or its parent created; ``user`` means a user and a mount namespace."""


def separate(*, anew: bool = False) -> None:
    """Move this process to a new mount namespace, in which it still sees all files.

    A process that is already in a new namespace stays there. With ``anew`` it gets another namespace,
    separate from that of the process that forked it. The process must have only one thread. Raises
    :class:`NamespaceError`.
    """
    global _separated
    if _separated and not anew:
        return
    if sys.platform != "linux":
        raise NamespaceError("only Linux has mount namespaces")
    if len(os.listdir("/proc/self/task")) > 1:
        raise NamespaceError("a library has started threads")  # they would remain in the old namespace
    # Root needs no user namespace, in which it could not write to files of other owners.
    if (_separated or os.geteuid() == 0) and libc().unshare(_CLONE_NEWNS) == 0:
        kind = _separated or "mounts"
    else:
        _unshare_user()
        kind = "user"
    mount(None, "/", flags=_MS_REC | _MS_PRIVATE)
    _separated = kind


def _unshare_user() -> None:
    uid, gid = os.geteuid(), os.getegid()
    check(libc().unshare(_CLONE_NEWUSER | _CLONE_NEWNS), "unshare")
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    except OSError as error:
        raise NamespaceError(f"the user id cannot be mapped: {error.strerror}") from None


def cover_files(scratch: Path, passing: Sequence[Path], *, anew: bool = False) -> tuple[str, ...]:
    """Cover all folders of this process, so that its writes are private.

    From now on, writes go to the folder ``scratch`` and to memory. Writes below the folders ``passing`` are
    not affected. Returns the folders that no overlay can cover and that are therefore read-only. Large files
    in folders that contain mounts are read-only, too. ``anew`` is passed to :func:`separate`. Raises
    :class:`NamespaceError`.
    """
    separate(anew=anew)
    try:
        to_cover = list(itertools.islice(covers(read_mounts()), _MOST + 1))
        if len(to_cover) > _MOST:
            raise NamespaceError(f"there are more than {_MOST} folders to cover")
        opened = open_files()
        read_only = cover(to_cover, scratch, passing, in_user_namespace=_separated == "user")
        _settle(os.getcwd(), opened)
    except OSError as error:
        raise NamespaceError(f"the folders cannot be covered: {error}") from None
    return read_only


def _settle(cwd: str, opened: Sequence[OpenFile]) -> None:
    """Enter ``cwd`` again, now below its cover, and block all ways around the covers.

    Also adapt functions of ``os`` that fail in overlays.
    """
    os.chdir(cwd)
    for file in opened:
        file.reopen()
    keep_to_own_processes()
    _drop_capabilities()
    # Only in ``os``, where nearly all code looks for them: searching all modules would take too long.
    for name, stand_in in (("rename", _renaming), ("replace", _renaming), ("copy_file_range", _copying)):
        real = getattr(os, name)
        own = functools.wraps(real)(stand_in(real))
        # A pickle of the function refers to the second module.
        for module in (os, sys.modules[os.name]):
            setattr(module, name, own)


def changed_paths(scratch: Path) -> set[str]:
    """Return the paths changed since :func:`cover_files`.

    Each path is relative to the covered folder in which it is.
    """
    layers = (*scratch.glob("upper*"), *scratch.glob("memory/upper*"))
    # A folder in a layer contains only changed entries. An empty folder is new.
    return {
        str(path.relative_to(layer))
        for layer in layers
        for path in layer.rglob("*")
        if path.is_symlink() or not path.is_dir() or not any(path.iterdir())
    }


def own_namespace() -> str:
    """Return the argument with which another process can :func:`join` this namespace."""
    return f"{_separated} {os.getpid()}"


def join(namespace: str) -> None:
    """Enter the namespace of another process of this user, to share its files.

    ``namespace`` is the result of :func:`own_namespace` in that process. Raises :class:`NamespaceError`.
    """
    global _separated
    kind, _, process = namespace.partition(" ")
    cwd, opened = os.getcwd(), open_files()
    try:
        for name in ("user", "mnt") if kind == "user" else ("mnt",):
            with open(f"/proc/{process}/ns/{name}") as file:
                check(libc().setns(file.fileno(), 0), "setns")
        _settle(cwd, opened)
    except OSError as error:
        raise NamespaceError(f"the namespace of the first rank cannot be joined: {error}") from None
    _separated = "user" if kind == "user" else "mounts"


def _drop_capabilities() -> None:
    """Drop the capabilities that would bypass covers.

    If this user is not root, drop all capabilities.
    """
    c_library = libc()
    for capability in _CAPABILITIES:
        c_library.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # for child processes
    # Effective, permitted and inheritable: the first 32 of each, then the others.
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0), (ctypes.c_uint32 * 6)()
    if os.geteuid() == 0:
        check(c_library.capget(header, sets), "capget")
        for capability in _CAPABILITIES:
            for index in range(3):
                sets[capability // 32 * 3 + index] &= ~(1 << capability % 32)
    check(c_library.capset(header, sets), "capset")


def _renaming(real: Callable[..., None]) -> Callable[..., None]:
    """Return a rename function that also works for a folder of a lower layer.

    overlayfs refuses to rename such a folder (``EXDEV``), so the folder is copied and removed.
    """

    def rename(src: Any, dst: Any, **kwargs: Any) -> None:
        try:
            real(src, dst, **kwargs)
        except OSError as error:
            if error.errno != errno.EXDEV or kwargs or not os.path.isdir(src):
                raise
            if os.path.isdir(dst):
                os.rmdir(dst)  # fails unless it is empty, as the real rename does
            shutil.copytree(src, dst, symlinks=True)
            shutil.rmtree(src)

    return rename


def _copying(real: Callable[..., int]) -> Callable[..., int]:
    """Return a ``copy_file_range`` that also works if overlayfs refuses (``EXDEV``)."""

    def copy_file_range(src: int, dst: int, count: int, *offsets: Any, **named: Any) -> int:
        try:
            return real(src, dst, count, *offsets, **named)
        except OSError as error:
            if error.errno != errno.EXDEV or offsets or named:
                raise
            return os.write(dst, os.read(src, count))

    return copy_file_range
