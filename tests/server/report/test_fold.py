"""Facts written by hand, folded into a report."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CompileFailure,
    Fact,
    FrameCompiled,
    FrameSkipped,
    FrameStarted,
    GraphBreak,
    GuardFailure,
    GuardInstalled,
    ModulesLoaded,
    ProgramRaised,
    Recompile,
    RecompileLimit,
    RunFinished,
    ShapeGuard,
    SizeViolation,
    Specialization,
    StackFrame,
    Status,
    Symbol,
    TargetProblem,
)
from fullgraph_compiler.trace.guards import METADATA
from fullgraph_compiler.trace.reasons import FREED
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.text.messages import WANTS_ARGUMENTS
from fullgraph_server.workspace.positions import Span, StackCall
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

TOY = """\
import torch
from einops import rearrange

@torch.compile
def toy(a, b):
    x = a / (torch.abs(a) + 1)
    print("woo")
    if b.sum() < 0:
        b = b * -1
    return x * b

class Net(torch.nn.Module):
    def forward(self, x):
        return rearrange(self.linear(x), "a b -> b a") * self.scale

toy(torch.randn(10), torch.randn(10))
"""
FILE = "/w/toy.py"
URL = "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html"
EINOPS = "/w/.venv/lib/python3.11/site-packages/einops/einops.py"
MODULE = StackFrame(FILE, 16, "<module>")
WORKSPACE = Workspace(Path("/w"), {FILE: SourceFile(FILE, TOY)}.get)
PRINT = StackFrame(FILE, 7, "toy", 4, None, 16)
CONDITION = StackFrame(FILE, 8, "toy", 7, None, 18)


def folded(*facts: Fact) -> Report:
    return fold("toy.py", 3, "2.13.0", facts, WORKSPACE)


def ended(*facts: Fact) -> Report:
    return folded(*facts, RunFinished("finished", 1.0))


def started(
    compile_id: str, function: str = "toy", row: int = 4, stack: tuple[StackFrame, ...] = (MODULE,)
) -> FrameStarted:
    return FrameStarted(compile_id, function, FILE, row, stack)


def compiled(compile_id: str, function: str = "toy", row: int = 4, ops: int = 2) -> FrameCompiled:
    return FrameCompiled(compile_id, function, FILE, row, 1, ops, 5, 0.5)


def broke(
    compile_id: str, *stack: StackFrame, reason: str = "print called", skips: bool = False
) -> GraphBreak:
    return GraphBreak(compile_id, "GB0059", reason, "why", ("do this",), "ctx", URL, stack, skips, "all")


def size(earlier: str, expected: int, actual: int, *stack: StackFrame) -> GuardFailure:
    reason = f"tensor 'a' size mismatch at index 0. expected {expected}, actual {actual}"
    return GuardFailure(
        earlier, "L['a']", "TENSOR_MATCH", reason, str(expected), str(actual), 0, stack, "size"
    )


def guard(
    compile_id: str, source: str, kind: str = "TENSOR_MATCH", code: str = "", row: int = 6
) -> GuardInstalled:
    return GuardInstalled(compile_id, source, kind, "words", code, (StackFrame(FILE, row, "toy"),))


def only(report: Report) -> Finding:
    assert len(report.findings) == 1, report.findings
    return report.findings[0]


def text_at(span: Span) -> str:
    return WORKSPACE.read(span.filename).line(span.row)[span.column - 1 : span.end_column - 1]  # type: ignore[union-attr]


def test_a_graph_break_stands_on_its_expression() -> None:
    assert only(folded(started("0/0"), broke("0/0", PRINT))) == Finding(
        kind="graph-break",
        code="GB0059",
        severity="warning",
        message='`print("woo")` breaks the graph',
        span=Span(FILE, 7, 5, 7, 17),
        explanation="print called. why",
        hints=("do this",),
        url=URL,
        stack=(StackCall(FILE, 16, "<module>"), StackCall(FILE, 7, "toy")),
        count=1,
        text="all",
        compile_ids=frozenset({"0/0"}),
    )


SUBJECTS = """\
def f(x, n, log):
    log.info("rows")
    y = x.sum().item()
    if x.sum() < 0:
        x.data = y
    while n < x.sum() or ask(x):
        del n
    return helper(
        x)
