"""A view of the file system for a program whose file changes are discarded.

The changes exist only in this view. A path that the program changed maps to a file in the folder of the run
(after a write), to the original of another path (after a move), or to nothing (after a removal). All other
paths map to themselves.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from .mounts import is_within

_exists, _islink, _isdir = os.path.lexists, os.path.islink, os.path.isdir
_stat, _lstat, _rename = os.stat, os.lstat, os.rename
_listdir, _mkdir, _symlink, _unlink, _realpath = os.listdir, os.mkdir, os.symlink, os.unlink, os.path.realpath


class FileShadow:
    """The file changes of a program.

    The methods take paths and raise errors like the functions of ``os``.
    """

    def __init__(self, folder: Path, passing: Collection[str]) -> None:
        self._folder = _realpath(folder)
        self._passing = (self._folder, *passing)
        self._numbers = itertools.count()
        self._changed: dict[str, str | None] = {}

    @property
    def has_changes(self) -> bool:
        """Whether the program sees anything that differs from the disk."""
        return bool(self._changed)

    def is_own(self, path: Any, *, follow: bool = True) -> bool:
        """Return whether a path is in a folder of the run and may be written directly."""
        return self._passes(self._key(path, follow=follow))

    def _passes(self, key: str) -> bool:
        return any(is_within(key, folder) for folder in self._passing)

    def reading(self, path: Any, *, follow: bool = True) -> Any:
        """Return the path to read instead of ``path``.

        Raises ``FileNotFoundError`` if the program removed ``path``.
        """
        if not self._changed:
            return path
        key = self._key(path, follow=follow)
        place = self._find(key)
        if place is None:
            raise _error(errno.ENOENT, path)
        # For unchanged files, return the path exactly as the program wrote it.
        return path if place == key else _like(path, place)

    def exists(self, path: Any, *, follow: bool = True) -> bool:
        """Return whether the path exists as the program sees it."""
        place = self._find(self._key(path, follow=follow))
        return place is not None and _exists(place)

    def writing(self, path: Any, *, copy: bool = True, create: bool = False, follow: bool = True) -> Any:
        """Return the path to write to instead of ``path``.

        At this path is a copy of the file or, if ``copy`` is false, an empty file.
        """
        key = self._key(path, follow=follow)
        if self._passes(key):
            return path
        place = self._find(key)
        if place is None or not _exists(place):
            self._need_folder_of(key, path)
            if not create:
                raise _error(errno.ENOENT, path)
        if place is not None and is_within(place, self._folder):
            return _like(path, place)
        if place is not None and _isdir(place):
            raise _error(errno.EISDIR, path)
        if place is not None and _exists(place) and not stat.S_ISREG(_stat(place).st_mode):
            raise _error(errno.EACCES, path)  # a device or a pipe
        own = self._new(key)
        if place is not None and _exists(place):
            if copy:
                shutil.copy2(place, own, follow_symlinks=follow)
            else:
                Path(own).touch()
                shutil.copymode(place, own)
        self._changed[key] = own
        return _like(path, own)

    def remove(self, path: Any) -> None:
        """Remove a file."""
        key = self._key(path, follow=False)
        place = self._need(key, path, _lstat)
        if _isdir(place) and not _islink(place):
            raise _error(errno.EISDIR, path)
        self._forget(key)

    def remove_folder(self, path: Any) -> None:
        """Remove an empty folder."""
        key = self._key(path, follow=False)
        if not _isdir(self._need(key, path, _lstat)):
            raise _error(errno.ENOTDIR, path)
        if self.names(path):
            raise _error(errno.ENOTEMPTY, path)
        self._forget(key)

    def make_folder(self, path: Any, mode: int = 0o777) -> None:
        """Make a folder."""
        key = self._key(path, follow=False)
        if self.exists(path, follow=False):
            raise _error(errno.EEXIST, path)
        self._need_folder_of(key, path)
        own = self._new(key)
        _mkdir(own, mode)
        self._changed[key] = own

    def move(self, source: Any, target: Any) -> None:
        """Move a file or a folder; replace a target of the same kind.

        A move into a folder of the run raises ``EXDEV``, like a move between file systems, so that the caller
        copies instead.
        """
        old, new = self._key(source, follow=False), self._key(target, follow=False)
        source_place, target_place = self._need(old, source, _lstat), self._find(new)
        self._need_folder_of(new, target)
        if old == new:
            return
        if self._passes(new):
            raise _error(errno.EXDEV, source)
        if is_within(new, old):
            raise _error(errno.EINVAL, source)
        if is_within(old, new):
            raise _error(errno.ENOTEMPTY, target)
        source_is_folder = _isdir(source_place) and not _islink(source_place)
        if target_place is not None and _exists(target_place):
            target_is_folder = _isdir(target_place) and not _islink(target_place)
            if source_is_folder != target_is_folder:
                raise _error(errno.EISDIR if target_is_folder else errno.ENOTDIR, target)
            if target_is_folder and self.names(target):
                raise _error(errno.ENOTEMPTY, target)
        if self._passes(old):
            own = self._new(new)
            _rename(source_place, own)
            self._forget(new)
            self._changed[new] = own
            return
        inner = os.path.join(old, "")
        below = {key: value for key, value in list(self._changed.items()) if key.startswith(inner)}
        self._forget(new)
        self._forget(old)
        self._changed[new] = source_place
        self._changed.update({new + key[len(old) :]: value for key, value in below.items()})

    def link(self, source: Any, target: Any) -> None:
        """Create a copy instead of a hard link, so that writes do not change the original."""
        if self.exists(target, follow=False):
            raise _error(errno.EEXIST, target)
        shutil.copy2(self.reading(source), self.writing(target, create=True))

    def link_symbolically(self, source: Any, target: Any, *_: Any) -> None:
        """Make a symbolic link."""
        key = self._key(target, follow=False)
        if self.exists(target, follow=False):
            raise _error(errno.EEXIST, target)
        self._need_folder_of(key, target)
        own = self._new(key)
        _symlink(source, own)
        self._changed[key] = own

    def names(self, path: Any) -> list[str]:
        """Return the names of a folder's entries as the program sees them."""
        key = self._key(path)
        place = self._find(key)
        if place is None:
            raise _error(errno.ENOENT, path)
        names = dict.fromkeys(_listdir(place))
        for changed, own in list(self._changed.items()):
            folder, name = os.path.split(changed)
            if folder == key:
                names.pop(name, None)
                if own is not None:
                    names[name] = None
        return list(names)

    def place(self, path: Any) -> str | None:
        """Return the real location of a path, without following a link.

        ``None`` if the program removed the path.
        """
        return self._find(self._key(path, follow=False))

    def _need_folder_of(self, key: str, path: Any) -> None:
        if not _isdir(self._need(os.path.dirname(key), path, _stat)):
            raise _error(errno.ENOTDIR, path)

    def _need(self, key: str, path: Any, look: Callable[[str], Any]) -> str:
        """Return the real location of a path.

        Raises ``FileNotFoundError`` if the program removed the path, or the error of ``look`` for the
        location.
        """
        place = self._find(key)
        if place is None:
            raise _error(errno.ENOENT, path)
        try:
            look(place)
        except OSError as error:
            raise _error(error.errno or errno.ENOENT, path) from None
        return place

    def _find(self, key: str) -> str | None:
        """Return the real location of a key; ``None`` if the program removed the path."""
        head, tail = key, ""
        while head not in self._changed:
            parent, name = os.path.split(head)
            if parent == head:
                return key
            head, tail = parent, os.path.join(name, tail) if tail else name
        place = self._changed[head]
        return os.path.join(place, tail) if place and tail else place

    def _forget(self, key: str) -> None:
        self._changed = {name: own for name, own in list(self._changed.items()) if not is_within(name, key)}
        self._changed[key] = None

    def _new(self, key: str) -> str:
        # A forked process continues with the same numbers.
        folder = os.path.join(self._folder, f"{os.getpid()}-{next(self._numbers)}")
        _mkdir(folder)
        return os.path.join(folder, os.path.basename(key))

    def _key(self, path: Any, *, follow: bool = True) -> str:
        """Return the key of a path in ``_changed``.

        The key is the absolute path, with links resolved as the program sees them.
        """
        folder, name = os.path.split(os.path.abspath(os.fsdecode(path)))
        key = os.path.join(self._real_folder(folder), name)
        for _ in range(40):  # as many links as Linux follows
            place = self._find(key)
            if not follow or place is None or not _islink(place):
                return key
            target = os.path.join(os.path.dirname(key), os.readlink(place))
            folder, name = os.path.split(os.path.abspath(target))
            key = os.path.join(self._real_folder(folder), name)
        raise _error(errno.ELOOP, path)

    def _real_folder(self, folder: str) -> str:
        # A folder that the program moved or created is not a link.
        changed = self._find(folder)
        return folder if changed != folder else _realpath(folder)


