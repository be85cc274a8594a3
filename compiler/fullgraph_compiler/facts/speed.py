"""What a run tells of speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .outcome import Failure
from .stacks import Stack


@dataclass(frozen=True, slots=True)
class CompilePhase:
    """A step of the compiler: ``start`` in seconds since the epoch, and how long it took.

    The names are torch's own (``dynamo_timed`` in ``torch/_dynamo/utils.py``).
    """

    name: str
    start: float
    seconds: float
    compile_id: str = ""


@dataclass(frozen=True, slots=True)
class PhasesTimed:
    """An outermost step of the compiler, and after it all steps within, in the order of their start."""

    phases: tuple[CompilePhase, ...]


@dataclass(frozen=True, slots=True)
class TimesMeasured:
    """How long a fresh process needs for the program, its caches ``cold`` or ``warm``.

    ``seconds`` is its wall time without imports, ``compiling`` the part in which it compiled. A program
    that fails has a ``failure``.
    """

    cache: Literal["cold", "warm"]
    seconds: float
    compiling: float
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class PerformanceHint:
    """TorchInductor says what costs speed (``TORCH_LOGS=perf_hints``); ``stack`` may be of a whole graph."""

    compile_id: str
    message: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class CudagraphSkip:
    """A graph that was to run as a CUDA graph does not; ``stack`` may be of the whole graph."""

    compile_id: str
    reason: str
    stack: Stack
