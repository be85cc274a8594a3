"""Run a program in forked children: uncompiled, with Dynamo alone, or compiled.

"Compiled" means with the program's own backend.
"""

from __future__ import annotations

import functools
import pickle
import random
import sys
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import torch

from ..capture.run import run
from ..cases.collect import GraphKeeper
from ..cases.oracle import death, silence
from ..cases.reading import UnreadableError
from ..compat import inductor_compat, settings_compat
from ..facts import (
    Artifact,
    CodeGenerated,
    CompileFailure,
    Depth,
    Fact,
    Failure,
    FrameSkipped,
    FrameStarted,
    GraphBreak,
    ModulesLoaded,
    PhasesTimed,
    ProgramRaised,
    RunFinished,
    RunRequest,
    Stack,
    TargetProblem,
)
from ..observe.live import Sink
from ..processes.children import ChildResult, ForkedChild, run_child
from ..replay.record import RecordedCall, record_call
from ..verify.calls import CompiledCall
from .followed import caches, is_followed
from .paths import PathRecorder
from .printed import PrintedLines
from .results import ResultRecorder
from .wrappers import WrapRecorder, knows_wrapper, return_modules

_T = TypeVar("_T")

OUT_OF_MEMORY = "OutOfMemory"
"""The ``error`` of a program that exceeds its memory limit."""

_ENDS = {OUT_OF_MEMORY: "uses too much memory", "crash": "crashes", "hang": "hangs"}
_SEED = 0
_GIB = 1 << 30
_CALL = "failed.call"
_NO_CACHES = {
    "torch._functorch.config.enable_autograd_cache": False,
    "torch._inductor.config.fx_graph_cache": False,
}
"""The settings with which a graph is compiled anew, not taken from a cache."""
_MARKS = "eager.marks"
ANEW = "anew"
"""The stage name of the run in which calls are compiled anew."""
CHANGED = "changed"
"""The stage name of an uncompiled run that Fullgraph changes, to confirm a cause."""
UNWRAPPED = "unwrapped"
"""The stage name of the uncompiled run in which ``torch.compile`` wraps no module."""


@dataclass(slots=True)
class CompileLandmarks:
    """The numbers of the calls that compiled something, and the graph breaks.

    ``breaks`` contains the file and row of each graph break. ``eager`` contains the file and name of each
    function that is not compiled, or only in part.
    """

    compiled: set[int] = field(default_factory=set)
    breaks: set[tuple[str, int]] = field(default_factory=set)
    eager: set[tuple[str, str]] = field(default_factory=set)
    started: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The file and the name of the compiled function, by compile id."""

    def take(self, facts: Sequence[Fact], call: int) -> None:
        """Add the facts that a run reported during the call with the number ``call``."""
        for fact in facts:
            if isinstance(fact, FrameStarted):
                self.compiled.add(call)
                self.started[fact.compile_id] = fact.filename, fact.function.rpartition(".")[2]
            elif isinstance(fact, FrameSkipped):
                self.eager.add((fact.filename, fact.function.rpartition(".")[2]))
            elif isinstance(fact, GraphBreak):
                self.breaks.update((frame.filename, frame.row) for frame in fact.stack)
                if (fact.skips_frame or fact.skips_rest) and fact.compile_id in self.started:
                    self.eager.add(self.started[fact.compile_id])


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The result of a program's run: its failure, if any, with stack and compile id.

    ``raised`` is the exception that ended the run. ``others`` says whether the program started processes that
    were not observed, ``reaches_others`` whether it connected to a server or started another program.
    """

    failure: Failure | None
    seconds: float
    stack: Stack = ()
    compile_id: str = ""
    raised: tuple[ProgramRaised, ...] = ()
    others: bool = False
    reaches_others: bool = False


def observe(request: RunRequest, sink: Sink, prepare: Callable[[], None]) -> tuple[Fact, ...]:
    """Run the program in this process with a fixed seed; return facts about its end.

    ``sink`` gets all facts except ``RunFinished``, because the request that diagnoses the program continues.
    """
    kept: list[Fact] = []

    def take(facts: Sequence[Fact]) -> None:
        kept.extend(
            fact
            for fact in facts
            if isinstance(fact, (CompileFailure, ProgramRaised, RunFinished, TargetProblem))
        )
        forwarded: list[Fact] = [fact for fact in facts if not isinstance(fact, RunFinished)]
        if forwarded:
            sink(forwarded)

    def begin() -> None:
        prepare()
        random.seed(_SEED)
        torch.manual_seed(_SEED)

    run(request, take, begin)
    return tuple(kept)


