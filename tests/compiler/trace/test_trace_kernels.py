"""What is read out of the code that TorchInductor writes, without a torch that writes it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from fullgraph_compiler.facts import CodeGenerated, Kernel, KernelNode, StackFrame
from fullgraph_compiler.trace import TraceInterpreter, TraceRecord
from fullgraph_compiler.trace.graphs import parse_nodes, parse_operators
from fullgraph_compiler.trace.inductor.kernels import (
    CodeLaunches,
    called,
    parse_launches,
    parse_nodes_of,
    parse_stacks,
    phase_of,
)
from fullgraph_compiler.trace.messages import no_source, parse_frames

CODE = """\
# AOT ID: ['3_backward']
import torch

# kernel path: /tmp/x.py
# Topologically Sorted Source Nodes: [add], Original ATen: [aten.add]
triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''
import triton

@triton_heuristics.pointwise(size_hints={'x': 16})
@triton.jit
def triton_poi_fused_add_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 10
''', device_str='cuda')


cpp_fused_mul_1 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
extern "C"  void  kernel(const float* in_ptr0, float* out_ptr0) {}
''')


class Runner:
    def call(self, args):
        buf0 = empty_strided_cpu((10, ), (1, ), torch.float32)
        # Topologically Sorted Source Nodes: [add, y], Original ATen: [aten.add]
        # [Provenance debug handles] triton_poi_fused_add_0:1
        stream0 = get_raw_stream(0)
        triton_poi_fused_add_0.run(buf0, buf1, 10, stream=stream0)
        # [Provenance debug handles] cpp_fused_mul_1:2
        cpp_fused_mul_1(buf1, buf2)
        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.addmm]
        # [Provenance debug handles] extern_kernels.addmm:3
        extern_kernels.addmm(
            buf2, buf3, out=buf4)
        torch.ops.inductor._helper(buf4)
        # [Provenance debug handles] triton_poi_fused_add_0:4
        triton_poi_fused_add_0.run(buf4, buf5, 10, stream=stream0)
        return (buf5, )
"""


def test_launches_in_their_order_with_what_they_launch() -> None:
    found = [
        (launch.kernel.name, launch.kernel.language, launch.handle) for launch in parse_launches(CODE).found
    ]
    assert found == [
        ("triton_poi_fused_add_0", "triton", "triton_poi_fused_add_0:1"),
        ("cpp_fused_mul_1", "cpp", "cpp_fused_mul_1:2"),
        ("extern_kernels.addmm", "extern", "extern_kernels.addmm:3"),
        ("triton_poi_fused_add_0", "triton", "triton_poi_fused_add_0:4"),
    ]


def test_a_kernel_has_its_own_text_and_places() -> None:
    triton, cpp, extern, again = (launch.kernel for launch in parse_launches(CODE).found)
    lines = CODE.splitlines()
    assert triton.source.startswith("import triton\n")
    assert triton.source.endswith("xnumel = 10")
    assert triton.heuristic == "pointwise"
    assert cpp.source == 'extern "C"  void  kernel(const float* in_ptr0, float* out_ptr0) {}'
    assert lines[triton.definition[0] - 1].startswith("triton_poi_fused_add_0 = ")
    assert lines[triton.definition[1] - 1].startswith("''', device_str")
    assert lines[triton.launch[0] - 1].strip().startswith("triton_poi_fused_add_0.run(buf0")
    assert again.definition == triton.definition
    assert again.launch != triton.launch
    assert (extern.source, extern.definition) == ("", None)
    assert extern.launch[1] == extern.launch[0] + 1


def test_sources_of_a_launch_are_those_of_its_own_comment() -> None:
    assert [launch.sources for launch in parse_launches(CODE).found] == [("add", "y"), (), ("linear",), ()]


def test_code_that_is_not_python_has_no_launches() -> None:
    assert parse_launches("#include <torch/csrc/inductor/cpp_prefix.h>") == CodeLaunches(())


SUBGRAPHS = """\
cpp_fused_gt_0 = async_compile.cpp_pybinding(['const float*'], r'''void kernel() {}''')
cpp_fused_sin_1 = async_compile.cpp_pybinding(['const float*'], r'''void kernel() {}''')

def true_graph_0(args):
    cpp_fused_sin_1(args[0])
    # Unsorted Source Nodes: [matmul], Original ATen: [aten.mm]
    extern_kernels.mm(args[0], args[0], out=buf0)
    return (buf0, )

cpp_fused_cos_2 = async_compile.cpp_pybinding(['const float*'], r'''void kernel() {}''')

def repeated_subgraph0(args):
    cpp_fused_cos_2(args[0])
    buf1 = nested(args)
    return (buf1, )

def nested(args):
    cpp_fused_gt_0(args[0])

async_compile.wait(globals())

