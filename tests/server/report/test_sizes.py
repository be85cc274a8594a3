"""What traces take for granted of sizes: in the user's words, and behind a guard that failed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fullgraph_compiler.facts import (
    FrameStarted,
    GuardFailure,
    Recompile,
    RecompileLimit,
    ShapeGuard,
    Specialization,
    StackFrame,
    Symbol,
)
from fullgraph_server.report.model import Report
from fullgraph_server.report.sizes import condition_behind
from fullgraph_server.text.size_expressions import written_condition, written_size
from test_fold import FILE, MODULE, folded

pytestmark = pytest.mark.portable

ROWS = Symbol("s77", "L['x'].size()[0]", 8)
OTHER = Symbol("s52", "L['self']._buffers['table'].size()[1]", 8)
CONDITION = StackFrame(FILE, 8, "toy", 7, None, 18)


def shape(expression: str, compile_id: str = "0/0", *symbols: Symbol) -> ShapeGuard:
    torch_stack = (StackFrame("/v/site-packages/torch/_refs/__init__.py", 1629, "_split_dim_meta"),)
    return ShapeGuard(compile_id, expression, symbols or (ROWS, OTHER), (CONDITION,), torch_stack)


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        ("s77 > 4", "x.shape[0] > 4"),
        ("Eq(s77, s52)", "x.shape[0] == self.table.shape[1]"),
        ("Eq(Mod(s77, 2), 0)", "x.shape[0] % 2 == 0"),
        ("Ne(((2*s77)//((s77//2))), 1)", "2 * x.shape[0] // (x.shape[0] // 2) != 1"),
        ("Eq(PythonMod(s77, FloorDiv(s52, 2)), 0)", "x.shape[0] % (self.table.shape[1] // 2) == 0"),
        ("Max(1, s77) < 5", "Max(1, x.shape[0]) < 5"),
        ("u0 >= 0", "u0 >= 0"),
        ("s77 >", "s77 >"),
        (" + ".join(["s77"] * 3000), " + ".join(["s77"] * 3000)),
    ],
)
def test_a_condition_is_told_in_the_words_of_the_code(expression: str, written: str) -> None:
    assert written_condition(expression, (ROWS, OTHER)) == written


def test_a_size_that_torch_alone_has_a_name_for_keeps_its_symbol() -> None:
    unnamed = Symbol("s1", "L['x'].<ephemeral: tensor_visitor_fn>._offsets.size()[0]", 3)
    assert written_condition("Eq(s77, s1)", (ROWS, unnamed)) == "x.shape[0] == s1"


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("L['x'].size()[0]", "x.shape[0]"),
        ("L['x'].stride()[1]", "x.stride(1)"),
        ("L['n']", "n"),
        ("L['self'].layers[0].width", "self.layers[0].width"),
    ],
)
def test_a_size_is_told_as_it_is_written(source: str, written: str) -> None:
    assert written_size(source) == written


@pytest.mark.parametrize(
    ("reason", "expression"),
    [
        ("(x.size()[0] % 2) == 0", "Eq(Mod(s77, 2), 0)"),
        ("self.table.size()[1] == x.size()[0]  # (unknown var s52, please file a bug)", "Eq(s77, s52)"),
        ("2 <= x.size()[0] <= 4096", "s77 <= 4096"),
        ("5 <= x.size()[0]", "s77 > 4"),
        ("x.size()[0] <= 7", "s77 < 8"),
        ("tensor 'x' size mismatch at index 0. expected 8, actual 9", None),
        ("n == 3", None),
    ],
)
def test_the_condition_behind_a_relation_that_failed(reason: str, expression: str | None) -> None:
    guards = [
        shape(text) for text in ("Eq(Mod(s77, 2), 0)", "s77 <= 4096", "s77 < 8", "s77 > 4", "Eq(s77, s52)")
    ]
    found = condition_behind(GuardFailure("0/0", "", "", reason), guards)
    assert (found.expression if found else None) == expression


def recompiled(*constants: Specialization) -> Report:
    failure = GuardFailure(
        "0/1", "L['a']", "TENSOR_MATCH", "a size", "6", "8", 0, (CONDITION,), changed="size"
    )
    return folded(FrameStarted("0/1", "toy", FILE, 4, (MODULE,)), *constants, Recompile("0/2", (failure,)))


def test_a_size_that_became_a_number_is_not_advised_to_be_dynamic() -> None:
    (plain,) = recompiled().findings
    assert plain.hints[0].startswith("Compile with `dynamic=True`")
    became = Specialization("0/1", "s77", ("L['a'].size()[0]",), "6", "range_refined", (CONDITION,))
    report = recompiled(became)
    assert "uses `a.shape[0]` as a Python number" in report.findings[0].hints[0]
    assert [(item.text, item.reason) for item in report.sizes] == [("a.shape[0] == 6", "range_refined")]
    # A comparison leaves the other sizes dynamic.
    asked = replace(
        became, torch_stack=(StackFrame("s.py", 960, "inner"), StackFrame("t.py", 26, "evaluate_expr"))
    )
    assert recompiled(asked).findings[0].hints == plain.hints
    other = Specialization("0/1", "s77", ("L['a'].size()[1]",), "6", "range_refined", (CONDITION,))
    assert recompiled(other).findings[0].hints == plain.hints


def test_a_relation_that_failed_stands_where_the_code_asked() -> None:
    failure = GuardFailure("0/0", "", "LAMBDA_GUARD", "x.size()[0] <= 4")
    report = folded(
        FrameStarted("0/0", "toy", FILE, 4, (MODULE,)),
        shape("s77 < 5"),
        FrameStarted("0/1", "toy", FILE, 4, (MODULE,)),
        Recompile("0/1", (failure,)),
    )
    assert [finding.span.row for finding in report.findings] == [8]
    assert report.compilations[1].caller == report.compilations[0].caller
    assert report.compilations[1].caller is not None
    assert report.compilations[1].caller.row == MODULE.row


def test_a_limit_tells_all_causes_by_frequency_and_what_to_change_first() -> None:
    def changed(number: int) -> GuardFailure:
        sizes = ("TENSOR_MATCH", "size", str(number), str(number + 1), "size", 0)
        kind, reason, expected, actual, what, dimension = sizes
        return GuardFailure(f"0/{number}", "L['a']", kind, reason, expected, actual, dimension, changed=what)

    value = GuardFailure("0/3", "L['b']", "EQUALS_MATCH", "b == 1", "1", "2")
    finding = folded(
        FrameStarted("0/0", "toy", FILE, 4),
        *(Recompile(f"0/{number + 1}", (changed(number),)) for number in (4, 5)),
        Recompile("0/4", (changed(2), value)),
        RecompileLimit("0/8", "toy", FILE, 4, 8, "recompile_limit", False, (changed(7),)),
    ).findings[-1]
    assert finding.kind == "recompile-limit"
    assert finding.explanation.splitlines() == [
        "It was compiled again 2 times because size of `a` at dimension 0 was 4, then 5 and 6.",
        "It was compiled again because `b` was 1, is now 2.",
        "No compilation fits the call that hit the limit: size of `a` at dimension 0 was 7, is now 8.",
    ]
    assert finding.hints[0].startswith("First, for 2 of 3 recompilations: Compile with `dynamic=True`")
    assert finding.hints[-1].startswith("Raise `torch._dynamo.config.recompile_limit`")
