"""Reopen the files that a process opened before folders were covered.

Their descriptors would bypass the covers.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from dataclasses import dataclass
from typing import Final

_ON_OPENING: Final = os.O_CREAT | os.O_EXCL | os.O_TRUNC
_NAMES: Final = "/proc/self/fd"
_PART_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class OpenFile:
    """An open file or folder: its descriptor, its path, its flags, and its offset.

    ``path`` is empty if no path leads to the file any more.
    """

    descriptor: int
    path: str
    flags: int
    offset: int

    def reopen(self) -> None:
        """Open the path again, under the same descriptor.

        If the file has no path, or a path that this user must not open, the descriptor gets a copy of the
        file.
        """
        try:
            anew = os.open(self.path, self.flags & ~_ON_OPENING)
        except OSError:
            anew = self._copy()
        self._replace(anew)

    def reopen_to_read(self) -> None:
        """Make the descriptor read-only.

        Raises ``OSError``.
        """
        if self.flags & os.O_ACCMODE != os.O_RDONLY and not self.flags & os.O_PATH:
            self._replace(os.open(self.path or f"{_NAMES}/{self.descriptor}", os.O_RDONLY))

    def _copy(self) -> int:
        """Return a descriptor of a copy in memory, or of the null device if unreadable."""
        with contextlib.suppress(OSError):
            copy, offset = os.memfd_create("fullgraph"), 0
            while part := os.pread(self.descriptor, _PART_BYTES, offset):
                offset += os.write(copy, part)
            return copy
        return os.open(os.devnull, os.O_RDWR)

    def _replace(self, anew: int) -> None:
        with contextlib.suppress(OSError):  # the null device has no offset
            os.lseek(anew, self.offset, os.SEEK_SET)
        os.dup2(anew, self.descriptor, inheritable=os.get_inheritable(self.descriptor))
        os.close(anew)


def open_files() -> list[OpenFile]:
    """Return the files and folders that this process has open, except deleted ones.

    Empty on all systems except Linux.
    """
    if sys.platform != "linux":
        return []
    return [file for name in os.listdir(_NAMES) if (file := _described(int(name)))]


def _described(descriptor: int) -> OpenFile | None:
    import fcntl  # not on Windows

    try:
        status = os.fstat(descriptor)
        path = os.readlink(f"{_NAMES}/{descriptor}")
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    except OSError:  # the descriptor that lists the others is closed by now
        return None
    is_file = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    if not is_file or not status.st_nlink or not path.startswith("/"):
        return None
    try:
        if not os.path.samestat(os.stat(path), status):
            path = ""
    except OSError:
        path = ""
    has_offset = stat.S_ISREG(status.st_mode) and not flags & os.O_PATH
    return OpenFile(descriptor, path, flags, os.lseek(descriptor, 0, os.SEEK_CUR) if has_offset else 0)
