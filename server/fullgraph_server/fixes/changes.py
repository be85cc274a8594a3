"""The reports of runs before and after an edit, compared finding by finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, TypeAlias

from ..kinds import KINDS, FindingKind
from ..report.model import Finding, FrameReport, Report
from ..text.messages import counted
from ..workspace.drift import TextDrift
from .model import RunCounts
from .splitting.watching import whole_name

Drifts: TypeAlias = Callable[[str], TextDrift]
"""A function that returns, for a file name, how the file's text changed between the two runs."""

LEAST_KEPT: Final = 0.7
"""The share of the compiled lines that an edit must leave compiled if its part has graph breaks."""
_LEAST_WITHOUT_BREAKS: Final = 0.25
"""This share if the part has none."""
_MOST_OF_NEW: Final = 2
"""How often a function with lines that ran eagerly before may recompile, for example for another size."""
_Key: TypeAlias = tuple[str, str, str, int]

FIXABLE: Final[tuple[FindingKind, ...]] = ("graph-break", "recompile", "recompile-limit")
"""The kinds of findings that have fixes."""


def fixable(report: Report) -> list[Finding]:
    """Return the findings that may have fixes: graph breaks first, then by frequency."""
    own = [item for item in report.findings if item.kind in FIXABLE and not item.of_run]
    return sorted(own, key=lambda item: (item.kind != "graph-break", -item.count))


def counts_of(report: Report) -> RunCounts:
    """Count the graph breaks, graphs and recompilations of a run."""
    breaks = sum(finding.kind == "graph-break" for finding in report.findings)
    recompiles = sum(finding.times for finding in report.findings if finding.kind == "recompile")
    return RunCounts(breaks, sum(frame.graphs for frame in report.frames), recompiles)


def drifts_of(before: Report, after: Report) -> Drifts:
    """Return a function that maps a file name to the file's changes between two runs."""
    return cache(lambda filename: TextDrift(before.files.get(filename), after.files.get(filename)))


def gone(finding: Finding, before: Report, after: Report, drifts: Drifts) -> str:
    """Say that a finding of the earlier run still exists; return "" if it is gone.

    A finding at the same place does not count if a neighbour had the same message before the edit. A graph
    break of another kind that begins at the same column does count: the edit did not remove the break. A
    recompilation is gone only if the number of recompilations decreased, because torch names only one failed
    guard and may name a different guard in the next run.
    """
    was, now = counts_of(before).recompiles, counts_of(after).recompiles
    if finding.kind == "recompile" and now >= was:
        return f"{counted(now, 'recompilation')} with this edit, {was} without it"
    if finding.kind == "recompile-limit" and sum(_limits(after).values()) >= sum(_limits(before).values()):
        return "as many functions reach the recompile limit with this edit"
    place = _moved(finding, drifts)
    neighbours = Counter(item.message for item in before.findings if _moved(item, drifts) == place)
    neighbours[finding.message] -= 1
    left = Counter(item.message for item in after.findings if _key(item) == place)
    if left - neighbours:
        return f"{finding.message}, even with this edit"
    known = {item.code for item in before.findings if _moved(item, drifts)[2:] == place[2:]}
    for item in after.findings if finding.kind == "graph-break" else ():
        is_there = _key(item)[2:] == place[2:] and item.span.column == finding.span.column
        if item.kind == "graph-break" and is_there and item.code not in known:
            return f"the graph still breaks here with this edit: {item.message}"
    return ""


def gone_along(finding: Finding, before: Report, after: Report, drifts: Drifts) -> tuple[Finding, ...]:
    """Return the other findings that disappear together with a finding."""
    return tuple(
        item for item in fixable(before) if item is not finding and not gone(item, before, after, drifts)
    )


def worse(before: Report, after: Report, drifts: Drifts) -> str:
    """Say in one clause what an edit made worse; return "" if nothing became worse."""
    if after.status != before.status:
        return f"the program {_ENDS.get(after.status or '', 'ends')} with this edit"
    for new in _new(before, after, drifts):
        if not _was_hidden(new, before, after, drifts):
            return f"line {_row(after, new)} is new: {new.message}"
    was, now = counts_of(before).recompiles, counts_of(after).recompiles
    if now - _of_new_code(before, after, drifts) > was:
        return f"{counted(now, 'recompilation')} instead of {was}"
    if (function := _split(before, after)) is not None:
        return f"`{function}` has more graphs than before"
    return ""


