"""What Dynamo tells: frames, graphs, graph breaks, guards, recompilations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .stacks import Stack, StackFrame


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
    """Dynamo finished with a frame. ``graphs`` is 1 when a graph was compiled, 0 when none was.

    ``outline`` differs between graphs of other operations or other sizes, whatever their device; empty where
    there is no graph.
    """

    compile_id: str
    function: str
    filename: str
    row: int
    graphs: int
    ops: int
    guards: int
    seconds: float
    outline: str = ""


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
    """Dynamo hands one graph to the backend; ``text`` is the whole of it, as torch prints it.

    ``calls`` are the places of the calls that led to its operations, each once, known in process only.
    """

    compile_id: str
    nodes: tuple[GraphNode, ...]
    text: str = ""
    calls: Stack = ()


@dataclass(frozen=True, slots=True)
class GraphPart:
    """``DistributedDataParallel`` has cut a part off a graph, at the bounds of a bucket of gradients."""

    compile_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CollectivesTraced:
    """The collective operations of a graph (``all_reduce``), in their order: that of every rank."""

    compile_id: str
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedTensor:
    """A tensor that a name gets: ``f32[s77, 16]``, with its strides (``16, 1``) and its device.

    ``frame`` is where the name stands (the row only before Python 3.11); of a parameter, the first row of its
    function. Empty ``tensor``: the name gets something else there, or nobody knows what.
    """

    name: str
    tensor: str
    stride: str
    device: str
    frame: StackFrame
    parameter: bool = False


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbolic size: what gives it (``L['x'].size()[0]``), and what it was as it was traced, if known."""

    name: str
    source: str
    value: int | None


@dataclass(frozen=True, slots=True)
class TensorsNamed:
    """What the names in the code of a graph hold, known in process only."""

    compile_id: str
    tensors: tuple[NamedTensor, ...]
    symbols: tuple[Symbol, ...]


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
class LateCompilation:
    """In a frozen run, a call that would have been compiled, and ran eagerly.

    ``stack`` holds the calls that led to it. ``failures`` say why no compilation fits; there are none if the
    frame had not been compiled at all.
    """

    function: str
    filename: str
    row: int
    stack: Stack
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
