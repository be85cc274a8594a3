"""Reports projected onto a file, and the hover texts made of them."""

from __future__ import annotations

import pytest
from fullgraph_server.engine.report import Finding, FrameReport, Guard, Report, Span
from fullgraph_server.features.hover import describe
from fullgraph_server.features.projection import Projection, project
from fullgraph_server.workspace.source import SourceFile

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


def report(*frames: FrameReport, findings: tuple[Finding, ...] = (), generation: int = 1) -> Report:
    return Report(
        FILE, generation, status="finished", frames=frames, findings=findings, files=frozenset({FILE})
    )


def nested(*reports: Report) -> Projection:
    return project(FILE, reports, SourceFile(FILE, NESTED))


def hovered(projection: Projection, row: int, column: int) -> str:
    """The hover text at a 1-based place, empty for none."""
    found = describe(projection, FILE, NESTED.splitlines()[row - 1], row, column)
    return found[0] if found else ""


OUTER = FrameReport(
    "outer", FILE, 4, guards=(guard("L['a']"), guard("L['self'].scale._parameters['weight']"))
)
INNER = FrameReport("inner", FILE, 5, guards=(guard("L['b']"),))


def test_the_innermost_function_counts_and_then_those_around_it() -> None:
    projection = nested(report(OUTER, INNER))
    assert hovered(projection, 6, 20).startswith("**`b`**: 1 guard in `inner`")
    assert hovered(projection, 6, 16).startswith("**`a`**: 1 guard in `outer`")
    assert projection.function_at(7).frame is OUTER
    assert projection.function_at(8) is None
    assert projection.function_at(9) is None
    assert projection.function_at(1) is None


def test_a_function_is_found_from_its_decorator_to_its_definition() -> None:
    projection = nested(report(OUTER, INNER))
    assert hovered(projection, 3, 4).startswith("**`outer`**: 0 graphs")
    assert hovered(projection, 4, 6).startswith("**`outer`**: 0 graphs")
    assert hovered(projection, 5, 10).startswith("**`inner`**: 0 graphs")
    assert hovered(projection, 7, 5) == ""


def test_a_value_shows_the_guards_on_its_parts() -> None:
    projection = nested(report(OUTER))
    row = 7
    columns = {name: NESTED.splitlines()[row - 1].index(name) + 1 for name in ("self", "scale", "weight")}
    assert hovered(projection, row, columns["self"]).startswith("**`self`**: 1 guard in `outer`")
    assert "- `self.scale.weight` `TENSOR_MATCH`: f32" in hovered(projection, row, columns["scale"])
    assert hovered(projection, row, columns["weight"]).startswith("**`self.scale.weight`**: 1 guard")


def test_guards_that_failed_come_first_and_many_are_summed_up() -> None:
    guards = [guard("L['a']", f"KIND_{number}") for number in range(20)] + [
        guard("L['a']", "LAST", failures=2)
    ]
    text = hovered(nested(report(FrameReport("outer", FILE, 4, guards=tuple(guards)))), 4, 11)
    lines = text.splitlines()
    assert lines[0] == "**`a`**: 21 guards in `outer`"
    assert lines[2:4] == [
        "- `LAST`: f32\\[8\\]\\",
        "  **failed 2 times**, first used at line 6, compilation 0/0",
    ]
    assert "- and 13 more guards" in lines


def test_guards_that_say_the_same_are_told_together() -> None:
    guards = tuple(
        Guard("L['a']", "DIMENSION", "False", f"hasattr(a, {number}) == False", "0/0", None)
        for number in range(5)
    )
    text = hovered(nested(report(FrameReport("outer", FILE, 4, guards=guards))), 4, 11)
    assert "- `DIMENSION` ×5: False" in text
    assert "```" not in text


def test_the_newest_report_of_a_function_counts() -> None:
    old = FrameReport("outer", FILE, 4, graphs=1)
    new = FrameReport("outer", FILE, 4, graphs=2)
    projection = nested(report(new, generation=5), report(old, generation=4))
    assert hovered(projection, 3, 4).startswith("**`outer`**: 2 graphs")


@pytest.mark.parametrize(("column", "found"), [(15, False), (16, True), (20, True), (21, True), (22, False)])
def test_a_finding_is_hovered_within_its_range(column: int, found: bool) -> None:
    finding = Finding("graph-break", "GB1", "warning", "broke *here* with `x*`", Span(FILE, 6, 16, 6, 21))
    text = hovered(nested(report(findings=(finding,))), 6, column)
    assert text == ("**broke \\*here\\* with `x*`** (`GB1`)" if found else "")


def test_a_finding_is_told_once_with_its_hints_and_link() -> None:
    finding = Finding(
        "graph-break",
        "GB1",
        "warning",
        "broke",
        Span(FILE, 6, 16, 6, 21),
        "why",
        ("do this",),
        "https://x/gb1",
        count=3,
    )
    twice = nested(report(findings=(finding,)), report(findings=(finding,), generation=2))
    assert hovered(twice, 6, 18) == "**broke** ([GB1](https://x/gb1), 3 times)\n\nwhy\n\n- do this"


def test_a_file_that_is_gone_or_has_changed_does_no_harm() -> None:
    for source in (None, SourceFile(FILE, "def f(:\n"), SourceFile(FILE, "")):
        projection = project(FILE, [report(OUTER, INNER)], source)
        assert describe(projection, FILE, "", 6, 16) is None
        assert describe(projection, FILE, "def outer(self, a):", 4, 5) is not None
