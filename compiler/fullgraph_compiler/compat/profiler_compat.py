"""torch's profiler: events of compiled code, and events that Fullgraph adds.

Each docstring says where torch keeps a name, and in which of the supported versions (2.11 to 2.15) that was
checked.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from .kernel_compat import cpp_library

EventKind: TypeAlias = Literal[
    "call", "guards", "region", "entry", "graph", "kernel", "operator", "backward", "release"
]
"""The kind of an event on the CPU:

- ``call``: one pass over the measured calls. Events outside a pass do not count.
- ``guards``: Dynamo searches for a compilation whose guards hold.
- ``region``: a compiled frame runs; ``key`` is its compile id.
- ``entry``: AOTAutograd and autograd do their work before a graph runs.
- ``graph``: the generated code of a graph runs; ``key`` is the file of the code.
- ``kernel``: a C++ kernel of a graph's code runs; ``key`` is the kernel's name.
- ``operator``: an operator of torch runs; ``key`` is the operator's name.
- ``backward``: autograd runs a backward pass.
- ``release``: results are freed.
"""

_OURS: Final = "fullgraph "
_GRAPH: Final = f"{_OURS}graph "
_KERNEL: Final = f"{_OURS}kernel "
_PREFIXES: Final[tuple[tuple[str, EventKind], ...]] = (
    (f"{_OURS}call", "call"),
    (_GRAPH, "graph"),
    (_KERNEL, "kernel"),
    (f"{_OURS}backward", "backward"),
    (f"{_OURS}release", "release"),
    ("TorchDynamo Cache Lookup", "guards"),  # csrc/dynamo/eval_frame.c
    ("Torch-Compiled Region: ", "region"),  # _dynamo/convert_frame.py
    ("Pregraph bytecode", "entry"),  # _dynamo/utils.py, codegen.py
    ("AOTDispatcher Runtime Wrapper Prologue", "entry"),  # _functorch/_aot_autograd/runtime_wrappers.py
    ("CompiledFunction", "entry"),  # the same file: its autograd.Function and backward
    ("aten::", "operator"),
)
_COPY: Final = "Memcpy"


@dataclass(frozen=True, slots=True)
class ProfilerEvent:
    """An event of the profiler, with start and end in nanoseconds.

    ``key`` is the event's name or id. ``kind`` is ``None`` for a kernel or copy on the GPU, which the CPU
    launched at the time ``launched``.
    """

    kind: EventKind | None
    start: int
    end: int
    key: str = ""
    launched: int = 0

    @property
    def is_copy(self) -> bool:
        """Whether the event is a copy of memory."""
        return self.key.startswith(_COPY)


def recorded(step: Literal["call", "backward", "release"]) -> AbstractContextManager[None]:
    """Return a context that the profiler records as ``step``.

    ``call`` is a pass over the measured calls, ``backward`` a backward pass, ``release`` the release of
    results.
    """
    recording: AbstractContextManager[None] = torch._C._profiler._RecordFunctionFast(f"{_OURS}{step}")
    return recording


def profiled(work: Callable[[], object], modules: Iterable[ModuleType]) -> list[ProfilerEvent]:
    """Return the events during ``work()``.

    Graphs are recorded, and the C++ kernels of ``modules``. ``kineto_results`` of
    ``torch.autograd.profiler.profile`` has the times without rounding (torch 2.11 to 2.15).
    """
    activities = [ProfilerActivity.CPU]
    if torch.cuda.is_initialized():
        activities.append(ProfilerActivity.CUDA)
    with _named_graphs(), _named_kernels(modules), _profile(activities) as result:
        work()
    assert result.profiler is not None
    events = result.profiler.kineto_results.events()
    on_cpu = [event for event in events if event.device_type() == DeviceType.CPU]
    launches = {event.correlation_id(): event for event in on_cpu if event.name().startswith("cu")}
    found = []
    for event in events:
        name, start = event.name(), event.start_ns()
        end = start + event.duration_ns()
        if event.device_type() != DeviceType.CPU:
            launch = launches.get(event.correlation_id())
            # Events without a launch are annotations from the processor.
            if launch is not None:
                found.append(ProfilerEvent(None, start, end, name, launch.start_ns()))
            continue
        for prefix, kind in _PREFIXES:
            if name.startswith(prefix):
                key = name if kind == "operator" else name.removeprefix(prefix)
                found.append(ProfilerEvent(kind, start, end, key))
                break
    return found


def peak_memory(work: Callable[[], object]) -> int:
    """Return the peak of allocated bytes during ``work()``, minus the bytes before it.

    On a CPU, the profiler records each allocation as an event ``[memory]``
    (``torch/csrc/autograd/profiler_kineto.cpp``) (torch 2.11 to 2.15).
    """
    if torch.cuda.is_initialized():
        torch.cuda.reset_peak_memory_stats()
        before: int = torch.cuda.memory_allocated()
        work()
        most: int = torch.cuda.max_memory_allocated()
        return most - before
    with _profile(profile_memory=True) as result:
        work()
    assert result.profiler is not None
    changes = [event for event in result.profiler.kineto_results.events() if event.name() == "[memory]"]
    changes.sort(key=lambda event: event.start_ns())
    used = itertools.accumulate((int(event.nbytes()) for event in changes), initial=0)
    return max(used)


def _profile(activities: Iterable[ProfilerActivity] = (ProfilerActivity.CPU,), **options: bool) -> profile:
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else it writes to the program's stderr
    return profile(activities=[*activities], acc_events=True, **options)


def record_nothing(times: int) -> None:
    """Let the profiler record ``times`` kernels that do nothing, in one pass of calls."""
    nothing = _recorded("nothing", lambda: None)
    with recorded("call"):
        for _ in range(times):
            nothing()


@contextmanager
def _named_graphs() -> Iterator[None]:
    """Let the profiler record each graph that runs, named by the file of its code.

    ``CompiledFxGraph`` (``_inductor/output_code.py``) has the key of the file, from which ``get_path``
    (``_inductor/codecache.py``) derives the name (torch 2.11 to 2.15).
    """
    from torch._inductor.codecache import get_path
    from torch._inductor.output_code import CompiledFxGraph

    call = CompiledFxGraph.__call__

    def call_named(self: Any, inputs: Any) -> Any:
        with torch._C._profiler._RecordFunctionFast(_GRAPH + str(get_path(self.cache_key, "py")[2])):
            return call(self, inputs)

    CompiledFxGraph.__call__ = call_named
    try:
        yield
    finally:
        CompiledFxGraph.__call__ = call


def _named_kernels(modules: Iterable[ModuleType]) -> AbstractContextManager[None]:
    """Let the profiler record each C++ kernel that the code of ``modules`` calls."""
    return replaced(modules, lambda name, value: _recorded(name, value) if cpp_library(value) else None)


@contextmanager
def replaced(modules: Iterable[ModuleType], change: Callable[[str, Any], Any]) -> Iterator[None]:
    """Replace values in modules by ``change(name, value)`` within the context.

    Values for which ``change`` returns ``None`` are not replaced.
    """
    places = [
        (vars(module), name, value, own)
        for module in modules
        for name, value in vars(module).items()
        if (own := change(name, value)) is not None
    ]
    for names, name, _, own in places:
        names[name] = own
    try:
        yield
    finally:
        for names, name, value, _ in places:
            names[name] = value


def _recorded(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        with torch._C._profiler._RecordFunctionFast(_KERNEL + name):
            return kernel(*arguments)

    return run
