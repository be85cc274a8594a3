"""Observers of runs: who shows them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from fullgraph_compiler.facts import Status

from ..report.model import Report
from ..workspace.targets import Target
from .slot import TargetState

_log = logging.getLogger(__name__)


class RunObserver:
    """Observer of runs. For one target, generations only grow."""

    def started(self, target: Target, generation: int, cancel: Callable[[], None]) -> None:
        """Take note that a run begins; ``cancel`` ends it."""

    def progressed(self, generation: int, message: str) -> None:
        """Take note of what a run that has begun is doing now."""

    def reported(self, report: Report) -> None:
        """Take a newer report of the target: of the facts so far, or of the whole run."""

    def layered(self, report: Report) -> None:
        """Take a newer report of a layer that stands beside the target's ordinary result."""

    def finished(self, target: Target, generation: int, status: Status) -> None:
        """Take note that the run is over; all its facts have been reported."""

    def cleared(self, target: str) -> None:
        """Take note that the target's report is gone."""

    def changed(self, target: str, state: TargetState) -> None:
        """Take a new state of the target."""

    def chosen(self) -> None:
        """Take note that the results of other targets are shown from now on."""


class Observers:
    """All observers of the runs of a schedule."""

    def __init__(self, observers: Sequence[RunObserver]) -> None:
        self._observers = observers

    def notify(self, notify: Callable[[RunObserver], None]) -> Exception | None:
        """Notify all; the error of one keeps nothing from the others, and is returned."""
        failed = None
        for observer in self._observers:
            try:
                notify(observer)
            except Exception as error:
                _log.exception("%s failed", type(observer).__name__)
                failed = error
        return failed
