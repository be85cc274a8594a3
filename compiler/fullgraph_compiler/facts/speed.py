"""Facts about speed: compile phases, times, and hints of TorchInductor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .outcome import Failure
from .stacks import Stack


@dataclass(frozen=True, slots=True)
class CompilePhase:
    """A phase of the compiler: ``start`` in seconds since the epoch, and its duration in ``seconds``.

    The names are torch's own (``dynamo_timed`` in ``torch/_dynamo/utils.py``).
    """

    name: str
    start: float
    seconds: float
    compile_id: str = ""


@dataclass(frozen=True, slots=True)
class PhasesTimed:
    """An outermost phase of the compiler, followed by all phases within it, in the order of their start."""

    phases: tuple[CompilePhase, ...]


@dataclass(frozen=True, slots=True)
class TimesMeasured:
    """The time that a fresh process takes for the program, with ``cold`` or ``warm`` caches.

    ``seconds`` is the wall time without imports, ``compiling`` the part of it spent in the compiler.
    ``failure`` is set if the program fails.
    """

    cache: Literal["cold", "warm"]
    seconds: float
    compiling: float
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class PerformanceHint:
    """A performance hint of TorchInductor (``TORCH_LOGS=perf_hints``); ``stack`` may cover a whole graph."""

    compile_id: str
    message: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class CudagraphSkip:
    """A graph that was to run as a CUDA graph but does not; ``stack`` may cover the whole graph."""

    compile_id: str
    reason: str
    stack: Stack
