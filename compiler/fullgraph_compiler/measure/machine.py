"""Measure the bandwidth and arithmetic speed of this machine, to judge kernels."""

from __future__ import annotations

from time import perf_counter

import torch

from ..compat import kernel_compat
from ..facts import MachineMeasured

_BYTES = 1 << 27
"""The number of bytes of a copy, larger than the caches of processors."""
_SIZE = 1024
_TRIES = 5


def measure_machine() -> MachineMeasured:
    """Measure this machine's CPU, or return a GPU's figures from its data sheet.

    The GPU's figures are returned if the program uses a GPU.
    """
    if torch.cuda.is_initialized():
        name = torch.cuda.get_device_name()
        return MachineMeasured(name, kernel_compat.gpu_bandwidth(), kernel_compat.gpu_flops())
    with torch.inference_mode():
        source = torch.zeros(_BYTES // 4)
        target = torch.zeros_like(source)
        filling = min(_seconds(lambda: torch.zeros_like(source)) for _ in range(_TRIES))
        left, right = torch.ones(_SIZE, _SIZE), torch.ones(_SIZE, _SIZE)
        copying = min(_seconds(lambda: target.copy_(source)) for _ in range(_TRIES))
        turning = min(_seconds(lambda: torch.sin(left)) for _ in range(_TRIES))
        multiplying = min(_seconds(lambda: torch.mm(left, right)) for _ in range(_TRIES))
    return MachineMeasured(
        "CPU",
        2 * _BYTES / copying,
        2 * _SIZE**3 / multiplying,
        _BYTES / filling,
        torch.get_num_threads(),
        kernel_compat.vector_instructions(),
        left.numel() / turning,
    )


def _seconds(work: object) -> float:
    started = perf_counter()
    work()  # type: ignore[operator]
    return perf_counter() - started
