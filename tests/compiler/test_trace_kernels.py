"""What is read out of the code that TorchInductor writes, without a torch that writes it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from fullgraph_compiler.facts import CodeGenerated, Kernel, KernelNode, StackFrame
from fullgraph_compiler.trace import Interpreter, TraceRecord
from fullgraph_compiler.trace.graphs import parse_nodes, parse_operators
from fullgraph_compiler.trace.inductor.kernels import (
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
    found = [(launch.kernel.name, launch.kernel.language, launch.handle) for launch in parse_launches(CODE)]
    assert found == [
        ("triton_poi_fused_add_0", "triton", "triton_poi_fused_add_0:1"),
        ("cpp_fused_mul_1", "cpp", "cpp_fused_mul_1:2"),
        ("extern_kernels.addmm", "extern", "extern_kernels.addmm:3"),
        ("triton_poi_fused_add_0", "triton", "triton_poi_fused_add_0:4"),
    ]


def test_a_kernel_has_its_own_text_and_places() -> None:
    triton, cpp, extern, again = (launch.kernel for launch in parse_launches(CODE))
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
    assert [launch.sources for launch in parse_launches(CODE)] == [("add", "y"), (), ("linear",), ()]


def test_code_that_is_not_python_has_no_launches() -> None:
    assert parse_launches("#include <torch/csrc/inductor/cpp_prefix.h>") == []


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

    interpreter = Interpreter()
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
