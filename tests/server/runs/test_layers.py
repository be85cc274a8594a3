"""Layers: what previews, profiles and the like leave of the ordinary result, and what they add to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.facts import CacheLookup, Depth, RanDry, TimesMeasured
from fullgraph_server.analyses.registry import layer_label, verdict
from fullgraph_server.report.caches.model import CacheUse, CacheUses
from fullgraph_server.report.model import Finding, Layer, Report
from fullgraph_server.runs import target as target_module
from fullgraph_server.runs.layers import as_layer, with_layers
from fullgraph_server.workspace.positions import Span, StackCall
from fullgraph_server.workspace.source import SourceFile
from test_slot import Place

FILE = "/project/a.py"
TEXT = "x = 1\ny = 2\n"
MISSED = CacheUse(CacheLookup("0/0", "fx-graph", "miss", warm=True), "f", Span(FILE, 1, 1, 1, 2))


def finding(kind: str, message: str, row: int = 1, **more: Any) -> Finding:
    return Finding(kind, kind, "error", message, Span(FILE, row, 1, row, 2), **more)  # type: ignore[arg-type]


def report(*findings: Finding, layer: Layer = "", generation: int = 1, text: str = TEXT) -> Report:
    files = {FILE: SourceFile(FILE, text)}
    return Report(FILE, generation, status="finished", findings=findings, files=files, layer=layer)


def messages(told: Report) -> list[str]:
    return [item.message for item in told.findings]


def test_a_layer_that_failed_puts_nothing_on_the_first_line() -> None:
    failed = report(finding("target-error", "the run took too long"))
    (told,) = as_layer(failed, "preview").findings
    assert told.of_run
    assert not as_layer(failed, "").findings[0].of_run
    raised = report(finding("target-error", "ValueError", stack=(StackCall(FILE, 1, "f"),)))
    assert not as_layer(raised, "preview").findings[0].of_run, "the program did, on a line"


def test_layers_add_to_lines_what_no_ordinary_run_looks_for() -> None:
    ordinary = report(finding("graph-break", "broke"))
    frozen = report(
        finding("graph-break", "broke again"),
        finding("late-compile", "late", 2),
        layer="late-compile",
        generation=2,
    )
    assert messages(with_layers(ordinary, [frozen])) == ["broke", "late"]
    assert with_layers(ordinary, [replace(frozen, findings=frozen.findings[:1])]) is ordinary


def test_a_failure_that_a_layer_says_more_about_is_told_once() -> None:
    ordinary = report(finding("compile-error", "backend failed: boom"))
    stages = report(finding("compile-error", "inductor fails", fault=1), layer="stages", generation=2)
    minified = report(
        finding("compile-error", "inductor fails", hints=("Minified to a.py.",)), layer="minify", generation=3
    )
    (told,) = with_layers(ordinary, [minified, stages]).findings
    assert (told.message, told.hints) == ("inductor fails", ("Minified to a.py.",))


def test_what_a_layer_saw_in_another_text_is_on_no_line() -> None:
    ordinary = report(finding("graph-break", "broke"))
    frozen = report(finding("late-compile", "late"), layer="late-compile", text="y = 2\n" + TEXT)
    assert with_layers(ordinary, [frozen]) is ordinary


@pytest.mark.parametrize(
    ("told", "label", "outcome"),
    [
        (replace(report(layer="preview"), dry=RanDry("h100")), "Preview for h100", None),
        (report(layer="preview"), "Preview", None),
        (report(layer="late-compile"), "Late compilations", "Nothing was compiled after the warm-up."),
        (
            report(layer="stages"),
            "Compiler stages",
            "No stage is at fault: no graph was captured.",
        ),
        (
            replace(report(layer="times"), results=(TimesMeasured("cold", 2.0, 1.0),)),
            "Compile times",
            "2.0 s with cold caches",
        ),
        (
            replace(
                report(layer="times"),
                results=(TimesMeasured("cold", 2.0, 1.0), TimesMeasured("warm", 2.0, 1.0)),
                caches=CacheUses((MISSED,)),
            ),
            "Compile times",
            "2.0 s with cold caches, 2.0 s with warm caches; 1 graph compiled anew",
        ),
        (replace(report(layer="stages"), status="cancelled"), "Compiler stages", None),
    ],
)
def test_a_layer_has_a_name_and_mostly_a_verdict(told: Report, label: str, outcome: str | None) -> None:
    assert (layer_label(told), verdict(told)) == (label, outcome)


# -- the schedule ------------------------------------------------------------------------------


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    place = Place(tmp_path)
    monkeypatch.setattr(target_module, "execution_of", place.execution_of)
    yield place
    await place.close()


async def run(
    place: Place, status: str = "finished", depth: Depth | None = None, **switches: object
) -> Report:
    asked = place.runs.start("target", depth, switches)
    (await place.begun()).end(status)
    told = await asyncio.wait_for(asked, 30)
    assert told is not None
    return told


@pytest.mark.parametrize("status", ["finished", "crashed", "not-started", "cancelled"])
async def test_a_preview_leaves_the_ordinary_result_and_its_state(place: Place, status: str) -> None:
    ordinary = await run(place)
    preview = await run(place, status, "kernels", device="h100")
    assert preview.layer == "preview"
    assert place.runs.report("target") is ordinary
    assert place.runs.reports() == (ordinary,) == tuple(place.shown.reports)
    assert place.runs.state("target").run == "finished"
    assert place.runs.layers("target") == (() if status == "cancelled" else (preview,))


async def test_a_preview_is_shown_as_long_as_there_is_no_ordinary_result(place: Place) -> None:
    preview = await run(place, depth="kernels", device="h100")
    assert place.runs.reports() == (preview,)
    assert place.runs.layers("target") == ()
    ordinary = await run(place)
    assert place.runs.reports() == (ordinary,)
    assert place.runs.layers("target") == (preview,)
    assert place.runs.results("target") == (ordinary, preview)


async def test_there_is_one_layer_of_each_kind(place: Place) -> None:
    await run(place)
    await run(place, depth="kernels", device="h100")
    newer = await run(place, depth="kernels", device="a100")
    stages = await run(place, depth="stages")
    assert place.runs.layers("target") == (stages, newer)
    place.runs.clear("target")
    assert place.runs.results("target") == ()


async def test_an_edit_makes_results_stale_until_each_is_made_anew(place: Place) -> None:
    await run(place)
    preview = await run(place, depth="kernels", device="h100")
    place.runs.edited(place.file)
    assert place.runs.is_stale(preview)
    stages = await run(place, depth="stages")
    assert not place.runs.is_stale(stages)
    assert place.runs.state("target").stale, "the ordinary result is as old as before"
    await run(place)
    assert not place.runs.state("target").stale
    assert place.runs.is_stale(preview)
