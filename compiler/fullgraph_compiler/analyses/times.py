"""Compile times of the program: with empty caches, then with the filled caches.

Each run has its own process, and uses torch's default caches: graphs (``FXGraphCache``,
``AOTAutogradCache``), kernels, and choices of autotuning.
(https://docs.pytorch.org/tutorials/recipes/torch_compile_caching_tutorial.html)
So ``cold`` is the first start of a program, or the next start after a change that affects every graph, and
``warm`` is a restart.

The times exclude costs that do not depend on the program: imports, and the one-time cost of the first C++
kernel on a machine (the precompiled header, and the detection of the CPU's vector instructions). Another
process pays this one-time cost in advance, with the same caches, so both runs include only the cost that
every process has. Profiles (PGO), which torch stores only for named jobs, are not used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal

from ..compat import inductor_compat
from ..diagnose import programs
from ..facts import CacheKeyPart, CacheLookup, Fact, RunFinished, RunRequest, TimesMeasured
from ..observe.live import Sink
from ..processes.children import run_child
from .entry import WorkerEntry


def measure_times(request: RunRequest, sink: Sink, speak: Callable[[], None]) -> None:
    """Run the program with cold caches, then with warm ones, each time in a child.

    ``sink`` gets the times, all facts of the cold run, and the facts about caches of the warm run. ``speak``
    is called first in a child, so that ``sink`` works there. The folders of the caches, which environment
    variables name, must be empty. A program that fails with cold caches does not run again.
    """
    begun = time.monotonic()
    inductor_compat.import_inductor()
    run_child(inductor_compat.warm_up_cpp, request.patience)
    cold = _measure("cold", request, sink, speak)
    sink([cold, *programs.failure_problems(cold.failure)])
    if cold.failure is None:
        sink([_measure("warm", request, lambda facts: sink(_of_caches(facts)), speak)])
    sink([RunFinished("finished", time.monotonic() - begun, 0)])


def _measure(
    cache: Literal["cold", "warm"], request: RunRequest, sink: Sink, speak: Callable[[], None]
) -> TimesMeasured:
    compiling = 0.0

    def take(facts: list[Fact]) -> None:
        nonlocal compiling
        compiling += programs.seconds_compiling(facts)
        sink(programs.without_code(facts))

    ran, seconds = programs.run_observed(
        request, take, inductor_compat.compile_in_parallel, lambda: compiling, speak=speak
    )
    return TimesMeasured(cache, ran.seconds, seconds or 0.0, ran.failure)


def _of_caches(facts: Sequence[Fact]) -> list[Fact]:
    """Return only the facts about caches, with lookups marked as ``warm``."""
    return [
        replace(fact, warm=True) if isinstance(fact, CacheLookup) else fact
        for fact in facts
        if isinstance(fact, (CacheKeyPart, CacheLookup))
    ]


ENTRY: Final = WorkerEntry(run=measure_times)
