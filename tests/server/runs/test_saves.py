"""Saves: which targets run again by themselves, and which are asked about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fullgraph_server.runs import target as target_module
from fullgraph_server.workspace.source import SourceFile
from test_slot import Place


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    place = Place(tmp_path)
    monkeypatch.setattr(target_module, "execution_of", place.execution_of)
    yield place
    await place.close()


async def run(place: Place, target: str, status: str = "finished", **told: Any) -> None:
    asked = place.runs.start(target)
    files = {place.file: None, **told.pop("files", {})}
    (await place.begun()).end(status, files=files, **told)
    await asyncio.wait_for(asked, 30)


def saved(place: Place, *opened: str) -> tuple[list[str], list[str]]:
    """Save the file: the targets that run again, and those that are asked about. None goes on running."""
    asked = place.runs.restart(place.file, is_open=lambda name: name in opened)
    names = ("first", "second", "third")
    again = [name for name in names if place.runs.state(name).run == "queued"]
    place.runs.stop()
    return again, asked


@pytest.mark.parametrize(
    ("status", "again"),
    [
        ("finished", ["first"]),
        ("raised", ["first"]),
        ("crashed", ["first"]),
        ("not-started", ["first"]),
        ("cancelled", []),
        ("memory", []),
    ],
)
async def test_what_the_user_stopped_or_takes_too_much_does_not_run_by_itself(
    place: Place, status: str, again: list[str]
) -> None:
    await run(place, "first", status)
    assert saved(place) == (again, [])
    await run(place, "first")
    assert saved(place) == (["first"], []), "the user has run it since"


async def test_a_save_repeats_what_ran_last_and_what_shows_in_an_open_file(place: Place) -> None:
    for name in ("first", "second", "third"):
        shows, imports = f"/project/{name}.py", f"/project/in_{name}.py"
        await run(place, name, files={shows: SourceFile(shows, ""), imports: None})
    assert saved(place)[0] == ["third"]
    assert saved(place, "/project/first.py")[0] == ["first", "third"]
    assert saved(place, "/project/in_first.py")[0] == ["third"], "nothing of it shows there"
    place.runs.choose("second")
    assert saved(place)[0] == ["second"], "its results are those that the user looks at"


async def test_nothing_runs_that_was_turned_off_or_cleared(place: Place) -> None:
    for name in ("first", "second"):
        await run(place, name)
    place.runs.set_run_on_save("second", place.file, enabled=False)
    assert saved(place)[0] == ["first"]
    place.runs.set_run_on_save("second", place.file, enabled=True)
    place.runs.clear("first")
    assert saved(place)[0] == ["second"]


async def test_what_takes_long_is_asked_about_until_the_user_has_said_so(place: Place) -> None:
    await run(place, "first", seconds=45.0)
    assert saved(place) == ([], ["first"])
    place.runs.set_run_on_save("first", place.file, enabled=False)
    assert saved(place) == ([], [])
    place.runs.set_run_on_save("first", place.file, enabled=True)
    assert saved(place) == (["first"], [])
    place.runs.clear("first")
    await run(place, "first", seconds=45.0)
    assert saved(place) == ([], ["first"]), "as if it had never run"


async def test_a_long_run_that_is_on_takes_the_text_that_was_saved(place: Place) -> None:
    await run(place, "first", seconds=45.0)
    again = place.runs.start("first")
    old = await place.begun()
    assert place.runs.restart(place.file) == []
    new = await place.begun()
    new.end()
    report = await asyncio.wait_for(again, 30)
    assert report is not None
    assert report.generation == new.job.generation != old.job.generation
