"""Find results that only rounding decides.

Such a result is far from the float64 result both compiled and uncompiled.
"""

from __future__ import annotations

import math
from typing import Any, Final

import torch

from ..cases import checking, repro
from ..cases.case import FailureCase
from ..cases.oracle import execute, silence
from ..facts import Noise
from ..processes.children import run_child

_FAR: Final = 0.01
"""The relative error, compared with float64, above which rounding decides a number."""


def noise_in(case: FailureCase, seconds: float) -> Noise | None:
    """Return the first number in a graph's results that only rounding decides.

    Its compiled and uncompiled values differ, and both are far from the float64 value.
    """
    ended = run_child(lambda: _noise(case), seconds)
    return ended.answer if ended.answered else None


def _noise(case: FailureCase) -> Noise | None:
    silence()
    namespace = execute(repro.program(case))
    module, inputs, compiled = namespace["Repro"], namespace["inputs"], namespace["compiled"]
    plain = checking.run(module(), inputs())
    results = checking.run(compiled(module(), inputs()), inputs())
    exact = checking.in_double(module(), inputs)
    found = (_far(*tensors) for tensors in zip(results, plain, exact, strict=True))
    numbers = next(filter(None, found), None)
    return Noise(case.compile_id, *numbers) if numbers else None


def _far(result: Any, plain: Any, exact: Any) -> tuple[str, float, float, float] | None:
    """Return the dtype and values of the element where two results differ most.

    The values are compiled, uncompiled and float64. ``None`` if the results do not differ, or if either value
    is close to float64.
    """
    if not all(isinstance(value, torch.Tensor) for value in (result, plain, exact)):
        return None
    dtype = plain.dtype
    if dtype not in (torch.float32, torch.float16, torch.bfloat16) or not checking.difference(
        "", result, plain, None
    ):
        return None
    gap = (result.double() - plain.double()).abs().nan_to_num(-1.0, -1.0).flatten()
    place = gap.argmax()
    f, p, d = (value.detach().double().flatten()[place].item() for value in (result, plain, exact))
    if not all(map(math.isfinite, (f, p, d))) or min(abs(f - d), abs(p - d)) <= _FAR * abs(d):
        return None
    return str(dtype).removeprefix("torch."), f, p, d
