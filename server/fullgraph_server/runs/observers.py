"""Observers of runs, which show them in the editor."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from fullgraph_compiler.facts import Status

from ..report.model import Report
from ..workspace.targets import Target
from .slot import TargetState

_log = logging.getLogger(__name__)


class RunObserver:
    """An observer of runs. The generations of a target's runs are in ascending order."""

    def started(self, target: Target, generation: int, cancel: Callable[[], None]) -> None:
        """Note that a run begins; ``cancel`` ends it."""

    def progressed(self, generation: int, message: str) -> None:
        """Note the current step of a run."""

    def reported(self, report: Report) -> None:
        """Take a newer report of the target, of a finished run or of a run in progress."""

    def layered(self, report: Report) -> None:
        """Take a newer report of a layer of the target."""

    def finished(self, target: Target, generation: int, status: Status) -> None:
        """Note that the run is over; all its facts have been reported."""

    def cleared(self, target: str) -> None:
        """Note that the target's report is gone."""

    def changed(self, target: str, state: TargetState) -> None:
        """Take a new state of the target."""

    def chosen(self) -> None:
        """Note that the user has changed the choice of the target to show."""


class RunObservers:
    """All observers of the runs of a schedule."""

    def __init__(self, observers: Sequence[RunObserver]) -> None:
        self._observers = observers

    def notify(self, notify: Callable[[RunObserver], None]) -> Exception | None:
        """Notify all observers; return the last error that an observer raised.

        An error of one observer does not affect the others.
        """
        failed = None
        for observer in self._observers:
            try:
                notify(observer)
            except Exception as error:
                _log.exception("%s failed", type(observer).__name__)
                failed = error
        return failed
