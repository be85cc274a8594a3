"""One rank read on its own, and what ranks have no report or differ in beside what they compiled."""

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
from .reading import Reading, read_report

_YEAR: Final = timedelta(days=366)
_Value = TypeVar("_Value", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RankRead:
    """A rank that was read: its report, or why there is none. ``began`` is on the clock of its machine.

    ``silent`` says that the server of its log does not answer.
    """

    report: Report | None
    began: datetime | None = None
    problem: str = ""
    silent: bool = False


def read_rank(log: LogFile, reading: Reading, target: str, keep: bool = False) -> RankRead:
    """Read the log of one rank, in whatever process; what fails is told of this rank alone."""
    try:
        with at_hand(log, keep) as here:
            head = read_head(here.path)
            if head is None:
                return RankRead(None, problem=NO_TRACE if here.path.stat().st_size else EMPTY)
            return RankRead(read_report(here, reading, target), head.began)
    except NoTraceError as error:
        # The same words for each log: ranks with the same problem are told together.
        problem = str(error).replace(log.shown, "the log").rstrip(".")
        return RankRead(None, problem=problem, silent=isinstance(error, SilentServerError))
    except OSError as error:
        return RankRead(None, problem=f"{UNREADABLE}{error.strerror or error}")


def shared(item: RankRead, seen: dict[Hashable, Any]) -> RankRead:
    """Let equal parts of the reports of several ranks be one object: most of a thousand are alike."""
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


def findings_on_ranks(place: str, read: Mapping[int, RankRead]) -> Iterator[Finding]:
    """Yield findings on ranks that were not read, and on those whose torch or clock is not the others'."""
    for problem, ranks in _grouped({rank: item.problem for rank, item in read.items() if not item.report}):
        yield _finding(place, ranks, f"{'was' if len(ranks) == 1 else 'were'} not read: {problem}")
    gaps = sorted(set(range(max(read))) - set(read)) if max(read) < MOST_LOGS else ()
    if gaps:
        yield _finding(
            place,
            gaps,
            f"{'has' if len(gaps) == 1 else 'have'} no log",
            "A process that compiles nothing, or ends before, writes none. Or it was not copied.",
        )
    reports = {rank: item.report for rank, item in read.items() if item.report}
    versions = _grouped({rank: report.torch for rank, report in reports.items() if report.torch})
    for version, ranks in versions[1:]:
        message = f"ran torch {version}, and {rank_words(versions[0][1])} torch {versions[0][0]}"
        yield _finding(place, ranks, message, "Another torch breaks graphs at other places.")
    yield from _apart(place, {rank: item.began for rank, item in read.items() if item.began})


def _apart(place: str, times: Mapping[int, datetime]) -> Iterator[Finding]:
    """Yield findings on ranks that begin hours before or after the others."""
    middle = sorted(times.values())[len(times) // 2 : len(times) // 2 + 1]
    hours = {rank: _hours(time - middle[0]) for rank, time in times.items()}
    for apart, ranks in _grouped({rank: apart for rank, apart in hours.items() if apart}):
        yield _finding(
            place,
            ranks,
            f"{'begins' if len(ranks) == 1 else 'begin'} {counted(abs(apart), 'hour')} "
            f"{'before' if apart < 0 else 'after'} the median rank, by the clocks of the machines",
            "Clocks or time zones differ, or that is the log of another run: keep a folder for each run.",
        )


def _hours(apart: timedelta) -> int:
    """Return whole hours between two times of some year, one of which may be in the next."""
    half = _YEAR / 2
    return int(((apart + half) % _YEAR - half) / timedelta(hours=1))


def _grouped(values: Mapping[int, _Value]) -> list[tuple[_Value, list[int]]]:
    """Return the ranks of each value, most first."""
    grouped: defaultdict[_Value, list[int]] = defaultdict(list)
    for rank, value in values.items():
        grouped[value].append(rank)
    return sorted(grouped.items(), key=lambda item: -len(item[1]))


def problem_finding(place: str, message: str, *hints: str, ranks: Sequence[int] = ()) -> Finding:
    """Make a finding on the place of a trace."""
    span = Span(place, 1, 1, 1, 1)
    return Finding("target-error", "target-error", "warning", message, span, hints=hints, ranks=tuple(ranks))


def _finding(place: str, ranks: Sequence[int], message: str, *hints: str) -> Finding:
    return problem_finding(place, f"{rank_words(ranks).capitalize()} {message}", *hints, ranks=ranks)
