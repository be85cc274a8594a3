"""Operators of compiled and uncompiled calls, counted by the profiler."""

from __future__ import annotations

from typing import cast

import torch
from fullgraph_compiler.facts import OperatorCounted, TimePart
from fullgraph_compiler.measure.profiling import count_operators
from fullgraph_compiler.measure.repeating import Repetition


class _Calls:
    """Two calls, which multiply twice if they are compiled, and add."""

    calls = (1, 2)

    def observe(self, times: int, *, compiled: bool) -> None:
        x = torch.ones(2, 2)
        for _ in range(times * len(self.calls)):
            for _ in range(2 if compiled else 1):
                torch.matmul(x, x)
            x.add(x)


def test_operators_are_counted_a_call_also_within_others() -> None:
    kernels = TimePart("kernel", 1.0, name="aten::mm"), TimePart("kernel", 1.0, name="cpp_fused_add_0")
    found = count_operators(cast("Repetition", _Calls()), (*kernels, TimePart("launch", 1.0)))
    assert found == (OperatorCounted("aten::mm", 2.0, 1.0),)
