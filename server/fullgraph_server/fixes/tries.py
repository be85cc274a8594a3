"""Tries of ways out of an error or a break: the program runs with each, and what that has shown is told."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import monotonic
from typing import Final

from ..report.model import Finding, Report
from ..text.messages import counted
from .changes import counts_of, drifts_of, gone, worse
from .experiments import How, State
from .model import Context
from .proof import Prover
from .rules.ways_out import WayOut, unwrapped, ways_out

_MOST_HELPING: Final = 2
"""The number of ways out that are told of one finding."""
_GOES_ON: Final = ("finished", "exited")
_DISABLE: Final = "TORCHDYNAMO_DISABLE=1"
"""What torch's hints name to run a program uncompiled."""
_PASSES: Final = "Uncompiled, the program gets to its end."
_FAILS_TOO: Final = "Uncompiled, the program fails in the same way."


@dataclass(frozen=True, slots=True)
class Told:
    """What a run with a way out has shown, as a sentence; empty if it did not help.

    ``names`` is the code by which hints name the same.
    """

    names: tuple[str, ...]
    sentence: str = ""
    whole: bool = False
    """Whether it says all that is to be written: then other hints say less."""


async def tried(prover: Prover, base: State, finding: Finding, end: float) -> AsyncIterator[Told]:
    """Run the program with each way out of an error or a break, and yield what that has shown.

    No other run begins after ``end``, as :func:`time.monotonic` counts.
    """
    plain = await _uncompiled(prover, base, finding) if monotonic() < end else ""
    left = deque(ways_out(finding, Context(base.report, base.report.files)))
    helping: list[WayOut] = []
    while left and monotonic() < end and len(helping) < _MOST_HELPING:
        way = left.popleft()
        is_needless = any(
            set(less.edits).issubset(way.edits) or less.kind == way.kind == "line" for less in helping
        )
        if is_needless or plain == _FAILS_TOO:
            continue
        after = await prover.with_fixes(base, [way.fix])
        sentence = "" if after.failure else _shown(way, finding, base.report, after.report)
        if sentence and way.parts:
            left.extendleft(reversed(way.parts))
        elif not (after.failure or way.parts):
            helping += [way] if sentence else []
            following = _following(way, base.report, after.report)
            yield Told(way.names, sentence or following, whole=way.kind == "line")
    if plain:
        yield Told((_DISABLE,), "" if helping else plain)


def helps(finding: Finding, before: Report, after: Report) -> bool:
    """Tell whether a finding is gone with an edit, and nothing became worse."""
    drifts = drifts_of(before, after)
    if gone(finding, before, after, drifts):
        return False
    goes_on = before.status == "raised" and after.status in _GOES_ON
    return goes_on or not worse(before, after, drifts)


def new_error(before: Report, after: Report) -> str:
    """Say which error ends a program with an edit that got to its end without; empty if none does."""
    if before.status not in _GOES_ON or after.status != "raised":
        return ""
    errors = (item for item in after.findings if item.severity == "error")
    error = next((item for item in errors if not _is_known(item, before)), None)
    return f"{_line(error, before, after)} raises {error.message}" if error is not None else ""


async def _uncompiled(prover: Prover, base: State, finding: Finding) -> str:
    """Say how the program ends uncompiled where an error ended it that need not be the compiler's.

    ``torch.compile`` then returns each module itself: what wraps it may be the cause.
    """
    is_open = finding.kind == "target-error" or any(_DISABLE in hint for hint in finding.hints)
    if finding.severity != "error" or not is_open or base.report.status != "raised":
        return ""
    plain = await prover.with_fixes(base, [unwrapped(base.report.files)], How(uncompiled=True))
    if plain.report.status in _GOES_ON:
        return _PASSES
    same = {item.message for item in plain.report.findings if item.kind == finding.kind}
    return _FAILS_TOO if plain.report.status == "raised" and finding.message in same else ""


def _shown(way: WayOut, finding: Finding, before: Report, after: Report) -> str:
    """Say what a run with a way out has shown; empty if it did not help."""
    is_error = finding.severity == "error"
    if not helps(finding, before, after) and not (is_error and _goes_on(finding, before, after)):
        return ""
    breaks = counts_of(after).breaks
    left = f", with {counted(breaks, 'graph break')}" if is_error and breaks else ""
    gone = f"this {'error' if is_error else 'break'} is gone"
    shown = "the program gets to its end" if is_error and before.status == "raised" else gone
    return f"{way.change}, {shown}{left}.{way.cost and f' {way.cost}'}"


def _following(way: WayOut, before: Report, after: Report) -> str:
    """Say what comes next with a setting that torch names and that does not suffice, with its first hint."""
    if way.kind != "named":
        return ""
    found = (item for item in after.findings if item.severity == "error" or item.kind == "graph-break")
    item = next((item for item in found if not _is_known(item, before)), None)
    if item is None:
        return ""
    hint = f" {item.hints[0]}" if item.hints else ""
    return f"{way.change}, the next is: {item.message} ({_line(item, before, after)}).{hint}"


def _is_known(finding: Finding, report: Report) -> bool:
    return any((item.code, item.message) == (finding.code, finding.message) for item in report.findings)


def _line(finding: Finding, before: Report, after: Report) -> str:
    """Name the line of a finding of a run with an edit, as it is without."""
    filename, row = finding.span.filename, finding.span.row
    source = before.files.get(filename)
    row = drifts_of(before, after)(filename).earlier(row) or row
    return f"line {source.row_words(row) if source else row}"


def _goes_on(finding: Finding, before: Report, after: Report) -> bool:
    """Tell whether a program goes on where an error ended it, or does without one that it caught."""
    if before.status == "raised":
        return after.status in _GOES_ON
    errors = [
        Counter(item.message for item in one.findings if item.severity == "error") for one in (before, after)
    ]
    return after.status == before.status and errors[1] <= errors[0] - Counter([finding.message])
