"""Explanation of compilations with any backend: graphs, breaks, operations, guards, times.

This replaces ``torch._dynamo.explain`` and ``ExplainWithBackend`` (``torch/_dynamo/backends/debugging.py``),
whose counts are wrong in some cases. torch counts the graphs that reach the backend, and reports one less as
the number of breaks. A break that makes Dynamo skip its frame has no graph (-1 breaks), and two functions
without a break have two (1 break). Here, everything is counted from the facts of a run.
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
    """The compilations of a run."""

    graphs: tuple[ExplainedGraph, ...]
    break_reasons: tuple[GraphBreak, ...]
    out_guards: tuple[GuardInstalled, ...]
    frames: tuple[FrameCompiled, ...]

    @property
    def graph_count(self) -> int:
        """The number of graphs."""
        return len(self.graphs)

    @property
    def graph_break_count(self) -> int:
        """The number of graph breaks."""
        return len(self.break_reasons)

    @property
    def op_count(self) -> int:
        """The number of operations of all graphs."""
        return sum(len(graph.ops) for graph in self.graphs)

    @property
    def ops_per_graph(self) -> tuple[tuple[str, ...], ...]:
        """The operations of each graph."""
        return tuple(graph.ops for graph in self.graphs)

    @property
    def compile_seconds(self) -> float:
        """The total time of all compilations in seconds."""
        return sum(frame.seconds for frame in self.frames)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


class ExplainWithBackend(ListeningBackend):
    """A backend for ``torch.compile`` that records compilations, and compiles with another backend.

    It listens until it is closed; use it in a ``with`` statement, or call :meth:`close`.
    """

    def __init__(self, backend: str | Callable[..., Any]) -> None:
        super().__init__(backend)
        # The name of the backend in errors of torch.
        self.__name__ = str(getattr(backend, "__name__", backend))
        self._graphs: dict[str, ExplainedGraph] = {}
        self._earlier_graphs: list[ExplainedGraph] = []

    def output(self) -> ExplainOutput:
        """Return the compilations so far."""
        return ExplainOutput(
            graphs=(*self._earlier_graphs, *self._graphs.values()),
            break_reasons=tuple(fact for fact in self._facts if isinstance(fact, GraphBreak)),
            out_guards=tuple(fact for fact in self._facts if isinstance(fact, GuardInstalled)),
            frames=tuple(fact for fact in self._facts if isinstance(fact, FrameCompiled)),
        )

    def _captured(self, compile_id: str, graph: torch.fx.GraphModule) -> None:
        # If Dynamo restarts a compilation, its last graph replaces the earlier one.
        self._graphs[compile_id] = ExplainedGraph(compile_id, graph, tuple(operations(graph)))

    def _began(self, compile_id: str) -> None:
        if compile_id in self._graphs:
            # After torch.compiler.reset() the ids start again.
            self._earlier_graphs += self._graphs.values()
            self._graphs = {}


def explain(
    function: Callable[..., Any], backend: str | Callable[..., Any] = "eager"
) -> Callable[..., ExplainOutput]:
    """Return a function that compiles and calls ``function``, and returns its compilations.

    ``explain(function)(*args)`` resets the compiler before and after, as ``torch._dynamo.explain`` does.
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
    for graph_break in output.break_reasons:
        code = f"{graph_break.code}: " if graph_break.code else ""
        yield f"  [{graph_break.compile_id}] {code}{graph_break.reason}"
        yield from (f"      {place(frame)}" for frame in graph_break.stack)
        if graph_break.skips_frame:
            yield "      nothing of this frame is compiled"
    yield f"Guards: {len(output.out_guards)}"
    yield from dict.fromkeys(_guard_line(guard) for guard in output.out_guards)
    yield f"Compile time: {output.compile_seconds:.2f} s"
    for frame in output.frames:
        yield f"  [{frame.compile_id}] {frame.seconds:.2f} s  {frame.function} ({frame.filename}:{frame.row})"


def _guard_line(guard: GuardInstalled) -> str:
    return f"  [{guard.compile_id}] {guard.kind} {guard.source} {guard.expected}".rstrip()
