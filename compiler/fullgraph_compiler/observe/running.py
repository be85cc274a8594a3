"""Run a file or a module as ``__main__``, like ``python`` does.

The equivalent commands are ``python FILE ARGS`` and ``python -m MODULE ARGS``. A file may contain bytecode. A
folder or a zip file with a ``__main__.py`` is a program as well.
"""

from __future__ import annotations

import builtins
import io
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType
from typing import Any, Final

_NO_FILE: Final = 2
"""Python's exit code if the file cannot be opened."""


def run(program: str, arguments: Sequence[str], *, module: bool) -> None:
    """Run a program to its end, and raise its exceptions.

    Python will show their tracebacks without Fullgraph's calls.
    """
    main = ModuleType("__main__")
    vars(main).update(__builtins__=builtins, __annotations__={})
    sys.modules["__main__"] = main
    try:
        if module:
            sys.argv[:] = ["-m", *arguments]
            runpy._run_module_as_main(program)  # type: ignore[attr-defined]
        else:
            _run_file(program, arguments, main)
    except SystemExit:
        raise
    except BaseException:
        sys.excepthook = _without_our_calls(sys.excepthook)
        raise


def _run_file(filename: str, arguments: Sequence[str], main: ModuleType) -> None:
    path = os.path.abspath(filename)
    is_safe = getattr(sys.flags, "safe_path", False)  # since Python 3.11
    if pkgutil.get_importer(path) is not None:
        sys.argv[:] = [filename, *arguments]
        sys.path[: 0 if is_safe else 1] = [path]
        runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]
        return
    try:
        with io.open_code(path) as stream:
            source = stream.read()
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        sys.stderr.write(f"{sys.executable}: can't open file {path!r}: {reason}\n")
        sys.exit(_NO_FILE)
    sys.argv[:] = [filename, *arguments]
    if not is_safe:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    vars(main).update(__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))
    code = pkgutil.read_code(io.BytesIO(source)) or compile(source, path, "exec", dont_inherit=True)
    exec(code, vars(main))


def _without_our_calls(show: Callable[..., Any]) -> Callable[..., Any]:
    def show_without(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        ours = {run.__code__, _run_file.__code__}
        calls = []
        while trace is not None:
            calls.append(trace)
            trace = trace.tb_next
        last = max((i for i, call in enumerate(calls) if call.tb_frame.f_code in ours), default=-1)
        rest = calls[last + 1] if last + 1 < len(calls) else None
        show(kind, error.with_traceback(rest), rest)

    return show_without
