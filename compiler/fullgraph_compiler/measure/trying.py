"""Compare a program's variants: start times, call times, and memory.

An uncompiled run shows which variants apply. Each variant first runs in a child process with its own caches,
which contain only entries that do not depend on the program. It then runs in a second child with the caches
that the first child left, and its calls are repeated there as for ``fullgraph speed``. After all variants,
the second step is done once more for each variant, in reverse order: times of different processes cannot be
measured alternately, but the difference between the two shows how much times vary by themselves.
:mod:`..analyses.times` defines cold and warm.
"""

from __future__ import annotations

import atexit
import os
import shutil
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import fmean

import torch

from ..compat import inductor_compat
from ..diagnose import programs
from ..facts import (
    CallsTimed,
    Fact,
    RunFinished,
    RunRequest,
    TargetProblem,
    VariantMeasured,
)
from ..observe.live import Sink
from ..processes.children import run_child
from ..processes.processes import peak_memory
from .keeping import RepeatableCall
from .repeating import Repetition
from .sampling import TimeRatio, compare
from .speed import short_enough
from .variants import CompileUsage, VariantKeeper

_BUDGET = 1.5
"""The seconds for measuring the calls of a variant, in each of two processes."""


def try_variants(request: RunRequest, sink: Sink, speak: Callable[[], None]) -> None:
    """Run a program with each variant, and report to ``sink``.

    ``speak`` is called first in a child process, so that ``sink`` works there. The facts of the unmodified
    program's run with cold caches are reported, too.
    """
    begun = time.monotonic()
    inductor_compat.import_inductor()
    request = replace(request, depth="times")
    scouted = _scout(request, sink)
    if scouted is not None:
        run_child(inductor_compat.warm_up_cpp, request.patience)
        sink(_VariantRuns(request, scouted, sink, speak).all())
    sink([RunFinished("finished", time.monotonic() - begun, 0)])


def _scout(request: RunRequest, sink: Sink) -> CompileUsage | None:
    """Run the program uncompiled, and return how it compiles.

    If the program fails, report the problem and return ``None``.
    """

    def work() -> tuple[tuple[Fact, ...], CompileUsage]:
        keeper = VariantKeeper(None, of_roots=True)

        def prepare() -> None:
            torch.compiler.set_stance("force_eager")
            keeper.install()

        facts = programs.observe(replace(request, depth="graph"), programs.ignore, prepare)
        return facts, keeper.scouted()

    ended = run_child(work, request.patience)
    facts: tuple[Fact, ...] = ended.answer[0] if ended.answered else ()
    scouted: CompileUsage | None = ended.answer[1] if ended.answered else None
    failure = programs.how_it_ran(replace(ended, answer=facts)).failure
    if failure is not None or scouted is None:
        sink([fact for fact in facts if not isinstance(fact, RunFinished)])
        sink(programs.failure_problems(failure))
        return None
    if not scouted.calls:
        message = "The program calls no compiled function, so there is nothing to measure."
        sink([TargetProblem("error", message)])
        return None
    return scouted


