"""Reports of a run in progress, made from its facts so far."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from ..report.model import Report

_log = logging.getLogger(__name__)

_REFRESH_SECONDS = 0.1
"""Seconds for which facts are collected before a report of the run in progress is made."""
_FOLDING_SHARE = 0.1
"""The share of time that may be spent on reports of a run in progress."""


class PartialReports:
    """Maker of reports as facts arrive, at a limited rate and outside the event loop.

    ``make`` runs in a thread and makes the report of all facts so far. ``on_report`` gets the reports that
    are worth showing; without it, only the last report is made. An unfinished report that cannot be made is
    skipped.
    """

    def __init__(self, make: Callable[[], Report], on_report: Callable[[Report], None] | None) -> None:
        self._make = make
        self._on_report = on_report
        self._news = False
        self._refreshing: asyncio.Task[Report] | None = None

    def more(self) -> None:
        """Note that there are new facts to report."""
        self._news = True
        if self._on_report is not None and (self._refreshing is None or self._refreshing.done()):
            self._refreshing = asyncio.create_task(self._refresh(_REFRESH_SECONDS))
            self._refreshing.add_done_callback(_log_failure)

    def end(self) -> None:
        """Make the last report now, since no more facts come."""
        self.close()
        self._news = True
        self._refreshing = asyncio.create_task(self._refresh(0))

    async def finish(self) -> Report:
        """Wait for the last report, and return it.

        Raises the error of ``make`` if it cannot make this report.
        """
        assert self._refreshing is not None, "the end was not noted"
        return await self._refreshing

    def close(self) -> None:
        """Stop making reports."""
        if self._refreshing is not None:
            self._refreshing.cancel()

    async def _refresh(self, delay: float) -> Report:
        while True:
            await asyncio.sleep(delay)
            begun, self._news = time.monotonic(), False
            report = await asyncio.to_thread(self._make)
            delay = max(_REFRESH_SECONDS, (time.monotonic() - begun) / _FOLDING_SHARE)
            if self._on_report is not None and is_worth_showing(report):
                self._on_report(report)
            if not self._news:
                return report


def _log_failure(refreshing: asyncio.Task[Report]) -> None:
    if not refreshing.cancelled() and (error := refreshing.exception()):
        _log.error("no report could be made from the facts so far of a run", exc_info=error)


def is_worth_showing(report: Report) -> bool:
    """Tell whether a report may replace the report of the previous run.

    The report of a run that is in progress or was cancelled must have a finding.
    """
    return bool(report.findings) or report.status not in (None, "cancelled")
