"""Repeat a program's calls, compiled and uncompiled, after the program's end."""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

import torch

from ..compat import call_compat, profiler_compat
from ..verify.recording import modules_of, tensors_in
from .keeping import RepeatableCall, synchronize
from .sampling import TimeRatio, compare

_WARMING = 3
"""The number of passes in which repeated calls may still be compiled."""


class Repetition:
    """Recorded calls that can be repeated any number of times."""

    def __init__(self, calls: Sequence[RepeatableCall]) -> None:
        self.calls = calls
        alike = itertools.groupby(calls, key=lambda kept: kept.settings.key)
        self._groups = [list(group) for _, group in alike]
        self._leaves = {id(leaf): leaf for kept in calls for leaf in _leaves(kept)}.values()

    def seconds(self, *, compiled: bool, guarded: bool = True, times: int = 1) -> float:
        """Make all calls ``times`` times; return the seconds of one pass over all calls.

        If ``guarded`` is false, calls check only the guards that distinguish the compilations of a frame.
        """
        total = 0.0
        stance = "default" if compiled else "force_eager"
        torch.compiler.set_stance(stance, skip_guard_eval_unsafe=not guarded)
        try:
            for group in self._groups:
                steps = [_step(kept, compiled=compiled) for kept in group] * times
                with group[0].settings.again(), _quiet(), call_compat.unwatched_calls():
                    synchronize()
                    started = perf_counter()
                    for call, args, kwargs, kept in steps:
                        result = call(*args, **kwargs)
                        if kept is not None:
                            self._run_backward(kept, result)
                    synchronize()
                    total += perf_counter() - started
        finally:
            torch.compiler.set_stance("default")
            self._forget_gradients()
        return total / times

    def ratio(self, budget: float) -> TimeRatio:
        """Compare all calls, alternately uncompiled and compiled, for ``budget`` seconds."""
        return compare(
            lambda times: self.seconds(compiled=False, times=times),
            lambda times: self.seconds(compiled=True, times=times),
            budget,
        )

    def warm_up(self) -> None:
        """Make all calls uncompiled, then compiled until nothing is compiled any more."""
        self.seconds(compiled=False)
        for _ in range(_WARMING):
            self.seconds(compiled=True)

    def observe(self, times: int, *, compiled: bool = True) -> None:
        """Make all calls ``times`` times, with names of their phases for the profiler."""
        torch.compiler.set_stance("default" if compiled else "force_eager")
        try:
            for _ in range(times):
                for group in self._groups:
                    unwatched = call_compat.unwatched_calls()
                    with group[0].settings.again(), _quiet(), unwatched, profiler_compat.recorded("call"):
                        self._observed_pass(group, compiled=compiled)
                        synchronize()
        finally:
            torch.compiler.set_stance("default")
            self._forget_gradients()

    def _observed_pass(self, group: Sequence[RepeatableCall], *, compiled: bool) -> None:
        for kept in group:
            call, args, kwargs, _ = _step(kept, compiled=compiled)
            result = call(*args, **kwargs)
            if kept.gradients:
                with profiler_compat.recorded("backward"):
                    self._run_backward(kept, result)
            with profiler_compat.recorded("release"):
                del result

    def _run_backward(self, kept: RepeatableCall, result: Any) -> None:
        tensors = dict(tensors_in("", result))
        places = [place for place in kept.gradients if place in tensors]
        torch.autograd.backward(
            [tensors[place] for place in places], [kept.gradients[place] for place in places]
        )
        self._forget_gradients()

    def _forget_gradients(self) -> None:
        for leaf in self._leaves:
            leaf.grad = None


def _step(
    kept: RepeatableCall, *, compiled: bool
) -> tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any], RepeatableCall | None]:
    """Return the function and arguments of a call, looked up before the clock starts.

    The last item is ``kept`` if the call has a backward pass, else ``None``.
    """
    call = kept.call.compiled if compiled else kept.call.function
    return call, kept.args, kept.kwargs, kept if kept.gradients else None


def _leaves(kept: RepeatableCall) -> Iterator[torch.Tensor]:
    """Yield the tensors to which a backward pass of the call adds gradients."""
    if not kept.gradients:
        return
    places = [*tensors_in("", (kept.args, kept.kwargs))]
    places += [item for place, module in modules_of(kept.call) for item in tensors_in(place, module)]
    yield from (tensor for _, tensor in places if tensor.requires_grad and tensor.is_leaf)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Discard the output of repeated calls, which the program has printed already."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield
