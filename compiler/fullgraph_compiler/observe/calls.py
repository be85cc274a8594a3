"""Calls of compiled functions: late compilations, and functions without a graph."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

import torch

from ..compat import call_compat
from ..facts import CallsCounted, CallsWithoutGraph, Stack, TargetProblem
from .others import OtherProcesses
from .stacks import calling_stack

_UNOBSERVED = "{} that the program started {} not observed: compilations there are missing from the report"


@dataclass
class _FunctionCalls:
    """A compiled function with the number of its calls.

    ``stack`` is the stack of the first call. ``off`` is the setting that turned compilation off in the first
    call. ``found`` contains the code and name of the function, if it has code.
    """

    stack: Stack
    off: str
    found: tuple[CodeType, str] | None
    calls: int = 0
    has_graph: bool = False


class CompiledCalls:
    """A counter of the calls of compiled functions, from its creation on.

    A compilation is late if its function has been called more than ``warm_up`` times.
    """

    def __init__(self, warm_up: int | None) -> None:
        self._warm_up = warm_up
        self._functions: dict[Hashable, _FunctionCalls] = {}
        self._others = OtherProcesses()
        self._uncompiled = ""
        self._failed: dict[CodeType, str] = {}
        call_compat.watch_calls(self._called)
        call_compat.watch_uncompiled(self._left)

    def _called(self, function: Hashable) -> None:
        self._others.called()
        known = self._functions.get(function)
        if known is None:
            known = self._functions[function] = _FunctionCalls(
                calling_stack(sys._getframe()), call_compat.turned_off(), call_compat.code_of(function)
            )
        known.calls += 1

    def _left(self, off: str) -> None:
        self._uncompiled = off

    def look(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data to add to a record of the call that is being compiled.

        Also note whether the called function has a graph.
        """
        if "dynamo_start" in metadata:
            function = self._current()
            late = function is not None and self._warm_up is not None and function.calls > self._warm_up
            return {"late": late}
        if "dynamo_output_graph" in metadata and (function := self._current()) is not None:
            function.has_graph = True
        failed = metadata.get("compilation_metrics", {}).get("fail_type")
        if failed and (function := self._current()) is not None and function.found is not None:
            code, name = function.found
            self._failed[code] = name
            return {"called": self._calls_of(code)}
        return {}

    def _calls_of(self, code: CodeType) -> int:
        """Count the calls of all functions with this code. Modules of a class share code."""
        return sum(item.calls for item in self._functions.values() if item.found and item.found[0] is code)

    @property
    def unobserved(self) -> int:
        """The number of unobserved processes that may have compiled something."""
        return self._others.count()

    def counted(self) -> Iterator[CallsCounted]:
        """Yield the number of calls of each function for which a compilation failed."""
        for code, name in self._failed.items():
            yield CallsCounted(name, code.co_filename, code.co_firstlineno, self._calls_of(code))

    def unseen(self) -> Iterator[CallsWithoutGraph | TargetProblem]:
        """Yield a fact for each compiled function none of whose calls captured a graph.

        Also yield facts if the program calls no compiled function, or starts processes that are not observed.
        """
        others = self.unobserved
        if not self._functions:
            yield from () if others else _uncalled()
            yield CallsWithoutGraph("", "", 1, 0, elsewhere=others > 0, off=self._uncompiled)
        if others:
            counted = ("1 process", "was") if others == 1 else (f"{others} processes", "were")
            yield TargetProblem("warning", _UNOBSERVED.format(*counted), of_run=True)
        # Modules of one class can share the first module's graph, if its guards hold for the other modules.
        with_graph = {item.found[0] for item in self._functions.values() if item.has_graph and item.found}
        for function in self._functions.values():
            if function.has_graph or function.found is None:
                continue
            code, name = function.found
            if code not in with_graph:
                yield CallsWithoutGraph(
                    name,
                    code.co_filename,
                    code.co_firstlineno,
                    function.calls,
                    function.stack,
                    off=function.off,
                )

    def _current(self) -> _FunctionCalls | None:
        return self._functions.get(call_compat.current_function())


def _uncalled() -> Iterator[CallsWithoutGraph]:
    """Yield a fact for each compiled function, for a program that calls none of these."""
    found = dict.fromkeys(filter(None, map(call_compat.code_of, call_compat.compiled_functions())))
    for code, name in found:
        yield CallsWithoutGraph(name, code.co_filename, code.co_firstlineno, 0)


def compiled_module() -> torch.nn.Module | None:
    """Return the compiled module whose call is compiling a frame in this thread.

    ``None`` if the compiled function is not a module.
    """
    return call_compat.module_of(call_compat.current_function())
