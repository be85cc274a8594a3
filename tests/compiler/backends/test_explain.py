"""An explanation says what `fullgraph check` says, also where torch's own counts are wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from forked import observe
from fullgraph_compiler.backends.explain import ExplainWithBackend, explain
from fullgraph_compiler.backends.faults import relu_accuracy_error, relu_compile_error
from fullgraph_compiler.facts import Fact, FrameCompiled, GraphBreak, GraphCaptured, GuardInstalled, Script
from in_child import in_child

PROGRAM = """
import torch

def whole(x, w):
    return torch.relu(x @ w).sum()

def broken(x, w):
    y = torch.sin(x) + 1
    torch._dynamo.graph_break()
    return (y @ w).cos()

def skipped(x, w):
    for _ in range(2):
        x = torch.relu(x)
        torch._dynamo.graph_break()
    return x @ w

def helper(x):
    return x * 2

def skipped_but_for_a_helper(x, w):
    for _ in range(2):
        x = helper(x)
        torch._dynamo.graph_break()
    return x @ w

def nothing_to_compile(x, w):
    return x
"""

# Of each function: graphs, the rows of breaks and whether they skip the frame, operations of each graph.
EXPECTED = {
    "whole": (1, [], [("matmul", "relu", "sum")]),
    "broken": (2, [(9, False)], [("sin", "add"), ("matmul", "cos")]),
    "skipped": (0, [(15, True)], []),
    "skipped_but_for_a_helper": (1, [(24, True)], [("mul",)]),
    "nothing_to_compile": (0, [], []),
}


def functions(folder: Path) -> dict[str, Callable[..., Any]]:
    path = folder / "program.py"
    path.write_text(PROGRAM)
    namespace: dict[str, Any] = {}
    exec(compile(PROGRAM, str(path), "exec"), namespace)
    return namespace


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(3, 4), torch.ones(4, 4)


def told(facts: Iterable[Fact]) -> list[Any]:
    """What an explanation and a run have to agree on."""
    kept = list(facts)
    return [
        [[f.code, f.reason, f.stack[-1].row, f.skips_frame] for f in kept if isinstance(f, GraphBreak)],
        [[f.compile_id, f.kind, f.source] for f in kept if isinstance(f, GuardInstalled)],
        [[f.compile_id, f.function, f.row, f.ops] for f in kept if isinstance(f, FrameCompiled)],
    ]


@pytest.mark.parametrize("name", EXPECTED)
def test_counts_are_those_of_a_run(name: str, tmp_path: Path) -> None:
    def call() -> list[Any]:
        found = explain(functions(tmp_path)[name])(*inputs())
        counts = [found.graph_count, found.graph_break_count, found.op_count]
        facts = (*found.break_reasons, *found.out_guards, *found.frames)
        return [counts, found.ops_per_graph, told(facts)]

    graphs, breaks, ops = EXPECTED[name]
    counts, ops_per_graph, explained = in_child(call)
    assert counts == [graphs, len(breaks), sum(map(len, ops))]
    assert [tuple(names) for names in ops_per_graph] == ops
    assert [(row, skips) for *_, row, skips in explained[0]] == breaks

    script = tmp_path / "script.py"
    script.write_text(
        f"{PROGRAM}\ntorch.compile({name}, backend='eager')(torch.ones(3, 4), torch.ones(4, 4))\n"
    )
    observed = observe(Script(str(script)), tmp_path)
    assert explained == told(observed)
    assert graphs == sum(isinstance(fact, GraphCaptured) for fact in observed)


def test_it_reads_as_a_text(tmp_path: Path) -> None:
    lines = in_child(lambda: str(explain(functions(tmp_path)["skipped"])(*inputs()))).splitlines()
    assert lines[:3] == [
        "Graphs: 0, with 0 operations",
        "Graph breaks: 1",
        "  [0/0] GB0025: Call to `torch._dynamo.graph_break()`",
    ]
    assert f"      {tmp_path / 'program.py'}:15 in skipped" in lines
    assert "      nothing of this frame is compiled" in lines
    lines = in_child(lambda: str(explain(functions(tmp_path)["broken"])(*inputs()))).splitlines()
    assert lines[:3] == ["Graphs: 2, with 4 operations", "  [0/0] sin, add", "  [1/0] matmul, cos"]
    assert any(line.startswith("  [1/0] TENSOR_MATCH L['y'] torch.float32, shape [3, 4]") for line in lines)


def test_it_composes_with_any_backend(tmp_path: Path) -> None:
    def call() -> list[Any]:
        whole = functions(tmp_path)["whole"]
        by_name = explain(whole, "aot_eager")(*inputs())
        with ExplainWithBackend(relu_accuracy_error) as explaining:
            spoilt = torch.compile(whole, backend=explaining)(*inputs())
        by_function = explaining.output()
        return [by_name.ops_per_graph, by_function.ops_per_graph, (spoilt - whole(*inputs())).item()]

    assert in_child(call) == [[["matmul", "relu", "sum"]], [["matmul", "relu", "sum"]], 12]


def test_only_what_is_compiled_with_it_counts(tmp_path: Path) -> None:
    def call() -> list[Any]:
        known = functions(tmp_path)
        with ExplainWithBackend("eager") as first, ExplainWithBackend("eager") as second:
            torch.compile(known["skipped"], backend="eager")(*inputs())
            torch.compile(known["broken"], backend=first)(*inputs())
            compiled = torch.compile(known["whole"], backend=second)
            compiled(*inputs())
        compiled(torch.ones(5, 4, dtype=torch.float64), torch.ones(4, 4, dtype=torch.float64))
        return [[e.output().graph_count, e.output().graph_break_count] for e in (first, second)]

    assert in_child(call) == [[2, 1], [1, 0]]


def test_a_reset_in_between_loses_nothing(tmp_path: Path) -> None:
    def call() -> list[Any]:
        known = functions(tmp_path)
        with ExplainWithBackend("eager") as explaining:
            for name in ("broken", "whole"):
                torch.compiler.reset()
                torch.compile(known[name], backend=explaining)(*inputs())
        found = explaining.output()
        return [[graph.compile_id, len(graph.ops)] for graph in found.graphs]

    assert in_child(call) == [["0/0", 2], ["1/0", 2], ["2/0", 3]]


def test_it_stops_listening() -> None:
    trace = logging.getLogger("torch.__trace")
    breaks = logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks")

    def state() -> list[Any]:
        ours = [h for h in trace.handlers if type(h).__module__.startswith("fullgraph")]
        return [len(ours), trace.level, trace.propagate, breaks.level, breaks.propagate]

    def call() -> list[Any]:
        states = [state()]
        with ExplainWithBackend("eager"):
            states.append(state())
        states.append(state())
        with pytest.raises(ZeroDivisionError):
            explain(lambda x: x / (1 // 0))(torch.ones(1))
        states.append(state())
        torch._logging.set_logs()
        states.append(state()[:1])
        return states

    before, during, *after, reset = in_child(call)
    assert during[0] == 1
    assert before[0] == 0
    assert after == [before, before]
    assert reset == [0]


def test_a_failure_names_the_backend_that_failed(tmp_path: Path) -> None:
    def call() -> str:
        try:
            explain(functions(tmp_path)["whole"], relu_compile_error)(*inputs())
        except Exception as error:
            return str(error)
        return "compiled"

    assert in_child(call).startswith("backend='relu_compile_error' raised:")


def test_a_program_under_observation_may_explain(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"{PROGRAM}\n"
        "from fullgraph_compiler.backends.explain import explain\n"
        "found = explain(broken)(torch.ones(3, 4), torch.ones(4, 4))\n"
        "raise SystemExit(10 * found.graph_count + found.graph_break_count)\n"
    )
    facts = observe(Script(str(script)), tmp_path)
    assert facts[-1].exit_code == 21
    assert sum(isinstance(fact, GraphCaptured) for fact in facts) == 2
