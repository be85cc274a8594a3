"""Tries of ways out of an error or a break: each is a run of the program, whose result is a sentence."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import monotonic
from typing import Final

from ...report.answers.words import row_of
from ...report.model import Finding, Report
from ...text.messages import counted
from ..changes import counts_of, drifts_of, gone, worse
from ..experiments import CannotTryError, How, State
from ..model import Context
from ..prover import Prover
from .ways_out import WayOut, unwrapped, ways_out

_OF_LINE: Final = ("line", "unshown")
"""The kinds of ways out that write lines anew, of which results have to agree."""
_MOST_HELPING: Final = 2
"""The number of ways out that are told of one finding."""
GOES_ON: Final = ("finished", "exited")
"""The statuses of a run that got to its end."""
_DISABLE: Final = "TORCHDYNAMO_DISABLE=1"
"""What torch's hints name to run a program uncompiled."""
_PASSES: Final = "Uncompiled, the program gets to its end."
_PASSES_UNWRAPPED: Final = "Without `torch.compile`, the program gets to its end."
_FAILS_TOO: Final = "Uncompiled, the program fails in the same way."
_FAILS_OTHERWISE: Final = "Uncompiled, the program fails, too: {message}"


@dataclass(frozen=True, slots=True)
class TryResult:
    """What a run with a way out has shown, as a sentence; empty if it did not help.

    ``names`` is the code by which hints name the same.
    """

    names: tuple[str, ...]
    sentence: str = ""
    helps: bool = False
    whole: bool = False
    """Whether it says all that is to be written: then other hints say less."""


@dataclass(frozen=True, slots=True)
class _UncompiledRun:
    """How a program runs uncompiled: the run, if it gets to its end, and else a sentence on its error."""

    state: State | None = None
    sentence: str = ""


async def try_ways_out(
    prover: Prover, base: State, finding: Finding, again: State, end: float
) -> AsyncIterator[TryResult]:
    """Run the program with each way out of an error or a break, and yield what that has shown.

    ``again`` is a run of the program as it is. No other way out is tried after ``end``, as
    :func:`time.monotonic` counts.
    """
    ways = ways_out(finding, Context(base.report, base.report.files))
    if not ways or monotonic() >= end:
        return
    is_error = finding.severity == "error"
    # An uncompiled run makes exports, too: that it fails says nothing of them.
    is_compiled = is_error and finding.kind != "export-error"
    plain = await _uncompiled(prover, base, finding) if is_compiled else _UncompiledRun(again)
    left = deque(ways if plain.state is not None else ())
    helping: list[WayOut] = []
    while left and monotonic() < end and len(helping) < _MOST_HELPING:
        way = left.popleft()
        if any(_is_enough(less, way) for less in helping):
            continue
        after = await prover.with_fixes(base, [way.fix])
        sentence = "" if after.failure else _result(way, finding, base.report, after)
        must_agree = way.kind in _OF_LINE or base.report.status != "raised"
        if sentence and way.parts:
            left.extendleft(reversed(way.parts))
            continue
        if after.failure or way.parts:
            continue
        if sentence and must_agree and not await _agree(prover, way, plain.state, after):
            continue  # that says nothing against it: results may differ in each run
        helping += [way] if sentence else []
        following = _following(way, base.report, after.report, finding.span.filename)
        yield TryResult(way.names, sentence or following, bool(sentence), whole=way.kind == "line")
    is_open = finding.kind == "target-error" or any(_DISABLE in hint for hint in finding.hints)
    if is_error and is_open and plain.sentence and not base.report.exports:
        yield TryResult((_DISABLE,), "" if helping else plain.sentence)


def _is_enough(less: WayOut, more: WayOut) -> bool:
    """Tell whether a way out that helps makes another one needless: a part of it, or another such line."""
    is_part = set(less.edits).issubset(more.edits)
    return is_part or (less.kind in _OF_LINE and more.kind in _OF_LINE)


def helps(finding: Finding, before: Report, after: Report) -> bool:
    """Tell whether a finding is gone with an edit, and nothing became worse."""
    drifts = drifts_of(before, after)
    if gone(finding, before, after, drifts):
        return False
    goes_on = before.status == "raised" and after.status in GOES_ON
    return goes_on or not worse(before, after, drifts)


