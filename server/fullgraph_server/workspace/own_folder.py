"""The folder that Fullgraph keeps in a workspace: repros, answers of the minifier, code of TorchInductor."""

from __future__ import annotations

from pathlib import Path

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


def is_repro(filename: str) -> bool:
    """Whether a file is a repro that was made here."""
    return Path(filename).parent.parts[-2:] == (NAME, "repros")
