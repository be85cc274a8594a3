"""The workspace's folder ``.fullgraph``: repros, generated code, minifier results."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import Literal

_log = logging.getLogger(__name__)

NAME = ".fullgraph"
REPRO_RAISES = "--raise"
"""The argument with which a repro raises its error instead of checking for the error."""


def own_folder(root: Path, part: Literal["cache", "inductor", "repros"]) -> Path:
    """Return a subfolder of ``.fullgraph``; create missing folders and a .gitignore.

    Raises ``OSError``, also if a folder is a symbolic link, which could lead out of the workspace.
    """
    folder = _make(root.resolve() / NAME)
    # "x" does not follow a symbolic link of this name either.
    with contextlib.suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
        file.write("*\n")
    _make(folder / part)
    return root / NAME / part


def kernel_cache(root: Path) -> str:
    """Return the folder for compiled kernels and the minifier's results.

    Return "" if the folder is not writable: then every run compiles everything again.
    """
    try:
        return str(own_folder(root, "cache"))
    except OSError as error:
        _log.warning("compiled kernels are not cached: %s", error)
        return ""


def is_repro(filename: str) -> bool:
    """Return whether a file is a repro in a ``.fullgraph`` folder."""
    return Path(filename).parent.parts[-2:] == (NAME, "repros")


def _make(folder: Path) -> Path:
    if not folder.is_symlink():
        folder.mkdir(exist_ok=True)
    if folder.resolve() != folder:
        raise OSError(f"{folder} is a symbolic link, which is not followed: put a folder there")
    return folder
