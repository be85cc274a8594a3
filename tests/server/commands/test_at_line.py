"""Everything that is known of a line, composed of reports by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fullgraph_compiler.facts import NamedTensor, StackFrame, Symbol
from fullgraph_server.client.projection import FileView, project
from fullgraph_server.commands.at_line import LineView
from fullgraph_server.commands.graph_lines import placed
from fullgraph_server.protocol.lines import AtLineItem, LineEntry
from fullgraph_server.report.model import (
    Finding,
    FrameCompilation,
    FrameReport,
    GraphLines,
    Guard,
    HeldTensors,
    NumberedGraph,
    Report,
    SizeCondition,
    TensorName,
)
from fullgraph_server.workspace.drift import TextDrift
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile
from lsprotocol import types

FILE = "/project/model.py"
TEXT = """\
@compile
def step(x, scale):
    y = x * scale
    print(y)
    return y[:4]

step(ones(8))
step(ones(9))
"""


def span(row: int, column: int = 5, end_column: int = 6) -> Span:
    return Span(FILE, row, column, row, end_column)


def guard(name: str, row: int, failures: int = 0, kind: str = "TENSOR_MATCH") -> Guard:
    return Guard(f"L['{name}']", kind, "shape [8]", "check()", "0/0", span(row), failures)


BREAK = Finding(
    "graph-break",
    "GB0059",
    "warning",
    "Failed to trace `print`",
    span(4, 5, 13),
    "Dynamo does not know `print`.\nMore.",
    ("Leave it out.", "Or log later."),
    count=2,
)
TENSOR = NamedTensor("y", "f32[s77]", "1", "cpu", StackFrame(FILE, 3, "step", 5))
SIZE = SizeCondition("0/1", "x.shape[0] >= 4", "s77 >= 4", (Symbol("s77", "L['x'].size()[0]", 9),), span(5))
STEP = FrameReport(
    "step",
    "step",
    FILE,
    2,
    ("0/0", "0/1"),
    graphs=2,
    guards=(guard("scale", 3), guard("x", 3, failures=1)),
    recompiles=1,
)
HISTORY = (
    FrameCompilation("0/0", "step", span(2), 0, 0.5, "", span(7)),
    FrameCompilation("0/1", "step", span(2), 0, 0.25, "size of `x` at dimension 0 was 8, is now 9", span(8)),
)
REPORT = Report(
    "model.py",
    1,
    status="finished",
    findings=(BREAK,),
    frames=(STEP,),
    compilations=(*HISTORY, replace(HISTORY[0], compile_id="5/0")),
    tensors=(TensorName(span(3), False, span(3), (TENSOR,), (HeldTensors("0/1", (TENSOR,), ()),)),),
    sizes=(SIZE, replace(SIZE, compile_id="0/2")),
    graph_lines=(
        GraphLines((span(3),), (NumberedGraph(1, 2, "step", ("0/0", "0/1")),), ()),
        GraphLines((span(4),), (), ("runs eagerly, since the graph breaks here",)),
    ),
    files={FILE: SourceFile(FILE, TEXT)},
)


def at(row: int, *reports: Report, text: str = TEXT) -> AtLineItem:
    """Everything that reports say of a row of a text that the one that ran has become."""
    drift = TextDrift(SourceFile(FILE, TEXT), SourceFile(FILE, text))
    view = FileView(FILE, [project(report, FILE) for report in reports], lambda *_: drift)
    lines = placed(FILE, reports, lambda *_: drift)
    ran = next((item for first, last, item in lines if first <= row <= last), None)
    return LineView(view, row, text.splitlines()[row - 1], ran, (), located).item()


def located(_report: Report, place: Span) -> types.Location:
    position = types.Position(place.row - 1, place.column - 1)
    return types.Location(FILE, types.Range(position, position))


def entries(item: AtLineItem, kind: str) -> list[LineEntry]:
    return [entry for section in item.sections if section.kind == kind for entry in section.entries]


def said(of: Sequence[LineEntry]) -> list[tuple[str, str]]:
    return [(entry.label, entry.description) for entry in of]


def test_a_line_tells_its_graph_its_shapes_its_guards_and_why_its_function_was_compiled() -> None:
    item = at(3, REPORT)
    assert item.nothing is None
    assert [section.kind for section in item.sections] == ["graphs", "shapes", "guards", "compilations"]
    assert said(entries(item, "graphs")) == [("Graph 1 of 2", "compilations 0/0, 0/1 · `step`")]
    assert said(entries(item, "shapes")) == [("y", "f32[s77]")]
    assert said(entries(item, "guards")) == [
        ("x", "failed 1 time · shape [8]"),
        ("scale", "shape [8]"),
    ]
    assert "parameter of `step`, from line 2" in entries(item, "guards")[0].details
    assert item.sections[-1].title == "Compilations of step"
    assert item.sections[-1].description == "2 graphs · 2 guards · 1 recompilation · compiled in 0.00 s"
    history = entries(item, "compilations")
    assert said(history) == [
        ("Compilation 0/0", "0.50 s"),
        ("Compilation 0/1", "size of `x` at dimension 0 was 8, is now 9 · 0.25 s"),
    ]
    assert "called from line 8" in history[1].details
    assert history[1].location == located(REPORT, span(8))


def test_a_finding_tells_its_reason_what_to_do_and_where_it_is_explained() -> None:
    item = at(4, REPORT)
    [finding] = entries(item, "findings")
    assert (finding.label, finding.description) == ("Failed to trace `print`", "GB0059 ×2")
    assert finding.notes == ["Dynamo does not know `print`.", "Leave it out.", "Or log later."]
    assert (finding.severity, finding.location) == ("warning", located(REPORT, BREAK.span))
    assert finding.explanation is not None
    assert finding.explanation.startswith("fullgraph-explanation:/GB0059")
    assert said(entries(item, "graphs")) == [("Runs eagerly, since the graph breaks here", "")]


def test_a_condition_of_several_compilations_is_told_once() -> None:
    [size] = entries(at(5, REPORT), "sizes")
    assert size.label == "x.shape[0] >= 4"
    assert "compilation 0/1, 0/2" in size.details


def test_what_is_known_moves_with_its_line() -> None:
    moved, before = at(4, REPORT, text=f"# new\n{TEXT}"), at(3, REPORT)
    for kind in ("graphs", "shapes", "guards", "compilations"):
        assert said(entries(moved, kind)) == said(entries(before, kind)) != []
    assert "parameter of `step`, from line 3" in entries(moved, "guards")[0].details


def test_where_nothing_is_known_a_sentence_says_why() -> None:
    asked = {
        "no run has imported this file": at(3),
        "it was edited since the run": at(7, REPORT, text=TEXT.replace("step(ones(8))", "step(ones(7))")),
        "the last run compiled nothing here": at(7, REPORT),
    }
    for reason, item in asked.items():
        assert item.sections == []
        assert item.nothing is not None
        assert reason in item.nothing


def test_what_is_too_much_is_counted() -> None:
    guards = tuple(guard("x", 3, kind=f"KIND_{number}") for number in range(45))
    frame = replace(STEP, guards=guards)
    shown = entries(at(3, replace(REPORT, frames=(frame,))), "guards")
    assert len(shown) == 31
    assert shown[-1].label == "and 15 more"
