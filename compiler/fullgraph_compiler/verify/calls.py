"""The outermost calls of compiled functions, in order, for those who record what is of them."""

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
class Call:
    """An outermost call of a compiled function, and what is called with what.

    ``number`` counts the calls of all functions from 1, ``turn`` those of functions of this name.
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
        """Return the module whose method is called, if it is one."""
        owner = getattr(self.function, "__self__", None)
        return owner if isinstance(owner, torch.nn.Module) else dynamo_compat.inlined_module(self.function)

    @property
    def name(self) -> str:
        """Return the name of the function, or of the module's class."""
        if self.owner is not None:
            return type(self.owner).__name__
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))


class TooLongError(BaseException):
    """A call takes too long. No handler of the program catches it."""


class CallWatcher:
    """What is told of the first calls: ``begin`` before one, then ``end`` with its result or ``fail``.

    ``leave`` comes before these two, and also after an exception that is no ``Exception``.

    With ``compiled=False`` the functions run uncompiled, also in processes that the program starts.
    """

    def __init__(self, *, compiled: bool, most: int = _MOST_CALLS) -> None:
        self._compiled = compiled
        self._most = most
        self._depth = 0
        self._turns: Counter[str] = Counter()
        self.over = False
        """Whether nothing more is told."""
        self.calls = 0
        self.left_out = 0
        """The number of calls after the first ones, which are not told."""

    def install(self) -> None:
        """Wrap all functions that ``torch.compile`` returns from now on."""
        if not self._compiled:
            call_compat.compile_nothing_elsewhere()
        dynamo_compat.intercept_compiled_calls(self._wrap)

    def begin(self, call: Call) -> None:
        """Take note that a call begins."""

    def leave(self, call: Call) -> None:
        """Undo what ``begin`` did for a call, whatever ended it: ``SystemExit`` and the like, too."""

    def end(self, call: Call, result: Any) -> None:
        """Take note of the result of a call."""

    def fail(self, call: Call, error: Exception, /) -> None:
        """Take note of the exception that leaves a call."""

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
            this = Call(self.calls, function, args, kwargs, options, compiled)
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