def ignore(_: object) -> None:
    """Discard the facts of a run."""


def run_observed(
    request: RunRequest,
    sink: Sink,
    prepare: Callable[[], None],
    result: Callable[[], _T],
    *,
    speak: Callable[[], object] = bool,
    memory: int | None = None,
) -> tuple[ProgramResult, _T | None]:
    """Run the program in a child; return how it ran, and the child's ``result()``.

    The second value is ``None`` if the child did not finish. ``speak`` is called first in the child, so that
    ``sink`` works there. The program fails if it uses more than ``memory`` bytes.
    """

    def work() -> tuple[tuple[Fact, ...], _T]:
        speak()
        facts = observe(request, sink, prepare)
        return facts, result()

    ended = run_child(work, request.patience, memory)
    if ended.out_of_memory:
        message = f"it uses more than {(memory or 0) / _GIB:.3g} GiB"
        return ProgramResult(Failure("error", OUT_OF_MEMORY, message), ended.seconds), None
    facts, found = ended.answer if ended.answered else ((), None)
    return how_it_ran(replace(ended, answer=facts)), found


def without_code(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts except generated code and artifacts.

    A run without provenance tracking has no code to report, and a report would show its code as empty.
    """
    return [fact for fact in facts if not isinstance(fact, (Artifact, CodeGenerated))]


def seconds_compiling(facts: Sequence[Fact]) -> float:
    """Return the total seconds of the outermost phases, which contain all others."""
    return sum(fact.phases[0].seconds for fact in facts if isinstance(fact, PhasesTimed))


def _record_run(
    request: RunRequest,
    folder: Path,
    stage: str,
    recorder: ResultRecorder,
    prepare: Callable[[], None] = lambda: None,
    sink: Sink = ignore,
) -> tuple[Fact, ...]:
    """Run the program in this process; save results and output under ``stage``."""
    lines = PrintedLines()

    def prepare_all() -> None:
        recorder.install()
        prepare()
        lines.install()

    facts = observe(request, sink, prepare_all)
    recorder.save(results(folder, stage))
    lines.save(printed(folder, stage))
    return facts


def start_uncompiled(request: RunRequest, folder: Path) -> ForkedChild:
    """Start a child that runs the program uncompiled, and saves its results."""

    def work() -> tuple[Fact, ...]:
        recorder, wrapped = ResultRecorder(compiled=False), WrapRecorder()
        facts = _record_run(replace(request, depth="graph"), folder, "uncompiled", recorder, wrapped.install)
        wrapped.save(folder)
        return facts

    return ForkedChild(work, None)


def start_unwrapped(request: RunRequest, folder: Path) -> ForkedChild:
    """Start a child that runs the program uncompiled, with no module wrapped.

    The output is saved only if the program does not fail and none of its files refers to the wrapper by name.
    """

    def work() -> tuple[Fact, ...]:
        silence()
        recorder = ResultRecorder(compiled=False)
        lines = PrintedLines()
        filenames: set[str] = set()

        def look(facts: Sequence[Fact]) -> None:
            for fact in facts:
                filenames.update(fact.filenames if isinstance(fact, ModulesLoaded) else ())

        def prepare() -> None:
            recorder.install()
            return_modules()
            lines.install()

        facts = observe(replace(request, depth="graph"), look, prepare)
        failed = any(_failed(fact, 0.0) for fact in facts)
        if not failed and not knows_wrapper(request, sorted(filenames)):
            lines.save(printed(folder, UNWRAPPED))
        return facts

    return ForkedChild(work, request.patience)


def record(request: RunRequest, folder: Path, number: int) -> RecordedCall | None:
    """Run the program with Dynamo alone again; return a recording of call ``number``."""

    def work() -> None:
        recorder = ResultRecorder(compiled=True, on_call=functools.partial(_record, folder), number=number)
        observe(replace(request, depth="graph"), ignore, recorder.install)

    run_child(work)
    return recorded_call(folder)


def start_eager(request: RunRequest, folder: Path, sink: Sink, speak: Callable[[], None]) -> ForkedChild:
    """Start a child that runs the program with Dynamo alone.

    The child saves graphs and results in ``folder``. ``sink`` gets the facts of the run. ``speak`` is called
    first in the child, so that ``sink`` works there.
    """

    def work() -> tuple[Fact, ...]:
        speak()
        recorder = ResultRecorder(compiled=True, on_call=functools.partial(_record, folder))
        keeper, seen = GraphKeeper(folder), CompileLandmarks()

        def mark(facts: list[Fact]) -> None:
            seen.take(facts, recorder.calls)
            sink(facts)

        graphs = replace(request, depth="graph")
        facts = _record_run(graphs, folder, "eager", recorder, keeper.install, mark)
        (folder / _MARKS).write_bytes(pickle.dumps(seen))
        return facts

    return ForkedChild(work, None)


def start_followed(request: RunRequest, answer: Callable[[PathRecorder], Any]) -> ForkedChild:
    """Start a child that runs the program uncompiled and records each call's path.

    The child's answer is ``answer(recorder)``.
    """

    def work() -> Any:
        silence()
        recorder = PathRecorder()
        observe(replace(request, depth="graph"), ignore, recorder.install)
        return answer(recorder)

    return ForkedChild(work, request.patience)


def start_anew(
    request: RunRequest,
    folder: Path,
    number: int,
    *,
    whole: bool,
    settings: Mapping[str, object] = MappingProxyType({}),
) -> ForkedChild:
    """Start a child that runs the program and compiles call ``number`` anew.

    If ``number`` is 0, it compiles every call anew. With ``whole`` the program uses its own backend,
    otherwise Dynamo alone. The child saves results and output in ``folder``.
    """
    graphs = folder / ANEW
    graphs.mkdir(exist_ok=True)

    def prepare() -> None:
        if not whole:
            GraphKeeper(graphs).install()
        settings_compat.pin_settings({**_NO_CACHES, **settings})

    def forget(call: CompiledCall) -> None:
        if number in (0, call.number):
            torch.compiler.reset()

    recorder = ResultRecorder(compiled=True, before=forget)
    return _start_silently(request, folder, ANEW, recorder, prepare, depth="alone" if whole else "graph")


def start_pretending(request: RunRequest, folder: Path) -> ForkedChild:
    """Start a child that runs the program uncompiled; torch claims to be compiling."""
    return _start_silently(request, folder, CHANGED, _UncompiledRecorder())


def start_forgetting(request: RunRequest, folder: Path, calls: Collection[int]) -> ForkedChild:
    """Start a child that runs the program uncompiled and clears ``functools`` caches.

    It clears them before each call whose number is in ``calls``.
    """

    def forget(call: CompiledCall) -> None:
        for code, cache in caches() if call.number in calls else ():
            if is_followed(code.co_filename):
                cache.cache_clear()

    return _start_silently(request, folder, CHANGED, ResultRecorder(compiled=False, before=forget))


def _start_silently(
    request: RunRequest,
    folder: Path,
    stage: str,
    recorder: ResultRecorder,
    prepare: Callable[[], None] = lambda: None,
    depth: Depth = "graph",
) -> ForkedChild:
    """Start a child that runs the program silently, and saves results and output."""

    def work() -> None:
        silence()
        _record_run(replace(request, depth=depth), folder, stage, recorder, prepare)

    return ForkedChild(work, request.patience)


class _UncompiledRecorder(ResultRecorder):
    """A recorder of results of uncompiled calls, while torch claims to be compiling."""

    def __init__(self) -> None:
        super().__init__(compiled=False)
        self._own = {name: getattr(torch.compiler, name) for name in ("is_compiling", "is_dynamo_compiling")}

    def begin(self, call: CompiledCall) -> None:
        """Make torch answer to the program's own code that torch is compiling."""
        super().begin(call)
        for name, own in self._own.items():
            setattr(torch.compiler, name, functools.partial(_pretend, own))

    def leave(self, call: CompiledCall) -> None:
        """Restore torch's own answers."""
        super().leave(call)
        for name, own in self._own.items():
            setattr(torch.compiler, name, own)


def _pretend(own: Callable[[], bool]) -> bool:
    return is_followed(sys._getframe(1).f_code.co_filename) or own()


def run_compiled(
    request: RunRequest, folder: Path, settings: Mapping[str, object], *, keeps_results: str = ""
) -> ProgramResult:
    """Run the program in a child with its own backend.

    Except for ``settings`` of torch, the program runs as it does without Fullgraph. ``keeps_results`` is the
    stage under which its results are saved; if empty, the output is saved instead.
    """

    def work() -> tuple[Fact, ...]:
        lines = PrintedLines()
        recorder = ResultRecorder(compiled=True) if keeps_results else None
        if recorder is not None:
            silence()

        def prepare() -> None:
            if recorder is not None:
                recorder.install()
            inductor_compat.use_graph_caches()
            settings_compat.pin_settings(dict(settings))
            lines.install()

        facts = observe(replace(request, depth="alone"), ignore, prepare)
        if recorder is not None:
            recorder.save(results(folder, keeps_results))
        else:
            lines.save(printed(folder, "compiled"))
        return facts

    ended = run_child(work)
    ran = how_it_ran(ended)
    facts: tuple[Fact, ...] = ended.answer if ended.answered else ()
    # An error that the program caught, or that torch suppressed, is not a failure of the program.
    goes_on = any(isinstance(fact, RunFinished) and fact.status == "finished" for fact in facts)
    return replace(ran, failure=None) if goes_on else ran


def recorded_call(folder: Path) -> RecordedCall | None:
    """Return the recorded call of a compiled function.

    ``None`` if no call was recorded, for example because it could not be pickled.
    """
    path = folder / _CALL
    return pickle.loads(path.read_bytes()) if path.exists() else None


def marks(folder: Path) -> CompileLandmarks:
    """Return what the run with Dynamo alone recorded of its compilations.

    The result is empty if that run did not end.
    """
    path = folder / _MARKS
    return pickle.loads(path.read_bytes()) if path.exists() else CompileLandmarks()


def results(folder: Path, stage: str) -> Path:
    """Return the path of the file with the results of a stage."""
    return folder / f"{stage}.results"


def printed(folder: Path, stage: str) -> Path:
    """Return the path of the file with the program's output at a stage."""
    return folder / f"{stage}.printed"


def how_it_ran(ended: ChildResult) -> ProgramResult:
    """Convert the end of a child that ran the program to a ``ProgramResult``."""
    if ended.out_of_time:
        message = f"it takes longer than {ended.seconds:.0f} s"
        return ProgramResult(Failure("hang", "Hang", message), ended.seconds)
    if not ended.answered:
        return ProgramResult(death(ended.code or 0), ended.seconds)
    facts: tuple[Fact, ...] = ended.answer
    ends = [fact for fact in facts if isinstance(fact, RunFinished)]
    others, reaches = any(end.unobserved for end in ends), any(end.reaches_others for end in ends)
    ran = next(
        (ran for fact in facts if (ran := _failed(fact, ended.seconds))), ProgramResult(None, ended.seconds)
    )
    return replace(ran, others=others, reaches_others=reaches)


def _failed(fact: Fact, seconds: float) -> ProgramResult | None:
    """Return the result of a run if ``fact`` is a failure, else ``None``."""
    if isinstance(fact, CompileFailure):
        failure = Failure("error", fact.error, fact.message, text=fact.text)
        return ProgramResult(failure, seconds, fact.stack, fact.compile_id)
    if isinstance(fact, ProgramRaised) and not fact.caught:
        failure = Failure("error", fact.error, fact.message, text=fact.text)
        return ProgramResult(failure, seconds, fact.stack, raised=(fact,))
    if isinstance(fact, TargetProblem) and fact.severity == "error":
        return ProgramResult(Failure("error", "TargetProblem", fact.message), seconds, fact.stack)
    return None


def failure_problems(failure: Failure | None) -> list[Fact]:
    """Return a ``TargetProblem`` for a failure that the child could not report itself.

    Such failures are crashes, hangs, and exceeded memory limits. The list is empty for other failures.
    """
    ending = failure and _ENDS.get(failure.error, _ENDS.get(failure.kind))
    return [TargetProblem("error", f"The program {ending}: {failure.message}.")] if failure and ending else []


def _record(folder: Path, *call: Any) -> None:
    path = folder / _CALL
    if path.exists():
        return
    try:
        path.write_bytes(pickle.dumps(record_call(*call)))
    except UnreadableError as error:
        print(f"the call cannot be recorded: {error}", file=sys.stderr)  # noqa: T201
    except Exception:
        traceback.print_exc()  # the program must not notice