def uncompiled(before: Report, after: Report) -> str:
    """Say how many lines an edit takes out of graphs; return "" if enough is still compiled.

    Lines or operations have to be left: a line may call a large module. If the new functions have no graph
    break, few are enough: the rest prepares data, for instance.
    """
    known = {(frame.filename, frame.qualname) for frame in before.frames}
    parts = [frame for frame in after.frames if (frame.filename, frame.qualname) not in known]
    is_whole = parts and not any(frame.breaks for frame in parts)
    if share_compiled(before, after) >= (_LEAST_WITHOUT_BREAKS if is_whole else LEAST_KEPT):
        return ""
    was, now = len(rows_in_graphs(before)), len(rows_in_graphs(after))
    return f"only {now} of {counted(was, 'line')} in graphs are still compiled"


def share_compiled(before: Report, after: Report) -> float:
    """Return which share of the lines or of the operations in graphs is still there, the larger one."""
    lines, operations = len(rows_in_graphs(before)), _operations(before)
    return max(
        len(rows_in_graphs(after)) / lines if lines else 1.0,
        _operations(after) / operations if operations else 0.0,
    )


def _operations(report: Report) -> float:
    """Return about how many operations the graphs have, without those of recompilations."""
    graphs = ((frame, max(frame.graphs - frame.recompiles, 1)) for frame in report.frames if frame.graphs)
    return sum(frame.ops * once / frame.graphs for frame, once in graphs)


def rows_in_graphs(report: Report) -> set[tuple[str, int]]:
    """Return the rows of the statements that are in graphs, each with its file."""
    return {(span.filename, span.row) for lines in report.graph_lines if lines.graphs for span in lines.spans}


def revealed(before: Report, after: Report, drifts: Drifts) -> str:
    """Say which graph break an edit reveals on a line that ran eagerly before.

    Return "" if there is none.
    """
    for new in _new(before, after, drifts):
        if _was_eager(new, before, drifts):
            return f"then line {_row(after, new)} breaks the graph: {new.message}"
    return ""


def _row(report: Report, finding: Finding) -> str:
    source = report.files.get(finding.span.filename)
    return source.row_words(finding.span.row) if source else str(finding.span.row)


_ENDS: Final = {
    "raised": "raises an error",
    "crashed": "crashes",
    "timeout": "takes too long",
    "memory": "takes too much memory",
    "finished": "no longer fails",
    "exited": "exits",
    "cancelled": "was stopped",
    "not-started": "does not start",
}


def _new(before: Report, after: Report, drifts: Drifts) -> Iterator[Finding]:
    """Yield the findings of the later run that the earlier run did not have.

    Equal findings are yielded as often as they are new.
    """
    known = Counter(_moved(item, drifts) for item in before.findings if KINDS[item.kind].rejects_edits)
    for item in after.findings:
        is_note = item.kind == "target-error" and item.severity == "information"
        if is_note or not KINDS[item.kind].rejects_edits:
            continue
        if known[_key(item)] > 0:
            known[_key(item)] -= 1
        else:
            yield item


def _was_hidden(new: Finding, before: Report, after: Report, drifts: Drifts) -> bool:
    """Tell whether a new finding was hidden before.

    A graph break was hidden if its line ran eagerly. A recompilation was hidden if there are no more
    recompilations than before: torch names only the first guard that failed, and now names a different guard.
    A reached limit was hidden if the same function reached it before, perhaps as a whole.
    """
    if new.kind == "recompile":
        now, was = counts_of(after).recompiles, counts_of(before).recompiles
        return now - _of_new_code(before, after, drifts) <= was
    if new.kind == "recompile-limit":
        return not _limits(after) - _limits(before)
    return _was_eager(new, before, drifts)


def _was_eager(new: Finding, before: Report, drifts: Drifts) -> bool:
    """Tell whether the line of a new graph break was in no graph before.

    For a line that the edit wrote, this holds if all lines that it replaced were in no graph. The result is
    also true if the graph break itself existed before, but now also occurs in the frame of a caller.
    """
    filename, drift = new.span.filename, drifts(new.span.filename)
    if new.kind != "graph-break":
        return False
    if any(_moved(item, drifts) == _key(new) for item in before.findings):
        return True
    rows = drift.replaced(new.span.row)
    return bool(rows) and not any(
        span.filename == filename and span.row <= row <= span.end_row
        for lines in before.graph_lines
        if lines.graphs
        for span in lines.spans
        for row in rows
    )


