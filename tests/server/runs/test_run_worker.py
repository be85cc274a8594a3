"""A run against a worker that does everything that a worker can do wrong."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from fullgraph_compiler.facts import CHANNEL_LOST, Fact, RunFinished, RunRequest, Script, TargetProblem
from fullgraph_server.runs import program_run as run_module
from fullgraph_server.runs.program_run import WorkerRun
from fullgraph_server.workers import fork_server, process, warm_pool
from fullgraph_server.workers.pool import WorkerPool
from fullgraph_server.workers.settings import RunSettings
from processes import dies

FAKE = Path(__file__).parents[1] / "support" / "fake_worker.py"


@dataclass
class Seen:
    """What a run gave."""

    run: WorkerRun
    facts: list[Fact] = field(default_factory=list)
    output: str = ""

    @property
    def finished(self) -> RunFinished:
        assert isinstance(self.facts[-1], RunFinished)
        assert sum(isinstance(fact, RunFinished) for fact in self.facts) == 1
        return self.facts[-1]

    @property
    def messages(self) -> list[str]:
        return [fact.message for fact in self.facts if isinstance(fact, TargetProblem)]

    @property
    def problem(self) -> TargetProblem:
        found = self.facts[-2]
        assert isinstance(found, TargetProblem)
        return found


@pytest.fixture(autouse=True)
def fake_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (process, fork_server):
        monkeypatch.setattr(module, "worker_script", lambda: str(FAKE))


@pytest.fixture(autouse=True)
def no_temporary_file_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


@pytest.fixture(params=["forked", "forked ahead", "unsafe to fork", "executed ahead"], autouse=True)
async def workers(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    no_temporary_file_stays: None,  # noqa: ARG001 - its end comes after that of the workers
) -> AsyncIterator[WorkerPool]:
    """Every way in which workers start."""
    if request.param == "unsafe to fork":
        monkeypatch.setenv("FAKE_UNSAFE", "libraries have started 3 threads")
    workers = WorkerPool(fork=request.param != "executed ahead")
    if request.param == "forked":
        monkeypatch.setattr(workers, "expect", lambda *_: None)
    yield workers
    await workers.close()


def prepare(
    workers: WorkerPool,
    scenario: str,
    cwd: Path,
    python: str = sys.executable,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    details: Sequence[str] = (),
) -> Seen:
    settings = RunSettings(python, cwd, {**os.environ, **(env or {})}, timeout)
    seen = Seen(run=None)  # type: ignore[arg-type]

    def on_output(text: str) -> None:
        seen.output += text

    workers.expect(settings, [])
    request = RunRequest(7, Script("toy.py", (scenario, *details)))
    seen.run = WorkerRun(workers, settings, request, on_output=on_output)
    return seen


async def execute(seen: Seen) -> Seen:
    await asyncio.wait_for(seen.run.execute(lambda facts: seen.facts.extend(facts)), 30)
    return seen


async def test_facts_arrive_in_order_and_nothing_after_the_end(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "finish", tmp_path))
    assert seen.messages == ["one", "two"]
    assert replace(seen.finished, seconds=0.0) == RunFinished("finished", 0.0, 0)
    assert seen.run.torch == "2.13.0"


async def test_what_follows_the_end_in_one_message_is_dropped(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "finish-early", tmp_path))
    assert seen.facts[1:] == [seen.finished]


async def test_the_time_of_a_run_is_that_for_which_the_user_waits(
    workers: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=iter((100.0, 107.0)).__next__)
    monkeypatch.setattr(run_module, "time", clock)
    seen = await execute(prepare(workers, "finish", tmp_path))
    assert seen.finished.seconds == 7.0, "the worker says 0.5 s: it knows nothing of its own start"


async def test_the_program_gets_its_folder_and_environment(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "environment", tmp_path, env={"COLOUR": "green"}))
    assert seen.messages == [str(tmp_path), "green"]


async def test_output_is_text_whatever_its_bytes(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "output", tmp_path))
    assert seen.output == "café\n\ufffd\ufffd\x00binary\n"


async def test_a_message_of_megabytes(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "large", tmp_path))
    assert len(seen.facts) == 5001
    assert seen.finished.status == "finished"


async def test_facts_of_another_generation_are_dropped(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "other-generation", tmp_path))
    assert seen.messages == []
    assert seen.finished.status == "finished"


async def test_what_cannot_be_read_is_skipped(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "garbage", tmp_path))
    assert seen.messages == ["one"]
    assert seen.finished.status == "finished"


# -- deaths ------------------------------------------------------------------------------------


async def test_exit_without_a_word(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "exit", tmp_path))
    assert seen.messages[0] == "before"
    assert "exit code 3" in seen.problem.message
    assert (seen.finished.status, seen.finished.exit_code) == ("crashed", 3)


async def test_a_program_that_closed_its_connection_is_told_as_what_it_is(
    workers: WorkerPool, tmp_path: Path
) -> None:
    seen = prepare(workers, "exit", tmp_path, details=(str(CHANNEL_LOST),))
    await execute(seen)
    assert seen.messages[0] == "before"
    assert "closed the file descriptors through which Fullgraph observes it" in seen.problem.message
    assert "os._exit" not in seen.problem.message
    assert (seen.finished.status, seen.finished.exit_code) == ("crashed", None)


async def test_segmentation_fault_has_its_stack(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "segfault", tmp_path))
    assert seen.messages == ["before", "The program crashed: segmentation fault (SIGSEGV)."]
    innermost = seen.problem.stack[-1]
    assert (innermost.filename, innermost.function) == (str(FAKE), "play")
    assert FAKE.read_text().splitlines()[innermost.row - 1].strip() == "os.kill(os.getpid(), signal.SIGSEGV)"
    assert "play" not in [frame.function for frame in seen.problem.stack[:-1]]
    assert (seen.finished.status, seen.finished.exit_code) == ("crashed", None)


async def test_killed(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "kill", tmp_path))
    assert seen.messages == ["The program crashed: killed: perhaps out of memory (SIGKILL)."]
    assert seen.finished.status == "crashed"


async def test_message_that_is_cut_off(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "cut-off", tmp_path))
    assert seen.finished.status == "crashed"
    assert "exit code 0" in seen.problem.message


async def test_worker_that_refuses_to_run(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "refuse", tmp_path))
    assert seen.messages == ["The worker failed: cannot run this"]
    assert seen.finished.status == "crashed"


async def test_worker_that_forgets_to_finish(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "forget", tmp_path))
    assert seen.finished.status == "crashed"


async def test_worker_that_lingers_after_its_answer(
    workers: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "_EXIT_SECONDS", 0.1)
    seen = await execute(prepare(workers, "linger", tmp_path))
    assert seen.facts == [seen.finished]


# -- limits ------------------------------------------------------------------------------------


async def test_timeout_tells_where_the_program_was(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "hang", tmp_path, timeout=0.3))
    sentence = "Stopped after 0.3 s, its time limit: the rest was not analyzed."
    assert (seen.messages, seen.problem.severity) == (["before", sentence], "information")
    assert seen.problem.stack[-1].function == "play"
    assert seen.finished.status == "timeout"


async def test_cancel_keeps_what_was_seen(workers: WorkerPool, tmp_path: Path) -> None:
    seen = prepare(workers, "hang", tmp_path)

    def on_facts(facts: Sequence[Fact]) -> None:
        seen.facts.extend(facts)
        seen.run.cancel()

    await asyncio.wait_for(seen.run.execute(on_facts), 30)
    assert seen.messages == ["before"]
    assert seen.finished.status == "cancelled"


async def test_cancel_before_the_start(workers: WorkerPool, tmp_path: Path) -> None:
    seen = prepare(workers, "finish", tmp_path)
    seen.run.cancel()
    await execute(seen)
    assert [type(fact) for fact in seen.facts] == [RunFinished]
    assert seen.finished.status == "cancelled"


@pytest.mark.parametrize(
    ("scenario", "status"), [("fork-and-finish", "finished"), ("fork-and-die", "crashed")]
)
async def test_no_descendant_stays(workers: WorkerPool, tmp_path: Path, scenario: str, status: str) -> None:
    seen = await execute(prepare(workers, scenario, tmp_path))
    assert seen.finished.status == status
    assert dies(int(seen.messages[0]))


async def test_a_cancelled_task_leaves_no_process(workers: WorkerPool, tmp_path: Path) -> None:
    seen = prepare(workers, "fork-and-finish", tmp_path)
    started = asyncio.Event()

    def on_facts(facts: Sequence[Fact]) -> None:
        seen.facts.extend(facts)
        started.set()

    task = asyncio.create_task(seen.run.execute(on_facts))
    await asyncio.wait_for(started.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert dies(int(seen.messages[0]))


# -- workers that do not start -----------------------------------------------------------------


async def test_no_such_interpreter(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "finish", tmp_path, python=str(tmp_path / "no-python")))
    assert seen.messages == [f"There is no interpreter {tmp_path / 'no-python'}."]
    assert "fullgraph.interpreter" in seen.problem.hints[0]
    assert seen.finished.status == "not-started"


async def test_interpreter_without_permission(workers: WorkerPool, tmp_path: Path) -> None:
    file = tmp_path / "python"
    file.write_text("#!/bin/sh\n")
    seen = await execute(prepare(workers, "finish", tmp_path, python=str(file)))
    assert seen.messages == [f"The interpreter {file} is not executable."]
    assert seen.finished.status == "not-started"


async def test_interpreter_that_is_no_program(workers: WorkerPool, tmp_path: Path) -> None:
    file = tmp_path / "python"
    file.write_bytes(b"\x00\x01\x02")
    file.chmod(0o755)
    seen = await execute(prepare(workers, "finish", tmp_path, python=str(file)))
    assert seen.finished.status == "not-started"
    assert seen.messages[0].startswith(f"The interpreter {file} cannot be started: Exec format error")


async def test_interpreter_that_is_no_python(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "finish", tmp_path, python="/bin/true"))
    assert seen.messages == ["/bin/true ended before it could run anything, with exit code 0."]
    assert seen.finished.status == "not-started"


async def test_program_that_never_answers(
    workers: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (run_module, warm_pool):
        monkeypatch.setattr(module, "START_SECONDS", 0.3)
    file = tmp_path / "python"
    file.write_text("#!/bin/sh\nexec sleep 600\n")
    file.chmod(0o755)
    seen = await execute(prepare(workers, "finish", tmp_path, python=str(file)))
    assert seen.messages == [f"{file} did not answer within 0.3 s."]
    assert seen.finished.status == "not-started"


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("no-torch", "this Python has no torch: install it"),
        ("die", f"{sys.executable} ended before it could run anything, with exit code 1: this is too old"),
        ("other-protocol", f"{sys.executable} runs another version of Fullgraph: restart the server."),
    ],
)
async def test_start_that_fails(workers: WorkerPool, tmp_path: Path, start: str, message: str) -> None:
    seen = await execute(prepare(workers, "finish", tmp_path, env={"FAKE_START": start}))
    assert seen.messages == [message]
    assert seen.finished.status == "not-started"


async def test_folder_that_does_not_exist(workers: WorkerPool, tmp_path: Path) -> None:
    seen = await execute(prepare(workers, "finish", tmp_path / "gone"))
    assert seen.messages == [f"The folder to run in does not exist: {tmp_path / 'gone'}"]
    assert seen.finished.status == "not-started"
