"""A report: the facts of one run, folded and immutable.

Every feature shows a part of a report.
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
"""The name of the analysis (``analyses/``) whose report this is; empty for an ordinary run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem or a remark that the user should look at.

    ``code`` is torch's graph-break id (``GB0059``) if there is one, else the kind. ``stack`` begins with the
    outermost call; ``count`` is the number of compilations that have the finding.
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
    """For each recompilation with a stack other than ``stack``, the innermost call that differs."""
    count: int = 1
    text: str = ""
    """The compiler's whole message, for the full explanation."""
    compile_ids: frozenset[str] = frozenset()
    """The ids of the compilations that have the finding."""
    fault: int = 0
    """The number of the fault that a run through the stages located for this finding; else 0."""
    ranks: tuple[int, ...] = ()
    """The ranks that have the finding; empty if all ranks have it."""
    advice: tuple[Advice, ...] = ()
    """The advice on a recompilation, as data; ``hints`` has its sentences."""
    of_run: bool = False
    """Whether the finding is about the whole run, not a line: of ``span``, only the file is meant."""
    survived: bool = False
    """Whether the finding is an error of the compiler after which the program continued."""
    of_program: bool = False
    """Whether only the whole program has the problem, so that no repro can be built from a single call."""

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The remedies in the advice on a recompilation."""
        return tuple(dict.fromkeys(remedy for item in self.advice for remedy in item.remedies))

    @property
    def compile_id(self) -> str:
        """The id of the first compilation with the finding; empty if there is none."""
        return min(self.compile_ids, key=compile_number, default="")

    @property
    def times(self) -> int:
        """The finding's weight in totals: recompilations add up, a break counts once."""
        return self.count if KINDS[self.kind].sums_compilations else 1

    @property
    def has_graph(self) -> bool:
        """Whether a graph fails; a graph can be minified.

        Otherwise, the repro is the failing call.
        """
        return self.kind != "capture-error" and (bool(self.compile_ids) or not self.fault)

    @property
    def minifiable(self) -> bool:
        """Whether the finding is a compiler failure for which a repro can be built."""
        if self.kind == "compile-error":
            # If Dynamo itself ends the process, there is no graph, and no call was recorded.
            return self.has_graph
        return self.kind in ("accuracy", "capture-error") and not self.of_program


@dataclass(frozen=True, slots=True)
class CapturedGraph:
    """A captured graph; ``span`` is the line of user code of the first operation."""

    compile_id: str
    ops: int
    span: Span | None
    text: str
    """The whole graph, as torch prints it."""


@dataclass(frozen=True, slots=True)
class LoweredOperation:
    """An operation of a lowered graph: node, operator (``aten.mm``), user code."""

    name: str
    operator: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """One launch of a kernel, or of a library function, in TorchInductor's code.

    ``spans`` are the user code that the launch computes. A library function has the language ``extern`` and
    no ``source``. ``rows`` are the first and the last row of the launch in the generated code, ``definition``
    those of the kernel. ``function`` and ``times`` are as in :class:`~fullgraph_compiler.facts.Kernel`.
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
        """Return the places on a line of user code that the launch computes."""
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
    """A program of ``torch.export``; ``sizes`` are the conditions on input sizes."""

    compile_id: str
    function: str
    ops: int
    sizes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FrameCompilation:
    """One compilation of a frame.

    ``reason`` is a clause on the change that caused a recompilation; empty for the first compilation of a
    frame. ``start`` is in seconds since the epoch, 0 if unknown.
    """

    compile_id: str
    function: str
    span: Span
    start: float
    seconds: float
    reason: str
    caller: Span | None = None
    """The call in user code that caused the compilation, if known."""


@dataclass(frozen=True, slots=True)
class SizeCondition:
    """A condition on sizes that a compilation assumes due to the code at ``span``.

    ``text`` names the sizes as in user code (``x.shape[0] > 4``), ``expression`` by torch's symbols
    (``s77 > 4``). ``reason`` is torch's reason for a specialization. ``calls`` are the calls in torch that
    added the condition, the innermost last; ``cpp_stack`` is the text of the C++ stack.
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
    """The number of recompilations that failures of this guard caused."""
    callers: tuple[Span, ...] = ()
    """The calls of inlined functions in user code that led to ``span``, the innermost first."""


