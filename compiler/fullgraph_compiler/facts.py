"""The vocabulary of Fullgraph: what can be run, and everything that a run can tell.

Frozen dataclasses and their JSON form; standard library only. This module and the package
``trace`` are all that the server imports from ``fullgraph_compiler``, and both sides of the worker
protocol speak it. Rows are 1-based; columns are 0-based UTF-8 byte offsets, as CPython's
``co_positions`` and ``ast`` report them; stacks are ordered from the outermost call to the
innermost.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, TypeAlias

PROTOCOL_VERSION = 1
"""Goes up when a message between the server and a worker changes its meaning."""

Severity: TypeAlias = Literal["error", "warning", "information"]
Depth: TypeAlias = Literal["graph", "kernels", "whole", "times", "stages", "recipes"]
"""How far a run goes: ``graph``, Dynamo alone (captured graphs run eagerly); ``kernels``, until TorchInductor
has written its code (graphs run eagerly too); ``whole``, all of the compiler, and what it makes runs;
``times``, the same twice, to see what caches save; ``stages``, step by step; ``recipes``, all of it with one
part off after the other."""
Status: TypeAlias = Literal[
    "finished", "raised", "exited", "crashed", "timeout", "memory", "cancelled", "not-started"
]
"""How a run ended; ``timeout`` and ``memory`` name the budget that it used up."""


@dataclass(frozen=True, slots=True)
class StackFrame:
    """One call of a user stack, with columns where torch or CPython gave them."""

    filename: str
    row: int
    function: str
    column: int | None = None
    end_row: int | None = None
    end_column: int | None = None


Stack: TypeAlias = tuple[StackFrame, ...]


# -- what can be run ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Script:
    """A file that runs as ``__main__``."""

    filename: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PytestNode:
    """A pytest node id: ``tests/test_model.py::test_forward``, absolute or relative to cwd."""

    node: str


@dataclass(frozen=True, slots=True)
class ExampleCall:
    """One step of an example: source text, and the place in the file where it stands."""

    source: str
    row: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Example:
    """The example calls of one function, method or class, run in order.

    ``qualname`` names the thing as it is reached from its module: ``f``, ``Block``,
    ``Block.step``.
    """

    qualname: str
    calls: tuple[ExampleCall, ...]


@dataclass(frozen=True, slots=True)
class Examples:
    """Example calls of one file; the module is imported, not run as ``__main__``."""

    filename: str
    examples: tuple[Example, ...]


Program: TypeAlias = Script | PytestNode | Examples


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file, where it is not the one on disk."""

    filename: str
    text: str


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Asks a worker to run one program once, under observation; it sees the texts in place of files.

    A run that goes further than ``graph`` keeps compiled kernels in the folder ``cache``, if one is named,
    and gives up on a graph that takes longer than ``patience`` seconds. Of ``recipes``, a try that uses more
    than ``memory`` bytes has failed.
    """

    generation: int
    program: Program
    depth: Depth = "graph"
    texts: tuple[SourceText, ...] = ()
    cache: str = ""
    patience: float = 300.0
    memory: int | None = None


Level: TypeAlias = Literal["dynamo", "aot"]
"""Where a graph is taken from: what Dynamo hands to a backend, or what AOTAutograd hands to TorchInductor."""


@dataclass(frozen=True, slots=True)
class MinifyRequest:
    """Asks a worker to shrink a failure of one program to a repro.

    ``failure`` is the number of a ``FaultLocated``, ``compile_id`` that of the graph whose fault is meant; 0
    and empty mean the first one. The best repro so far is always in ``output``, a file's absolute path;
    answers of earlier queries and compiled kernels are kept in the folder ``cache``, if one is named.
    ``level`` is the form of the repro: ``None`` chooses the one that suits the stage. A graph hangs if it
    takes longer than ``patience`` seconds.
    """

    generation: int
    program: Program
    output: str
    cache: str = ""
    failure: int = 0
    compile_id: str = ""
    level: Level | None = None
    texts: tuple[SourceText, ...] = ()
    patience: float = 300.0


# -- what a run can tell -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FrameStarted:
    """Dynamo begins to compile a frame; ``stack`` holds the calls that led to it.

    ``row`` is the function's first, with its decorators. A frame that goes on after a graph break (a
    resume function) bears the name and the row of the function that it belongs to.
    """

    compile_id: str
    function: str
    filename: str
    row: int
    stack: Stack = ()


@dataclass(frozen=True, slots=True)
class FrameCompiled:
    """Dynamo finished with a frame. ``graphs`` is 1 when a graph was compiled, 0 when none was."""

    compile_id: str
    function: str
    filename: str
    row: int
    graphs: int
    ops: int
    guards: int
    seconds: float


@dataclass(frozen=True, slots=True)
class FrameSkipped:
    """Dynamo gave a frame up: the whole of it runs eagerly."""

    compile_id: str
    function: str
    filename: str
    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One operation of a captured graph, and the user line it came from.

    ``tensor`` is what it makes, as torch prints it (``f32[8, 16] cpu``); empty for no tensor.
    """

    name: str
    tensor: str
    frame: StackFrame


