"""Which Python runs a target, where nobody has said it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

_ENVIRONMENT_FOLDERS = (".venv", "venv")


def find_interpreter(root: Path, env: Mapping[str, str] = os.environ) -> str:
    """The project's own environment, the active one, this one if it has torch, or ``python3``."""
    for folder in _ENVIRONMENT_FOLDERS:
        if (python := _python_in(root / folder)) is not None:
            return python
    if "VIRTUAL_ENV" in env and (python := _python_in(Path(env["VIRTUAL_ENV"]))) is not None:
        return python
    if importlib.util.find_spec("torch") is not None:
        return sys.executable
    return shutil.which("python3", path=env.get("PATH")) or "python3"


def named_interpreter(name: str, root: Path) -> str:
    """The interpreter that a setting names: a path, an environment's folder, or a program to look up.

    A relative path begins at the project's root.
    """
    expanded = os.path.expanduser(name)
    if not os.path.dirname(expanded) and not (root / expanded).is_dir():
        return expanded
    path = root / expanded
    return (_python_in(path) if path.is_dir() else None) or str(path)


def _python_in(environment: Path) -> str | None:
    program = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    return str(program) if program.is_file() else None
