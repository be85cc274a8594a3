"""What should be the same on all ranks, as the interpreter reads it."""

from __future__ import annotations

import json
from typing import Any

from fullgraph_compiler.facts import (
    Collective,
    CollectivesScheduled,
    Fact,
    GraphsExecuted,
    GraphTraced,
    RuntimeEstimated,
    StackFrame,
)
from fullgraph_compiler.trace import TraceInterpreter, TraceRecord

START = {"stack": [{"line": 3, "name": "f", "filename": 0}]}
GRAPH = """\
class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "DTensor(f32[8, 4][4, 1]cuda:3, R)", s0: "Sym(s0)"):
        l_x_ = L_x_
        # File: /project/a.py:4 in f, code: y = x * 2
        y: "f32[8, 4][4, 1]cuda:3" = l_x_ * 2;  l_x_ = None
        # File: /torch/collectives.py:9 in all_to_all, code: torch.ops._c10d_functional.all_to_all_single(
        tensor: "f32[8, 4][4, 1]cuda:3" = torch.ops._c10d_functional.all_to_all_single(y, [4, 4], [4, 4], '7')
        wait: "f32[8, 4][4, 1]cuda:3" = torch.ops._c10d_functional.wait_tensor(tensor);  tensor = None
        sent: "f32[8, 4][4, 1]cuda:3" = torch.ops._c10d_functional.isend(wait, 1, 0, '0')
        # No stacktrace found for following nodes
        rest: "f32[8, 4][4, 1]cuda:3" = torch.ops._c10d_functional.all_reduce_(wait, 'sum', '0')
"""


def record(name: str, payload: Any = "", compile_id: str = "0/0", body: Any = None) -> TraceRecord:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return TraceRecord(name, body or {}, compile_id, 0, text)


def facts(*records: TraceRecord, findings_only: bool = True) -> list[Fact]:
    interpreter = TraceInterpreter(findings_only=findings_only)
    strings = TraceRecord("str", ["/project/a.py", 0], "", 0, "")
    started = record("dynamo_start", body=START)
    return [fact for item in (strings, started, *records) for fact in interpreter.feed(item)][1:]


def test_a_graph_has_the_tensors_of_its_operations_and_its_collective_operations() -> None:
    (graph,) = facts(record("dynamo_output_graph", GRAPH))
    tensor = "f32[8, 4][4, 1]cuda"
    names = ("y", "tensor", "wait", "sent", "rest")
    assert graph == GraphTraced(
        "0/0",
        (f"L_x_: DTensor({tensor}, R)", "s0: Sym(s0)"),
        tuple(f"{name}: {tensor}" for name in names),
        (
            StackFrame("/project/a.py", 4, "f"),
            *(StackFrame("/torch/collectives.py", 9, "all_to_all"),) * 3,
            StackFrame("/project/a.py", 3, "f"),
        ),
        (Collective(1, "all_to_all_single", ("'7'",)), Collective(4, "all_reduce", ("'sum'", "'0'"))),
    )
    assert graph in facts(record("dynamo_output_graph", GRAPH), findings_only=False)


def test_a_schedule_has_no_waits_and_nothing_between_two_ranks() -> None:
    calls = ("all_reduce_", "wait_tensor", "isend", "wait_tensors", "all_gather_into_tensor_out")
    names = [*(f"torch.ops._c10d_functional.{name}.default" for name in calls), None]
    assert facts(record("inductor_collective_schedule", names)) == [
        CollectivesScheduled("0/0", ("all_reduce", "all_gather_into_tensor_out"))
    ]


def test_estimates_are_added_up_and_tensors_are_listed() -> None:
    output = {"shape": [8, 4], "stride": [4, 1], "dtype": "float32"}
    nothing = {"shape": [], "stride": [], "dtype": None}
    kernels = [
        {"name": "op0", "type": "compute", "estimated_runtime_ns": 1500, "outputs": [output, nothing]},
        {"name": "op1", "type": "compute", "estimated_runtime_ns": 500.0},
        {"name": "op2", "type": "compute", "estimated_runtime_ns": float("inf"), "outputs": [nothing]},
    ]
    (estimate,) = facts(record("inductor_runtime_and_tensor_meta", {"ops": kernels}))
    assert estimate == RuntimeEstimated("0/0", 2e-6, ("op0: float32[8, 4][4, 1]", "op1: ", "op2: "))


def test_the_order_of_graphs_has_gaps_where_they_come_from_a_cache() -> None:
    ran = {"graph_execution_order": [{"compile_id": "0/0"}, {"compile_id": None}]}
    assert facts(record("graph_execution", ran, "")) == [GraphsExecuted(("0/0", ""))]


def test_after_a_reset_nobody_knows_which_graphs_an_order_means() -> None:
    ran = record("graph_execution", {"graph_execution_order": [{"compile_id": "0/0"}]}, "")
    again = record("dynamo_start", body=START)
    assert not [fact for fact in facts(again, ran) if isinstance(fact, GraphsExecuted)]
