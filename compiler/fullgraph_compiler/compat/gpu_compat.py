"""GPUs: keep torch from initializing a GPU before the program does.

Initializing a GPU takes 0.3 s, and fixes which GPUs are visible. Dynamo and fake tensors query the GPU's
random state, its current stream and its compute capability at the first frame, even if the program uses only
the CPU. Until the program initializes the GPU, Dynamo needs neither its random state nor its stream; NVML,
the driver's interface for monitoring, has the compute capability.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import torch

_ASKING: Final = frozenset(
    {
        "torch._dynamo.convert_frame",
        "torch._dynamo.device_interface",
        "torch._dynamo.utils",
        "torch._subclasses.fake_tensor",
        "torch.utils._triton",
    }
)
"""The modules of torch that query the GPU for every program: 2.11 to 2.15. Queries by the program still
reach the GPU."""

_NO_STATE: Final = torch.empty(0, dtype=torch.uint8)
"""The random state of a GPU that is not initialized."""

_spared: Final = threading.Event()
"""Set as soon as torch would have initialized the GPU without these patches."""


def asks_for_gpu(module: str) -> bool:
    """Return whether the import of a torch module initializes the GPU.

    ``torch/_inductor/runtime/benchmarking.py`` does so (torch 2.11 to 2.15).
    """
    return module.startswith("torch._inductor")


@contextlib.contextmanager
def without_gpu() -> Iterator[None]:
    """Hide GPUs from torch within the context, so that nothing initializes a GPU.

    torch's caches are cleared afterwards. Dynamo queries random states and streams (``_dynamo/utils.py``,
    ``variables/streams.py``), and whether Triton has a GPU, which ``torch/utils/_triton.py`` caches; a fake
    mode initializes a GPU (``_subclasses/fake_tensor.py``) (torch 2.11 to 2.15).
    """
    import torch.utils._triton as triton

    hidden: list[tuple[Any, str, object]] = [
        (torch.cuda, "is_available", False),
        (torch.cuda, "device_count", 0),
        (torch.accelerator, "is_available", False),
        (torch._C, "_ensureCUDADeviceGuardSet", None),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in hidden]
    for module, name, answer in hidden:
        setattr(module, name, lambda *_, answer=answer: answer)
    try:
        yield
    finally:
        for module, name, function in before:
            setattr(module, name, function)
        for function in vars(triton).values():
            if hasattr(function, "cache_clear"):
                function.cache_clear()


@functools.cache
def wait_for_program() -> None:
    """Keep torch's compiler from initializing CUDA before the program does.

    Call this function before the first compilation, which fills Dynamo's table of torch's functions. A forked
    child cannot use a GPU that its parent has initialized. Programs must see the same behaviour with these
    patches, so the GPU is initialized before a fork if torch would have initialized it by then. 2.11 to 2.15.
    """
    if torch.version.cuda is None or not _is_closed():
        return
    from torch._dynamo import device_interface, symbolic_convert

    asks_nvml = torch.cuda._nvml_based_avail
    # As with PYTORCH_NVML_BASED_CUDA_CHECK=1; else the check would start the driver.
    torch.cuda._nvml_based_avail = lambda: asks_nvml() or _is_asked(3)
    torch.cuda.get_device_capability = _while_closed(torch.cuda.get_device_capability, _compute_capability)
    torch.cuda.get_rng_state = torch.cuda.random.get_rng_state = _while_closed(
        torch.cuda.get_rng_state, _no_state
    )
    torch.cuda.set_rng_state = torch.cuda.random.set_rng_state = _unless_none(torch.cuda.set_rng_state)
    torch.cuda.is_current_stream_capturing = _while_closed(
        torch.cuda.is_current_stream_capturing, lambda: False
    )
    symbolic_convert.SymbolicStreamState = _streams(symbolic_convert.SymbolicStreamState)
    worker: Any = device_interface.CudaInterface.Worker
    worker.get_device_properties = staticmethod(_while_closed(worker.get_device_properties, _properties))
    os.register_at_fork(before=_open_if_spared)


def _is_closed() -> bool:
    """Return whether neither this process nor its parent has initialized the GPU.

    The parent is the process from which this process was forked, if any.
    """
    return not torch.cuda._initialized and not torch.cuda._is_in_bad_fork()


def _is_asked(depth: int) -> bool:
    """Return whether the GPU is not initialized and an ``_ASKING`` module queries it.

    The module is ``depth`` frames up the stack.
    """
    return _is_closed() and sys._getframe(depth).f_globals.get("__name__") in _ASKING


def _no_state() -> torch.Tensor:
    _spared.set()
    return _NO_STATE


def _open_if_spared() -> None:
    if _spared.is_set() and _is_closed():
        with contextlib.suppress(Exception):  # there may be no visible GPU
            torch.cuda.init()


def _while_closed(ask: Callable[..., Any], answer: Callable[[], Any]) -> Callable[..., Any]:
    """Wrap a query: ``_ASKING`` modules get ``answer()`` until the GPU is initialized.

    If ``answer()`` is ``None``, they get the result of the original query.
    """

    @functools.wraps(ask)
    def function(*args: Any, **named: Any) -> Any:
        found = answer() if _is_asked(2) else None
        return ask(*args, **named) if found is None else found

    return function


def _unless_none(restore: Callable[..., None]) -> Callable[..., None]:
    """Wrap the function that restores a random state.

    The wrapper does nothing if the GPU was not yet initialized when the state was saved.
    """

    @functools.wraps(restore)
    def function(new_state: torch.Tensor, *args: Any, **named: Any) -> None:
        if new_state.numel() or sys._getframe(1).f_globals.get("__name__") not in _ASKING:
            restore(new_state, *args, **named)

    return function


def _streams(state: type[Any]) -> type[Any]:
    """Return a class for the streams that Dynamo follows in a frame.

    Instances have no stream until the program needs one. Then the GPU is initialized, and the frame is traced
    again: from 2.13 on, the current stream must be the first of a frame's objects (``SymbolicStreamState``,
    ``variables/streams.py``).
    """

    class Streams(state):  # type: ignore[misc]
        def __init__(self) -> None:
            if _is_closed() and torch.cuda.device_count() > 0:
                self.cur_stream_stack = _AbsentStreams()
            else:
                super().__init__()

    return Streams


class _AbsentStreams(deque[Any]):
    """The streams of a GPU that is not initialized."""

    def _open(self, *_: object) -> NoReturn:
        from torch._dynamo.exc import UnspecializeRestartAnalysis

        torch.cuda.init()
        raise UnspecializeRestartAnalysis(restart_reason="the frame asks for a stream, which opens the GPU")

    append = __getitem__ = __reversed__ = _open


def _properties() -> SimpleNamespace | None:
    """Return an object with the major compute capability, all that Triton checks.

    Triton checks that the compute capability is at least 7.0.
    """
    capability = _compute_capability()
    return None if capability is None else SimpleNamespace(major=capability[0])


@functools.cache
def _compute_capability() -> tuple[int, int] | None:
    """Return the compute capability of the machine's GPUs, from NVML.

    Return ``None`` if the GPUs differ, or without NVML.
    https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html
    """
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    count, found = ctypes.c_uint(), set()
    if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)):
        return None
    for index in range(count.value):
        device, major, minor = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
        if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)):
            return None
        if nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor)):
            return None
        found.add((major.value, minor.value))
    return found.pop() if len(found) == 1 else None
