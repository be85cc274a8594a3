"""A report: the facts of one run, folded and immutable.

Every feature shows a part of it.
"""

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
from ..workspace.positions import TRACE, Span, StackCall
from ..workspace.source import SourceFile
from .caches.model import CacheUses
from .measured.model import MeasuredSpeed

_R = TypeVar("_R", bound=Result)

Layer: TypeAlias = str
"""The name of the analysis (``analyses/``) that a report is of; empty for an ordinary run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem or a remark that the user should look at.

    ``code`` is torch's graph-break id (``GB0059``) if there is one, else the kind. ``stack`` runs
    from the outermost call to the innermost; ``count`` is the number of compilations that have the finding.
    """

    kind: FindingKind
    code: str
    severity: Severity
    message: str
    span: Span
    explanation: str = ""
    hints: tuple[str, ...] = ()
    url: str = ""
    stack: tuple[StackCall, ...] = ()
    also_from: tuple[StackCall, ...] = ()
    """For recompilations, the innermost differing call of each one that ``stack`` did not lead to."""
    count: int = 1
    text: str = ""
    """The compiler's whole message, for the full explanation."""
    compile_ids: frozenset[str] = frozenset()
    """The ids of the compilations that have the finding."""
    fault: int = 0
    """The number of its fault, if a run through the stages has located it; else 0."""
    ranks: tuple[int, ...] = ()
    """The ranks that have the finding, if not all have it."""
    advice: tuple[Advice, ...] = ()
    """The hints about a recompilation as data."""
    of_run: bool = False
    """Whether it is about the whole run, not a line: of ``span``, only the file counts (the target's)."""
    survived: bool = False
    """Whether it is an error of the compiler after which the program continued."""
    of_program: bool = False
    """Whether only the whole program shows it, so that no repro can be built from one of its calls."""

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The remedies that the hints about a recompilation name."""
        return tuple(dict.fromkeys(remedy for item in self.advice for remedy in item.remedies))

    @property
    def compile_id(self) -> str:
        """The id of the first compilation that has the finding; empty if none has."""
        return min(self.compile_ids, key=compile_number, default="")

    @property
    def times(self) -> int:
        """Its count in totals: each recompilation counts, a graph break counts once."""
        return self.count if KINDS[self.kind].sums_compilations else 1

    @property
    def has_graph(self) -> bool:
        """Whether a graph fails, which can be minified.

        Otherwise the repro is the failing call.
        """
        return self.kind != "capture-error" and (bool(self.compile_ids) or not self.fault)

    @property
    def minifiable(self) -> bool:
        """Whether it is a failure of the compiler for which a repro can be built."""
        if self.kind == "compile-error":
            # If Dynamo itself ends the process, there is no graph, and no call could be recorded.
            return self.has_graph
        return self.kind in ("accuracy", "capture-error") and not self.of_program


@dataclass(frozen=True, slots=True)
class CapturedGraph:
    """A captured graph; ``span`` is the user's line of its first operation."""

    compile_id: str
    ops: int
    span: Span | None
    text: str
    """The whole graph, as torch prints it."""


@dataclass(frozen=True, slots=True)
class LoweredOperation:
    """An operation of a lowered graph: node name, operator (``aten.mm``), user code."""

    name: str
    operator: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """One launch of a kernel, or of a library function, in TorchInductor's code.

    ``spans`` are the user's code that it computes. A library function has the language ``extern`` and no
    ``source``. ``rows`` are the first and the last row of the launch in the code, ``definition`` those of the
    kernel. ``function`` and ``times`` are as in :class:`~fullgraph_compiler.facts.Kernel`.
    """

    name: str
    language: str
    heuristic: str
    source: str
    rows: tuple[int, int]
    definition: tuple[int, int] | None
    operations: tuple[LoweredOperation, ...]
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
class GeneratedCode:
    """The code that TorchInductor generated for a graph's forward or backward pass."""

    compile_id: str
    phase: Phase
    text: str
    launches: tuple[KernelLaunch, ...]
    nodes: tuple[KernelNode, ...] = ()
    """All operations of the lowered graph."""
    language: str = "python"
    unread: tuple[str, ...] = ()
    """The names of kernels in the text whose launch was not found."""


