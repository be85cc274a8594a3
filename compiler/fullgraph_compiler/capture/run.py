"""One run: observe a program from its start to its end, and tell the facts."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import monotonic
from types import ModuleType
from typing import Final

from ..backends import registry
from ..compat import (
    backend_compat,
    binaries,
    cache_compat,
    call_compat,
    dynamo_compat,
    inductor_compat,
    kernel_compat,
    preview_compat,
    settings_compat,
    torch_compat,
    trace_compat,
)
from ..dry_run.dry import run_dry
from ..facts import (
    CompileFailure,
    Examples,
    Fact,
    ProgramRaised,
    RanDry,
    RecompileLimit,
    RunFinished,
    RunRequest,
    Script,
    TargetProblem,
)
from ..files.unsafe import UnsafeWriteError
from ..observe import overlay
from ..observe.live import Sink, TraceListener
from ..observe.modules import ModuleTracker
from ..observe.names import note_names
from ..observe.outcome import Outcome, describe, outcome_of
from ..preview import no_preview, preview_of
from ..preview.elsewhere import Elsewhere
from ..preview.here import Here
from . import switches
from .examples import run_examples
from .pytest_node import run_test
from .scripts import run_script

_OURS: Final = os.path.dirname(os.path.dirname(__file__))
_KEEP: Final = (
    "No file is to be changed by this run, and this system has no namespaces in which the program could have "
    "files of its own."
)
_run_exitfuncs = atexit._run_exitfuncs  # a program may put its own function in the place of it


def run(request: RunRequest, sink: Sink, prepare: Callable[[], None] | None = None) -> None:
    """Run ``request.program`` in this process; ``sink`` gets the facts as they become known.

    ``prepare`` is called ahead of the program. The process is spent afterwards: torch stays patched, and
    the program has done to it what it likes.
    """
    started = monotonic()
    previewed = preview_of(request)
    reported: set[str] = set()

    def watch(facts: list[Fact]) -> None:
        for fact in facts:
            if isinstance(fact, CompileFailure):
                # Dynamo wraps what it did not expect, after it has recorded it.
                reported.update((fact.error, "InternalTorchDynamoError"))
            elif isinstance(fact, RecompileLimit) and fact.fatal:
                reported.add("FailOnRecompileLimitHit")
        if isinstance(previewed, Here):
            previewed.take(facts)
        sink([*modules.news(), *facts])

    if not torch_compat.is_supported():
        sink([_unsupported_torch()])
    registry.register()
    os.environ.update(request.variables)
    switches.apply(request.switches)
    loaded = [] if isinstance(previewed, Elsewhere) else _go_as_deep(request)
    dynamo_compat.place_frames()
    note_names()
    dynamo_compat.skip_guard_profiling()
    dynamo_compat.skip_log_headers()
    settings_compat.forget_between_runs()
    overlay.install(request.texts)
    modules = ModuleTracker(request.program)
    listener = TraceListener(watch, cpp_stacks=request.switches.cpp_stacks)
    trace_compat.listen(listener)
    if request.depth == "late-compile":
        call_compat.freeze(request.switches.warm_up, listener.missed)
    if prepare is not None:
        prepare()
    if previewed is not None:
        previewed.prepare()
    elif request.switches.without_data:
        preview_compat.allow_gradients()
    if request.switches.without_data:
        sink([previewed.first() if previewed else RanDry(unknown=no_preview(request))])
    run_it = partial(_run_program, request)
    outcome = run_dry(run_it, request.program) if request.switches.without_data else run_it()
    outcome = _end_before_writes(outcome)
    for fact in previewed.rest() if previewed else ():
        sink([fact])  # one by one, since their texts are long
    # What the program left to its end is part of it; the interpreter's own teardown is not.
    _run_exitfuncs()
    listener.finish()
    ended: list[Fact] = [*modules.rest(), *outcome.problems]
    # What the compiler raised is told already, with more than the exception knows.
    ended += [_described(error) for error in outcome.raised if type(error).__qualname__ not in reported]
    ended.append(RunFinished(outcome.status, monotonic() - started, outcome.exit_code))
    for kernel in binaries.read_kernels(loaded):
        sink([kernel])
    sink(ended)


def _go_as_deep(request: RunRequest) -> list[ModuleType]:
    """Have the compiler go as far as is asked, and tell what it does; returns the code that it loads."""
    if request.depth in ("graph", "recompiles", "late-compile"):
        backend_compat.stop_after_dynamo()
        if request.depth == "recompiles":
            cache_compat.keep_one_entry()
    elif request.depth == "kernels":
        _tell_kernels(request.cache)
        inductor_compat.write_code_only()
    elif request.depth == "build":
        _tell_kernels(request.cache)
        return kernel_compat.keep_loaded()
    elif request.depth == "times":
        kernel_compat.trace_hints()
    return []


def _tell_kernels(cache: str) -> None:
    inductor_compat.prepare(cache)
    inductor_compat.track_provenance()
    kernel_compat.note_launches()
    kernel_compat.trace_fusion()
    kernel_compat.trace_hints()


def _run_program(request: RunRequest) -> Outcome:
    program = request.program
    try:
        if isinstance(program, Script):
            return run_script(program)
        if isinstance(program, Examples):
            return run_examples(program)
        return run_test(program, overlaid=bool(request.texts))
    except BaseException as error:
        return outcome_of(error)


def _end_before_writes(outcome: Outcome) -> Outcome:
    """The same, where the run was ended before it could change a file."""
    kept = [error for error in outcome.raised if isinstance(error, UnsafeWriteError)]
    if not kept:
        return outcome
    told = (
        TargetProblem("warning", f"the run ends here: the program was about to {error}", (_KEEP,), stack)
        for error, stack in ((error, _described(error).stack) for error in kept)
    )
    others = tuple(error for error in outcome.raised if error not in kept)
    return Outcome("raised" if others else "exited", outcome.exit_code, others, (*outcome.problems, *told))


def _described(error: BaseException) -> ProgramRaised:
    """An exception as a fact, without the functions that stand in for others."""
    told = describe(error)
    return replace(told, stack=tuple(item for item in told.stack if not item.filename.startswith(_OURS)))


def _unsupported_torch() -> TargetProblem:
    oldest, newest = (f"{major}.{minor}" for major, minor in torch_compat.SUPPORTED)
    tested = f"torch {torch_compat.version()} is outside of the tested range {oldest} to {newest}"
    return TargetProblem("warning", f"{tested}: some findings may be missing", of_run=True)
