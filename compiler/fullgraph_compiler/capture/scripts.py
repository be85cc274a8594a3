"""Runs of a file as ``__main__``, as ``python FILE ARGS`` would."""

from __future__ import annotations

import builtins
import os
import sys
import threading
import types
from pathlib import Path

from ..facts import Script, StackFrame, TargetProblem
from ..observe import overlay
from ..observe.outcome import Outcome, describe, not_started, outcome_of


def run_script(script: Script) -> Outcome:
    """Run ``script`` in this process, and wait for the threads that it started."""
    filename = os.path.abspath(script.filename)
    try:
        source = overlay.read(filename)
    except OSError as error:
        return not_started(f"cannot read {script.filename}: {error.strerror}")
    try:
        code = compile(source, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = error.args[0] if error.args else "the file is too deep to compile"
        return not_started(f"{type(error).__name__}: {said}", stack=describe(error).stack)

    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=filename, __builtins__=builtins, __annotations__={}, __spec__=None)
    sys.modules["__main__"] = main
    sys.argv[:] = [script.filename, *script.args]
    folder = os.path.dirname(filename)
    sys.path.insert(0, folder)
    problems = tuple(shadowed_modules(Path(folder)))
    try:
        exec(code, main.__dict__)
        _end_threads()
    except BaseException as error:
        outcome = outcome_of(error)
        return Outcome(outcome.status, outcome.exit_code, outcome.raised, problems)
    return Outcome("finished", 0, (), problems)


def shadowed_modules(folder: Path) -> list[TargetProblem]:
    """List files beside a script that Python would import in place of torch or of the standard library.

    Only modules that are already loaded count: torch needs them, so that ``python SCRIPT`` would fail at
    ``import torch``. Fullgraph has loaded the real ones first, and goes on.
    """
    problems = []
    for path in sorted((*folder.glob("*.py"), *folder.glob("*/__init__.py"))):
        name = path.stem if path.stem != "__init__" else path.parent.name
        if name == "__main__" or (name not in sys.stdlib_module_names and name != "torch"):
            continue
        loaded = sys.modules.get(name)
        origin = getattr(loaded, "__file__", None)
        if loaded is None or (origin and os.path.realpath(origin) == os.path.realpath(path)):
            continue
        hidden = "torch" if name == "torch" else f"the standard library's module {name}"
        problems.append(
            TargetProblem(
                "warning",
                f"{path.name} hides {hidden} when the script runs on its own",
                (f"Rename {path.name}: `python` puts the script's folder first on the import path.",),
                (StackFrame(str(path), 1, "<module>"),),
            )
        )
    return problems


def _end_threads() -> None:
    # A script is not over while its threads run: the interpreter waits for them as well, after it has
    # notified thread pools that no more work comes.
    for notify in reversed(getattr(threading, "_threading_atexits", ())):
        notify()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
