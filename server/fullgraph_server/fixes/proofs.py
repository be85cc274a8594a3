"""Proofs for the editor: by target, the fixes that were tried on its last run."""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..analyses.suitability import unsuited
from ..report.model import Finding, Report
from ..runs.observers import RunObserver
from ..runs.plan import RunPlan, RunPlanner
from ..runs.schedule import RunSchedule
from ..runs.slot import TargetState
from ..text.messages import counted
from ..workspace.targets import Target
from .changes import fixable
from .experiments import ExperimentState
from .model import RuleContext
from .operators.rule import calls_wanted
from .plans import FixPlan, shortest
from .prover import EditProver
from .search import Candidates, FindingTries, fix_first, try_all, try_finding
from .trying.advising import can_be_tried, outcomes_of, with_outcomes

_log = logging.getLogger(__name__)

_SHORT_SECONDS = 5.0
"""In seconds: the longest run of a target whose fixes are tried before the user asks for them."""


class CannotProveError(Exception):
    """Raised if a proof is refused; the exception's text is a sentence for the user."""


@dataclass(frozen=True)
class TargetProof:
    """The candidates tried for a target, and at the end a plan of safe fixes.

    ``plan`` is set once the candidates for all findings are tried together.
    """

    base: ExperimentState
    tried: tuple[FindingTries, ...]
    nondeterminism: str = ""
    plan: FixPlan | None = None


Progress = Callable[[str], None]
"""A callback that shows what is tried."""


@dataclass(eq=False)
class _FixSearch:
    """A running search for fixes.

    ``is_ahead`` says that the search runs ahead of time: the user has not asked for its result yet.
    """

    is_ahead: bool
    only: Finding | None = None
    """The finding to try edits for; ``None`` for all findings."""
    listeners: list[Progress] = field(default_factory=list)
    task: asyncio.Task[TargetProof | None] = field(init=False)

    def progress(self, message: str) -> None:
        for listener in self.listeners:
            listener(message)

    async def result(self, listener: Progress) -> TargetProof | None:
        """Report progress to a listener; return the result, or ``None`` if cancelled."""
        self.listeners.append(listener)
        await asyncio.wait({self.task})
        return None if self.task.cancelled() else self.task.result()


