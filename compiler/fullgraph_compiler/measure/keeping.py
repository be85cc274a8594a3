"""Time each call of a program, and keep the last calls to repeat them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import torch

from ..diagnose import programs
from ..facts import Fact, RecompileLimit
from ..verify.calls import CallWatcher, CompiledCall
from ..verify.recording import tensors_in
from ..verify.state import TorchSettings

_MOST_CALLS = 1 << 20
_MOST_KEPT = 16
_FEWEST_CALLS = 4
"""The minimum number of calls of a function for which the first half counts as warm-up."""


@dataclass
class RepeatableCall:
    """A call that can be repeated.

    ``gradients`` are the gradients of the tensors in the call's result, by their paths in the result.
    """

    call: CompiledCall
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    settings: TorchSettings
    gradients: dict[str, torch.Tensor] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimedCall:
    """A call in the program, with its duration in seconds.

    ``compiling`` is the part of ``seconds`` that was spent on compilation.
    """

    function: str
    seconds: float
    compiling: float


class CallKeeper(CallWatcher):
    """A watcher that times each call of a program, and keeps the last calls."""

    def __init__(self, *, compiled: bool = True) -> None:
        super().__init__(compiled=compiled, most=_MOST_CALLS)
        self.kept: deque[RepeatableCall] = deque(maxlen=_MOST_KEPT)
        self.timed: list[TimedCall] = []
        self.outside = 0.0
        """The total time between the calls, in seconds."""
        self.optimizer = 0.0
        """The part of ``outside`` in which optimizers made steps, in seconds."""
        self.compiling = 0.0
        """The total time in which the compiler worked, in seconds."""
        self.hit_limit = False
        """Whether a recompile limit was hit, after which some frames run uncompiled."""
        self._compiled_before = 0.0
        self._started = 0.0
        self._ended: float | None = None
        self._note = torch.compiler.disable(_note)

    def install(self) -> None:
        """Start to time calls and steps of optimizers."""
        super().install()
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        begun: list[float] = []

        def begin(*_: Any) -> None:
            if not torch.compiler.is_compiling():
                synchronize()
                begun.append(perf_counter())

        def end(*_: Any) -> None:
            if begun and not torch.compiler.is_compiling():
                synchronize()
                self.optimizer += perf_counter() - begun.pop() if self._depth == 0 else 0.0

        register_optimizer_step_pre_hook(torch.compiler.disable(begin))
        register_optimizer_step_post_hook(torch.compiler.disable(end))

    def note(self, facts: Sequence[Fact]) -> None:
        """Add up the compile times in facts, and note whether a recompile limit was hit."""
        self.compiling += programs.seconds_compiling(facts)
        self.hit_limit |= any(isinstance(fact, RecompileLimit) for fact in facts)

    def begin(self, call: CompiledCall) -> None:
        """Record a call and its arguments before the call runs."""
        if self._ended is not None:
            synchronize()
            self.outside += perf_counter() - self._ended
        args = tuple(_cut_off(item) for item in call.args)
        kwargs = {name: _cut_off(item) for name, item in call.kwargs.items()}
        self.kept.append(RepeatableCall(call, args, kwargs, TorchSettings(call)))
        self._compiled_before = self.compiling
        synchronize()
        self._started = perf_counter()

    def end(self, call: CompiledCall, result: Any) -> None:
        """Record the time of a call, and watch for gradients of the call's result."""
        synchronize()
        seconds = perf_counter() - self._started
        self.timed.append(TimedCall(call.name, seconds, self.compiling - self._compiled_before))
        kept = self.kept[-1]
        for place, tensor in tensors_in("", result):
            if tensor.requires_grad and not tensor.is_leaf:
                tensor.register_hook(lambda gradient, place=place: self._note(kept, place, gradient))
        self._ended = perf_counter()

    def fail(self, call: CompiledCall, error: Exception, /) -> None:  # noqa: ARG002
        """Remove a call that raised from the kept calls."""
        self.kept.pop()
        self._ended = perf_counter()

    def late(self) -> list[TimedCall]:
        """Return the second half of each function's calls, without the warm-up.

        Functions with few calls are left out.
        """
        by_function: dict[str, list[TimedCall]] = {}
        for call in self.timed:
            by_function.setdefault(call.function, []).append(call)
        return [
            call
            for calls in by_function.values()
            if len(calls) >= _FEWEST_CALLS
            for call in calls[len(calls) // 2 :]
        ]


def synchronize() -> None:
    """Wait for the GPU, if the program uses one."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _note(kept: RepeatableCall, place: str, gradient: torch.Tensor) -> None:
    kept.gradients[place] = gradient


def _cut_off(value: Any, depth: int = 0) -> Any:
    """Return a value with detached tensors.

    Without this, the tensors' autograd history would stay in memory.
    """
    if isinstance(value, torch.Tensor) and value.grad_fn is not None:
        return value.detach().requires_grad_(value.requires_grad)
    if type(value) in (list, tuple) and depth < 4:
        return type(value)(_cut_off(item, depth + 1) for item in value)
    if type(value) is dict and depth < 4:
        return {name: _cut_off(item, depth + 1) for name, item in value.items()}
    return value