class Runner:
    def call(self, args):
        cpp_fused_gt_0(arg0_1)
        if buf1.item():
            buf2 = true_graph_0(args)
        buf3 = repeated_subgraph0(args)
        buf4 = repeated_subgraph0(args)
        should_loop = repeated_subgraph0(args)
        while should_loop:
            should_loop = repeated_subgraph0(args)
        return (buf4, )

def benchmark_compiled_module(args):
    cpp_fused_gt_0(args)
"""


def test_kernels_in_the_functions_of_higher_order_operators_are_launches() -> None:
    read = parse_launches(SUBGRAPHS)
    found = [(launch.kernel.name, launch.kernel.function, launch.kernel.times) for launch in read.found]
    assert found == [
        ("cpp_fused_gt_0", "", 1),
        ("cpp_fused_sin_1", "true_graph_0", 1),
        ("extern_kernels.mm", "true_graph_0", 1),
        ("cpp_fused_cos_2", "repeated_subgraph0", 3),
        ("cpp_fused_gt_0", "nested", 3),
    ]
    assert read.found[2].sources == ("matmul",)
    assert read.unread == ()


def test_parts_of_a_graph_are_read_where_they_are_called() -> None:
    code = """\
a = async_compile.triton('a', '''kernel''')
b = async_compile.triton('b', '''kernel''')
def partition_0(args):
    a.run(args)
class Runner:
    def call(self, args):
        b.run(args)
        (buf1, ) = self.partitions[0](args)
"""
    found = [(launch.kernel.name, launch.kernel.function) for launch in parse_launches(code).found]
    assert found == [("b", ""), ("a", "")]


def test_functions_that_call_each_other_without_end_are_read_once() -> None:
    kernel = "k = async_compile.triton('k', '''kernel''')\n"
    chain = "".join(f"def f{n}(args):\n    f{n + 1}(args)\n    f{n + 1}(args)\n" for n in range(5_000))
    (launch,) = parse_launches(f"{kernel}{chain}def f5000(a):\n    k.run(a)\ndef call(a):\n    f0(a)\n").found
    assert launch.kernel.times == 1_000_000
    (launch,) = parse_launches(f"{kernel}def f(a):\n    k.run(a)\n    f(a)\ndef call(a):\n    f(a)\n").found
    assert launch.kernel.function == "f"


def test_a_kernel_whose_launch_is_not_found_is_named() -> None:
    code = f"{CODE}\nlost_2 = async_compile.triton('lost_2', '''kernel''')\n"
    assert parse_launches(code).unread == ("lost_2",)
    assert parse_launches(f"{code}\n1 +").unread == ("triton_poi_fused_add_0", "cpp_fused_mul_1", "lost_2")


def test_a_kernel_that_is_one_of_several_has_their_texts() -> None:
    code = """\
one = async_compile.triton('one', '''text of one''')
two = async_compile.triton('two', '''text of two''')
multi_kernel_0 = async_compile.multi_kernel('multi_kernel_0', [one, two])
def call(args):
    multi_kernel_0.run(args)
"""
    read = parse_launches(code)
    assert [launch.kernel.source for launch in read.found] == ["text of one\n\ntext of two"]
    assert read.unread == ()


CPP_WRAPPER = """\

