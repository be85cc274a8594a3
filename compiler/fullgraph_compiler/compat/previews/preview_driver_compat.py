"""Patches of Triton's driver, and of caches, for an absent GPU."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Final

import torch

from ...facts import Device
from ..patches import AbsentGpu, Patch, do_nothing, patch_into
from .preview_device_compat import REGISTERS

PATCHES: Final[list[Patch]] = []
"""The patches of this module, in the order in which they are applied."""
_patch = partial(patch_into, PATCHES)


@_patch(
    "triton.runtime.driver's active driver",
    why="the GPU's driver needs libcuda; Triton needs nothing else to compile",
    needed_for="kernels",
)
def _active_driver(pretence: AbsentGpu) -> None:
    device = pretence.device
    from triton.runtime import driver

    driver.set_active(_PreviewDriver(device))


class _PreviewDriver:
    """A stand-in for Triton's ``CudaDriver``.

    ``triton/backends/nvidia/driver.py``: Triton 3.6 to 3.9.
    """

    def __init__(self, device: Device) -> None:
        from triton.backends.compiler import GPUTarget

        major, minor = device.capability
        target = GPUTarget("cuda", major * 10 + minor, device.warp)
        if device.architecture:
            target = GPUTarget("hip", device.architecture, device.warp)
        properties = {
            "max_shared_mem": device.shared_memory,
            "max_num_regs": REGISTERS,
            "multiprocessor_count": device.multiprocessors,
            "warpSize": device.warp,
            "sm_clock_rate": device.clock,
            "mem_clock_rate": device.memory_clock,
            "mem_bus_width": device.bus_width,
        }
        self.utils = SimpleNamespace(get_device_properties=lambda _=0: properties)
        self.get_current_target = lambda: target
        self.get_device_capability = lambda _=None: device.capability
        self.get_current_device = lambda: 0
        self.get_current_stream = lambda _=0: 0
        self.set_current_device = do_nothing
        self.get_active_torch_device = lambda: torch.device("cuda", 0)
        self.get_device_interface = lambda: torch.cuda
        self.is_active = lambda: True


@_patch(
    "set_driver_to_gpu (torch/_inductor/runtime/triton_helpers.py)",
    why="it searches for a driver that reports itself as active",
    needed_for="PTX",
)
def _set_driver_to_gpu(_: AbsentGpu) -> None:
    from torch._inductor.runtime import triton_helpers

    triton_helpers.set_driver_to_gpu = do_nothing


@_patch(
    "caches of torch/utils/_triton.py, torch/_inductor/utils.py, DeviceProperties and CacheBase",
    why="they have cached that there is no GPU",
    needed_for="kernels",
)
def _caches_of_devices(_: AbsentGpu) -> None:
    import torch._inductor.utils
    import torch.utils._triton
    from torch._inductor.codecache import CacheBase
    from torch._inductor.runtime.hints import DeviceProperties

    for module in (torch.utils._triton, torch._inductor.utils):
        for value in list(vars(module).values()):
            if hasattr(value, "cache_clear") and value.__module__ == module.__name__:
                value.cache_clear()
    DeviceProperties.create.cache_clear()
    CacheBase.get_system.cache_clear()
