"""A report: the immutable fold of one run's facts, which every feature projects onto a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from fullgraph_compiler.facts import (
    Artifact,
    CacheState,
    CollectivesScheduled,
    CompilePhase,
    Cost,
    Depth,
    FilesDiscarded,
    GraphTraced,
    GraphUnchecked,
    KernelCompiled,
    KernelNode,
    NamedTensor,
    Noise,
    Phase,
    RanDry,
    RecordText,
    Result,
    RuntimeEstimated,
    Severity,
    StageChecked,
    Status,
    Symbol,
)

from ..kinds import KINDS, FindingKind
from ..text.remedies import Advice, Remedy
from ..text.source_names import compile_number
from ..text.vllm import VllmGraph
from ..workspace.positions import TRACE, Call, Span
from ..workspace.source import SourceFile
from .caches.model import Caches
from .measured.model import Speed

_R = TypeVar("_R", bound=Result)

Layer: TypeAlias = str
"""The analysis (``analyses/``) that makes a result beside the ordinary one; empty for an ordinary run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem or a remark that the user should look at.

    ``code`` is torch's graph-break id (``GB0059``) where there is one, else the kind. ``stack`` runs
    from the outermost call to the innermost; ``count`` says how many compilations saw it.
    """

    kind: FindingKind
    code: str
    severity: Severity
    message: str
    span: Span
    explanation: str = ""
    hints: tuple[str, ...] = ()
    url: str = ""
    stack: tuple[Call, ...] = ()
    also_from: tuple[Call, ...] = ()
    """Of recompilations, the calls that led to others of them than that of ``stack``, one for each."""
    count: int = 1
    text: str = ""
    """The compiler's whole message, for the full explanation."""
    compile_ids: frozenset[str] = frozenset()
    """The compilations that saw it."""
    fault: int = 0
    """The number of its fault, if a run through the stages has located it; else 0."""
    ranks: tuple[int, ...] = ()
    """The ranks that saw it, where others did not."""
    advice: tuple[Advice, ...] = ()
    """The hints about a recompilation, with what they say as data."""
    of_run: bool = False
    """Whether it concerns the whole run and no line: only the file of ``span`` counts, that of the target."""
    survived: bool = False
    """Whether it is an error of the compiler after which the program went on."""
    of_program: bool = False
    """Whether only the whole program shows it: no repro can be made of one of its calls."""

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """What the hints about a recompilation name."""
        return tuple(dict.fromkeys(remedy for item in self.advice for remedy in item.remedies))

    @property
    def compile_id(self) -> str:
        """The first compilation that saw it; empty if none did."""
        return min(self.compile_ids, key=compile_number, default="")

    @property
    def times(self) -> int:
        """What it adds to the number of its kind: all recompilations that it tells, one for a graph break."""
        return self.count if KINDS[self.kind].sums_compilations else 1

    @property
    def has_graph(self) -> bool:
        """Whether a graph fails, which can be shrunk; else the repro is the call that fails."""
        return self.kind != "capture-error" and (bool(self.compile_ids) or not self.fault)

    @property
    def minifiable(self) -> bool:
        """Whether it is a failure of the compiler that a repro can be made of."""
        if self.kind == "compile-error":
            # Of a process that Dynamo itself ends there is no graph, and nothing that could be recorded.
            return self.has_graph
        return self.kind in ("accuracy", "capture-error") and not self.of_program


@dataclass(frozen=True, slots=True)
class Graph:
    """A captured graph; ``span`` is the user's line that its first operation comes from."""

    compile_id: str
    ops: int
    span: Span | None
    text: str
    """The whole graph, as torch prints it."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a lowered graph (``aten.mm``), its name there, and the user's code behind it."""

    name: str
    operator: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel, or of a library function, in TorchInductor's code.

    ``spans`` are the user's code that it computes. A library function has the language ``extern`` and no
    ``source``. ``rows`` are the first and the last one of the launch in the code, ``definition`` those of the
    kernel. ``function`` and ``times`` are those of :class:`~fullgraph_compiler.facts.Kernel`.
    """

    name: str
    language: str
    heuristic: str
    source: str
    rows: tuple[int, int]
    definition: tuple[int, int] | None
    operations: tuple[Operation, ...]
    spans: tuple[Span, ...]
    arguments: tuple[str, ...] = ()
    grid: str = ""
    cost: Cost | None = None
    built: KernelCompiled | None = None
    """The result of compiling the kernel, in a run that built it."""
    function: str = ""
    times: int = 1

    def spans_at(self, filename: str, row: int) -> list[Span]:
        """Return the user's code on a line that the launch computes."""
        spans = (span for span in self.spans if span.filename == filename)
        return [span for span in spans if span.row <= row <= span.end_row]


@dataclass(frozen=True, slots=True)
class Code:
    """The code that TorchInductor wrote for one pass of a graph."""

    compile_id: str
    phase: Phase
    text: str
    launches: tuple[Launch, ...]
    nodes: tuple[KernelNode, ...] = ()
    """All operations of the graph that it was written for."""
    language: str = "python"
    unread: tuple[str, ...] = ()
    """The kernels in the text whose launch was not found."""