def _like(path: Any, other: str) -> Any:
    return os.fsencode(other) if isinstance(os.fspath(path), bytes) else other


def _error(number: int, path: Any) -> OSError:
    return OSError(number, os.strerror(number), os.fspath(path))


class ShadowEntry:
    """An ``os.DirEntry`` of a folder that the program has changed."""

    def __init__(self, folder: Any, name: Any) -> None:
        self.name = name
        self.path = os.path.join(folder, name)

    def __fspath__(self) -> Any:
        return self.path

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether the entry is a folder."""
        return os.path.isdir(self.path) and (follow_symlinks or not self.is_symlink())

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether the entry is a file."""
        return os.path.isfile(self.path) and (follow_symlinks or not self.is_symlink())

    def is_symlink(self) -> bool:
        """Return whether the entry is a symbolic link."""
        return os.path.islink(self.path)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the result of ``os.stat`` for the entry."""
        return os.stat(self.path, follow_symlinks=follow_symlinks)

    def inode(self) -> int:
        """Return the inode number of the entry."""
        return os.lstat(self.path).st_ino


class ShadowEntries:
    """The iterator that the redirected ``os.scandir`` returns."""

    def __init__(self, entries: list[ShadowEntry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[ShadowEntry]:
        return self._entries

    def __next__(self) -> ShadowEntry:
        return next(self._entries)

    def __enter__(self) -> ShadowEntries:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing, because no descriptor is open."""
