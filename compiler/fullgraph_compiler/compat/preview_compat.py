"""What takes the place of parts of torch and Triton, so that they write kernels for a GPU that is not there.

Each patch says what it replaces, why, what fails without it, and in which of the supported versions of torch.
:func:`stand_in` applies all of them to this process, for good: it must be one that nobody needs afterwards.
``tests/cases/preview`` are programs that need them; ``docs/preview.md`` says how far their kernels are those
of a GPU.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from ..facts import Device

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pretence:
    """A GPU that is not there, and what compiling for it takes that torch has not."""

    device: Device
    for_gpu: Callable[[torch.fx.GraphModule, Sequence[Any]], tuple[torch.fx.GraphModule, list[Any]]]
    """Gives a graph of the CPU, with its inputs, as one of the GPU."""
    attend: Callable[..., Any]
    """Takes the place of ``scaled_dot_product_attention``, and of its choice among kernels."""


Apply: TypeAlias = Callable[[Pretence], None]


@dataclass(frozen=True)
class Patch:
    """One replacement. ``needed_for`` is what fails, or is another, without it; ``versions`` are torch's."""

    replaces: str
    why: str
    needed_for: str
    versions: str
    apply: Apply


PATCHES: Final[list[Patch]] = []
"""In the order in which they are applied."""


def _patch(
    replaces: str, *, why: str, needed_for: str, versions: str = "2.11 to 2.15"
) -> Callable[[Apply], Apply]:
    def note(apply: Apply) -> Apply:
        PATCHES.append(Patch(replaces, why, needed_for, versions, apply))
        return apply

    return note


def stand_in(pretence: Pretence) -> tuple[Patch, ...]:
    """Make this process believe in a device; returns the patches that do not fit this torch."""
    failed: list[Patch] = []
    for patch in PATCHES:
        try:
            patch.apply(pretence)
        except Exception:
            _log.warning("no patch of %s", patch.replaces, exc_info=True)
            failed.append(patch)
    return tuple(failed)


def allow_gradients() -> None:
    """Let tensors without data that are on a GPU have gradients, where there is no GPU; Linux only."""
    if torch.backends.cuda.is_built() and not torch.cuda.is_available():
        try:
            _without_context()
        except Exception:
            _log.warning("tensors on a GPU have no gradients", exc_info=True)


def why_not() -> str:
    """Why this torch cannot write kernels for CUDA, in one sentence; empty if it can."""
    if not torch.backends.cuda.is_built():
        return f"torch {torch.__version__} is built without CUDA"
    try:
        importlib.import_module("triton")
    except ImportError as error:
        return f"Triton cannot be imported ({error})"
    return ""


# What a program and torch ask of CUDA


@_patch(
    "torch.version.hip, for a GPU of AMD",
    why="by this torch knows that its `cuda` devices are those of ROCm; the code generation is the same",
    needed_for="GPUs of AMD",
)
def _rocm(pretence: Pretence) -> None:
    device = pretence.device
    if device.architecture:
        torch.version.hip = _ROCM


@_patch(
    "torch.cuda.is_available, device_count, current_device, get_device_properties, get_device_capability, "
    "get_device_name, mem_get_info",
    why="programs and heuristics ask these first, and take other ways for a CPU",
    needed_for="kernels",
)
def _the_device(pretence: Pretence) -> None:
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
def _what_opens_it(_: Pretence) -> None:
    _replace(
        torch.cuda,
        _lazy_init=_nothing,
        set_device=_nothing,
        synchronize=_nothing,
        empty_cache=_nothing,
        reset_peak_memory_stats=_nothing,
        initial_seed=lambda: 0,
        get_rng_state=lambda _="cuda": torch.zeros(16, dtype=torch.uint8),
        set_rng_state=_nothing,
        manual_seed=_nothing,
        manual_seed_all=_nothing,
        is_current_stream_capturing=lambda: False,
    )