@dataclass(frozen=True, slots=True)
class GraphCaptured:
    """Dynamo hands one graph to the backend; ``text`` is the whole of it, as torch prints it."""

    compile_id: str
    nodes: tuple[GraphNode, ...]
    text: str = ""


Phase: TypeAlias = Literal["forward", "backward", "inference"]
"""Which pass a piece of code is of; ``inference`` where no gradient is wanted."""


ArtifactKind: TypeAlias = Literal[
    "before_pre_grad_graph",
    "after_pre_grad_graph",
    "joint_graph",
    "before_joint_graph",
    "after_joint_graph",
    "forward_graph",
    "backward_graph",
    "inference_graph",
    "fx_graph_runnable",
    "fx_graph_readable",
    "fx_graph_transformed",
    "ir_pre_fusion",
    "ir_post_fusion",
    "inductor_provenance_tracking_node_mappings",
]
"""A form that a graph takes on its way to code, in this order; those of the graph that is lowered bear
the names of the files that ``TORCH_COMPILE_DEBUG=1`` writes (``DebugFormatter`` in
``torch/_inductor/debug.py``)."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A form that a graph takes on its way to code. ``phase`` is ``None`` where it is of all of them."""

    compile_id: str
    phase: Phase | None
    kind: ArtifactKind
    text: str


@dataclass(frozen=True, slots=True)
class KernelNode:
    """One operation of a lowered graph (``aten.mm``), and the user line it came from, if torch knows.

    ``inputs`` are the names of what it takes: other operations, and inputs of the graph. ``stack`` is the
    whole of the user's calls, which a log leaves out.
    """

    name: str
    operator: str
    frame: StackFrame | None
    inputs: tuple[str, ...] = ()
    stack: Stack = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """What a launch costs by the shapes of its tensors, as TorchInductor estimates it.

    ``read`` and ``written`` are bytes of memory that it must touch at least; ``flops`` floating point
    operations, of library functions and templates only; ``seconds`` the time that the larger of both takes
    on this GPU (the roofline), ``None`` on a CPU.
    """

    read: int
    written: int
    flops: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch of a kernel, or of a library function, in TorchInductor's code.

    ``language`` is ``triton``, ``cpp``, ..., or ``extern`` for a library function, which has no ``source``.
    ``heuristic`` is Triton's kind of kernel (``pointwise``, ``reduction``, ``template``, ``user_autotune``).
    ``definition`` and ``launch`` are the first and the last row of the statement in the code. ``nodes`` are
    the operations that it computes, ``stacks`` the user's calls behind those. ``arguments`` are those of the
    launch, as the code writes them; ``grid`` is the kind of Triton's grid (``Grid1D``).
    """

    name: str
    language: str
    heuristic: str = ""
    source: str = ""
    definition: tuple[int, int] | None = None
    launch: tuple[int, int] = (1, 1)
    nodes: tuple[KernelNode, ...] = ()
    stacks: tuple[Stack, ...] = ()
    arguments: tuple[str, ...] = ()
    grid: str = ""
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class CodeGenerated:
    """TorchInductor has written its code for a graph: ``text`` is a Python module.

    ``kernels`` are its launches, in their order.
    """

    compile_id: str
    phase: Phase
    filename: str
    text: str
    kernels: tuple[Kernel, ...]


@dataclass(frozen=True, slots=True)
class KernelCompiled:
    """A kernel of generated code was built. ``filename`` is that of the code, as ``CodeGenerated`` has it.

    ``texts`` are its compiled forms by language, from high to low: ``ttir``, ``ttgir``, ``llir``, ``ptx``,
    ``sass``, or ``asm`` for C++. ``config`` is the one that autotuning chose (``XBLOCK: 256, num_warps: 4``).
    ``registers`` and ``spills`` are counts for a thread, ``shared`` bytes of a block, ``None`` on a CPU.
    """

    filename: str
    name: str
    texts: tuple[tuple[str, str], ...]
    config: str = ""
    registers: int | None = None
    spills: int | None = None
    shared: int | None = None


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


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """Dynamo could not go on: the graph ends here, and the rest of the frame is another one.

    ``code`` is torch's graph-break id (``GB0059``) or empty; ``stack`` is empty where torch names no line
    within the frame; ``skips_frame`` says that nothing
    of the frame was compiled, since it cannot be resumed from here (a loop, ``with``, ``try``).
    """

    compile_id: str
    code: str
    reason: str
    explanation: str
    hints: tuple[str, ...]
    context: str
    url: str
    stack: Stack
    skips_frame: bool
    text: str
    """Torch's whole message."""


