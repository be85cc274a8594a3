"""The minifier: find the fault, reduce the graph, write the repro."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ..cases import aot, repro
from ..cases.case import FailureCase
from ..cases.oracle import AnswerCache, FailureOracle
from ..compat import inductor_compat, torch_compat
from ..diagnose.stages import Fault, climb
from ..facts import (
    Failure,
    FaultLocated,
    GraphUnchecked,
    MinifyProgress,
    MinifyRequest,
    ReproWritten,
    RunFinished,
    RunRequest,
    Stack,
    TargetProblem,
)
from ..observe.live import Sink
from ..replay import program
from ..replay.record import RecordedCall
from .cold_rerun import FreshInterpreter
from .reduction import reduce


def minify(request: MinifyRequest, sink: Sink, speak: Callable[[], None]) -> None:
    """Find one failure of a program, write its repro, and report facts to ``sink``.

    ``speak`` is called first in a forked child process, so that ``sink`` works there.
    """
    begun = time.monotonic()
    inductor_compat.prepare(request.cache)
    oracle = FailureOracle(
        request.patience, AnswerCache(Path(request.cache) / "answers.jsonl" if request.cache else None)
    )
    run_request = RunRequest(request.generation, request.program, "stages", request.texts)
    faults, unchecked = climb(run_request, oracle, sink, speak)
    fault = _chosen(faults, request)
    if fault is not None:
        sink([fault.located])
    if fault is not None and fault.case is not None:
        _MinifyState(request, fault.located, oracle, sink, begun).run(fault.case)
    elif fault is not None and fault.call is not None:
        sink([_write_call(request, fault.located, fault.call, begun)])
    else:
        sink([TargetProblem("error", _nothing(faults, unchecked, fault, request))])
    sink([RunFinished("finished", time.monotonic() - begun, 0)])


def _chosen(faults: list[Fault], request: MinifyRequest) -> Fault | None:
    if request.failure:
        return next((fault for fault in faults if fault.located.number == request.failure), None)
    meant = [fault for fault in faults if request.compile_id in ("", fault.located.compile_id)]
    # Prefer a fault with a graph, which can be reduced; a fault of Dynamo has none.
    return next((fault for fault in meant or faults if fault.case), next(iter(meant or faults), None))


def _nothing(
    faults: list[Fault], unchecked: list[GraphUnchecked], fault: Fault | None, request: MinifyRequest
) -> str:
    if fault is not None and fault.located.stage == "uncompiled" and fault.located.cause is not None:
        return (
            "The program fails because torch.compile returns an OptimizedModule, not the module itself. "
            "The compiler works: there is nothing to minify."
        )
    if fault is not None and fault.located.stage == "uncompiled":
        return "The program fails without the compiler as well: there is nothing to minify."
    if fault is not None and fault.located.stage == "compiled":
        return "The whole program fails, but no single graph was found to fail: there is no graph to minify."
    if fault is not None:
        return "This failure is outside of all graphs, and its call could not be recorded: see the log."
    if faults:
        return f"There is no failure number {request.failure}: the program has only {len(faults)}."
    if unchecked:
        return f"No failure was found, but {_not_checked(unchecked)}"
    return "Nothing fails: every graph compiles, and its results are right for the inputs of one call."


def _not_checked(unchecked: list[GraphUnchecked]) -> str:
    graphs = [graph for graph in unchecked if graph.compile_id]
    if not graphs:
        return f"{unchecked[0].reason} was not checked"
    counted = f"{len(graphs)} graph{'s were' if len(graphs) > 1 else ' was'} not checked"
    return f"{counted}, because {graphs[0].reason}"


def _write_call(
    request: MinifyRequest, fault: FaultLocated, call: RecordedCall, begun: float
) -> ReproWritten:
    """Write the repro of a call at which Dynamo fails, outside of all graphs."""
    _replace(Path(request.output), program.write(call, fault, _environment()))
    with FreshInterpreter() as fresh:
        reproduces = fresh.run(request.output) == 0
    return ReproWritten(
        filename=request.output,
        nodes=0,
        nodes_at_first=0,
        queries=0,
        cached=0,
        seconds=time.monotonic() - begun,
        reproduces=reproduces,
        stack=fault.stack[-1:],
    )


@dataclass(slots=True)
class _MinifyState:
    request: MinifyRequest
    fault: FaultLocated
    oracle: FailureOracle
    sink: Sink
    begun: float
    nodes_at_first: int = 0

    def run(self, case: FailureCase) -> None:
        case, failure = self._at_level(case)
        self.nodes_at_first = case.nodes
        if failure.kind == "hang":
            self.oracle.seconds = 10.0  # each smaller case that hangs takes this long
        self._write(case, failure)

        def first_failing(cases: Iterable[FailureCase]) -> FailureCase | None:
            return self.oracle.first_failing(cases, failure)

        with FreshInterpreter() as fresh:
            case = reduce(case, first_failing, lambda smaller: self._write(smaller, failure))
            self._write(case, failure)
            reproduces = fresh.run(self.request.output) == 0
        self.sink(
            [
                ReproWritten(
                    filename=self.request.output,
                    nodes=case.nodes,
                    nodes_at_first=self.nodes_at_first,
                    queries=self.oracle.queries,
                    cached=self.oracle.cached,
                    seconds=time.monotonic() - self.begun,
                    reproduces=reproduces,
                    stack=_lines(case),
                )
            ]
        )

    def _at_level(self, case: FailureCase) -> tuple[FailureCase, Failure]:
        """Return the case to reduce, and its failure.

        The case is at the lowest level at which it fails in the same way.
        """
        failure = self.fault.failure
        if case.backend != "inductor":
            return case, failure
        graphs = aot.split(case, self.request.patience) if self.request.level != "dynamo" else []
        # Most of the time goes to compiling kernels, and a failure of lowering occurs before that.
        may_be_of_lowering = failure.kind == "error" and failure.error != "CppCompileError"
        for self.oracle.after_lowering in (False, True) if may_be_of_lowering else (True,):
            for candidate in (*graphs, case):
                reproduced = self.oracle.ask([candidate])[0].failure
                if reproduced is not None and (reproduced.kind, reproduced.error) == (
                    failure.kind,
                    failure.error,
                ):
                    return candidate, reproduced
        return case, failure

    def _write(self, case: FailureCase, failure: Failure) -> None:
        text = repro.write(case, replace(self.fault, failure=failure), _environment())
        _replace(Path(self.request.output), text)
        seconds = time.monotonic() - self.begun
        self.sink([MinifyProgress(case.nodes, self.nodes_at_first, self.oracle.queries, seconds)])


def _replace(path: Path, text: str) -> None:
    """Replace a file atomically.

    A mount point is overwritten instead, because no file can be renamed to its path.
    """
    if os.path.ismount(path):
        path.write_text(text, encoding="utf-8")
        return
    beside = path.with_name(f".{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


def _lines(case: FailureCase) -> Stack:
    """Return the user's lines that a case's operations come from, without duplicates."""
    lines = [operation.calls[-1] for operation in case.graph.operations if operation.calls]
    return tuple(dict.fromkeys(lines))


def _environment() -> str:
    return f"torch {torch_compat.version()}, Python {platform.python_version()}, {platform.platform()}"
