"""A function of an operator that raises with fake tensors is named, and the compiler not blamed."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CompileFailure,
    FailingKernel,
    Failure,
    FaultLocated,
    GraphBreak,
    StackFrame,
    StageChecked,
)
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
TEXT = """\
lib = torch.library.Library("demo", "DEF")
lib.define("inner(Tensor! out, Tensor a) -> ()")
lib.define("outer(Tensor x) -> Tensor")


@scale.register_fake
def _(values, factor):
    torch._check(factor.dim() == 0, lambda: "dimensions")
    return values @ factor


def outer(x):
    out = x.new_empty(3)
    torch.ops.demo.inner(out, x)
    return out


def f(x):
    return scale(x, x)
"""
NO_KERNEL = "demo::inner: attempted to run this operator with Meta tensors, but there was no fake impl or"


def only(kernel: FailingKernel, *more: FaultLocated | StageChecked, text: str = TEXT) -> Finding:
    said = "RuntimeError when making fake tensor call"
    explanation = (
        "Dynamo failed to run FX node with fake tensors: call_function f(*(), **{}): got KeyError('a')"
    )
    stack = (StackFrame(FILE, 19, "f"),)
    fact = CompileFailure(
        "0/0", "capture", "TorchRuntimeError", said, stack, "GB4315", explanation, kernel=kernel
    )
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    (finding,) = fold("program.py", 1, "2.13.0", (fact, *more), workspace).findings
    return finding


def fake(row: int, *calls: StackFrame) -> FailingKernel:
    stack = (StackFrame(FILE, row, "_"), *calls)
    return FailingKernel("demo::scale", "fake", "RuntimeError", "sizes differ", stack)


def test_a_fake_kernel_that_raises_is_named() -> None:
    finding = only(fake(9))
    assert finding.message == "the fake kernel of `demo::scale` raises RuntimeError"
    assert finding.explanation == (
        "The fake kernel of `demo::scale`, which uncompiled code does not run, raises RuntimeError on line "
        "9: sizes differ"
    )
    (hint,) = finding.hints
    assert "`values.new_empty(...)`" in hint


def test_the_line_of_a_fake_kernel_that_calls_further_is_named() -> None:
    finding = only(fake(9, StackFrame(FILE, 13, "outer")))
    assert "raises RuntimeError on line 13, called on line 9: sizes differ" in finding.explanation


def test_a_check_in_a_fake_kernel_may_be_right() -> None:
    finding = only(fake(8))
    assert "which uncompiled code does not run" in finding.explanation
    (hint,) = finding.hints
    assert "correct the check, and else the inputs" in hint


@pytest.mark.parametrize(
    "other",
    ["@torch.library.impl(lib, 'scale', 'CPU')\n@scale.register_fake", "@scale.register_kernel('cpu')"],
)
def test_a_kernel_that_uncompiled_code_runs_too_is_not_said_to_be_fake_only(other: str) -> None:
    text = TEXT.replace("\n\n@scale.register_fake", f"\n{other}" if "\n" in other else f"\n\n{other}")
    assert "uncompiled" not in only(fake(9), text=text).explanation


def test_the_error_that_torch_wraps_is_told() -> None:
    said = "Dynamo failed to run FX node with fake tensors: call_function f(*(), **{}): got KeyError('a')"
    kernel = FailingKernel("demo::scale", "fake", "RuntimeError", said, (StackFrame(FILE, 9, "_"),))
    assert only(kernel).message == "the fake kernel of `demo::scale` raises KeyError"


def test_an_operator_without_a_fake_kernel_is_named_where_another_calls_it() -> None:
    kernel = FailingKernel(
        "demo::outer", "real", "NotImplementedError", NO_KERNEL, (StackFrame(FILE, 14, "outer"),)
    )
    finding = only(kernel)
    assert finding.message == "`demo::inner` has no fake kernel"
    assert finding.explanation.startswith("`demo::inner` (line 2) has no fake kernel")
    assert "`outer`, which `demo::outer` runs with fake tensors, calls it on line 14" in finding.explanation
    inner, outer = finding.hints
    assert '`@torch.library.register_fake("demo::inner")`' in inner
    assert "the operator returns nothing" in inner
    assert '`@torch.library.register_fake("demo::outer")`' in outer


def test_an_implementation_that_raises_with_fake_tensors_is_named() -> None:
    kernel = FailingKernel("demo::outer", "real", "ValueError", "no data", (StackFrame(FILE, 13, "outer"),))
    finding = only(kernel)
    assert "`demo::outer` has no fake kernel, so torch runs `outer`" in finding.explanation
    assert "ValueError on line 13: no data" in finding.explanation
    assert 'register_fake("demo::outer")' in finding.hints[0]


def test_an_operator_that_needs_no_fake_kernel_is_not_blamed() -> None:
    stack = (StackFrame(FILE, 13, "outer"),)
    finding = only(FailingKernel("demo::outer", "composite", "ValueError", "no data", stack))
    assert "fake kernel" not in finding.explanation


def test_a_break_names_the_operator_too() -> None:
    stack = (StackFrame(FILE, 14, "outer"),)
    kernel = FailingKernel("demo::outer", "real", "NotImplementedError", NO_KERNEL, stack)
    reason = "Operator does not support running with fake tensors"
    calls = (StackFrame(FILE, 19, "f"),)
    text = f"{reason}\nunsupported operator: demo.outer.default"
    fact = GraphBreak("0/0", "GB0090", reason, "", (), "", "", calls, False, text, kernel=kernel)
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, TEXT)}.get)
    (finding,) = fold("program.py", 1, "2.13.0", (fact,), workspace).findings
    assert "`demo::inner` (line 2) has no fake kernel" in finding.explanation


def test_stages_do_not_blame_dynamo_for_a_fake_kernel() -> None:
    failure = Failure("error", "TorchRuntimeError", "RuntimeError when making fake tensor call")
    fault = FaultLocated(1, "eager", "uncompiled", failure, "0/0", (StackFrame(FILE, 19, "f"),))
    checked = (StageChecked("uncompiled", "", None, 1.0), StageChecked("eager", "", failure, 1.0))
    finding = only(fake(9), *checked, fault)
    first, _, rest = finding.explanation.partition("\n")
    assert first == "The fault is in the fake kernel, and not in Dynamo."
    assert rest.startswith("The fake kernel of `demo::scale`")