class _Idle:
    """A stream, or an event of one, on which nothing happens."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.device = torch.device("cuda", 0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _nothing

    def __enter__(self) -> _Idle:
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def query(self) -> bool:
        """Whether all is done."""
        return True

    def elapsed_time(self, _: _Idle) -> float:
        """Nobody knows how long nothing takes."""
        return float("nan")


@_patch(
    "torch.cuda.Stream, Event, stream, current_stream, default_stream",
    why="programs copy beside what they compute, and measure time, by way of the driver",
    needed_for="streams and events",
)
def _streams(_: Pretence) -> None:
    idle = _Idle()
    _replace(
        torch.cuda,
        Stream=_Idle,
        Event=_Idle,
        stream=lambda _: idle,
        current_stream=lambda _=None: idle,
        default_stream=lambda _=None: idle,
    )


@_patch(
    "torch.cuda._exchange_device, torch.cuda._maybe_exchange_device",
    why="what is compiled runs with the device set. Two functions: Dynamo knows them by identity",
    needed_for="kernels",
)
def _exchange_of_devices(_: Pretence) -> None:
    torch.cuda._exchange_device = lambda _: 0
    torch.cuda._maybe_exchange_device = lambda _: 0


@_patch(
    "CudaInterface.get_device_properties and the caches for workers (torch/_dynamo/device_interface.py)",
    why="TorchInductor asks its own interface to the device, and Dynamo guards on the answers",
    needed_for="kernels",
)
def _interface(pretence: Pretence) -> None:
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
    why="where CUDA seems to be available, a tensor without data opens the device that it is on",
    needed_for="kernels",
)
def _tensors_without_data(_: Pretence) -> None:
    from torch._subclasses import fake_tensor

    fake_tensor.FakeTensorMode.avoid_device_init = property(lambda _: True)
    fake_tensor.init_gpu_context = _nothing


@_patch(
    "at::detail::CUDAHooks::hasPrimaryContext, the fifth in its table of virtual functions (Linux)",
    why="autograd asks it for each device; CUDA's own raises for a device that the driver does not have",
    needed_for="backward",
)
def _autograd_without_context(_: Pretence) -> None:
    _without_context()


def _without_context() -> None:
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
"""Entries ahead of the first virtual function: the offset to the top, and the type."""
_FUNCTIONS: Final = 96
_HAS_PRIMARY_CONTEXT: Final = 4
"""After two destructors, ``isBuilt`` and ``isAvailable`` (``aten/src/ATen/detail/CUDAHooksInterface.h``)."""
_KEPT: Final[list[Any]] = []
"""What C++ points to."""


@_patch(
    "compile_fx (torch/_inductor/compile_fx.py)",
    why="each graph is compiled as if on the device, forward and backward, and runs uncompiled",
    needed_for="kernels",
)
def _compilation(pretence: Pretence) -> None:
    from torch._inductor import compile_fx

    compile_graph = compile_fx.compile_fx
    functional = torch.nn.functional
    attend_by_torch = functional.scaled_dot_product_attention
    inside = False

    def compile_for_gpu(graph: torch.fx.GraphModule, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal inside
        if inside:  # it calls itself, with the settings of the program in force
            return compile_graph(graph, inputs, *args, **kwargs)
        inside = True
        functional.scaled_dot_product_attention = (
            pretence.attend
        )  # for what calls it; Dynamo must not see this
        try:
            compile_graph(*pretence.for_gpu(graph, inputs), *args, **kwargs)
        finally:
            functional.scaled_dot_product_attention = attend_by_torch
            inside = False
        return graph.forward

    compile_fx.compile_fx = compile_for_gpu


@_patch(
    "_scaled_dot_product_attention (torch/_inductor/fx_passes/fuse_attention.py)",
    why="its choice among kernels asks the driver, and is the slowest without: here where TorchInductor "
    "recognises attention; what a program calls is replaced as its graph is compiled",
    needed_for="attention",
)
def _attention_that_is_recognised(pretence: Pretence) -> None:
    from torch._inductor.fx_passes import fuse_attention

    fuse_attention._scaled_dot_product_attention = pretence.attend


@_patch(
    "_init_group of torch's optimizers",
    why="where step() is compiled, Dynamo makes their state for real, without data or not",
    needed_for="optimizers",
)
def _state_of_optimizers(_: Pretence) -> None:
    for name in torch.optim.__all__:
        optimizer = getattr(torch.optim, name)
        if "_init_group" in vars(optimizer):
            optimizer._init_group = _without_data(optimizer._init_group)


def _without_data(make: Callable[..., Any]) -> Callable[..., Any]:
    from torch._subclasses.fake_tensor import FakeTensor

    @functools.wraps(make)
    def make_without_data(self: Any, group: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        modes = (tensor.fake_mode for tensor in group["params"] if isinstance(tensor, FakeTensor))
        with next(modes, contextlib.nullcontext()):
            return make(self, group, *args, **kwargs)

    return make_without_data


def tracing_mode() -> Any:
    """The mode of tensors without data in which the graph is compiled that Dynamo has just captured.

    ``TracingContext.fake_mode`` (``torch/_guards.py``): 2.11 to 2.15.
    """
    from torch._guards import TracingContext

    return TracingContext.get().fake_mode


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether a tensor, with data or without, is of none of the classes that behave otherwise.

    ``FakeTensor`` (``torch/_subclasses/fake_tensor.py``): 2.11 to 2.15.
    """
    from torch._subclasses.fake_tensor import FakeTensor

    return type(tensor) in (torch.Tensor, torch.nn.Parameter, FakeTensor)


