"""Patches that answer GPU queries of programs, torch and autograd without a GPU."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import torch

from ...facts import Device
from ..patches import AbsentGpu, Patch, do_nothing, patch_into

PATCHES: Final[list[Patch]] = []
"""The patches of this module, in the order in which they are applied."""
_patch = partial(patch_into, PATCHES)

_ROCM: Final = "6.4.0"
REGISTERS: Final = 65536
"""The number of registers of a multiprocessor, since compute capability 5."""


@_patch(
    "torch.version.hip, for a GPU of AMD",
    why="from it, torch knows that its `cuda` devices are ROCm devices; the generated code is the same",
    needed_for="AMD GPUs",
)
def _hip_version(pretence: AbsentGpu) -> None:
    device = pretence.device
    if device.architecture:
        torch.version.hip = _ROCM


@_patch(
    "torch.cuda.is_available, device_count, current_device, get_device_properties, get_device_capability, "
    "get_device_name, mem_get_info",
    why="programs and heuristics query these first, and choose other paths for a CPU",
    needed_for="kernels",
)
def _device_queries(pretence: AbsentGpu) -> None:
    device = pretence.device
    properties = _properties(device)
    _replace(
        torch.cuda,
        is_available=lambda: True,
        device_count=lambda: 1,
        current_device=lambda: 0,
        get_device_properties=lambda _=None: properties,
        get_device_capability=lambda _=None: device.capability,
        get_device_name=lambda _=None: device.name,
        is_bf16_supported=lambda *_, **__: True,
        mem_get_info=lambda _=None: (device.memory, device.memory),
    )


@_patch(
    "torch.cuda._lazy_init, set_device, synchronize, empty_cache, reset_peak_memory_stats, get_rng_state, "
    "set_rng_state, initial_seed, manual_seed, manual_seed_all, is_current_stream_capturing",
    why="they open the device",
    needed_for="kernels",
)
def _device_initialization(_: AbsentGpu) -> None:
    _replace(
        torch.cuda,
        _lazy_init=do_nothing,
        set_device=do_nothing,
        synchronize=do_nothing,
        empty_cache=do_nothing,
        reset_peak_memory_stats=do_nothing,
        initial_seed=lambda: 0,
        get_rng_state=lambda _="cuda": torch.zeros(16, dtype=torch.uint8),
        set_rng_state=do_nothing,
        manual_seed=do_nothing,
        manual_seed_all=do_nothing,
        is_current_stream_capturing=lambda: False,
    )


class _IdleStream:
    """A stream or event that does nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.device = torch.device("cuda", 0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return do_nothing

    def __enter__(self) -> _IdleStream:
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def query(self) -> bool:
        """Return true: there is never unfinished work."""
        return True

    def elapsed_time(self, _: _IdleStream) -> float:
        """Return NaN, because nothing was measured."""
        return float("nan")


@_patch(
    "torch.cuda.Stream, Event, stream, current_stream, default_stream",
    why="programs use them to copy during computations and to measure time, through the driver",
    needed_for="streams and events",
)
def _streams_and_events(_: AbsentGpu) -> None:
    idle = _IdleStream()
    _replace(
        torch.cuda,
        Stream=_IdleStream,
        Event=_IdleStream,
        stream=lambda _: idle,
        current_stream=lambda _=None: idle,
        default_stream=lambda _=None: idle,
    )


@_patch(
    "torch.cuda._exchange_device, torch.cuda._maybe_exchange_device",
    why="compiled code sets the device. Both must be separate functions: Dynamo compares identities",
    needed_for="kernels",
)
def _exchange_device(_: AbsentGpu) -> None:
    torch.cuda._exchange_device = lambda _: 0
    torch.cuda._maybe_exchange_device = lambda _: 0


@_patch(
    "CudaInterface.get_device_properties and the caches for workers (torch/_dynamo/device_interface.py)",
    why="TorchInductor asks its own interface to the device, and Dynamo guards on the answers",
    needed_for="kernels",
)
def _cuda_interface(pretence: AbsentGpu) -> None:
    device = pretence.device
    from torch._dynamo import device_interface

    properties = _properties(device)
    interface = device_interface.CudaInterface
    interface.is_available = staticmethod(lambda: True)
    interface.get_device_properties = staticmethod(lambda _=None: properties)
    device_interface.caching_worker_device_properties["cuda"] = [properties]
    device_interface.caching_worker_current_devices["cuda"] = 0


@_patch(
    "FakeTensorMode.avoid_device_init and init_gpu_context (torch/_subclasses/fake_tensor.py)",
    why="if CUDA seems to be available, a tensor without data opens its device",
    needed_for="kernels",
)
def _fake_tensor_initialization(_: AbsentGpu) -> None:
    from torch._subclasses import fake_tensor

    fake_tensor.FakeTensorMode.avoid_device_init = property(lambda _: True)
    fake_tensor.init_gpu_context = do_nothing


@_patch(
    "at::detail::CUDAHooks::hasPrimaryContext, the fifth in its table of virtual functions (Linux)",
    why="autograd calls it for each device; CUDA's function raises for a device without a driver",
    needed_for="backward passes",
)
def _has_primary_context(_: AbsentGpu) -> None:
    deny_primary_context()


def deny_primary_context() -> None:
    """Let autograd find no CUDA context on any device.

    Raise ``NotImplementedError`` on systems other than Linux.
    """
    if not sys.platform.startswith("linux"):
        raise NotImplementedError(sys.platform)
    library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))
    hooks_of_cuda = library._ZN2at6detail12getCUDAHooksEv
    hooks_of_cuda.restype = ctypes.c_void_p
    hooks = ctypes.c_void_p.from_address(hooks_of_cuda())
    table = hooks.value
    if not table:
        raise RuntimeError("no table of virtual functions")
    false = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_int8)(lambda *_: False)
    pointer = ctypes.sizeof(ctypes.c_void_p)
    start = table - _AHEAD * pointer
    copied = (ctypes.c_void_p * (_AHEAD + _FUNCTIONS)).from_buffer_copy(
        ctypes.string_at(start, (_AHEAD + _FUNCTIONS) * pointer)
    )
    copied[_AHEAD + _HAS_PRIMARY_CONTEXT] = ctypes.cast(false, ctypes.c_void_p).value
    _KEPT.extend((false, copied))
    hooks.value = ctypes.addressof(copied) + _AHEAD * pointer


