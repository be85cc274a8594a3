"""Measure a program's compiled calls, from start to end.

The unmodified program runs in a child process, which times its calls of compiled functions. Then the child
repeats the last calls, alternately compiled and uncompiled, and once more under the profiler. If the calls
cannot be repeated, they are compared with the calls of another child, in which the program runs uncompiled.
"""

from __future__ import annotations

import atexit
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean
from types import ModuleType

import torch

from ..compat import inductor_compat, kernel_compat
from ..diagnose import programs
from ..facts import Fact, RunFinished, RunRequest, SpeedMeasured, TargetProblem, TimePart
from ..observe.live import Sink
from ..processes.children import run_child
from .keeping import CallKeeper, RepeatableCall, TimedCall
from .machine import measure_machine
from .memory import measure_memory
from .profiling import count_operators, time_parts, with_guards
from .repeating import Repetition
from .sampling import TimeRatio, compare, ratio_of

_BUDGET = 8.0
"""The seconds for comparing compiled with uncompiled calls."""
_BUDGET_OF_GUARDS = 2.0
"""The seconds for comparing calls with and without their guards."""
_LONGEST = 4.0
"""The maximum seconds of one pass over the repeated calls, unless a single call takes longer."""
_TOO_LONG = 30.0
"""The maximum seconds of a call that is repeated: to repeat a longer call would take minutes."""
_FEWEST = 4
"""The minimum number of calls in a program from which a ratio is computed."""


def measure_speed(request: RunRequest, sink: Sink, speak: Callable[[], None]) -> None:
    """Run a program and measure its compiled calls.

    ``speak`` is called first in a child process, so that ``sink`` works there.
    """
    begun = time.monotonic()
    inductor_compat.import_inductor()
    ended = run_child(lambda: _measured(request, sink, speak), request.patience * 2)
    unrepeated = ended.answer if ended.answered else None
    if not ended.answered:
        ran = programs.how_it_ran(ended)
        sink(programs.failure_problems(ran.failure))
    elif unrepeated is not None:
        eager = run_child(lambda: _uncompiled(request), request.patience)
        sink([_compared(unrepeated, eager.answer if eager.answered else ())])
    sink([RunFinished("finished", time.monotonic() - begun, 0)])


def _measured(request: RunRequest, sink: Sink, speak: Callable[[], None]) -> SpeedMeasured | None:
    """Run and measure the program in this child.

    Return ``None``, or the measurement if the calls cannot be repeated: it still needs the times of an
    uncompiled run.
    """
    speak()
    keeper = CallKeeper()
    left: list[SpeedMeasured] = []

    def prepare() -> None:
        inductor_compat.compile_in_parallel()
        atexit.register(measure, kernel_compat.keep_loaded())  # registered first, so it runs last
        keeper.install()

    def measure(modules: list[ModuleType]) -> None:
        keeper.over = True
        try:
            if keeper.kept:
                sink([measure_machine()])
            measured = _SpeedMeasurement(keeper, modules, sink).measure()
        except Exception as error:
            traceback.print_exc()
            sink(
                [TargetProblem("error", f"The calls could not be measured: {type(error).__name__}: {error}")]
            )
            return
        if measured.repeated:
            sink([measured])
        else:
            left.append(measured)

    def take(facts: list[Fact]) -> None:
        keeper.note(facts)
        sink(facts)

    programs.observe(request, take, prepare)
    return left[0] if left else None


def _uncompiled(request: RunRequest) -> tuple[TimedCall, ...]:
    """Run the program uncompiled in this child; return its calls after the warm-up."""
    keeper = CallKeeper(compiled=False)

    def prepare() -> None:
        torch.compiler.set_stance("force_eager")
        keeper.install()

    programs.observe(replace(request, depth="graph"), lambda _: None, prepare)
    return tuple(keeper.late() or keeper.timed)


