"""Trial runs of a program with the changes that the report's advice names.

Advice that does not help is dropped from the report. The program also runs with general ways out of an error
(``ways_out.py``); the report names the helpful ways out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Final, Literal, TypeAlias

from ...report.model import Finding, Report
from ...text.remedies import Advice, Remedy, left_of, sentences
from ...workspace.positions import Span
from ..editing import are_apart
from ..experiments import ExperimentState
from ..model import Fix, RuleContext
from ..prover import EditProver
from ..rules.recompilations import recompilations
from .tries import GOES_ON, TryResult, helps, new_error, try_ways_out
from .ways_out import may_help

Outcome: TypeAlias = Literal["helps", "fails", "unknown"]
_FindingKey: TypeAlias = tuple[str, str, str, Span]


@dataclass(frozen=True, slots=True)
class RemedyOutcome:
    """Whether a remedy helps, and the error that occurs only with the remedy.

    ``then`` names this error, which ended the run.
    """

    outcome: Outcome
    then: str = ""


@dataclass(frozen=True, slots=True)
class RemedyOutcomes:
    """The outcomes of remedies and the results of ways out, by finding."""

    remedies: Mapping[tuple[_FindingKey, Remedy], RemedyOutcome] = field(default_factory=dict)
    ways_out: Mapping[_FindingKey, tuple[TryResult, ...]] = field(default_factory=dict)


_LONGEST: Final = 20.0
"""In seconds: the longest run that is repeated (imports included), and the time after which no further try
begins."""
_LONGEST_OF_BREAKS: Final = 8.0
"""The seconds after which no further try against a graph break begins; shorter, because the program works
despite the break."""
_AT_ITS_END: Final = (*GOES_ON, "raised")
_MOST_WAYS: Final = 2
"""The number of edits that are tried for one remedy."""


def can_be_tried(report: Report) -> bool:
    """Tell whether to try a report's advice.

    It is tried if the advice has edits, the run was short, and the program neither connected to a server nor
    started another program.
    """
    is_short = report.status in _AT_ITS_END and report.seconds <= _LONGEST
    return is_short and not report.reaches_others and any(_tries(report, item) for item in report.findings)


async def outcomes_of(prover: EditProver, report: Report) -> RemedyOutcomes:
    """Run the program with each finding's remedies and ways out, while time is left."""
    base = ExperimentState({text.filename: text.text for text in prover.plan.texts}, report, "", Path())
    end = monotonic() + _LONGEST
    again = await prover.as_it_is()
    if again.failure or _to_try(again.report) != _to_try(report):
        return RemedyOutcomes()  # two runs of the program differ
    remedies: dict[tuple[_FindingKey, Remedy], RemedyOutcome] = {}
    ways: dict[_FindingKey, tuple[TryResult, ...]] = {}
    for finding in report.findings:
        became = await _outcomes(prover, base, finding, end)
        remedies.update({(_key(finding), remedy): one for remedy, one in became.items()})
    errors = [item for item in report.findings if item.severity == "error"]
    breaks = [item for item in report.findings if item.kind == "graph-break"]
    for group, seconds in ((errors, _LONGEST), (breaks, _LONGEST_OF_BREAKS)):
        last = min(end, monotonic() + seconds)
        for finding in group:
            results = try_ways_out(prover, base, finding, again, last)
            ways[_key(finding)] = tuple([result async for result in results])
    return RemedyOutcomes(remedies, ways)


def with_outcomes(report: Report, outcomes: RemedyOutcomes) -> Report:
    """Return a report without the advice that failed.

    Advice that helped loses the note "(Not tried.)".
    """
    return replace(report, findings=tuple(_left(finding, outcomes) for finding in report.findings))


def _to_try(report: Report) -> Counter[_FindingKey]:
    return Counter(_key(finding) for finding in report.findings if finding.advice or _tries(report, finding))


def _tries(report: Report, finding: Finding) -> bool:
    """Tell whether there is a remedy or a way out to try for a finding."""
    return bool(finding.remedies) or may_help(finding, report)


def _key(finding: Finding) -> _FindingKey:
    return finding.kind, finding.code, finding.message, finding.span


