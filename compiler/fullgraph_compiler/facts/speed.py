"""Facts about speed: compile phases, times, and hints of TorchInductor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .outcome import Failure
from .registry import Fact, Result, Value
from .stacks import Stack


@dataclass(frozen=True, slots=True)
class CompilePhase(Value):
    """A phase of the compiler, with its start and its duration.

    ``start`` is in seconds since the epoch, ``seconds`` is the duration. The names are torch's own
    (``dynamo_timed`` in ``torch/_dynamo/utils.py``).
    """

    name: str
    start: float
    seconds: float
    compile_id: str = ""


@dataclass(frozen=True, slots=True)
class PhasesTimed(Fact):
    """An outermost phase of the compiler, followed by all phases within it.

    The phases are in the order of their start.
    """

    phases: tuple[CompilePhase, ...]


@dataclass(frozen=True, slots=True)
class TimesMeasured(Result):
    """The time that a fresh process takes for the program.

    ``cache`` says whether the caches were ``cold`` or ``warm``. ``seconds`` is the wall time without imports,
    ``compiling`` the part of ``seconds`` spent in the compiler. ``failure`` is set if the program fails.
    """

    cache: Literal["cold", "warm"]
    seconds: float
    compiling: float
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class PerformanceHint(Fact):
    """A performance hint of TorchInductor (``TORCH_LOGS=perf_hints``).

    ``stack`` may be that of a whole graph instead of a single operation.
    """

    compile_id: str
    message: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class CudagraphSkip(Fact):
    """A graph that should run as a CUDA graph but does not.

    ``stack`` may cover the whole graph.
    """

    compile_id: str
    reason: str
    stack: Stack


PartKind: TypeAlias = Literal[
    "recompile", "guards", "frame", "entry", "launch", "kernel", "copy", "autograd", "release"
]
"""The activities on which compiled calls spend time:

- ``recompile``: compiling again, in calls after the first calls.
- ``guards``: looking for a compilation whose guards hold.
- ``frame``: code of a frame outside its graphs, which runs uncompiled around and after a graph break.
- ``entry``: steps before and after a graph runs (AOTAutograd, autograd).
- ``launch``: code of a graph that computes nothing itself; with a GPU, only while the GPU waits.
- ``kernel``: a kernel or a library function of a graph's code.
- ``copy``: copying memory to, from or on a GPU.
- ``autograd``: running backward passes, outside the graphs.
- ``release``: freeing the memory of results.
"""


@dataclass(frozen=True, slots=True)
class TimePart(Value):
    """A part of the time of compiled calls: ``seconds`` and occurrences per call.

    ``compile_id`` identifies the compiled frame around this part, empty if there is none; ``filename`` is
    that of the graph's ``CodeGenerated``. ``name`` is the name of a kernel, the operator of a library
    function (``aten::mm``), or the direction of a copy (``Memcpy DtoH``).
    """

    kind: PartKind
    seconds: float
    count: float = 1.0
    compile_id: str = ""
    filename: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class OperatorCounted(Value):
    """How often compiled and uncompiled calls run an operator (``aten::mm``).

    Counts are per call. Runs within other operators count, too.
    """

    name: str
    compiled: float
    eager: float


@dataclass(frozen=True, slots=True)
class SpeedMeasured(Fact):
    """The speed of calls of compiled functions, compared with the calls uncompiled.

    ``calls`` is the number of measured calls, ``functions`` are the names of the called functions,
    ``samples`` is how often both versions were measured. ``eager`` and ``compiled`` are medians in seconds
    per call; ``faster`` is the median of their ratios, and lies between ``low`` and ``high`` with a
    confidence of 95 %. ``repeated`` says that the calls were repeated at the end of the program; otherwise,
    the times are those of the program's own calls after the first calls. ``parts`` add up to ``compiled``.
    ``outside`` is the time between calls in the program, per call; ``optimizer`` is the part of ``outside``
    spent in steps of optimizers. ``problem`` says in one sentence why nothing was measured; ``device`` is
    the name of the GPU, empty without a GPU. ``operators`` are the operators that ``parts`` name.
    """

    functions: tuple[str, ...]
    calls: int
    samples: int
    eager: float
    compiled: float
    faster: float
    low: float
    high: float
    repeated: bool = True
    parts: tuple[TimePart, ...] = ()
    outside: float = 0.0
    optimizer: float = 0.0
    recompiled: int = 0
    """The number of calls, after the first calls, that were compiled again."""
    device: str = ""
    problem: str = ""
    operators: tuple[OperatorCounted, ...] = ()


@dataclass(frozen=True, slots=True)
class MachineMeasured(Fact):
    """The speed of this machine.

    ``bandwidth`` is in bytes per second, ``flops`` in float32 operations per second. ``fresh`` is the
    bandwidth of writes to newly allocated memory, which the system clears first. ``threads`` is the number of
    threads that torch uses; ``vectors`` names the vector instructions of TorchInductor's code (``avx512``),
    empty if none. ``sines`` is the number of sines per second, an example of an operation that takes many
    instructions. ``fresh``, ``threads``, ``vectors`` and ``sines`` describe a CPU, and are 0 or empty for a
    GPU.
    """

    name: str
    bandwidth: float
    flops: float
    fresh: float = 0.0
    threads: int = 0
    vectors: str = ""
    sines: float = 0.0


@dataclass(frozen=True, slots=True)
class MemoryHeld(Value):
    """Memory that is in use at the peak of compiled calls; ``size`` is in bytes.

    ``filename`` and ``row`` locate the code that allocated the memory: generated code, or the user's own
    code.
    """

    size: int
    filename: str
    row: int
    compile_id: str = ""


@dataclass(frozen=True, slots=True)
class MemoryMeasured(Fact):
    """The peak memory of tensors during the calls, in bytes above the use before them.

    ``held`` are the largest parts of the peak in compiled calls, the largest first.
    """

    compiled: int
    eager: int
    held: tuple[MemoryHeld, ...] = ()
