"""Reports projected onto a file, and the hover texts made of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fullgraph_server.client.findings import Drifts, newest_first, shown_findings
from fullgraph_server.client.projection import FileView, project
from fullgraph_server.features.guard_text import GuardLinks
from fullgraph_server.features.hover import describe
from fullgraph_server.report.model import Finding, FrameReport, GraphLines, Guard, Report
from fullgraph_server.text.messages import guard_words
from fullgraph_server.workspace.drift import TextDrift
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile

pytestmark = pytest.mark.portable

FILE = "/project/model.py"

NESTED = """\
import torch

@torch.compile
def outer(a, self):
    def inner(b):
        return a + b
    return inner(self.scale.weight)

def alone(a): return (lambda a: a)(a)
"""


def guard(source: str, kind: str = "TENSOR_MATCH", failures: int = 0, expected: str = "f32[8]") -> Guard:
    return Guard(source, kind, expected, f"check({source})", "0/0", Span(FILE, 6, 16, 6, 17), failures)


def report(
    *frames: FrameReport,
    findings: tuple[Finding, ...] = (),
    generation: int = 1,
    text: str | None = NESTED,
) -> Report:
    files = {FILE: None if text is None else SourceFile(FILE, text)}
    return Report(FILE, generation, status="finished", frames=frames, findings=findings, files=files)


def nested(*reports: Report, now: str = NESTED) -> FileView:
    """What reports say about the file with the text that it has now."""
    newest = newest_first(reports)
    return FileView(FILE, [project(report, FILE) for report in newest], drifts(now))


def drifts(now: str) -> Drifts:
    source = SourceFile(FILE, now)
    return lambda report, filename: TextDrift(report.files.get(filename), source)


def hovered(view: FileView, row: int, column: int, now: str = NESTED) -> str:
    """The hover text at a 1-based place, empty for none."""
    found = describe(view, now.splitlines()[row - 1], row, column)
    return found[0] if found else ""


def functions(view: FileView) -> list[tuple[str, int]]:
    return [(function.frame.function, row) for function, row in view.functions()]


OUTER = FrameReport(
    "outer", "outer", FILE, 4, guards=(guard("L['a']"), guard("L['self'].scale._parameters['weight']"))
)
INNER = FrameReport("inner", "inner", FILE, 5, guards=(guard("L['b']"),))


def test_the_innermost_function_counts_and_then_those_around_it() -> None:
    view = nested(report(OUTER, INNER))
    assert hovered(view, 6, 20).startswith("**`b`**: 1 guard in `inner`")
    assert hovered(view, 6, 16).startswith("**`a`**: 1 guard in `outer`")
    around = {row: [function.frame for function, _ in view.functions_at(row)] for row in (1, 6, 7, 8, 9)}
    assert around == {1: [], 6: [INNER, OUTER], 7: [OUTER], 8: [], 9: []}


def test_a_function_is_found_from_its_decorator_to_its_definition() -> None:
    view = nested(report(OUTER, INNER))
    assert hovered(view, 3, 4).startswith("**`outer`**: 0 graphs")
    assert hovered(view, 4, 6).startswith("**`outer`**: 0 graphs")
    assert hovered(view, 5, 10).startswith("**`inner`**: 0 graphs")
    assert hovered(view, 7, 5) == ""


def test_a_value_shows_the_guards_on_its_parts() -> None:
    view = nested(report(OUTER))
    row = 7
    columns = {name: NESTED.splitlines()[row - 1].index(name) + 1 for name in ("self", "scale", "weight")}
    assert hovered(view, row, columns["self"]).startswith("**`self`**: 1 guard in `outer`")
    assert "- `self.scale.weight`: f32" in hovered(view, row, columns["scale"])
    assert hovered(view, row, columns["weight"]).startswith("**`self.scale.weight`**: 1 guard")


def test_guards_that_failed_come_first_and_many_are_summed_up() -> None:
    guards = [guard("L['a']", f"KIND_{number}") for number in range(20)] + [
        guard("L['a']", "LAST", failures=2)
    ]
    text = hovered(nested(report(FrameReport("outer", "outer", FILE, 4, guards=tuple(guards)))), 4, 11)
    lines = text.splitlines()
    assert lines[0] == "**`a`**: 21 guards in `outer`"
    assert lines[2] == "parameter of `outer`, from line 4"
    assert lines[4] == "- f32\\[8\\], **failed 2 times** (first used at line 6)"
    assert "- and 13 more guards" in lines


def test_guards_that_say_the_same_are_told_together() -> None:
    guards = tuple(
        Guard("L['a']", "DIMENSION", "False", f"hasattr(a, {number}) == False", "0/0", None)
        for number in range(5)
    )
    text = hovered(nested(report(FrameReport("outer", "outer", FILE, 4, guards=guards))), 4, 11)
    assert text.splitlines()[4:6] == ["- False", ""]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("EQUALS_MATCH", "4", "L['n']"), "is 4"),
        (("EQUALS_MATCH", "!= 4", "L['n']"), "!= 4"),
        (("NONE_MATCH", "is None", "L['n']"), "is None"),
        (("LENGTH_CHECK", "length 2", "L['n']"), "length 2"),
        (("LENGTH_CHECK", "", "L['n']"), "empty"),
        (("DIMENSION_DYNAMIC_MARKING_GUARD", "True", "L['n']"), "the same sizes marked as dynamic or static"),
        (("EQUALS_MATCH", "'a'", "list(dict.keys(L['n']))[0]"), "has the key 'a'"),
        (("TYPE_MATCH", "type dict", "L['self']._modules['n']._modules"), "its modules: type dict"),
        (("OF_NEXT_YEAR", "", "L['n']"), "`OF_NEXT_YEAR`"),
    ],
)
def test_a_guard_says_in_words_what_it_asks(asked: tuple[str, str, str], words: str) -> None:
    assert guard_words(*asked) == words


def test_the_newest_report_of_a_function_counts() -> None:
    old = FrameReport("outer", "outer", FILE, 4, graphs=1)
    new = FrameReport("outer", "outer", FILE, 4, graphs=2)
    view = nested(report(new, generation=5), report(old, generation=4))
    assert hovered(view, 3, 4).startswith("**`outer`**: 2 graphs")


@pytest.mark.parametrize(("column", "found"), [(15, False), (16, True), (20, True), (21, True), (22, False)])
def test_a_finding_is_hovered_within_its_range(column: int, found: bool) -> None:
    finding = Finding("graph-break", "GB1", "warning", "broke *here* with `x*`", Span(FILE, 6, 16, 6, 21))
    text = hovered(nested(report(findings=(finding,))), 6, column)
    assert text == ("**broke \\*here\\* with `x*`** (`GB1`)" if found else "")


def test_a_finding_is_told_once_with_what_its_diagnostic_has_not() -> None:
    finding = Finding(
        "graph-break",
        "GB1",
        "warning",
        "broke",
        Span(FILE, 6, 16, 6, 21),
        "why\n\nand how",
        ("do this", "or that"),
        "https://x/gb1",
        count=3,
    )
    twice = nested(report(findings=(finding,)), report(findings=(finding,), generation=2))
    assert hovered(twice, 6, 18) == "**broke** ([GB1](https://x/gb1), 3 times)\n\nand how\n\n- or that"
    linked = describe(twice, NESTED.splitlines()[5], 6, 18, GuardLinks(lambda _uri: "the link"))
    assert linked is not None
    assert linked[0] == "the link"


def test_a_file_that_is_gone_or_has_changed_does_no_harm() -> None:
    for text in (None, "def f(:\n", ""):
        view = nested(report(OUTER, INNER, text=text))
        assert describe(view, "", 6, 16) is None
        assert functions(view) == []


# -- after an edit -----------------------------------------------------------------------------

ABOVE = "# a\n# b\n" + NESTED
FINDING = Finding("graph-break", "GB1", "warning", "broke", Span(FILE, 6, 16, 6, 21))


def test_a_hover_follows_the_lines() -> None:
    view = nested(report(OUTER, INNER, findings=(FINDING,)), now=ABOVE)
    assert functions(view) == [("outer", 6), ("inner", 7)]
    assert hovered(view, 8, 18, ABOVE).startswith("**broke** (`GB1`)")
    guards = hovered(view, 6, 11, ABOVE)
    assert guards.startswith("**`a`**: 1 guard in `outer`")
    assert "(first used at line 8)" in guards
    assert "**`inner`**: " in hovered(view, 7, 9, ABOVE)
    assert hovered(view, 4, 1, ABOVE) == ""


def test_an_edited_line_shows_only_what_was_found_on_it() -> None:
    now = NESTED.replace("return a + b", "return a - b")
    view = nested(report(OUTER, INNER, findings=(FINDING,)), now=now)
    assert hovered(view, 6, 16, now) == "**broke (edited since the run)** (`GB1`)"
    guards = hovered(view, 4, 11, now)
    assert guards.startswith("**`a`**: 1 guard in `outer`")
    assert "first used" not in guards, "that line is another one now"


def test_a_function_without_its_definition_is_not_shown() -> None:
    now = NESTED.replace("    def inner(b):\n        return a + b\n", "    inner = abs\n")
    assert functions(nested(report(OUTER, INNER), now=now)) == [("outer", 4), ("inner", 5)], "edited in place"
    now = NESTED.replace("    def inner(b):\n        return a + b\n", "")
    view = nested(report(OUTER, INNER), now=now)
    assert functions(view) == [("outer", 4)]
    assert hovered(view, 4, 11, now).startswith("**`a`**: 1 guard in `outer`")


def test_reports_of_different_texts_meet_in_the_text_as_it_is_now() -> None:
    old = report(OUTER, INNER, findings=(FINDING,))
    moved = FrameReport("outer", "outer", FILE, 6, graphs=7)
    again = replace(FINDING, span=Span(FILE, 8, 16, 8, 21), count=2)
    new = report(moved, findings=(again,), generation=2, text=ABOVE)
    view = nested(old, new, now=ABOVE)
    assert functions(view) == [("outer", 6), ("inner", 7)]
    assert hovered(view, 5, 4, ABOVE).startswith("**`outer`**: 7 graphs")
    assert hovered(view, 8, 20, ABOVE).count("broke") == 1
    (shown,) = shown_findings(FILE, newest_first([old, new]), drifts(ABOVE))
    assert (shown.report, shown.finding, shown.edited) == (new, again, False)


def test_what_was_found_again_on_an_edited_line_is_not_told_as_edited_too() -> None:
    now = NESTED.replace("a + b", "a - b")
    others = (replace(FINDING, code="GB2"), replace(FINDING, code="GB2", message="broke too"))
    old = report(findings=(FINDING, *others))
    new = report(findings=(replace(FINDING, message="broke otherwise"),), generation=2, text=now)
    shown = shown_findings(FILE, newest_first([old, new]), drifts(now))
    assert [(item.finding.code, item.message) for item in shown] == [
        ("GB1", "broke otherwise"),
        ("GB2", "broke (edited since the run)"),
        ("GB2", "broke too (edited since the run)"),
    ]


def test_a_finding_on_a_deleted_line_comes_back_with_the_line() -> None:
    found = report(findings=(FINDING,))
    for now, spans in [
        (NESTED.replace("        return a + b\n", ""), []),
        (NESTED.replace("a + b", "a"), [Span(FILE, 6, 9, 6, 17)]),
        (NESTED, [FINDING.span]),
    ]:
        assert [shown.span for shown in shown_findings(FILE, [found], drifts(now))] == spans


def test_where_targets_differ_each_names_itself() -> None:
    found = Finding("graph-break", "GB1", "warning", "broke", Span(FILE, 6, 9, 6, 14))
    lines = (GraphLines((Span(FILE, 6, 9, 6, 14),), (), ("why",)),)
    frames = [FrameReport("outer", "outer", FILE, 4, breaks=breaks) for breaks in (0, 1)]
    breaks = replace(report(frames[1], findings=(found,), generation=2), target="/project/train.py")
    other = replace(report(frames[0]), target="/project/bench.py", graph_lines=lines)
    view = nested(breaks, other)
    assert [shown.message for shown in view.findings_at(6, 10)] == ["broke [train.py]"]
    assert [(f.report.target, row) for f, row in view.functions()] == [
        ("/project/train.py", 4),
        ("/project/bench.py", 4),
    ]
    told = hovered(view, 4, 5)
    assert "`train.py`: **`outer`**: 0 graphs · 0 ops · 1 graph break" in told
    assert "`bench.py`: **`outer`**: 0 graphs · 0 ops · 0 graph breaks" in told

    same = replace(breaks, target="/project/bench.py", generation=1, graph_lines=lines)
    view = nested(breaks, same)
    assert [shown.message for shown in view.findings_at(6, 10)] == ["broke"]
    assert len(list(view.functions())) == 1
    assert "train.py" not in hovered(view, 4, 5)

    elsewhere = nested(breaks, replace(other, graph_lines=()))
    assert [shown.message for shown in elsewhere.findings_at(6, 10)] == ["broke"], "it has not run the line"
