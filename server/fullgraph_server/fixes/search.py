"""The search for fixes: the candidates of each finding, and the best candidate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ..report.model import Finding
from .experiments import ExperimentState
from .model import SAFETY, Fix, RuleContext, RunCounts, Safety, Verdict
from .operators.rule import calls_wanted, refusal
from .prover import WAITS, EditProver

Candidates = Callable[[Finding, RuleContext], Sequence[Fix]]
"""A function that returns the candidate fixes for a finding, the best first."""

_OTHER_VERIFIED: Final = "not run with the whole compiler, because another edit is verified"
_PUT_OFF: Final = "not run with the whole compiler by itself, because edits against graph breaks come first"
_MOST_CANDIDATES = 16
"""The number of candidates that are tried for one finding."""


@dataclass(frozen=True, slots=True)
class CandidateVerdict:
    """A candidate fix with its verdict."""

    fix: Fix
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class FindingTries:
    """A finding, with the candidate fixes that were tried for it, the best first."""

    finding: Finding
    tries: tuple[CandidateVerdict, ...]
    refused: str = ""
    """Why no custom operator can be made of the code that torch cannot trace, as a clause; empty if
    unknown."""

    def best(self, safety: Sequence[Safety] = SAFETY) -> CandidateVerdict | None:
        """Return the first verified candidate; ``None`` if none.

        A safe one is preferred, then one that only moves output, then one that prints the same, then one that
        changes the user's lines and no setting of torch, then one that raises the same errors, then one that
        leaves all lines compiled, then one that keeps the form of all values.
        """
        verified = [item for item in self.tries if item.verdict.verified and item.fix.safety in safety]
        return min(verified, key=_rank, default=None)

    @property
    def waits(self) -> bool:
        """Whether the best candidate lacks only the confirming run, which starts on request."""
        best = self.best()
        waiting = [item for item in self.tries if item.verdict.reason == WAITS]
        return any(best is None or _rank(item) < _rank(best) for item in waiting)

    @property
    def is_put_off(self) -> bool:
        """Whether the confirming run of a candidate was put off until the graph breaks are fixed."""
        return any(item.verdict.reason == _PUT_OFF for item in self.tries)

    @property
    def removes(self) -> tuple[int, int]:
        """The numbers of breaks and recompilations that the best candidate removes."""
        best = self.best()
        return best.verdict.removes if best is not None else (0, 0)

    def steps(self, safety: Sequence[Safety]) -> list[CandidateVerdict]:
        """Return the candidates for a plan: the best verified one, then revealing ones.

        A revealing candidate exposes graph breaks that were hidden, because torch compiles more code.
        """
        allowed = [item for item in self.tries if item.fix.safety in safety]
        revealing = [item for item in allowed if item.verdict.reveals]
        return [*filter(None, [self.best(safety)]), *revealing]


def root_of(item: FindingTries, tried: Iterable[FindingTries]) -> FindingTries | None:
    """Return the finding whose verified edit also removes the finding of ``item``.

    Return ``None`` if ``item`` has a verified edit of its own, unless both edits are the same and the other
    finding is earlier.
    """
    own = item.best()
    for root in tried:
        best = root.best()
        if root is item and own is not None:
            return None
        if best is None or item.finding not in best.verdict.along:
            continue
        if own is None or own.fix.edits == best.fix.edits:
            return root
    return None


async def try_finding(
    prover: EditProver,
    base: ExperimentState,
    state: ExperimentState,
    finding: Finding,
    candidates: Candidates,
    others: Iterable[FindingTries] = (),
    *,
    puts_off: bool = False,
) -> FindingTries:
    """Try the candidates for a finding until one is verified that no other can surpass.

    If no candidate is verified, or only one that leaves a small part compiled, the calls around the finding
    are observed, for candidates that need observations. The slow run with the whole compiler is made only for
    the best candidate; with ``puts_off``, it is not made. If a verified fix of one of the ``others`` also
    removes this finding, a candidate that cannot surpass it is not tried.
    """
    context = RuleContext(state.report, state.report.files)
    known = _covering(finding, others)
    tries: list[CandidateVerdict] = []
    least = min(map(_rank, known), default=_WORST)

    async def confirm(item: CandidateVerdict) -> CandidateVerdict:
        if not item.fix.needs_whole_compiler:
            return item
        if puts_off:
            return _unconfirmed(item, _PUT_OFF)
        after = await prover.with_fixes(state, [item.fix])
        return replace(item, verdict=await prover.confirmed(base, after, item.fix, item.verdict))

    waiting: list[CandidateVerdict] = []

    async def is_settled(following: _Rank) -> bool:
        """Confirm verified fixes until one passes, if no fix of a following rank can surpass them."""
        while waiting and _rank(waiting[0]) <= following:
            item = await confirm(waiting.pop(0))
            tries.append(item)
            if item.verdict.verified:
                tries.extend(
                    one if not one.fix.needs_whole_compiler else _unconfirmed(one) for one in waiting
                )
                waiting.clear()
                return True
        return False

    async def prove(fixes: Sequence[Fix]) -> None:
        """Try fixes until one is verified that no other can surpass.

        If new lines equal the old ones but reveal graph breaks, other ways of the rule would do so, too.
        """
        revealing: set[str] = set()
        for fix in sorted((fix for fix in fixes if _best_rank(fix) < least), key=_best_rank):
            if await is_settled(_best_rank(fix)):
                return
            if fix.rule in revealing:
                continue
            verdict, _ = await prover.prove(base, state, fix, finding, whole=False)
            if verdict.reveals and fix.replaces:
                revealing.add(fix.rule)
            (waiting if verdict.verified else tries).append(judged_by_run(fix, verdict))
            waiting.sort(key=_rank)
        await is_settled(_WORST)

    refused = ""
    offered = candidates(finding, context)[:_MOST_CANDIDATES]
    await prover.try_lines(state, [fix for fix in offered if _best_rank(fix) < least])
    await prove(offered)
    if not known and not any(item.verdict.verified and not item.verdict.is_small for item in tries):
        if wanted := calls_wanted(finding, context):
            context = replace(context, calls=await prover.calls(state, wanted))
        operators = [fix for fix in candidates(finding, context) if fix.operator is not None]
        await prove(operators)
        is_made = any(fix.operator.name for fix in operators if fix.operator is not None)
        refused = "" if is_made else refusal(finding, context)
    tries.sort(key=lambda item: (not item.verdict.verified, *_rank(item)))
    return FindingTries(finding, tuple(tries), refused)


_Rank: TypeAlias = tuple[int, ...]
_WORST: Final[_Rank] = (len(SAFETY),)
"""A rank after that of every fix."""


def _rank(item: CandidateVerdict) -> _Rank:
    """Return a sort key.

    Safe edits come first, then those that only move output, then unsafe ones; among these, those that print
    the same, then those that leave most of a function compiled, then those of lines, then those that raise
    the same errors, then those that leave all lines compiled, then those that keep the form of all values. Of
    two splits, the first leaves more compiled.
    """
    return *_best_rank(item.fix)[:-1], bool(item.verdict.noticed) and not item.fix.uncompiles


def _best_rank(fix: Fix) -> _Rank:
    """Return the rank of a fix whose runs show no difference."""
    is_setting = fix.is_setting
    prints = fix.prints_differ and not is_setting
    safety, little = SAFETY.index(fix.safety), fix.leaves_little
    return safety, prints, little, is_setting, fix.errors_differ, fix.uncompiles, False


def judged_by_run(fix: Fix, verdict: Verdict) -> CandidateVerdict:
    """Return a tried fix, declared unsafe if its runs show that other code can notice it."""
    if not verdict.noticed or verdict.noticed in fix.change:
        return CandidateVerdict(fix, verdict)
    change = f"{fix.change} Other code may notice a difference: {verdict.noticed}."
    return CandidateVerdict(replace(fix, safety="unsafe", change=change), verdict)


def _unconfirmed(item: CandidateVerdict, reason: str = _OTHER_VERIFIED) -> CandidateVerdict:
    return replace(item, verdict=replace(item.verdict, verified=False, reason=reason, tried=False))


async def try_all(
    prover: EditProver,
    base: ExperimentState,
    candidates: Candidates,
    planned: Sequence[Safety] = (),
) -> AsyncIterator[FindingTries]:
    """Try the candidates for each finding separately; yield each tried finding.

    A finding is yielded once its candidates are tried and all earlier findings are yielded. Graph breaks are
    tried before recompilations, because a fix of a graph break often removes recompilations, too. If a plan
    follows in which edits are ``planned`` that fix a graph break, the slow run with the whole compiler is put
    off for recompilations: the plan makes it if the recompilation is left.
    """
    tried: list[FindingTries] = []
    findings = prover.fixable(base.report)
    breaks = [finding for finding in findings if finding.kind == "graph-break"]
    for group in (breaks, [finding for finding in findings if finding.kind != "graph-break"]):
        puts_off = any(item.best(planned) is not None for item in tried)
        tasks = [
            asyncio.ensure_future(
                try_finding(prover, base, base, finding, candidates, [*tried], puts_off=puts_off)
            )
            for finding in group
        ]
        try:
            for task in tasks:
                tried.append(await task)
                yield tried[-1]
        finally:
            for task in tasks:
                task.cancel()


def _covering(finding: Finding, tried: Iterable[FindingTries]) -> list[CandidateVerdict]:
    """Return the best fixes of other findings that also remove a finding."""
    return [best for item in tried if (best := item.best()) is not None and finding in best.verdict.along]


def fix_first(tried: Iterable[FindingTries]) -> list[FindingTries]:
    """Sort findings in the order to fix them: the fix that removes most is first."""
    return sorted(tried, key=lambda item: item.removes, reverse=True)


def gain(before: RunCounts, after: RunCounts) -> str:
    """Say how an edit changes the counts: ``3 graphs → 1, 2 breaks → 0``.

    Return "" if no count changes.
    """
    pairs = (
        ("break", before.breaks, after.breaks),
        ("graph", before.graphs, after.graphs),
        ("recompilation", before.recompiles, after.recompiles),
    )
    return ", ".join(f"{was} {noun}{'s' * (was != 1)} → {now}" for noun, was, now in pairs if was != now)