def g(x): return "a very long text that nobody wants to read in the title of a finding" + x
"""


@pytest.mark.parametrize(
    ("row", "text", "code", "explanation", "title"),
    [
        (2, 'log.info("rows")', "GB0291", "no `Logger.info` here", "`log.info` breaks the graph"),
        (2, 'log.info("rows")', "GB0291", "some information", '`log.info("rows")` breaks the graph'),
        (3, "x.sum().item()", "GB0124", "no `item()`", "`x.sum().item()` breaks the graph"),
        (4, "x.sum() < 0", "GB0170", "why", "a branch on the data of `x.sum()` breaks the graph"),
        (5, "x.data", "GB0056", "why", "the assignment to `x.data` breaks the graph"),
        (6, "n < x.sum()", "GB0170", "why", "a branch on the data of `n < x.sum()` breaks the graph"),
        (6, "ask(x)", "GB0170", "why", "a branch on the data of `ask(x)` breaks the graph"),
        (7, "n", "GB0082", "why", "`del n` breaks the graph"),
        (2, "log", "", "why", "torch says"),
        (3, "x.sum().item()", "GB0092", "the log cannot be made again", "torch says"),
        (4, "sum() <", "GB0001", "why", "torch says"),
        (8, "return helper(", "GB0001", "why", "torch says"),
        (10, SUBJECTS.splitlines()[9].partition("return ")[2], "GB0001", "why", "torch says"),
    ],
)
def test_the_title_names_what_breaks_the_graph_where_that_is_known(
    row: int, text: str, code: str, explanation: str, title: str
) -> None:
    start = SUBJECTS.splitlines()[row - 1].index(text)
    stack = (StackFrame(FILE, row, "f", start, None, start + len(text)),)
    fact = GraphBreak("0/0", code, "torch says", explanation, (), "", "", stack, False, "")
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, SUBJECTS)}.get)
    finding = only(fold("toy.py", 3, "2.13.0", [fact], workspace))
    assert finding.message == title
    known = title != "torch says"
    assert finding.explanation == (f"torch says. {explanation}" if known else explanation)


def test_the_title_names_nothing_that_torch_does_not_place() -> None:
    lacks_columns = (StackFrame(FILE, 7, "toy"),)
    assert only(folded(started("0/0"), broke("0/0", *lacks_columns))).message == "print called"
    assert only(folded(started("0/0"), broke("0/0"))).message == "print called"
    inner = StackFrame("/lib/torch/_dynamo/polyfills/__init__.py", 4, "any", 2, None, 9)
    branch = replace(broke("0/0", CONDITION, inner), code="GB0170")
    assert only(folded(started("0/0"), branch)).message == "`b.sum() < 0` breaks the graph"


def test_the_same_break_in_several_compilations_is_one_finding_and_a_restart_counts_once() -> None:
    report = folded(
        started("0/0"),
        broke("0/0", PRINT),
        broke("0/0", PRINT),
        started("0/1"),
        broke("0/1", PRINT),
        broke("0/1", CONDITION, reason="jump"),
    )
    assert [(text_at(item.span), item.count) for item in report.findings] == [
        ('print("woo")', 2),
        ("b.sum() < 0", 1),
    ]


def test_two_reasons_on_one_line_are_two_findings() -> None:
    report = folded(broke("0/0", PRINT, reason="one"), broke("0/0", PRINT, reason="two"))
    assert [item.explanation for item in report.findings] == ["one. why", "two. why"]


def test_a_break_that_skips_its_frame_says_so_and_is_still_the_same_break() -> None:
    finding = only(folded(started("0/0"), broke("0/0", PRINT), broke("1/0", PRINT, skips=True)))
    assert finding.message == '`print("woo")` breaks the graph; the whole of `toy` runs eagerly'
    assert finding.count == 2


def test_a_break_in_a_library_stands_on_the_line_that_led_there() -> None:
    call = StackFrame(FILE, 14, "forward", 15, None, 54)
    inside = StackFrame(EINOPS, 523, "reduce")
    torch_frame = StackFrame(
        "/usr/lib/python3.11/site-packages/torch/nn/modules/module.py", 1700, "_call_impl"
    )
    finding = only(folded(started("0/0", "forward", 13), broke("0/0", torch_frame, call, inside)))
    assert text_at(finding.span) == 'rearrange(self.linear(x), "a b -> b a")'
    call = '`rearrange(self.linear(x), "a b -> b a")`'
    assert finding.message == f"{call} breaks the graph (in `reduce`, einops/einops.py:523)"
    assert finding.stack == (
        StackCall(FILE, 16, "<module>"),
        StackCall(FILE, 14, "forward"),
        StackCall(EINOPS, 523, "reduce"),
    )


def test_a_library_frame_that_the_user_called_eagerly_is_led_back_to_the_call() -> None:
    begin = FrameStarted("0/0", "reduce", EINOPS, 500, (MODULE, StackFrame(FILE, 14, "forward")))
    finding = only(folded(begin, broke("0/0", StackFrame(EINOPS, 523, "reduce"))))
    assert (finding.span.filename, finding.span.row) == (FILE, 14)


def test_calls_that_the_stack_already_has_are_not_repeated() -> None:
    finding = only(folded(started("0/0"), broke("0/0", MODULE, PRINT)))
    assert finding.stack == (StackCall(FILE, 16, "<module>"), StackCall(FILE, 7, "toy"))


def test_without_any_frame_of_the_users_own_the_innermost_is_taken() -> None:
    finding = only(folded(broke("0/0", StackFrame("/lib/a.py", 3, "f"), StackFrame("/lib/b.py", 5, "g"))))
    assert finding.span == Span("/lib/b.py", 5, 1, 5, 1)
    assert finding.message == "print called"


def test_a_file_elsewhere_is_the_users_own_unless_a_library_has_it() -> None:
    stack = StackFrame("/job/train.py", 22, "loss"), StackFrame("/usr/lib/python3.12/contextlib.py", 105, "f")
    finding = only(folded(broke("0/0", *stack)))
    assert (finding.span.filename, finding.span.row) == ("/job/train.py", 22)


def test_resume_functions_are_joined_to_their_function() -> None:
    report = folded(
        started("0/0"),
        compiled("0/0"),
        started("1/0", "toy", 4, (MODULE,)),
        compiled("1/0", "toy", 4, ops=1),
        broke("1/0", StackFrame(FILE, 8, "toy", 7, None, 18)),
    )
    assert only(report).stack == (StackCall(FILE, 16, "<module>"), StackCall(FILE, 8, "toy"))
    assert [(frame.function, frame.row, frame.compile_ids) for frame in report.frames] == [
        ("toy", 5, ("0/0", "1/0"))
    ]
    frame = report.frames[0]
    assert (frame.graphs, frame.ops, frame.breaks, frame.seconds) == (2, 3, 1, 1.0)


def test_compile_failures_are_errors_by_their_phase() -> None:
    stack = (PRINT,)
    report = folded(
        CompileFailure(
            "0/0", "capture", "Unsupported", "print called\nmore", stack, code="GB0059", text="all"
        ),
        CompileFailure("1/0", "backend", "RuntimeError", "no kernel\nmore", (CONDITION,)),
        CompileFailure("2/0", "capture", "InternalTorchDynamoError", "", (StackFrame(FILE, 6, "toy"),)),
    )
    assert [(item.kind, item.code, item.severity, item.message) for item in report.findings] == [
        ("capture-error", "capture-error", "error", "InternalTorchDynamoError"),
        ("capture-error", "GB0059", "error", 'Dynamo cannot trace `print("woo")`'),
        ("compile-error", "compile-error", "error", "backend failed: no kernel"),
    ]


def test_a_mark_that_torch_refuses_stands_where_the_number_is_needed() -> None:
    size = "L['a'].size()[0]"
    number = SizeViolation("", size, value="10", text="torch's words.")
    here = (StackFrame(FILE, 10, "toy", 11, 10, 16),)
    facts = [
        started("0/0"),
        CompileFailure(
            "0/0", "capture", "ConstraintViolationError", "Constraints", (PRINT,), violations=(number,)
        ),
        Specialization("0/0", "s7", ("L['b'].size()[0]",), "10", "", (CONDITION,)),
        Specialization("0/0", "s9", (size,), "10", "", here),
    ]
    finding = only(folded(*facts))
    assert (finding.kind, finding.code, finding.severity) == ("capture-error", "size-constraint", "error")
    assert finding.message == "`a.shape[0]` becomes 10 here, though it is marked dynamic"
    assert text_at(finding.span) == "x * b"
    assert finding.explanation == "ConstraintViolationError: torch's words."
    assert "torch._dynamo.mark_dynamic(a, 0)" in finding.hints[0]
    restricted = SizeViolation("", size, condition="2 <= L['a'].size()[0] and L['a'].size()[0] <= 10")
    finding = only(
        folded(
            started("0/0"),
            CompileFailure("0/0", "capture", "E", "m", (PRINT,), violations=(restricted,)),
            ShapeGuard("0/0", "s9 <= 10", (Symbol("s9", size, 4),), here),
        )
    )
    assert "`2 <= a.shape[0] <= 10`" in finding.message
    assert text_at(finding.span) == "x * b"
    assert "min=..., max=..." in finding.hints[0]


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (
            "x.view(10, -1)",
            "If it varies, and the `10` in `.view(10, -1)` stands for it, write the size there instead, as",
        ),
        (
            "x + torch.zeros((10, 2))",
            "If it varies, and the `10` in `.zeros((10, 2))` stands for it, write the size there instead",
        ),
        (
            "x.view(n, -1)",
            "If it varies, this code has to work for every size: none of it may need the number",
        ),
        ("x.sum(10) + y", "If it varies, this code has to work for every size: a tensor that is combined"),
    ],
)
def test_the_number_that_makes_a_constant_of_a_marked_size_is_named(code: str, hint: str) -> None:
    size, file = "L['a'].size()[0]", "/w/sizes.py"
    here = (StackFrame(file, 2, "f", 11, 2, 11 + len(code)),)
    violation = SizeViolation("", size, value="10", text="torch's words.")
    facts = (
        FrameStarted("0/0", "f", file, 1),
        CompileFailure("0/0", "capture", "E", "m", (), violations=(violation,)),
        Specialization("0/0", "s9", (size,), "10", "", here),
    )
    text = SourceFile(file, f"def f(a, n, y):\n    return {code}\n")
    workspace = Workspace(Path("/w"), {file: text}.get)
    assert only(fold("sizes.py", 1, "2.13.0", facts, workspace)).hints[1].startswith(hint)


def test_what_a_function_of_an_operator_returns_is_named_with_what_to_write() -> None:
    text = "Input-to-output aliasing detected at nodes l_x_ and l_x_"
    cond = StackFrame("/w/.venv/lib/python3.11/site-packages/torch/_higher_order_ops/cond.py", 196, "cond")
    branch = StackFrame(FILE, 10, "toy", 11, 10, 16)
    hints = ("Replace `return input`.", "Consider using the debug context to change user code.")
    failure = CompileFailure(
        "0/0", "capture", "E", "aliasing", (CONDITION, cond, branch), "GB0040", hints=hints, text=text
    )
    finding = only(folded(started("0/0"), failure))
    assert finding.message == (
        "Dynamo cannot trace the result `x * b`: it shares memory with an input or another result"
    )
    assert finding.hints == ("Return a copy of it: add `.clone()`.",)
    unknown = replace(failure, stack=(CONDITION, cond), text="Input-to-input aliasing detected")
    finding = only(folded(started("0/0"), unknown))
    assert finding.message == "Dynamo cannot trace `b.sum() < 0`", "the operator is no library of its own"
    assert finding.hints == hints[:1]
    written = replace(failure, text="Encountered input mutation during higher order op tracing")
    assert only(folded(written)).hints == (
        "Compute a new tensor instead of writing into the input, and return it from the function.",
    )


def test_a_failure_without_a_stack_stands_on_the_function_name() -> None:
    finding = only(folded(started("0/0"), CompileFailure("0/0", "backend", "E", "bad", ())))
    assert (finding.span.row, text_at(finding.span)) == (5, "toy")
    assert finding.stack == (StackCall(FILE, 16, "<module>"), StackCall(FILE, 5, "toy"))


def test_a_skipped_frame_is_told_only_where_nothing_explains_it() -> None:
    skipped = FrameSkipped("0/0", "toy", FILE, 4, "too deep")
    assert [item.kind for item in folded(skipped, broke("0/0", PRINT)).findings] == ["graph-break"]
    finding = only(folded(skipped))
    assert finding.message == "`toy` is skipped: too deep; the whole of `toy` runs eagerly"
    assert (finding.code, finding.severity, text_at(finding.span)) == ("skipped-frame", "warning", "toy")


def test_a_recompilation_names_what_changed_where_it_was_first_needed() -> None:
    report = ended(
        started("0/0"), started("0/1"), Recompile("0/1", (size("0/0", 10, 12, StackFrame(FILE, 6, "toy")),))
    )
    finding = only(report)
    assert finding.message == "recompiled: size of `a` at dimension 0 was 10, is now 12"
    assert (finding.kind, finding.severity, finding.count) == ("recompile", "information", 1)
    assert finding.span == Span(FILE, 6, 9, 6, 10)
    assert "dynamic=True" in finding.hints[0]
    assert report.frames[0].recompiles == 1


def test_a_failure_without_a_stack_stands_on_the_line_of_its_guard() -> None:
    found = only(folded(started("0/1"), guard("0/0", "L['a']"), Recompile("0/1", (size("0/0", 10, 12),))))
    assert found.span == Span(FILE, 6, 9, 6, 10)


def test_a_failure_without_any_line_stands_on_the_parameter() -> None:
    found = only(folded(started("0/1"), Recompile("0/1", (size("0/0", 10, 12),))))
    assert found.span == Span(FILE, 5, 9, 5, 10)


def test_a_failure_first_needed_in_a_library_stands_on_the_parameter() -> None:
    library = StackFrame(EINOPS, 3, "g")
    found = only(folded(started("0/1"), Recompile("0/1", (size("0/0", 10, 12, library),))))
    assert found.span == Span(FILE, 5, 9, 5, 10)


def test_recompilations_of_one_dimension_are_one_finding_told_in_order() -> None:
    first = Recompile("0/1", (size("0/0", 10, 12),))
    second = Recompile("0/2", (size("0/0", 10, 14), size("0/1", 12, 14)))
    found = only(ended(started("0/1"), started("0/2"), first, second))
    assert found.message == "recompiled 2 times: size of `a` at dimension 0 was 10, then 12 and 14"
    assert found.count == 2


def test_a_condition_on_a_number_stands_where_the_code_asks_for_it() -> None:
    symbols = (Symbol("s1", "L['a']", 1),)
    asked = ShapeGuard("0/0", "Eq(PythonMod(s1, 2), 1)", symbols, (CONDITION,), (), "")
    elsewhere = (MODULE, PRINT, StackFrame(EINOPS, 3, "g"))
    failure = GuardFailure("0/0", "", "LAMBDA_GUARD", "(a % 2) == 1", stack=elsewhere)
    found = only(ended(started("0/0"), started("0/1"), asked, Recompile("0/1", (failure,))))
    assert (found.span.row, found.message) == (8, "recompiled: `a % 2 == 1` no longer holds")


def test_as_long_as_a_program_runs_there_may_be_more_recompilations() -> None:
    found = only(folded(started("0/1"), Recompile("0/1", (size("0/0", 10, 12),))))
    assert found.message == "recompiled so far: size of `a` at dimension 0 was 10, is now 12"


def test_values_that_change_alike_in_a_function_and_what_it_calls_are_one_finding() -> None:
    def inner(compile_id: str) -> FrameStarted:
        return FrameStarted(compile_id, "inner", FILE, 12, (MODULE, StackFrame(FILE, 6, "toy")))

    def other(compile_id: str) -> FrameStarted:
        return FrameStarted(compile_id, "other", FILE, 12, (MODULE,))

    again = Recompile("0/1", (size("0/0", 10, 12),))
    alike = Recompile("1/1", (replace(size("1/0", 10, 12), source="L['c']"),))
    same = (started("0/0"), started("0/1"), again, alike)
    found = only(ended(*same, inner("1/0"), inner("1/1")))
    assert found.message == ("recompiled 2 times: size of `a` at dimension 0 was 10, is now 12; likewise `c`")
    assert (found.explanation, found.count) == ("Likewise: `c` (toy.py:12).", 2)
    assert found.hints == ("Compile with `dynamic=True`, to keep one graph for every size. (Not tried.)",)
    assert len(ended(*same, other("1/0"), other("1/1")).findings) == 2


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (
            GuardFailure("0/0", "L['self'].scale", "EQUALS_MATCH", "L['self'].scale == 2", "2", "3"),
            "recompiled: `self.scale` was 2, is now 3",
        ),
        (GuardFailure("0/0", "G['x']", "EQUALS_MATCH", "G['x'] == 2", "2"), "recompiled: `x` is no longer 2"),
        (
            GuardFailure(
                "0/0", "L['a']", "TENSOR_MATCH", "tensor 'a' dtype mismatch", "F", "D", changed="dtype"
            ),
            "recompiled: dtype of `a` was F, is now D",
        ),
        (
            GuardFailure("0/0", "L['f']", "ID_MATCH", "___check_obj_id(L['f'], 7)"),
            "recompiled: a guard on `f` failed",
        ),
        (
            GuardFailure("0/0", "", "GLOBAL_STATE", "GLOBAL_STATE changed: grad_mode", changed="grad_mode"),
            "recompiled: grad mode changed",
        ),
        (
            GuardFailure("0/0", "L['f'].__closure__[1].scale", "EQUALS_MATCH", "", "2", "3"),
            "recompiled: `scale` was 2, is now 3",
        ),
        (
            GuardFailure("0/0", "", "LAMBDA_GUARD", "torch._C._is_x() is 7", "7"),
            "recompiled: none of the earlier compilations fits",
        ),
        (GuardFailure("0/0", "", "", "self.n == 2", "2"), "recompiled: `self.n == 2` no longer holds"),
        (
            GuardFailure("0/0", "L['___stack0']", "", "", "2", "3", 1, changed="size"),
            "recompiled: size of a value from before a graph break at dimension 1 was 2, is now 3",
        ),
        (GuardFailure("0/0", "", "", ""), "recompiled: none of the earlier compilations fits"),
        (
            GuardFailure("0/0", "", "", "tensor has too few dimensions"),
            "recompiled: torch says `tensor has too few dimensions`",
        ),
        (
            GuardFailure("0/0", "L['opt']", FREED, "", "the same object (torch.optim.sgd.SGD)"),
            "recompiled: `opt` was another `SGD`, which has been freed",
        ),
        (
            GuardFailure("0/0", "L['fn']", FREED, "", "the same function"),
            "recompiled: `fn` was another function, which has been freed",
        ),
        (
            GuardFailure("0/0", "L['x']", METADATA, "___check_metadata_1", "2", "5", changed="metadata"),
            "recompiled: metadata of `x` was 2, is now 5",
        ),
        (
            GuardFailure("0/0", "L['x']", METADATA, "___check_metadata_1", changed="metadata"),
            "recompiled: metadata of `x` changed",
        ),
        (GuardFailure("0/0", "", "LAMBDA_GUARD", "q == p"), "recompiled: `q == p` no longer holds"),
        (
            GuardFailure("0/0", "L['opt']", FREED, ""),
            "recompiled: `opt` was another object, which has been freed",
        ),
    ],
)
def test_recompile_messages(failure: GuardFailure, message: str) -> None:
    assert only(ended(started("0/1"), Recompile("0/1", (failure,)))).message == message


def test_a_check_of_torchs_own_is_no_number_that_the_code_needs() -> None:
    check = GuardInstalled("0/0", "L['a']", "LAMBDA_GUARD", "", "___check_it_14", ())
    failure = GuardFailure("0/0", "L['a']", "LAMBDA_GUARD", "___check_it_14")
    finding = only(ended(started("0/0"), check, started("0/1"), Recompile("0/1", (failure,))))
    assert (finding.message, finding.hints) == ("recompiled: a guard on `a` failed", ())


def test_members_of_enums_are_told_by_their_names() -> None:
    before = GuardInstalled("0/0", "L['a']", "ID_MATCH", "Phase.PREFILL", "___check_obj_id(L['a'], 7)", ())
    after = replace(before, compile_id="0/1", expected="Phase.DECODE")
    failure = GuardFailure("0/0", "L['a']", "ID_MATCH", "___check_obj_id(a, 7)", "Phase.PREFILL")
    report = ended(started("0/0"), before, started("0/1"), after, Recompile("0/1", (failure,)))
    assert only(report).message == "recompiled: `a` was Phase.PREFILL, is now Phase.DECODE"


def test_an_item_of_args_has_the_name_that_the_caller_has_for_it() -> None:
    text = "def run(*args):\n    return args[0] * 2\n\nrun(images)\n"
    source = SourceFile("/w/run.py", text)
    call = StackFrame(source.filename, 4, "<module>", 0, 4, 11)
    frames = [FrameStarted(f"0/{number}", "run", source.filename, 1, (call,)) for number in (0, 1)]
    length = GuardInstalled("0/0", "L['args']", "LENGTH_CHECK", "length 1", "len(L['args']) == 1", ())
    failure = GuardFailure("0/0", "L['args'][0]", "TENSOR_MATCH", "", "2", "3", 0, changed="size")
    workspace = Workspace(Path("/w"), {source.filename: source}.get)
    report = fold("run.py", 1, "2.13.0", (*frames, length, Recompile("0/1", (failure,))), workspace)
    assert only(report).message == "recompiled so far: size of `images` at dimension 0 was 2, is now 3"


def test_a_formula_is_no_value_that_a_number_has_now() -> None:
    formula = GuardInstalled(
        "0/1", "", "LAMBDA_GUARD", "(8 // (8 // L['a']))", "L['a'] == (8 // (8 // L['a']))", ()
    )
    kind = GuardInstalled("0/1", "L['a']", "TYPE_MATCH", "type int", "___check_type_id(L['a'], 7)", ())
    failure = GuardFailure("0/0", "L['a']", "EQUALS_MATCH", "a == 2", "2")
    report = ended(started("0/0"), started("0/1"), formula, kind, Recompile("0/1", (failure,)))
    assert only(report).message == "recompiled: `a` was 2, is now any int"


def test_a_value_without_a_name_is_not_named_by_nothing() -> None:
    unnamed = GuardFailure("1/0", "L['___stack0']", "TENSOR_MATCH", "", "2", "3", 0, changed="size")
    named = replace(unnamed, compile_id="0/0", source="L['a']", stack=(CONDITION,))
    report = ended(
        *(started(f"{frame}/{number}") for frame in (0, 1) for number in (0, 1)),
        Recompile("0/1", (named,)),
        Recompile("1/1", (unnamed,)),
    )
    assert [item.explanation for item in report.findings] == [
        "Likewise: a value from before a graph break (toy.py:5)."
    ]


def test_conditions_on_unnamed_values_are_told_apart() -> None:
    def failure(reason: str, expected: str) -> GuardFailure:
        return GuardFailure("0/0", "", "", reason, expected)

    report = ended(
        started("0/0"),
        Recompile("0/1", (failure("self.n == 1", "1"),)),
        Recompile("0/2", (failure("self.n == 2", "2"), failure("self.m == 1", "1"))),
    )
    assert [(item.message, item.count) for item in report.findings] == [
        ("recompiled: `self.m == 1` no longer holds", 1),
        ("recompiled: `self.n == 1` no longer holds", 1),
    ]
    assert (
        report.findings[0].explanation
        == "Other compilations did not fit either: `self.n == 2` no longer holds."
    )


def test_the_recompile_limit_stands_on_the_function_and_tells_what_kept_changing() -> None:
    fact = RecompileLimit("0/8", "toy", FILE, 4, 8, "recompile_limit", False, (size("0/0", 10, 12),))
    finding = only(folded(fact))
    assert finding.message == "`toy` reached the recompile limit of 8: new calls run eagerly from now on"
    assert (finding.code, finding.severity, text_at(finding.span)) == ("recompile-limit", "warning", "toy")
    assert finding.explanation == (
        "No compilation fits the call that hit the limit: size of `a` at dimension 0 was 10, is now 12."
    )
    assert "torch._dynamo.config.recompile_limit" in finding.hints[-1]


def test_a_limit_in_a_library_stands_on_the_users_call() -> None:
    calls = (MODULE, StackFrame(FILE, 14, "forward"))
    finding = only(folded(RecompileLimit("0/8", "f", EINOPS, 3, 8, "recompile_limit", False, (), calls)))
    assert (finding.span.row, finding.message) == (
        14,
        (
            "`f` reached the recompile limit of 8: new calls run eagerly from now on "
            "(in `f`, einops/einops.py:3)"
        ),
    )
    assert [(call.row, call.function) for call in finding.stack] == [
        (16, "<module>"),
        (14, "forward"),
        (3, "f"),
    ]


def test_a_fatal_recompile_limit_is_an_error() -> None:
    finding = only(folded(RecompileLimit("0/8", "toy", FILE, 4, 8, "recompile_limit", True)))
    assert (finding.severity, finding.message) == (
        "error",
        "`toy` reached the recompile limit of 8: it must not run eagerly",
    )


def test_a_program_that_argparse_ends_is_told_where_its_arguments_go() -> None:
    argparse = StackFrame("/usr/lib/python3.11/argparse.py", 2617, "exit")
    own = StackFrame(FILE, 16, "<module>")
    assert only(folded(ProgramRaised("SystemExit", "2", (own, argparse), ""))).hints == (WANTS_ARGUMENTS,)
    assert only(folded(ProgramRaised("SystemExit", "2", (own,), ""))).hints == ()
    assert only(folded(ProgramRaised("ValueError", "2", (own, argparse), ""))).hints == ()


def test_the_error_of_another_process_is_told_whole_and_on_its_line() -> None:
    message = f"""

