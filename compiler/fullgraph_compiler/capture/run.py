"""One run: observe a program from start to end, and report facts."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from types import ModuleType
from typing import Final, TypeAlias

from ..backends import registry
from ..compat import (
    backend_compat,
    binaries,
    dynamo_compat,
    export_compat,
    settings_compat,
    torch_compat,
    trace_compat,
)
from ..compat.previews import preview_compat
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
    Status,
    TargetProblem,
)
from ..files.unsafe import UnsafeWriteError
from ..observe import overlay
from ..observe.calls import CompiledCalls
from ..observe.live import Sink, TraceListener
from ..observe.modules import ModuleTracker
from ..observe.names import note_names
from ..observe.outcome import ProgramOutcome, describe, outcome_of
from ..observe.reach import ReachRecorder
from ..observe.refusals import RecompileErrors
from ..preview import no_preview, preview_of
from ..preview.elsewhere import DeferredPreview
from ..preview.here import LocalPreview
from . import switches
from .depths import go_as_deep
from .examples import run_examples
from .pytest_node import run_test
from .scripts import run_script

_OURS: Final = os.path.dirname(os.path.dirname(__file__))
_Preview: TypeAlias = LocalPreview | DeferredPreview | None
_KEEP: Final = (
    "This run must not change files, and on this system Fullgraph cannot redirect this change. "
    "To run past this line, keep file changes (`--keep-files`, or set `fullgraph.files` to `keep`)."
)
_NO_GRAPHS: Final = (
    '`mode="reduce-overhead"` has no effect on a CPU: it records CUDA graphs, which need a GPU'
)
_run_exitfuncs = atexit._run_exitfuncs  # a program may replace this function


@dataclass(frozen=True)
class _ProgramObservers:
    """The observers of the program.

    ``reported`` contains the names of the exceptions that the structured trace has reported.
    """

    modules: ModuleTracker
    listener: TraceListener
    reported: set[str]
    calls: CompiledCalls
    refusals: RecompileErrors
    reach: ReachRecorder


def run(
    request: RunRequest,
    sink: Sink,
    prepare: Callable[[], None] | None = None,
    after: Callable[[], None] | None = None,
) -> None:
    """Run ``request.program`` in this process; ``sink`` gets the facts during the run.

    ``prepare`` is called before the program starts. ``after`` is called when the program and its exit
    functions have ended and all their facts are reported. The process cannot be used for another run: torch
    stays patched, and the program may have changed any state.
    """
    started = monotonic()
    preview = preview_of(request)
    if not torch_compat.is_supported():
        sink([_unsupported_torch()])
    # The compiler comes first: the observers attribute every import and every variable that is set after
    # their installation to the program.
    loaded = _prepare_compiler(request, preview)
    observers = _install_observers(request, sink, preview)
    if after is not None:
        # Exit functions run in reverse order: those of the program before this one, those of torch after it.
        atexit.register(_after, observers.listener, after)
    # The caller's own patches wrap the patches above, and so see each call first.
    if prepare is not None:
        prepare()
    outcome = _execute(request, sink, preview)
    _collect(outcome, observers, preview, loaded, sink, started)


def _after(listener: TraceListener, after: Callable[[], None]) -> None:
    listener.finish()
    after()


def _prepare_compiler(request: RunRequest, preview: _Preview) -> list[ModuleType]:
    """Configure the compiler for the request.

    Returns a list to which the compiler will add the modules that it loads.
    """
    registry.register()
    # Before any import below: a module may read a variable while it is imported.
    os.environ.update(request.variables)
    switches.apply(request.switches)
    # Another interpreter compiles the graphs of a deferred preview.
    loaded = [] if isinstance(preview, DeferredPreview) else go_as_deep(request)
    dynamo_compat.place_frames()
    note_names()
    export_compat.observe_exports()
    dynamo_compat.skip_guard_profiling()
    dynamo_compat.skip_log_headers()
    settings_compat.forget_between_runs()
    return loaded


def _install_observers(request: RunRequest, sink: Sink, preview: _Preview) -> _ProgramObservers:
    """Install the observers of imports, calls and the structured trace."""
    overlay.install(request.texts)
    modules = ModuleTracker(request.program)
    reported: set[str] = set()

    def watch(facts: list[Fact]) -> None:
        for fact in facts:
            if isinstance(fact, CompileFailure):
                # Dynamo records an unexpected error, then wraps it in this class.
                reported.update((fact.error, "InternalTorchDynamoError"))
            elif isinstance(fact, RecompileLimit) and fact.fatal:
                reported.update(("FailOnRecompileLimitHit", "Unsupported"))
        if isinstance(preview, LocalPreview):
            preview.take(facts)
        sink([*modules.news(), *facts])

    calls = CompiledCalls(request.switches.warm_up if request.depth == "late-compile" else None)
    listener = TraceListener(watch, cpp_stacks=request.switches.cpp_stacks, calls=calls)
    trace_compat.listen(listener)
    return _ProgramObservers(modules, listener, reported, calls, RecompileErrors(listener), ReachRecorder())


def _execute(request: RunRequest, sink: Sink, preview: _Preview) -> ProgramOutcome:
    """Run the program to its end."""
    # The last patch, so that no step above tries to use the GPU of the preview, which is absent.
    if preview is not None:
        preview.prepare()
    elif request.switches.without_data:
        preview_compat.allow_gradients()
    program = partial(_run_program, request)
    if not request.switches.without_data:
        return _end_before_writes(program())
    sink([preview.first() if preview else RanDry(unknown=no_preview(request))])
    return _end_before_writes(run_dry(program, request.program))


def _collect(
    outcome: ProgramOutcome,
    observers: _ProgramObservers,
    preview: _Preview,
    loaded: list[ModuleType],
    sink: Sink,
    started: float,
) -> None:
    """Send the facts that are complete only at the end of the run.

    ``RunFinished`` is the last fact, because it ends the run.
    """
    for fact in preview.rest() if preview else ():
        sink([fact])  # one by one, since their texts are long
    # The program's exit functions are part of it; the interpreter's own teardown is not.
    _run_exitfuncs()
    observers.listener.finish()
    last: list[Fact] = [*observers.modules.rest(), *observers.calls.unseen()]
    last += [*observers.calls.counted(), *outcome.problems]
    if backend_compat.is_mode_of_gpu_alone():
        last.append(TargetProblem("information", _NO_GRAPHS, of_run=True))
    last += observers.refusals.caught(outcome.raised)
    # Errors of the compiler are reported already, with more details than the exception has.
    last += [
        replace(_described(error), failures=observers.listener.refused(error), hints=outcome.hints)
        for error in outcome.raised
        if type(error).__qualname__ not in observers.reported and not export_compat.is_recorded_export(error)
    ]
    ended = monotonic() - started
    left_out, reaches = backend_compat.left_out(), observers.reach.seen
    others = observers.calls.unobserved
    last.append(RunFinished(outcome.status, ended, outcome.exit_code, left_out, reaches, others))
    for kernel in binaries.read_kernels(loaded):
        sink([kernel])
    sink(last)


def _run_program(request: RunRequest) -> ProgramOutcome:
    program = request.program
    try:
        if isinstance(program, Script):
            return run_script(program)
        if isinstance(program, Examples):
            return run_examples(program)
        return run_test(program, overlaid=bool(request.texts))
    except BaseException as error:
        return outcome_of(error)


def _end_before_writes(outcome: ProgramOutcome) -> ProgramOutcome:
    """Turn the errors that ended a run before it could change a file into warnings."""
    writes = [error for error in outcome.raised if isinstance(error, UnsafeWriteError)]
    if not writes:
        return outcome
    problems = (
        TargetProblem("warning", f"the run ends here: the program was about to {error}", (_KEEP,), stack)
        for error, stack in ((error, _described(error).stack) for error in writes)
    )
    others = tuple(error for error in outcome.raised if error not in writes)
    status: Status = "raised" if others else "exited"
    return replace(outcome, status=status, raised=others, problems=(*outcome.problems, *problems))


def _described(error: BaseException) -> ProgramRaised:
    """Convert an exception to a fact, without the stack frames of Fullgraph."""
    raised = describe(error)
    return replace(raised, stack=tuple(item for item in raised.stack if not item.filename.startswith(_OURS)))


def _unsupported_torch() -> TargetProblem:
    oldest, newest = (f"{major}.{minor}" for major, minor in torch_compat.SUPPORTED)
    tested = f"torch {torch_compat.version()} is outside of the tested range {oldest} to {newest}"
    return TargetProblem("warning", f"{tested}: some findings may be missing", of_run=True)
