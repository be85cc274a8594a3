"""The report of a whole trace, with all of its ranks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from ..compare.ranks import RankReport, merged, usual_rank
from ..report.caches.uses import without_unproven
from ..report.finding_builder import by_place
from ..report.model import Report
from ..text.urls import Url
from ..workspace.targets import python_files
from .logs import MOST_SILENT, UNREADABLE, LogFile, NoTraceError, SilentServerError, TraceLogs
from .places import at_hand, logs_of
from .ranks import RankResult, findings_on_ranks, problem_finding, read_rank, shared
from .reading import ReadOptions, read_report
from .spread import read_in_processes, read_on_cluster

_NOT_ASKED: Final = "the server did not answer for others"
_SMALL: Final = 16 << 20
"""The size of a log on disk, in bytes, up to which generated code is read at once instead of on request."""


def read_trace(
    place: Path | Url, reading: ReadOptions, target: str, generation: int = 1, rank: int | None = None
) -> Report:
    """Read the report of a trace, or of one of its ranks.

    Raises ``NoTraceError``, and ``OSError`` if the disk fails.
    """
    with logs_of(place) as logs:
        return read_logs(place, logs, reading, target, generation, rank)


def read_logs(
    place: Path | Url,
    logs: TraceLogs,
    reading: ReadOptions,
    target: str,
    generation: int = 1,
    rank: int | None = None,
    scheduler: str = "",
) -> Report:
    """Read the report of a trace, whose logs are known, or of one of its ranks.

    If ``scheduler`` is the address of a cluster, the cluster's workers read the logs. If there are several
    ranks, the most typical rank is read with the requested detail, the other ranks for findings only. Raises
    ``NoTraceError``, and ``OSError`` if the disk fails.
    """
    logs = of_rank(place, logs, rank)
    reading = _with_files(reading)
    read = _read(logs, reading, target, scheduler)
    reports = [RankReport(number, item.report) for number, item in read.items() if item.report]
    if not reports:
        problem = next(iter(read.values())).problem.removeprefix(UNREADABLE)
        raise NoTraceError(f"{place} cannot be read: {problem}.")
    if reading.detail != "findings" and len(logs.logs) > 1:
        usual = usual_rank(reports)
        with at_hand(next(log for log in logs.logs if log.rank == usual), keep=False) as log:
            detailed = RankReport(usual, read_report(log, reading, target))
        reports = [detailed if item.rank == usual else item for item in reports]
    stored = frozenset(key for item in reports for key in item.report.caches.stored)
    reports = [replace(item, report=without_unproven(item.report, stored)) for item in reports]
    report = merged(reports)
    problems = [problem_finding(str(place), problem) for problem in logs.problems]
    findings = (*report.findings, *problems, *(findings_on_ranks(str(place), read) if len(read) > 1 else ()))
    return replace(report, generation=generation, findings=tuple(sorted(findings, key=by_place)))


def of_rank(place: Path | Url, logs: TraceLogs, rank: int | None) -> TraceLogs:
    """Return the log of one rank; all logs if ``rank`` is ``None``.

    Raises ``NoTraceError`` if the rank has no readable log.
    """
    if rank is None:
        return logs
    own = tuple(log for log in logs.logs if log.rank == rank)
    if not own and rank in logs.unread:
        raise NoTraceError(f"Rank {rank} of {place} was not read: {logs.unread[rank]}.")
    if not own:
        raise NoTraceError(f"{place} has no log of rank {rank}.")
    return TraceLogs(own, problems=logs.problems)


def each_report(logs: TraceLogs, reading: ReadOptions, target: str) -> Iterator[tuple[LogFile, Report]]:
    """Yield the logs one after another, each with its report.

    If there are several logs, a log that cannot be read is skipped. Raises ``NoTraceError`` or ``OSError``
    if the only log cannot be read, or a remote server no longer answers.
    """
    reading = _with_files(reading)
    silent = 0
    for log in logs.logs:
        try:
            with at_hand(log, keep=False) as here:
                silent = 0
                yield here, read_report(here, reading, target)
        except (NoTraceError, OSError) as error:
            silent += isinstance(error, SilentServerError)
            if len(logs.logs) == 1 or silent == MOST_SILENT:
                raise


def _with_files(reading: ReadOptions) -> ReadOptions:
    return replace(reading, files=tuple(python_files(str(reading.root))))


def _read(logs: TraceLogs, reading: ReadOptions, target: str, scheduler: str) -> dict[int, RankResult]:
    """Read the log of each rank; a program without ranks is rank 0.

    Several ranks are read for findings only, whatever the requested detail.
    """
    several = len(logs.logs) > 1
    first = replace(reading, detail="findings") if several else reading
    on_cluster = bool(scheduler) and several
    # A copy that a worker of a cluster keeps would not be used again.
    keep = not on_cluster and first.detail != reading.detail
    read = partial(read_rank, reading=first, target=target, keep=keep)
    if on_cluster:
        results = read_on_cluster(read, logs.logs, scheduler, str(reading.root))
    else:
        results = read_in_processes(read, logs.logs)
    seen: dict[Hashable, Any] = {}
    found = {log.rank or 0: RankResult(None, problem=_NOT_ASKED) for log in logs.logs}
    silent = 0
    with closing(results):
        for log, item in results:
            found[log.rank or 0] = shared(item, seen)
            silent = silent + 1 if item.silent else 0
            if silent == MOST_SILENT:
                break
    found.update((rank, RankResult(None, problem=problem)) for rank, problem in logs.unread.items())
    return dict(sorted(found.items()))


def report_or_problem(
    path: Path,
    reading: ReadOptions,
    target: str,
    generation: int,
    rank: int | None,
    folder: Path | None = None,
) -> Report | str:
    """Return the report of a trace, or a sentence that says why it cannot be read.

    The report has the generated code if the logs are small. ``folder`` is the folder for copies of logs.
    """
    try:
        with logs_of(path, folder) as logs:
            if logs.largest <= _SMALL:
                reading = replace(reading, detail="code")
            return read_logs(path, logs, reading, target, generation, rank)
    except NoTraceError as error:
        return str(error)
    except OSError as error:
        return f"{path}: {error.strerror}"
