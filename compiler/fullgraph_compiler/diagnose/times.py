"""Why compilation is slow: the time that a program needs with empty caches, and with those of that run.

Both runs are those of a process of its own, and keep what torch caches by default: graphs (``FXGraphCache``,
``AOTAutogradCache``), kernels, and the choices of autotuning. (https://docs.pytorch.org/tutorials/recipes/
torch_compile_caching_tutorial.html) So ``cold`` is the first start of a program, or the next one after a
change that reaches every graph, and ``warm`` is its restart.

What is not in the times, since it says nothing of the program: imports; and what the first C++ kernel *ever*
costs a machine, whatever program it is of (the header of all kernels, and a look at the CPU's vector
instructions). That is built ahead, into the same caches, by a process of its own, so that both runs still
pay what each process pays for it. Of profiles (PGO), which torch keeps only for jobs that have a name, none
is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from ..compat import inductor_compat
from ..facts import Artifact, CodeGenerated, Fact, PhasesTimed, RunFinished, RunRequest, TimesMeasured
from ..observe.live import Sink
from ..processes.children import run_child
from . import programs


def measure_times(request: RunRequest, sink: Sink, speak: Callable[[], None]) -> None:
    """Run the program with cold caches, then with warm ones, in a child each, and tell ``sink``.

    ``speak`` makes it work in a child. The facts of the cold run are told too. The caches are those that the
    environment names, which must be empty. A program that fails with cold caches is not run again.
    """
    begun = time.monotonic()
    inductor_compat.import_inductor()
    run_child(inductor_compat.warm_up_cpp, request.patience)
    cold = _measure("cold", request, sink, speak)
    sink([cold, *programs.untold(cold.failure)])
    if cold.failure is None:
        sink([_measure("warm", request, lambda _: None, lambda: None)])
    sink([RunFinished("finished", time.monotonic() - begun, 0)])


def _measure(
    cache: Literal["cold", "warm"], request: RunRequest, sink: Sink, speak: Callable[[], None]
) -> TimesMeasured:
    def work() -> tuple[tuple[Fact, ...], float]:
        speak()
        compiling = 0.0

        def take(facts: list[Fact]) -> None:
            nonlocal compiling
            compiling += _seconds_compiling(facts)
            # Nothing was asked of its code: without provenance it would look empty.
            sink([fact for fact in facts if not isinstance(fact, (Artifact, CodeGenerated))])

        facts = programs.observe(request, take, inductor_compat.compile_in_parallel)
        return facts, compiling

    ended = run_child(work, request.patience)
    facts, compiling = ended.answer if ended.answered else ((), 0.0)
    ran = programs.how_it_ran(replace(ended, answer=facts))
    return TimesMeasured(cache, ran.seconds, compiling, ran.failure)


def _seconds_compiling(facts: Sequence[Fact]) -> float:
    """The time of the outermost steps among some facts; all others are within these."""
    return sum(fact.phases[0].seconds for fact in facts if isinstance(fact, PhasesTimed))
