"""The proofs of an editor: what was tried for the findings of its targets, in the text that ran."""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from ..report.model import Report
from ..runs.plan import Planner
from ..runs.schedule import RunObserver, Runs
from ..runs.slot import TargetState
from ..runs.suitability import unsuited
from ..workspace.targets import Target
from .model import Context
from .proof import Prover, State
from .search import Candidates, Plan, Tried, fixable, shortest, try_all

_log = logging.getLogger(__name__)

_SHORT_SECONDS = 5.0
"""A target whose run takes no longer is proven ahead of time."""


class CannotProveError(Exception):
    """A proof that is refused; its text is a sentence for the user."""


@dataclass(frozen=True)
class Proved:
    """What was tried for a target's findings, and the safe fixes that go together, once all are tried."""

    base: State
    tried: tuple[Tried, ...]
    nondeterminism: str = ""
    plan: Plan | None = None


Progress = Callable[[str], None]
"""Shows how far the proofs of a target are."""

Wants = Callable[[str], Awaitable[bool]]
"""Tells whether the targets of a file are proven ahead of time."""


class Proofs(RunObserver):
    """The proofs of all targets: one search a target at a time, which gives way to its runs."""

    def __init__(self, plan: Planner, candidates: Candidates) -> None:
        self._plan = plan
        self._candidates = candidates
        self._runs: Runs | None = None
        self._wants: Wants | None = None
        self._proved: dict[str, Proved] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._provers: dict[str, Prover] = {}

    def connect(self, runs: Runs, wants: Wants) -> None:
        """Prove beside these runs, ahead of time where that is wanted."""
        self._runs, self._wants = runs, wants

    def of(self, target: str) -> Proved | None:
        """Return what is known of a target's findings by now."""
        return self._proved.get(target)

    def all(self) -> list[Proved]:
        """Return what is known of all targets."""
        return list(self._proved.values())

    async def prove(self, target: str, progress: Progress) -> Proved:
        """Try fixes for all findings of a target. Raises :class:`CannotProveError`."""
        plan = await self._plan(target)
        if plan is None or self._runs is None:
            raise CannotProveError(f"There is no target {target} any more.")
        if problem := unsuited(plan.target, "fix"):
            raise CannotProveError(problem)
        self._end(target)
        folder = Path(tempfile.mkdtemp(prefix="fullgraph-"))
        prover = self._provers[target] = Prover(plan, self._runs.beside, folder)
        try:
            return await self._search(target, prover, progress)
        finally:
            if self._provers.get(target) is prover:
                del self._provers[target]
            shutil.rmtree(folder, ignore_errors=True)

    def cancel(self, target: str) -> None:
        """End the proofs of a target; what is known by then stays."""
        if prover := self._provers.pop(target, None):
            prover.cancel()

    async def close(self) -> None:
        """End all proofs, and wait until they are over."""
        for target in [*self._provers]:
            self._end(target)
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # -- runs ----------------------------------------------------------------------------------

    def started(self, target: Target, generation: int, cancel: Callable[[], None]) -> None:  # noqa: ARG002
        """Give way to a run: its text is newer."""
        self._end(target.id)

    def cleared(self, target: str) -> None:
        """Forget the target."""
        self._end(target)
        self._proved.pop(target, None)

    def changed(self, target: str, state: TargetState) -> None:
        """Prove ahead of time, once an ordinary run is over."""
        if self._runs is None or state.run is not None or target in self._tasks:
            return
        report = self._runs.report(target)
        if report is not None and self._is_due(report):
            task = self._tasks[target] = asyncio.ensure_future(self._prove_ahead(target))
            task.add_done_callback(lambda _: self._tasks.pop(target, None))

    def _is_due(self, report: Report) -> bool:
        known = self._proved.get(report.target)
        if known is not None and known.base.report.files == report.files:
            return False
        if report.layer or report.dry or not report.repeatable or report.seconds > _SHORT_SECONDS:
            return False
        if report.status not in ("finished", "exited", "raised"):
            return False
        context = Context(report, report.files)
        return any(self._candidates(finding, context) for finding in fixable(report))

    async def _prove_ahead(self, target: str) -> None:
        try:
            plan = await self._plan(target)
            if plan is not None and self._wants is not None and await self._wants(plan.target.filename):
                await self.prove(target, lambda _: None)
        except CannotProveError as error:
            _log.info("no proofs ahead of time: %s", error)
        except Exception:
            _log.exception("proofs ahead of time failed")

    def _end(self, target: str) -> None:
        self.cancel(target)
        if task := self._tasks.pop(target, None):
            task.cancel()

    async def _search(self, target: str, prover: Prover, progress: Progress) -> Proved:
        base = await prover.as_it_is()
        proved = self._proved[target] = Proved(base, ())
        nondeterminism = await prover.nondeterminism(base)
        total = len(fixable(base.report))
        async for tried in try_all(prover, base, self._candidates):
            proved = Proved(base, (*proved.tried, tried), nondeterminism)
            self._proved[target] = proved
            progress(f"{len(proved.tried)} of {total} findings")
        plan = await shortest(prover, base, self._candidates, ("safe",))
        proved = self._proved[target] = Proved(base, proved.tried, nondeterminism, plan)
        return proved
