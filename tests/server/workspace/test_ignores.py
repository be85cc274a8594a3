"""Comments that ignore findings: what they name, what they do to a report, and the quick fix for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    Fact,
    FrameCompiled,
    FrameStarted,
    GraphBreak,
    ProgramRaised,
    RunFinished,
    StackFrame,
)
from fullgraph_server.cli.fail_on import FAIL_ON
from fullgraph_server.cli.formats.text import summary
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.examples import find_examples
from fullgraph_server.workspace.ignores import ignore_comments, ignoring
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/toy.py"
TEXT = """\
@torch.compile
def f(x):
    x = g(
        "a",
    )<comment>
    return x
"""
CALL = StackFrame(FILE, 3, "f", 8, 5, 5)
HERE = ("f", FILE, 1)
STARTED = FrameStarted("0/0", *HERE)
COMPILED = FrameCompiled("0/0", *HERE, graphs=1, ops=1, guards=1, seconds=0.1)
BREAK = GraphBreak("0/0", "GB0059", "prints", "", (), "", "", skips_frame=False, text="", stack=(CALL,))
ENDED = RunFinished("finished", 1.0)


def source(text: str) -> SourceFile:
    return SourceFile(FILE, text)


def report(comment: str, *facts: Fact) -> Report:
    text = TEXT.replace("<comment>", comment)
    workspace = Workspace(Path("/w"), {FILE: source(text)}.get)
    return fold("toy.py", 1, "2.13.0", (STARTED, *facts), workspace)


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x  # fullgraph: ignore[GB0059]", [("GB0059",)]),
        ("x  #fullgraph:ignore[ GB0059 ,recompile]", [("GB0059", "recompile")]),
        ("x  # type: ignore[x]  # fullgraph: ignore[GB0059]", [("GB0059",)]),
        ("x  # fullgraph: ignore", [()]),
        ("x = '# fullgraph: ignore[GB0059]'", []),
        ("x  # fullgraph: ignored(f32[3])", []),
        ("# fullgraph: ignore(f32[3])", []),
        ("x  # fullgraph: ignore[GB0059]\n(", [("GB0059",)]),
    ],
)
def test_a_comment_names_codes(text: str, expected: list[tuple[str, ...]]) -> None:
    assert [comment.codes for comment in ignore_comments(source(text))] == expected


def test_a_comment_above_a_function_is_no_example_call() -> None:
    found = find_examples(source("# fullgraph: ignore[GB0059]\ndef f(x): return x\n"))
    assert (found.examples, found.problems) == ((), ())
    found = find_examples(source("# fullgraph: ignore(f32[9])\ndef ignore(x): return x\n"))
    assert [example.qualname for example in found.examples] == ["ignore"]


@pytest.mark.parametrize("code", ["GB0059", "graph-break", "GB0001, GB0059"])
def test_a_finding_is_ignored_anywhere_on_its_lines(code: str) -> None:
    told = report(f"  # fullgraph: ignore[{code}]", BREAK)
    assert (codes(told), [finding.code for finding in told.ignored]) == ([], ["GB0059"])
    assert " - 1 finding ignored" in summary(told)


def test_the_summary_does_not_deny_what_is_ignored() -> None:
    told = report("  # fullgraph: ignore[GB0059]", BREAK, COMPILED, ENDED)
    assert (
        summary(told)
        == "no other findings in 1 function (1 graph, ran 1.0 s) - torch 2.13.0 - 1 finding ignored"
    )


def test_what_is_not_named_counts() -> None:
    told = report("  # fullgraph: ignore[recompile]", BREAK)
    assert (codes(told), told.ignored) == (["GB0059"], ())
    assert "ignored" not in summary(told)


def test_an_error_is_not_ignored() -> None:
    error = ProgramRaised("ValueError", "mine", (CALL,), "ValueError: mine")
    told = report("  # fullgraph: ignore[target-error]", error)
    assert (codes(told), told.ignored) == (["target-error"], ())


def test_what_ignored_nothing_is_told_after_a_complete_run_that_compiled_the_function() -> None:
    comment = "  # fullgraph: ignore[GB0059, GB0124, perf-hint]"
    assert codes(report(comment, BREAK, COMPILED)) == []
    told = report(comment, BREAK, COMPILED, ENDED)
    (unused,) = told.findings
    assert (unused.kind, unused.span.row) == ("unused-ignore", 5)
    assert unused.message == "`ignore[GB0124]` ignored nothing in this run"
    assert not FAIL_ON["break"](unused)
    assert not FAIL_ON["recompile"](unused)


def test_a_comment_in_a_function_that_was_not_compiled_may_have_its_use() -> None:
    text = "def other():\n    pass  # fullgraph: ignore[GB0001]\n" + TEXT.replace("<comment>", "")
    workspace = Workspace(Path("/w"), {FILE: source(text)}.get)
    here = ("f", FILE, 3)
    facts = (FrameStarted("0/0", *here), FrameCompiled("0/0", *here, 1, 1, 1, 0.1), ENDED)
    assert fold("toy.py", 1, "", facts, workspace).findings == ()


def test_a_comment_that_names_nothing_is_told() -> None:
    (found,) = report("  # fullgraph: ignore", COMPILED, ENDED).findings
    assert found.message == "this comment names nothing to ignore"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = 1", "x = 1  # fullgraph: ignore[GB0059]"),
        ("x = 1   ", "x = 1  # fullgraph: ignore[GB0059]"),
        ("x = 1  # why", "x = 1  # why  # fullgraph: ignore[GB0059]"),
        ("x = 1  # fullgraph: ignore[recompile]", "x = 1  # fullgraph: ignore[recompile, GB0059]"),
        ("x = 1  # fullgraph: ignore  # why", "x = 1  # fullgraph: ignore[GB0059]  # why"),
        ("x = '''", None),
        ("x = \\", None),
    ],
)
def test_the_fix_writes_a_comment_where_one_can_stand(line: str, expected: str | None) -> None:
    before = source(f"import torch\n{line}\n" + ("1 '''\n" if "'''" in line else "1\n"))
    assert before.tree is not None
    edit = ignoring(before, 2, "GB0059")
    if edit is None:
        assert expected is None
        return
    span, text = edit
    assert span.row == span.end_row == 2
    assert line[: span.column - 1] + text + line[span.end_column - 1 :] == expected
