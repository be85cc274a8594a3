"""Which Python runs a target: the one that is named, else the one that is most likely meant."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

_ENVIRONMENT_FOLDERS = (".venv", "venv")


def find_interpreter(root: Path, env: Mapping[str, str] = os.environ) -> str:
    """The active environment's, the project's own, this one if it has torch, or ``python3``."""
    folders = [Path(env["VIRTUAL_ENV"])] if env.get("VIRTUAL_ENV") else []
    folders += [root / name for name in _ENVIRONMENT_FOLDERS]
    found = next(filter(None, map(_python_in, folders)), None)
    if found is None and importlib.util.find_spec("torch") is not None:
        found = sys.executable
    return found or shutil.which("python3", path=env.get("PATH")) or "python3"


def named_interpreter(name: str, root: Path) -> str:
    """The interpreter that a setting or an option names.

    That is a path (from ``root`` on if it is relative), the folder of an environment, or a program that
    is looked up when it starts.
    """
    expanded = os.path.expanduser(name)
    if not os.path.dirname(expanded) and not (root / expanded).is_dir():
        return expanded
    path = root / expanded
    return (_python_in(path) if path.is_dir() else None) or str(path)


def _python_in(environment: Path) -> str | None:
    # Not resolved: through the link, Python would not know its environment.
    program = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    return str(program) if program.is_file() else None
