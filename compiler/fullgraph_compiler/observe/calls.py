"""The calls of compiled functions: which are after the warm-up, and which functions have no graph."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import torch

from ..compat import call_compat
from ..facts import CallsWithoutGraph, Stack
from .stacks import calling_stack


@dataclass
class _Function:
    """A compiled function: the stack of its first call, the number of its calls, whether it has a graph.

    ``key`` is what tells it apart from others: :func:`call_compat.watch_calls`.
    """

    key: Hashable
    stack: Stack
    calls: int = 0
    has_graph: bool = False


@dataclass(frozen=True)
class _Call:
    """A call of a compiled function, ``late`` if it is after the warm-up."""

    function: _Function
    late: bool


class CompiledCalls:
    """The calls of compiled functions from now on; with ``warm_up`` calls of each that are not late."""

    def __init__(self, warm_up: int | None) -> None:
        self._warm_up = warm_up
        self._functions: dict[Hashable, _Function] = {}
        call_compat.watch_calls(self._called)

    def _called(self, function: Hashable) -> _Call:
        known = self._functions.get(function)
        if known is None:
            known = self._functions[function] = _Function(function, calling_stack(sys._getframe()))
        known.calls += 1
        return _Call(known, self._warm_up is not None and known.calls > self._warm_up)

    def without_graph(self) -> Iterator[CallsWithoutGraph]:
        """Yield a fact for each function whose calls have captured no graph, and one if none was called."""
        if not self._functions:
            yield CallsWithoutGraph("", "", 1, 0)
        for key, function in self._functions.items():
            found = None if function.has_graph else call_compat.code_of(key)
            if found is not None:
                code, name = found
                yield CallsWithoutGraph(
                    name, code.co_filename, code.co_firstlineno, function.calls, function.stack
                )


def is_late() -> bool:
    """Whether the frame that is being compiled here is of a call after the warm-up."""
    call = call_compat.current_call()
    return isinstance(call, _Call) and call.late


def compiled_module() -> torch.nn.Module | None:
    """Return the module that was compiled, if the frame that is being compiled here is of a call of one."""
    call = call_compat.current_call()
    return call_compat.module_of(call.function.key) if isinstance(call, _Call) else None


def note_graph() -> None:
    """Record that the call whose frame is being compiled here has a graph."""
    call = call_compat.current_call()
    if isinstance(call, _Call):
        call.function.has_graph = True