@dataclass(frozen=True, slots=True)
class ExportedProgram:
    """A program of ``torch.export``; ``sizes`` are conditions on those that it accepts."""

    compile_id: str
    function: str
    ops: int
    sizes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compilation:
    """One compilation of a frame; ``reason`` is the guard that failed before it, empty for a first one.

    ``start`` is in seconds since the epoch, 0 where that is not known.
    """

    compile_id: str
    function: str
    span: Span
    start: float
    seconds: float
    reason: str
    caller: Span | None = None
    """The user's call that made the frame compile, if the process reported it."""


@dataclass(frozen=True, slots=True)
class SizeCondition:
    """A condition on symbolic sizes that a compilation assumes from the user's code at ``span`` on.

    ``text`` names the sizes as the user writes them (``x.shape[0] > 4``), ``expression`` by torch's symbols
    (``s77 > 4``). ``reason`` is torch's reason why a size became a number; ``calls`` are the calls in torch
    that added the condition, the innermost last, ``cpp_stack`` the text of the C++ ones.
    """

    compile_id: str
    text: str
    expression: str
    symbols: tuple[Symbol, ...]
    span: Span | None
    reason: str = ""
    calls: tuple[Call, ...] = ()
    cpp_stack: str = ""


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard of a compiled function; ``span`` is where the value was first needed, if known."""

    source: str
    kind: str
    expected: str
    code: str
    compile_id: str
    span: Span | None
    failures: int = 0
    """The number of recompilations before which it failed."""
    callers: tuple[Span, ...] = ()
    """The user's calls that led there within the frame, the innermost first: of functions that it inlines."""


@dataclass(frozen=True, slots=True)
class FrameReport:
    """One function of the user's code with all its compilations, resume functions included.

    ``row`` is that of its ``def``, below any decorators; ``qualname`` has its class, as in ``Block.forward``.
    """

    function: str
    qualname: str
    filename: str
    row: int
    compile_ids: tuple[str, ...] = ()
    graphs: int = 0
    ops: int = 0
    breaks: int = 0
    guards: tuple[Guard, ...] = ()
    recompiles: int = 0
    seconds: float = 0.0
    kernels: int = 0
    """Launches of kernels and library functions in its code, if that was written."""
    versions: int = 0
    """The number of compilations that a cache without a limit would hold, for the frame with the most."""
    compilations: int = 0
    """The number of compilations that were begun: all but those that a limit stopped."""
    traced: tuple[GraphTraced, ...] = ()
    """Its graphs in detail, in the order of their compilations."""
    cached: tuple[CacheState, ...] = ()
    """What came of its graphs in the cache of their code, in the order of their compilations."""
    schedules: tuple[CollectivesScheduled, ...] = ()
    """The collective operations in the code of its graphs, those without any left out."""
    estimates: tuple[RuntimeEstimated, ...] = ()
    """TorchInductor's estimates for the code of its graphs, if torch was asked for them."""
    unfinished: bool = False
    """Whether its last compilation has not ended."""


@dataclass(frozen=True, slots=True)
class HeldTensors:
    """The tensors that a name got at one place in one compilation, and the symbols of its sizes."""

    compile_id: str
    tensors: tuple[NamedTensor, ...]
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, eq=False)
class TensorName:
    """A place where a name gets tensors: ``span`` is the name, with its annotation if it is ``annotated``.

    ``shown`` are those of the newest compilation of each frame, ``held`` those of all, in their order.
    """

    span: Span
    annotated: bool
    statement: Span
    shown: tuple[NamedTensor, ...]
    held: tuple[HeldTensors, ...]


@dataclass(frozen=True, slots=True)
class NumberedGraph:
    """The graph of one frame as a user counts it, however often the frame was compiled.

    ``number`` counts from 1, in the order of the program, to ``total``.
    """

    number: int
    total: int
    function: str
    compile_ids: tuple[str, ...]
    limited: bool = False
    """Whether the frame was compiled too often: what no compilation fits runs eagerly from now on."""


@dataclass(frozen=True, slots=True)
class GraphLines:
    """Consecutive statements that ran in the same way: in graphs, eagerly, or sometimes each.

    ``spans`` are the whole statements, of compound ones the headers; ``reasons`` say why they ran eagerly.
    """

    spans: tuple[Span, ...]
    graphs: tuple[NumberedGraph, ...]
    reasons: tuple[str, ...]

    @property
    def filename(self) -> str:
        """The file that they are in."""
        return self.spans[0].filename


