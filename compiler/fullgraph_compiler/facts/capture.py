"""Facts from Dynamo: frames, graphs, graph breaks, guards, recompilations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .registry import Fact, Value
from .stacks import Stack, StackFrame


@dataclass(frozen=True, slots=True)
class FrameStarted(Fact):
    """The start of a frame's compilation; ``stack`` holds the calls that led to it.

    ``row`` is the first row of the function, decorators included. A resume function, which continues after a
    graph break, has the name and the row of the original function.
    """

    compile_id: str
    function: str
    filename: str
    row: int
    stack: Stack = ()
    resumes_at: int | None = None
    """The row at which a resume function continues."""


@dataclass(frozen=True, slots=True)
class InputTensor(Value):
    """A tensor among the inputs of a frame.

    ``source`` is torch's expression for the tensor (``L['x'][0]``), ``dtype`` the short name (``f32``).
    ``stride`` is empty for a layout without strides.
    """

    source: str
    dtype: str
    size: tuple[int, ...]
    stride: tuple[int, ...]
    device: str
    requires_grad: bool
    is_parameter: bool


@dataclass(frozen=True, slots=True)
class FrameInputs(Fact):
    """The inputs of one compilation's frame, in the order of their first use.

    ``numbers`` are the inputs that became symbols: the source and the value of each. The inputs of a resume
    function are variables of the original function.
    """

    compile_id: str
    tensors: tuple[InputTensor, ...] = ()
    numbers: tuple[tuple[str, int | float], ...] = ()


@dataclass(frozen=True, slots=True)
class FrameCompiled(Fact):
    """The end of a frame's compilation.

    ``graphs`` is 1 if a graph was compiled, else 0. ``ops`` and ``guards`` are counts.
    """

    compile_id: str
    function: str
    filename: str
    row: int
    graphs: int
    ops: int
    guards: int
    seconds: float


@dataclass(frozen=True, slots=True)
class FrameSkipped(Fact):
    """A frame that Dynamo does not compile: the whole frame runs eagerly."""

    compile_id: str
    function: str
    filename: str
    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class GraphNode(Value):
    """One operation of a captured graph, and the user's line from which it comes.

    ``tensor`` describes the result as torch prints it (``f32[8, 16] cpu``); empty if the result is not a
    tensor.
    """

    name: str
    tensor: str
    frame: StackFrame


@dataclass(frozen=True, slots=True)
class GraphCaptured(Fact):
    """A graph that Dynamo passes to the backend.

    ``text`` is the whole graph as torch prints it. ``calls`` are the locations of the calls that led to the
    graph's operations, without duplicates; empty in facts that are read from a log.
    """

    compile_id: str
    nodes: tuple[GraphNode, ...]
    text: str = ""
    calls: Stack = ()


@dataclass(frozen=True, slots=True)
class GraphPart(Fact):
    """A part of a graph that ``DistributedDataParallel`` split.

    The graph is split at the boundaries of gradient buckets.
    """

    compile_id: str
    name: str


@dataclass(frozen=True, slots=True)
class NamedTensor(Value):
    """A name in user code, and the tensor bound to it: dtype, sizes, strides, device.

    ``tensor`` is, for example, ``f32[s77, 16]``, and ``stride`` ``16, 1``. ``frame`` is the location of the
    name (before Python 3.11, only the row); for a parameter, it is the first row of the function. ``tensor``
    is empty if the name is bound there to something else, or to an unknown value.
    """

    name: str
    tensor: str
    stride: str
    device: str
    frame: StackFrame
    parameter: bool = False


@dataclass(frozen=True, slots=True)
class Symbol(Value):
    """A symbolic size: its source, and its value while tracing, if known.

    A source is an expression such as ``L['x'].size()[0]``.
    """

    name: str
    source: str
    value: int | None


@dataclass(frozen=True, slots=True)
class TensorsNamed(Fact):
    """The tensors and symbolic sizes to which the names in a graph's code are bound.

    torch's logs do not contain them.
    """

    compile_id: str
    tensors: tuple[NamedTensor, ...]
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class FailingKernel(Value):
    """A Python function that raised while an operator ran it with fake tensors.

    ``operator`` is the operator's name (``mylib::twice``). ``kind`` is ``fake`` for a function that is
    registered for fake tensors, ``real`` for the implementation of an operator that has no such function, and
    ``composite`` for an operator that does not need one.
    """

    operator: str
    kind: Literal["fake", "real", "composite"]
    error: str
    """The type name of the exception."""
    message: str
    stack: Stack
    """The calls from the function inwards, without calls of torch."""


@dataclass(frozen=True, slots=True)
class GraphBreak(Fact):
    """A graph break: the graph ends here; another frame compiles the rest.

    The rest is the remaining code of the frame. ``code`` is torch's graph-break id (``GB0059``) or empty.
    ``stack`` is empty if torch names no line within the frame. With ``skips_frame``, nothing of the frame is
    compiled, because Dynamo cannot resume the frame from here (in a loop, ``with`` or ``try``). With
    ``skips_rest``, the frame is compiled up to an earlier line from which Dynamo can resume; the rest is not
    compiled.
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
    """torch's whole message."""
    skips_rest: bool = False
    kernel: FailingKernel | None = None


