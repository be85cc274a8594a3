"""Reports of a run that is on, made of its facts so far."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from ..report.model import Report

_log = logging.getLogger(__name__)

_REFRESH_SECONDS = 0.1
"""How long facts gather before an unfinished report is made of them."""
_FOLDING_SHARE = 0.1
"""The part of the time that may go into unfinished reports."""


class PartialReports:
    """Makes reports as facts come in, not too often, and beside the event loop, which has requests to answer.

    ``make`` makes the report of all facts when it is called, in a thread. ``on_report`` gets the reports
    that are worth showing; without it only the last one is made. An unfinished report that cannot be made is
    left out.
    """

    def __init__(self, make: Callable[[], Report], on_report: Callable[[Report], None] | None) -> None:
        self._make = make
        self._on_report = on_report
        self._news = False
        self._refreshing: asyncio.Task[Report] | None = None

    def more(self) -> None:
        """Take note that there is more to report."""
        self._news = True
        if self._on_report is not None and (self._refreshing is None or self._refreshing.done()):
            self._refreshing = asyncio.create_task(self._refresh(_REFRESH_SECONDS))
            self._refreshing.add_done_callback(_log_failure)

    def end(self) -> None:
        """Make the last report now: nothing more comes."""
        self.close()
        self._news = True
        self._refreshing = asyncio.create_task(self._refresh(0))

    async def finish(self) -> Report:
        """Return the last report, once it is made. Raises the error that kept it from that."""
        assert self._refreshing is not None, "the end was not noted"
        return await self._refreshing

    def close(self) -> None:
        """Make no more reports."""
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
        _log.error("no report could be made of the facts of a run so far", exc_info=error)


def is_worth_showing(report: Report) -> bool:
    """Tell whether a report may take the earlier one's place: one without a finding waits for its end."""
    return bool(report.findings) or report.status not in (None, "cancelled")
