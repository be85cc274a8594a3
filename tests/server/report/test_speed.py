"""What facts tell of speed, folded into findings and into the compilations of a report."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CodeGenerated,
    CompilePhase,
    CudagraphSkip,
    Depth,
    Fact,
    Failure,
    FrameCompiled,
    FrameStarted,
    GraphBreak,
    GraphCaptured,
    GraphNode,
    GuardFailure,
    Kernel,
    KernelCompiled,
    PerformanceHint,
    PhasesTimed,
    Recompile,
    RunFinished,
    StackFrame,
    TimesMeasured,
)
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.report.phases import seconds_of_parts, steps_of
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

FILE = "/w/model.py"
TEXT = """\
def f(x):
    y = x.sin()
    print(y)
    return torch.linalg.svd(y)
"""
WORKSPACE = Workspace(Path("/w"), {FILE: SourceFile(FILE, TEXT)}.get)
SVD = (StackFrame(FILE, 4, "f", 11, 4, 30),)
CODE = CodeGenerated("0/0", "inference", "/tmp/c.py", "code", (Kernel("cpp_fused_0", "cpp", source="k"),))
STARTED = FrameStarted("0/0", "f", FILE, 1)


def folded(*facts: Fact) -> Report:
    return fold("model.py", 1, "2.13.0", (STARTED, *facts), WORKSPACE)


def finding(*facts: Fact) -> Finding:
    (found,) = folded(*facts).findings
    return found


def phases(*parts: tuple[str, float, float]) -> PhasesTimed:
    return PhasesTimed(tuple(CompilePhase(name, start, seconds, "0/0") for name, start, seconds in parts))


def test_a_hint_of_torch_is_information_at_its_operation() -> None:
    found = finding(PerformanceHint("0/0", "Using FallbackKernel: aten.svd", SVD))
    assert (found.kind, found.severity) == ("perf-hint", "information")
    assert (found.span.row, found.span.column, found.span.end_column) == (4, 12, 31)


@pytest.mark.parametrize(
    ("reason", "hint"),
    [
        ("skipping cudagraphs due to mutated inputs (1 instances)", "Return the new value"),
        ("skipping cudagraphs due to cpu device (arg0_1)", "Move the tensor to the GPU"),
    ],
)
def test_a_graph_that_is_no_cuda_graph_has_a_reason_and_what_to_do(reason: str, hint: str) -> None:
    found = finding(CudagraphSkip("0/0", reason, SVD))
    assert (found.kind, found.severity) == ("cudagraph-skip", "warning")
    why = reason.removeprefix("skipping cudagraphs due to ")
    assert found.message == f"this graph does not run as a CUDA graph: {why}"
    assert found.hints[0].startswith(hint)


def small_graph(compile_id: str, operations: int) -> GraphCaptured:
    frame = StackFrame(FILE, 2, "f")
    return GraphCaptured(compile_id, tuple(GraphNode(f"n{i}", "f32[8]", frame) for i in range(operations)))


BREAK = GraphBreak("0/0", "GB0059", "print", "", (), "", "", (StackFrame(FILE, 3, "f"),), False, "")


def test_a_tiny_graph_between_graph_breaks_is_hardly_worth_its_call() -> None:
    kinds = {item.kind: item for item in folded(BREAK, small_graph("0/0", 2), CODE).findings}
    assert kinds["perf-hint"].message.startswith("a graph of 2 operations")
    assert kinds["perf-hint"].span.row == 2


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param((small_graph("0/0", 1), CODE), id="no break"),
        pytest.param((BREAK, small_graph("0/0", 3), CODE), id="large enough"),
        pytest.param((BREAK, small_graph("0/0", 1)), id="not that deep"),
    ],
)
def test_other_graphs_are_not_told(facts: tuple[Fact, ...]) -> None:
    assert "perf-hint" not in {item.kind for item in folded(*facts).findings}


def test_compile_time_says_which_part_takes_most_and_what_caches_save() -> None:
    compiled = FrameCompiled("0/0", "f", FILE, 1, 1, 3, 2, 9.0)
    steps = phases(
        ("entire_frame_compile", 0.0, 10.0),
        ("bytecode_tracing", 0.0, 1.0),
        ("fx_codegen_and_compile", 1.0, 8.0),
        ("async_compile.wait", 2.0, 7.0),
    )
    times = (TimesMeasured("cold", 11.0, 10.0), TimesMeasured("warm", 2.0, 1.5))
    found = finding(compiled, steps, *times)
    assert found.message == "compiling takes 10.0 s with cold caches, 1.5 s with warm ones"
    assert found.span.row == 1
    assert found.explanation.splitlines()[0] == " 70%  building kernels"
    assert "TORCHINDUCTOR_CACHE_DIR" in found.hints[0]


def unrolled(times: int) -> GraphCaptured:
    library = StackFrame("/lib/site-packages/torch/nn/modules/linear.py", 134, "forward")
    nodes = [
        GraphNode(name if number == 0 else f"{name}_{number}", "f32[8]", frame)
        for number in range(times)
        for name, frame in (
            ("linear", library),
            ("add", StackFrame(FILE, 2, "f")),
            ("relu", StackFrame(FILE, 2, "f")),
        )
    ]
    return GraphCaptured("0/0", (*nodes, GraphNode("sum_1", "f32[]", StackFrame(FILE, 3, "f"))))


def test_where_compiling_takes_long_a_line_that_is_traced_again_and_again_is_told() -> None:
    compiled = FrameCompiled("0/0", "f", FILE, 1, 1, 3, 2, 9.0)
    told = folded(compiled, unrolled(12), TimesMeasured("cold", 11.0, 10.0)).findings
    (line,) = [item for item in told if item.span.row == 2]
    assert line.message == "this line puts 24 of the 37 operations into the graph, each at least 12 times"
    assert line.hints[0].startswith("If it is in a loop")
    for facts in (
        (unrolled(7), TimesMeasured("cold", 11.0, 10.0)),
        (unrolled(12), TimesMeasured("cold", 0.4, 0.3)),
    ):
        assert not [item for item in folded(compiled, *facts).findings if item.span.row == 2]


def test_a_recurrent_layer_that_is_unrolled_is_told_on_the_line_that_calls_it() -> None:
    compiled = FrameCompiled("0/0", "f", FILE, 1, 1, 3, 2, 9.0)
    nodes = (
        GraphNode("gru", "", StackFrame(FILE, 2, "f")),
        GraphNode("gru_1", "", StackFrame(FILE, 3, "f")),  # a function of the program's own
        GraphNode("lstm", "", StackFrame(FILE, 3, "f")),
    )
    text = "gru = torch.gru(x, hx)\ngru_1 = mine.gru(x)\nlstm = torch.lstm(x, hx)"
    told = folded(compiled, GraphCaptured("0/0", nodes, text), TimesMeasured("cold", 11.0, 10.0)).findings
    (line,) = [item for item in told if "unrolled" in item.message]
    assert (line.span.row, line.message.partition(":")[0]) == (2, "`nn.GRU` is unrolled here")
    assert "allow_rnn" in line.hints[0]


def test_complex_numbers_in_a_graph_for_the_inductor_are_told_once() -> None:
    nodes = (
        GraphNode("complex", "c64[5] cpu", StackFrame(FILE, 2, "f")),
        GraphNode("mul", "c64[5] cpu", StackFrame(FILE, 3, "f")),
        GraphNode("real", "f32[5] cpu", StackFrame(FILE, 3, "f")),
    )
    graphs = [
        fact
        for compile_id, row in (("0/0", 4), ("0/1", 5))
        for fact in (
            FrameStarted(compile_id, "f", FILE, 1, (StackFrame(FILE, row, "<module>"),)),
            GraphCaptured(compile_id, nodes),
        )
    ]
    (found,) = folded(*graphs, RunFinished("finished", 1.0, left_out=("TorchInductor",))).findings
    assert (found.kind, found.span.row, found.count) == ("perf-hint", 2, 2)
    assert "2 of the 3 operations of the graph have complex results (lines 2, 3)" in found.explanation
    assert "view_as_real" in found.hints[0]
    assert folded(*graphs, RunFinished("finished", 1.0)).findings == ()  # for another backend


def test_short_compile_times_need_no_advice() -> None:
    found = finding(TimesMeasured("cold", 0.4, 0.3), TimesMeasured("warm", 0.3, 0.2))
    assert found.message == "compiling takes 0.3 s with cold caches, 0.2 s with warm ones"
    assert found.hints == ()


def test_a_program_that_fails_has_no_compile_time() -> None:
    assert folded(TimesMeasured("cold", 1.0, 0.5, Failure("crash", "SIGSEGV", ""))).findings == ()


def test_a_step_is_of_the_part_that_it_is_within_or_begins_another() -> None:
    timed = phases(
        ("dynamo", 0.0, 10.0),
        ("bytecode_tracing", 1.0, 2.0),
        ("create_aot_dispatcher_function", 3.0, 6.0),
        ("GraphLowering.run", 4.0, 4.0),
        ("async_compile.wait", 5.0, 1.0),
        ("entire_backward_compile", 20.0, 3.0),
    )
    steps = steps_of(timed.phases)
    assert [(step.part, step.depth) for step in steps] == [
        ("dynamo", 0),
        ("dynamo", 1),
        ("aot", 1),
        ("inductor", 2),
        ("build", 3),
        ("aot", 0),
    ]
    assert seconds_of_parts(steps) == {"aot": 5.0, "dynamo": 4.0, "inductor": 3.0, "build": 1.0}


def test_each_compilation_has_its_time_and_the_reason_of_its_guard() -> None:
    failure = GuardFailure("0/0", "L['x']", "TENSOR_MATCH", "size", "8", "9", 0, SVD, "size")
    again = FrameStarted("0/1", "f", FILE, 1)
    compiled = FrameCompiled("0/1", "f", FILE, 1, 1, 3, 2, 0.5)
    report = folded(phases(("dynamo", 7.0, 1.0)), Recompile("0/1", (failure,)), again, compiled)
    first, second = report.compilations
    assert (first.compile_id, first.function, first.start, first.reason) == ("0/0", "f", 7.0, "")
    assert (second.compile_id, second.seconds) == ("0/1", 0.5)
    assert second.reason == "size of `x` at dimension 0 was 8, is now 9"
    assert second.span.row == 1


@pytest.mark.parametrize(
    ("depth", "complete"), [("kernels", False), ("build", True), ("times", True), ("speed", True)]
)
def test_times_are_complete_where_all_of_the_compiler_ran(depth: Depth, complete: bool) -> None:
    assert fold("model.py", 1, "2.13.0", (STARTED,), WORKSPACE, depth=depth).complete is complete


def test_a_kernel_that_was_built_has_what_became_of_it() -> None:
    built = KernelCompiled("/tmp/c.py", "cpp_fused_0", (("asm", "ret"),))
    other = KernelCompiled("/tmp/other.py", "cpp_fused_0", (("asm", "nop"),))
    report = folded(CODE, other, built)
    ((launch,),) = (code.launches for code in report.codes)
    assert launch.built
    assert launch.built.texts == (("asm", "ret"),)
