"""Explain what was compiled, with any backend: graphs, breaks, operations, guards, times.

The part of ``torch._dynamo.explain`` and ``ExplainWithBackend`` (``torch/_dynamo/backends/debugging.py``),
with counts that hold where theirs do not. torch counts the graphs that reach the backend, and takes one
less for the number of breaks. A break that makes Dynamo skip its frame has no graph (-1 breaks), and two
functions without a break have two (1 break). Here, everything is counted from the facts of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ..facts import FrameCompiled, GraphBreak, GuardInstalled
from .listening import ListeningBackend, operations, place


@dataclass(frozen=True, slots=True)
class ExplainedGraph:
    """A graph that Dynamo captured, and the names of its operations."""

    compile_id: str
    module: torch.fx.GraphModule
    ops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainOutput:
    """What was compiled."""

    graphs: tuple[ExplainedGraph, ...]
    break_reasons: tuple[GraphBreak, ...]
    out_guards: tuple[GuardInstalled, ...]
    frames: tuple[FrameCompiled, ...]

    @property
    def graph_count(self) -> int:
        """How many graphs there are."""
        return len(self.graphs)

    @property
    def graph_break_count(self) -> int:
        """How often Dynamo could not go on."""
        return len(self.break_reasons)

    @property
    def op_count(self) -> int:
        """How many operations all graphs have."""
        return sum(len(graph.ops) for graph in self.graphs)

    @property
    def ops_per_graph(self) -> tuple[tuple[str, ...], ...]:
        """The operations of each graph."""
        return tuple(graph.ops for graph in self.graphs)

    @property
    def compile_seconds(self) -> float:
        """How long all compilations took."""
        return sum(frame.seconds for frame in self.frames)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


class ExplainWithBackend(ListeningBackend):
    """A backend for ``torch.compile`` that keeps what is compiled with it, and leaves the rest to another.

    It listens until it is closed; use it in a ``with`` statement, or call :meth:`close`.
    """

    def __init__(self, backend: str | Callable[..., Any]) -> None:
        super().__init__(backend)
        # By this name torch speaks of a backend in its errors.
        self.__name__ = str(getattr(backend, "__name__", backend))
        self._graphs: dict[str, ExplainedGraph] = {}
        self._earlier_graphs: list[ExplainedGraph] = []

    def output(self) -> ExplainOutput:
        """What was compiled so far."""
        return ExplainOutput(
            graphs=(*self._earlier_graphs, *self._graphs.values()),
            break_reasons=tuple(fact for fact in self._facts if isinstance(fact, GraphBreak)),
            out_guards=tuple(fact for fact in self._facts if isinstance(fact, GuardInstalled)),
            frames=tuple(fact for fact in self._facts if isinstance(fact, FrameCompiled)),
        )

    def _captured(self, compile_id: str, graph: torch.fx.GraphModule) -> None:
        # When Dynamo starts a compilation over, its last graph is the one that stays.
        self._graphs[compile_id] = ExplainedGraph(compile_id, graph, tuple(operations(graph)))

    def _began(self, compile_id: str) -> None:
        if compile_id in self._graphs:
            # torch.compiler.reset() makes the ids start anew.
            self._earlier_graphs += self._graphs.values()
            self._graphs = {}


def explain(
    function: Callable[..., Any], backend: str | Callable[..., Any] = "eager"
) -> Callable[..., ExplainOutput]:
    """Compile and call ``function``: ``explain(function)(*args)`` says what was compiled.

    As with ``torch._dynamo.explain``, everything that was compiled before is forgotten, and so is this.
    """

    def call(*args: Any, **kwargs: Any) -> ExplainOutput:
        torch.compiler.reset()
        try:
            with ExplainWithBackend(backend) as explaining:
                torch.compile(function, backend=explaining)(*args, **kwargs)
            return explaining.output()
        finally:
            torch.compiler.reset()

    return call


def _lines(output: ExplainOutput) -> Iterator[str]:
    yield f"Graphs: {output.graph_count}, with {output.op_count} operations"
    for graph in output.graphs:
        yield f"  [{graph.compile_id}] {', '.join(graph.ops)}"
    yield f"Graph breaks: {output.graph_break_count}"
    for found in output.break_reasons:
        yield f"  [{found.compile_id}] {f'{found.code}: ' if found.code else ''}{found.reason}"
        yield from (f"      {place(frame)}" for frame in found.stack)
        if found.skips_frame:
            yield "      nothing of this function is compiled"
    yield f"Guards: {len(output.out_guards)}"
    yield from dict.fromkeys(_guard_line(guard) for guard in output.out_guards)
    yield f"Compile time: {output.compile_seconds:.2f} s"
    for frame in output.frames:
        yield f"  [{frame.compile_id}] {frame.seconds:.2f} s  {frame.function} ({frame.filename}:{frame.row})"


def _guard_line(guard: GuardInstalled) -> str:
    return f"  [{guard.compile_id}] {guard.kind} {guard.source} {guard.expected}".rstrip()
