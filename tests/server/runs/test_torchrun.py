"""A script on several ranks, against workers that do what ranks do; and whose fault a failure is."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from faked_run import enter_project, fake_runs, fullgraph
from fullgraph_compiler.facts import (
    Fact,
    ProgramRaised,
    RunFinished,
    Script,
    StackFrame,
    Status,
    TargetProblem,
)
from fullgraph_server.compare.ranks import RankReport
from fullgraph_server.report.model import Report
from fullgraph_server.runs import torchrun
from fullgraph_server.runs.engine import RunEngine
from fullgraph_server.runs.execution import TargetExecution, execution_of
from fullgraph_server.runs.plan import RunJob, RunPlan
from fullgraph_server.runs.rank_failures import with_consequences
from fullgraph_server.workers import fork_server, process
from fullgraph_server.workers.pool import WorkerPool
from fullgraph_server.workers.settings import RunSettings
from fullgraph_server.workspace.targets import Target, TorchrunJob
from fullgraph_server.workspace.workspace import Workspace

FAKE = Path(__file__).parents[1] / "support" / "fake_worker.py"


class Ranks:
    """Works with these scenarios, one for each rank, and what became of the ranks."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, fork: bool) -> None:
        self.output = ""
        self.workers = WorkerPool(fork=fork)
        self._folder = folder
        self._reports: Sequence[RankReport] = ()
        self._changed = asyncio.Event()
        monkeypatch.setattr(torchrun, "merged", self._merged)
        for module in (process, fork_server):
            monkeypatch.setattr(module, "worker_script", lambda: str(FAKE))

    def work(self, *scenarios: str, timeout: float | None = None) -> TargetExecution:
        filename = str(self._folder / "train.py")
        script = Script(filename, ("ranks", *scenarios))
        target = Target("t", "t", "torchrun", filename, TorchrunJob(script, len(scenarios)), self._folder)
        env = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
        settings = RunSettings(sys.executable, self._folder, env, timeout)
        plan = RunPlan(target, settings, Workspace(self._folder))
        return execution_of(
            RunJob(plan, 7, "graph", RunEngine(self.workers), (), lambda _: self._changed.set(), self._write)
        )

    async def changed(self) -> None:
        await asyncio.wait_for(self._changed.wait(), 30)
        self._changed.clear()

    @property
    def told(self) -> list[list[str]]:
        """The messages of each rank but the first, which says how it was started."""
        return [messages[1:] for messages in self._messages()]

    @property
    def starts(self) -> list[list[str]]:
        """The environment of each rank."""
        return [messages[0].split() for messages in self._messages() if messages]

    @property
    def statuses(self) -> list[Status | None]:
        return [rank.report.status for rank in self._reports]

    def _messages(self) -> list[list[str]]:
        return [[finding.message for finding in rank.report.findings] for rank in self._reports]

    def _merged(self, reports: Sequence[RankReport]) -> Report:
        assert [rank.rank for rank in reports] == list(range(len(reports)))
        # The thread of an unfinished report can end after that of the last one.
        if _unfinished(reports) <= _unfinished(self._reports or reports):
            self._reports = reports
        return next((rank.report for rank in reports if rank.report.findings), reports[0].report)

    def _write(self, text: str) -> None:
        self.output += text


def _unfinished(reports: Sequence[RankReport]) -> int:
    return sum(rank.report.status is None for rank in reports)


@pytest.fixture(params=[True, False], ids=["forked", "executed"])
async def ranks(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Ranks]:
    ranks = Ranks(tmp_path, monkeypatch, fork=request.param)
    yield ranks
    await ranks.workers.close()


async def execute(work: TargetExecution) -> Report:
    return await asyncio.wait_for(work.execute(), 60)


async def test_each_rank_gets_its_place_and_all_come_from_one_process(ranks: Ranks) -> None:
    work = ranks.work("finish", "finish", "finish")
    await execute(work)
    assert ranks.statuses == ["finished"] * 3
    assert [start[:3] for start in ranks.starts] == [["0", "0", "3"], ["1", "1", "3"], ["2", "2", "3"]]
    assert len({tuple(start[3:]) for start in ranks.starts}) == 1, "port and parent are the same"
    assert {start[4] for start in ranks.starts} == {"1"}, "each has one core, as with torchrun"
    assert ranks.told == [["one", "two"]] * 3
    assert sum(isinstance(fact, RunFinished) for fact in work.facts) == 3


async def test_each_line_says_which_rank_has_printed_it(ranks: Ranks) -> None:
    await execute(ranks.work("finish", "finish"))
    for rank in ("0", "1"):
        own = [line for line in ranks.output.splitlines() if line.startswith(f"[rank {rank}] ")]
        assert own == [f"[rank {rank}] one", f"[rank {rank}] from {rank}"]
    assert len(ranks.output.splitlines()) == 4


