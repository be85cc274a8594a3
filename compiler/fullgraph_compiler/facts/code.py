"""Facts from AOTAutograd and TorchInductor: forms of a graph, code, kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .registry import Fact, Value
from .stacks import Stack, StackFrame

Phase: TypeAlias = Literal["forward", "backward", "inference"]
"""The pass to which a piece of code belongs; ``inference`` if no gradient is needed."""


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
    "make_fx_fail_partial",
    "inductor_aot_header_code",
]
"""The intermediate forms of a graph, in the order of compilation. The forms of the graph that TorchInductor
lowers have the names of the files that ``TORCH_COMPILE_DEBUG=1`` writes (``DebugFormatter`` in
``torch/_inductor/debug.py``)."""


@dataclass(frozen=True, slots=True)
class Artifact(Fact):
    """One intermediate form of a graph.

    ``phase`` is ``None`` for a form that covers all passes.
    """

    compile_id: str
    phase: Phase | None
    kind: ArtifactKind
    text: str


@dataclass(frozen=True, slots=True)
class RecordText(Fact):
    """The text of a record of torch's trace, other than a form of a graph.

    ``name`` is the record's name.
    """

    compile_id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class KernelNode(Value):
    """One operation of a lowered graph (``aten.mm``), and its line of user code.

    ``frame`` is ``None`` if torch reports no line. ``inputs`` are the names of the operation's arguments:
    other operations, and inputs of the graph. ``stack`` is the full user stack; empty in facts that are read
    from a log.
    """

    name: str
    operator: str
    frame: StackFrame | None
    inputs: tuple[str, ...] = ()
    stack: Stack = ()


@dataclass(frozen=True, slots=True)
class Cost(Value):
    """The cost of a launch, estimated by TorchInductor from the shapes of its tensors.

    ``read`` and ``written`` are lower bounds of the bytes that the launch reads from and writes to memory.
    ``flops`` is the number of floating point operations, for library functions and templates only.
    ``seconds`` is the roofline estimate: the larger of memory time and compute time on this GPU; ``None`` on
    a CPU.
    """

    read: int
    written: int
    flops: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Kernel(Value):
    """A launch of a kernel, or a call of a library function, in TorchInductor's code.

    ``language`` is ``triton``, ``cpp``, ..., or ``extern`` for a library function, which has no ``source``.
    ``heuristic`` is Triton's kind of kernel (``pointwise``, ``reduction``, ``template``, ``user_autotune``).
    ``definition`` is the first and last row of the kernel's definition in the code, ``launch`` those of its
    launch. ``nodes`` are the operations that the kernel computes, ``stacks`` their user stacks. ``arguments``
    are the arguments of the launch, as the code writes them; ``grid`` is Triton's kind of grid (``Grid1D``).
    ``function`` is set if the launch belongs to a subgraph (a branch of ``cond``, a nested compile region):
    it is the function in the code that contains the launch. ``times`` is how often that function runs in one
    call of the graph, if each branch and each loop runs once.
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
    function: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class CodeGenerated(Fact):
    """The code that TorchInductor generated for a graph; ``text`` is a Python module.

    For AOTInductor, ``text`` is C++ (``language`` is ``cpp``): the wrapper, followed by its kernels.

    ``kernels`` are the launches in the code, in order; ``nodes`` are all operations of the lowered graph.
    ``unread`` are the names of kernels that the code defines but whose launches were not found.
    """

    compile_id: str
    phase: Phase
    filename: str
    text: str
    kernels: tuple[Kernel, ...]
    nodes: tuple[KernelNode, ...] = ()
    language: str = "python"
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelCompiled(Fact):
    """A compiled kernel of generated code.

    ``filename`` is that of the ``CodeGenerated`` with the kernel. ``texts`` are the compiled forms by
    language, from high level to low level: ``ttir``, ``ttgir``, ``llir``, then ``ptx`` and ``sass``, or
    ``amdgcn``; ``asm`` for C++. ``config`` is the configuration that autotuning chose (``XBLOCK: 256,
    num_warps: 4``). ``registers`` and ``spills`` are counts per thread, ``shared`` is bytes per block; all
    are ``None`` on a CPU. ``others`` are the configurations that autotuning would also have tried if the
    device had been present. ``problem`` says why a text is missing, if the compiler that should have produced
    it failed.
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
class WrittenGraph(Value):
    """A captured graph as a Python program that needs only torch.

    ``text`` is the program, which compiles the graph once. ``places`` pairs rows of the text with the user
    stacks of their operations.
    """

    compile_id: str
    text: str
    places: tuple[tuple[int, Stack], ...]


@dataclass(frozen=True, slots=True)
class PreviewDeferred(Fact):
    """A preview that another interpreter must finish by writing the GPU kernels.

    The kernels are those of ``graphs``. ``reason`` says why this interpreter cannot write them.
    """

    reason: str
    graphs: tuple[WrittenGraph, ...]
