"""The user's own files, as opposed to files of libraries."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from .own_folder import NAME as FOLDER
from .packages import package_name
from .source import SourceFile, SourceReader

_LIBRARY_FOLDERS = frozenset({"site-packages", "dist-packages", "node_modules"})
_GENERATED = os.path.join(os.sep, FOLDER, "cache")
"""The folder for the code that TorchInductor generates in a run; it does not count as the user's code."""
_STANDARD_LIBRARY = re.compile(r"[/\\]lib(?:64)?[/\\]python\d\.\d+[/\\]", re.IGNORECASE)
_PROJECT_MARKERS = ("pyproject.toml", "setup.py", ".git")


@dataclass(frozen=True)
class Workspace:
    """A folder with the user's files, except for environments and libraries in it."""

    root: Path
    read: Callable[[str], SourceFile | None] = field(default_factory=SourceReader, compare=False, repr=False)
    """The function that reads a file, either from disk or as the newer text from an editor."""
    package: str = ""
    """An installed package whose files also count as the user's own."""

    def contains(self, filename: str) -> bool:
        """Return whether a file is the user's: below the root, not in a library.

        Files of environments are not the user's; files of ``package`` are.
        """
        return _contains(str(self.root), filename) or self.in_package(filename)

    def in_package(self, filename: str) -> bool:
        """Return whether a file belongs to ``package``, which counts as the user's."""
        return bool(self.package) and os.path.isabs(filename) and package_name(filename) == self.package

    def source(self, filename: str) -> SourceFile | None:
        """Return the file, or ``None`` if it is missing or not Python text."""
        return self.read(filename)

    def own_source(self, filename: str) -> SourceFile | None:
        """Return the file if it is the user's and readable; otherwise ``None``."""
        return self.source(filename) if self.contains(filename) else None


def project_root(path: Path) -> Path:
    """Return the nearest project folder at or above ``path``.

    If there is none, return ``path`` itself if it is a folder, otherwise its parent.
    """
    path = Path(os.path.abspath(path))
    folder = path if path.is_dir() else path.parent
    return next(filter(is_project, (folder, *folder.parents)), folder)


def is_project(folder: Path) -> bool:
    """Return whether a folder has a file that marks a project."""
    return any(os.path.exists(folder / marker) for marker in _PROJECT_MARKERS)


@lru_cache(maxsize=4096)
def is_library_folder(folder: str) -> bool:
    """Return whether a folder contains an environment or installed libraries."""
    if os.path.basename(folder) in _LIBRARY_FOLDERS or folder.endswith(_GENERATED):
        return True
    if os.path.basename(folder) == "torch" and os.path.isdir(os.path.join(folder, "_dynamo")):
        return True
    markers = ("pyvenv.cfg", "conda-meta")
    return any(os.path.exists(os.path.join(folder, marker)) for marker in markers)


@lru_cache(maxsize=16384)
def _contains(root: str, filename: str) -> bool:
    if not os.path.isabs(filename):
        return False
    try:
        return _below(os.path.abspath(root), os.path.abspath(filename)) or _below(
            os.path.realpath(root), os.path.realpath(filename)
        )
    except ValueError:
        return False  # not a valid file name


def _below(root: str, filename: str) -> bool:
    prefix = os.path.join(os.path.normcase(root), "")
    if not os.path.normcase(filename).startswith(prefix):
        return False
    inside = filename[len(prefix) - 1 :]
    if _STANDARD_LIBRARY.search(inside):
        return False
    folder = os.path.dirname(filename)
    while len(folder) >= len(prefix):
        if is_library_folder(folder):
            return False
        folder = os.path.dirname(folder)
    return True