@pytest.mark.parametrize(
    ("scenario", "status"), [("raised", "raised"), ("segfault", "crashed"), ("exit", "crashed")]
)
async def test_a_rank_that_fails_ends_those_that_wait_for_it(
    ranks: Ranks, monkeypatch: pytest.MonkeyPatch, scenario: str, status: Status
) -> None:
    async def wait(running: set[Any], *, timeout: float | None = None, **how: Any) -> Any:
        if timeout is None:
            return await asyncio.wait(running, **how)
        assert timeout == torchrun._GRACE_SECONDS
        # It is over as soon as only the rank that hangs is left and has begun, however long that takes.
        while len(running) > 1:
            _, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        while ranks.told[:1] != [["before"]]:
            await ranks.changed()
        return None

    monkeypatch.setattr(torchrun, "asyncio", SimpleNamespace(**{**vars(asyncio), "wait": wait}))
    await execute(ranks.work("hang", scenario, "finish"))
    assert ranks.statuses == ["cancelled", status, "finished"]
    assert ranks.told[0] == ["before", "the program was ended, since rank 1 had failed"]
    assert ranks.told[2] == ["one", "two"]


async def test_all_ranks_are_cancelled_and_what_they_told_stays(ranks: Ranks) -> None:
    work = ranks.work("hang", "hang")
    execution = asyncio.ensure_future(execute(work))
    while ranks.told != [["before"]] * 2:
        await ranks.changed()
    work.cancel()
    assert (await execution).status == "cancelled"
    assert ranks.statuses == ["cancelled"] * 2
    assert ranks.told == [["before"]] * 2


async def test_time_is_up_for_all_ranks(ranks: Ranks) -> None:
    await execute(ranks.work("hang", "hang", timeout=0.5))
    assert ranks.statuses == ["timeout"] * 2


# -- whose fault it is -------------------------------------------------------------------------


def ended(status: Status, *facts: Fact) -> tuple[Fact, ...]:
    return (*facts, RunFinished(status, 1.0, 1 if status == "raised" else None))


def raised(filename: str) -> tuple[Fact, ...]:
    return ended("raised", ProgramRaised("RuntimeError", "boom\nmore", (StackFrame(filename, 1, "f"),), ""))


OWN, INSIDE = raised("/w/train.py"), raised("/lib/torch/distributed/distributed_c10d.py")


@pytest.mark.parametrize("culprit", [OWN, ended("crashed"), ended("timeout"), ended("memory")])
def test_who_lost_its_peer_is_not_at_fault(culprit: tuple[Fact, ...]) -> None:
    told = with_consequences({0: INSIDE, 1: culprit})
    assert told[1] == culprit
    message = "the program ended here, since rank 1 had failed: RuntimeError: boom"
    assert told[0] == (TargetProblem("information", message, stack=INSIDE[0].stack), INSIDE[1])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "told",
    [
        {0: INSIDE, 1: INSIDE},
        {0: INSIDE, 1: ended("finished")},
        {0: INSIDE, 1: ()},
        {0: OWN, 1: OWN},
        {0: ended("cancelled"), 1: ended("cancelled")},
        {0: ended("finished"), 1: (RunFinished("exited", 1.0, 0),)},
    ],
)
def test_where_no_other_rank_is_at_fault_all_is_told_as_it_is(told: dict[int, tuple[Fact, ...]]) -> None:
    assert with_consequences(told) == told


# -- the command line --------------------------------------------------------------------------


def test_a_script_runs_on_as_many_ranks_as_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake, folder = fake_runs(monkeypatch), enter_project(monkeypatch, tmp_path, "print(1)\n")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    result = fullgraph("check", "a.py", "--ranks", "3", "--memory", "6", "--", "-v")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [dict(request.variables)["RANK"] for _, request in fake.asked] == ["0", "1", "2"]
    assert {request.program for _, request in fake.asked} == {Script(str(folder / "a.py"), ("-v",))}
    assert {(settings.memory, settings.env["OMP_NUM_THREADS"]) for settings, _ in fake.asked} == {
        (2 << 30, "1")
    }


def test_the_number_of_cores_that_somebody_has_set_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake, _ = fake_runs(monkeypatch), enter_project(monkeypatch, tmp_path, "print(1)\n")
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert fullgraph("kernels", "a.py", "--ranks", "2").exit_code == 0
    assert {settings.env["OMP_NUM_THREADS"] for settings, _ in fake.asked} == {"5"}


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("times", "compile times are measured"),
        ("speed", "speed is measured"),
        ("stages", "the stage at fault is found"),
        ("recipes", "recipes are tried"),
        ("minify", "failures are minified"),
    ],
)
def test_what_is_done_with_one_process_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str, what: str
) -> None:
    fake, folder = fake_runs(monkeypatch), enter_project(monkeypatch, tmp_path, "print(1)\n")
    (folder / "pyproject.toml").write_text("[[tool.fullgraph.targets]]\nname = 'both'\ntorchrun = 'a.py'\n")
    result = fullgraph(command, "both")
    assert result.exit_code == 2
    assert f"both runs on 2 ranks, but {what} in one process: name a script for that." in result.stderr
    assert fake.asked == []
