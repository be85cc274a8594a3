"""An exception in Fullgraph itself, wherever a run meets it: the run is answered all the same."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import processes
import pytest
from fullgraph_compiler.facts import Fact, RunFinished, Script, Status
from fullgraph_server.report.faults import verdict
from fullgraph_server.report.model import Report
from fullgraph_server.report.recipes import what_helps
from fullgraph_server.report.recompiles import late_compilation_verdict
from fullgraph_server.runs import partial_reports, schedule, torchrun
from fullgraph_server.runs import target as target_module
from fullgraph_server.runs.execution import failed_report
from fullgraph_server.runs.observers import RunObserver
from fullgraph_server.runs.plan import RunJob, RunPlan
from fullgraph_server.runs.program_run import WorkerRun
from fullgraph_server.runs.schedule import RunSchedule
from fullgraph_server.workers import fork_server, process
from fullgraph_server.workers.settings import RunSettings
from fullgraph_server.workspace.targets import Target, TorchrunJob
from fullgraph_server.workspace.workspace import Workspace
from injected import Fault, Injector, Moment

FAKE = Path(__file__).parents[1] / "support" / "fake_worker.py"
SECONDS = 30


class Watcher(RunObserver):
    """Sees what is shown, and fails where a test says so."""

    def __init__(self) -> None:
        self.fails_at = ""
        self.shown: list[Report] = []
        self.ended: list[Status] = []
        self._told = asyncio.Event()

    def _at(self, name: str) -> None:
        if self.fails_at == name:
            self.fails_at = ""
            raise OSError("an observer broke")

    def started(self, *_: object) -> None:
        self._at("started")

    def reported(self, report: Report) -> None:
        self._at("reported")
        self.shown.append(report)
        self._told.set()

    async def first_report(self) -> None:
        """Wait until something is shown."""
        await asyncio.wait_for(self._told.wait(), SECONDS)

    def finished(self, target: Target, generation: int, status: Status) -> None:  # noqa: ARG002
        self.ended.append(status)
        self._at("finished")

    def cleared(self, *_: object) -> None:
        self._at("cleared")

    def changed(self, *_: object) -> None:
        self._at("changed")


class Place:
    """A target, and the runs of it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "program.py"
        self.file.write_text("x = 1\n")
        self.watcher, self.other = Watcher(), Watcher()
        self.mark = ("FULLGRAPH_TEST_MARK", uuid.uuid4().hex)
        settings = RunSettings(sys.executable, folder, {**os.environ, self.mark[0]: self.mark[1]})
        script = Script(str(self.file), ("finish",))
        self.plan = RunPlan(
            Target("target", "target", "script", str(self.file), script, folder), settings, Workspace(folder)
        )
        self.runs = RunSchedule(self._planned, (self.watcher, self.other))

    async def _planned(self, *_: object) -> RunPlan:
        assert self.plan is not None
        return self.plan

    async def run(self) -> Report:
        """Run once."""
        report = await asyncio.wait_for(self.runs.start("target"), SECONDS)
        assert report is not None
        return report

    async def answer(self) -> str:
        """Run once, and tell how that was answered: the status, and what Fullgraph says of itself."""
        try:
            report = await self.run()
        except asyncio.CancelledError:
            return "cancelled"
        except asyncio.TimeoutError:
            return "no answer"
        told = [message for message in problems(report) if message.startswith("Fullgraph itself")]
        return ": ".join([report.status or "", *told])

    def script(self, *words: str) -> None:
        """Run another scenario from now on."""
        target = replace(self.plan.target, program=Script(str(self.file), words))
        self.plan = replace(self.plan, target=target)

    async def left_behind(self) -> list[int]:
        """End everything; the processes that are left."""
        await asyncio.wait_for(self.runs.close(), SECONDS)
        return processes.outliving(processes.marked("=".join(self.mark)), SECONDS)


@pytest.fixture(autouse=True)
def fake_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (process, fork_server):
        monkeypatch.setattr(module, "worker_script", lambda: str(FAKE))


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
async def place(tmp_path: Path, temporary: Path) -> AsyncIterator[Place]:  # noqa: ARG001 - ends after it
    place = Place(tmp_path)
    yield place
    assert await place.left_behind() == []


@pytest.fixture
def injector() -> Iterator[Injector]:
    injector = Injector()
    yield injector
    injector.remove()


