"""What names hold: facts by hand, folded and shown as inlay hints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import Fact, NamedTensor, StackFrame, Symbol, TensorsNamed
from fullgraph_server.client.projection import FileView, project
from fullgraph_server.features.inlay_hint import by_place, labels, tooltip
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.drift import TextDrift
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

FILE = "/w/model.py"
TEXT = """\
@compile
def f(x: Tensor, k):
    é = 0; a, b = x.chunk(2)
    self.h: Tensor = (a
        + b)
    for row in x:
        if (m := row.max()) > 0:
            pass
    return [p for p in x]
"""
SOURCE = SourceFile(FILE, TEXT)
WORKSPACE = Workspace(Path("/w"), {FILE: SOURCE}.get)


def stored(name: str, tensor: str, row: int, column: int | None, device: str = "cpu") -> NamedTensor:
    return NamedTensor(name, tensor, "1", device, StackFrame(FILE, row, "f", column))


def parameter(name: str, tensor: str) -> NamedTensor:
    return NamedTensor(name, tensor, "1", "cpu", StackFrame(FILE, 1, "f"), parameter=True)


def named(compile_id: str, *tensors: NamedTensor, symbols: tuple[Symbol, ...] = ()) -> TensorsNamed:
    return TensorsNamed(compile_id, tensors, symbols)


def folded(*facts: Fact) -> Report:
    return fold("model.py", 1, "2.13.0", facts, WORKSPACE)


def hints(*reports: Report, text: str = TEXT) -> list[tuple[int, int, str]]:
    """The row, the column and the label of each hint in a text that the one that ran has become."""
    drift = TextDrift(SOURCE, SourceFile(FILE, text))
    view = FileView(FILE, [project(report, FILE) for report in reports], lambda *_: drift)
    shown = by_place(view.tensors(1, text.count("\n") + 1))
    return [(same[0].row, same[0].name.span.end_column, labels(same)) for same in shown]


def test_every_kind_of_target_has_a_hint_behind_its_name_or_annotation() -> None:
    report = folded(
        named(
            "0/0",
            parameter("x", "f32[4, 2]"),
            parameter("k", "i64[]"),
            stored("a", "f32[2, 2]", 3, 12),
            stored("b", "f32[2, 1]", 3, 15),
            stored("h", "f32[2]", 4, 4),
            stored("row", "f32[2]", 6, 8),
            stored("m", "f32[]", 7, 12),
            stored("p", "f32[3]", 9, 18),
        )
    )
    assert hints(report) == [
        (2, 16, "f32[4, 2]"),
        (2, 19, ": i64[]"),
        (3, 13, ": f32[2, 2]"),
        (3, 16, ": f32[2, 1]"),
        (4, 19, "f32[2]"),
        (6, 12, ": f32[2]"),
        (7, 14, ": f32[]"),
        (9, 20, ": f32[3]"),
    ]


def test_tensors_that_differ_are_listed_up_to_two() -> None:
    row = [stored("row", f"f32[{size}]", 6, 8) for size in (3, 4, 4, 5)]
    assert hints(folded(named("0/0", *row[:1]))) == [(6, 12, ": f32[3]")]
    assert hints(folded(named("0/0", *row[:3]))) == [(6, 12, ": f32[3] | f32[4]")]
    assert hints(folded(named("0/0", *row))) == [(6, 12, ": f32[3] | f32[4] | …")]


def test_the_newest_compilation_of_a_frame_counts_and_frames_stand_beside_each_other() -> None:
    symbols = (Symbol("s7", "L['x'].size()[0]", 6), Symbol("s77", "L['y'].size()[0]", 8))
    report = folded(
        named("0/10", stored("row", "f32[s7]", 6, 8), symbols=symbols),
        named("0/2", stored("row", "f32[4]", 6, 8)),
        named("1/0", stored("row", "f32[9]", 6, 8)),
    )
    assert hints(report) == [(6, 12, ": f32[s7] | f32[9]")]
    assert tooltip(report.tensors[0]).splitlines() == [
        "Compilation 1/0",
        "f32[9] on cpu, stride (1)",
        "",
        "Compilation 0/10",
        "f32[s7] on cpu, stride (1)",
        "s7: x.size()[0], 6 when it was compiled",
        "",
        "Compilation 0/2",
        "f32[4] on cpu, stride (1)",
    ]


@pytest.mark.parametrize(
    "facts",
    [
        (named("0/0", stored("row", "f32[3]", 6, 8), stored("row", "", 6, 8)),),
        (named("0/0", stored("row", "f32[3]", 6, 8)), named("1/0", stored("row", "", 6, 8))),
        (named("0/0", stored("row", "f32[3]", 6, 9)),),
        (named("0/0", stored("other", "f32[3]", 6, 8)),),
        (named("0/0", parameter("z", "f32[3]")),),
    ],
    ids=["also no tensor", "no tensor in another frame", "other place", "other name", "no parameter"],
)
def test_what_is_not_certain_has_no_hint(facts: tuple[Fact, ...]) -> None:
    assert hints(folded(*facts)) == []


def test_without_columns_a_name_must_be_the_only_one_of_its_row() -> None:
    report = folded(named("0/0", stored("row", "f32[3]", 6, None), stored("a", "f32[2]", 3, None)))
    assert hints(report) == [(3, 13, ": f32[2]"), (6, 12, ": f32[3]")]


def test_a_device_is_named_where_it_is_another_than_the_cpu_and_not_the_only_one() -> None:
    a, cuda = stored("a", "f32[2]", 3, 12), stored("b", "f32[1]", 3, 15, "cuda:0")
    assert hints(folded(named("0/0", a, cuda))) == [(3, 13, ": f32[2]"), (3, 16, ": f32[1] cuda:0")]
    assert hints(folded(named("0/0", cuda))) == [(3, 16, ": f32[1]")]


def test_hints_follow_edits_and_an_edited_statement_has_none() -> None:
    report = folded(named("0/0", stored("a", "f32[2]", 3, 12), stored("h", "f32[2]", 4, 4)))
    assert hints(report, text="\n\n" + TEXT) == [(5, 13, ": f32[2]"), (6, 19, "f32[2]")]
    assert hints(report, text=TEXT.replace("+ b", "- b")) == [(3, 13, ": f32[2]")]
    assert hints(report, text=TEXT.replace("chunk(2)", "chunk(3)")) == [(4, 19, "f32[2]")]


def test_where_targets_differ_each_names_itself() -> None:
    one = replace(folded(named("0/0", stored("a", "f32[2]", 3, 12))), target="/project/train.py")
    same = replace(one, target="/project/bench.py")
    assert hints(one, same) == [(3, 13, ": f32[2]")]
    other = replace(folded(named("0/0", stored("a", "f32[4]", 3, 12))), target="/project/bench.py")
    assert hints(one, other) == [(3, 13, ": f32[2] [train.py] | f32[4] [bench.py]")]
