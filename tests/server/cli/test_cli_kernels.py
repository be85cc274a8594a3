"""``fullgraph kernels`` as its callers see it. Runs are faked."""

from __future__ import annotations

from pathlib import Path

import pytest
from faked_run import FakeRun, enter_project, fake_runs, fullgraph
from fullgraph_compiler.facts import (
    Artifact,
    CodeGenerated,
    Cost,
    Fact,
    GraphCaptured,
    GraphNode,
    Kernel,
    KernelNode,
    RunRequest,
    StackFrame,
    TargetProblem,
)

CPP = 'extern "C" void kernel() {}'


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeRun]:
    return fake_runs(monkeypatch)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enter_project(monkeypatch, tmp_path, "def f(x, w):\n    y = x @ w\n    return y.relu()\n")


def test_a_long_result_begins_with_what_costs_most(fake: type[FakeRun], folder: Path) -> None:
    frame = StackFrame(str(folder / "a.py"), 2, "f")

    def kernel(number: int, seconds: float) -> Kernel:
        cost = Cost(number * 1024, 1000, flops=number * 1_000_000, seconds=seconds)
        return Kernel(f"triton_{number}", "triton", "pointwise", stacks=((frame,),), cost=cost)

    kernels = [kernel(number, 2e-10) for number in range(1, 10)]
    slow = kernel(10, 3e-6)
    fake.facts = (CodeGenerated("0/0", "forward", "/tmp/c.py", "code", (*kernels, slow)),)
    assert fullgraph("kernels", "a.py").stdout.startswith("Graph 0/0"), "this is short enough"
    fake.facts = (
        *fake.facts,
        CodeGenerated("1/0", "", "/tmp/d.py", "code", (kernel(11, 2e-10), slow, slow)),
    )
    head, *rest = fullgraph("kernels", "a.py").stdout.splitlines()
    assert head == "The 10 most expensive of 12 kernels, by TorchInductor's estimate:"
    many = "at least 6 us: reads 20 KiB, writes 1.95 KiB, 20 MFLOP"
    one = "at least 3 us: reads 10 KiB, writes 0.977 KiB, 10 MFLOP"
    short = "launch-bound: reads 11 KiB, writes 0.977 KiB, 11 MFLOP"
    width = max(map(len, (many, one, short)))
    assert rest[:3] == [
        f"  2×  a.py:2  graph 1/0           {many:<{width}}  triton_10",
        f"  1×  a.py:2  graph 0/0, forward  {one:<{width}}  triton_10",
        f"  1×  a.py:2  graph 1/0           {short:<{width}}  triton_11",
    ]
    assert rest[10:12] == ["All 13 launches: at least 9 us: reads 86 KiB, writes 12.7 KiB, 86 MFLOP", ""]


def written(folder: Path) -> tuple[Fact, ...]:
    mm, relu = (StackFrame(str(folder / "a.py"), row, "f") for row in (2, 3))
    library = StackFrame("/site-packages/torch/nn/modules/linear.py", 134, "forward")
    fused = Kernel(
        "cpp_fused_relu_0",
        "cpp",
        source=CPP,
        definition=(10, 12),
        launch=(30, 30),
        nodes=(KernelNode("relu", "aten.relu", relu), KernelNode("iota", "prims.iota", None)),
        stacks=((relu,), (mm,)),
    )
    extern = Kernel(
        "extern_kernels.mm",
        "extern",
        launch=(28, 29),
        nodes=(KernelNode("mm", "aten.mm", mm),),
        stacks=((mm, library),),
    )
    return (
        GraphCaptured("0/0", (GraphNode("y", "f32[2] cpu", mm),), "captured"),
        Artifact("0/0", None, "joint_graph", "joint"),
        Artifact("0/0", "forward", "ir_pre_fusion", "loops"),
        CodeGenerated("0/0", "forward", "/tmp/c.py", "whole code", (extern, fused)),
    )


def test_each_launch_has_its_lines_and_operations(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = written(folder)
    result = fullgraph("kernels", "a.py")
    assert result.exit_code == 0
    assert result.stdout == (
        "Graph 0/0, a.py:2, forward\n"
        "  a.py:2    extern_kernels.mm  mm\n"
        "  a.py:2,3  cpp_fused_relu_0   relu, prims.iota\n"
        "\n"
        "2 kernel launches in 1 piece of code\n"
    )


def test_the_run_goes_until_the_code_is_written(fake: type[FakeRun]) -> None:
    fullgraph("kernels", "a.py")
    _, request = fake.asked[-1]
    assert isinstance(request, RunRequest)
    assert request.depth == "kernels"


def test_code_goes_into_a_folder_with_an_index(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = written(folder)
    result = fullgraph("kernels", "a.py", "-o", "out/kernels")
    assert result.stdout.splitlines()[-1].endswith("written to out/kernels/index.md")
    out = folder / "out" / "kernels"
    assert (out / "0_0_forward" / "output_code.py").read_text() == "whole code"
    assert (out / "0_0_forward" / "cpp_fused_relu_0.cpp").read_text() == CPP + "\n"
    index = (out / "index.md").read_text()
    files = {str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()}
    del files["index.md"]
    assert files == {
        "0_0/captured_graph.py": "captured",
        "0_0/joint_graph.py": "joint",
        "0_0_forward/ir_pre_fusion.txt": "loops",
        "0_0_forward/output_code.py": "whole code",
        "0_0_forward/cpp_fused_relu_0.cpp": CPP + "\n",
    }
    assert index.splitlines()[1:] == [
        "",
        "## Graph 0/0, a.py:2",
        "",
        "- [Captured graph](0_0/captured_graph.py)",
        "- [Joint graph](0_0/joint_graph.py)",
        "",
        "## Graph 0/0, a.py:2, forward",
        "",
        "- [IR before fusion](0_0_forward/ir_pre_fusion.txt)",
        "- [Output code](0_0_forward/output_code.py)",
        "- [cpp_fused_relu_0](0_0_forward/cpp_fused_relu_0.cpp): relu, prims.iota (a.py:2,3)",
    ]


def test_kernels_of_subgraphs_name_their_function_and_count_as_often_as_it_is_called(
    fake: type[FakeRun], folder: Path
) -> None:
    stacks = ((StackFrame(str(folder / "a.py"), 2, "f"),),)
    cost = Cost(1024, 0)
    kernels = (
        Kernel("cpp_0", "cpp", stacks=stacks, cost=cost),
        Kernel("cpp_1", "cpp", stacks=stacks, function="true_graph_0", cost=cost),
        Kernel("cpp_2", "cpp", stacks=stacks, function="repeated_subgraph0", times=4, cost=cost),
    )
    fake.facts = (CodeGenerated("0/0", "", "/tmp/c.py", "code", kernels, unread=("cpp_3",)),)
    text = fullgraph("kernels", "a.py").stdout
    assert "  a.py:2  cpp_1   (in true_graph_0)\n" in text
    assert "  a.py:2  cpp_2   (in repeated_subgraph0, called 4 times)\n" in text
    assert "6 kernel launches in 1 piece of code; no launch was found of cpp_3 of graph 0/0\n" in text


def test_without_code_it_says_so(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = (TargetProblem("error", "It does not start."),)
    result = fullgraph("kernels", "a.py", "-o", "out")
    assert result.exit_code == 1
    assert "It does not start" in result.stdout
    assert result.stdout.endswith("No code was written.\n")
    assert not (folder / "out").exists()
