"""Reports of a run that is on, made of the facts that have come so far."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from fullgraph_compiler.facts import Depth, Fact, RunFinished

from ..workspace.targets import Target, problem_facts
from ..workspace.workspace import Workspace
from .fold import fold
from .report import Report

_REFRESH_SECONDS = 0.1
"""How long facts gather before an unfinished report is made of them."""
_FOLDING_SHARE = 0.1
"""The part of the time that may go into unfinished reports."""


class Reporting:
    """Folds facts as they come in, not too often, and beside the event loop, which has requests to answer."""

    def __init__(
        self,
        target: Target,
        generation: int,
        depth: Depth,
        workspace: Workspace,
        torch: Callable[[], str],
        on_report: Callable[[Report], None],
    ) -> None:
        self.facts: list[Fact] = []
        self._target = target
        self._generation = generation
        self._depth = depth
        self._workspace = workspace
        self._torch = torch
        self._on_report = on_report
        self._problems = problem_facts(target)
        self._refreshing: asyncio.Task[None] | None = None
        self._report = Report(target.id, generation)

    def take(self, facts: Sequence[Fact]) -> None:
        """Take the newest facts; nothing follows the end of the run."""
        self.facts += facts
        if isinstance(facts[-1], RunFinished):
            self.close()
            self._refreshing = asyncio.create_task(self._refresh(0))
        elif self._refreshing is None:
            self._refreshing = asyncio.create_task(self._refresh(_REFRESH_SECONDS))

    async def finish(self) -> Report:
        """The report of the whole run, once it has been made."""
        if self._refreshing is not None:
            await self._refreshing
        return self._report

    def close(self) -> None:
        """Make no more reports."""
        if self._refreshing is not None:
            self._refreshing.cancel()

    @property
    def told(self) -> bool:
        """Whether the report may take the earlier one's place: one without a finding waits for its end."""
        if self._report.status in (None, "cancelled"):
            return bool(self._report.findings)
        return True

    async def _refresh(self, delay: float) -> None:
        folded = 0
        while folded < len(self.facts):
            await asyncio.sleep(delay)
            begun, folded = time.monotonic(), len(self.facts)
            self._report = await self._fold()
            delay = max(_REFRESH_SECONDS, (time.monotonic() - begun) / _FOLDING_SHARE)
            if self.told:
                self._on_report(self._report)
        self._refreshing = None

    async def _fold(self) -> Report:
        return await asyncio.to_thread(
            fold,
            self._target.id,
            self._generation,
            self._torch(),
            (*self._problems, *self.facts),
            self._workspace,
            self._target.filename,
            self._depth,
        )