async def _outcomes(
    prover: EditProver, base: ExperimentState, finding: Finding, end: float
) -> Mapping[Remedy, RemedyOutcome]:
    """Run the program with each remedy in a finding's advice."""
    ways = {remedy: _ways(base.report, finding, remedy) for remedy in finding.remedies}
    became: dict[Remedy, RemedyOutcome] = {}
    for remedy, fixes in ways.items():
        if monotonic() < end:
            became[remedy] = await _became(prover, base, finding, [[fix] for fix in fixes], end)
    failing = [remedy for remedy, one in became.items() if one == RemedyOutcome("fails")]
    first = dict.fromkeys(item.remedies[0] for item in finding.advice if item.remedies)
    together = [remedy for remedy in first if remedy in failing]
    fixes = [ways[remedy][0] for remedy in together]
    is_possible = len(fixes) > 1 and are_apart(edit for fix in fixes for edit in fix.edits)
    if is_possible and monotonic() < end:
        # Several values may change together; a remedy for only one of them then does not help.
        became.update(dict.fromkeys(together, await _became(prover, base, finding, [fixes], end)))
    return became


async def _became(
    prover: EditProver, base: ExperimentState, finding: Finding, tries: Sequence[Sequence[Fix]], end: float
) -> RemedyOutcome:
    """Run the program with each set of fixes, until one set helps or the time is over."""
    became = RemedyOutcome("unknown")
    for fixes in tries:
        if monotonic() >= end:
            break
        after = await prover.with_fixes(base, fixes)
        if after.failure:
            continue
        if helps(finding, base.report, after.report):
            return RemedyOutcome("helps")
        became = RemedyOutcome("fails", new_error(finding, base.report, after.report))
    return became


def _ways(report: Report, finding: Finding, remedy: Remedy) -> Sequence[Fix]:
    alone = replace(finding, advice=(Advice("", (remedy,)),))
    return [*recompilations(alone, RuleContext(report, report.files))][:_MOST_WAYS]


def _left(finding: Finding, outcomes: RemedyOutcomes) -> Finding:
    """Return a finding with the advice that helped or was not tried.

    The results of ways out are added to the finding's hints.
    """
    advice: list[Advice] = []
    is_helped = False
    for item in finding.advice:
        became = {
            remedy: outcomes.remedies.get((_key(finding), remedy), RemedyOutcome("unknown"))
            for remedy in item.remedies
        }
        helping = [remedy for remedy, one in became.items() if one.outcome == "helps"]
        unknown = [remedy for remedy, one in became.items() if one.outcome == "unknown"]
        raising = [remedy for remedy, one in became.items() if one.then]
        if helping:
            is_helped = True
            advice += [replace(one, helps=True) for one in left_of(item, helping)]
        elif unknown or not became:
            advice += left_of(item, unknown)
        else:
            advice += [_with_error(one, became) for remedy in raising[:1] for one in left_of(item, [remedy])]
    if is_helped:
        # A remedy helped, so an explanation that nothing can be done is wrong.
        advice = _as_first([item for item in advice if not item.explains])
    given = sentences(finding.advice)
    others = tuple(hint for hint in finding.hints if hint not in given)
    results = outcomes.ways_out.get(_key(finding), ())
    return replace(
        finding,
        advice=tuple(advice),
        hints=_with_results((*others, *sentences(advice)), results, finding.text),
    )


def _as_first(advice: Sequence[Advice]) -> list[Advice]:
    """Remove "too" from the first sentence: the advice that "too" refers to is gone."""
    first, *others = advice
    return [replace(first, sentence=first.sentence.replace("`, too: ", "`: ", 1)), *others]


def _with_error(advice: Advice, became: Mapping[Remedy, RemedyOutcome]) -> Advice:
    """Add to a piece of advice the error that occurs when the advice is followed.

    This error may be the only remaining problem.
    """
    then = next(one.then for one in became.values() if one.then)
    return replace(advice, sentence=f"{advice.sentence} With it, {then}.", helps=True)


def _with_results(hints: Sequence[str], results: Sequence[TryResult], text: str) -> tuple[str, ...]:
    """Put the results of tries before the hints; drop hints that name the same code.

    If a try helped, torch's own hints, which are part of ``text``, are left out.
    """
    given = [item.sentence for item in results if item.sentence]
    if any(item.sentence and item.whole for item in results):
        return tuple(given)
    is_mended = any(item.helps for item in results)
    left = (hint for hint in hints if not any(_is_same(hint, item) for item in results))
    return *given, *(hint for hint in left if not (is_mended and hint in text))


def _is_same(hint: str, result: TryResult) -> bool:
    return bool(result.names) and all(name in hint for name in result.names)
