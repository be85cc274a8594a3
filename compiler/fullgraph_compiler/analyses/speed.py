"""Speed: measure compiled calls of the program, unmodified or with each variant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..facts import RunRequest
from ..measure.speed import measure_speed
from ..measure.trying import try_variants
from ..observe.live import Sink
from .entry import WorkerEntry


def _run(request: RunRequest, sink: Sink, speak: Callable[[], None]) -> None:
    measure = try_variants if request.switches.variants else measure_speed
    measure(request, sink, speak)


ENTRY: Final = WorkerEntry(run=_run)