@dataclass(frozen=True, slots=True)
class FrameReport:
    """A compiled function of the user, with the function's resume functions.

    ``row`` is the row of the ``def``, below any decorators; ``qualname`` has the class: ``Block.forward``.
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
    """The number of kernel and library launches in the generated code; 0 if no code was generated."""
    versions: int = 0
    """The largest number of compilations of one frame that Dynamo would keep without a limit."""
    compilations: int = 0
    """The number of compilations that started, excluding those that a recompile limit prevented."""
    traced: tuple[GraphTraced, ...] = ()
    """The details of the function's graphs, in the order of the compilations."""
    cached: tuple[CacheState, ...] = ()
    """The outcomes of the graphs' lookups in the cache for code, in the order of the compilations."""
    schedules: tuple[CollectivesScheduled, ...] = ()
    """The collective operations in the code of each graph that has any."""
    estimates: tuple[RuntimeEstimated, ...] = ()
    """TorchInductor's runtime estimates for the code of the graphs, if torch was set to record them."""
    unfinished: bool = False
    """Whether the function's last compilation has not ended."""


@dataclass(frozen=True, slots=True)
class HeldTensors:
    """The tensors of a variable in one compilation, and the symbols in their sizes."""

    compile_id: str
    tensors: tuple[NamedTensor, ...]
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, eq=False)
class TensorName:
    """An assignment of tensors to a variable.

    ``span`` is the variable, including the annotation if the variable is ``annotated``. ``shown`` are the
    tensors of the newest compilation of each frame, ``held`` those of all compilations, in order.
    """

    span: Span
    annotated: bool
    statement: Span
    shown: tuple[NamedTensor, ...]
    held: tuple[HeldTensors, ...]


@dataclass(frozen=True, slots=True)
class NumberedGraph:
    """The graph of a frame, with a number to show to users.

    All compilations of a frame count as one graph. ``number`` is between 1 and ``total``, in the order of the
    frames.
    """

    number: int
    total: int
    function: str
    compile_ids: tuple[str, ...]
    limited: bool = False
    """Whether the frame reached a recompile limit: a call that no compilation fits runs eagerly."""


