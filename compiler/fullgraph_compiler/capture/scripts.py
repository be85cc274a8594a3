"""Run a file, a module or a console script as ``__main__``.

The runs are equivalent to ``python FILE ARGS``, ``python -m MODULE ARGS`` and ``SCRIPT ARGS``.
"""

from __future__ import annotations

import bdb
import builtins
import os
import sys
import threading
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..facts import Script, StackFrame, TargetProblem
from ..observe import overlay
from ..observe.outcome import ProgramOutcome, describe, not_started, outcome_of
from . import notebooks
from .console_scripts import find_console_script
from .modules import NoModuleError, find_module, find_spec_of, module_hints

_END_OF_INPUT = "EOF when reading a line"
_NO_INPUT = "This run has no standard input: `fullgraph check`, on the command line, passes on yours."


def run_script(script: Script) -> ProgramOutcome:
    """Run ``script`` in this process, and wait for the threads that it started."""
    run = _run_console_script if script.console_script else _run_module if script.module else _run_file
    try:
        return run(script)
    except NoModuleError as error:
        return not_started(str(error), *error.hints, stack=error.stack)


def _run_file(script: Script) -> ProgramOutcome:
    filename = os.path.abspath(script.filename)
    try:
        source = overlay.read(filename)
    except OSError as error:
        return not_started(f"cannot read {script.filename}: {error.strerror}")
    code = _compiled(lambda: notebooks.compiled(source, filename))
    cwd, folder = os.getcwd(), os.path.dirname(filename)
    sys.argv[:] = [script.filename, *script.args]
    sys.path.insert(0, folder)
    problems = tuple(shadowed_modules(Path(folder)))
    outcome = _run_as_main(code, __file__=filename, __spec__=None)
    hints = (hint for error in outcome.raised for hint in module_hints(error, filename, cwd))
    return replace(outcome, problems=problems, hints=(*outcome.hints, *hints))


def _run_module(script: Script) -> ProgramOutcome:
    """Run a module as ``runpy`` does.

    The packages that contain the module are imported first, and may raise any error.
    """
    folder = os.getcwd()
    sys.argv[:] = ["-m", *script.args]
    sys.path.insert(0, folder)
    found = find_module(script.module, script.filename if script.pinned else "")
    code = _compiled(found.code)
    sys.argv[0] = found.filename
    problems = tuple(shadowed_modules(Path(folder)))
    spec = found.spec
    outcome = _run_as_main(
        code,
        __file__=found.filename,
        __cached__=spec.cached,
        __loader__=spec.loader,
        __package__=spec.parent,
        __spec__=spec,
    )
    return replace(outcome, problems=problems)


def _run_console_script(script: Script) -> ProgramOutcome:
    found = find_console_script(script.console_script)
    if script.pinned:
        find_spec_of(found.module, script.filename)
    code = _compiled(found.code)
    sys.argv[:] = [found.filename, *script.args]
    sys.path.insert(0, os.path.dirname(found.filename))
    return _run_as_main(code, __file__=found.filename, __spec__=None)


def _compiled(compiled: Callable[[], types.CodeType]) -> types.CodeType:
    try:
        return compiled()
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = error.args[0] if error.args else "the code is nested too deeply to compile"
        raise NoModuleError(f"{type(error).__name__}: {said}", stack=describe(error).stack) from None


def _run_as_main(code: types.CodeType, **names: object) -> ProgramOutcome:
    main = types.ModuleType("__main__")
    main.__dict__.update(names, __builtins__=builtins, __annotations__={})
    sys.modules["__main__"] = main
    try:
        notebooks.execute(code, main.__dict__)
        _end_threads()
    except BaseException as error:
        hints = (_NO_INPUT,) if _misses_input(error) else ()
        return replace(outcome_of(error), hints=hints)
    return ProgramOutcome("finished", 0)


def _misses_input(error: BaseException) -> bool:
    """Return whether a program or its debugger asked for input, but the run has none."""
    if not isinstance(error, bdb.BdbQuit) and error.args != (_END_OF_INPUT,):
        return False
    try:
        return os.path.samestat(os.fstat(0), os.stat(os.devnull))
    except OSError:
        return False


def shadowed_modules(folder: Path) -> list[TargetProblem]:
    """List the files in ``folder`` that hide torch or a standard library module.

    ``python`` would put ``folder`` first on the import path. Only files that hide an already loaded module
    are listed: torch needs the hidden module, so ``python`` would fail at ``import torch``. The run itself
    continues, because Fullgraph has loaded the real module.
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
                f"{path.name} hides {hidden} when the program runs without Fullgraph",
                (f"Rename {path.name}: `python` puts its folder first on the import path.",),
                (StackFrame(str(path), 1, "<module>"),),
            )
        )
    return problems


def _end_threads() -> None:
    # A script has not ended while its threads run. The interpreter waits for them, too, after it has notified
    # thread pools that no more work will come.
    for notify in reversed(getattr(threading, "_threading_atexits", ())):
        notify()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
