"""One run of the program, at the depth that the request names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..capture.depths import WITHOUT_DATA
from ..capture.run import run
from ..facts import RunRequest
from ..observe.live import Sink
from ..verify.running import run_recorded
from .entry import WorkerEntry


def _run(request: RunRequest, sink: Sink, speak: Callable[[], None]) -> None:  # noqa: ARG001 - this process runs it
    if request.record:
        run_recorded(request, sink)
    else:
        run(request, sink)


ENTRY: Final = WorkerEntry(run=_run, forks=False, without_data=WITHOUT_DATA)
