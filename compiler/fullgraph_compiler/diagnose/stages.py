"""Find the first stage of the compiler at which a program fails.

``uncompiled`` and ``eager`` (Dynamo only) are runs of the whole program; their results must be equal. Each
captured graph then goes through ``aot_eager``, ``aot_eager_decomp_partition`` and the program's own backend.
Each of these stages compiles and runs the graph, forward and backward, and the results must match. The first
stage that fails is at fault, if the program's own backend fails as well. If no stage is at fault, the whole
program runs once more with its own backend (``compiled``), because it may fail between its graphs, which no
stage checks. Further runs of the whole program look for a cause, unless the program connects to a server or
starts another program.
(https://docs.pytorch.org/docs/main/user_guide/torch_compiler/torch.compiler_troubleshooting.html)
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..cases import checking, repro
from ..cases.case import FailureCase
from ..cases.collect import saved, unsaved
from ..cases.oracle import FailureOracle, OracleAnswer
from ..cases.places import calls_in
from ..compat import inductor_compat
from ..facts import (
    Cause,
    Failure,
    FaultLocated,
    GraphUnchecked,
    RerunsSkipped,
    RunRequest,
    Stack,
    StageChecked,
)
from ..observe.live import Sink
from ..processes.children import ends_of, run_child
from ..processes.gpu import has_gpu
from ..replay.record import RecordedCall
from . import printed, programs, results, wrappers
from .bisection import bisect
from .causes import find_cause, half_difference
from .chosen import settings_at_fault
from .draws import drawn_in
from .noise import noise_in
from .operators import operator_at_fault

AOT_STAGES = ("aot_eager", "aot_eager_decomp_partition")
_DECOMPOSING = ("aot_eager_decomp_partition", "inductor")
"""The stages with TorchInductor's decompositions, whose random numbers differ from those of eager code."""
_EAGER_RANDOM = {"torch._inductor.config.fallback_random": True}
"""The setting that makes ``_DECOMPOSING`` stages draw the random numbers of eager code."""
_EAGER_ROUNDING = {"torch._inductor.config.emulate_precision_casts": True}
"""The setting that makes TorchInductor round to half precision after each operation, as eager code does."""
_HALF = re.compile("bfloat16|float16")
OF_OTHER_PROCESSES = "compilation in processes that the program starts"
"""The ``reason`` of a ``GraphUnchecked`` without a graph: the program started processes that may compile."""
_RANDOM = re.compile("rand|dropout|bernoulli|multinomial|normal|uniform|exponential|scaled_dot_product|rrelu")
"""A pattern for the names of operations that may draw random numbers."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A located fault, with the failing case, or the recorded call if Dynamo fails."""

    located: FaultLocated
    case: FailureCase | None = None
    call: RecordedCall | None = None


@dataclass(frozen=True, slots=True)
class _ProgramRuns:
    """The fault in the program's first runs, and the graphs that cannot be checked.

    ``reaches_others`` says whether the program connected to a server or started another program.
    """

    fault: Fault | None
    unchecked: list[GraphUnchecked]
    reaches_others: bool


