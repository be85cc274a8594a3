"""Results that are far from float64, compiled and uncompiled."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
import torch

if sys.platform != "linux":
    pytest.skip("graphs run in a fork, on Linux only", allow_module_level=True)

from fullgraph_compiler.cases.case import (
    CaseGraph,
    CaseInput,
    CaseOperation,
    FailureCase,
    NormalValues,
    ResultRef,
    TensorSpec,
)
from fullgraph_compiler.diagnose.noise import _far, noise_in

SPEC = TensorSpec((1000,), (1,), "float32", "cpu")
TRIPLING = """\
def tripling(graph, inputs):
    return lambda *args: [3 * value for value in graph(*args)]"""
"""A backend whose results differ."""


@pytest.mark.parametrize(
    ("compiled", "plain", "exact", "is_noise"),
    [
        (2.5e8, 5.9e7, 9.1e16, True),
        (0.5, 0.25, 0.0, True),
        (1.0, 2.0, 2.0, False),  # the uncompiled result is right: a fault
        (2.0, 1.0, 2.0, False),
        (1.0, 1.0, 9.0, False),  # no difference
        (float("nan"), 1.0, 9.0, False),
    ],
)
def test_noise_is_far_from_float64_in_both(
    compiled: float, plain: float, exact: float, is_noise: bool
) -> None:
    pair = torch.tensor([1.0, compiled]), torch.tensor([1.0, plain])
    found = _far(*pair, torch.tensor([1.0, exact], dtype=torch.float64))
    assert found == (("float32", compiled, plain, exact) if is_noise else None)


def test_integers_are_no_noise() -> None:
    assert _far(torch.tensor(1), torch.tensor(5), torch.tensor(9)) is None


def test_a_graph_whose_digits_cancel_has_noise_and_one_without_has_none() -> None:
    added = CaseOperation("y", "call_function", "torch.add", (ResultRef("x"), 1e7), spec=SPEC)
    graph = CaseGraph(
        ("x",),
        (added, CaseOperation("z", "call_function", "torch.sub", (ResultRef("y"), 1e7))),
        (ResultRef("z"),),
    )
    case = FailureCase(
        "dynamo", "tripling", graph, (CaseInput("x", SPEC, NormalValues()),), ("import torch", TRIPLING)
    )
    case = replace(case, backend_is_code=True, compile_id="0/0")
    noise = noise_in(case, 60.0)
    assert noise is not None
    assert (noise.compile_id, noise.dtype, noise.compiled) == ("0/0", "float32", 3 * noise.plain)
    assert 0.01 < abs(noise.plain - noise.exact) <= 0.5
    doubled = (replace(added, target="torch.mul", args=(ResultRef("x"), 2.0)),)
    assert noise_in(replace(case, graph=CaseGraph(("x",), doubled, (ResultRef("y"),))), 60.0) is None