def problems(report: Report) -> list[str]:
    return [finding.message for finding in report.findings if finding.severity == "error"]


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")  # the call failed ahead
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("error", [OSError, asyncio.CancelledError], ids=lambda error: error.__name__)
async def test_an_exception_at_any_call_of_a_run_is_answered_and_the_next_run_works(
    place: Place, injector: Injector, moment: Moment, error: type[BaseException]
) -> None:
    """Every function that a run calls fails once; where it is awaited, it may be cancelled, too."""
    await place.run()
    await place.run()  # by a worker that was kept ready
    wrong = []
    names = injector.may_fail(moment, error)
    assert len(names) > 10
    if moment == "after":
        # All that it does is to schedule something: after that, nothing can fail.
        names = [name for name in names if not name.endswith("WarmPool._end")]
    for name in names:
        injector.fault = Fault(name, moment, error)
        said = await place.answer()
        if injector.fault is not None:  # it is called where nothing is warm
            await place.runs._shared.engine.close()
            said = await place.answer()
        happened, injector.fault = injector.fault is None, None
        assert place.other.ended[-1] == said.partition(":")[0]
        state = place.runs.state("target").run
        place.runs.stop("target")
        after = await place.run()
        answered = said in ("finished", "cancelled", "not-started") or said.startswith(
            "crashed: Fullgraph itself failed"
        )
        if not (happened and answered and state == said.partition(":")[0] and after.status == "finished"):
            wrong.append((name, happened, said, state, after.status, problems(after)))
    assert wrong == []


async def test_no_process_is_left_where_the_end_of_one_fails(place: Place, injector: Injector) -> None:
    async def close() -> None:
        await asyncio.wait_for(place.runs._shared.engine.close(), SECONDS)

    async def run_twice() -> None:
        await place.run()
        await place.run()  # by then, the fork server has learned what it can

    await run_twice()
    before = set(injector.called) - {"warm_pool._close"}
    await close()
    names = [name for name in injector.may_fail("after", OSError) if name not in before]
    assert {"warm_pool._close", "warm_pool.WarmPool._part_with"} <= set(names)
    left = {}
    for name in names:
        await run_twice()
        injector.fault = Fault(name, "after")
        with contextlib.suppress(OSError):
            await close()
        injector.fault = None
        await close()
        left[name] = processes.outliving(processes.marked("=".join(place.mark)), SECONDS)
    assert not any(left.values()), left


@pytest.mark.parametrize("moment", ["started", "reported", "finished", "changed"])
async def test_an_observer_that_raises_keeps_nothing_from_the_others(place: Place, moment: str) -> None:
    place.watcher.fails_at = moment
    report = await place.run()
    assert place.runs.state("target").run == report.status
    assert place.other.shown[-1] is report
    shown = moment in ("finished", "changed")
    assert (report.status, bool(problems(report))) == (("finished", False) if shown else ("crashed", True))
    assert (await place.run()).status == "finished"
    place.watcher.fails_at = "cleared"
    place.runs.clear("target")
    assert place.runs.state("target").run is None


async def test_what_a_run_told_stays_when_its_last_report_cannot_be_made(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "gate")
    place.script("gates", str(tmp_path / "gate"), str(tmp_path / "gate"))
    folded = RunJob.fold

    def fold(job: RunJob, torch: str, facts: Sequence[Fact]) -> Report:
        if any(isinstance(fact, RunFinished) for fact in facts):
            raise RecursionError("too deep")
        return folded(job, torch, facts)

    monkeypatch.setattr(RunJob, "fold", fold)
    run = place.runs.start("target")
    await open_gate(tmp_path / "gate")
    await place.other.first_report()
    await open_gate(tmp_path / "gate")
    report = await asyncio.wait_for(run, SECONDS)
    assert report is not None
    messages = {finding.message for finding in report.findings}
    assert messages == {
        "1: after gate 0",
        "Fullgraph itself failed in this run, with RecursionError: too deep",
    }
    assert (report.status, place.runs.state("target").run) == ("crashed", "crashed")


async def test_a_report_of_partial_facts_that_cannot_be_made_does_not_lose_the_run(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "gate")
    place.script("gates", str(tmp_path / "gate"), str(tmp_path / "gate"))
    folded, failed = RunJob.fold, asyncio.Event()
    loop = asyncio.get_running_loop()

    def fold(job: RunJob, torch: str, facts: Sequence[Fact]) -> Report:
        if not any(isinstance(fact, RunFinished) for fact in facts):
            loop.call_soon_threadsafe(failed.set)
            raise RecursionError("too deep")
        return folded(job, torch, facts)

    monkeypatch.setattr(RunJob, "fold", fold)
    run = place.runs.start("target")
    await open_gate(tmp_path / "gate")
    await asyncio.wait_for(failed.wait(), SECONDS)
    await open_gate(tmp_path / "gate")
    report = await asyncio.wait_for(run, SECONDS)
    assert report is not None
    assert (report.status, len(report.findings), problems(report)) == ("finished", 2, [])