def climb(
    request: RunRequest,
    oracle: FailureOracle,
    sink: Sink,
    speak: Callable[[], None],
    *,
    seeks_causes: bool = False,
) -> tuple[list[Fault], list[GraphUnchecked]]:
    """Return the faults of a program, and the graphs that could not be checked.

    The progress and the unchecked graphs also go to ``sink``; ``speak`` is called in a forked child, so that
    ``sink`` works there. With ``seeks_causes``, further runs look for the cause of a difference in the whole
    program, unless the program connects to a server or starts another program: each run would do so again.
    """
    # Not a TemporaryDirectory: exit handlers of the children would remove it.
    folder = Path(tempfile.mkdtemp(prefix="fullgraph-graphs-"))
    try:
        runs = _run_program(request, folder, sink, speak, seeks_causes=seeks_causes)
        fault, unchecked = runs.fault, runs.unchecked
        faults = [fault] if fault else []
        wrapped = None if fault else _printed_unwrapped(folder)
        if fault is None or fault.located.stage != "uncompiled":
            sink([*unchecked])
            cases = _distinct(saved(folder))
            for case in cases:
                found = _climb_with(case, oracle, sink, len(faults) + 1, seeks_causes=seeks_causes)
                faults += [found] if isinstance(found, Fault) else []
                unchecked += [found] if isinstance(found, GraphUnchecked) else []
            if not faults and (cases or unchecked):
                reruns = not runs.reaches_others
                fault = _run_compiled(request, folder, sink, cases, seeks_causes=seeks_causes, reruns=reruns)
                if seeks_causes and fault is None and any(_HALF.search(repr(case.inputs)) for case in cases):
                    _compare_halves(request, folder, sink, reruns=reruns)
                faults += [fault] if fault else []
        if wrapped is not None:
            faults.append(Fault(replace(wrapped, number=len(faults) + 1)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return faults, unchecked


def at_stage(case: FailureCase, stage: str) -> FailureCase:
    """Return a case with a stage's backend instead of its own."""
    return case if stage == case.backend else replace(case, backend=stage, backend_is_code=False)


def _run_program(
    request: RunRequest, folder: Path, sink: Sink, speak: Callable[[], None], *, seeks_causes: bool
) -> _ProgramRuns:
    """Run the program uncompiled, and with Dynamo alone.

    Return the fault of one of these two stages, and the graphs that cannot be checked at the later stages.
    """
    uncompiled, eager = (
        programs.start_uncompiled(request, folder),
        programs.start_eager(request, folder, sink, speak),
    )
    if not has_gpu():  # while the children run
        inductor_compat.warm_up_patterns()
        inductor_compat.warm_up_cpp()
    children, ran, unwrapped = {uncompiled, eager}, {}, None
    for child, ended in ends_of(children):
        ran[child] = programs.how_it_ran(ended)
        if child is uncompiled and wrappers.places(folder) and (seeks_causes or ran[child].failure):
            if ran[child].reaches_others:
                sink([RerunsSkipped()])
                continue
            unwrapped = programs.start_unwrapped(request, folder)
            children.add(unwrapped)
    plain, captured = ran[uncompiled], ran[eager]
    reaches = plain.reaches_others or captured.reaches_others
    sink([StageChecked("uncompiled", "", plain.failure, plain.seconds)])
    if plain.failure is not None:
        itself = ran[unwrapped] if unwrapped is not None else None
        if itself is not None and itself.failure is not None and itself.failure.kind == "hang":
            itself = None  # only this run has a time limit, so its outcome is unknown
        if itself is not None:
            sink([StageChecked(programs.UNWRAPPED, "", itself.failure, itself.seconds)])
        sink([StageChecked("eager", "", captured.failure, captured.seconds)])
        return _ProgramRuns(Fault(_failed_uncompiled(folder, plain, itself, captured)), [], reaches)
    failure, number = (captured.failure, 0) if captured.failure else _difference(folder)
    unchecked = unsaved(folder)
    if captured.others:
        unchecked.append(GraphUnchecked("", OF_OTHER_PROCESSES))
    if captured.others and captured.raised:
        # Its other processes compiled with the program's own backend, not with Dynamo alone.
        sink([StageChecked("compiled", "", failure, captured.seconds)])
        return _ProgramRuns(Fault(_of_compiled(captured)), unchecked, reaches)
    cause = None
    if number and seeks_causes and reaches:
        sink([RerunsSkipped()])
    elif number and seeks_causes:
        cause = find_cause(request, folder, number, whole=False)
    if failure is not None and cause is not None and cause.kind == "numpy-random":
        # Not a fault: the compiled program draws other numbers from the same distributions.
        sink([StageChecked("eager", "", None, captured.seconds)])
        sink([StageChecked("use_numpy_random_stream", "", None, captured.seconds, failure.message)])
        return _ProgramRuns(None, unchecked, reaches)
    sink([StageChecked("eager", "", failure, captured.seconds)])
    if failure is None:
        return _ProgramRuns(None, unchecked, reaches)
    call = programs.record(request, folder, number) if number else programs.recorded_call(folder)
    stack = captured.stack or (call.place if call else ())
    located = FaultLocated(1, "eager", "uncompiled", failure, captured.compile_id, stack)
    return _ProgramRuns(Fault(_with_cause(located, cause), call=call), unchecked, reaches)


def _failed_uncompiled(
    folder: Path,
    plain: programs.ProgramResult,
    itself: programs.ProgramResult | None,
    captured: programs.ProgramResult,
) -> FaultLocated:
    """Return the fault of a program that fails uncompiled.

    ``itself`` is the result of the run without wrapped modules, ``captured`` that of the run with Dynamo
    alone.
    """
    assert plain.failure is not None
    alike = captured.failure is not None and captured.failure.error == plain.failure.error
    if itself is not None and itself.failure is None and alike:
        return wrappers.wrapper_fault(folder, plain.failure, plain.stack)
    return FaultLocated(1, "uncompiled", "", plain.failure, "", plain.stack)


def _printed_unwrapped(folder: Path) -> FaultLocated | None:
    """Return the fault if a program's output changes because modules are wrapped."""
    paths = [programs.printed(folder, stage) for stage in (programs.UNWRAPPED, "uncompiled", "eager")]
    if not all(path.exists() for path in paths):
        return None
    words = wrappers.printed_otherwise(*map(printed.load, paths))
    return wrappers.wrapper_fault(folder, Failure("accuracy", "Output", words)) if words else None


def _with_cause(located: FaultLocated, cause: Cause | None) -> FaultLocated:
    """Return a fault with ``cause``, and with the cause's stack if the cause has one."""
    if cause is None:
        return located
    place = cause.evidence[0].stack if cause.evidence else ()
    return replace(located, cause=cause, stack=place or cause.caller or located.stack)


def _run_compiled(
    request: RunRequest,
    folder: Path,
    sink: Sink,
    cases: Sequence[FailureCase],
    *,
    seeks_causes: bool,
    reruns: bool,
) -> Fault | None:
    """Run the program with its own backend, and return a fault if it fails.

    It has passed uncompiled before; ``cases`` are its graphs. If it now fails or prints something else, and
    its graphs may draw random numbers, it runs again with the random numbers of eager code, unless ``reruns``
    is false. Different output is a fault only if a cause is found.
    """
    ran = programs.run_compiled(request, folder, {})
    failure = ran.failure or _printed_otherwise(folder)
    sink([StageChecked("compiled", "", failure, ran.seconds), *ran.raised])
    drawing = [case for case in cases if case.backend in _DECOMPOSING and _may_draw(case)]
    if failure is not None and not reruns and (drawing or (seeks_causes and not ran.failure)):
        sink([RerunsSkipped()])
    if failure is not None and drawing and reruns:
        aligned = programs.run_compiled(request, folder, _EAGER_RANDOM)
        other = aligned.failure or _printed_otherwise(folder)
        said, drawn = ("", ()) if other else (failure.message or failure.error, drawn_in(drawing))
        sink([StageChecked("fallback_random", "", other, aligned.seconds, said, drawn)])
        if other is None:
            seeks_causes = False
    if failure is not None and seeks_causes:
        _tell_noise(cases, request.patience, sink)
    if ran.failure:
        return Fault(_of_compiled(ran))
    if failure is None or not seeks_causes or not reruns:
        return None
    return _printed_fault(request, folder, sink, failure)


def _printed_fault(request: RunRequest, folder: Path, sink: Sink, failure: Failure) -> Fault | None:
    """Return a fault if further runs find why a compiled program's output differs."""
    plain, captured = (printed.load(programs.printed(folder, stage)) for stage in ("uncompiled", "eager"))
    whole = not printed.difference(plain, captured, captured)
    begun = time.monotonic()
    cause = find_cause(request, folder, 0, whole=whole)
    if cause is None:
        return None
    if not cause.evidence:
        seconds = time.monotonic() - begun
        name = "use_numpy_random_stream" if cause.kind == "numpy-random" else "compiled anew"
        sink([StageChecked(name, "", None, seconds, failure.message)])
        return None
    located = FaultLocated(1, "compiled" if whole else "eager", "uncompiled", failure, "")
    return Fault(_with_cause(located, cause))


def _compare_halves(request: RunRequest, folder: Path, sink: Sink, *, reruns: bool) -> None:
    """Report half-precision results that differ only by TorchInductor's rounding."""
    if not reruns:
        sink([RerunsSkipped()])
        return
    programs.run_compiled(request, folder, _EAGER_RANDOM, keeps_results="fused")
    otherwise = half_difference(folder, "fused")
    if not otherwise:
        return
    ran = programs.run_compiled(request, folder, _EAGER_RANDOM | _EAGER_ROUNDING, keeps_results="rounded")
    if ran.failure is None and half_difference(folder, "rounded") == "":
        sink([StageChecked("emulate_precision_casts", "", None, ran.seconds, otherwise)])


def _tell_noise(cases: Sequence[FailureCase], seconds: float, sink: Sink) -> None:
    """Report the graphs with results that only rounding decides.

    The graphs run with the random numbers of eager code, so that random numbers cause no difference.
    """
    settings = tuple(f"{name} = {value}" for name, value in _EAGER_RANDOM.items())
    for case in cases:
        noise = noise_in(replace(case, settings=(*case.settings, *settings)), seconds)
        sink([noise] if noise else [])


def _of_compiled(ran: programs.ProgramResult) -> FaultLocated:
    assert ran.failure is not None
    return FaultLocated(1, "compiled", "uncompiled", ran.failure, "", ran.stack)


def _printed_otherwise(folder: Path) -> Failure | None:
    """Return a failure if the program prints a line only compiled or only uncompiled."""
    plain, captured, compiled = (
        printed.load(programs.printed(folder, stage)) for stage in ("uncompiled", "eager", "compiled")
    )
    words = printed.difference(plain, captured, compiled)
    return Failure("accuracy", "Output", words) if words else None


def completed(fault: Fault, seconds: float) -> FaultLocated:
    """Return a fault with the operator or the part of TorchInductor that causes it."""
    located = fault.located
    if fault.case is not None and located.failure.kind in ("error", "accuracy"):
        operator, place = operator_at_fault(fault.case, located, seconds)
        if operator is not None:
            return replace(located, operator=operator, stack=place or located.stack)
    return replace(located, detail=_detail(fault, seconds))


def _detail(fault: Fault, seconds: float) -> str:
    """Return the part of TorchInductor at fault.

    Empty if the fault is at another stage, or if the failure is a crash or a hang.
    """
    located = fault.located
    if fault.case is None or located.stage != "inductor" or located.failure.kind not in ("error", "accuracy"):
        return ""
    return bisect(fault.case, seconds)


def _climb_with(
    case: FailureCase, oracle: FailureOracle, sink: Sink, number: int, *, seeks_causes: bool = False
) -> Fault | GraphUnchecked | None:
    if reason := _unwritten(case):
        sink([GraphUnchecked(case.compile_id, reason)])
        return GraphUnchecked(case.compile_id, reason)
    stages = _stages(case)
    cases = [at_stage(case, stage) for stage in stages]
    answers = [
        _without_random_numbers(asked, answer, oracle)
        for asked, answer in zip(cases, oracle.ask(cases), strict=True)
    ]
    last = answers[-1][1].failure
    if last is not None and (reason := _unfit(case, last, oracle)):
        unchecked = GraphUnchecked(case.compile_id, reason)
        sink([unchecked])
        return unchecked
    sink(
        [
            StageChecked(stage, case.compile_id, answer.failure, answer.seconds)
            for stage, (_, answer) in zip(stages, answers, strict=True)
        ]
    )
    if last is None:
        return None
    index = next(index for index, (_, answer) in enumerate(answers) if answer.failure is not None)
    failing, answer = answers[index]
    assert answer.failure is not None
    passes = stages[index - 1] if index else "eager"
    place = _place(failing, answer.failure)
    located = FaultLocated(number, stages[index], passes, answer.failure, case.compile_id, place)
    settings = settings_at_fault(failing, located, oracle, case.backend) if seeks_causes else ()
    return Fault(replace(located, settings=settings), failing)


def _unwritten(case: FailureCase) -> str:
    """Return why a graph cannot be written as a separate program; empty if it can."""
    try:
        repro.program(case)
    except Exception as error:
        return f"it cannot be copied into a program: {type(error).__name__}: {error}"
    return ""


def _unfit(case: FailureCase, failure: Failure, oracle: FailureOracle) -> str:
    """Return why a failure is due to the copy of the graph, not to the stage.

    Empty if the stage is at fault.
    """
    if failure.error == checking.UNCOMPILED:
        return f"its copy does not run outside of the program: {failure.message}"
    if failure.error == checking.IN_PIECES:
        return f"Dynamo does not capture its copy as one graph: {failure.message}"
    (eager,) = oracle.ask([at_stage(case, "eager")])
    if eager.failure is None or eager.failure.error == checking.IN_PIECES:
        return ""
    return f"its copy fails under Dynamo alone: {eager.failure.error}: {eager.failure.message}"


def _stages(case: FailureCase) -> tuple[str, ...]:
    """Return a case's stages, from the first stage of AOTAutograd to its own backend."""
    if case.backend in AOT_STAGES:
        return AOT_STAGES[: AOT_STAGES.index(case.backend) + 1]
    return (*AOT_STAGES, case.backend)


def _without_random_numbers(
    case: FailureCase, answer: OracleAnswer, oracle: FailureOracle
) -> tuple[FailureCase, OracleAnswer]:
    """Repeat a check with eager random numbers, if only random numbers may differ."""
    is_wrong = answer.failure is not None and answer.failure.kind == "accuracy"
    if case.backend not in _DECOMPOSING or not is_wrong or not _may_draw(case):
        return case, answer
    settings = (f"{name} = {value}" for name, value in _EAGER_RANDOM.items())
    aligned = replace(case, settings=(*case.settings, *settings))
    return aligned, oracle.ask([aligned])[0]


def _may_draw(case: FailureCase) -> bool:
    """Return whether a graph may draw random numbers."""
    return _RANDOM.search(repr(case.graph)) is not None


def _difference(folder: Path) -> tuple[Failure | None, int]:
    """Return the first result that differs under Dynamo, and the number of its call."""

    def compare() -> tuple[Failure | None, int]:
        plain, captured = (results.load(programs.results(folder, stage)) for stage in ("uncompiled", "eager"))
        for place, tensor in plain.items():
            number, name = place
            message = checking.difference(name, captured[place], tensor, None) if place in captured else ""
            if message:
                return checking.wrong_numbers(message), number
        return None, 0

    ended = run_child(compare)
    return ended.answer if ended.answered else (None, 0)


def _distinct(cases: Sequence[FailureCase]) -> list[FailureCase]:
    """Return the cases without duplicates.

    Two cases are duplicates if graph, inputs, backend and settings are equal.
    """
    cases_by_graph: dict[tuple[object, ...], FailureCase] = {}
    for case in cases:
        specs = tuple((item.name, item.spec) for item in case.inputs)
        cases_by_graph.setdefault((repr(case.graph), specs, case.backend, case.settings), case)
    return list(cases_by_graph.values())


def _place(case: FailureCase, failure: Failure) -> Stack:
    """Return the user stack of the failing operation, or that of the first operation."""
    named = calls_in(case, repro.program(case), failure.text)
    return named or next((item.calls for item in case.graph.operations if item.calls), ())
