"""The outermost calls of compiled functions, in order.

Watchers record the calls.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from ..compat import call_compat, dynamo_compat

_MOST_CALLS = 32


@dataclass(frozen=True)
class CompiledCall:
    """An outermost call of a compiled function, with its arguments and options.

    The options are those of ``torch.compile``. ``number`` counts the calls of all functions from 1, ``turn``
    the calls of functions with this name.
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
        """The module whose method is called, or ``None``."""
        owner = getattr(self.function, "__self__", None)
        return owner if isinstance(owner, torch.nn.Module) else dynamo_compat.inlined_module(self.function)

    @property
    def name(self) -> str:
        """The name of the module's class, or else of the function."""
        if self.owner is not None:
            return type(self.owner).__name__
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))


class TooLongError(BaseException):
    """A call takes too long.

    As a ``BaseException``, it passes a program's ``except Exception``.
    """


class CallWatcher:
    """A watcher of the first calls.

    It gets ``begin`` before a call, then ``end`` with its result, or ``fail``. It gets ``leave`` before
    ``end`` or ``fail``, and also after an exception that is not an ``Exception``. With ``compiled=False`` the
    functions run uncompiled, also in processes that the program starts.
    """

    def __init__(self, *, compiled: bool, most: int = _MOST_CALLS) -> None:
        self._compiled = compiled
        self._most = most
        self._depth = 0
        self._turns: Counter[str] = Counter()
        self.over = False
        """Whether the program is over: later calls are not reported."""
        self.calls = 0
        self.left_out = 0
        """The number of calls after the first ``most``, which are not reported."""

    def install(self) -> None:
        """Wrap all functions that ``torch.compile`` returns from now on."""
        if not self._compiled:
            call_compat.compile_nothing_elsewhere()
        dynamo_compat.intercept_compiled_calls(self._wrap)

    def begin(self, call: CompiledCall) -> None:
        """Handle the beginning of a call."""

    def leave(self, call: CompiledCall) -> None:
        """Undo what ``begin`` did for a call, however it ended (also by ``SystemExit``)."""

    def end(self, call: CompiledCall, result: Any) -> None:
        """Handle the result of a call."""

    def fail(self, call: CompiledCall, error: Exception, /) -> None:
        """Handle the exception that leaves a call."""

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