async def test_one_of_two_who_wait_may_give_up(place: Place) -> None:
    """An editor can cancel its request."""
    first, second = place.runs.start("target"), place.runs.start("target")
    first.cancel()
    report = await asyncio.wait_for(second, SECONDS)
    assert report is not None
    assert report.status == place.runs.state("target").run == "finished"


async def test_who_waits_for_a_run_that_a_save_replaced_is_answered_when_the_next_one_fails(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.script("hang")
    run = place.runs.start("target")
    await place.other.first_report()
    monkeypatch.setattr(target_module, "execution_of", fails)
    place.runs.restart(str(place.file))
    report = await asyncio.wait_for(run, SECONDS)
    assert report is not None
    assert problems(report) == ["Fullgraph itself failed in this run, with OSError: the disk is full"]


async def test_switches_that_do_not_exist_end_the_run(place: Place) -> None:
    report = await asyncio.wait_for(place.runs.start("target", None, {"no_such": True}), SECONDS)
    assert report is not None
    assert (report.status, len(problems(report))) == ("crashed", 1)


async def test_a_plan_that_cannot_be_made_is_answered(place: Place) -> None:
    plan, place.plan = place.plan, None
    with pytest.raises(AssertionError):  # of a target of which nothing is known
        await place.run()
    assert place.runs.state("target").run == "crashed"
    place.plan = plan
    assert (await place.run()).status == "finished"
    place.plan = None
    report = await place.run()
    assert (report.status, len(problems(report)), place.other.shown[-1]) == ("crashed", 1, report)
    place.plan = plan
    assert (await place.run()).status == "finished"


async def test_a_plan_that_is_cancelled_is_answered(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async def cancelled(*_: object) -> RunPlan:
        raise asyncio.CancelledError

    monkeypatch.setattr(place.runs, "_shared", replace(place.runs._shared, plan=cancelled))
    assert await place.answer() == place.runs.state("target").run == "cancelled"
    monkeypatch.undo()
    assert place.runs.state("other").run is None


async def test_a_run_whose_facts_cannot_be_taken_ends(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the folder for a preview cannot be made, though the program would go on for ever."""
    place.script("hang")
    monkeypatch.setattr(partial_reports.PartialReports, "more", fails)
    report = await place.run()
    assert "Fullgraph itself failed in this run, with OSError: the disk is full" in problems(report)


async def test_output_that_cannot_be_passed_on_holds_no_program_up(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor may have closed the log. What a program prints fills its pipe then, if nobody reads on."""
    place.script("print", str(1 << 24))
    monkeypatch.setattr(schedule, "to_stderr", fails)
    assert (await place.run()).status == "finished"


async def test_the_other_ranks_end_when_one_fails(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(str(place.file), ("hang",))
    place.plan = replace(place.plan, target=replace(place.plan.target, program=TorchrunJob(script, 2)))
    execute = WorkerRun.execute

    async def fail_once(*_: object) -> None:
        monkeypatch.setattr(WorkerRun, "execute", execute)
        raise OSError("the disk is full")

    monkeypatch.setattr(WorkerRun, "execute", fail_once)
    monkeypatch.setattr(torchrun, "_GRACE_SECONDS", 0.0)
    report = await place.run()
    assert (report.status, len(problems(report))) == ("crashed", 1)


def fails(*_: object) -> None:
    raise OSError("the disk is full")


async def open_gate(gate: Path) -> None:
    """Let a program go on that waits until somebody opens its pipe."""
    await asyncio.wait_for(asyncio.to_thread(gate.write_text, ""), SECONDS)


@pytest.mark.parametrize("judge", [verdict, late_compilation_verdict, what_helps])
def test_no_verdict_is_given_of_a_run_that_failed(judge: Callable[[Report], str]) -> None:
    report = failed_report(Report("target", 1), "/w/program.py", OSError("the disk is full"))
    assert judge(report) == "Fullgraph itself failed in this run, with OSError: the disk is full"
