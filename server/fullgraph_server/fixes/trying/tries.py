"""Trial runs with the ways out of an error or graph break.

Each trial results in a sentence for the report.
"""

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
from ..experiments import CannotTryError, ExperimentState, RunMode
from ..model import RuleContext
from ..prover import EditProver
from .ways_out import WayOut, unwrapped, ways_out

_OF_LINE: Final = ("line", "unshown")
"""The kinds of ways out that rewrite lines: with them, calls must return the same results as before."""
_MOST_HELPING: Final = 2
"""The number of helpful ways out that are reported for one finding."""
GOES_ON: Final = ("finished", "exited")
"""The statuses of a run that finished without an error."""
_DISABLE: Final = "TORCHDYNAMO_DISABLE=1"
"""The environment variable with which torch's hints run a program uncompiled."""
_PASSES: Final = "Uncompiled, the program finishes."
_PASSES_UNWRAPPED: Final = "Without `torch.compile`, the program finishes."
_FAILS_TOO: Final = "Uncompiled, the program fails in the same way."
_FAILS_OTHERWISE: Final = "Uncompiled, the program fails, too: {message}"


@dataclass(frozen=True, slots=True)
class TryResult:
    """The result of a run with a way out.

    ``sentence`` describes the result; it is empty if the way out did not help. ``names`` are the code
    snippets by which hints name the same way out.
    """

    names: tuple[str, ...]
    sentence: str = ""
    helps: bool = False
    whole: bool = False
    """Whether the sentence contains all code to write: then the sentence replaces all other hints."""


@dataclass(frozen=True, slots=True)
class _UncompiledRun:
    """The uncompiled run of a program: its state, and a sentence on its outcome.

    ``state`` is ``None`` unless the run finishes.
    """

    state: ExperimentState | None = None
    sentence: str = ""


async def try_ways_out(
    prover: EditProver, base: ExperimentState, finding: Finding, again: ExperimentState, end: float
) -> AsyncIterator[TryResult]:
    """Run the program with each way out of an error or graph break; yield the results.

    ``again`` is a run of the unmodified program. No further way out is tried after ``end``, a time of
    :func:`time.monotonic`.
    """
    ways = ways_out(finding, RuleContext(base.report, base.report.files))
    if not ways or monotonic() >= end:
        return
    is_error = finding.severity == "error"
    # An uncompiled run still exports, so a failure of this run says nothing about the export.
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
            continue  # not an objection to the way out: results may differ in each run
        helping += [way] if sentence else []
        following = _following(way, base.report, after.report, finding.span.filename)
        yield TryResult(way.names, sentence or following, bool(sentence), whole=way.kind == "line")
    is_open = finding.kind == "target-error" or any(_DISABLE in hint for hint in finding.hints)
    if is_error and is_open and plain.sentence and not base.report.exports:
        yield TryResult((_DISABLE,), "" if helping else plain.sentence)


def _is_enough(less: WayOut, more: WayOut) -> bool:
    """Tell whether the helpful way out ``less`` makes trying ``more`` needless.

    This is so if ``less`` is a part of ``more``, or if both rewrite lines.
    """
    is_part = set(less.edits).issubset(more.edits)
    return is_part or (less.kind in _OF_LINE and more.kind in _OF_LINE)


def helps(finding: Finding, before: Report, after: Report) -> bool:
    """Tell whether an edit removes a finding and makes nothing worse."""
    drifts = drifts_of(before, after)
    if gone(finding, before, after, drifts):
        return False
    goes_on = before.status == "raised" and after.status in GOES_ON
    return goes_on or not worse(before, after, drifts)


def new_error(finding: Finding, before: Report, after: Report) -> str:
    """Say which error ends the program only with the edit; return "" if there is none."""
    if before.status not in GOES_ON or after.status != "raised":
        return ""
    errors = (item for item in after.findings if item.severity == "error")
    error = next((item for item in errors if not _is_known(item, before)), None)
    if error is None:
        return ""
    line = _line(error, before, after, finding.span.filename)
    return f"{line or 'the program'} raises {error.message}"


async def _uncompiled(prover: EditProver, base: ExperimentState, finding: Finding) -> _UncompiledRun:
    """Run the program uncompiled; if it fails, run it again without ``torch.compile``."""
    plain = await prover.with_fixes(base, [], RunMode(uncompiled=True))
    if _is_at_its_end(plain):
        return _UncompiledRun(plain, _PASSES)
    bare = await prover.with_fixes(base, [unwrapped(base.report.files)], RunMode(uncompiled=True))
    if _is_at_its_end(bare):
        return _UncompiledRun(bare, _PASSES_UNWRAPPED)
    errors = [item for item in plain.report.findings if item.severity == "error"]
    if any((item.kind, item.message) == (finding.kind, finding.message) for item in errors):
        return _UncompiledRun(None, _FAILS_TOO)
    if base.report.status == plain.report.status == "raised" and errors:
        return _UncompiledRun(None, _FAILS_OTHERWISE.format(message=errors[0].message))
    return _UncompiledRun()


async def _agree(
    prover: EditProver, way: WayOut, before: ExperimentState | None, after: ExperimentState
) -> bool:
    """Tell whether calls with a way out return the same results as the run ``before``.

    Return ``False`` if there is no earlier run or if the results cannot be compared.
    """
    if before is None:
        return False
    try:
        compared = await prover.compare(before.record, after.record, errors_differ=way.errors_differ)
    except CannotTryError:
        return False
    return not compared.difference


def _is_at_its_end(state: ExperimentState) -> bool:
    return not state.failure and state.report.status in GOES_ON and not state.exit_code


def _result(way: WayOut, finding: Finding, before: Report, state: ExperimentState) -> str:
    """Describe the result of a run with a way out; return "" if it did not help."""
    is_error, after = finding.severity == "error", state.report
    if not helps(finding, before, after) and not (is_error and _goes_on(finding, before, after)):
        return ""
    counts = counts_of(after)
    if not (counts.graphs or after.exports) or (before.status == "raised" and not _is_at_its_end(state)):
        return ""
    ends_it = is_error and before.status == "raised"
    shown = "the program finishes" if ends_it else f"this {'error' if is_error else 'break'} is gone"
    left = f", with {counted(counts.breaks, 'graph break')}" if ends_it and counts.breaks else ""
    fewer = counts_of(before).recompiles - counts.recompiles
    if fewer > 0 and not is_error:
        left = f", and {counted(fewer, 'recompilation')} with it"
    return f"{way.change}, {shown}{left}.{way.cost and f' {way.cost}'}"


def _following(way: WayOut, before: Report, after: Report, filename: str) -> str:
    """Describe the next error or graph break once a setting that torch named is made.

    The hint of that error or break is added. Return "" if there is no such error or break.
    """
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
    """Name the line of a finding in the edited run by its row in the original text.

    ``filename`` is the file of the finding that will show the name of the line.
    """
    source = before.files.get(finding.span.filename)
    if source is None or finding.of_run:
        return ""
    row = drifts_of(before, after)(source.filename).earlier(finding.span.row) or finding.span.row
    return row_of(source, row, filename)


def _goes_on(finding: Finding, before: Report, after: Report) -> bool:
    """Tell whether a program that an error ended now finishes.

    If the program caught the error, the error must no longer occur.
    """
    if before.status == "raised":
        return after.status in GOES_ON
    errors = [
        Counter(item.message for item in one.findings if item.severity == "error") for one in (before, after)
    ]
    return after.status in GOES_ON and errors[1] <= errors[0] - Counter([finding.message])
