"""Two reports compared, each folded from facts, and how the comparison is told."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CodeGenerated,
    CompilePhase,
    Depth,
    Fact,
    FrameCompiled,
    FrameStarted,
    GraphBreak,
    GuardFailure,
    GuardInstalled,
    Kernel,
    PerformanceHint,
    PhasesTimed,
    Recompile,
    RunFinished,
    StackFrame,
)
from fullgraph_server.cli.formats import COMPARISON_FORMATS, CheckedReport
from fullgraph_server.cli.formats.comparison import compared, markdown
from fullgraph_server.compare.comparison import AmountChange, FunctionChange, ReportComparison
from fullgraph_server.report.fold import fold
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

TOY = 'def toy(a, b):\n    x = a + b\n    print("woo")\n    return x\n'
MOVED = "import torch\n\n" + TOY
URL = "https://docs.pytorch.org/gb0059.html"


def ran(
    *facts: Fact, text: str = TOY, root: str = "/w", torch: str = "2.13.0", depth: Depth = "kernels"
) -> CheckedReport:
    filename = f"{root}/toy.py"
    workspace = Workspace(Path(root), {filename: SourceFile(filename, text)}.get)
    report = fold("toy.py", 1, torch, (*facts, RunFinished("finished", 1.0)), workspace, depth=depth)
    return CheckedReport(script_target(filename, Path(root)), report, workspace)


def started(compile_id: str = "0/0", row: int = 1, name: str = "toy", root: str = "/w") -> FrameStarted:
    return FrameStarted(compile_id, name, f"{root}/toy.py", row, ())


def compiled(compile_id: str = "0/0", graphs: int = 1, ops: int = 2, name: str = "toy") -> FrameCompiled:
    return FrameCompiled(compile_id, name, "/w/toy.py", 1, graphs, ops, 5, 0.5)


def broke(
    row: int = 3, root: str = "/w", reason: str = "print called", compile_id: str = "0/0"
) -> GraphBreak:
    stack = (StackFrame(f"{root}/toy.py", row, "toy"),)
    return GraphBreak(compile_id, "GB0059", reason, "why", (), "", URL, stack, False, "")


def changed(compile_id: str, actual: int) -> Recompile:
    stack = (StackFrame("/w/toy.py", 2, "toy"),)
    failure = GuardFailure("0/0", "L['a']", "TENSOR_MATCH", "", "10", str(actual), 0, stack, "size")
    return Recompile(compile_id, (failure,))


def wrote(*names: str, language: str = "triton") -> CodeGenerated:
    return CodeGenerated("0/0", "forward", "/c/x.py", "code", tuple(Kernel(name, language) for name in names))


def timed(*steps: tuple[str, float, float]) -> PhasesTimed:
    return PhasesTimed(tuple(CompilePhase(name, start, seconds) for name, start, seconds in steps))


def differing(amounts: tuple[AmountChange, ...]) -> dict[str, tuple[float, float]]:
    return {amount.name: (amount.before, amount.after) for amount in amounts if amount.difference}


def only(comparison: ReportComparison) -> FunctionChange:
    (function,) = comparison.functions
    return function


def told(output: str, before: CheckedReport, after: CheckedReport) -> str:
    out = io.StringIO()
    COMPARISON_FORMATS[output](compared(before, after), after, out)
    return out.getvalue()


# -- what differs ------------------------------------------------------------------------------


def test_lines_that_moved_other_folders_and_torchs_wording_are_no_difference() -> None:
    before = ran(started(), broke(), compiled())
    after = ran(
        started("0/0", 3, root="/ci"),
        broke(5, "/ci", "Failed to trace builtin"),
        compiled(),
        text=MOVED,
        root="/ci",
        torch="2.15.0",
    )
    comparison = compared(before, after)
    assert (comparison.new, comparison.gone, len(comparison.both)) == ((), (), 1)
    assert not comparison.differs
    assert not comparison.worse


def test_an_edited_line_is_new_and_gone() -> None:
    after = ran(started(), broke(), text=TOY.replace("woo", "zoo"))
    comparison = compared(ran(started(), broke()), after)
    assert [item.fingerprint.line for item in comparison.new] == ['print("zoo")']
    assert [item.fingerprint.line for item in comparison.gone] == ['print("woo")']
    assert comparison.worse


def test_of_equal_lines_one_more_is_new_and_one_less_is_gone() -> None:
    text = TOY.replace("    return", '    print("woo")\n    return')
    one, two = ran(started(), broke(3), text=text), ran(started(), broke(3), broke(4), text=text)
    comparison = compared(one, two)
    assert [item.finding.span.row for item in comparison.new] == [4]
    assert compared(two, one).gone == comparison.new
    assert not compared(two, one).worse


def test_a_finding_that_is_seen_more_often_is_told_and_is_not_worse() -> None:
    before = ran(started(), broke())
    after = ran(started(), broke(), started("1/0"), broke(compile_id="1/0"))
    comparison = compared(before, after)
    assert [(old.finding.count, now.finding.count) for old, now in comparison.recounted] == [(1, 2)]
    assert comparison.differs
    assert not comparison.worse
    assert "toy.py:3 GB0059 print called: in 1 compilation, then 2" in told("text", before, after)


@pytest.mark.parametrize(
    ("fact", "worse"),
    [
        (broke(), True),
        (changed("0/1", 12), True),
        (PerformanceHint("0/0", "slow", (StackFrame("/w/toy.py", 2, "toy"),)), False),
    ],
)
def test_new_breaks_and_recompilations_are_worse_and_new_hints_are_not(fact: Fact, worse: bool) -> None:
    comparison = compared(ran(started()), ran(started(), fact))
    assert len(comparison.new) == 1
    assert comparison.worse is worse


def test_functions_are_compared_by_file_and_name() -> None:
    guard = GuardInstalled("0/0", "L['a']", "TENSOR_MATCH", "", "", ())
    before = ran(started(), compiled(graphs=1, ops=4), guard)
    after = ran(started(row=3), compiled(graphs=2, ops=4), broke(5), guard, text=MOVED)
    change = only(compared(before, after))
    assert (change.path, change.name, change.compiled) == ("toy.py", "toy", (True, True))
    assert differing(change.counts) == {"graphs": (1, 2), "graph breaks": (0, 1)}
    assert AmountChange("guards", 1, 1) in change.counts


def test_methods_of_one_name_are_told_apart_by_their_class() -> None:
    text = "class A:\n    def forward(self): ...\nclass B:\n    def forward(self): ...\n"
    both = (started("0/0", 2, "forward"), started("1/0", 4, "forward"))
    comparison = compared(ran(*both, text=text), ran(both[1], text=text))
    assert [(change.name, change.compiled) for change in comparison.functions] == [
        ("A.forward", (True, False)),
        ("B.forward", (True, True)),
    ]
    assert comparison.differs


def test_recompilations_of_a_function_are_told_by_cause() -> None:
    first = (started(), started("0/1"), compiled(), compiled("0/1"), changed("0/1", 12))
    second = (*first, started("0/2"), compiled("0/2"), changed("0/2", 14))
    comparison = compared(ran(*first), ran(*second))
    assert only(comparison).causes == (AmountChange("size of `a` at dimension 0", 1, 2),)
    assert differing(comparison.counts)["recompilations"] == (1, 2)
    assert comparison.new == ()


def test_kernels_are_compared_by_name_without_their_number() -> None:
    before = ran(
        started(), wrote("triton_poi_fused_add_0", "triton_poi_fused_add_1", "triton_red_fused_sum_2")
    )
    after = ran(
        started(), wrote("triton_red_fused_sum_0", "triton_poi_fused_add_1", "triton_poi_fused_mul_2")
    )
    change = only(compared(before, after))
    assert differing(change.kernels) == {"triton_poi_fused_add": (2, 1), "triton_poi_fused_mul": (0, 1)}
    assert differing(compared(before, after).counts) == {}
    assert compared(before, after).differs


def test_renumbered_kernels_are_no_difference() -> None:
    before = ran(started(), wrote("cpp_fused_add_0", "cpp_fused_mul_1"))
    after = ran(started(), wrote("cpp_fused_mul_0", "cpp_fused_add_1"))
    assert not compared(before, after).differs


def test_the_number_in_the_name_of_a_library_function_counts() -> None:
    before, after = (ran(started(), wrote(name, language="extern")) for name in ("mm_1", "mm_2"))
    assert differing(only(compared(before, after)).kernels) == {"mm_1": (1, 0), "mm_2": (0, 1)}


def test_time_is_told_by_part_and_step_the_biggest_change_first() -> None:
    before = ran(started(), timed(("compile", 0.0, 3.0), ("compile_fx", 1.0, 1.0)))
    after = ran(started(), timed(("compile", 0.0, 6.0), ("compile_fx", 1.0, 3.5)))
    comparison = compared(before, after)
    assert comparison.seconds == AmountChange("compile time", 3.0, 6.0)
    assert comparison.parts == (AmountChange("inductor", 1.0, 3.5), AmountChange("dynamo", 2.0, 2.5))
    assert comparison.phases == (AmountChange("compile_fx", 1.0, 3.5), AmountChange("compile", 2.0, 2.5))
    assert not comparison.differs
    assert told("text", before, after) == (
        "Nothing differs but compile time: 3.00 s, then 6.00 s - torch 2.13.0\n"
    )


def test_what_only_a_deeper_run_tells_is_not_compared() -> None:
    before = ran(started(), compiled(), wrote("cpp_fused_add_0"), timed(("compile", 0.0, 3.0)))
    after = ran(started(), compiled(graphs=2), depth="graph")
    comparison = compared(before, after)
    assert differing(comparison.counts) == {"graphs": (1, 2)}
    assert (comparison.phases, comparison.seconds.difference) == ((), 0)
    assert only(comparison).kernels == ()
    assert "Kernels and times are not compared" in told("text", before, after)


# -- how it is told ----------------------------------------------------------------------------


@pytest.fixture
def before() -> CheckedReport:
    return ran(started(), broke(), compiled(graphs=2), wrote("cpp_fused_add_0"), timed(("compile", 0.0, 1.0)))


@pytest.fixture
def after() -> CheckedReport:
    facts = (started(row=3), broke(4), compiled(), wrote("cpp_fused_mul_0"), timed(("compile", 0.0, 1.5)))
    text = MOVED.replace('    print("woo")\n', "")
    return ran(*facts, text=text, torch="2.15.0")


def test_text_tells_what_is_new_then_what_is_gone_then_numbers(
    before: CheckedReport, after: CheckedReport
) -> None:
    assert told("text", before, after) == (
        "New\n"
        "/w/toy.py:4:5 warning GB0059 print called\n"
        "   |\n"
        " 3 | def toy(a, b):\n"
        " 4 |     x = a + b\n"
        "   |     ^^^^^^^^^ graph break\n"
        "   |\n"
        "   = note: why\n"
        f"   = docs: {URL}\n"
        "\n"
        "Gone\n"
        "  toy.py:3 GB0059 print called\n"
        "\n"
        "Totals\n"
        "                   before   after\n"
        "  functions             1       1\n"
        "  graphs                2       1       -1\n"
        "  operations            2       2\n"
        "  graph breaks          1       1\n"
        "  kernel launches       1       1\n"
        "  compile time     1.00 s  1.50 s  +0.50 s\n"
        "\n"
        "toy.py toy\n"
        "                 before  after\n"
        "  graphs              2      1  -1\n"
        "  cpp_fused_add       1      0  -1\n"
        "  cpp_fused_mul       0      1  +1\n"
        "\n"
        "Compile time by part and step\n"
        "           before   after\n"
        "  Dynamo   1.00 s  1.50 s  +0.50 s\n"
        "  compile  1.00 s  1.50 s  +0.50 s\n"
        "\n"
        "New: 1 graph break; gone: 1 graph break - torch 2.13.0, then 2.15.0\n"
    )


def test_markdown_says_the_same(before: CheckedReport, after: CheckedReport) -> None:
    text = markdown(compared(before, after))
    assert text == told("markdown", before, after)
    assert text.startswith(
        "**New: 1 graph break; gone: 1 graph break - torch 2.13.0, then 2.15.0**\n\n### New\n"
    )
    assert f"`toy.py:4` [GB0059]({URL}) print called\n\n```python\nx = a + b\n```\n" in text
    assert "### Gone\n\n- `toy.py:3` GB0059 print called\n" in text
    assert "| graphs | 2 | 1 | -1 |\n" in text
    assert "| cpp_fused_mul | 0 | 1 | +1 |\n" in text


def test_json_has_all_of_it(before: CheckedReport, after: CheckedReport) -> None:
    told_as = json.loads(told("json", before, after))
    assert (told_as["version"], told_as["worse"]) == (1, True)
    assert told_as["torch"] == {"before": "2.13.0", "after": "2.15.0"}
    assert [(item["path"], item["line"], item["code"]) for item in told_as["new"]] == [
        ("toy.py", "x = a + b", "GB0059")
    ]
    assert [item["line"] for item in told_as["gone"]] == ['print("woo")']
    assert told_as["counts"]["graphs"] == {"before": 2, "after": 1}
    (function,) = told_as["functions"]
    assert (function["path"], function["function"]) == ("toy.py", "toy")
    assert function["kernels"]["cpp_fused_mul"] == {"before": 0, "after": 1}
    assert told_as["compile_seconds"]["total"] == {"before": 1.0, "after": 1.5}
    assert told_as["compile_seconds"]["parts"] == {"dynamo": {"before": 1.0, "after": 1.5}}


@pytest.mark.parametrize("output", ["text", "markdown"])
def test_one_line_where_nothing_differs(before: CheckedReport, output: str) -> None:
    assert told(output, before, before).strip("*\n") == "Nothing differs - torch 2.13.0"


def test_counts_that_differ_alone_are_told_as_such() -> None:
    text = told("text", ran(started(), compiled()), ran(started(), compiled(ops=3)))
    assert text.endswith("Nothing is new, and nothing is gone - torch 2.13.0\n")
    assert "  operations       2      3  +1\n" in text
