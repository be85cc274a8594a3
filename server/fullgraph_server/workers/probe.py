"""The versions of an interpreter and its torch, and the paths of its packages.

They are found without importing the packages.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass

from ..workspace.bundled import worker_folder

_SECONDS = 20.0
"""The time limit: a program that takes longer is not Python, or its disk is not available."""

_OLDEST = (3, 10)

CHOOSE = (
    "Choose a Python 3.10 or newer that has torch: the setting fullgraph.interpreter in an editor, "
    "--python on the command line."
)

# torch/version.py does not import torch. Old Pythons must be able to parse this program.
_PROGRAM = """
import sys, json, os, runpy
torch = None
if sys.version_info >= (3, 10):
    import importlib.util
    spec = importlib.util.find_spec("torch")
    if spec is not None and spec.origin:
        try:
            torch = runpy.run_path(os.path.join(os.path.dirname(spec.origin), "version.py"))["__version__"]
        except Exception:
            torch = "of unknown version"
print(json.dumps({"python": ".".join(map(str, sys.version_info[:3])), "torch": torch}))
"""

_FINDER = """
import sys, json, importlib.util
sys.path[0] = sys.argv[2]  # with -c, it is the current folder
spec = importlib.util.find_spec(sys.argv[1])
print(json.dumps(spec and [spec.origin, *(spec.submodule_search_locations or ())]))
"""


@dataclass(frozen=True)
class InterpreterProbe:
    """The versions of an interpreter; ``problem`` says why no target can run with it."""

    python: str | None = None
    torch: str | None = None
    problem: str | None = None

    @property
    def is_supported(self) -> bool:
        """Whether the interpreter is new enough, with or without torch."""
        return self.python is not None and not _is_old(self.python)


async def probe(python: str, seconds: float = _SECONDS) -> InterpreterProbe:
    """Run an interpreter and return its version and the version of its torch."""
    try:
        output, errors = await _answer([python, "-c", _PROGRAM], worker_folder(), None, seconds)
    except (OSError, ValueError) as error:
        return InterpreterProbe(problem=f"{cannot_start(python, error)} {CHOOSE}")
    except asyncio.TimeoutError:
        return InterpreterProbe(problem=f"{python} did not answer within {seconds:g} s. {CHOOSE}")
    try:
        versions = json.loads(output.decode().splitlines()[-1])
        return _judged(python, versions["python"], versions["torch"])
    except (ValueError, LookupError, TypeError):
        lines = errors.decode(errors="replace").strip().splitlines()
        reason = f": {lines[-1].strip()}" if lines else "."
        return InterpreterProbe(
            problem=f"{python} does not answer like a Python interpreter{reason} {CHOOSE}"
        )


async def find_package(
    name: str, python: str, folder: str, cwd: str, env: Mapping[str, str]
) -> tuple[str, ...] | None:
    """Return file and folders of the package that a program in ``folder`` imports.

    The result is empty if there is no such package, ``None`` if the interpreter does not answer.
    """
    try:
        output, _ = await _answer([python, "-c", _FINDER, name, folder], cwd, env, _SECONDS)
        return tuple(filter(None, json.loads(output.decode().splitlines()[-1]) or ()))
    except (OSError, ValueError, LookupError, asyncio.TimeoutError):
        return None


async def _answer(
    command: list[str], cwd: str, env: Mapping[str, str] | None, seconds: float
) -> tuple[bytes, bytes]:
    """Return a process's output and errors.

    Raises ``OSError``, ``ValueError`` or ``asyncio.TimeoutError``.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=os.name != "nt",
    )
    try:
        return await asyncio.wait_for(process.communicate(), seconds)
    finally:
        _kill(process)


def cannot_start(python: str, error: OSError | ValueError) -> str:
    """Return why an interpreter could not be started, as a sentence."""
    if isinstance(error, FileNotFoundError):
        return f"There is no interpreter {python}."
    if isinstance(error, PermissionError):
        return f"The interpreter {python} is not executable."
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"The interpreter {python} cannot be started: {reason}."


def _judged(python: str, version: str, torch: str | None) -> InterpreterProbe:
    if _is_old(version):
        return InterpreterProbe(
            version, torch, f"Fullgraph needs Python 3.10 or newer, and {python} is {version}."
        )
    if torch is None:
        remedy = "Install torch (pip install torch) or choose another interpreter"
        return InterpreterProbe(version, None, f"{remedy}: there is none in {python}")
    return InterpreterProbe(version, torch)


def _is_old(version: str) -> bool:
    return tuple(map(int, version.split(".")[:2])) < _OLDEST


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(OSError):
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
