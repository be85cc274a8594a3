"""Ranks that the workers of a Dask cluster read."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from faked_run import fullgraph
from fullgraph_server.traces import spread
from fullgraph_server.traces.logs import LogFile, NoTraceError, find_logs
from fullgraph_server.traces.ranks import RankResult
from traces import LOG, SHORT, project_of


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project_of(tmp_path / "project")
    for rank in range(4):
        log = LOG if rank == 1 else SHORT
        (folder / "job" / f"dedicated_log_torch_trace_rank_{rank}_a.log").write_bytes(log)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """A cluster of a worker with two threads, in this process."""
    with LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, protocol="tcp://", dashboard_address=None
    ) as local:
        yield local


def test_workers_read_what_processes_read(cluster: LocalCluster) -> None:
    here = fullgraph("trace", "job", "--format", "json")
    there = fullgraph("trace", "job", "--format", "json", "--scheduler", cluster.scheduler_address)
    assert there.exit_code == here.exit_code == 1
    assert there.stdout == here.stdout
    assert there.stderr == ""


def test_a_log_that_workers_do_not_see_is_told_of_its_rank(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullgraph_server.traces.trace.read_rank", lost)
    result = fullgraph("trace", "job", "--scheduler", cluster.scheduler_address)
    assert "Ranks 0 and 3 were not read: the log cannot be read: No such file" in result.output
    assert "on 2 ranks" in result.output.splitlines()[-1]


def lost(log: LogFile, **more: object) -> RankResult:
    """Read a log as a worker would that does not see those of ranks 0 and 3."""
    from dataclasses import replace

    from fullgraph_server.traces.ranks import read_rank

    elsewhere = replace(log, path=log.path.with_name("nowhere")) if log.rank in (0, 3) else log
    return read_rank(elsewhere, **more)  # type: ignore[arg-type]


def test_one_log_needs_no_cluster() -> None:
    result = fullgraph("trace", "job", "--rank", "2", "--scheduler", "tcp://127.0.0.1:1")
    assert "program.py:14:5" in result.output


# -- what can be wrong with a cluster ----------------------------------------------------------


def refused(address: str) -> str:
    result = fullgraph("trace", "job", "--scheduler", address)
    assert result.exit_code == 2
    assert result.stdout == ""
    return " ".join(result.stderr.split("Error: ")[-1].split())


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:1", "nowhere.invalid:8786", "odd://x", "tcp://127.0.0.1"]
)
def test_a_scheduler_that_is_not_there_is_told_in_a_sentence(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread, "_PATIENCE", 0.5)
    assert refused(address) == f"No Dask scheduler answers at {address}: start one with `dask scheduler`."


def test_an_address_without_a_port_leaves_no_client_to_the_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    monkeypatch.setattr(Client, "__del__", lambda self: ended.append(self.status))
    gc.collect()
    ended.clear()
    with pytest.raises(NoTraceError), spread._client("nonsense"):
        pass
    assert len(ended) == 1


def test_a_scheduler_without_workers_is_told() -> None:
    with LocalCluster(n_workers=0, processes=False, protocol="tcp://", dashboard_address=None) as empty:
        address = empty.scheduler_address
        assert (
            refused(address) == f"The scheduler at {address} has no workers: start some with `dask worker`."
        )


def test_workers_of_another_version_are_told(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "_describe", of_another_version)
    monkeypatch.setattr(spread, "__version__", "1.2")
    address = cluster.scheduler_address
    assert refused(address) == (
        f"1 worker of 1 at {address} has another Fullgraph version (1.1) than this one (1.2): "
        "install the same."
    )
    monkeypatch.setattr(spread, "_describe", without)
    assert "has another Fullgraph version (none) than this one (1.2)" in refused(address)


def of_another_version(_: str) -> tuple[str, bool]:
    return "1.1", True


def without(_: str) -> tuple[str, bool]:
    raise ModuleNotFoundError("No module named 'fullgraph_server'")


def test_workers_that_do_not_see_the_project_are_told(
    cluster: LocalCluster, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "isdir", lambda _: False)
    address = cluster.scheduler_address
    assert refused(address) == (
        f"1 worker of 1 at {address} has no folder {project}: workers read the project's files there."
    )


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert refused("tcp://a:1") == "--scheduler needs Dask's distributed: pip install 'fullgraph[cluster]'"


# -- workers that die --------------------------------------------------------------------------


def deadly(log: LogFile) -> RankResult:
    """Read no log, and die of that of rank 2."""
    if log.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return RankResult(None, problem=str(log.rank))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_worker_that_dies_costs_the_log_that_it_read(project: Path) -> None:
    logs = find_logs(project / "job").logs
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        read = spread.read_on_cluster(deadly, logs, local.scheduler_address, str(project))
        results = {log.rank: item.problem for log, item in read}
    assert results == {0: "0", 1: "1", 2: "the process that read it died", 3: "3"}