def _limits(report: Report) -> Counter[str]:
    """Count the reached recompile limits, by function; the part of a function counts as the function."""
    limits = (item for item in report.findings if item.kind == "recompile-limit")
    return Counter(whole_name(item.message.split("`")[1]) if "`" in item.message else "" for item in limits)


def _of_new_code(before: Report, after: Report, drifts: Drifts) -> int:
    """Count the new recompilations of functions with lines that ran eagerly before, at most a few of each."""
    graphs: Counter[tuple[str, str]] = Counter()
    was: Counter[tuple[str, str]] = Counter()
    now: Counter[tuple[str, str]] = Counter()
    for frame in before.frames:
        graphs[_function(frame)] += frame.graphs
        was[_function(frame)] += frame.recompiles
    new = _with_new_lines(before, after, drifts)
    for frame in after.frames:
        if frame.graphs and (graphs.get(_function(frame)) == 0 or frame in new):
            now[_function(frame)] += frame.recompiles
    return sum(min(times, _MOST_OF_NEW) for times in (now - was).values())


def _with_new_lines(before: Report, after: Report, drifts: Drifts) -> list[FrameReport]:
    """Return the functions with lines in graphs that an edit left unchanged and that ran eagerly before."""
    was = rows_in_graphs(before)
    new = [
        (filename, row)
        for filename, row in rows_in_graphs(after)
        if (old := drifts(filename).earlier(row)) is not None and (filename, old) not in was
    ]
    found: list[FrameReport] = []
    for filename, row in new:
        above = [frame for frame in after.frames if frame.filename == filename and frame.row <= row]
        found += sorted(above, key=lambda frame: frame.row)[-1:]
    return found


def _function(frame: FrameReport) -> tuple[str, str]:
    """Return the file and name of a function; the part of a function counts as the function."""
    return frame.filename, whole_name(frame.qualname)


def _split(before: Report, after: Report) -> str | None:
    """Return a function that has more graphs than before and more than compilations."""
    graphs: Counter[str] = Counter()
    for frame in before.frames:
        graphs[frame.qualname] += frame.graphs
    for frame in after.frames:
        if frame.graphs > max(graphs[frame.qualname], len(frame.compile_ids)):
            return frame.qualname
    return None


def _moved(finding: Finding, drifts: Drifts) -> _Key:
    span = drifts(finding.span.filename).span(finding.span).span
    return finding.kind, finding.code, span.filename, span.row


def _key(finding: Finding) -> _Key:
    return finding.kind, finding.code, finding.span.filename, finding.span.row


def only_in(alone: Report, report: Report) -> str:
    """Say what is wrong only in the run with the whole compiler; otherwise "".

    ``report`` is of a run of the same text that left TorchInductor out.
    """
    problem = worse(report, alone, drifts_of(report, alone))
    if not problem:
        return ""
    new = next(_new_errors(alone, report), "")
    return f"{problem.removesuffix(' with this edit')}{new and f': {new}'}"


def removes_too(base: Report, after: Report, was: Report, now: Report) -> bool:
    """Tell whether an edit leaves fewer breaks and recompilations with the whole compiler, too.

    ``base`` and ``after`` are of runs without TorchInductor, ``was`` and ``now`` of runs with it.
    """
    one, other, first, last = map(counts_of, (base, after, was, now))
    return (other.breaks >= one.breaks or last.breaks < first.breaks) and (
        other.recompiles >= one.recompiles or last.recompiles < first.recompiles
    )


def fails_only_in(alone: Report, report: Report) -> bool:
    """Tell whether the program, or a compilation, fails only in the run with the whole compiler.

    Otherwise the compiler at most compiles more often: it makes some sizes constants.
    """
    return report.status != alone.status or any(_new_errors(alone, report))


def _new_errors(alone: Report, report: Report) -> Iterator[str]:
    known = {(item.kind, item.message) for item in report.findings}
    errors = (item for item in alone.findings if item.severity == "error")
    return (item.message for item in errors if (item.kind, item.message) not in known)