class ProofStore(RunObserver):
    """The proofs for the findings of each target, with at most one search per target."""

    def __init__(self, plan: RunPlanner, candidates: Candidates) -> None:
        self._plan = plan
        self._candidates = candidates
        self._runs: RunSchedule | None = None
        self._proved: dict[str, TargetProof] = {}
        self._searches: dict[str, _FixSearch] = {}
        self._tasks: set[asyncio.Task[TargetProof | None]] = set()
        self._advised: dict[str, int] = {}
        """By target, the generation of the report whose advice was tried."""

    def connect(self, runs: RunSchedule) -> None:
        """Set the schedule whose reports are proved and whose workers run the proofs."""
        self._runs = runs

    def of(self, target: str) -> TargetProof | None:
        """Return the proofs of a target so far; ``None`` if there are none."""
        return self._proved.get(target)

    def all(self) -> list[TargetProof]:
        """Return the proofs of all targets so far."""
        return list(self._proved.values())

    def can_try(self, report: Report, finding: Finding) -> bool:
        """Tell whether a finding has an edit to try and no requested search is running."""
        search = self._searches.get(report.target)
        is_asked = search is not None and not search.is_ahead
        if is_asked or report.dry or not report.repeatable or finding not in fixable(report):
            return False
        context = RuleContext(report, report.files)
        return bool(self._candidates(finding, context) or calls_wanted(finding, context))

    async def prove(self, target: str, progress: Progress, only: Finding | None = None) -> TargetProof | None:
        """Try fixes for all findings of a target, or for one; return ``None`` if cancelled.

        For example, a new run cancels the search. If a search is already running ahead of time, and all
        findings are wanted, wait for that search, and then try the fixes whose verdict needs the whole
        compiler. Raises :class:`CannotProveError`.
        """
        search = self._searches.get(target)
        if search is not None and search.is_ahead and only is None:
            search.is_ahead = False
            proved = await search.result(progress)
            if proved is None or not any(item.waits for item in proved.tried):
                return proved
        self.stop(target)
        return await self._begin(target, _FixSearch(is_ahead=False, only=only)).result(progress)

    def stop(self, target: str | None = None) -> bool:
        """Cancel the search of a target, or of all targets; tell whether any was running.

        Results so far are kept.
        """
        ended = [self._searches.pop(name) for name in [*self._searches] if target in (None, name)]
        for search in ended:
            search.task.cancel()
        return bool(ended)

    async def close(self) -> None:
        """Cancel all searches, and wait until they have ended."""
        self.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- runs ----------------------------------------------------------------------------------

    def started(self, target: Target, generation: int, cancel: Callable[[], None]) -> None:  # noqa: ARG002
        """Cancel the search of a target that runs again, because the text is newer."""
        if self.stop(target.id):
            self._proved.pop(target.id, None)  # else the rest would never be tried ahead of time

    def cleared(self, target: str) -> None:
        """Cancel the search of a target and discard the proofs for it."""
        self.stop(target)
        self._proved.pop(target, None)

    def changed(self, target: str, state: TargetState) -> None:
        """Start a search ahead of time after an ordinary run; cancel it after an edit."""
        search = self._searches.get(target)
        if state.stale:
            if search is not None and search.is_ahead:
                self.stop(target)
                self._proved.pop(target, None)
        elif search is None and state.run in ("finished", "exited", "raised") and self._is_due(target):
            self._begin(target, _FixSearch(is_ahead=True))

    def _is_due(self, target: str) -> bool:
        report = self._runs.report(target) if self._runs else None
        if report is None or report.layer or report.seconds > _SHORT_SECONDS or report.reaches_others:
            return False
        known = self._proved.get(target)
        if known is not None and _is_of_same_text(known.base.report, report):
            return False
        return can_be_tried(report) or any(self.can_try(report, item) for item in report.findings)

    def _begin(self, target: str, search: _FixSearch) -> _FixSearch:
        search.task = asyncio.ensure_future(self._search(target, search))

        def over(task: asyncio.Task[TargetProof | None]) -> None:
            self._tasks.discard(task)
            if self._searches.get(target) is search:
                del self._searches[target]
            error = None if task.cancelled() else task.exception()
            if error is not None and not isinstance(error, CannotProveError):
                _log.error("fixes could not be tried", exc_info=error)

        self._tasks.add(search.task)
        self._searches[target] = search
        search.task.add_done_callback(over)
        return search

    async def _search(self, target: str, search: _FixSearch) -> TargetProof | None:
        plan = await self._plan(target)
        if plan is None or self._runs is None:
            raise CannotProveError(f"There is no target {target} any more.")
        if problem := _unsuited(plan):
            raise CannotProveError(problem)
        if search.is_ahead:
            if not plan.tries_fixes:
                return None
            plan = plan.in_background()
        folder = Path(tempfile.mkdtemp(prefix="fullgraph-"))
        prover = EditProver(plan, self._runs.beside, folder, is_asked=not search.is_ahead)
        try:
            return await self._try(target, prover, search)
        finally:
            await prover.close()
            shutil.rmtree(folder, ignore_errors=True)

    async def _try(self, target: str, prover: EditProver, search: _FixSearch) -> TargetProof:
        base = await prover.as_it_is()
        proved = self._proved[target] = self._known(target, base, search.only)
        nondeterminism = await prover.nondeterminism(base)
        proved = replace(proved, nondeterminism=nondeterminism)
        if search.only is not None:
            tried = await self._try_one(prover, proved, search.only, search.progress)
            proved = self._proved[target] = replace(proved, tried=(*proved.tried, tried))
            return proved
        await self._try_advice(target, prover, is_steady=not nondeterminism or base.report.status == "raised")
        total = counted(len(prover.fixable(base.report)), "finding")
        prover.show = lambda finding, fix: search.progress(
            f"line {finding.span.row}: {fix.title} ({len(proved.tried)} of {total} done)"
        )
        async for tried in try_all(prover, base, self._candidates):
            proved = self._proved[target] = replace(proved, tried=(*proved.tried, tried))
        plan = await shortest(prover, base, fix_first(proved.tried), self._candidates, ("safe",))
        proved = self._proved[target] = replace(proved, plan=plan)
        return proved

    def _known(self, target: str, base: ExperimentState, only: Finding | None) -> TargetProof:
        """Return what is known when a search begins: for one finding, the tries of the others."""
        known = self._proved.get(target)
        if only is None or known is None or not _is_of_same_text(known.base.report, base.report):
            return TargetProof(base, ())
        others = tuple(item for item in known.tried if not _is_same(item.finding, only))
        return replace(known, base=base, tried=others, plan=None)

    async def _try_one(
        self, prover: EditProver, proved: TargetProof, only: Finding, progress: Progress
    ) -> FindingTries:
        base = proved.base
        found = next((item for item in prover.fixable(base.report) if _is_same(item, only)), None)
        if found is None:
            raise CannotProveError("The program no longer has this finding: run it again.")
        prover.show = lambda finding, fix: progress(f"line {finding.span.row}: {fix.title}")
        return await try_finding(prover, base, base, found, self._candidates, proved.tried)

    async def _try_advice(self, target: str, prover: EditProver, *, is_steady: bool) -> None:
        """Try the advice of the report that is shown, once, and add the outcomes to it."""
        shown = self._runs.report(target) if self._runs is not None else None
        if self._runs is None or shown is None or self._advised.get(target) == shown.generation:
            return
        if is_steady and can_be_tried(shown):
            outcomes = await outcomes_of(prover, shown)
            self._advised[target] = shown.generation
            self._runs.revise([target], lambda report: with_outcomes(report, outcomes))


def _is_same(one: Finding, other: Finding) -> bool:
    """Tell whether two runs of the same text have the same finding."""
    return (one.code, one.message, one.span) == (other.code, other.message, other.span)


def _unsuited(plan: RunPlan) -> str:
    """Say in one sentence why fixes cannot be tried for a target; ``""`` if they can."""
    if plan.settings.switches.without_data:
        return f"{plan.target.label} is a dry run: its tensors have no data, so results cannot be compared."
    return unsuited(plan.target, "fix")


def _is_of_same_text(first: Report, second: Report) -> bool:
    names = first.files.keys() & second.files.keys()
    pairs = [(first.files[name], second.files[name]) for name in names]
    return all(one is two or (one and two and one.lines == two.lines) for one, two in pairs)
