"""A branch that only data decide is told as the program writes it, with what to assert."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import CompileFailure, StackFrame
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
TORCH = "/w/.venv/lib/python3.11/site-packages/torch"
TEXT = """\
@torch.compile(fullgraph=True)
def f(x):
    n = x.nonzero().shape[0]
    {code}
        return x
    return x + n
"""


def only(code: str, condition: str, *below: StackFrame, text: str = TEXT) -> Finding:
    text = text.format(code=code)
    row = 4
    column = text.splitlines()[row - 1].index(condition)
    message = (
        "Consider annotating your code using torch._check*(). Could not guard on data-dependent expression "
        "u0 > 2 (unhinted: u0 > 2).  (Size-like symbols: u0)\n\nconsider using guard_or_false"
    )
    frame = StackFrame(FILE, row, "f", column, row, column + len(condition))
    fact = CompileFailure("0/0", "capture", "UserError", message, (frame, *below), explanation="raw")
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    (finding,) = fold("program.py", 1, "2.13.0", (fact,), workspace).findings
    return finding


def test_a_branch_is_told_with_both_checks_and_with_cond() -> None:
    finding = only("if n > 2:", "n > 2")
    assert finding.message == "Dynamo cannot decide `n > 2`: it depends on data"
    assert "`u0 > 2`" in finding.explanation
    check, both, without = finding.hints
    assert "`torch._check(n > 2)`" in check
    assert "`torch._check(n <= 2)`" in check
    assert "torch.cond(n > 2, ...)" in both
    assert "`fullgraph=True` (line 1)" in without


def test_a_loop_becomes_a_while_loop() -> None:
    assert "torch.while_loop" in only("while n > 2:", "n > 2").hints[0]


def test_what_a_library_asks_is_no_branch_of_the_program() -> None:
    library = StackFrame("/w/.venv/lib/python3.11/site-packages/other/code.py", 3, "g")
    assert "cannot decide" not in only("if g(n):", "g(n)", library).message


LIMITER = """\
@torch.compile(fullgraph=True)
def f(x):
    peak = x.abs().max().item()
    {code}
"""
LEAVE = "Leave `peak` a tensor, without `.item()` (line 3), and "
COND = "`torch.where` for values, `torch.cond(peak > 1.0, ...)` for code."


@pytest.mark.parametrize(
    ("rest", "hint"),
    [
        ("x = x / peak", "write `x = torch.where(peak > 1.0, x / peak, x)`."),
        ("y = x\n    else:\n        y = -x", "write `y = torch.where(peak > 1.0, x, -x)`."),
        ("return x / peak\n    return x", f"make both branches part of the program: {COND}"),
    ],
)
def test_a_number_that_only_the_branch_needs_stays_a_tensor(rest: str, hint: str) -> None:
    finding = only(f"if peak > 1.0:\n        {rest}", "peak > 1.0", text=LIMITER)
    assert finding.hints[0] == LEAVE + hint
    assert len(finding.hints) == 2
    assert "`fullgraph=True` (line 1)" in finding.hints[1]


def test_a_number_that_other_code_needs_stays_one() -> None:
    rest = "if peak > 1.0:\n        x = x / peak\n    return x[:peak]"
    assert "torch._check(peak > 1.0)" in only(rest, "peak > 1.0", text=LIMITER).hints[0]


@pytest.mark.parametrize("rest", ["x = x[:peak]", "x = torch.zeros(peak)"])
def test_a_number_that_the_branch_itself_needs_stays_one(rest: str) -> None:
    found = only(f"if peak > 1.0:\n        {rest}", "peak > 1.0", text=LIMITER)
    assert "torch._check(peak > 1.0)" in found.hints[0]


@pytest.mark.parametrize("value", ["'low'", "None", "(x, x)"])
def test_what_is_no_number_or_tensor_is_not_chosen_by_where(value: str) -> None:
    found = only(f"if peak > 1.0:\n        y = {value}", "peak > 1.0", text=LIMITER)
    assert "y = torch.where" not in found.hints[0]


def test_numbers_that_are_unpacked_or_kept_in_an_object_are_left_alone() -> None:
    for target in ("a, b", "self.peak"):
        text = LIMITER.replace("peak =", f"{target} =")
        found = only("if a > 1.0:\n        x = x / a", "a > 1.0", text=text)
        assert "torch._check(a > 1.0)" in found.hints[0]
