"""The base of backends that report the compilations made with them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

import torch

from ..compat import backend_compat, trace_compat
from ..facts import Fact, FrameStarted, Recompile, StackFrame
from ..observe.live import TraceListener

_Self = TypeVar("_Self", bound="ListeningBackend")  # typing.Self: since Python 3.11


class ListeningBackend:
    """A backend for ``torch.compile`` that records facts of its compilations, and compiles with another one.

    It listens until it is closed; use it in a ``with`` statement, or call :meth:`close`.
    """

    def __init__(self, backend: str | Callable[..., Any]) -> None:
        self._compile = backend_compat.lookup_backend(backend)
        self._facts: list[Fact] = []
        self._is_ours: dict[str, bool] = {}
        # torch's id of each compilation that goes on, and ours, which goes on counting after a reset.
        self._ids: dict[str, str] = {}
        self._listener = TraceListener(self._keep)
        # A listener sets the level of each record below all others, so that no other handler prints it;
        # another listener must still accept it.
        self._listener.setLevel(-1)
        self._stack = ExitStack()
        self._stack.enter_context(trace_compat.listening(self._listener))

    def __call__(self, graph: torch.fx.GraphModule, inputs: Sequence[Any], **options: Any) -> Any:
        """Compile one graph with the other backend."""
        compile_id = self._ids.get(trace_compat.current_compile_id(), "")
        if self._is_ours.get(compile_id, False):
            self._captured(compile_id, graph)
        return self._compile(graph, inputs, **options)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening; keep the recorded facts."""
        self._stack.close()
        self._listener.finish()
        self._is_ours.clear()  # torch.compiler.reset() gives the same ids to other compilations

    def _captured(self, compile_id: str, graph: torch.fx.GraphModule) -> None:
        """Handle a graph that Dynamo captured."""

    def _began(self, compile_id: str) -> None:
        """Handle the start of a frame's compilation."""

    def _keep(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            if isinstance(fact, (Recompile, FrameStarted)):
                self._ids[trace_compat.current_compile_id()] = fact.compile_id
                self._is_ours[fact.compile_id] = trace_compat.is_compiled_by(sys._getframe(), self)
                self._began(fact.compile_id)
            if self._is_ours.get(getattr(fact, "compile_id", ""), False):
                self._facts.append(fact)


def operations(graph: torch.fx.GraphModule) -> Iterator[str]:
    """Yield the names of a graph's operations."""
    for node in graph.graph.nodes:
        if node.op.startswith("call_"):
            # torch.add is add, aten.add.Tensor itself, a method or a module its name.
            yield str(getattr(node.target, "__name__", node.target))


def place(frame: StackFrame) -> str:
    """Return the location of a call as text."""
    return f"{frame.filename}:{frame.row} in {frame.function}"