@dataclass(frozen=True, slots=True)
class ExportedProgram:
    """A program of ``torch.export``; ``sizes`` are its conditions on input sizes."""

    compile_id: str
    function: str
    ops: int
    sizes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FrameCompilation:
    """One compilation of a frame; ``reason`` is the guard that failed, if any.

    ``reason`` is empty for the first compilation. ``start`` is in seconds since the epoch, 0 if unknown.
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
    """A size condition that a compilation assumes because of the code at ``span``.

    ``text`` names the sizes as the user writes them (``x.shape[0] > 4``), ``expression`` by torch's symbols
    (``s77 > 4``). ``reason`` is torch's reason for a specialization; ``calls`` are the calls in torch that
    added the condition, the innermost last, ``cpp_stack`` is the text of its C++ stack.
    """

    compile_id: str
    text: str
    expression: str
    symbols: tuple[Symbol, ...]
    span: Span | None
    reason: str = ""
    calls: tuple[StackCall, ...] = ()
    cpp_stack: str = ""


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard of a compiled function.

    ``span`` is the code that first needed the value, if known.
    """

    source: str
    kind: str
    expected: str
    code: str
    compile_id: str
    span: Span | None
    failures: int = 0
    """The number of recompilations that its failures caused."""
    callers: tuple[Span, ...] = ()
    """The user's calls of inlined functions that led to ``span``, the innermost first."""


@dataclass(frozen=True, slots=True)
class FrameReport:
    """A user's function with all its compilations and those of its resume functions.

    ``row`` is the row of its ``def``, below any decorators; ``qualname`` has its class: ``Block.forward``.
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
    """The launches of kernels and library functions in its code; 0 if no code was generated."""
    versions: int = 0
    """The number of compilations that Dynamo would keep without a limit, of the frame with the most."""
    compilations: int = 0
    """The number of compilations that started; a limit stopped the rest."""
    traced: tuple[GraphTraced, ...] = ()
    """Its graphs in detail, in the order of their compilations."""
    cached: tuple[CacheState, ...] = ()
    """Hit, miss or bypass of its graphs in the cache of their code, in the order of their compilations."""
    schedules: tuple[CollectivesScheduled, ...] = ()
    """The collective operations in the code of its graphs, for graphs that have any."""
    estimates: tuple[RuntimeEstimated, ...] = ()
    """TorchInductor's runtime estimates for the code of its graphs, if torch was set to record them."""
    unfinished: bool = False
    """Whether its last compilation has not ended."""


@dataclass(frozen=True, slots=True)
class HeldTensors:
    """The tensors of a variable at a place in one compilation, and its size symbols."""

    compile_id: str
    tensors: tuple[NamedTensor, ...]
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, eq=False)
class TensorName:
    """An assignment of tensors to a variable.

    ``span`` is the variable, with its annotation if it is ``annotated``. ``shown`` are the tensors of the
    newest compilation of each frame, ``held`` those of all compilations, in order.
    """

    span: Span
    annotated: bool
    statement: Span
    shown: tuple[NamedTensor, ...]
    held: tuple[HeldTensors, ...]


@dataclass(frozen=True, slots=True)
class NumberedGraph:
    """The graph of one frame with a number for users.

    All compilations of a frame share one graph. ``number`` counts from 1 to ``total``, in the order of the
    program.
    """

    number: int
    total: int
    function: str
    compile_ids: tuple[str, ...]
    limited: bool = False
    """Whether the frame reached a recompile limit: calls that fit no compilation run eagerly."""


@dataclass(frozen=True, slots=True)
class GraphLines:
    """Consecutive statements that ran in the same way: in graphs, eagerly, or both.

    ``spans`` are whole statements, or the headers of compound ones; ``reasons`` say why they ran eagerly.
    """

    spans: tuple[Span, ...]
    graphs: tuple[NumberedGraph, ...]
    reasons: tuple[str, ...]

    @property
    def filename(self) -> str:
        """The file that contains the statements."""
        return self.spans[0].filename


