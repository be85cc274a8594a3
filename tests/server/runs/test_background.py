"""TorchInductor in the background: it runs when nothing else does, and takes nothing from anybody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.facts import Switches
from fullgraph_server.analyses.registry import verdict
from fullgraph_server.report.model import Report
from fullgraph_server.runs import target as target_module
from fullgraph_server.runs.layers import as_layer
from test_layers import finding, report
from test_slot import Execution, Place

LEFT_OUT = ("TorchInductor",)


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    place = Place(tmp_path)
    place.goes_deeper = True
    monkeypatch.setattr(target_module, "execution_of", place.execution_of)
    yield place
    await place.close()


async def run(place: Place, target: str = "target", **told: Any) -> Report:
    asked = place.runs.start(target)
    (await place.begun()).end(**{"left_out": LEFT_OUT, "files": {place.file: None}, **told})
    ordinary = await asyncio.wait_for(asked, 30)
    assert ordinary is not None
    return ordinary


async def ended(place: Place, execution: Execution, target: str = "target", **told: Any) -> None:
    """End a run in the background, and wait until it is over."""
    task = place.runs._targets[target].slot.task
    assert task is not None
    execution.end(**told)
    await asyncio.wait({task}, timeout=30)


async def idle(place: Place) -> bool:
    """Tell whether nothing runs, also not in the background."""
    await asyncio.sleep(0)
    return not any(runs.slot.task for runs in place.runs._targets.values())


async def test_it_runs_by_itself_beside_the_result_and_changes_no_file(place: Place) -> None:
    place.settings = replace(place.settings, switches=Switches(files="keep"))
    ordinary = await run(place)
    execution = await place.begun()
    settings = execution.job.plan.settings
    assert (execution.job.depth, settings.low_priority, settings.switches.files) == (
        "kernels",
        True,
        "discard",
    )
    assert place.runs.state("target").run == "finished", "nobody waits for it"
    assert place.runs.left_out(ordinary) == LEFT_OUT
    await ended(place, execution)
    (layer,) = place.runs.layers("target")
    assert (layer.layer, place.runs.report("target")) == ("inductor", ordinary)
    assert place.runs.left_out(ordinary) == ()
    assert place.shown.reports == [ordinary]
    *states, later, over = place.shown.states
    assert states == ["queued", "running", "finished"]
    assert (later, over) == ("finished", "finished"), (
        "of the later generation, and once its results are there"
    )
    assert await idle(place), "once for each result"


@pytest.mark.parametrize(
    "told", [{"status": "raised"}, {"status": "cancelled"}, {"status": "timeout"}, {"left_out": ()}]
)
async def test_it_does_not_run_where_it_would_tell_nothing_new(place: Place, told: dict[str, Any]) -> None:
    await run(place, **told)
    assert await idle(place)


async def test_it_does_not_run_unless_it_is_asked_for(place: Place) -> None:
    place.goes_deeper = False
    await run(place)
    assert await idle(place)


async def test_it_gives_way_to_any_other_run_and_begins_again_after_it(place: Place) -> None:
    await run(place)
    first = await place.begun()
    other = place.runs.start("other")
    assert first.is_cancelled
    (await place.begun()).end()
    await asyncio.wait_for(other, 30)
    assert place.runs.layers("target") == ()
    again = await place.begun()
    assert (again.job.plan.target.id, again.job.depth) == ("target", "kernels")
    place.runs.restart(place.file)
    assert again.is_cancelled
    assert place.runs.state("target").run == "queued", "the program as it is comes first"
    assert (await place.begun()).job.depth == "graph"


async def test_it_waits_while_another_run_is_on(place: Place) -> None:
    other = place.runs.start("other")
    held = await place.begun()
    await run(place)
    assert place.runs._targets["target"].slot.task is None
    held.end()
    await asyncio.wait_for(other, 30)
    assert (await place.begun()).job.depth == "kernels"


@pytest.mark.parametrize("how", ["stop", "clear", "progress"])
async def test_who_stops_it_has_stopped_it(place: Place, how: str) -> None:
    await run(place)
    execution = await place.begun()
    task = place.runs._targets["target"].slot.task
    assert task is not None
    if how == "progress":
        execution.cancel()
    else:
        getattr(place.runs, how)("target")
    await asyncio.wait({task}, timeout=30)
    assert await idle(place)
    assert place.runs.layers("target") == ()


async def test_it_does_not_run_for_a_text_that_is_being_edited(place: Place) -> None:
    asked = place.runs.start("target")
    execution = await place.begun()
    place.runs.edited(place.file)
    execution.end(left_out=LEFT_OUT)
    await asyncio.wait_for(asked, 30)
    assert await idle(place)


async def test_that_it_fails_by_itself_is_no_reason_to_try_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError("the disk is full")

    asked = place.runs.start("target")
    ordinary = await place.begun()
    monkeypatch.setattr(target_module, "execution_of", fails)
    ordinary.end(left_out=LEFT_OUT)
    await asyncio.wait_for(asked, 30)
    task = place.runs._targets["target"].slot.task
    (await place.planning()).set_result(None)
    assert task is not None
    await asyncio.wait({task}, timeout=30)
    assert await idle(place)
    assert place.runs.state("target").run == "finished"


async def test_what_it_cannot_compile_is_an_error_on_its_line(place: Place) -> None:
    await run(place)
    failure = finding("compile-error", "backend failed: boom", 2)
    hint = finding("perf-hint", "slow")
    await ended(place, await place.begun(), findings=(failure, hint))
    (shown,) = place.shown.reports[-1].findings
    assert shown.message == "backend failed: boom"
    (layer,) = place.runs.layers("target")
    assert verdict(layer) == "backend failed: boom"


def test_that_all_was_compiled_is_told() -> None:
    assert verdict(as_layer(report(), "inductor")) == "TorchInductor had no graph"
