"""Operators that do not do what they declare, in graphs that fail: torch's own words on them."""

from __future__ import annotations

import sys

import pytest

if sys.platform != "linux":
    pytest.skip("the checks run in a fork, on Linux only", allow_module_level=True)

from fullgraph_compiler.cases.case import (
    CaseGraph,
    CaseInput,
    CaseOperation,
    FailureCase,
    NormalValues,
    ResultRef,
    TensorSpec,
)
from fullgraph_compiler.diagnose.operators import operator_at_fault
from fullgraph_compiler.facts import Failure, FaultLocated, OperatorFault, StackFrame
from fullgraph_compiler.trace.export.texts import parse_failing_operator

SPEC = TensorSpec((2, 3), (3, 1), "float32", "cpu")
CALL = (StackFrame("model.py", 7, "forward"),)
DEFINED = """\
@torch.library.custom_op("faulty::op", mutates_args=())
def op(x: torch.Tensor) -> torch.Tensor:
    return {result}

@op.register_fake
def _(x):
    return torch.empty_like(x)"""
STRIDES = """\
expected size 6==6, stride 4==1 at dim=0
Error in op: torch.ops.faulty.op.default
This error most often comes from a incorrect fake (aka meta) kernel for a custom op.
Use torch.library.opcheck to test your custom op."""


def checked(
    result: str, text: str = "", target: str = "torch.ops.faulty.op.default"
) -> tuple[object, object]:
    operations = (
        CaseOperation("sin", "call_function", "torch.sin", (ResultRef("x"),), spec=SPEC),
        CaseOperation("op", "call_function", target, (ResultRef("sin"),), spec=SPEC, calls=CALL),
    )
    graph = CaseGraph(("x",), operations, (ResultRef("op"),))
    preamble = ("import torch", DEFINED.format(result=result))
    case = FailureCase("dynamo", "inductor", graph, (CaseInput("x", SPEC, NormalValues()),), preamble)
    failure = Failure("error", "AssertionError", "expected size", text=text)
    return operator_at_fault(case, FaultLocated(1, "inductor", "aot_eager", failure, "0/0"), 60.0)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("x.zero_().clone()", "Argument x is not defined as mutable but was mutated"),
        ("x.half()", "Dtypes torch.float16 and torch.float32 are not equal!"),
        ("x.t().contiguous().t()", "Stride mismatch!"),
    ],
)
def test_an_operator_that_is_not_what_it_declares_is_told_in_torchs_words(result: str, said: str) -> None:
    operator, calls = checked(result)
    assert isinstance(operator, OperatorFault)
    assert operator.name == "faulty::op"
    assert said in operator.said
    assert calls == CALL


def test_an_operator_that_passes_is_at_fault_only_if_the_error_names_it() -> None:
    assert checked("x * 2") == (None, ())
    assert checked("x * 2", f"Traceback\nAssertionError: {STRIDES}") == (
        OperatorFault(
            "faulty::op",
            "This error most often comes from a incorrect fake (aka meta) kernel for a custom op.",
        ),
        CALL,
    )


def test_operators_of_torch_are_not_checked() -> None:
    assert checked("x", STRIDES, target="torch.ops.aten.relu.default") == (None, ())


def test_only_the_error_about_a_result_names_an_operator() -> None:
    assert parse_failing_operator(STRIDES)[0] == "faulty::op"
    assert parse_failing_operator("Error in op: torch.ops.faulty.op.default") == ("", "")
    assert parse_failing_operator("CUDA out of memory") == ("", "")
