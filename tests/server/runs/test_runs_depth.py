"""How deep runs go, where several are asked for."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fullgraph_compiler.facts import Depth, Script
from fullgraph_server.report.model import Report
from fullgraph_server.runs.engine import settings_at
from fullgraph_server.runs.observers import RunObserver
from fullgraph_server.runs.plan import RunPlan
from fullgraph_server.runs.schedule import RunSchedule
from fullgraph_server.workers import fork_server, process
from fullgraph_server.workers.settings import RunSettings
from fullgraph_server.workspace.targets import Target
from fullgraph_server.workspace.workspace import Workspace

FAKE = Path(__file__).parents[1] / "support" / "fake_worker.py"


class Depths(RunObserver):
    """The depths of the runs that have begun, as their workers tell them."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._changed = asyncio.Event()

    def reported(self, report: Report) -> None:
        if report.status is None:
            self.told.append(report.findings[0].message)
            self._changed.set()

    async def next(self) -> str:
        await asyncio.wait_for(self._changed.wait(), 30)
        self._changed.clear()
        return self.told[-1]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    program = tmp_path / "program.py"
    program.write_text("")
    os.mkfifo(tmp_path / "gate")
    return program


@pytest.fixture
def depths() -> Depths:
    return Depths()


@pytest.fixture
async def runs(program: Path, depths: Depths, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunSchedule]:
    for module in (process, fork_server):
        monkeypatch.setattr(module, "worker_script", lambda: str(FAKE))
    folder = program.parent
    settings = RunSettings(sys.executable, folder, dict(os.environ))

    async def plan(name: str, _: object = None, /) -> RunPlan:
        script = Script(str(program), ("depth", str(folder / "gate")))
        return RunPlan(
            Target(name, name, "script", str(program), script, folder), settings, Workspace(folder)
        )

    runs = RunSchedule(plan, (depths,))
    yield runs
    await runs.close()


async def go_on(program: Path) -> None:
    await asyncio.wait_for(asyncio.to_thread((program.parent / "gate").write_text, ""), 30)


async def depth_of(run: asyncio.Future[Report | None]) -> str:
    report = await asyncio.wait_for(run, 30)
    assert report is not None
    return report.findings[0].message


async def test_a_run_goes_as_deep_as_it_is_asked_for(runs: RunSchedule, program: Path) -> None:
    for depth in ("graph", "stages", "graph"):
        run = runs.start("target", depth)  # type: ignore[arg-type]
        await go_on(program)
        assert await depth_of(run) == depth


@pytest.mark.parametrize("first", ["graph", "kernels"])
async def test_requests_that_share_a_run_get_the_deeper_one(
    runs: RunSchedule, program: Path, first: str
) -> None:
    second = {"graph": "kernels", "kernels": "graph"}[first]
    run, same = runs.start("target", first), runs.start("target", second)  # type: ignore[arg-type]
    await go_on(program)
    assert await depth_of(run) == await depth_of(same) == "kernels"


@pytest.mark.parametrize(("depth", "device"), [("stages", None), ("kernels", "h100")])
async def test_what_a_layer_looks_for_is_a_run_of_its_own(
    runs: RunSchedule, program: Path, depth: Depth, device: str | None
) -> None:
    layer = runs.start("target", depth, {"device": device} if device else None)
    ordinary = runs.start("target")
    for run, told in ((layer, f"{depth} {device}" if device else depth), (ordinary, "graph")):
        await go_on(program)
        assert await depth_of(run) == told
    (beside,) = runs.layers("target")
    assert (runs.report("target"), beside) == (await ordinary, await layer)


async def test_kernels_that_were_asked_for_are_shown_by_later_runs(runs: RunSchedule, program: Path) -> None:
    async def run(depth: Depth | None = None) -> str:
        begun = runs.start("target", depth)
        await go_on(program)
        return await depth_of(begun)

    assert [await run(), await run("kernels"), await run()] == ["graph", "kernels", "kernels"]
    # What looks for something else changes nothing of that.
    assert [await run("recompiles"), await run("stages"), await run()] == ["recompiles", "stages", "kernels"]
    assert [await run("graph"), await run()] == ["graph", "graph"]


async def test_switches_hold_for_one_run(runs: RunSchedule, program: Path) -> None:
    async def run(depth: Depth | None = None, **switches: object) -> str:
        begun = runs.start("target", depth, switches)
        await go_on(program)
        return await depth_of(begun)

    assert [await run("graph", dry_run=True), await run()] == ["graph dry", "graph"]
    # A preview says nothing of how deep later runs shall go; and it builds its kernels in any case.
    assert [await run("kernels", device="h100"), await run()] == ["kernels h100", "graph"]
    assert await run("build", device="h100") == "kernels h100"


async def test_a_save_ends_a_preview_but_who_asked_for_it_gets_it(
    runs: RunSchedule, program: Path, depths: Depths
) -> None:
    run = runs.start("target", "kernels", {"device": "h100"})
    assert await depths.next() == "kernels h100"
    runs.restart(str(program))
    assert await depths.next() == "kernels h100", "of the text that was saved"
    await go_on(program)
    assert await depth_of(run) == "kernels h100"
    assert await depths.next() == "graph", "the program as it is"


async def test_a_save_ends_a_run_but_who_asked_for_the_stages_gets_them(
    runs: RunSchedule, program: Path, depths: Depths
) -> None:
    run = runs.start("target", "stages")
    assert await depths.next() == "stages"
    runs.restart(str(program))
    assert await depths.next() == "stages", "of the text that was saved"
    await go_on(program)
    assert await depth_of(run) == "stages"
    assert await depths.next() == "graph", "the program as it is"


async def test_a_deep_run_keeps_its_kernels_in_the_workspace(runs: RunSchedule, program: Path) -> None:
    run = runs.start("target", "stages")
    await go_on(program)
    report = await asyncio.wait_for(run, 30)
    assert report is not None
    folder = program.parent / ".fullgraph" / "cache"
    assert [finding.message for finding in report.findings] == ["stages", f"with 300 s and {folder}"]


def test_a_deep_run_may_take_longer() -> None:
    nothing = RunSettings("python", Path(), {})
    said, usual, unlimited = nothing.within(20.0, 60.0), nothing.within(None, 60.0), nothing.within(None)
    times = [(item.timeout, settings_at(item, "stages").timeout, item.patience) for item in (said, usual)]
    assert times == [(20.0, 100.0, 20.0), (60.0, 1500.0, 300.0)]
    assert settings_at(unlimited, "stages").timeout is None
    profiled = [settings_at(item, "recompiles").timeout for item in (said, usual, unlimited)]
    assert profiled == [20.0, 300.0, None], "one run, though one that compiles more"