@dataclass(frozen=True, slots=True)
class GuardInstalled(Fact):
    """A guard: a condition under which a compiled frame can be reused.

    ``source`` is the guarded expression as torch writes it (``L['a']``), empty for global state; ``kind`` is
    the type of the guard (``TENSOR_MATCH``); ``expected`` describes the required value
    (``f32[10] on cpu, requires_grad=False``); ``stack`` is the first use of the value.
    """

    compile_id: str
    source: str
    kind: str
    expected: str
    code: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class GuardFailure(Value):
    """A guard that failed, so that an earlier compilation could not be reused.

    ``compile_id`` is that of the earlier compilation; ``source`` and ``kind`` describe the guard (empty if
    torch does not report them); ``dimension`` is set if a size or stride of a tensor changed; ``stack`` is
    the first use of the guarded value.
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
    """The property of the tensor that changed: ``size``, ``stride``, ``dtype``, ``requires_grad``, ..."""


@dataclass(frozen=True, slots=True)
class Recompile(Fact):
    """A recompilation: each earlier compilation of the frame has a guard that failed."""

    compile_id: str
    failures: tuple[GuardFailure, ...]


@dataclass(frozen=True, slots=True)
class RecompileLimit(Fact):
    """A frame at the recompile limit: calls that fit no compilation now run eagerly."""

    compile_id: str
    function: str
    filename: str
    row: int
    limit: int
    setting: str
    """The name of the limit in torch's configuration, such as ``recompile_limit``."""
    fatal: bool
    """Whether torch raises an error (``fullgraph=True``, ``fail_on_recompile_limit_hit``, ...)."""
    failures: tuple[GuardFailure, ...] = ()
    stack: Stack = ()
    """The calls that led to the frame; in a log, the calls that led to its last compilation."""
    called: int = 0
    """The number of calls of the compiled function so far, including the call at the limit; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class CallsCounted(Fact):
    """The number of calls, in the whole run, of a function that reached a limit.

    The limit is a recompile limit.
    """

    function: str
    filename: str
    row: int
    calls: int


@dataclass(frozen=True, slots=True)
class LateCompilation(Fact):
    """A compilation after the warm-up, at depth ``late-compile``.

    The ``FrameStarted`` with the same id has the location. ``failures`` are the guards that failed; empty if
    the frame had never been compiled.
    """

    compile_id: str
    failures: tuple[GuardFailure, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassPlace(Value):
    """A class, by its name and the file of its module."""

    filename: str
    name: str


@dataclass(frozen=True, slots=True)
class Network(Value):
    """An attribute that holds a module, which could be compiled separately.

    ``in_place`` says that ``Module.compile`` can compile the module, not only ``torch.compile``.
    """

    name: str
    in_place: bool


@dataclass(frozen=True, slots=True)
class LightningCompiled(Fact):
    """A compilation during a call of a compiled ``LightningModule``.

    ``classes`` are the module's class and its base classes up to, but without, ``LightningModule``.
    """

    compile_id: str
    classes: tuple[ClassPlace, ...]
    networks: tuple[Network, ...]


@dataclass(frozen=True, slots=True)
class CallsWithoutGraph(Fact):
    """A compiled function whose calls captured no graph.

    ``stack`` is the stack of the first call. ``calls`` is 0 for a function that the program compiled but did
    not call. ``function`` is empty if the program called no compiled function; ``elsewhere`` says that the
    program may have called a compiled function in a process that was not observed. ``off`` is the source text
    that turns compilation off.
    """

    function: str
    filename: str
    row: int
    calls: int
    stack: Stack = ()
    elsewhere: bool = False
    off: str = ""


@dataclass(frozen=True, slots=True)
class SizeViolation(Value):
    """A dimension marked dynamic, and a condition that some of its sizes violate.

    ``dimension`` is the name of the ``Dim``; ``source`` is torch's expression for the size, if torch reports
    it. ``value`` is the number to which the size was specialized; if empty, ``condition`` is the violated
    condition. ``text`` is torch's sentence. ``stack`` is the code that torch names; it is set only with
    ``value``.
    """

    dimension: str
    source: str = ""
    condition: str = ""
    value: str = ""
    text: str = ""
    stack: Stack = ()


@dataclass(frozen=True, slots=True)
class CompileFailure(Fact):
    """An exception that the compiler raised.

    ``phase`` is ``capture`` for Dynamo, including a graph break under ``fullgraph=True`` (with its ``code``),
    or ``backend``.
    """

    compile_id: str
    phase: Literal["capture", "backend"]
    error: str
    """The type name of the exception."""
    message: str
    stack: Stack
    code: str = ""
    explanation: str = ""
    hints: tuple[str, ...] = ()
    url: str = ""
    text: str = ""
    violations: tuple[SizeViolation, ...] = ()
    """The sizes that the program marks as dynamic but its code restricts: ``ConstraintViolationError``."""
    kernel: FailingKernel | None = None
