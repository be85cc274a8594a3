"""Read the mount table, and find the folders to cover.

Covers protect the user's files against writes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

_SYSTEM: Final = ("/proc", "/sys", "/dev")
"""Folders that are interfaces of the kernel, without files of users."""
_SHARED_MEMORY: Final = "/dev/shm"
_NOT_FILES: Final = frozenset({"autofs", "nsfs", "binfmt_misc"})
_ESCAPED: Final = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of the mount table: folder, type of file system, whether read-only.

    See proc_pid_mountinfo(5).
    """

    path: str
    kind: str
    read_only: bool


@dataclass(frozen=True, slots=True)
class Cover:
    """A path to cover.

    ``folder`` covers a folder with all its contents, ``split`` only the entries of a folder, ``file`` one
    file.
    """

    path: str
    kind: Literal["folder", "split", "file"]


def read_mounts(table: str = "/proc/self/mountinfo") -> list[Mount]:
    """Return the mounts of this process in the order of the mount table.

    A later mount hides an earlier mount on the same path. Raises ``OSError``.
    """
    with open(table, "rb") as lines:
        return list(map(_mount, lines))


def _mount(line: bytes) -> Mount:
    fields, _, rest = line.partition(b" - ")
    path, options = fields.split()[4:6]
    kind, _, *of_file_system = rest.split()
    read_only = b"ro" in options.split(b",") or b"ro" in b",".join(of_file_system[-1:]).split(b",")
    plain = _ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), path)
    return Mount(os.fsdecode(plain), os.fsdecode(kind), read_only)


def covers(mounts: Iterable[Mount]) -> Iterator[Cover]:
    """Yield the paths to cover; no path is inside of another, except in split folders.

    A folder with mounts below it is split into its entries, for two reasons: in a user namespace, the kernel
    refuses a mount that would reveal files below other mounts (``EINVAL``), and one cover of the whole folder
    would hide the mounts. Mounts that this user cannot reach, such as those of other users' containers, need
    no cover.
    """
    visible = {mount.path: mount for mount in mounts}
    for path, mount in sorted(visible.items()):
        if _holds_files(path) and not mount.read_only and mount.kind not in _NOT_FILES and _is_reached(path):
            yield from _of_folder(path, visible)


def _is_reached(path: str) -> bool:
    try:
        os.lstat(path)
    except PermissionError:
        return False
    except OSError:
        pass  # a file system that does not respond: the attempt to cover it reports this
    return True


def _of_folder(path: str, mounts: Collection[str]) -> Iterator[Cover]:
    below = os.path.join(path, "")
    if path != "/" and not any(mount.startswith(below) for mount in mounts):
        yield Cover(path, "folder")
        return
    try:
        entries = list(os.scandir(path))
    except OSError:  # not readable: mounts below it have covers of their own
        return
    if path != "/":
        yield Cover(path, "split")
    for entry in entries:
        if entry.path in mounts or entry.is_symlink() or not _holds_files(entry.path):
            continue
        if entry.is_dir():
            yield from _of_folder(entry.path, mounts)
        elif path == "/" and entry.is_file() and _is_changed_by_user(entry):
            yield Cover(entry.path, "file")


def _is_changed_by_user(entry: os.DirEntry[str]) -> bool:
    """Return whether this user may write to a file, or could change its mode to do so."""
    return os.access(entry.path, os.W_OK) or entry.stat().st_uid == os.geteuid()


def _holds_files(path: str) -> bool:
    return path == _SHARED_MEMORY or not any(is_within(path, system) for system in _SYSTEM)


def is_within(path: str, folder: str) -> bool:
    """Return whether a path equals a folder or is below the folder.

    Both must be absolute, without ``..``.
    """
    return path == folder or path.startswith(os.path.join(folder, ""))
