"""Which graph each line belongs to, and which ran eagerly: facts by hand, folded and shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    Fact,
    FrameSkipped,
    FrameStarted,
    GraphBreak,
    GraphCaptured,
    GraphNode,
    ProgramRaised,
    RecompileLimit,
    StackFrame,
)
from fullgraph_server.commands.graph_lines import shown_lines
from fullgraph_server.protocol.lines import GraphLinesItem
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.drift import TextDrift
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

FILE, LAYERS = "/w/model.py", "/w/layers.py"
LIBRARY = "/w/.venv/lib/python3.11/site-packages/einops/einops.py"
TEXT = """\
@compile
def f(x):
    h = helper(
        x @ x,
    )
    print("half way")
    with no_grad():
        h = helper(h)
    return h

@compile
def noisy(x):
    \"\"\"Prints.\"\"\"
    for row in (x,
                x):
        print(row)
        x = x + row
    def inner(y):
        return y + 1
    return inner(x)
"""
HELPERS = "def helper(x):\n    y = x.relu()\n    return y * 2\n"
SOURCES = {FILE: SourceFile(FILE, TEXT), LAYERS: SourceFile(LAYERS, HELPERS)}
WORKSPACE = Workspace(Path("/w"), SOURCES.get)
MODULE = StackFrame(FILE, 30, "<module>")


def at(row: int, filename: str = FILE) -> StackFrame:
    return StackFrame(filename, row, {FILE: "f", LAYERS: "helper", LIBRARY: "rearrange"}[filename])


def started(compile_id: str, function: str = "f", row: int = 1) -> FrameStarted:
    return FrameStarted(compile_id, function, FILE, row, (MODULE,))


def graph(compile_id: str, *places: StackFrame, calls: tuple[StackFrame, ...] = ()) -> GraphCaptured:
    return GraphCaptured(compile_id, tuple(GraphNode("n", "f32[2]", place) for place in places), "", calls)


def broke(compile_id: str, *stack: StackFrame, skips: bool = False) -> GraphBreak:
    return GraphBreak(compile_id, "GB0059", "print called", "", (), "", "", (MODULE, *stack), skips, "")


def folded(*facts: Fact, target: str = "model.py", generation: int = 1) -> Report:
    return fold(target, generation, "2.13.0", facts, WORKSPACE)


def items(*reports: Report, filename: str = FILE, text: str | None = None) -> list[GraphLinesItem]:
    ran = SOURCES[filename]
    drift = TextDrift(ran, ran if text is None else SourceFile(filename, text))
    return shown_lines(filename, reports, lambda *_: drift)


def lines(*reports: Report, filename: str = FILE, text: str | None = None) -> dict[int, str]:
    """By line, counted from 1, the numbers of its graphs, and ``e`` for one that ran eagerly."""
    return {
        line + 1: "".join(map(str, item.graphs)) + "e" * item.eager
        for item in items(*reports, filename=filename, text=text)
        for line in range(item.start_line, item.end_line + 1)
    }


# `f` breaks at its print, calls `helper` before and after it, and is compiled for two shapes.
TWICE = (
    started("0/0"),
    graph("0/0", at(4), at(2, LAYERS), at(3, LAYERS), calls=(at(3),)),
    broke("0/0", at(6)),
    started("1/0"),
    graph("1/0", at(2, LAYERS), at(3, LAYERS), calls=(at(8),)),
    started("0/1"),
    graph("0/1", at(4), at(2, LAYERS), at(3, LAYERS), calls=(at(3),)),
    broke("0/1", at(6)),
)
SKIPPED = (
    started("2/0", "noisy", 11),
    broke("2/0", at(16), skips=True),
    FrameSkipped("2/0", "noisy", FILE, 11, "cannot go on in a loop"),
)


def test_whole_statements_are_in_a_graph_whether_they_compute_or_call() -> None:
    assert lines(folded(*TWICE)) == {3: "1", 4: "1", 5: "1", 6: "e", 8: "2"}


def test_a_function_that_two_graphs_inline_is_in_both() -> None:
    report = folded(*TWICE)
    assert lines(report, filename=LAYERS) == {2: "12", 3: "12"}
    (item,) = items(report, filename=LAYERS)
    assert item.label.splitlines() == [
        "graph 1 of 2 · compilations 0/0, 0/1 · `f`",
        "graph 2 of 2 · compilation 1/0 · `f`",
    ]
    assert report.files[LAYERS] is SOURCES[LAYERS], "kept, so that the lines can follow edits"


def test_a_statement_at_a_break_says_why_it_runs_eagerly() -> None:
    found = [item for item in items(folded(*TWICE)) if item.eager]
    assert [(item.label, item.reason) for item in found] == [
        ("", "runs eagerly, since the graph breaks here: print called")
    ]


def test_a_call_of_a_function_with_a_break_runs_eagerly_and_what_led_to_the_frame_does_not() -> None:
    outer = folded(started("0/0"), broke("0/0", at(8), at(2, LAYERS)))
    assert lines(outer) == {8: "e"}
    assert items(outer)[0].reason == "runs eagerly, since the graph breaks in `helper`: print called"
    assert lines(outer, filename=LAYERS) == {2: "e"}


def test_a_library_has_no_lines_but_the_calls_of_it_do() -> None:
    report = folded(
        started("0/0"), graph("0/0", at(9, LIBRARY), calls=(at(8),)), broke("0/0", at(9), at(9, LIBRARY))
    )
    assert lines(report) == {8: "1", 9: "e"}
    assert {lines.filename for lines in report.graph_lines} == {FILE}


def test_all_statements_of_a_function_that_was_given_up_run_eagerly() -> None:
    report = folded(*SKIPPED)
    # Not its docstring, nor what a function in it does.
    assert lines(report) == dict.fromkeys((14, 15, 16, 17, 18, 20), "e")
    whole = "the whole of `noisy` runs eagerly: print called"
    broken = "runs eagerly, since the graph breaks here: print called"
    assert [item.reason for item in items(report)] == [whole, f"{broken}\n{whole}", whole, whole]
    without_break = folded(SKIPPED[0], SKIPPED[2])
    assert items(without_break)[0].reason == "the whole of `noisy` runs eagerly: cannot go on in a loop"


def test_a_line_may_be_in_a_graph_and_run_eagerly() -> None:
    assert lines(folded(started("0/0"), graph("0/0", at(7), at(8)), broke("0/0", at(7)))) == {7: "1e", 8: "1"}


def test_the_programs_own_exception_is_no_break() -> None:
    raised = ProgramRaised("ValueError", "no", (at(9),), "")
    assert lines(folded(started("0/0"), broke("0/0", at(9), skips=True), raised)) == {}
    assert lines(folded(started("0/0"), broke("0/0", at(9), skips=True)))[9] == "e"


def test_graphs_are_numbered_in_the_order_of_the_program_without_frames_that_have_none() -> None:
    report = folded(*SKIPPED, *(graph(f"{frame}/0", at(4)) for frame in (10, 9, 3)))
    (item,) = (item for item in items(report) if item.graphs)
    assert item.label.splitlines() == [
        "graph 1 of 3 · compilation 3/0",
        "graph 2 of 3 · compilation 9/0",
        "graph 3 of 3 · compilation 10/0",
    ]


def test_many_graphs_and_many_compilations_are_told_in_short() -> None:
    again = folded(*(fact for n in range(11) for fact in (started(f"0/{n}"), graph(f"0/{n}", at(8)))))
    assert items(again)[0].label == "graph 1 of 1 · compilations 0/0 to 0/10 · `f`"
    (item,) = items(folded(*(graph(f"{frame}/0", at(8)) for frame in range(9))))
    assert item.label.splitlines()[-2:] == ["graph 6 of 9 · compilation 5/0", "and 3 more"]
    assert item.graphs == list(range(1, 10))


def test_a_function_past_its_recompile_limit_is_still_in_its_graph() -> None:
    limit = RecompileLimit("0/1", "f", FILE, 1, 1, "recompile_limit", fatal=False)
    (item,) = items(folded(started("0/0"), graph("0/0", at(8)), limit))
    assert (item.graphs, item.eager) == ([1], False)
    assert item.label.endswith(
        "`f` · recompile limit reached: calls that match no compilation now run eagerly"
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("@compile\ndef f", "\n\n@compile\ndef f", {5: "1", 6: "1", 7: "1", 8: "e", 10: "2"}),
        ("x @ x", "x @ y", {6: "e", 8: "2"}),
        ("x @ x,\n", "x @ x,\n\n", {7: "e", 9: "2"}),
        ('    print("half way")\n', "", {3: "1", 4: "1", 5: "1", 7: "2"}),
        ("    return h\n", "    return h  # edited\n", {3: "1", 4: "1", 5: "1", 6: "e", 8: "2"}),
    ],
    ids=["moved", "edited", "torn", "deleted", "edited elsewhere"],
)
def test_lines_follow_edits_and_an_edited_statement_has_none(
    old: str, new: str, expected: dict[int, str]
) -> None:
    assert lines(folded(*TWICE), text=TEXT.replace(old, new, 1)) == expected


def test_of_several_runs_the_newest_tells_of_its_lines_and_others_of_theirs() -> None:
    newer = folded(started("0/0"), graph("0/0", at(6)), target="model.py::f", generation=2)
    assert lines(newer, folded(*TWICE)) == {3: "1", 4: "1", 5: "1", 6: "1", 8: "2"}


def test_a_line_with_two_statements_tells_of_both() -> None:
    source = SourceFile(FILE, "def f(x):\n    y = x + 1; z = (\n        helper(y))\n")
    facts = (started("0/0"), graph("0/0", at(2)), broke("0/0", at(3)))
    report = fold("model.py", 1, "2.13.0", facts, Workspace(Path("/w"), {FILE: source}.get))
    found = shown_lines(FILE, [report], lambda *_: TextDrift(source, source))
    assert [(item.start_line, item.end_line, item.graphs, item.eager) for item in found] == [
        (1, 2, [1], True)
    ]
