"""Advice on recompilations is tried: the program runs with it, and what does not help is dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Final, Literal, TypeAlias

from ..report.model import Finding, Report
from ..text.remedies import Advice, Remedy, left_of, sentences
from ..workspace.positions import Span
from .changes import drifts_of, gone, worse
from .experiments import State
from .model import Context, Fix
from .proof import Prover
from .rules.recompilations import recompilations

Outcome: TypeAlias = Literal["helps", "fails", "unknown"]
_Key: TypeAlias = tuple[str, str, Span]
Outcomes: TypeAlias = Mapping[tuple[_Key, Remedy], Outcome]
"""What became of remedies, by the finding that each is for."""

_LONGEST: Final = 20.0
"""The seconds that a run may take, with its imports, and after which no other try begins."""
_AT_ITS_END: Final = ("finished", "exited", "raised")
_MOST_WAYS: Final = 2
"""The number of edits that are tried of a remedy."""


def can_be_tried(report: Report) -> bool:
    """Tell whether to try a report's advice: it names edits, the run is short, and nobody notices another."""
    is_short = report.status in _AT_ITS_END and report.seconds <= _LONGEST
    return is_short and not report.reaches_others and any(finding.remedies for finding in report.findings)


async def outcomes_of(prover: Prover, report: Report) -> Outcomes:
    """Run the program with each remedy that the advice of a report names, for as long as there is time."""
    base = State({text.filename: text.text for text in prover.plan.texts}, report, "", Path())
    outcomes: dict[tuple[_Key, Remedy], Outcome] = {}
    end = monotonic() + _LONGEST
    again = await prover.as_it_is()
    if again.failure or _advised(again.report) != _advised(report):
        return {}  # each run of it differs
    for finding in report.findings:
        ways = {remedy: _ways(report, finding, remedy) for remedy in finding.remedies}
        became: dict[Remedy, Outcome] = {}
        for remedy, fixes in ways.items():
            if monotonic() < end:
                became[remedy] = await _outcome(prover, base, finding, [[fix] for fix in fixes], end)
        together = [remedy for remedy in _first_remedies(finding) if became.get(remedy) == "fails"]
        fixes = [ways[remedy][0] for remedy in together]
        if len(fixes) > 1 and _are_apart(fixes) and monotonic() < end:
            # Of values that change together, one alone helps nothing.
            became.update(dict.fromkeys(together, await _outcome(prover, base, finding, [fixes], end)))
        outcomes.update({(_key(finding), remedy): outcome for remedy, outcome in became.items()})
    return outcomes


def with_outcomes(report: Report, outcomes: Outcomes) -> Report:
    """Return a report without failed advice, and without "(Not tried.)" on advice that helped."""
    return replace(report, findings=tuple(_left(finding, outcomes) for finding in report.findings))


def _advised(report: Report) -> Counter[_Key]:
    return Counter(_key(finding) for finding in report.findings if finding.advice)


def _key(finding: Finding) -> _Key:
    return finding.code, finding.message, finding.span


def _first_remedies(finding: Finding) -> list[Remedy]:
    return list(dict.fromkeys(item.remedies[0] for item in finding.advice if item.remedies))


def _are_apart(fixes: Sequence[Fix]) -> bool:
    """Tell whether no two edits are at one place, unless they are the same."""
    spans = sorted(
        (span.filename, (span.row, span.column), (span.end_row, span.end_column))
        for span in {edit: edit.span for fix in fixes for edit in fix.edits}.values()
    )
    return all(first[0] != second[0] or first[2] <= second[1] for first, second in pairwise(spans))


async def _outcome(
    prover: Prover, base: State, finding: Finding, tries: Sequence[Sequence[Fix]], end: float
) -> Outcome:
    """Run the program with each of some sets of edits, until one helps or the time is over."""
    outcome: Outcome = "unknown"
    for fixes in tries:
        if monotonic() >= end:
            break
        after = await prover.with_fixes(base, fixes)
        if after.failure:
            continue
        if _helps(finding, base.report, after.report):
            return "helps"
        outcome = "fails"
    return outcome


def _helps(finding: Finding, before: Report, after: Report) -> bool:
    drifts = drifts_of(before, after)
    if gone(finding, before, after, drifts):
        return False
    goes_on = before.status == "raised" and after.status in ("finished", "exited")
    return goes_on or not worse(before, after, drifts)


def _ways(report: Report, finding: Finding, remedy: Remedy) -> Sequence[Fix]:
    alone = replace(finding, advice=(Advice("", (remedy,)),))
    return [*recompilations(alone, Context(report, report.files))][:_MOST_WAYS]


def _left(finding: Finding, outcomes: Outcomes) -> Finding:
    """Leave the advice on a finding that helped, or else what was not tried."""
    advice: list[Advice] = []
    for item in finding.advice:
        became = {remedy: outcomes.get((_key(finding), remedy), "unknown") for remedy in item.remedies}
        helping = [remedy for remedy, outcome in became.items() if outcome == "helps"]
        unknown = [remedy for remedy, outcome in became.items() if outcome == "unknown"]
        if helping:
            advice += [replace(one, helps=True) for one in left_of(item, helping)]
        elif unknown or not became:
            advice += left_of(item, unknown)
    given = sentences(finding.advice)
    others = tuple(hint for hint in finding.hints if hint not in given)
    return replace(finding, advice=tuple(advice), hints=(*others, *sentences(advice)))
