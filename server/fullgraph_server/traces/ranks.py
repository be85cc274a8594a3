"""One rank read on its own, and findings about ranks.

The findings are about ranks without a report, and ranks whose version of torch or clock differs from most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar, cast

from fullgraph_compiler.trace import read_head

from ..compare.ranks import rank_words
from ..report.model import Finding, Report
from ..text.messages import counted
from ..workspace.positions import Span
from .logs import EMPTY, MOST_LOGS, NO_TRACE, UNREADABLE, LogFile, NoTraceError, SilentServerError
from .places import at_hand
from .reading import ReadOptions, read_report

_YEAR: Final = timedelta(days=366)
_Value = TypeVar("_Value", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RankResult:
    """The result of reading a rank: its report, or the problem that prevented it.

    ``began`` is a time on the clock of the rank's machine. ``silent`` is true if the remote server that holds
    the log does not answer.
    """

    report: Report | None
    began: datetime | None = None
    problem: str = ""
    silent: bool = False


def read_rank(log: LogFile, reading: ReadOptions, target: str, keep: bool = False) -> RankResult:
    """Read the log of one rank; can run in any process.

    An error becomes the ``problem`` of the result. ``keep`` keeps the copy of a remote log.
    """
    try:
        with at_hand(log, keep) as here:
            head = read_head(here.path)
            if head is None:
                return RankResult(None, problem=NO_TRACE if here.path.stat().st_size else EMPTY)
            return RankResult(read_report(here, reading, target), head.began)
    except NoTraceError as error:
        # The path is removed, so that ranks with the same problem share one finding.
        problem = str(error).replace(log.shown, "the log").rstrip(".")
        return RankResult(None, problem=problem, silent=isinstance(error, SilentServerError))
    except OSError as error:
        return RankResult(None, problem=f"{UNREADABLE}{error.strerror or error}")


def shared(item: RankResult, seen: dict[Hashable, Any]) -> RankResult:
    """Replace equal parts of several ranks' reports by one object, to save memory."""
    if (report := item.report) is None:
        return item

    def once(part: _Value) -> _Value:
        return cast(_Value, seen.setdefault(part, part))

    files = {
        name: file and seen.setdefault((name, file.text, file.cells), file)
        for name, file in report.files.items()
    }
    frames = tuple(
        once(
            replace(
                frame,
                guards=once(frame.guards),
                traced=once(frame.traced),
                schedules=once(frame.schedules),
                estimates=once(frame.estimates),
            )
        )
        for frame in report.frames
    )
    findings = tuple(map(once, report.findings))
    return replace(item, report=replace(report, findings=findings, frames=frames, files=files))


def findings_on_ranks(place: str, read: Mapping[int, RankResult]) -> Iterator[Finding]:
    """Yield findings about ranks that were not read or differ in torch or clock."""
    for problem, ranks in _grouped({rank: item.problem for rank, item in read.items() if not item.report}):
        yield _finding(place, ranks, f"{'was' if len(ranks) == 1 else 'were'} not read: {problem}")
    gaps = sorted(set(range(max(read))) - set(read)) if max(read) < MOST_LOGS else ()
    if gaps:
        yield _finding(
            place,
            gaps,
            f"{'has' if len(gaps) == 1 else 'have'} no log",
            "A process that ends without compiling anything writes no log. Or the log was not copied.",
        )
    reports = {rank: item.report for rank, item in read.items() if item.report}
    versions = _grouped({rank: report.torch for rank, report in reports.items() if report.torch})
    for version, ranks in versions[1:]:
        message = f"ran torch {version}, and {rank_words(versions[0][1])} torch {versions[0][0]}"
        yield _finding(place, ranks, message, "Another version of torch breaks graphs at other places.")
    yield from _apart(place, {rank: item.began for rank, item in read.items() if item.began})


def _apart(place: str, times: Mapping[int, datetime]) -> Iterator[Finding]:
    """Yield findings about ranks that begin hours before or after the median rank."""
    middle = sorted(times.values())[len(times) // 2 : len(times) // 2 + 1]
    hours = {rank: _hours(time - middle[0]) for rank, time in times.items()}
    for apart, ranks in _grouped({rank: apart for rank, apart in hours.items() if apart}):
        yield _finding(
            place,
            ranks,
            f"{'begins' if len(ranks) == 1 else 'begin'} {counted(abs(apart), 'hour')} "
            f"{'before' if apart < 0 else 'after'} the median rank, by the clocks of the machines",
            "Clocks or time zones differ, or the log is from another run: use a folder for each run.",
        )


def _hours(apart: timedelta) -> int:
    """Convert the difference of two times without years to whole hours.

    It is the shorter of the two possible differences: New Year can be between the times.
    """
    half = _YEAR / 2
    return int(((apart + half) % _YEAR - half) / timedelta(hours=1))


def _grouped(values: Mapping[int, _Value]) -> list[tuple[_Value, list[int]]]:
    """Return each value with its ranks, the most frequent value first."""
    grouped: defaultdict[_Value, list[int]] = defaultdict(list)
    for rank, value in values.items():
        grouped[value].append(rank)
    return sorted(grouped.items(), key=lambda item: -len(item[1]))


def problem_finding(place: str, message: str, *hints: str, ranks: Sequence[int] = ()) -> Finding:
    """Return a warning about a trace, placed on the first row of the trace's path."""
    span = Span(place, 1, 1, 1, 1)
    return Finding("target-error", "target-error", "warning", message, span, hints=hints, ranks=tuple(ranks))


def _finding(place: str, ranks: Sequence[int], message: str, *hints: str) -> Finding:
    return problem_finding(place, f"{rank_words(ranks).capitalize()} {message}", *hints, ranks=ranks)