@dataclass(frozen=True, slots=True)
class RankSummary:
    """The run of one rank: how it ended, its counts, whether it differs from most."""

    rank: int
    status: Status | None
    seconds: float
    compilations: int
    graphs: int
    breaks: int
    recompiles: int
    differs: bool
    group: int
    """The number of its group of ranks that are equal in everything compared; the largest group is 0."""
    usual: bool = False
    """Whether it represents most ranks: a report of several ranks takes graphs and code from this one."""


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A compiled call that a run or a trace recorded, as an example call.

    ``text`` can be written above the definition. ``function`` is the definition's qualified name; for a
    compiled ``forward``, it is the class. ``row`` is the row of its ``def`` or ``class``. A text that is not
    ``complete`` has ``...`` for unknown values.
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
    """``None`` while the run has not ended."""
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    frames: tuple[FrameReport, ...] = ()
    graphs: tuple[CapturedGraph, ...] = ()
    """The captured graphs, in the order of their capture."""
    exports: tuple[ExportedProgram, ...] = ()
    """The exported programs; each is also one of the graphs."""
    codes: tuple[GeneratedCode, ...] = ()
    """The generated code, in the order of its generation, if the run went that far."""
    artifacts: tuple[Artifact, ...] = ()
    """The stages of each graph on its way to code, in order."""
    records: tuple[RecordText, ...] = ()
    """The other texts of a trace, in order, if the trace was read with its code."""
    phases: tuple[CompilePhase, ...] = ()
    """The steps of the compiler, ordered by their start; nested steps follow the step around them."""
    compilations: tuple[FrameCompilation, ...] = ()
    """All compilations of frames, in order."""
    tensors: tuple[TensorName, ...] = ()
    """The tensors that variables in compiled code hold, sorted by place."""
    speed: MeasuredSpeed | None = None
    """The speed of compiled calls, if it was measured."""
    stages: tuple[StageChecked, ...] = ()
    """The results of the program and of each graph at each stage, if the run went through the stages."""
    unchecked: tuple[GraphUnchecked, ...] = ()
    """The graphs whose stages could not be checked."""
    noise: tuple[Noise, ...] = ()
    """Results of graphs that are rounding noise, if the stages found any."""
    reruns_skipped: bool = False
    """Whether the stages did not rerun to find a cause, since the program reaches other programs."""
    results: tuple[Result, ...] = ()
    """The results of an analysis, in the order of its facts."""
    files: Mapping[str, SourceFile | None] = field(default_factory=dict, compare=False)
    """The workspace's files that the program imported, with the text that ran if the report needs it."""

    depth: Depth = "graph"
    """The depth of the run."""
    layer: Layer = ""
    """The layer of the target's results that this report is; empty for the ordinary result."""
    sizes: tuple[SizeCondition, ...] = ()
    """The conditions on symbolic sizes, in the order of the traces."""
    graph_lines: tuple[GraphLines, ...] = ()
    """The statements in graphs, and those that ran eagerly although compiled code has them, by place."""
    calls: tuple[SeenCall, ...] = ()
    """The compiled calls of the user's functions, in order."""

    caches: CacheUses = field(default_factory=CacheUses)
    """The lookups of graphs in the compiler's caches."""

    vllm: tuple[VllmGraph, ...] = ()
    """The graphs that vLLM split, with the sizes for which it compiled the parts."""
    ranks: tuple[RankSummary, ...] = ()
    """The ranks of the run, if there are several."""
    executed: tuple[str, ...] = ()
    """The compile ids of graphs in the order in which they ran, if the program recorded it."""
    dry: RanDry | None = None
    """Set if the program ran without data."""
    left_out: tuple[str, ...] = ()
    """The parts of the compiler that the program uses, but the run did not."""
    reaches_others: bool = False
    """Whether the program connected to a server or started another program."""
    ignored: tuple[Finding, ...] = ()
    """The findings that comments in the source ignore."""
    known: tuple[Finding, ...] = ()
    """The findings in the project's baseline; only in an editor."""
    discarded: FilesDiscarded | None = None
    """Set if the files that the program wrote were discarded."""

    def of(self, kind: type[_R]) -> tuple[_R, ...]:
        """Return the results of an analysis of one type."""
        return tuple(item for item in self.results if isinstance(item, kind))

    @property
    def of_trace(self) -> bool:
        """Whether it was read from a trace of a program that ran elsewhere."""
        return self.target.startswith(TRACE)

    @property
    def hidden(self) -> int:
        """The number of findings that a comment or the baseline hides."""
        return len(self.ignored) + len(self.known)

    def may_read(self, filename: str) -> bool:
        """Return whether a file in the report may be read.

        A log can name any file on any machine.
        """
        return not self.of_trace or filename in self.files

    @property
    def usual_rank(self) -> int | None:
        """The rank whose graphs, kernels and times the report of several ranks has."""
        return next((rank.rank for rank in self.ranks if rank.usual), None)

    @property
    def repeatable(self) -> bool:
        """Whether the run was a single process that can run again here, and not a preview."""
        return not (self.ranks or self.of_trace or (self.dry and self.dry.device))

    @property
    def problem(self) -> Finding | None:
        """The first finding that says why the run failed, or reached its time limit."""
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
        """Whether the whole compiler ran: compile times are those of an ordinary start."""
        return self.depth in ("build", "times", "speed")