class _SpeedMeasurement:
    """The measurement of the calls that a program has made."""

    def __init__(self, keeper: CallKeeper, modules: Sequence[ModuleType], sink: Sink) -> None:
        self._keeper, self._modules, self._sink = keeper, modules, sink
        self._repetition = Repetition(short_enough(keeper))

    def measure(self) -> SpeedMeasured:
        """Return the measurement, with ``problem`` if the calls cannot be measured."""
        if not self._keeper.calls:
            return self._nothing("The program calls no compiled function, so there is nothing to measure.")
        if not self._keeper.kept:
            return self._nothing("Every call of a compiled function raises, so there is nothing to measure.")
        last = _seconds_running(self._keeper.timed[-1])
        if last > _TOO_LONG:
            return self._nothing(f"A call takes {last:.0f} s, which is too long to repeat it.")
        late = self._keeper.late()
        recompiled = [call for call in late if call.compiling]
        if len(recompiled) * 2 >= len(late) > 0:
            return self._in_program(late)
        try:
            self._repetition.warm_up()
        except Exception as error:
            said = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
            problem = f"The calls cannot be repeated ({said}): these times are from the program itself."
            return replace(self._nothing(problem), repeated=False)
        ratio = self._repetition.ratio(_BUDGET)
        if self._compiles_again():
            return self._in_program(self._keeper.timed[-len(self._repetition.calls) :])
        self._sink([measure_memory(self._repetition, self._modules)])
        parts = time_parts(self._repetition, ratio.second, self._modules)
        operators = count_operators(self._repetition, parts)
        parts = with_guards(parts, self._share_of_guards())
        return replace(self._of(ratio), parts=parts, operators=operators)

    def _share_of_guards(self) -> float:
        """Return the share of a call's time that guards take; 0 if unknown."""
        if self._keeper.hit_limit:  # without guards, torch might use a compilation that does not fit the call
            return 0.0
        try:
            ratio = compare(
                lambda times: self._repetition.seconds(compiled=True, times=times),
                lambda times: self._repetition.seconds(compiled=True, guarded=False, times=times),
                _BUDGET_OF_GUARDS,
            )
        except Exception:
            traceback.print_exc()
            return 0.0
        return 1 - 1 / ratio.ratio if ratio.low > 1.0 else 0.0

    def _compiles_again(self) -> bool:
        before = self._keeper.compiling
        self._repetition.seconds(compiled=True)
        return self._keeper.compiling > before

    def _in_program(self, calls: Sequence[TimedCall]) -> SpeedMeasured:
        """Return a measurement from the program itself, for calls that always recompile."""
        seconds = self._repetition.seconds(compiled=False) / len(self._repetition.calls)
        pairs = [(seconds, call.seconds) for call in calls]
        compiling = fmean(call.compiling for call in calls)
        total = fmean(call.seconds for call in calls)
        ratio = ratio_of(pairs)
        recompiled = sum(1 for call in calls if call.compiling)
        parts = (
            TimePart("recompile", min(compiling, total), recompiled / len(calls)),
            TimePart("frame", max(total - compiling, 0.0)),
        )
        return replace(
            self._of(ratio),
            calls=len(calls),
            eager=seconds,
            compiled=total,
            faster=seconds / total,
            recompiled=recompiled,
            parts=parts,
        )

    def _of(self, ratio: TimeRatio) -> SpeedMeasured:
        calls = len(self._repetition.calls)
        return SpeedMeasured(
            self._functions(),
            calls,
            ratio.samples,
            ratio.first / calls,
            ratio.second / calls,
            ratio.ratio,
            ratio.low,
            ratio.high,
            outside=self._keeper.outside / len(self._keeper.timed),
            optimizer=self._keeper.optimizer / len(self._keeper.timed),
            device=torch.cuda.get_device_name() if torch.cuda.is_initialized() else "",
        )

    def _nothing(self, problem: str) -> SpeedMeasured:
        late = self._keeper.late() or self._keeper.timed
        seconds = fmean(call.seconds for call in late) if late else 0.0
        return SpeedMeasured(self._functions(), len(late), 0, 0.0, seconds, 0.0, 0.0, 0.0, problem=problem)

    def _functions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(kept.call.name for kept in self._repetition.calls))


def short_enough(keeper: CallKeeper) -> list[RepeatableCall]:
    """Return the last calls that can be repeated in a short time; at least one call."""
    calls: list[RepeatableCall] = []
    seconds = 0.0
    # A call whose exception the program caught has no entry in ``timed``.
    for kept, timed in zip(reversed(keeper.kept), reversed(keeper.timed), strict=False):
        seconds += _seconds_running(timed)
        if calls and seconds > _LONGEST:
            break
        calls.append(kept)
    return calls[::-1]


def _seconds_running(call: TimedCall) -> float:
    return call.seconds - call.compiling


def _compared(unrepeated: SpeedMeasured, eager: Sequence[TimedCall]) -> SpeedMeasured:
    """Return a measurement with its calls compared with those of an uncompiled run."""
    if len(eager) < _FEWEST or not unrepeated.compiled:
        return unrepeated
    pairs = [(call.seconds, unrepeated.compiled) for call in eager]
    ratio = ratio_of(pairs)
    return replace(
        unrepeated,
        samples=ratio.samples,
        eager=ratio.first,
        faster=ratio.ratio,
        low=ratio.low,
        high=ratio.high,
    )
