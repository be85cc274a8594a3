"""Jobs of many ranks: what a rank lacks is told of it, and all the rest is read."""

from __future__ import annotations

import gzip
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from faked_run import fullgraph
from fullgraph_server.report.model import Report
from fullgraph_server.traces import spread
from fullgraph_server.traces.logs import LogFile, NoTraceError, find_logs
from fullgraph_server.traces.ranks import RankResult
from fullgraph_server.traces.spread import read_in_processes
from traces import LOG, SHORT, project_of, read, recorded

TIME = re.compile(rb"^V(\d{4} \d\d)", re.MULTILINE)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project_of(tmp_path / "project")
    for rank in range(4):
        path(folder, rank).write_bytes(SHORT)
    monkeypatch.chdir(folder)
    return folder


def path(project: Path, rank: int) -> Path:
    return project / "job" / f"dedicated_log_torch_trace_rank_{rank}_a.log"


def told(report: Report) -> list[str]:
    return [item.message for item in report.findings if item.kind == "target-error"]


def unreadable(log: Path) -> None:
    log.unlink()
    log.symlink_to("nowhere")


def of_another_time(time: bytes) -> Callable[[Path], object]:
    return lambda log: log.write_bytes(TIME.sub(b"V" + time, SHORT))


HOURS = "the median rank, by the clocks of the machines"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda log: log.unlink(), "Rank 2 has no log"),
        (lambda log: log.write_bytes(b""), "Rank 2 was not read: the log is empty"),
        (lambda log: log.write_bytes(b"epoch 1\n"), "Rank 2 was not read: the log is not a trace"),
        (lambda log: log.write_bytes(b"\x1f\x8bx"), "Rank 2 was not read: the log is not a trace"),
        (unreadable, "Rank 2 was not read: the log cannot be read: No such file or directory"),
        (
            lambda log: log.write_bytes(recorded("2.15")),
            "Rank 2 ran torch 2.15.0+cu132, and ranks 0-1 and 3 torch 2.13.0+cpu",
        ),
        (of_another_time(b"1121 06"), f"Rank 2 begins 5 hours before {HOURS}"),
        (of_another_time(b"1122 11"), f"Rank 2 begins 24 hours after {HOURS}"),
    ],
)
def test_what_a_rank_lacks_is_told_of_it(
    damage: Callable[[Path], object], message: str, project: Path
) -> None:
    damage(path(project, 2))
    report = read(project / "job", project)
    assert told(report) == [message]
    assert [item.rank for item in report.ranks if item.rank != 2] == [0, 1, 3]
    (finding,) = (item for item in report.findings if item.kind == "target-error")
    assert (finding.ranks, finding.span.filename) == ((2,), str(project / "job"))


def test_the_last_night_of_a_year_is_no_difference(project: Path) -> None:
    for rank, time in enumerate([b"1231 23", b"0101 00", b"0101 00", b"1231 23"]):
        of_another_time(time)(path(project, rank))
    times = [re.sub(r"\d+", "#", text) for text in told(read(project / "job", project))]
    assert times in (
        [f"Ranks #-# begin # hour after {HOURS}"],
        [f"Ranks # and # begin # hour before {HOURS}"],
    )


def test_a_number_that_is_none_of_a_rank_is_no_gap(project: Path) -> None:
    path(project, 999_999_999).write_bytes(SHORT)
    report = read(project / "job", project)
    assert told(report) == []
    assert [item.rank for item in report.ranks] == [0, 1, 2, 3, 999_999_999]


def test_a_log_that_was_cut_off_is_read_as_far_as_it_goes(project: Path) -> None:
    path(project, 2).write_bytes(gzip.compress(SHORT)[:-500])
    report = read(project / "job", project)
    assert [item.rank for item in report.ranks] == [0, 1, 2, 3]


def test_of_a_job_with_every_tenth_log_unreadable_the_rest_is_told(project: Path) -> None:
    for rank in range(40):
        path(project, rank).write_bytes(SHORT)
        if rank % 10 == 3:
            unreadable(path(project, rank))
    result = fullgraph("trace", "job")
    assert "Ranks 3, 13, 23 and 33 were not read: the log cannot be read: No such file" in result.output
    assert "on 36 ranks" in result.output.splitlines()[-1]


def test_a_job_of_which_nothing_can_be_read_is_told_in_a_sentence(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = RankResult(None, problem="the log cannot be read: Input/output error")
    monkeypatch.setattr("fullgraph_server.traces.trace.read_rank", lambda *_, **__: problem)
    with pytest.raises(NoTraceError, match=r"job cannot be read: Input/output error\.$"):
        read(project / "job", project)


# -- processes ---------------------------------------------------------------------------------


def deadly(log: LogFile) -> RankResult:
    """Read no log, and die of that of rank 2; another fails."""
    if log.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if log.rank == 1:
        raise RuntimeError("odd")
    return RankResult(None, problem=f"{log.rank} in {os.getpid()}")


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_process_that_dies_costs_the_log_that_it_read(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread, "_WORTH_PROCESSES", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for rank in range(12):
        path(project, rank).write_bytes(SHORT)
    logs = find_logs(project / "job").logs
    results = {log.rank: item.problem for log, item in read_in_processes(deadly, logs)}
    assert sorted(rank for rank in results if rank is not None) == list(range(12))
    assert results.pop(2) == "the process that read it died"
    assert results.pop(1) == "reading it failed (RuntimeError: odd)"
    assert all(re.fullmatch(rf"{rank} in \d+", problem) for rank, problem in results.items())
    assert str(os.getpid()) not in {problem.split()[-1] for problem in results.values()}


def test_processes_read_what_this_one_reads(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path(project, 3).write_bytes(LOG)
    alone = read(project / "job", project)
    monkeypatch.setattr(spread, "_WORTH_PROCESSES", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert read(project / "job", project) == alone


def test_a_rank_that_cannot_be_read_is_not_said_to_have_no_log(project: Path) -> None:
    path(project, 2).write_bytes(b"epoch 1\n")
    message = f"Error: Rank 2 of {project / 'job'} was not read: the log is not a trace.\n"
    assert fullgraph("trace", "job", "--rank", "2").stderr.endswith(message)
