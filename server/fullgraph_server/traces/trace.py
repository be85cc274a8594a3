"""The report of a whole trace, of all its ranks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from ..compare.ranks import RankReport, merged, usual_rank
from ..report.caches.uses import without_unproven
from ..report.model import Report
from ..workspace.targets import python_files
from .logs import LogFile, NoTraceError, find_logs
from .reading import Reading, read_report

_SMALL: Final = 16 << 20
"""The limit on bytes of a log on disk up to which code is decoded at once, and not only on request."""
_WORTH_PROCESSES: Final = 32 << 20
"""Bytes of logs from which on several processes read faster, in spite of their start."""


def read_trace(
    path: Path, reading: Reading, target: str, generation: int = 1, rank: int | None = None
) -> Report:
    """Read the report of a trace, or of one of its ranks.

    With several ranks, each is read for findings, and only the most typical one with the requested detail.
    Raises ``NoTraceError``, and ``OSError`` for a log that cannot be read.
    """
    logs = logs_of(path, rank)
    reading = _with_files(reading)
    if len(logs) == 1:
        return read_report(logs[0], reading, target, generation)
    found = _reports(logs, replace(reading, detail="findings"), target)
    reports = [RankReport(log.rank or 0, report) for log, report in zip(logs, found, strict=True)]
    if reading.detail != "findings":
        usual = usual_rank(reports)
        log = next(log for log in logs if log.rank == usual)
        detailed = RankReport(usual, read_report(log, reading, target))
        reports = [detailed if item.rank == usual else item for item in reports]
    stored = frozenset(key for item in reports for key in item.report.caches.stored)
    reports = [replace(item, report=without_unproven(item.report, stored)) for item in reports]
    return replace(merged(reports), generation=generation)


def logs_of(path: Path, rank: int | None = None) -> tuple[LogFile, ...]:
    """Find the logs of a trace, or of one of its ranks. Raises ``NoTraceError``."""
    logs = find_logs(path).logs
    if rank is None:
        return logs
    own = tuple(log for log in logs if log.rank == rank)
    if not own:
        raise NoTraceError(f"{path} has no log of rank {rank}.")
    return own


def each_report(logs: Sequence[LogFile], reading: Reading, target: str) -> Iterator[tuple[LogFile, Report]]:
    """Read one log after the other, each when it is asked for. Raises ``OSError``."""
    reading = _with_files(reading)
    return ((log, read_report(log, reading, target)) for log in logs)


def _with_files(reading: Reading) -> Reading:
    return replace(reading, files=tuple(python_files(str(reading.root))))


def report_or_problem(
    path: Path, reading: Reading, target: str, generation: int, rank: int | None
) -> Report | str:
    """Read the report of a trace, with its code if the logs are small; return a sentence if that fails."""
    try:
        if find_logs(path).largest <= _SMALL:
            reading = replace(reading, detail="code")
        return read_trace(path, reading, target, generation, rank)
    except NoTraceError as error:
        return str(error)
    except OSError as error:
        return f"{path}: {error.strerror}"


def _reports(logs: Sequence[LogFile], reading: Reading, target: str) -> list[Report]:
    """Read the reports of logs, in several processes if they are large."""
    read = partial(read_report, reading=reading, target=target)
    at_once = min(os.cpu_count() or 1, len(logs))
    if at_once == 1 or sum(log.size for log in logs) < _WORTH_PROCESSES:
        return list(map(read, logs))
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Not forked: the language server has threads.
    with ProcessPoolExecutor(at_once, multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(read, logs, chunksize=max(1, len(logs) // (4 * at_once))))
