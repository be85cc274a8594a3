"""Advice is tried: the program runs with it, and what does not help is dropped.

So is what may end an error, advice or not (``fixes/rules/ways_out.py``): what helped is told.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Final, Literal, TypeAlias

from ..report.model import Finding, Report
from ..text.messages import counted
from ..text.remedies import Advice, Remedy, left_of, sentences
from ..workspace.positions import Span
from .changes import counts_of, drifts_of, gone, worse
from .experiments import How, State
from .model import Context, Fix
from .proof import Prover
from .rules.recompilations import recompilations
from .rules.ways_out import WayOut, ways_out

Outcome: TypeAlias = Literal["helps", "fails", "unknown"]
_Key: TypeAlias = tuple[str, str, Span]


@dataclass(frozen=True, slots=True)
class Told:
    """What a run with a way out has shown, as a sentence; empty if it did not help.

    ``names`` is the code by which hints name the same.
    """

    names: tuple[str, ...]
    sentence: str = ""
    whole: bool = False
    """Whether it says all that is to be written: then other hints say less."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What became of remedies, and of ways out, by the finding that each is for."""

    remedies: Mapping[tuple[_Key, Remedy], Outcome] = field(default_factory=dict)
    ways_out: Mapping[_Key, tuple[Told, ...]] = field(default_factory=dict)


_LONGEST: Final = 20.0
"""The seconds that a run may take, with its imports, and after which no other try begins."""
_GOES_ON: Final = ("finished", "exited")
_LONGEST_OF_BREAKS: Final = 8.0
"""The seconds after which no other try against a graph break begins: the program works all the same."""
_AT_ITS_END: Final = (*_GOES_ON, "raised")
_MOST_WAYS: Final = 2
"""The number of edits that are tried of a remedy, and of ways out that are told of one finding."""
_DISABLE: Final = "TORCHDYNAMO_DISABLE=1"
"""What torch's hints name to run a program uncompiled."""
_PASSES: Final = "Uncompiled, the program gets to its end."
_FAILS_TOO: Final = "Uncompiled, the program fails in the same way."


def can_be_tried(report: Report) -> bool:
    """Tell whether to try a report's advice: it names edits, the run is short, and nobody notices another."""
    is_short = report.status in _AT_ITS_END and report.seconds <= _LONGEST
    return is_short and not report.reaches_others and any(_tries(report, item) for item in report.findings)


async def outcomes_of(prover: Prover, report: Report) -> Outcomes:
    """Run the program with what may help against each finding of a report, for as long as there is time."""
    base = State({text.filename: text.text for text in prover.plan.texts}, report, "", Path())
    end = monotonic() + _LONGEST
    again = await prover.as_it_is()
    if again.failure or _to_try(again.report) != _to_try(report):
        return Outcomes()  # each run of it differs
    remedies: dict[tuple[_Key, Remedy], Outcome] = {}
    ways: dict[_Key, tuple[Told, ...]] = {}
    for finding in report.findings:
        became = await _outcomes(prover, base, finding, end)
        remedies.update({(_key(finding), remedy): outcome for remedy, outcome in became.items()})
    for finding in (item for item in report.findings if item.severity == "error"):
        ways[_key(finding)] = tuple([told async for told in _told(prover, base, finding, end)])
    end = min(end, monotonic() + _LONGEST_OF_BREAKS)
    for finding in (item for item in report.findings if item.kind == "graph-break"):
        ways[_key(finding)] = tuple([told async for told in _told(prover, base, finding, end)])
    return Outcomes(remedies, ways)


def with_outcomes(report: Report, outcomes: Outcomes) -> Report:
    """Return a report without failed advice, and without "(Not tried.)" on advice that helped."""
    return replace(report, findings=tuple(_left(finding, outcomes) for finding in report.findings))


def _to_try(report: Report) -> Counter[_Key]:
    return Counter(_key(finding) for finding in report.findings if finding.advice or _tries(report, finding))


def _tries(report: Report, finding: Finding) -> bool:
    """Tell whether there is something to try against a finding."""
    return bool(finding.remedies or ways_out(finding, Context(report, report.files)))


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


async def _outcomes(prover: Prover, base: State, finding: Finding, end: float) -> Mapping[Remedy, Outcome]:
    """Run the program with each remedy that the advice on a finding names."""
    ways = {remedy: _ways(base.report, finding, remedy) for remedy in finding.remedies}
    became: dict[Remedy, Outcome] = {}
    for remedy, fixes in ways.items():
        if monotonic() < end:
            became[remedy] = await _outcome(prover, base, finding, [[fix] for fix in fixes], end)
    together = [remedy for remedy in _first_remedies(finding) if became.get(remedy) == "fails"]
    fixes = [ways[remedy][0] for remedy in together]
    if len(fixes) > 1 and _are_apart(fixes) and monotonic() < end:
        # Of values that change together, one alone helps nothing.
        became.update(dict.fromkeys(together, await _outcome(prover, base, finding, [fixes], end)))
    return became


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
    goes_on = before.status == "raised" and after.status in _GOES_ON
    return goes_on or not worse(before, after, drifts)


