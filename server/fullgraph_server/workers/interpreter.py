"""The Python that runs a target: the named interpreter, else the most likely one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..workspace.workspace import project_root

_ENVIRONMENT_FOLDERS = (".venv", "venv", ".conda")
_ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX")


@dataclass(frozen=True)
class PythonInterpreter:
    """A Python interpreter, and its origin: ``.venv``, ``python3 on PATH``."""

    path: str
    origin: str


def find_interpreter(root: Path, env: Mapping[str, str] = os.environ) -> PythonInterpreter:
    """Return the Python for a project.

    The first of: the active environment's, the project's, Fullgraph's own if it has torch, ``python3``.
    """
    interpreter = next(_environments(root, env), None)
    if interpreter is None and importlib.util.find_spec("torch") is not None:
        interpreter = PythonInterpreter(sys.executable, "Fullgraph's own")
    path = shutil.which("python3", path=env.get("PATH")) or "python3"
    return interpreter or PythonInterpreter(path, "python3 on PATH")


def known_interpreters(
    root: Path, first: Iterable[PythonInterpreter] = (), env: Mapping[str, str] = os.environ
) -> list[PythonInterpreter]:
    """Return ``first``, then the interpreters found on this machine.

    The search covers the active environment, the project, conda, pyenv and ``PATH``. Each interpreter is
    listed once.
    """
    known: dict[str, PythonInterpreter] = {}
    for item in (*first, *_environments(root, env), *_outside(env)):
        known.setdefault(_identity(item.path), item)
    return list(known.values())


def named_interpreter(name: str, root: Path) -> str:
    """Return the interpreter that a setting or an option names.

    ``name`` is a path (relative to ``root``), the folder of an environment, or the name of a program, which
    is looked up on ``PATH`` when it starts.
    """
    expanded = os.path.expanduser(name)
    if not os.path.dirname(expanded) and not (root / expanded).is_dir():
        return expanded
    path = root / expanded
    return (_python_in(path) if path.is_dir() else None) or str(path)


def _environments(root: Path, env: Mapping[str, str]) -> Iterator[PythonInterpreter]:
    for name in _ACTIVE:
        if env.get(name) and (python := _python_in(Path(env[name]))):
            yield PythonInterpreter(python, name)
    project = project_root(root)
    # A subfolder of a project, opened by itself, uses the project's environment.
    for folder in (root, *root.parents):
        for name in _ENVIRONMENT_FOLDERS:
            if python := _python_in(folder / name):
                yield PythonInterpreter(python, os.path.relpath(folder / name, root))
        if folder == project:
            return


def _outside(env: Mapping[str, str]) -> Iterator[PythonInterpreter]:
    home = Path.home()
    try:
        folders = (home / ".conda" / "environments.txt").read_text("utf-8", "replace").splitlines()
    except OSError:
        folders = []
    versions = Path(env.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    of_pyenv = sorted(str(folder) for folder in versions.iterdir()) if versions.is_dir() else []
    for origin, environments in (("conda", folders), ("pyenv", of_pyenv)):
        for folder in environments:
            if python := _python_in(Path(folder)):
                yield PythonInterpreter(python, origin)
    # The second name is usually the same interpreter.
    programs = (shutil.which(name, path=env.get("PATH")) for name in ("python3", "python"))
    if path := next(filter(None, programs), None):
        yield PythonInterpreter(path, "PATH")


def _identity(path: str) -> str:
    """Return a key that all names of one interpreter share.

    An environment and its base have different keys.
    """
    folder = os.path.dirname(path)
    is_environment = os.path.exists(os.path.join(folder, os.pardir, "pyvenv.cfg"))
    return os.path.join(os.path.realpath(folder), "python") if is_environment else os.path.realpath(path)


def _python_in(environment: Path) -> str | None:
    # Not resolved: Python finds its environment by the path of the link.
    names = ("Scripts/python.exe", "python.exe") if sys.platform == "win32" else ("bin/python",)
    return next((str(path) for path in (environment / name for name in names) if path.is_file()), None)
