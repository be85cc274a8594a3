"""How a program, its graphs and its repros end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .stacks import Severity, Stack

Status: TypeAlias = Literal[
    "finished", "raised", "exited", "crashed", "timeout", "memory", "cancelled", "not-started"
]
"""How a run ended; ``timeout`` and ``memory`` name the budget that it used up."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How a graph or a program fails at one stage of the compiler.

    ``error`` is the exception's type name, or the signal's; ``message`` its first line, or how results
    differ. ``phase`` is where it shows. ``text`` is the whole traceback.
    """

    kind: Literal["error", "accuracy", "crash", "hang"]
    error: str
    message: str
    phase: Literal["forward", "backward"] = "forward"
    text: str = ""


@dataclass(frozen=True, slots=True)
class StageChecked:
    """What became of one graph at one stage: ``failure`` is ``None`` where it passes.

    Stages are ``uncompiled`` and ``eager``, for the whole program (``compile_id`` is empty), then for each
    graph ``aot_eager``, ``aot_eager_decomp_partition`` and the program's own backend (``inductor``).
    """

    stage: str
    compile_id: str
    failure: Failure | None
    seconds: float


@dataclass(frozen=True, slots=True)
class FaultLocated:
    """The first stage that fails, and the last one that passes (empty if none does).

    ``number`` counts the faults of a run from 1; ``compile_id`` is empty for one that no graph has.
    ``detail`` is what torch's bisector names below TorchInductor (``lowerings, 2: aten.relu.default``).
    ``stack`` is the user's line of the operation at fault, or of the graph's first one.
    """

    number: int
    stage: str
    passes: str
    failure: Failure
    compile_id: str
    stack: Stack = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RecipeTried:
    """What became of the whole program with a part of the compiler off.

    ``memory`` is the most that it used, in bytes: of the GPU if it used one.
    """

    recipe: str
    failure: Failure | None
    seconds: float
    memory: int


@dataclass(frozen=True, slots=True)
class MinifyProgress:
    """The smallest graph so far that fails in the same way, and what it took: queries asked, seconds."""

    nodes: int
    nodes_at_first: int
    queries: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ReproWritten:
    """A repro is at its final size. ``stack`` holds the user's lines that its operations come from.

    ``reproduces`` says whether the file, run by a fresh interpreter, fails in the same way.
    """

    filename: str
    nodes: int
    nodes_at_first: int
    queries: int
    cached: int
    seconds: float
    reproduces: bool
    stack: Stack = ()


@dataclass(frozen=True, slots=True)
class ModulesLoaded:
    """What the program has imported since the last fact of this kind.

    ``filenames`` are source files outside of the standard library and of installed packages;
    ``libraries`` are names of modules of installed packages, in the order of their import;
    ``variables`` are the environment variables that the program's own files have set.
    """

    filenames: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramRaised:
    """The user's program raised by itself (not the compiler within it)."""

    error: str
    message: str
    stack: Stack
    text: str


@dataclass(frozen=True, slots=True)
class TargetProblem:
    """Something is wrong with the target or its environment; ``message`` says what to do.

    Without a stack it is of the target's file, or, if it is ``of_run``, of no file at all.
    """

    severity: Severity
    message: str
    hints: tuple[str, ...] = ()
    stack: Stack = ()
    of_run: bool = False


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The last fact of a run: how it ended, its wall time, and the exit code if it has one."""

    status: Status
    seconds: float
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class RanDry:
    """The program ran without data, for the GPU ``device`` if kernels were written for one that is not there.

    ``device`` is a key of :data:`.devices.DEVICES`. ``unknown`` are sentences on what only the device itself
    can tell, and on what this torch cannot preview.
    """

    device: str = ""
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilesDiscarded:
    """What the program writes is gone with the run: no file that was there before it is changed.

    ``by`` is what sees to that: a ``namespace``, in which the program has files of its own. Where there is
    none, because of ``reason``, Python redirects writes, and the kernel refuses the others (``landlock``) or
    nobody sees what native code does by itself (``python``). ``read_only`` are folders without a
    cover: to write there fails.
    """

    by: Literal["namespace", "landlock", "python"]
    reason: str = ""
    read_only: tuple[str, ...] = ()