@dataclass(frozen=True, slots=True)
class GuardInstalled:
    """A condition under which a compiled frame may be used again.

    ``source`` is the guarded expression as torch writes it (``L['a']``), empty for ambient state;
    ``kind`` the guard's type (``TENSOR_MATCH``); ``expected`` what the value must be, in words
    (``f32[10] on cpu, requires_grad=False``); ``stack`` where the value was first needed.
    """

    compile_id: str
    source: str
    kind: str
    expected: str
    code: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class GuardFailure:
    """Why one earlier compilation could not be used again.

    ``compile_id`` names that compilation; ``source`` and ``kind`` its guard (empty where torch
    does not say); ``dimension`` is set for a tensor size or stride; ``stack`` is where the guarded
    value was first needed.
    """

    compile_id: str
    source: str
    kind: str
    reason: str
    expected: str = ""
    actual: str = ""
    dimension: int | None = None
    stack: Stack = ()
    changed: str = ""
    """Which property of a tensor it is: ``size``, ``stride``, ``dtype``, ``rank``, ``requires_grad``, ..."""


@dataclass(frozen=True, slots=True)
class Recompile:
    """A frame is compiled again because every earlier compilation had a guard that failed."""

    compile_id: str
    failures: tuple[GuardFailure, ...]


@dataclass(frozen=True, slots=True)
class RecompileLimit:
    """A frame was compiled too often; from now on it runs as it was compiled so far, else eagerly."""

    compile_id: str
    function: str
    filename: str
    row: int
    limit: int
    setting: str
    """The configuration name of the limit: ``recompile_limit``."""
    fatal: bool
    """The program is stopped (``fullgraph=True``, ``fail_on_recompile_limit_hit``)."""
    failures: tuple[GuardFailure, ...] = ()


@dataclass(frozen=True, slots=True)
class CompileFailure:
    """The compiler raised.

    ``phase`` is ``capture`` (Dynamo; a break under ``fullgraph=True`` is one, with its ``code``) or
    ``backend``.
    """

    compile_id: str
    phase: Literal["capture", "backend"]
    error: str
    """The exception's type name."""
    message: str
    stack: Stack
    code: str = ""
    explanation: str = ""
    hints: tuple[str, ...] = ()
    url: str = ""
    text: str = ""


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
    """Something is wrong with the target or its environment; ``message`` says what to do."""

    severity: Severity
    message: str
    hints: tuple[str, ...] = ()
    stack: Stack = ()


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The last fact of a run: how it ended, its wall time, and the exit code if it has one."""

    status: Status
    seconds: float
    exit_code: int | None = None


Fact: TypeAlias = (
    FrameStarted
    | FrameCompiled
    | FrameSkipped
    | GraphCaptured
    | Artifact
    | CodeGenerated
    | KernelCompiled
    | PhasesTimed
    | TimesMeasured
    | PerformanceHint
    | CudagraphSkip
    | GraphBreak
    | GuardInstalled
    | Recompile
    | RecompileLimit
    | CompileFailure
    | StageChecked
    | FaultLocated
    | RecipeTried
    | MinifyProgress
    | ReproWritten
    | ModulesLoaded
    | ProgramRaised
    | TargetProblem
    | RunFinished
)


# -- JSON --------------------------------------------------------------------------------------

_TAG = "type"
"""The key under which an object carries its class name."""


def to_json(value: Any) -> Any:
    """Turn a value of this module into JSON values; every object carries its class name."""
    if type(value) in _FIELDS:
        return {name: to_json(item) for name, item in as_object(value).items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value


def as_object(value: Any) -> dict[str, Any]:
    """The outermost level of :func:`to_json`: what ``json.dumps(..., default=as_object)`` needs.

    Raises ``TypeError`` for a value that is not of this vocabulary.
    """
    cls = type(value)
    names = _FIELDS.get(cls)
    if names is None:
        raise TypeError(f"{cls.__name__} is not of this vocabulary")
    result: dict[str, Any] = {_TAG: cls.__name__}
    for name in names:
        result[name] = getattr(value, name)
    return result


def from_json(value: Any) -> Any:
    """The inverse of :func:`to_json`; arrays become tuples.

    Raises ``ValueError`` for an object that no class of this module has written.
    """
    if isinstance(value, dict):
        cls = _CLASSES.get(value.get(_TAG, ""))
        if cls is None:
            raise ValueError(f"not a value of this vocabulary: {value.get(_TAG)!r}")
        return cls(**{name: from_json(item) for name, item in value.items() if name != _TAG})
    if isinstance(value, (list, tuple)):
        return tuple(from_json(item) for item in value)
    return value


_CLASSES: dict[str, type[Any]] = {
    name: item for name, item in list(globals().items()) if isinstance(item, type) and is_dataclass(item)
}
_FIELDS: dict[type[Any], tuple[str, ...]] = {
    cls: tuple(field.name for field in fields(cls)) for cls in _CLASSES.values()
}
