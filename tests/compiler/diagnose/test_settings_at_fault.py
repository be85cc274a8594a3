"""Settings of a program without which a failing graph passes, and the random operations of graphs."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

if sys.platform != "linux":
    pytest.skip("graphs are checked in a fork, on Linux only", allow_module_level=True)

from fullgraph_compiler.cases.case import (
    CaseGraph,
    CaseInput,
    CaseOperation,
    FailureCase,
    NormalValues,
    ResultRef,
    TensorSpec,
)
from fullgraph_compiler.cases.oracle import AnswerCache, FailureOracle
from fullgraph_compiler.diagnose.chosen import settings_at_fault
from fullgraph_compiler.diagnose.draws import drawn_in
from fullgraph_compiler.facts import Drawn, Failure, FaultLocated, SettingFault, StackFrame

SPEC = TensorSpec((1000,), (1,), "float32", "cpu", requires_grad=True)
CALL = (StackFrame("model.py", 7, "forward"),)
BUDGET = "torch._functorch.config.activation_memory_budget"


def case_of(*operations: CaseOperation) -> FailureCase:
    graph = CaseGraph(("x",), operations, (ResultRef(operations[-1].name),))
    return FailureCase(
        "dynamo", "aot_eager", graph, (CaseInput("x", SPEC, NormalValues()),), compile_id="0/0"
    )


DROPOUT = case_of(
    CaseOperation("y", "call_function", "torch.mul", (ResultRef("x"), ResultRef("x")), spec=SPEC, calls=CALL),
    CaseOperation(
        "z", "call_function", "torch.nn.functional.dropout", (ResultRef("y"), 0.5, True, False), calls=CALL
    ),
)
FAULT = FaultLocated(1, "aot_eager", "eager", Failure("accuracy", "Numbers", "off", "backward"), "0/0")


@pytest.mark.parametrize("in_preamble", [False, True])
def test_only_the_setting_without_which_a_graph_passes_is_at_fault(in_preamble: bool) -> None:
    settings = ("torch._functorch.config.debug_partitioner = True", f"{BUDGET} = 0.5")
    place = "preamble" if in_preamble else "settings"
    imported = ("import torch._functorch.config",) if in_preamble else ()
    case = replace(DROPOUT, **{place: (*imported, *settings)})
    oracle = FailureOracle(60.0, AnswerCache())
    assert oracle.ask([case])[0].failure is not None
    assert settings_at_fault(case, FAULT, oracle, "aot_eager") == (SettingFault(BUDGET, "0.5", "1.0"),)


def test_operations_that_draw_no_random_numbers_are_not_named() -> None:
    def called(target: str, *args: object) -> FailureCase:
        return case_of(CaseOperation("y", "call_function", target, (ResultRef("x"), *args), calls=CALL))

    dropout = "torch.nn.functional.dropout"
    still = called(dropout, 0.5, False), called(dropout, 0.0, True), called("torch.nn.functional.normalize")
    attention = called("torch._C._nn.scaled_dot_product_attention", ResultRef("x"), ResultRef("x"))
    drawing = called("torch.randn_like"), called(dropout, 0.5, True)
    assert drawn_in((*still, attention, *drawing, *drawing)) == (
        Drawn("torch.randn_like", CALL),
        Drawn(dropout, CALL),
    )