def new_error(finding: Finding, before: Report, after: Report) -> str:
    """Say which error ends a program with an edit for a finding, and does not without; empty if none does."""
    if before.status not in GOES_ON or after.status != "raised":
        return ""
    errors = (item for item in after.findings if item.severity == "error")
    error = next((item for item in errors if not _is_known(item, before)), None)
    if error is None:
        return ""
    line = _line(error, before, after, finding.span.filename)
    return f"{line or 'the program'} raises {error.message}"


async def _uncompiled(prover: Prover, base: State, finding: Finding) -> _UncompiledRun:
    """Run the program uncompiled, and where it fails, once more with what ``torch.compile`` is given."""
    plain = await prover.with_fixes(base, [], How(uncompiled=True))
    if _is_at_its_end(plain):
        return _UncompiledRun(plain, _PASSES)
    bare = await prover.with_fixes(base, [unwrapped(base.report.files)], How(uncompiled=True))
    if _is_at_its_end(bare):
        return _UncompiledRun(bare, _PASSES_UNWRAPPED)
    errors = [item for item in plain.report.findings if item.severity == "error"]
    if any((item.kind, item.message) == (finding.kind, finding.message) for item in errors):
        return _UncompiledRun(None, _FAILS_TOO)
    if base.report.status == plain.report.status == "raised" and errors:
        return _UncompiledRun(None, _FAILS_OTHERWISE.format(message=errors[0].message))
    return _UncompiledRun()


async def _agree(prover: Prover, way: WayOut, before: State | None, after: State) -> bool:
    """Tell whether compiled calls give what they gave before, or uncompiled where an error ended them."""
    if before is None:
        return False
    try:
        compared = await prover.compare(before.record, after.record, errors_differ=way.errors_differ)
    except CannotTryError:
        return False
    return not compared.difference


def _is_at_its_end(state: State) -> bool:
    return not state.failure and state.report.status in GOES_ON and not state.exit_code


def _result(way: WayOut, finding: Finding, before: Report, state: State) -> str:
    """Say what a run with a way out has shown; empty if it did not help."""
    is_error, after = finding.severity == "error", state.report
    if not helps(finding, before, after) and not (is_error and _goes_on(finding, before, after)):
        return ""
    counts = counts_of(after)
    if not (counts.graphs or after.exports) or (before.status == "raised" and not _is_at_its_end(state)):
        return ""
    ends_it = is_error and before.status == "raised"
    shown = "the program gets to its end" if ends_it else f"this {'error' if is_error else 'break'} is gone"
    left = f", with {counted(counts.breaks, 'graph break')}" if ends_it and counts.breaks else ""
    fewer = counts_of(before).recompiles - counts.recompiles
    if fewer > 0 and not is_error:
        left = f", and {counted(fewer, 'recompilation')} with it"
    return f"{way.change}, {shown}{left}.{way.cost and f' {way.cost}'}"


def _following(way: WayOut, before: Report, after: Report, filename: str) -> str:
    """Name the error or break that follows if a setting that torch names is not enough, with a hint."""
    if way.kind != "named":
        return ""
    found = (item for item in after.findings if item.severity == "error" or item.kind == "graph-break")
    item = next((item for item in found if not _is_known(item, before)), None)
    if item is None:
        return ""
    line = _line(item, before, after, filename)
    hint = f" {item.hints[0]}" if item.hints else ""
    return f"{way.change} alone, this follows: {item.message}{line and f' ({line})'}.{hint}"


def _is_known(finding: Finding, report: Report) -> bool:
    return any((item.code, item.message) == (finding.code, finding.message) for item in report.findings)


def _line(finding: Finding, before: Report, after: Report, filename: str) -> str:
    """Name the line of a finding of a run with an edit, as it is without, on a finding in a file."""
    source = before.files.get(finding.span.filename)
    if source is None or finding.of_run:
        return ""
    row = drifts_of(before, after)(source.filename).earlier(finding.span.row) or finding.span.row
    return row_of(source, row, filename)


def _goes_on(finding: Finding, before: Report, after: Report) -> bool:
    """Tell whether a program goes on where an error ended it, or does without one that it caught."""
    if before.status == "raised":
        return after.status in GOES_ON
    errors = [
        Counter(item.message for item in one.findings if item.severity == "error") for one in (before, after)
    ]
    return after.status in GOES_ON and errors[1] <= errors[0] - Counter([finding.message])