cpp_wrapper_src = (
r'''
#include <torch/csrc/inductor/cpp_wrapper/cpu.h>
extern "C"  void  cpp_fused_sin_0(const float* in_ptr0,
                       float* out_ptr0);
void inductor_entry_impl(
    AtenTensorHandle* input_handles
) {
    if (buf1_scalar) {
        // subgraph: true_graph_0
        cpp_fused_sin_0((const float*)(arg0.data_ptr()), (float*)(buf0.data_ptr()));
    }
} // inductor_entry_impl

extern "C"  void  cpp_fused_sin_0(const float* in_ptr0,
                       float* out_ptr0)
{
    out_ptr0[0] = std::sin(in_ptr0[0]);
}
'''
)
call = _wrap_func(inductor_entry)
"""


def test_a_wrapper_in_cpp_has_its_kernels_and_the_pass_of_its_graph() -> None:
    told = [
        TraceRecord("str", ["/m.py", 1], "", 0, ""),
        TraceRecord("dynamo_start", {"stack": [{"filename": 1, "line": 1, "name": "f"}]}, "0/0", 0, ""),
        TraceRecord("aot_joint_graph", {}, "0/0", 0, ""),
        TraceRecord("inductor_post_grad_graph", {}, "0/0", 0, ""),
        TraceRecord("inductor_output_code", {}, "0/0", 0, CPP_WRAPPER),
    ]
    interpreter = TraceInterpreter()
    facts = [fact for item in told for fact in interpreter.feed(item)] + [*interpreter.finish()]
    (code,) = (fact for fact in facts if isinstance(fact, CodeGenerated))
    assert (code.phase, code.language, code.unread) == ("forward", "python", ())
    (kernel,) = code.kernels
    assert (kernel.name, kernel.language, kernel.launch) == ("cpp_fused_sin_0", "cpp", (12, 12))
    assert kernel.source.endswith("    out_ptr0[0] = std::sin(in_ptr0[0]);\n}")


@pytest.mark.parametrize(
    ("code", "phase"), [(CODE, "backward"), ("# AOT ID: ['0_forward']\n", "forward"), ("", "inference")]
)
def test_phase(code: str, phase: str) -> None:
    assert phase_of(code) == phase


def test_stacks_and_nodes_by_handle() -> None:
    text = '  File "/m.py", line 3, in f\n    y = x + 1\n        ~~^~~\n'
    frame = StackFrame("/m.py", 3, "f")
    stacks = parse_stacks(json.dumps({"k:1": [text, text], "k:2": []}), no_source)
    assert stacks == {"k:1": ((frame,),), "k:2": ()}
    assert parse_nodes_of(json.dumps({"cppCodeToPost": {"k:1": ["add"]}, "version": 2.0})) == {
        "k:1": ("add",)
    }


@pytest.mark.parametrize(
    ("source", "text", "columns"),
    [
        ("    y = x + 1", "    y = x + 1\n        ~~^~~", (8, 13)),
        ("\ty = (x)", "    y = (x)\n        ^^^", (5, 8)),
        ('    s = "é"; y = x.relu()', '    s = "é"; y = x.relu()\n                 ^^^^^^^^', (18, 26)),
        ('    f("名", x + 1)', '    f("名", x + 1)\n            ~~^~~', (13, 18)),
        ("    y = x + 1", "    y = x + 1", (None, None)),
        ("    z = 0", "    y = x + 1\n        ~~^~~", (None, None)),
        ("", "    y = x + 1\n        ~~^~~", (None, None)),
    ],
)
def test_carets_tell_columns_where_the_line_is_at_hand(
    source: str, text: str, columns: tuple[int | None, int | None]
) -> None:
    lines = f'  File "/m.py", line 3, in f\n{text}\n'.splitlines()
    (frame,) = parse_frames(lines, lambda *_: source)
    assert (frame.column, frame.end_column) == columns


@pytest.mark.parametrize("payload", ["", "null", "[1]", '{"version": 2.0}'])
def test_a_graph_from_a_cache_has_neither(payload: str) -> None:
    assert parse_nodes_of(payload) == {}
    if payload != '{"version": 2.0}':
        assert parse_stacks(payload, no_source) == {}


def test_nodes_of_a_backward_graph_have_the_lines_of_the_forward_pass() -> None:
    text = """\
        # File: /m.py:7 in f, code: y = x.relu()
        relu: "f32[8][1]cpu" = torch.ops.aten.relu.default(x)

        # Backward of forward node: File: /m.py:9 in f, code: return y @ y
        mm: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mm.default(a, b)

        # No stacktrace found for following nodes
        copy_: "f32[8][1]cpu" = torch.ops.aten.copy_.default(a, b)
"""
    assert [(node.name, node.frame.row) for node in parse_nodes(text)] == [("relu", 7), ("mm", 9)]
    found = [(node.operator, node.frame.row if node.frame else None) for node in parse_operators(text)]
    assert found == [("aten.relu", 7), ("aten.mm", 9), ("aten.copy_", None)]


def test_a_library_function_computes_its_own_operation_only() -> None:
    convolution, relu = StackFrame("/m.py", 3, "f"), StackFrame("/m.py", 4, "f")
    nodes = (
        KernelNode("conv", "aten.convolution_backward", convolution),
        KernelNode("where", "aten.where", relu),
    )
    kernel = Kernel(
        "torch.ops.aten.convolution_backward.default",
        "extern",
        nodes=nodes,
        stacks=((relu,), (convolution,)),
    )
    assert called(kernel) == replace(kernel, nodes=nodes[:1], stacks=((convolution,),))
    fused = replace(kernel, name="cpp_fused_0", language="cpp", source="void kernel() {}")
    assert called(fused) == fused


def test_code_of_which_nothing_more_is_told_is_not_lost() -> None:
    def record(name: str, payload: str) -> TraceRecord:
        return TraceRecord(name, {}, "0/0", 0, payload)

    interpreter = TraceInterpreter()
    frames = [{"filename": 1, "line": 1, "name": "f"}]
    told = [
        TraceRecord("str", ["/m.py", 1], "", 0, ""),
        TraceRecord("dynamo_start", {"stack": frames}, "0/0", 0, ""),
        record("inductor_output_code", "# AOT ID: ['0_forward']"),
        record("inductor_post_grad_graph", ""),
        record("inductor_output_code", "# AOT ID: ['0_backward']"),
        record("inductor_output_code", "# AOT ID: ['1_inference']"),
    ]
    facts = [fact for item in told for fact in interpreter.feed(item)] + [*interpreter.finish()]
    phases = [fact.phase for fact in facts if isinstance(fact, CodeGenerated)]
    assert phases == ["forward", "backward", "inference"]
