"""The folder that Fullgraph keeps in a workspace: repros, code of TorchInductor, answers of the minifier."""

from __future__ import annotations

import logging
from pathlib import Path

_log = logging.getLogger(__name__)

NAME = ".fullgraph"
REPRO_RAISES = "--raise"
"""The argument that makes a repro raise what it fails with, rather than check it."""


def own_folder(root: Path) -> Path:
    """The folder in a workspace, made if it is not there; version control ignores it. Raises ``OSError``."""
    folder = root / NAME
    folder.mkdir(parents=True, exist_ok=True)
    ignored = folder / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n", encoding="utf-8")
    return folder


def kernel_cache(root: Path) -> str:
    """The folder for compiled kernels and for what the minifier was answered.

    Empty where nothing can be written: everything is compiled anew then.
    """
    try:
        return str(own_folder(root) / "cache")
    except OSError as error:
        _log.warning("compiled kernels are not kept: %s", error)
        return ""


def is_repro(filename: str) -> bool:
    """Whether a file is a repro that was made here."""
    return Path(filename).parent.parts[-2:] == (NAME, "repros")
