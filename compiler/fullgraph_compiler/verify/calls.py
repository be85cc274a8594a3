"""The outermost calls of compiled functions, in order, and watchers of the calls."""

from __future__ import annotations

import functools
import inspect
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from ..compat import call_compat, dynamo_compat

_MOST_CALLS = 32
PART = "__fullgraph_part__"
"""The attribute of a function of which only a part is compiled: that part."""


@dataclass(frozen=True)
class CompiledCall:
    """An outermost call of a compiled function, with its arguments.

    ``options`` are the options of ``torch.compile``. ``number`` counts the calls of all functions from 1,
    ``turn`` the calls of functions with the same name.
    """

    number: int
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    options: dict[str, Any]
    compiled: Callable[..., Any]
    turn: int = 0

    @property
    def owner(self) -> torch.nn.Module | None:
        """The module whose method is called, or ``None`` for another function."""
        owner = getattr(self.function, "__self__", None)
        return owner if isinstance(owner, torch.nn.Module) else dynamo_compat.inlined_module(self.function)

    @property
    def name(self) -> str:
        """The name of the module's class; the function's name if there is no module."""
        if self.owner is not None:
            return type(self.owner).__name__
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

    @property
    def functions(self) -> Iterator[types.FunctionType]:
        """The Python functions whose variables the call reads: the called one, and its compiled part."""
        function = getattr(self.function, "__func__", self.function)
        part = getattr(function, PART, None)
        for item in (function, inspect.unwrap(part) if part is not None else None):
            if isinstance(item, types.FunctionType):
                yield item


class TooLongError(BaseException):
    """Raised when a call takes too long.

    A ``BaseException``, so that ``except Exception`` in a program does not catch it.
    """


class CallWatcher:
    """A watcher of a run's first ``most`` outermost calls of compiled functions.

    The methods are called in this order: ``begin`` before a call, ``leave`` after the call, then ``end`` with
    the result or ``fail`` with the ``Exception``. After any other exception only ``leave`` is called. With
    ``compiled=False`` the functions run uncompiled, also in processes that the program starts.
    """

    def __init__(self, *, compiled: bool, most: int = _MOST_CALLS) -> None:
        self._compiled = compiled
        self._most = most
        self._depth = 0
        self._turns: Counter[str] = Counter()
        self.over = False
        """Whether the program has ended: later calls are not reported."""
        self.calls = 0
        self.left_out = 0
        """The number of calls after the first ``most``, which are not reported."""

    def install(self) -> None:
        """Wrap every function that ``torch.compile`` returns from now on."""
        if not self._compiled:
            call_compat.compile_nothing_elsewhere()
        dynamo_compat.intercept_compiled_calls(self._wrap)

    def begin(self, call: CompiledCall) -> None:
        """Handle the beginning of a call."""

    def leave(self, call: CompiledCall) -> None:
        """Undo what ``begin`` did, however the call ended (also by ``SystemExit``)."""

    def end(self, call: CompiledCall, result: Any) -> None:
        """Handle the result of a call."""

    def fail(self, call: CompiledCall, error: Exception, /) -> None:
        """Handle an exception that a call raises, if it is an ``Exception``."""

    def _wrap(
        self, function: Callable[..., Any], compiled: Callable[..., Any], options: dict[str, Any]
    ) -> Callable[..., Any]:
        called = compiled if self._compiled else function

        @functools.wraps(compiled)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._depth or self.over or torch.compiler.is_compiling():
                return called(*args, **kwargs)
            if self.calls >= self._most:
                self.left_out += 1
                return called(*args, **kwargs)
            self.calls += 1
            this = CompiledCall(self.calls, function, args, kwargs, options, compiled)
            self._turns[this.name] += 1
            this = replace(this, turn=self._turns[this.name])
            self.begin(this)
            self._depth += 1
            try:
                try:
                    result = called(*args, **kwargs)
                finally:
                    self.leave(this)
            except Exception as error:
                self.fail(this, error)
                raise
            finally:
                self._depth -= 1
            self.end(this, result)
            return result

        dynamo_compat.leave_alone(call)
        return call
