"""The folder that Fullgraph keeps in a workspace: repros, code of TorchInductor, answers of the minifier."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import Literal

_log = logging.getLogger(__name__)

NAME = ".fullgraph"
REPRO_RAISES = "--raise"
"""The argument that makes a repro raise what it fails with, rather than check it."""


def own_folder(root: Path, part: Literal["cache", "inductor", "repros"]) -> Path:
    """A part of the folder in a workspace, made if it is not there; version control ignores it.

    Raises ``OSError``: also for a symbolic link, which could lead out of the workspace.
    """
    folder = _made(root.resolve() / NAME)
    # A link in its place is not followed either.
    with contextlib.suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
        file.write("*\n")
    _made(folder / part)
    return root / NAME / part


def kernel_cache(root: Path) -> str:
    """The folder for compiled kernels and for what the minifier was answered.

    Empty where nothing can be written: everything is compiled anew then.
    """
    try:
        return str(own_folder(root, "cache"))
    except OSError as error:
        _log.warning("compiled kernels are not kept: %s", error)
        return ""


def is_repro(filename: str) -> bool:
    """Whether a file is a repro that was made here."""
    return Path(filename).parent.parts[-2:] == (NAME, "repros")


def _made(folder: Path) -> Path:
    if not folder.is_symlink():
        folder.mkdir(exist_ok=True)
    if folder.resolve() != folder:
        raise OSError(f"{folder} is a symbolic link, which is not followed: put a folder there")
    return folder
