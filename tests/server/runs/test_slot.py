"""The phases of a target in the schedule: which event leads where, and what is shown of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.facts import Fact, Script
from fullgraph_server.report.model import Report
from fullgraph_server.runs import target as target_module
from fullgraph_server.runs.observers import RunObserver
from fullgraph_server.runs.plan import RunJob, RunPlan
from fullgraph_server.runs.schedule import RunSchedule
from fullgraph_server.runs.slot import Phase, RunOptions, RunState, TargetSlot, TargetState
from fullgraph_server.workers.settings import RunSettings
from fullgraph_server.workspace.targets import Target
from fullgraph_server.workspace.workspace import Workspace


class Execution:
    """Ends when it is told to, or cancelled."""

    facts: Sequence[Fact] = ()

    def __init__(self, job: RunJob) -> None:
        self.job = job
        self.is_cancelled = False
        self._ends: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def print(self, text: str) -> None:
        self.job.on_output(text)

    def end(self, status: str = "finished", **told: Any) -> None:
        """End with a status, and what else the report tells."""
        if not self._ends.done():
            self._ends.set_result({"status": status, **told})

    def cancel(self) -> None:
        self.is_cancelled = True
        self.end("cancelled")

    async def execute(self) -> Report:
        told = await self._ends
        report = Report(self.job.plan.target.id, self.job.generation, **told)
        assert self.job.on_report is not None
        if report.status != "cancelled":
            self.job.on_report(report)
        return report

    def prepare(self, libraries: Sequence[str]) -> None:
        pass

    def depends_on(self, report: Report) -> frozenset[str]:
        return frozenset(report.files)


# -- one slot ----------------------------------------------------------------------------------


def begin(slot: TargetSlot) -> None:
    assert slot.take() is not None
    slot.begin(RunOptions(), 1, "a.py")


def end(slot: TargetSlot) -> None:
    slot.end("finished")


EVENTS: dict[str, Callable[[TargetSlot], object]] = {
    "ask": lambda slot: slot.ask(RunOptions()),
    "begin": begin,
    "supersede": TargetSlot.supersede,
    "stop": TargetSlot.stop,
    "clear": TargetSlot.clear,
    "end": end,
}


@pytest.mark.parametrize(
    ("events", "phase", "shown"),
    [
        ("", "idle", None),
        ("ask", "queued", "queued"),
        ("ask ask", "queued", "queued"),
        ("ask stop", "idle", None),
        ("ask clear", "idle", None),
        ("ask begin", "running", "running"),
        ("ask begin ask", "running", "running"),
        ("ask begin stop", "running", "running"),
        ("ask begin end", "idle", "finished"),
        ("ask begin ask end", "queued", "queued"),
        ("ask begin ask supersede", "superseded", "running"),
        ("ask begin ask supersede end", "queued", "queued"),
        ("ask begin ask supersede end stop", "idle", "finished"),
        ("ask begin ask supersede stop", "running", "running"),
        ("ask begin ask supersede stop end", "idle", "finished"),
        ("ask begin clear", "cleared", None),
        ("ask begin ask supersede clear", "cleared", None),
        ("ask begin clear ask supersede", "cleared", None),
        ("ask begin clear end", "idle", None),
        ("ask begin clear ask end", "queued", "queued"),
        ("ask begin end ask", "queued", "queued"),
        ("ask begin end ask stop", "idle", "finished"),
        ("ask begin end clear", "idle", None),
        ("ask begin end supersede", "idle", "finished"),
    ],
)
async def test_the_phases_of_a_target(events: str, phase: Phase, shown: RunState | None) -> None:
    slot = TargetSlot()
    for event in events.split():
        EVENTS[event](slot)
    assert (slot.phase, slot.run_state) == (phase, shown)


async def test_who_waits_for_a_request_that_is_dropped_is_answered() -> None:
    slot = TargetSlot()
    answers = [slot.ask(RunOptions()), slot.ask(RunOptions("stages"))]
    slot.stop()
    assert [answer.result() for answer in answers] == [None, None]


# -- the schedule ------------------------------------------------------------------------------


class Shown(RunObserver):
    """The states and reports that are shown."""

    def __init__(self) -> None:
        self.states: list[RunState | None] = []
        self.reports: list[Report] = []

    def changed(self, target: str, state: TargetState) -> None:  # noqa: ARG002
        self.states.append(state.run)

    def reported(self, report: Report) -> None:
        self.reports.append(report)


class Place:
    """The schedule of one target, whose plans are made when the test says so."""

    def __init__(self, folder: Path) -> None:
        self.shown = Shown()
        self.executions: asyncio.Queue[Execution] = asyncio.Queue()
        self._plans: asyncio.Queue[asyncio.Future[None]] = asyncio.Queue()
        self._held: list[asyncio.Future[None]] = []
        self.file = str(folder / "a.py")
        target = Target("target", "target", "script", self.file, Script(self.file), folder)
        self.settings = RunSettings("python", folder, {})
        self.goes_deeper = False
        self._target, self._workspace = target, Workspace(folder)
        self.printed: list[tuple[str, int, str]] = []
        self.runs = RunSchedule(self._planned, (self.shown,), on_output=self._print)

    def _print(self, target: Target, generation: int, text: str) -> None:
        self.printed.append((target.id, generation, text))

    async def _planned(self, name: str, *_: object) -> RunPlan:
        held: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._held.append(held)
        self._plans.put_nowait(held)
        await held
        return RunPlan(
            replace(self._target, id=name), self.settings, self._workspace, goes_deeper=self.goes_deeper
        )

    def execution_of(self, job: RunJob) -> Execution:
        execution = Execution(job)
        self.executions.put_nowait(execution)
        return execution

    async def planning(self) -> asyncio.Future[None]:
        """Wait until the next run is planned; its plan is made when the future is set."""
        return await asyncio.wait_for(self._plans.get(), 30)

    async def begun(self) -> Execution:
        """Let the next run begin."""
        (await self.planning()).set_result(None)
        return await asyncio.wait_for(self.executions.get(), 30)

    async def close(self) -> None:
        """End everything."""
        self.runs.stop()
        for held in self._held:
            held.cancel()
        await asyncio.wait_for(self.runs.close(), 30)


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    place = Place(tmp_path)
    monkeypatch.setattr(target_module, "execution_of", place.execution_of)
    yield place
    await place.close()


async def test_what_is_asked_for_after_a_target_was_cleared_is_shown(place: Place) -> None:
    first = place.runs.start("target")
    planning = await place.planning()
    place.runs.clear("target")
    second = place.runs.start("target")
    planning.set_result(None)
    (await asyncio.wait_for(place.executions.get(), 30)).end()
    report = await asyncio.wait_for(second, 30)
    assert await first is None
    assert place.runs.reports() == (report,) == tuple(place.shown.reports)
    assert place.shown.states == ["queued", None, "queued", "running", "finished"]


async def test_a_run_that_is_stopped_before_it_begins_shows_the_last_one_at_once(place: Place) -> None:
    run = place.runs.start("target")
    (await place.begun()).end()
    await asyncio.wait_for(run, 30)
    run = place.runs.start("target")
    await place.planning()
    assert place.runs.state("target").run == "queued"
    place.runs.stop("target")
    assert place.runs.state("target").run == "finished"
    assert await asyncio.wait_for(run, 30) is None


async def test_stopping_between_a_run_and_the_one_that_takes_its_place(place: Place) -> None:
    run = place.runs.start("target")
    await place.begun()
    place.runs.restart(place.file)
    await place.planning()
    assert place.runs.state("target").run == "queued"
    place.runs.stop("target")
    assert place.runs.state("target").run == "cancelled"
    assert await asyncio.wait_for(run, 30) is None


async def test_what_was_accepted_during_a_run_is_accepted_in_its_report(place: Place) -> None:
    run = place.runs.start("target")
    execution = await place.begun()
    place.runs.revise({"target"}, lambda report: replace(report, torch="accepted"))
    execution.end()
    report = await asyncio.wait_for(run, 30)
    assert report is not None
    assert report.torch == "accepted"
    run = place.runs.start("target")
    (await place.begun()).end()
    report = await asyncio.wait_for(run, 30)
    assert report is not None
    assert report.torch == "", "the next run has its own plan"


async def test_a_limit_that_was_raised_holds_until_the_target_is_cleared(place: Place) -> None:
    place.settings = place.settings.within(None, 60)
    assert place.runs.raised_limit("target") is None
    seconds = []
    for start in (place.runs.start, place.runs.raise_limit, place.runs.start):
        run = start("target")
        execution = await place.begun()
        seconds.append(execution.job.plan.settings.timeout)
        execution.end("timeout")
        await asyncio.wait_for(run, 30)
    assert seconds == [60, 300, 300]
    assert place.runs.raised_limit("target") == 1500
    place.runs.clear("target")
    assert place.runs.raised_limit("target") is None


async def test_a_run_of_another_target_ends_a_choice(place: Place) -> None:
    for name in ("one", "two"):
        run = place.runs.start(name)
        (await place.begun()).end()
        await asyncio.wait_for(run, 30)
    place.runs.choose("one")
    states = len(place.shown.states)
    place.runs.choose("one")
    assert len(place.shown.states) == states, "nothing has changed"
    place.runs.restart(place.file)
    assert place.runs.choice == "one", "what runs by itself is no choice"
    place.runs.start("two")
    assert place.runs.choice == ""


async def test_what_a_program_prints_is_told_up_to_a_limit(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target_module, "_MOST_OUTPUT", 5)
    place.runs.start("target")
    execution = await place.begun()
    for text in ("one", "two", "three"):
        execution.print(text)
    assert place.printed[:2] == [("target", 1, "one"), ("target", 1, "tw")]
    ((_, _, left_out),) = place.printed[2:]
    assert "leaves out the rest" in left_out