@dataclass(frozen=True, slots=True)
class RankSummary:
    """The run of one of several ranks: how it ended, its counts, and whether it differs from most others."""

    rank: int
    status: Status | None
    seconds: float
    compilations: int
    graphs: int
    breaks: int
    recompiles: int
    differs: bool
    group: int
    """The number of its group: the ranks that are alike in all that is compared. The largest has 0."""
    usual: bool = False
    """Whether it is the rank that most others are like: what a report of several ranks has once is of it."""


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A call that a run or a trace saw compiled, as an example call: ``text`` stands above a definition.

    ``function`` is the definition's qualified name, of a compiled ``forward`` that of the class; ``row`` is
    that of its ``def`` or ``class``. Unknown values are ``...`` in a text that is not ``complete``.
    """

    function: str
    filename: str
    row: int
    text: str
    complete: bool


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one run of one target."""

    target: str
    """The target's id: a path, ``path::name``, or a pytest node."""
    generation: int
    torch: str = ""
    status: Status | None = None
    """``None`` while the run is on."""
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    frames: tuple[FrameReport, ...] = ()
    graphs: tuple[Graph, ...] = ()
    """In the order in which they were captured."""
    exports: tuple[ExportedProgram, ...] = ()
    """The programs that were exported; each is one of the graphs."""
    codes: tuple[Code, ...] = ()
    """In the order in which they were written, if the run went that far."""
    artifacts: tuple[Artifact, ...] = ()
    """The forms of each graph on its way to code, in their order."""
    records: tuple[RecordText, ...] = ()
    """The other texts of a trace, in their order, if it was read with its code."""
    phases: tuple[CompilePhase, ...] = ()
    """The steps of the compiler, in the order of their start; those within a step follow it."""
    compilations: tuple[Compilation, ...] = ()
    """All compilations of frames, in their order."""
    tensors: tuple[TensorName, ...] = ()
    """The tensors that names in compiled code hold, by place."""
    speed: Speed | None = None
    """The speed of compiled calls, if it was measured."""
    stages: tuple[StageChecked, ...] = ()
    """The results of the program and of each graph at each stage, if the run went through the stages."""
    unchecked: tuple[GraphUnchecked, ...] = ()
    """The graphs whose stages could not be checked."""
    noise: tuple[Noise, ...] = ()
    """Results of graphs that rounding decides, if the stages found any."""
    reruns_skipped: bool = False
    """Whether the stages left out the runs that look for a cause, because the program reaches others."""
    results: tuple[Result, ...] = ()
    """What an analysis has measured, in the order of its facts."""
    files: Mapping[str, SourceFile | None] = field(default_factory=dict, compare=False)
    """The workspace's files that the program imported; with the text that ran, if the report names them."""

    depth: Depth = "graph"
    """The depth of the run."""
    layer: Layer = ""
    """Which layer of the target's results it is; empty for the ordinary one."""
    sizes: tuple[SizeCondition, ...] = ()
    """The conditions on symbolic sizes, in the order of the traces."""
    graph_lines: tuple[GraphLines, ...] = ()
    """The statements of graphs, and those that ran eagerly where that could be otherwise, by place."""
    calls: tuple[SeenCall, ...] = ()
    """The calls of the user's functions that were compiled, in their order."""

    caches: Caches = field(default_factory=Caches)
    """What came of each graph in the compiler's caches."""

    vllm: tuple[VllmGraph, ...] = ()
    """The graphs that vLLM has split, and for which sizes it compiled the parts."""
    ranks: tuple[RankSummary, ...] = ()
    """The ranks of the run, if there are several."""
    executed: tuple[str, ...] = ()
    """The graphs in the order in which they ran, by compile id, if the program recorded that."""
    dry: RanDry | None = None
    """Set if the program ran without data."""
    left_out: tuple[str, ...] = ()
    """The parts of the compiler that the program asked for and the run did without."""
    reaches_others: bool = False
    """Whether the program connected to a server or started another program."""
    ignored: tuple[Finding, ...] = ()
    """The findings that comments in the source ignore."""
    known: tuple[Finding, ...] = ()
    """In an editor, the findings that are in the project's baseline."""
    discarded: FilesDiscarded | None = None
    """Set if the files that the program wrote were discarded."""

    def of(self, kind: type[_R]) -> tuple[_R, ...]:
        """Return what an analysis has measured, of one type."""
        return tuple(item for item in self.results if isinstance(item, kind))

    @property
    def of_trace(self) -> bool:
        """Whether it was read from a trace, of a program that ran elsewhere."""
        return self.target.startswith(TRACE)

    @property
    def hidden(self) -> int:
        """The number of findings that a comment or the baseline takes away."""
        return len(self.ignored) + len(self.known)

    def may_read(self, filename: str) -> bool:
        """Tell whether a file that the report names may be read: a log can name any file, on any machine."""
        return not self.of_trace or filename in self.files

    @property
    def usual_rank(self) -> int | None:
        """The rank whose graphs, kernels and times it has, of several."""
        return next((rank.rank for rank in self.ranks if rank.usual), None)

    @property
    def repeatable(self) -> bool:
        """Whether it is of one process that can run here again, and of no preview for another GPU."""
        return not (self.ranks or self.of_trace or (self.dry and self.dry.device))

    @property
    def problem(self) -> Finding | None:
        """The first finding that tells why the run came no further, or fails: an error, or its time limit."""
        stopped = self.status == "timeout"
        return next(
            (
                finding
                for finding in self.findings
                if finding.severity == "error" or (stopped and finding.kind == "target-error")
            ),
            None,
        )

    @property
    def complete(self) -> bool:
        """Whether all of the compiler ran, so that its times are those of the program by itself."""
        return self.depth in ("build", "times", "speed")
