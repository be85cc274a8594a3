"""The map from files of another machine to files of the workspace.

Paths are compared from their ends, then by the lines that the log quotes from the remote file: the local file
whose path has the longest common end matches if it contains any of the quoted lines. Only files of the
workspace are read, whatever paths a log contains.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from ..workspace.source import SourceFile
from ..workspace.workspace import Workspace

_LIBRARY: Final = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages)/(?P<installed>.+)|(?:^|/)lib/python3(?:\.\d+)?/(?P<standard>.+)",
    re.DOTALL,
)
_SOME: Final = 0.01
_ENOUGH: Final = 0.5
"""The shares of the quoted lines that a local file must contain.

``_SOME`` if the local and the remote folder of the file have the same name, else ``_ENOUGH``.
"""


class PathMap:
    """A map from remote files to ``files`` of a workspace.

    ``quoted`` are the lines that a log quotes, by remote file and row. ``folders`` maps remote folders to
    folders of the workspace; ``libraries`` are the folders of the local interpreter's libraries.
    """

    def __init__(
        self,
        workspace: Workspace,
        files: Iterable[str],
        quoted: Mapping[str, Mapping[int, str]],
        folders: Mapping[str, str] | None = None,
        libraries: Sequence[str] = (),
    ) -> None:
        self._workspace = workspace
        self._quoted = quoted
        self._folders = sorted((folders or {}).items(), key=lambda item: -len(item[0]))
        self._libraries = libraries
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        self._files = dict.fromkeys(files)
        for filename in self._files:
            self._by_name[os.path.basename(filename)].append(filename)
        self._found: dict[str, SourceFile | None] = {}

    def source(self, filename: str) -> SourceFile | None:
        """Return the workspace's file for a remote file; ``None`` if no file matches."""
        if filename not in self._found:
            self._found[filename] = self._find(filename)
        return self._found[filename]

    def name(self, filename: str) -> str:
        """Return the local path of a remote file; the remote path if no file matches.

        The local file can be in the workspace or in a library.
        """
        source = self.source(filename)
        return source.filename if source else self._library(filename) or clean_path(filename)

    def _find(self, filename: str) -> SourceFile | None:
        path = clean_path(filename)
        parts = path.split("/")
        if (chosen := self._chosen(path)) is not None:
            return self._workspace.source(chosen)
        if _LIBRARY.search(path):
            return None
        common = {name: _common_end(parts, _parts(name)) for name in self._by_name.get(parts[-1], ())}
        for length in sorted(set(common.values()), reverse=True):
            shares = {name: self._share(filename, name) for name in common if common[name] == length}
            best = max(shares, key=shares.__getitem__)
            if shares[best] >= (_SOME if length > 1 or length == len(parts) else _ENOUGH):
                return self._workspace.source(best)
        return None

    def _chosen(self, path: str) -> str | None:
        """Return the local file for a path below a folder that the user mapped.

        Return ``None`` if no mapped folder contains the path, or the workspace has no such file.
        """
        for remote, local in self._folders:
            prefix = clean_path(remote).rstrip("/") + "/"
            if path.startswith(prefix):
                found = os.path.normpath(os.path.join(self._workspace.root, local, path[len(prefix) :]))
                return found if found in self._files else None
        return None

    def _library(self, filename: str) -> str | None:
        found = _LIBRARY.search(clean_path(filename))
        inside = (found["installed"] or found["standard"]) if found else None
        if inside is None:
            return None
        places = (_listed_below(folder, inside.split("/")) for folder in self._libraries)
        return next(filter(None, places), None)

    def _share(self, filename: str, name: str) -> float:
        """Return the share of a remote file's quoted lines that a local file contains.

        The rows can differ. Return ``_SOME`` if the log quotes no lines.
        """
        quoted = set(self._quoted.get(filename, {}).values())
        source = self._workspace.source(name)
        if source is None:
            return 0.0
        return len(quoted & stripped_lines(source)) / len(quoted) if quoted else _SOME


def clean_path(filename: str) -> str:
    """Normalize a path of any operating system.

    The result has forward slashes, no inner ``..``, and only characters that can be encoded. It is never a
    network share (``//server/share``), since Windows sends credentials to the server when it opens a share.
    """
    printable = filename.encode("utf-8", "replace").decode().replace("\0", "")
    path = posixpath.normpath(printable.replace("\\", "/"))
    return f"/{path.lstrip('/')}" if path.startswith("/") else path


def _listed_below(folder: str, parts: Sequence[str]) -> str | None:
    """Return a path below a folder; ``None`` if it does not exist.

    Only listings of local folders are read: a path from a log is never opened.
    """
    for part in parts:
        if part not in _names_in(folder):
            return None
        folder = os.path.join(folder, part)
    return folder


@lru_cache(maxsize=1024)
def _names_in(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


@lru_cache(maxsize=1024)
def stripped_lines(source: SourceFile) -> frozenset[str]:
    """Return the set of a file's lines without their indentation."""
    return frozenset(line.strip() for line in source.lines)


def library_folders(python: str) -> tuple[str, ...]:
    """List an interpreter's library folders from its path, without starting it."""
    prefix = Path(python).parent.parent
    found = (*prefix.glob("lib/python3*/site-packages"), *prefix.glob("lib/python3*"))
    return tuple(map(str, found))


def _parts(filename: str) -> list[str]:
    return filename.replace("\\", "/").split("/")


def _common_end(one: Sequence[str], other: Sequence[str]) -> int:
    pairs: Iterable[tuple[str, str]] = zip(reversed(one), reversed(other), strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
