"""Explain compilations with any backend: graphs, breaks, guards, times.

This replaces ``torch._dynamo.explain`` and ``ExplainWithBackend`` (``torch/_dynamo/backends/debugging.py``),
whose counts are wrong in some cases. torch counts the graphs that reach the backend, and reports this number
minus one as the number of breaks. So if a break makes Dynamo skip its frame, no graph reaches the backend,
and torch reports -1 breaks; and if two functions without a break have one graph each, torch reports 1 break.
This module counts the facts of a run instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from ..compat import backend_compat, trace_compat
from ..facts import Fact, FrameCompiled, FrameStarted, GraphBreak, GuardInstalled, Recompile
from ..observe.live import TraceListener

_Self = TypeVar("_Self", bound="ExplainWithBackend")  # typing.Self: since Python 3.11


@dataclass(frozen=True, slots=True)
class ExplainedGraph:
    """A graph that Dynamo captured, and the names of its operations."""

    compile_id: str
    module: torch.fx.GraphModule
    ops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainOutput:
    """The graphs, graph breaks, guards and compiled frames of a run."""

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


class ExplainWithBackend:
    """A backend for ``torch.compile`` that records compilations of another backend.

    It records until it is closed: use it in a ``with`` statement, or call :meth:`close`.
    """

    def __init__(self, backend: str | Callable[..., Any]) -> None:
        # torch's errors name the backend by this attribute.
        self.__name__ = str(getattr(backend, "__name__", backend))
        self._compile = backend_compat.lookup_backend(backend)
        self._facts: list[Fact] = []
        self._graphs: dict[str, ExplainedGraph] = {}
        self._is_ours: dict[str, bool] = {}
        # Fullgraph's unique id of each running compilation, by torch's id, which repeats after a reset.
        self._ids: dict[str, str] = {}
        self._listener = TraceListener(self._keep)
        # A listener sets the level of each record below all others, so that no other handler prints it;
        # another listener must still accept it.
        self._listener.setLevel(-1)
        self._stack = ExitStack()
        self._stack.enter_context(trace_compat.listening(self._listener))

    def __call__(self, graph: torch.fx.GraphModule, inputs: Sequence[Any], **options: Any) -> Any:
        """Compile a graph with the other backend, and record the graph."""
        compile_id = self._ids.get(trace_compat.current_compile_id(), "")
        if self._is_ours.get(compile_id, False):
            # If Dynamo restarts a compilation, its last graph replaces the earlier one.
            self._graphs[compile_id] = ExplainedGraph(compile_id, graph, tuple(_operations(graph)))
        return self._compile(graph, inputs, **options)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop recording; :meth:`output` still returns the recorded compilations."""
        self._stack.close()
        self._listener.finish()
        self._is_ours.clear()  # torch.compiler.reset() gives the same ids to other compilations

    def output(self) -> ExplainOutput:
        """Return the compilations recorded so far."""
        return ExplainOutput(
            graphs=tuple(self._graphs.values()),
            break_reasons=tuple(fact for fact in self._facts if isinstance(fact, GraphBreak)),
            out_guards=tuple(fact for fact in self._facts if isinstance(fact, GuardInstalled)),
            frames=tuple(fact for fact in self._facts if isinstance(fact, FrameCompiled)),
        )

    def _keep(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            if isinstance(fact, (Recompile, FrameStarted)):
                self._ids[trace_compat.current_compile_id()] = fact.compile_id
                self._is_ours[fact.compile_id] = trace_compat.is_compiled_by(sys._getframe(), self)
            if self._is_ours.get(getattr(fact, "compile_id", ""), False):
                self._facts.append(fact)


def explain(
    function: Callable[..., Any], backend: str | Callable[..., Any] = "eager"
) -> Callable[..., ExplainOutput]:
    """Return a function that calls ``function`` compiled, and returns the explanation.

    A call of the returned function resets the compiler before and after, as ``torch._dynamo.explain`` does.
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


def _operations(graph: torch.fx.GraphModule) -> Iterator[str]:
    """Yield the names of a graph's operations."""
    for node in graph.graph.nodes:
        if node.op.startswith("call_"):
            # A function or an operator has a ``__name__``; the target of a method or a module is its name.
            yield str(getattr(node.target, "__name__", node.target))


def _lines(output: ExplainOutput) -> Iterator[str]:
    yield f"Graphs: {output.graph_count}, with {output.op_count} operations"
    for graph in output.graphs:
        yield f"  [{graph.compile_id}] {', '.join(graph.ops)}"
    yield f"Graph breaks: {output.graph_break_count}"
    for graph_break in output.break_reasons:
        code = f"{graph_break.code}: " if graph_break.code else ""
        yield f"  [{graph_break.compile_id}] {code}{graph_break.reason}"
        yield from (f"      {frame.filename}:{frame.row} in {frame.function}" for frame in graph_break.stack)
        if graph_break.skips_frame:
            yield "      nothing of this frame is compiled"
    yield f"Guards: {len(output.out_guards)}"
    guards = (f"  [{g.compile_id}] {g.kind} {g.source} {g.expected}" for g in output.out_guards)
    yield from dict.fromkeys(map(str.rstrip, guards))
    yield f"Compile time: {output.compile_seconds:.2f} s"
    for frame in output.frames:
        yield f"  [{frame.compile_id}] {frame.seconds:.2f} s  {frame.function} ({frame.filename}:{frame.row})"