class _VariantRuns:
    """The runs of a program with each variant that applies to it."""

    def __init__(
        self, request: RunRequest, scouted: CompileUsage, sink: Sink, speak: Callable[[], None]
    ) -> None:
        self._request, self._scouted = request, scouted
        self._sink, self._speak = sink, speak
        self._caches = _CacheFolders()

    def all(self) -> list[Fact]:
        """Return all variants; those that apply are measured."""
        variants = [*self._scouted.variants()]
        first = [self._started(variant) if variant.applies else variant for variant in variants]
        last = [self._again(variant) if variant.in_row else variant for variant in reversed(first)]
        return [*reversed(last)]

    def _started(self, variant: VariantMeasured) -> VariantMeasured:
        """Run the program with cold caches, then with warm caches."""
        self._caches.use(variant.variant)
        is_first = variant.variant == "as-is"
        told = (self._sink, self._speak) if is_first else ()
        cold = self._run(variant, *told, measures=False)
        if cold.problem:
            return replace(variant, problem=cold.problem)
        return replace(self._run(variant, measures=True), cold=cold.warm)

    def _again(self, variant: VariantMeasured) -> VariantMeasured:
        """Run the program with warm caches once more, and combine both measurements."""
        self._caches.use(variant.variant)
        again = self._run(variant, measures=True)
        return replace(
            variant,
            warm=min(variant.warm, again.warm),
            in_row=_both(variant.in_row, again.in_row),
            single=_both(variant.single, again.single),
            problem=again.problem,
        )

    def _run(
        self,
        variant: VariantMeasured,
        sink: Sink = programs.ignore,
        speak: Callable[[], object] = bool,
        *,
        measures: bool,
    ) -> VariantMeasured:
        """Run the program in a child, and return the variant with its times.

        The seconds of the compiler are in ``warm``, even if the caches are cold.
        """
        keeper = VariantKeeper(variant.variant, of_roots=bool(self._scouted.roots))
        before = 0
        ended: list[VariantMeasured] = []

        def begin() -> None:
            nonlocal before
            speak()
            before = peak_memory()

        def prepare() -> None:
            inductor_compat.compile_in_parallel()
            atexit.register(end)  # registered first, so it runs last
            keeper.install()

        def end() -> None:
            keeper.settle()
            on_gpu = torch.cuda.is_initialized()
            memory = torch.cuda.max_memory_allocated() if on_gpu else peak_memory() - before
            measured = replace(variant, warm=keeper.compiling, memory=memory)
            ended.append(_with_calls(measured, keeper) if measures else measured)

        def take(facts: list[Fact]) -> None:
            keeper.note(facts)
            sink(programs.without_code(facts))

        ran, measured = programs.run_observed(self._request, take, prepare, lambda: ended[0], speak=begin)
        failure = ran.failure
        sink(programs.failure_problems(failure))
        if failure is not None:
            return replace(variant, problem=f"{failure.error}: {failure.message}")
        return measured or variant


def _with_calls(variant: VariantMeasured, keeper: VariantKeeper) -> VariantMeasured:
    """Return the variant with the times of the program's repeated calls.

    If the calls cannot be repeated, the variant has a ``problem`` instead.
    """
    try:
        calls = short_enough(keeper)
        if not calls:
            return replace(variant, problem="No call can be repeated, since the program's calls raise.")
        repetition = Repetition(calls)
        repetition.warm_up()
        compiled_before = keeper.compiling
        in_row = _timed(repetition.ratio(_BUDGET), len(calls))
        single = _times_of_single(calls) if torch.cuda.is_initialized() else in_row
    except Exception as error:
        traceback.print_exc()
        said = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
        return replace(variant, problem=f"The calls cannot be repeated ({said}).")
    if keeper.compiling > compiled_before:
        return replace(variant, problem="The calls are still recompiled after several repetitions.")
    return replace(variant, in_row=in_row, single=single)


def _times_of_single(calls: list[RepeatableCall]) -> CallsTimed:
    """Measure each call separately, so that the GPU is idle when the call begins."""
    singles = [Repetition([call]) for call in calls]

    def seconds(times: int, *, compiled: bool) -> float:
        return fmean(sum(single.seconds(compiled=compiled) for single in singles) for _ in range(times))

    eager, compiled = (partial(seconds, compiled=compiled) for compiled in (False, True))
    return _timed(compare(eager, compiled, _BUDGET), len(calls))


def _timed(ratio: TimeRatio, calls: int) -> CallsTimed:
    seconds = ratio.second / calls
    return CallsTimed(seconds, seconds, seconds, ratio.first / calls)


def _both(one: CallsTimed | None, other: CallsTimed | None) -> CallsTimed | None:
    if one is None or other is None:
        return None
    low, high = sorted((one.seconds, other.seconds))
    return CallsTimed((low + high) / 2, low, high, (one.eager + other.eager) / 2)


class _CacheFolders:
    """The folders of the compiler's caches for this run.

    Each variant begins with a copy of the initial caches. Folders are renamed, so that the caches in use
    always have the same path, because compile commands contain this path.
    """

    def __init__(self) -> None:
        self._folders = [os.environ[name] for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")]
        self._used = "first"
        for folder in self._folders:
            os.makedirs(folder, exist_ok=True)

    def use(self, name: str) -> None:
        """Move the caches of a variant to the paths that the compiler uses."""
        for folder in self._folders:
            os.rename(folder, f"{folder}.{self._used}")
            if os.path.exists(f"{folder}.{name}"):
                os.rename(f"{folder}.{name}", folder)
            else:
                shutil.copytree(f"{folder}.first", folder)
        self._used = name
