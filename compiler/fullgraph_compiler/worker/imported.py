"""The files that a process has imported.

Their state shows whether another process would still import the same.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import os
import re
import site
import stat
import sys
import time
from collections.abc import Iterator
from typing import TypeAlias

_State: TypeAlias = tuple[object, ...]
_SUFFIXES = (*importlib.machinery.all_suffixes(), ".pth", ".zip", ".egg", ".egg-link")
_MAPPED_LIBRARY = re.compile(r"(/.*\.so[.\d]*)$", re.MULTILINE)


class ImportedFiles:
    """The state of the files that this process imported, and of the searched folders."""

    def __init__(self) -> None:
        self._began = time.time_ns()
        self._states: dict[str, _State] = {}
        self.note()

    def note(self) -> None:
        """Record the state of the files that were imported since the last call."""
        for path in {*_folders(), *_files()} - self._states.keys():
            self._states[path] = _state(path, self._began)

    def is_outdated(self) -> bool:
        """Return whether an imported file was edited, or an importable module was added."""
        return any(state != _state(path) for path, state in self._states.items())


def _folders() -> Iterator[str]:
    """Yield the folders in which Python looks for modules, including missing folders."""
    yield from (os.path.abspath(folder) for folder in sys.path)
    if site.ENABLE_USER_SITE is not None:
        yield site.getusersitepackages()
    for module in list(sys.modules.values()):
        with contextlib.suppress(Exception):  # a module can be any object
            yield from filter(os.path.isabs, getattr(module, "__dict__", {}).get("__path__") or ())


def _files() -> Iterator[str]:
    for module in list(sys.modules.values()):
        file = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(file, str) and os.path.isabs(file):
            yield file
    yield os.path.join(sys.prefix, "pyvenv.cfg")
    for folder in map(os.path.abspath, sys.path):
        with contextlib.suppress(OSError):
            yield from (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".pth"))
    with contextlib.suppress(OSError), open("/proc/self/maps", errors="surrogateescape") as maps:
        yield from _MAPPED_LIBRARY.findall(maps.read())


def _state(path: str, began: int | None = None) -> _State:
    """Return the state of a file or folder.

    The state of a file has its times, size and inode, the state of a folder the importable names in it. If a
    file changed after ``began``, the returned state never equals a later state.
    """
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            with os.scandir(path) as entries:
                return tuple(sorted(entry.name for entry in entries if _is_importable(entry)))
    except OSError:
        return ()
    if began is not None and status.st_ctime_ns >= began:
        return ("changed meanwhile",)
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _is_importable(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(_SUFFIXES) or (entry.name != "__pycache__" and entry.is_dir())
