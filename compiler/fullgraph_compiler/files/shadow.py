"""Files as a program sees them that changes none: what it writes, moves and removes is noted here alone.

A path that it changed stands for a file in a folder of the run's own (a copy, once it is written to), for the
original of another path (once it is moved), or for nothing (once it is removed). Others are as on disk.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from .mounts import is_within

_exists, _islink, _isdir = os.path.lexists, os.path.islink, os.path.isdir
_stat, _lstat = os.stat, os.lstat
_listdir, _mkdir, _symlink, _unlink, _realpath = os.listdir, os.mkdir, os.symlink, os.unlink, os.path.realpath


class Shadow:
    """What a program has changed. Paths are what ``os`` takes; errors are those of the real functions."""

    def __init__(self, folder: Path, passing: Collection[str]) -> None:
        self._folder = _realpath(folder)
        self._passing = (self._folder, *passing)
        self._numbers = itertools.count()
        self._changed: dict[str, str | None] = {}

    @property
    def has_changes(self) -> bool:
        """Whether anything is otherwise than on disk."""
        return bool(self._changed)

    def is_own(self, path: Any) -> bool:
        """Whether a path may be written as it is."""
        key = self._key(path)
        return any(is_within(key, folder) for folder in self._passing)

    def reading(self, path: Any, *, follow: bool = True) -> Any:
        """The path to read in the place of another. Raises ``FileNotFoundError`` for one that is removed."""
        if not self._changed:
            return path
        key = self._key(path, follow=follow)
        found = self._find(key)
        if found is None:
            raise _error(errno.ENOENT, path)
        # The program's own words stay where they mean the same.
        return path if found == key else _like(path, found)

    def exists(self, path: Any, *, follow: bool = True) -> bool:
        """Whether there is something."""
        found = self._find(self._key(path, follow=follow))
        return found is not None and _exists(found)

    def writing(self, path: Any, *, copy: bool = True, create: bool = False, follow: bool = True) -> Any:
        """The path to write to in the place of another, with what is in that one, or empty."""
        key = self._key(path, follow=follow)
        if any(is_within(key, folder) for folder in self._passing):
            return path
        found = self._find(key)
        if found is None or not _exists(found):
            self._need_folder_of(key, path)
            if not create:
                raise _error(errno.ENOENT, path)
        if found is not None and is_within(found, self._folder):
            return _like(path, found)
        if found is not None and _isdir(found):
            raise _error(errno.EISDIR, path)
        own = self._new(key)
        if found is not None and _exists(found):
            if copy:
                shutil.copy2(found, own, follow_symlinks=follow)
            else:
                Path(own).touch()
                shutil.copymode(found, own)
        self._changed[key] = own
        return _like(path, own)

    def remove(self, path: Any) -> None:
        """Remove a file."""
        key = self._key(path, follow=False)
        found = self._need(key, path, _lstat)
        if _isdir(found) and not _islink(found):
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

    def make_folder(self, path: Any, mode: int) -> None:
        """Make a folder."""
        key = self._key(path, follow=False)
        if self.exists(path, follow=False):
            raise _error(errno.EEXIST, path)
        self._need_folder_of(key, path)
        own = self._new(key)
        _mkdir(own, mode)
        self._changed[key] = own

    def move(self, source: Any, target: Any) -> None:
        """Move a file or a folder, in the place of what is there."""
        old, new = self._key(source, follow=False), self._key(target, follow=False)
        found, there = self._need(old, source, _lstat), self._find(new)
        self._need_folder_of(new, target)
        if old == new:
            return
        if is_within(new, old):
            raise _error(errno.EINVAL, source)
        if is_within(old, new):
            raise _error(errno.ENOTEMPTY, target)
        source_is_folder = _isdir(found) and not _islink(found)
        if there is not None and _exists(there):
            target_is_folder = _isdir(there) and not _islink(there)
            if source_is_folder != target_is_folder:
                raise _error(errno.EISDIR if target_is_folder else errno.ENOTDIR, target)
            if target_is_folder and self.names(target):
                raise _error(errno.ENOTEMPTY, target)
        inner = os.path.join(old, "")
        below = {key: value for key, value in list(self._changed.items()) if key.startswith(inner)}
        self._forget(new)
        self._forget(old)
        self._changed[new] = found
        self._changed.update({new + key[len(old) :]: value for key, value in below.items()})

    def link(self, source: Any, target: Any) -> None:
        """Give a file a second name: a copy, since the original must not be changed by it."""
        if self.exists(target, follow=False):
            raise _error(errno.EEXIST, target)
        shutil.copy2(self.reading(source), self.writing(target, create=True))

    def link_symbolically(self, source: Any, target: Any) -> None:
        """Make a symbolic link."""
        key = self._key(target, follow=False)
        if self.exists(target, follow=False):
            raise _error(errno.EEXIST, target)
        self._need_folder_of(key, target)
        own = self._new(key)
        _symlink(source, own)
        self._changed[key] = own

    def names(self, path: Any) -> list[str]:
        """What is in a folder."""
        key = self._key(path)
        found = self._find(key)
        if found is None:
            raise _error(errno.ENOENT, path)
        names = dict.fromkeys(_listdir(found))
        for changed, own in list(self._changed.items()):
            folder, name = os.path.split(changed)
            if folder == key:
                names.pop(name, None)
                if own is not None:
                    names[name] = None
        return list(names)

    def place(self, path: Any) -> str | None:
        """Where what a path stands for really is, links not followed; ``None`` if it is removed."""
        return self._find(self._key(path, follow=False))

    def _need_folder_of(self, key: str, path: Any) -> None:
        if not _isdir(self._need(os.path.dirname(key), path, _stat)):
            raise _error(errno.ENOTDIR, path)

    def _need(self, key: str, path: Any, look: Callable[[str], Any]) -> str:
        """Where what a path stands for really is. Raises the error of looking at it."""
        found = self._find(key)
        if found is None:
            raise _error(errno.ENOENT, path)
        try:
            look(found)
        except OSError as error:
            raise _error(error.errno or errno.ENOENT, path) from None
        return found

    def _find(self, key: str) -> str | None:
        """Where what a path stands for really is."""
        head, tail = key, ""
        while head not in self._changed:
            parent, name = os.path.split(head)
            if parent == head:
                return key
            head, tail = parent, os.path.join(name, tail) if tail else name
        found = self._changed[head]
        return os.path.join(found, tail) if found and tail else found

    def _forget(self, key: str) -> None:
        self._changed = {name: own for name, own in list(self._changed.items()) if not is_within(name, key)}
        self._changed[key] = None

    def _new(self, key: str) -> str:
        # A forked process goes on with the same numbers.
        folder = os.path.join(self._folder, f"{os.getpid()}-{next(self._numbers)}")
        _mkdir(folder)
        return os.path.join(folder, os.path.basename(key))

    def _key(self, path: Any, *, follow: bool = True) -> str:
        """The real path of a name, by which it is known here."""
        folder, name = os.path.split(os.path.abspath(os.fsdecode(path)))
        key = os.path.join(self._real_folder(folder), name)
        for _ in range(40):  # as many links as Linux follows
            found = self._find(key)
            if not follow or found is None or not _islink(found):
                return key
            target = os.path.join(os.path.dirname(key), os.readlink(found))
            folder, name = os.path.split(os.path.abspath(target))
            key = os.path.join(self._real_folder(folder), name)
        raise _error(errno.ELOOP, path)

    def _real_folder(self, folder: str) -> str:
        # A folder that the program moved or made is no link.
        changed = self._find(folder)
        return folder if changed != folder else _realpath(folder)


def _like(path: Any, other: str) -> Any:
    return os.fsencode(other) if isinstance(os.fspath(path), bytes) else other


def _error(number: int, path: Any) -> OSError:
    return OSError(number, os.strerror(number), os.fspath(path))
