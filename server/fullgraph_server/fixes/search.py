"""The search for fixes: the best one of each finding, and those that together leave the fewest breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ..report.model import Finding
from .changes import counts_of
from .model import Context, Counts, Fix, Safety, Verdict
from .operators.rule import calls_wanted, refusal
from .proof import Prover, State

Candidates = Callable[[Finding, Context], Sequence[Fix]]
"""Returns the candidates for the fix of a finding, the best first."""

_MOST_CANDIDATES = 4
"""How many candidates of one finding are tried."""
_MOST_STEPS = 32


@dataclass(frozen=True, slots=True)
class Try:
    """A candidate with its verdict."""

    fix: Fix
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Tried:
    """A finding, and the candidates that were tried for it, the best first; empty if there are none."""

    finding: Finding
    tries: tuple[Try, ...]
    refused: str = ""
    """Why what cannot be traced cannot be an operator of torch, as a sentence without its end."""

    def best(self, safety: Sequence[Safety] = ("safe", "unsafe")) -> Try | None:
        """Return the first verified candidate, those that keep behaviour first."""
        verified = [item for item in self.tries if item.verdict.verified and item.fix.safety in safety]
        return min(verified, key=lambda item: item.fix.safety != "safe", default=None)

    @property
    def removes(self) -> tuple[int, int]:
        """The numbers of breaks and of recompilations that the best candidate removes."""
        best = self.best()
        return best.verdict.removes if best is not None else (0, 0)

    def revealing(self, safety: Sequence[Safety]) -> Try | None:
        """Return the first candidate against which only breaks are that showed with it."""
        return next((item for item in self.tries if item.verdict.reveals and item.fix.safety in safety), None)


def root_of(item: Tried, tried: Iterable[Tried]) -> Tried | None:
    """Return the finding with whose verified edit another one goes, if it has none of its own.

    The same edit for both is that of the first.
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


@dataclass(frozen=True, slots=True)
class Plan:
    """Fixes in the order in which they are made, each of the text that those before it made."""

    base: State
    last: State
    steps: tuple[tuple[Finding, Try], ...]
    left: tuple[Tried, ...]
    """The findings that are left, and what was tried for each."""

    @property
    def texts(self) -> dict[str, tuple[str, str]]:
        """Return the texts of the changed files, before and after."""
        changed = {}
        for filename, text in self.last.texts.items():
            source = self.base.report.files.get(filename)
            if source is not None and source.text != text:
                changed[filename] = (source.text, text)
        return changed


async def try_finding(
    prover: Prover, base: State, state: State, finding: Finding, candidates: Candidates
) -> Tried:
    """Try the candidates for a finding until one is verified that keeps behaviour.

    If none is, the calls around the finding are observed, for those that rest on them.
    """
    context = Context(state.report, state.report.files)
    tries: list[Try] = []

    async def is_fixed(fixes: Sequence[Fix]) -> bool:
        for fix in fixes:
            verdict, _ = await prover.prove(base, state, fix, finding)
            tries.append(Try(fix, verdict))
            if verdict.verified and fix.safety == "safe":
                return True
        return False

    refused = ""
    if not await is_fixed(candidates(finding, context)[:_MOST_CANDIDATES]):
        if wanted := calls_wanted(finding, context):
            context = replace(context, calls=await prover.calls(state, wanted))
        operators = [fix for fix in candidates(finding, context) if fix.operator is not None]
        await is_fixed(operators)
        refused = "" if operators else refusal(finding, context)
    tries.sort(key=lambda item: (not item.verdict.verified, item.fix.safety != "safe"))
    return Tried(finding, tuple(tries), refused)


async def try_all(prover: Prover, base: State, candidates: Candidates) -> AsyncIterator[Tried]:
    """Try the candidates for each finding by itself; yields each as soon as it is tried."""
    tasks = [
        asyncio.ensure_future(try_finding(prover, base, base, finding, candidates))
        for finding in prover.fixable(base.report)
    ]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()


def fix_first(tried: Iterable[Tried]) -> list[Tried]:
    """Put findings in the order in which they are to be fixed: what removes most comes first."""
    return sorted(tried, key=lambda item: item.removes, reverse=True)


async def shortest(prover: Prover, base: State, candidates: Candidates, safety: Sequence[Safety]) -> Plan:
    """Search for the fixes that together leave the fewest breaks, graphs and recompilations.

    The first step is the fix that removes most. Each later one fixes the first finding that can be fixed in
    the text that the steps before made: one that lets others go, too, makes theirs needless. A step that only
    reveals breaks is kept if later ones remove them.
    """
    state, left = base, list[Tried]()
    steps: list[tuple[Finding, Try]] = []
    sound = Plan(base, base, (), ())
    for _ in range(_MOST_STEPS):
        left = []
        async for tried in _in_order(prover, base, state, candidates):
            best = tried.best(safety) or tried.revealing(safety)
            if best is not None:
                steps.append((tried.finding, best))
                state = await prover.with_fixes(state, [best.fix])
                if not best.verdict.reveals and not _breaks_more(base, state):
                    sound = Plan(base, state, tuple(steps), ())
                break
            left.append(tried)
        else:
            break
    if sound.last is not state:  # what the last steps revealed cannot be fixed
        return replace(
            sound,
            left=tuple(
                [
                    await try_finding(prover, base, sound.last, finding, candidates)
                    for finding in prover.fixable(sound.last.report)
                ]
            ),
        )
    return replace(sound, left=tuple(left))


async def _in_order(
    prover: Prover, base: State, state: State, candidates: Candidates
) -> AsyncIterator[Tried]:
    """Try the findings of a state: of the program as it is all, for the one to begin with."""
    if state is base:
        for tried in fix_first([item async for item in try_all(prover, base, candidates)]):
            yield tried
    else:
        for finding in prover.fixable(state.report):
            yield await try_finding(prover, base, state, finding, candidates)


def _breaks_more(base: State, state: State) -> bool:
    return counts_of(state.report).breaks > counts_of(base.report).breaks


def gain(before: Counts, after: Counts) -> str:
    """Say what an edit changes: ``3 graphs → 1, 2 breaks → 0``; empty if it is nothing that is counted."""
    pairs: Iterable[tuple[str, str, int, int]] = (
        ("break", "breaks", before.breaks, after.breaks),
        ("graph", "graphs", before.graphs, after.graphs),
        ("recompilation", "recompilations", before.recompiles, after.recompiles),
    )
    return ", ".join(
        f"{was} {one if was == 1 else many} → {now}" for one, many, was, now in pairs if was != now
    )
