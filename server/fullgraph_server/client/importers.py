"""The files that import a file, directly or through other files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..workspace.source import read_bytes
from ..workspace.targets import python_files

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|[^#\n]*)|import[ \t]+([^#\n]*))", re.M
)
_NAME = re.compile(rb"\w+")
_MOST_FILES = 5_000


def importers(filename: str, roots: Sequence[Path]) -> list[str]:
    """List the files below ``roots`` that import a file, direct importers first.

    Only the last part of a module's name is compared: files that import another module with this last part
    are listed, too.
    """
    imported = dict(_imported_names(roots))
    found: dict[str, None] = {}
    names = {_module_name(filename)}
    while names:
        new = [name for name, used in imported.items() if name not in found and used & names]
        found.update(dict.fromkeys(name for name in new if name != filename))
        names = {_module_name(name) for name in new} if new else set()
    return list(found)


def _imported_names(roots: Sequence[Path]) -> Iterator[tuple[str, set[str]]]:
    """Yield each file with the names in its import statements."""
    number = 0
    for root in roots:
        for filename in python_files(str(root)):
            number += 1
            if number > _MOST_FILES:
                return
            try:
                text = read_bytes(filename)
            except OSError:
                continue
            statements = (b" ".join(filter(None, found.groups())) for found in _IMPORT.finditer(text))
            yield filename, {name.decode() for each in statements for name in _NAME.findall(each)}


def _module_name(filename: str) -> str:
    """Return the last part of a module's name; for a package, the name of its folder."""
    folder, name = os.path.split(filename)
    return os.path.basename(folder) if name == "__init__.py" else name.removesuffix(".py")
