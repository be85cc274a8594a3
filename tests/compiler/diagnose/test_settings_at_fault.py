"""Settings of a program without which a failing graph passes, and the random operations of graphs."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

if sys.platform != "linux":
    pytest.skip("graphs are checked in a fork, on Linux only", allow_module_level=True)

from fullgraph_compiler.cases.case import Case, Graph, Input, Normal, Operation, Ref, TensorSpec
from fullgraph_compiler.cases.oracle import Kept, Oracle
from fullgraph_compiler.diagnose.chosen import settings_at_fault
from fullgraph_compiler.diagnose.draws import drawn_in
from fullgraph_compiler.facts import Drawn, Failure, FaultLocated, SettingFault, StackFrame

SPEC = TensorSpec((1000,), (1,), "float32", "cpu", requires_grad=True)
CALL = (StackFrame("model.py", 7, "forward"),)
BUDGET = "torch._functorch.config.activation_memory_budget"


def case_of(*operations: Operation) -> Case:
    graph = Graph(("x",), operations, (Ref(operations[-1].name),))
    return Case("dynamo", "aot_eager", graph, (Input("x", SPEC, Normal()),), compile_id="0/0")


DROPOUT = case_of(
    Operation("y", "call_function", "torch.mul", (Ref("x"), Ref("x")), spec=SPEC, calls=CALL),
    Operation("z", "call_function", "torch.nn.functional.dropout", (Ref("y"), 0.5, True, False), calls=CALL),
)
FAULT = FaultLocated(1, "aot_eager", "eager", Failure("accuracy", "Numbers", "off", "backward"), "0/0")


@pytest.mark.parametrize("in_preamble", [False, True])
def test_only_the_setting_without_which_a_graph_passes_is_at_fault(in_preamble: bool) -> None:
    settings = ("torch._functorch.config.debug_partitioner = True", f"{BUDGET} = 0.5")
    place = "preamble" if in_preamble else "settings"
    imported = ("import torch._functorch.config",) if in_preamble else ()
    case = replace(DROPOUT, **{place: (*imported, *settings)})
    oracle = Oracle(60.0, Kept())
    assert oracle.ask([case])[0].failure is not None
    assert settings_at_fault(case, FAULT, oracle, "aot_eager") == (SettingFault(BUDGET, "0.5", "1.0"),)


def test_operations_that_draw_no_random_numbers_are_not_named() -> None:
    def called(target: str, *args: object) -> Case:
        return case_of(Operation("y", "call_function", target, (Ref("x"), *args), calls=CALL))

    dropout = "torch.nn.functional.dropout"
    still = called(dropout, 0.5, False), called(dropout, 0.0, True), called("torch.nn.functional.normalize")
    attention = called("torch._C._nn.scaled_dot_product_attention", Ref("x"), Ref("x"))
    drawing = called("torch.randn_like"), called(dropout, 0.5, True)
    assert drawn_in((*still, attention, *drawing, *drawing)) == (
        Drawn("torch.randn_like", CALL),
        Drawn(dropout, CALL),
    )
