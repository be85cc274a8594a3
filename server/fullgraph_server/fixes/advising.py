"""Advice on recompilations, applied: the program runs with it, and what does not help is taken back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ..report.model import Finding, Report
from ..text.remedies import NOT_TRIED, Advice, Remedy, left_of
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

_LONGEST: Final = 10.0
"""The seconds of a run after which nothing is tried."""
_MOST: Final = 6
"""The number of remedies that are tried at most."""
_MOST_WAYS: Final = 2
"""The number of edits that are tried of a remedy."""


def can_be_tried(report: Report) -> bool:
    """Tell whether the advice of a report is tried: whether there is some, and the run was short."""
    is_short = report.status in ("finished", "exited") and report.seconds <= _LONGEST
    return is_short and any(finding.remedies for finding in report.findings)


async def outcomes_of(prover: Prover, report: Report) -> Outcomes:
    """Run the program with each remedy that the advice of a report names."""
    base = State({text.filename: text.text for text in prover.plan.texts}, report, "", Path())
    outcomes: dict[tuple[_Key, Remedy], Outcome] = {}
    for finding, remedy in _remedies(report):
        if len(outcomes) < _MOST:
            outcomes[_key(finding), remedy] = await _outcome(prover, base, finding, remedy)
    return outcomes


def with_outcomes(report: Report, outcomes: Outcomes) -> Report:
    """Return a report with the advice that helped; what was not tried says so."""
    findings = (
        _left(
            finding, {remedy: outcomes.get((_key(finding), remedy), "unknown") for remedy in finding.remedies}
        )
        for finding in report.findings
    )
    return replace(report, findings=tuple(findings))


def _key(finding: Finding) -> _Key:
    return finding.code, finding.message, finding.span


def _remedies(report: Report) -> Iterator[tuple[Finding, Remedy]]:
    for finding in report.findings:
        for remedy in finding.remedies:
            yield finding, remedy


async def _outcome(prover: Prover, base: State, finding: Finding, remedy: Remedy) -> Outcome:
    """Run the program with a remedy at the right line, in each way that is known for it."""
    outcome: Outcome = "unknown"
    for fix in _ways(base.report, finding, remedy):
        after = await prover.with_fixes(base, [fix])
        if after.failure:
            continue
        drifts = drifts_of(base.report, after.report)
        if not (gone(finding, base.report, after.report, drifts) or worse(base.report, after.report, drifts)):
            return "helps"
        outcome = "fails"
    return outcome


def _ways(report: Report, finding: Finding, remedy: Remedy) -> Sequence[Fix]:
    alone = replace(finding, advice=(Advice("", (remedy,)),))
    return [*recompilations(alone, Context(report, report.files))][:_MOST_WAYS]


def _left(finding: Finding, outcomes: dict[Remedy, Outcome]) -> Finding:
    """Keep the advice that helped, and mark what was not tried."""
    if not outcomes:
        return finding
    given = {item.sentence for item in finding.advice}
    others = tuple(hint for hint in finding.hints if hint not in given)
    advice: list[Advice] = []
    for item in finding.advice:
        helping = [remedy for remedy in item.remedies if outcomes[remedy] == "helps"]
        unknown = [remedy for remedy in item.remedies if outcomes[remedy] == "unknown"]
        if not item.remedies or len(helping) == len(item.remedies):
            advice.append(item)
        elif helping:
            advice += left_of(item, helping)
        elif unknown:
            advice += [replace(one, sentence=f"{one.sentence} {NOT_TRIED}") for one in left_of(item, unknown)]
    return replace(finding, advice=tuple(advice), hints=(*others, *(item.sentence for item in advice)))
