"""Stages: run the program and its graphs at each compiler stage; bisect faults."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from ..cases.oracle import AnswerCache, FailureOracle
from ..compat import inductor_compat
from ..diagnose.stages import climb, completed
from ..facts import RunFinished, RunRequest
from ..observe.live import Sink
from .entry import WorkerEntry


def run_stages(request: RunRequest, sink: Sink, speak: Callable[[], None]) -> None:
    """Check all stages; report each fault with its cause in the compiler.

    ``RunFinished`` is the last fact.
    """
    begun = time.monotonic()
    inductor_compat.prepare(request.cache)
    faults, _ = climb(request, FailureOracle(request.patience, AnswerCache()), sink, speak, seeks_causes=True)
    for fault in faults:
        sink([completed(fault, request.patience)])
    sink([RunFinished("finished", time.monotonic() - begun, 0)])


ENTRY: Final = WorkerEntry(run=run_stages)