-- Process 1 terminated with the following error:
Traceback (most recent call last):
  File "/w/.venv/lib/torch/multiprocessing/spawn.py", line 87, in _wrap
    fn(i, *args)
  File "{FILE}", line 7, in rank
    f(x)
torch._dynamo.exc.Unsupported: async_op=True for distributed collectives
  Explanation: It does not.
  Hint: Wait for it.

from user code:
   File "{FILE}", line 5, in f
    handle.wait()

Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace
"""
    own, spawn = StackFrame(FILE, 9, "<module>"), StackFrame("/w/.venv/lib/torch/spawn.py", 211, "join")
    finding = only(folded(ProgramRaised("ProcessRaisedException", message, (own, spawn), "")))
    assert finding.span.row == 5
    assert finding.message == (
        "ProcessRaisedException: Process 1 terminated with the following error: Unsupported: async_op=True "
        "for distributed collectives"
    )
    assert (finding.explanation, finding.hints) == ("It does not.", ("Wait for it.",))


def test_the_error_of_a_loader_is_told_whole() -> None:
    message = (
        "Caught KeyError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n"
        f'  File "{FILE}", line 5, in __getitem__\n    raise KeyError\nKeyError\n'
    )
    finding = only(folded(ProgramRaised("KeyError", message, (StackFrame(FILE, 9, "<module>"),), "")))
    assert finding.message == "KeyError: Caught KeyError in DataLoader worker process 0: KeyError"
    assert finding.span.row == 5


def test_the_program_and_its_target_can_be_wrong() -> None:
    report = folded(
        ProgramRaised("ValueError", "bad\nmore", (StackFrame(FILE, 16, "<module>"),), "Traceback"),
        TargetProblem("warning", "torch 2.9.0 is not supported", ("install torch 2.13",)),
    )
    assert [(item.severity, item.message, item.span.row) for item in report.findings] == [
        ("warning", "torch 2.9.0 is not supported", 1),
        ("error", "ValueError: bad", 16),
    ]
    assert {item.code for item in report.findings} == {"target-error"}


def test_a_problem_without_a_stack_stands_in_the_target_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    problem, workspace = TargetProblem("error", "no"), Workspace(tmp_path)
    places = [
        only(fold(target, 1, "", (problem,), workspace, filename)).span.filename
        for target, filename in [
            ("a.py", None),
            ("a.py::f", None),
            (f"pytest:{tmp_path}/a.py::test", None),
            ("named", None),
            ("named", "/w/x.py"),
        ]
    ]
    own = str(tmp_path / "a.py")
    assert places == [own, own, own, str(tmp_path / "pyproject.toml"), "/w/x.py"]


def test_guards_are_told_once_with_how_often_they_failed() -> None:
    report = folded(
        started("0/0"),
        guard("0/0", "L['a']", code="check(a, 10)"),
        guard("0/0", "L['b']", code="check(b)"),
        guard("0/0", "L['a']", "NO_HASATTR", code="not hasattr"),
        Recompile("0/1", (size("0/0", 10, 12),)),
        started("0/1"),
        guard("0/1", "L['a']", code="check(a, 12)"),
        guard("0/1", "L['b']", code="check(b)"),
        Recompile("0/2", (size("0/0", 10, 14), size("0/1", 12, 14))),
        started("0/2"),
    )
    guards = report.frames[0].guards
    assert [(item.code, item.compile_id, item.failures) for item in guards] == [
        ("check(a, 10)", "0/0", 2),
        ("check(b)", "0/0", 0),
        ("not hasattr", "0/0", 0),
        ("check(a, 12)", "0/1", 1),
    ]
    assert guards[0].span == Span(FILE, 6, 9, 6, 10)


def test_a_failure_of_an_unknown_kind_counts_for_every_guard_on_its_source() -> None:
    failure = GuardFailure("0/0", "L['a']", "", "changed")
    report = folded(
        started("0/0"),
        guard("0/0", "L['a']", "X"),
        guard("0/0", "L['a']", "Y"),
        started("0/1"),
        Recompile("0/1", (failure,)),
    )
    assert [item.failures for item in report.frames[0].guards] == [1, 1]


def test_the_run_gives_its_status_and_files() -> None:
    report = folded(started("0/0"), broke("0/0", StackFrame(FILE, 14, "toy"), StackFrame(EINOPS, 1, "f")))
    assert (report.status, report.seconds, report.generation, report.torch) == (None, 0.0, 3, "2.13.0")
    assert report.files == {FILE: WORKSPACE.source(FILE)}
    ended = folded(RunFinished("crashed", 1.5, -11))
    assert (ended.status, ended.seconds, ended.findings) == ("crashed", 1.5, ())


def test_imported_files_of_the_workspace_are_told_and_not_read() -> None:
    helper, deeper = "/w/helper.py", "/w/deeper.py"
    report = folded(
        ModulesLoaded((helper, "/elsewhere/other.py")),
        broke("0/0", PRINT),
        ModulesLoaded((deeper, EINOPS, FILE)),
    )
    assert report.files == {helper: None, deeper: None, FILE: WORKSPACE.source(FILE)}


FACTS: tuple[Fact, ...] = (
    started("0/0"),
    guard("0/0", "L['a']"),
    broke("0/0", PRINT, skips=True),
    compiled("0/0"),
    Recompile("0/1", (size("0/0", 10, 12),)),
    RecompileLimit("0/8", "toy", FILE, 4, 8, "recompile_limit", False),
    CompileFailure("0/1", "backend", "E", "m", ()),
    FrameSkipped("3/0", "g", "/gone.py", 0, ""),
    RunFinished("finished", 1.0),
)


@pytest.mark.parametrize("seed", range(20))
def test_any_part_of_the_facts_in_any_order_gives_a_report(seed: int) -> None:
    chance = random.Random(seed)
    facts = chance.sample(FACTS, chance.randrange(len(FACTS) + 1))
    report = folded(*facts)
    findings = {type(fact) for fact in facts} & {
        GraphBreak,
        Recompile,
        RecompileLimit,
        CompileFailure,
        FrameSkipped,
    }
    assert len(report.findings) == len(findings)


def test_the_order_of_facts_does_not_change_the_findings() -> None:
    assert folded(*reversed(FACTS)).findings == folded(*FACTS).findings


def test_five_thousand_guards_are_all_there() -> None:
    facts: list[Fact] = [started(f"0/{number}") for number in range(10)]
    for number in range(5000):
        source = f"L['self']._modules['layers']._modules['{number}'].attention._parameters['weight']"
        facts.append(guard(f"0/{number % 10}", source, code=f"check({number})", row=14))
    assert len(folded(*facts).frames[0].guards) == 5000


def test_an_exception_of_the_programs_own_is_not_a_graph_break_too() -> None:
    frame = StackFrame(FILE, 6, "toy")
    report = folded(
        started("0/0"),
        broke("0/0", frame, reason="Observed exception", skips=True),
        ProgramRaised("ValueError", "mine", (frame,), "Traceback ..."),
    )
    assert only(report).message == "ValueError: mine"


def test_a_break_that_one_compilation_tells_twice_is_one_finding() -> None:
    report = folded(
        started("0/0"),
        broke("0/0", StackFrame(FILE, 7, "toy", 4, 7, 16)),
        broke("0/0", StackFrame(FILE, 7, "toy", 10, 7, 15), skips=True),
        broke("0/1", StackFrame(FILE, 7, "toy", 10, 7, 15)),
    )
    assert [(finding.span.column, finding.count) for finding in report.findings] == [(5, 1), (11, 1)]
    assert report.findings[0].message == '`print("woo")` breaks the graph; the whole of `toy` runs eagerly'


def test_a_break_that_stops_the_program_is_an_error_where_others_go_on() -> None:
    failure = CompileFailure(
        "4/0", "capture", "Unsupported", "print called", (CONDITION, PRINT), "GB0059", "why", (), URL
    )
    facts = (started("0/0"), broke("0/0", PRINT), started("4/0"), failure)
    for report in (folded(*facts), folded(*reversed(facts))):
        found = {item.severity: (item.kind, item.count, item.stack[-2].row) for item in report.findings}
        assert found == {"warning": ("graph-break", 1, 16), "error": ("capture-error", 1, 8)}
        assert report.frames[0].breaks == 1


def test_what_one_compilation_tells_twice_is_as_grave_as_the_gravest() -> None:
    problems = [TargetProblem(severity, "no") for severity in ("information", "error", "warning")]
    assert only(folded(*problems)).severity == "error"
    failure = CompileFailure("0/0", "capture", "Unsupported", "print called", (PRINT,), "GB0059")
    finding = only(folded(started("0/0"), broke("0/0", PRINT), failure))
    assert (finding.kind, finding.severity) == ("capture-error", "error")


NO_GPU = TargetProblem("error", "no kernels for a GPU: there is no preview environment", of_run=True)
PROGRAM = TargetProblem("information", "Stopped after 5 s, its time limit.")


@pytest.mark.parametrize(
    ("problem", "status", "of_run"),
    [
        (TargetProblem("error", "/no/python is not there"), "not-started", True),
        (TargetProblem("error", "pytest finds no test a.py::test_b"), "not-started", True),
        (
            TargetProblem("error", "SyntaxError: no", (), (StackFrame(FILE, 3, "<module>"),)),
            "not-started",
            False,
        ),
        (NO_GPU, "finished", True),
        (TargetProblem("warning", "torch 2.9 is not tested", of_run=True), "finished", True),
        (PROGRAM, "timeout", False),
        (TargetProblem("error", "The program crashed: SIGSEGV."), "crashed", False),
        (ProgramRaised("ValueError", "bad", (), ""), "raised", False),
    ],
)
def test_a_problem_of_the_run_is_in_no_line(problem: Fact, status: Status, of_run: bool) -> None:
    assert only(folded(problem, RunFinished(status, 0.1))).of_run is of_run