_AHEAD: Final = 2
"""The entries before the first virtual function: the offset to the top, and the type."""
_FUNCTIONS: Final = 96
_HAS_PRIMARY_CONTEXT: Final = 4
"""The index of ``hasPrimaryContext``: after two destructors, ``isBuilt`` and ``isAvailable``
(``aten/src/ATen/detail/CUDAHooksInterface.h``)."""
_KEPT: Final[list[Any]] = []
"""References that keep alive the objects to which C++ points."""


def _properties(device: Device) -> SimpleNamespace:
    """Return a stand-in for the result of ``torch.cuda.get_device_properties``."""
    return SimpleNamespace(
        name=device.name,
        major=device.capability[0],
        minor=device.capability[1],
        multi_processor_count=device.multiprocessors,
        total_memory=device.memory,
        L2_cache_size=device.l2_cache,
        shared_memory_per_block=48 * 1024,
        shared_memory_per_block_optin=device.shared_memory,
        shared_memory_per_multiprocessor=device.shared_memory_of_multiprocessor,
        regs_per_multiprocessor=REGISTERS,
        max_threads_per_multi_processor=device.threads,
        max_threads_per_block=1024,
        warp_size=device.warp,
        clock_rate=device.clock,
        memory_clock_rate=device.memory_clock,
        memory_bus_width=device.bus_width,
        is_integrated=0,
        is_multi_gpu_board=0,
        gcnArchName=device.architecture,
        uuid="0",
        pci_bus_id=0,
        pci_device_id=0,
        pci_domain_id=0,
    )


def _replace(owner: Any, **values: Any) -> None:
    for name, value in values.items():
        setattr(owner, name, value)
