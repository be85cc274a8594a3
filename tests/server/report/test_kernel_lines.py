"""Which operations the lines of a kernel may compute."""

from __future__ import annotations

import pytest
from fullgraph_server.report.lines.kernel_lines import lines_of
from fullgraph_server.report.model import KernelLaunch, LoweredOperation

pytestmark = pytest.mark.portable

OPERATORS = (
    "aten.abs",
    "aten.add",
    "aten.sub",
    "aten.mul",
    "aten.div",
    "aten.neg",
    "aten.exp",
    "aten.relu",
    "aten.sigmoid",
    "aten.sum",
    "aten.var_mean",
    "aten.rsqrt",
    "aten.where",
    "aten.lt",
    "aten.le",
    "prims.convert_element_type",
)


def computed(line: str) -> list[str]:
    operations = tuple(LoweredOperation(name, name, None) for name in OPERATORS)
    launch = KernelLaunch("k", "triton", "", f"first\n{line}\n", (1, 1), None, operations, ())
    return [
        item.operator.rpartition(".")[2] for row, found in lines_of([launch]) for item in found if row == 2
    ]


@pytest.mark.parametrize(
    ("line", "operators"),
    [
        ("    tmp1 = tl_math.abs(tmp0)", ["abs"]),
        ("    tmp3 = tmp1 + tmp2", ["add"]),
        ("    tmp4 = (tmp0 / tmp3)", ["div"]),
        ("    tmp4 = tmp0 - tmp3", ["sub"]),
        ("    tmp4 = -tmp0", ["neg"]),
        ("    tmp9 = libdevice.rsqrt(tmp8)", ["rsqrt"]),
        ("    tmp2 = triton_helpers.maximum(tmp1, tmp0)", ["relu"]),
        ("    tmp5 = tl.sum(tmp4, 1)[:, None].to(tl.float32)", ["sum", "var_mean"]),
        ("    tmp6 = tmp5.to(tl.float32)", ["convert_element_type"]),
        ("    tmp7 = tmp5 < tmp6", ["lt"]),
        ("    tmp7 = tl.where(tmp1, tmp2, tmp3)", ["where"]),
        ("    auto tmp1 = tmp0.abs();", ["abs"]),
        ("    auto tmp1 = std::abs(tmp0);", ["abs"]),
        ("    auto tmp8 = float(tmp6 + tmp7);", ["add"]),
        ("    auto tmp3 = tmp0 * tmp1;", ["mul"]),
        ("    auto tmp4 = at::vec::maximum(tmp2, decltype(tmp2)(0));", ["relu"]),
        ("    tmp_acc0_vec = tmp_acc0_vec + tmp4;", ["sum", "var_mean"]),
        ("    auto tmp5 = at::vec::VecMask<float,1>(tmp0 <= tmp3);", ["le"]),
        ("    auto tmp13 = c10::convert<float>(tmp12);", ["convert_element_type"]),
        ("    auto tmp1 = decltype(tmp0)(1)/(decltype(tmp0)(1) + tmp0.neg().exp());", ["sigmoid"]),
        ("    auto tmp14 = decltype(tmp1)::blendv(tmp0, tmp2, tmp1);", ["where"]),
    ],
)
def test_a_line_computes(line: str, operators: list[str]) -> None:
    assert computed(line) == operators


@pytest.mark.parametrize(
    "line",
    [
        "    xoffset = tl.program_id(0) * XBLOCK",
        "    xindex = xoffset + tl.arange(0, XBLOCK)[:]",
        "    tmp0 = tl.load(in_ptr0 + (x0 + 16*x1), xmask)",
        "    tl.store(out_ptr0 + (x0), tmp4, xmask)",
        "    tmp1 = tl.full([1], 0, tl.int32)",
        "    auto tmp0 = in_ptr0[static_cast<int64_t>(x0 + 16L*x1)];",
    ],
)
def test_a_line_that_only_moves_data_computes_nothing(line: str) -> None:
    assert computed(line) == []
