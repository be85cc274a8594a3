"""What was measured of compiled calls, as an editor gets it: costs on lines, the report, the command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fullgraph_compiler.facts import (
    CacheKeyPart,
    CacheLookup,
    Fact,
    FrameStarted,
    GraphBreak,
    MemoryMeasured,
    OperatorCounted,
    Script,
    SpeedMeasured,
    StackFrame,
    TimePart,
)
from fullgraph_server.analyses.registry import command_of, layer_label, verdict
from fullgraph_server.client.documents import ClientDocuments
from fullgraph_server.client.projection import FileView, project
from fullgraph_server.commands import performance
from fullgraph_server.commands import run as commands
from fullgraph_server.features import inlay_hint
from fullgraph_server.features.artifacts import ArtifactDocuments
from fullgraph_server.protocol.names import PERFORMANCE
from fullgraph_server.protocol.report import ReportParams
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.runs.layers import with_layers
from fullgraph_server.workspace.drift import TextDrift
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.targets import Target
from fullgraph_server.workspace.workspace import Workspace
from lsprotocol import types
from pygls.workspace import Workspace as Shown

FILE = "/w/model.py"
TEXT = """\
@compile
def step(x):
    y = x.sin()
    print("woo")  # often
    return y * x
"""


def part(kind: str, milliseconds: float, name: str = "") -> TimePart:
    return TimePart(kind, milliseconds / 1e3, 1.0, "0/0", name=name)  # type: ignore[arg-type]


BREAK = GraphBreak(
    "0/0", "GB0059", "broke", "", (), "", "", (StackFrame(FILE, 4, "step", 4, 4, 16),), False, ""
)
PARTS = (
    *(part("frame", 6.0), part("guards", 1.0), part("launch", 1.5)),
    *(part("entry", 1.45), part("copy", 0.05, "Memcpy")),
)
MEASURED = SpeedMeasured(("step",), 3, 20, 0.012, 0.01, 1.2, 1.15, 1.25, parts=PARTS, outside=0.02)
FACTS: tuple[Fact, ...] = (
    FrameStarted("0/0", "step", FILE, 2),
    BREAK,
    MEASURED,
    MemoryMeasured(2 << 20, 4 << 20),
)


def report(*facts: Fact, text: str = TEXT) -> Report:
    source = SourceFile(FILE, text)
    told = fold(FILE, 2, "2.13.0", facts, Workspace(Path("/w"), {FILE: source}.get), FILE, "speed")
    return replace(told, status="finished", layer="speed", files={FILE: source})


class Client:
    """Stands in for the server: shows the file with a text, and keeps handlers and messages."""

    def __init__(self, text: str = TEXT) -> None:
        self.workspace = Shown("file:///w")
        item = types.TextDocumentItem(f"file://{FILE}", types.LanguageKind.Python, 1, text)
        self.workspace.put_text_document(item)
        self.handlers: dict[str, Any] = {}
        self.messages: list[str] = []

    def feature(self, name: str) -> Callable[[Any], Any]:
        def keep(handler: Any) -> Any:
            self.handlers[name] = handler
            return handler

        return keep

    command = feature

    def window_show_message(self, params: types.ShowMessageParams) -> None:
        self.messages.append(params.message)


# -- on lines ----------------------------------------------------------------------------------


async def hints(told: Report, text: str = TEXT) -> list[tuple[int, int, str, str]]:
    """The row, the column, the label and the tooltip of each hint in a text."""
    client = Client(text)
    documents = ClientDocuments(client)  # type: ignore[arg-type]
    view = FileView(
        FILE, [project(told, FILE)], lambda seen, name: TextDrift(seen.files[name], SourceFile(FILE, text))
    )
    projections = SimpleNamespace(of=lambda _: view)
    context: Any = SimpleNamespace(server=client, documents=documents, projections=projections)
    inlay_hint.register(context)
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(f"file://{FILE}"), whole)
    found = await client.handlers[types.TEXT_DOCUMENT_INLAY_HINT](params)
    return [
        (hint.position.line + 1, hint.position.character, hint.label, hint.tooltip)
        for hint in found
        if hint.kind is None
    ]


async def test_what_lines_cost_stands_at_their_ends() -> None:
    on_def, at_break = await hints(report(*FACTS))
    assert at_break == (
        4,
        25,
        "6 ms, 60 % outside of graphs",
        "The graph break costs 6 ms a call.\n`fullgraph fix` looks for an edit that removes it.",
    )
    assert on_def[:3] == (2, 12, "1.5 ms, 15 % calling kernels + 2 more")
    assert on_def[3].count("\n\n") == 2, "guards, too; copies take too little"


async def test_costs_follow_edits_and_an_edited_line_has_none() -> None:
    told = report(*FACTS)
    assert [row for row, *_ in await hints(told, "\n" + TEXT)] == [3, 5]
    assert [row for row, *_ in await hints(told, TEXT.replace("woo", "wow"))] == [2]


async def test_what_was_not_measured_costs_nothing() -> None:
    nothing = replace(MEASURED, eager=0.0, compiled=0.0, samples=0, problem="Nothing to measure.")
    assert await hints(report(*FACTS[:2], nothing)) == []


async def test_costs_are_added_to_the_ordinary_result_of_the_same_text() -> None:
    ordinary, measured = replace(report(*FACTS[:2]), layer="", generation=1), report(*FACTS)
    both = with_layers(ordinary, [measured])
    assert (both.layer, both.findings) == ("", ordinary.findings)
    assert await hints(both) == await hints(measured)
    other = report(*FACTS, text="\n" + TEXT)
    assert await hints(with_layers(ordinary, [other])) == []


# -- the report and the command ----------------------------------------------------------------


async def performance_of(told: Report) -> dict[str, Any]:
    client = Client()
    context: Any = SimpleNamespace(
        server=client,
        documents=ClientDocuments(client),  # type: ignore[arg-type]
        targets=SimpleNamespace(find=lambda name: SimpleNamespace(id=name)),
        runs=SimpleNamespace(report=lambda *_: told),
    )
    performance.register(context, ArtifactDocuments())
    item: dict[str, Any] = await client.handlers[PERFORMANCE](ReportParams(FILE, "speed"))
    assert item["complete"]
    return item


async def test_the_report_has_the_parts_of_the_time_and_causes_with_their_lines() -> None:
    told = report(*FACTS)
    speed = (await performance_of(told))["speed"]
    assert speed["verdict"] == verdict(told)
    assert [(item["kind"], round(item["seconds"], 5)) for item in speed["parts"]] == [
        ("guards", 0.001),
        ("between", 0.006),
        ("entry", 0.00145),
        ("launch", 0.0015),
        ("copy", 5e-05),
    ]
    causes = [(cause["gain"], cause["location"].range.start.line) for cause in speed["causes"]]
    assert causes == [
        (pytest.approx(gain), row) for gain, row in ((0.006, 3), (0.0015, 1), (0.00145, 1), (0.001, 1))
    ]
    memory, outside = speed["notes"]
    assert "2 MiB" in memory
    assert "20 ms" in outside


async def test_the_report_has_what_caches_held_and_why_not() -> None:
    parts = CacheKeyPart("d1", "", (("cache_key_tag", "h1", "a"),)), CacheKeyPart("d2", "", ())
    looked_up = (
        CacheLookup("0/0", "fx-graph", "hit", "one", ("d1",)),
        CacheLookup("0/0", "fx-graph", "miss", "two", ("d2",)),
    )
    caches = (await performance_of(report(*FACTS, *parts, *looked_up)))["caches"]
    assert caches["counts"] == [{"name": "FX graph cache", "hits": 1, "misses": 1, "bypasses": 0}]
    (use,) = caches["uses"]
    assert (use["label"], use["location"].range.start.line) == ("step (0/0)", 1)
    assert use["sentences"].endswith("`torch.compiler.config.cache_key_tag` is no longer part of the key.")
    assert "caches" not in await performance_of(report(*FACTS))


async def test_without_a_measurement_the_report_says_why_and_no_more() -> None:
    nothing = SpeedMeasured((), 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, problem="Nothing to measure.")
    speed = (await performance_of(report(*FACTS[:2], nothing)))["speed"]
    assert speed["verdict"] == "Nothing to measure."
    assert (speed["parts"], speed["causes"], speed["notes"]) == ([], [], [])


async def test_the_command_discards_changes_of_files_and_answers_with_the_verdict() -> None:
    told, asked = report(*FACTS), []

    async def start(*request: Any) -> Report:
        asked.append(request)
        return told

    client, target = Client(), Target(FILE, "model.py", "script", FILE, Script(FILE), Path("/w"))
    runs, targets = SimpleNamespace(start=start), SimpleNamespace(find=lambda _: target)
    context: Any = SimpleNamespace(server=client, runs=runs, targets=targets)
    commands.register(context)
    summary = await client.handlers[command_of("speed")](FILE)
    assert (summary.layer, layer_label(told)) == ("speed", "Speed")
    assert asked == [(FILE, "speed", {"files": "discard"})]
    assert client.messages == [verdict(told)]


@pytest.mark.parametrize(
    ("operators", "said"),
    [
        ((OperatorCounted("aten::mm", 2.0, 2.0),), "such as `mm`, which compiling does not change."),
        (
            (OperatorCounted("aten::mm", 2.0, 1.0),),
            "such as `mm`. A compiled call runs `mm` 2 times, an uncompiled one once.",
        ),
        ((OperatorCounted("aten::mm", 1.0, 0.0),), "such as `mm`."),
        ((), "such as `mm`."),
    ],
)
def test_a_library_function_is_called_unchanged_only_if_it_runs_as_often(
    operators: tuple[OperatorCounted, ...], said: str
) -> None:
    parts = part("kernel", 9.0, "aten::mm"), part("entry", 1.0)
    speed = report(
        FrameStarted("0/0", "step", FILE, 2), replace(MEASURED, parts=parts, operators=operators)
    ).speed
    assert speed is not None
    assert speed.verdict.endswith(said)
