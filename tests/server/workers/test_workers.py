"""WorkerPool over time: what they share, what ends them, and what they leave behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.facts import Fact, RunFinished, RunRequest, Script, TargetProblem
from fullgraph_server.runs.program_run import WorkerRun
from fullgraph_server.workers import fork_server
from fullgraph_server.workers import pool as workers_module
from fullgraph_server.workers.pool import WorkerPool
from fullgraph_server.workers.process import kill_marked
from fullgraph_server.workers.settings import RunSettings
from fullgraph_server.workers.worker import Worker
from processes import dies, marked

FAKE = Path(__file__).parents[1] / "support" / "fake_worker.py"


@pytest.fixture
async def workers(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WorkerPool]:
    monkeypatch.setattr(fork_server, "worker_script", lambda: str(FAKE))
    workers = WorkerPool(fork=True)
    yield workers
    await workers.close()


async def run(
    workers: WorkerPool, scenario: str, cwd: Path, libraries: Sequence[str] = (), memory: int | None = None
) -> tuple[list[TargetProblem], RunFinished]:
    """The problems that a run told, and its end."""
    facts: list[Fact] = []
    settings = RunSettings(sys.executable, cwd, dict(os.environ), memory=memory)
    request = RunRequest(1, Script("toy.py", (scenario,)))
    await asyncio.wait_for(WorkerRun(workers, settings, request, libraries).execute(facts.extend), 30)
    finished = facts.pop()
    assert isinstance(finished, RunFinished)
    return [fact for fact in facts if isinstance(fact, TargetProblem)], finished


async def parent(workers: WorkerPool, cwd: Path, libraries: Sequence[str] = ()) -> int:
    """The process that forked the worker of a run."""
    (problem,), _ = await run(workers, "parent", cwd, libraries)
    return int(problem.message)


async def test_runs_of_a_kind_share_a_fork_server(workers: WorkerPool, tmp_path: Path) -> None:
    first = await parent(workers, tmp_path)
    assert await parent(workers, tmp_path) == first
    assert await parent(workers, tmp_path.parent) != first


async def test_libraries_are_shared_only_by_those_that_import_them(
    workers: WorkerPool, tmp_path: Path
) -> None:
    plain = await parent(workers, tmp_path)
    # torch's own modules make no difference.
    assert await parent(workers, tmp_path, ["torch._inductor.config"]) == plain
    other = await parent(workers, tmp_path, ["transformers", "transformers.models"])
    assert other != plain
    assert await parent(workers, tmp_path, ["transformers", "torch.nn"]) == other


async def test_a_killed_fork_server_is_replaced(workers: WorkerPool, tmp_path: Path) -> None:
    first = await parent(workers, tmp_path)
    os.kill(first, signal.SIGKILL)
    assert await parent(workers, tmp_path) != first


async def test_a_fork_server_that_is_killed_takes_its_runs_along(workers: WorkerPool, tmp_path: Path) -> None:
    server = await parent(workers, tmp_path)
    facts: list[Fact] = []

    def on_facts(new: Sequence[Fact]) -> None:
        if not facts:
            os.kill(server, signal.SIGKILL)
        facts.extend(new)

    settings = RunSettings(sys.executable, tmp_path, dict(os.environ))
    request = RunRequest(1, Script("toy.py", ("fork-and-hang",)))
    await asyncio.wait_for(WorkerRun(workers, settings, request).execute(on_facts), 30)
    child, crash, finished = facts
    assert isinstance(child, TargetProblem)
    assert isinstance(crash, TargetProblem)
    assert crash.message == "The program crashed: killed: perhaps out of memory (SIGKILL)."
    assert isinstance(finished, RunFinished)
    assert finished.status == "crashed"
    assert dies(int(child.message))


async def test_new_packages_mean_a_new_fork_server(
    workers: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.setenv("FAKE_PACKAGES", str(packages))
    first = await parent(workers, tmp_path)
    assert await parent(workers, tmp_path) == first
    (packages / "new").mkdir()
    os.utime(packages, ns=(1, 1))  # coarse clocks might not show the difference
    assert await parent(workers, tmp_path) != first
    assert dies(first)


async def test_a_daemon_does_not_outlive_its_run(workers: WorkerPool, tmp_path: Path) -> None:
    (problem,), finished = await run(workers, "daemon", tmp_path)
    assert finished.status == "finished"
    assert dies(int(problem.message))


async def test_a_run_that_takes_too_much_memory(workers: WorkerPool, tmp_path: Path) -> None:
    (problem,), finished = await run(workers, "hog", tmp_path, memory=1 << 28)
    assert finished.status == "memory"
    assert problem.message == "The program used more than 0.25 GiB of memory."
    assert "fullgraph.memory" in problem.hints[0]
    assert problem.stack[-1].function == "play"


async def test_the_least_recently_used_goes_first(workers: WorkerPool, tmp_path: Path) -> None:
    kinds = [[], ["a"], ["b"], ["c"]]
    parents = [await parent(workers, tmp_path, kind) for kind in kinds]
    assert await parent(workers, tmp_path, kinds[0]) == parents[0]
    await parent(workers, tmp_path, ["d"])
    assert dies(parents[1])
    assert [await parent(workers, tmp_path, kinds[index]) for index in (0, 2, 3)] == [
        parents[index] for index in (0, 2, 3)
    ]


async def test_what_nobody_uses_ends(
    workers: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "_IDLE_SECONDS", 0.0)
    first = await parent(workers, tmp_path)
    assert await asyncio.to_thread(dies, first)


async def test_nothing_stays_after_the_end(workers: WorkerPool, tmp_path: Path) -> None:
    first = await parent(workers, tmp_path)
    await workers.close()
    assert dies(first)


async def test_a_worker_that_is_being_ended_at_the_end_leaves_nothing(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    draining, gone = asyncio.Event(), asyncio.Event()
    close, drain = fork_server.ForkServer.close, Worker.drain

    async def told(server: fork_server.ForkServer) -> None:
        await close(server)
        gone.set()

    async def late(worker: Worker) -> None:
        draining.set()
        await gone.wait()
        await drain(worker)

    monkeypatch.setattr(fork_server.ForkServer, "close", told)
    monkeypatch.setattr(Worker, "drain", late)
    settings = RunSettings(sys.executable, tmp_path, dict(os.environ))
    workers.expect(settings, [])
    # Sooner than the one that is expected, which ends then.
    worker = await workers.take(settings, [])
    await asyncio.wait_for(draining.wait(), 30)
    await workers.close()
    await worker.close()
    assert list(temporary.iterdir()) == []


async def test_a_run_that_nobody_waits_for_leaves_the_spare_worker_to_others(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spare: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
    start = Worker.start

    async def noted(*arguments: Any, ahead: bool, **options: Any) -> Worker:
        worker = await start(*arguments, ahead=ahead, **options)
        if ahead:
            spare.set_result(worker)
        return worker

    monkeypatch.setattr(Worker, "start", noted)
    settings = RunSettings(sys.executable, tmp_path, dict(os.environ))
    workers.expect(settings, [])
    await asyncio.wait_for((await spare).hello, 30)
    beside = await workers.take(replace(settings, low_priority=True), [])
    urgent = await workers.take(settings, [])
    await asyncio.gather(beside.close(), urgent.close())
    assert urgent is await spare
    assert beside is not urgent


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_what_was_killed_by_its_mark_is_dead_by_then() -> None:
    """Its folder is removed next: nothing may be written to it any more."""
    mark = uuid.uuid4().hex
    command = [sys.executable, "-c", "while True: open('/dev/null')"]
    started = [subprocess.Popen(command, env={**os.environ, "TEST_MARK": mark}) for _ in range(8)]
    while len(marked(f"TEST_MARK={mark}")) < len(started):
        pass
    kill_marked("TEST_MARK", mark)
    alive = marked(f"TEST_MARK={mark}")
    for process in started:
        process.wait(30)
    assert alive == []
