"""What AOTAutograd and TorchInductor tell: the forms of a graph, its code, its kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .stacks import Stack, StackFrame

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

    ``kernels`` are its launches, in their order; ``nodes`` all operations of the graph that was lowered.
    """

    compile_id: str
    phase: Phase
    filename: str
    text: str
    kernels: tuple[Kernel, ...]
    nodes: tuple[KernelNode, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelCompiled:
    """A kernel of generated code was built. ``filename`` is that of the code, as ``CodeGenerated`` has it.

    ``texts`` are its compiled forms by language, from high to low: ``ttir``, ``ttgir``, ``llir``, then
    ``ptx`` and ``sass``, or ``amdgcn``; for C++ ``asm``. ``config`` is the one that autotuning chose
    (``XBLOCK: 256, num_warps: 4``).
    ``registers`` and ``spills`` are counts for a thread, ``shared`` bytes of a block, ``None`` on a CPU.
    ``others`` are the settings that autotuning would have tried beside ``config``, where there was no device
    to try them on. ``problem`` says why there is no text, where its compiler failed.
    """

    filename: str
    name: str
    texts: tuple[tuple[str, str], ...]
    config: str = ""
    registers: int | None = None
    spills: int | None = None
    shared: int | None = None
    others: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class WrittenGraph:
    """A captured graph as a program: ``text`` needs nothing but torch, and compiles it once.

    ``places`` are the user's calls behind rows of the text.
    """

    compile_id: str
    text: str
    places: tuple[tuple[int, Stack], ...]


@dataclass(frozen=True, slots=True)
class PreviewDeferred:
    """Kernels for a GPU are for another interpreter to write, from ``graphs``, for the ``reason`` given."""

    reason: str
    graphs: tuple[WrittenGraph, ...]