@dataclass(frozen=True, slots=True)
class GraphLines:
    """Consecutive statements that ran in the same way: in graphs, eagerly, or both.

    ``spans`` are whole statements, or the headers of compound statements. ``reasons`` say why they ran
    eagerly; empty if they did not.
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
    """The run of one rank: its end, its counts, whether it differs from most ranks."""

    rank: int
    status: Status | None
    seconds: float
    compilations: int
    graphs: int
    breaks: int
    recompiles: int
    differs: bool
    group: int
    """The number of the rank's group; ranks of a group do not differ, and group 0 is the largest."""
    usual: bool = False
    """Whether the rank represents most ranks: a report of several ranks shows this rank's graphs and code."""


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A compiled call that a run or a trace recorded, as an example call.

    ``text`` is the code of the call, for a comment above the definition. ``function`` is the qualified name
    of the definition; for a compiled ``forward``, that of the class. ``row`` is the row of the ``def`` or
    ``class``. A text that is not ``complete`` has ``...`` for unknown values.
    """

    function: str
    filename: str
    row: int
    text: str
    complete: bool


@dataclass(frozen=True, slots=True)
class Report:
    """The report of one run of a target."""

    target: str
    """The target's id: a path, ``path::name``, or a pytest node."""
    generation: int
    torch: str = ""
    status: Status | None = None
    """How the run ended; ``None`` until then."""
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    frames: tuple[FrameReport, ...] = ()
    graphs: tuple[CapturedGraph, ...] = ()
    """The captured graphs, in the order of their capture."""
    exports: tuple[ExportedProgram, ...] = ()
    """The exported programs; ``graphs`` has the graph of each."""
    codes: tuple[GeneratedCode, ...] = ()
    """The generated code, in the order of generation, if the run generated code."""
    artifacts: tuple[Artifact, ...] = ()
    """The stages of each graph between capture and code, in order."""
    records: tuple[RecordText, ...] = ()
    """The other texts of a trace, in order, if all records of the trace were read."""
    phases: tuple[CompilePhase, ...] = ()
    """The steps of the compiler, sorted by start; nested steps come after the step that contains them."""
    compilations: tuple[FrameCompilation, ...] = ()
    """All compilations of frames, in order."""
    tensors: tuple[TensorName, ...] = ()
    """The tensors that variables in compiled code hold, sorted by place."""
    speed: MeasuredSpeed | None = None
    """The speed of compiled calls, if the run measured it."""
    stages: tuple[StageChecked, ...] = ()
    """The results of the program and of each graph at each stage, if the run checked the stages."""
    unchecked: tuple[GraphUnchecked, ...] = ()
    """The graphs whose stages could not be checked."""
    noise: tuple[Noise, ...] = ()
    """Results of graphs that are rounding noise, if the stages found any."""
    reruns_skipped: bool = False
    """Whether the program did not run again to find a cause, because it connects to other programs."""
    results: tuple[Result, ...] = ()
    """The results of an analysis, in the order of its facts."""
    files: Mapping[str, SourceFile | None] = field(default_factory=dict, compare=False)
    """The workspace files that the program imported, with the text that ran if the report needs the text."""

    depth: Depth = "graph"
    """The depth of the run."""
    layer: Layer = ""
    """The analysis whose report this is; empty for the target's ordinary result."""
    sizes: tuple[SizeCondition, ...] = ()
    """The conditions on symbolic sizes, in the order of the traces."""
    graph_lines: tuple[GraphLines, ...] = ()
    """The statements in graphs, and statements of compiled functions that ran eagerly, sorted by place."""
    calls: tuple[SeenCall, ...] = ()
    """The compiled calls of the user's functions, in order."""

    caches: CacheUses = field(default_factory=CacheUses)
    """The lookups of graphs in the compiler's caches."""

    vllm: tuple[VllmGraph, ...] = ()
    """The graphs that vLLM split, with the sizes for which it compiled the parts."""
    ranks: tuple[RankSummary, ...] = ()
    """The ranks of the run, if there are several."""
    executed: tuple[str, ...] = ()
    """The compile ids of graphs in the order in which the graphs ran, if that was recorded."""
    dry: RanDry | None = None
    """Set if the run was a dry run, without data."""
    left_out: tuple[str, ...] = ()
    """The parts of the compiler that the program uses, but that did not run."""
    reaches_others: bool = False
    """Whether the program connected to a server or started another program."""
    ignored: tuple[Finding, ...] = ()
    """The findings that comments in the source ignore."""
    known: tuple[Finding, ...] = ()
    """The findings in the project's baseline; set only in an editor."""
    discarded: FilesDiscarded | None = None
    """Set if the files that the program wrote were discarded."""

    def of(self, kind: type[_R]) -> tuple[_R, ...]:
        """Return the results of an analysis of one type."""
        return tuple(item for item in self.results if isinstance(item, kind))

    @property
    def of_trace(self) -> bool:
        """Whether the report was read from a trace of a program that ran elsewhere."""
        return self.target.startswith(TRACE)

    @property
    def hidden(self) -> int:
        """The number of findings that a comment or the baseline hides."""
        return len(self.ignored) + len(self.known)

    def may_read(self, filename: str) -> bool:
        """Return whether Fullgraph may read a file that the report names.

        A log can name any file, so the report of a trace may name files that must not be read.
        """
        return not self.of_trace or filename in self.files

    @property
    def usual_rank(self) -> int | None:
        """The rank whose graphs, kernels and times a report of several ranks contains."""
        return next((rank.rank for rank in self.ranks if rank.usual), None)

    @property
    def repeatable(self) -> bool:
        """Whether the run can be repeated here: a single process, not a preview."""
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
        """Whether the whole compiler ran, so that compile times are realistic."""
        return self.depth in ("build", "times", "speed")