def _ways(report: Report, finding: Finding, remedy: Remedy) -> Sequence[Fix]:
    alone = replace(finding, advice=(Advice("", (remedy,)),))
    return [*recompilations(alone, Context(report, report.files))][:_MOST_WAYS]


async def _told(prover: Prover, base: State, finding: Finding, end: float) -> AsyncIterator[Told]:
    """Run the program with each way out of an error or a break, and yield what that has shown."""
    plain = await _uncompiled(prover, base, finding) if monotonic() < end else ""
    left = deque(ways_out(finding, Context(base.report, base.report.files)))
    helping: list[WayOut] = []
    while left and monotonic() < end and len(helping) < _MOST_WAYS:
        way = left.popleft()
        is_needless = any(
            set(less.edits).issubset(way.edits) or less.kind == way.kind == "line" for less in helping
        )
        if is_needless or (plain == _FAILS_TOO and way.kind != "in-place"):
            continue
        after = await prover.with_fixes(base, [way.fix])
        sentence = "" if after.failure else _shown(way, finding, base.report, after.report)
        if sentence and way.parts:
            left.extendleft(reversed(way.parts))
        elif not (after.failure or way.parts):
            helping += [way] if sentence else []
            yield Told(way.names, sentence, whole=way.kind == "line")
    if plain and not (helping and plain == _FAILS_TOO):
        yield Told((_DISABLE,), plain)


async def _uncompiled(prover: Prover, base: State, finding: Finding) -> str:
    """Say how the program ends uncompiled where an error ended it that need not be the compiler's."""
    is_open = finding.kind == "target-error" or any(_DISABLE in hint for hint in finding.hints)
    if finding.severity != "error" or not is_open or base.report.status != "raised":
        return ""
    plain = await prover.state(base.texts, How(uncompiled=True))
    if plain.report.status in _GOES_ON:
        return _PASSES
    same = {item.message for item in plain.report.findings if item.kind == finding.kind}
    return _FAILS_TOO if plain.report.status == "raised" and finding.message in same else ""


def _shown(way: WayOut, finding: Finding, before: Report, after: Report) -> str:
    """Say what a run with a way out has shown; empty if it did not help."""
    is_error = finding.severity == "error"
    if not _helps(finding, before, after) and not (is_error and _goes_on(finding, before, after)):
        return ""
    breaks = counts_of(after).breaks
    left = f", with {counted(breaks, 'graph break')}" if is_error and breaks else ""
    gone = f"this {'error' if is_error else 'break'} is gone"
    shown = "the program gets to its end" if is_error and before.status == "raised" else gone
    return f"{way.change}, {shown}{left}.{way.cost and f' {way.cost}'}"


def _goes_on(finding: Finding, before: Report, after: Report) -> bool:
    """Tell whether a program goes on where an error ended it, or does without one that it caught."""
    if before.status == "raised":
        return after.status in _GOES_ON
    errors = [
        Counter(item.message for item in one.findings if item.severity == "error") for one in (before, after)
    ]
    return after.status == before.status and errors[1] <= errors[0] - Counter([finding.message])


def _left(finding: Finding, outcomes: Outcomes) -> Finding:
    """Leave the advice on a finding that helped, or else what was not tried."""
    advice: list[Advice] = []
    for item in finding.advice:
        became = {
            remedy: outcomes.remedies.get((_key(finding), remedy), "unknown") for remedy in item.remedies
        }
        helping = [remedy for remedy, outcome in became.items() if outcome == "helps"]
        unknown = [remedy for remedy, outcome in became.items() if outcome == "unknown"]
        if helping:
            advice += [replace(one, helps=True) for one in left_of(item, helping)]
        elif unknown or not became:
            advice += left_of(item, unknown)
    given = sentences(finding.advice)
    others = tuple(hint for hint in finding.hints if hint not in given)
    told = outcomes.ways_out.get(_key(finding), ())
    return replace(finding, advice=tuple(advice), hints=_with_told((*others, *sentences(advice)), told))


def _with_told(hints: Sequence[str], told: Sequence[Told]) -> tuple[str, ...]:
    """Put what was shown in the place of hints that say the same or less, or were refuted."""
    shown = [item.sentence for item in told if item.sentence]
    if any(item.sentence and item.whole for item in told):
        return tuple(shown)
    left = [hint for hint in hints if not any(all(name in hint for name in item.names) for item in told)]
    return *shown, *left