# What would run on it while graphs are compiled


class _OnCpu(TorchDispatchMode):  # type: ignore[misc]
    """Makes what is asked of the GPU on the CPU."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = pytree.tree_map(_cpu_for_gpu, (args, kwargs or {}))
        return func(*args, **kwargs)


def _cpu_for_gpu(value: Any) -> Any:
    return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value


@_patch(
    "UniformValueConstantFolder.run (torch/_inductor/fx_passes/joint_graph.py)",
    why="it computes small constants on the device that the graph names",
    needed_for="kernels",
)
def _constants_that_are_folded(_: Pretence) -> None:
    from torch._inductor.fx_passes.joint_graph import UniformValueConstantFolder

    run = UniformValueConstantFolder.run

    def run_on_cpu(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _OnCpu():
            return run(self, *args, **kwargs)

    UniformValueConstantFolder.run = run_on_cpu


@_patch(
    "unset_fake_temporarily (torch/fx/experimental/proxy_tensor.py)",
    why="make_fx computes tensors of one element, such as torch.tensor([1.0], device='cuda')",
    needed_for="kernels",
)
def _constants_that_are_traced(_: Pretence) -> None:
    from torch.fx.experimental import proxy_tensor

    unset = proxy_tensor.unset_fake_temporarily

    @contextlib.contextmanager
    def unset_on_cpu(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with unset(*args, **kwargs) as modes, _OnCpu():
            yield modes

    proxy_tensor.unset_fake_temporarily = unset_on_cpu


@_patch(
    "AlgorithmSelectorCache.do_autotuning and make_precompile_fn (torch/_inductor/select_algorithm.py), "
    "TritonScheduling.benchmark_codegened_module (torch/_inductor/codegen/triton.py)",
    why="the choice among templates, and whether to fuse, is measured: the first template stands for all",
    needed_for="max-autotune",
)
def _measurements(_: Pretence) -> None:
    from torch._inductor import select_algorithm
    from torch._inductor.codegen.triton import TritonScheduling

    def choose(*arguments: Any, **_: Any) -> Any:
        _cache, name, _nodes, _layout, _make, _key, choices, *_rest = arguments
        ranked = sorted(choices, key=lambda choice: isinstance(choice, select_algorithm.ExternKernelCaller))
        unmeasured.append(f"which of {len(ranked)} kernels for {name} is the fastest")
        return {choice: float(place) for place, choice in enumerate(ranked, 1)}

    select_algorithm.AlgorithmSelectorCache.do_autotuning = choose
    select_algorithm.AlgorithmSelectorCache.make_precompile_fn = lambda *_, **__: lambda *_, **__: {}
    TritonScheduling.benchmark_codegened_module = lambda _, module, *__, **___: (1.0, str(module.__file__))


@_patch(
    "_should_pad (torch/_inductor/fx_passes/pad_mm.py)",
    why="whether a product is faster with padding is measured: it is taken to be not",
    needed_for="products of sizes that are not multiples of eight",
)
def _padding(_: Pretence) -> None:
    from torch._inductor.fx_passes import pad_mm

    def not_padded(*_: Any, **__: Any) -> bool:
        unmeasured.append("whether a matrix product is faster with padding")
        return False

    pad_mm._should_pad = not_padded


unmeasured: Final[list[str]] = []
"""What TorchInductor would have measured, as it went on without."""


# Triton


@_patch(
    "triton.runtime.driver's active driver",
    why="it is the GPU's, and needs libcuda. Triton needs nothing else to compile",
    needed_for="kernels",
)
def _driver(pretence: Pretence) -> None:
    device = pretence.device
    from triton.runtime import driver

    driver.set_active(_Driver(device))


class _Driver:
    """In the place of ``CudaDriver`` (``triton/backends/nvidia/driver.py``): Triton 3.6 to 3.9."""

    def __init__(self, device: Device) -> None:
        from triton.backends.compiler import GPUTarget

        major, minor = device.capability
        target = GPUTarget("cuda", major * 10 + minor, device.warp)
        if device.architecture:
            target = GPUTarget("hip", device.architecture, device.warp)
        properties = {
            "max_shared_mem": device.shared_memory,
            "max_num_regs": _REGISTERS,
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
        self.set_current_device = _nothing
        self.get_active_torch_device = lambda: torch.device("cuda", 0)
        self.get_device_interface = lambda: torch.cuda
        self.is_active = lambda: True


@_patch(
    "set_driver_to_gpu (torch/_inductor/runtime/triton_helpers.py)",
    why="it looks for a driver that says of itself that it is active",
    needed_for="PTX",
)
def _choice_of_driver(_: Pretence) -> None:
    from torch._inductor.runtime import triton_helpers

    triton_helpers.set_driver_to_gpu = _nothing


@_patch(
    "use_static_cuda_launcher (torch/_inductor/config.py)",
    why="a static launcher loads the kernel onto the device, and keeps nothing but that",
    needed_for="PTX",
)
def _launchers(_: Pretence) -> None:
    import torch._inductor.config as config

    config.use_static_cuda_launcher = False


@_patch(
    "force_non_lazy_backward_lowering (torch/_functorch/config.py)",
    why="a backward graph of dynamic shapes is compiled when it first runs, and here it runs uncompiled",
    needed_for="backward",
)
def _late_backward(_: Pretence) -> None:
    import torch._functorch.config as config

    config.force_non_lazy_backward_lowering = True


@_patch(
    "caches of torch/utils/_triton.py, torch/_inductor/utils.py, DeviceProperties and CacheBase",
    why="they know already that there is no GPU",
    needed_for="kernels",
)
def _what_is_remembered(_: Pretence) -> None:
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


_ROCM: Final = "6.4.0"
_REGISTERS: Final = 65536
"""Of a multiprocessor, since compute capability 5."""


def _properties(device: Device) -> SimpleNamespace:
    """What ``torch.cuda.get_device_properties`` gives, of which TorchInductor asks about half."""
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
        regs_per_multiprocessor=_REGISTERS,
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


def _nothing(*_: Any, **__: Any) -> None:
    return None
