"""Every message of Fullgraph that LSP does not have. Mirrored by ``extension/src/protocol.ts``.

Requests:
    ``fullgraph/targets`` ``TargetsParams`` -> ``TargetItem[]``: the programs that can run.
    ``fullgraph/suggestedTargets`` ``SuggestedTargetsParams`` -> ``SuggestedTargets``: what a file means.
    ``fullgraph/report`` ``ReportParams`` -> ``ReportItem | null``: the report of a target's last run.
    ``fullgraph/performance`` ``TargetParams`` -> ``PerformanceItem | null``: its times, graphs and kernels.
    ``fullgraph/counterparts`` ``CounterpartsParams`` -> ``Location[]``: the places that belong to a place.
    ``fullgraph/graphLines`` ``GraphLinesParams`` -> ``GraphLinesItem[]``: the graph that each line is in.
    ``fullgraph/atLine`` ``AtLineParams`` -> ``AtLineItem``: everything that is known of a line.
    ``fullgraph/guards`` ``GuardsParams`` -> ``GuardItem[]``: the guards of one function of a report.
    ``fullgraph/interpreter`` ``InterpreterParams`` -> ``InterpreterItem``: the Python that runs its targets.
    ``fullgraph/interpreters`` ``InterpretersParams`` -> ``InterpreterItem[]``: the Pythons to choose from.
    ``fullgraph/environment`` ``InterpreterParams`` -> ``string``: that Python and torch, for a bug report.
    ``fullgraph/bugReport`` ``TargetParams`` -> ``BugReportItem``: a failure, for PyTorch's issues.
    ``fullgraph/debugConfiguration`` ``DebugParams`` -> ``DebugItem``: the launch configuration for debugpy.
    ``fullgraph/devices`` -> ``DeviceItem[]``: the GPUs that kernels can be previewed for.
    ``fullgraph/tool`` ``ToolParams`` -> an object: what a tool for agents answers (docs/agents.md).
    ``workspace/textDocumentContent`` (LSP 3.18) for URIs of the schemes ``fullgraph-explanation``,
    ``fullgraph-profile`` and ``fullgraph-comparison``: Markdown, and ``fullgraph-kernel``: generated code and
    graphs, in the language of the file extension.
Notifications of the server, to a client with the capability ``experimental.fullgraphStatus``:
    ``fullgraph/status`` ``StatusParams``: the state of a target has changed.
To a client with the capability ``experimental.fullgraphOutput``; else it goes to standard error:
    ``fullgraph/output`` ``OutputParams``: a program has printed something.
Commands (``workspace/executeCommand``):
    ``fullgraph.run [target, DryRunOptions?]`` -> ``RunSummary``, once the run is over. Other runs:
    ``fullgraph.kernels [target, DryRunOptions?]`` -> ``RunSummary``: stops compilations when TorchInductor
    has written its code.
    The command of each other analysis, as in ``fullgraph.stages [target]`` -> ``RunSummary``: ``analyses/``
    has all. ``document`` of the answer of ``fullgraph.recompiles`` is the profile of recompilations.
    ``fullgraph.readTrace [path or URI, rank?]`` -> ``RunSummary``: makes a trace, or one of its ranks, a
    target, which is read again when it grows.
    ``fullgraph.traceDiff [target, target]`` -> ``string``: the URI of a document that compares two traces.
    ``fullgraph.minify [target, MinifyOptions?]`` -> ``MinifySummary``, once it is over.
    ``fullgraph.stop [target?]``, ``fullgraph.clear [target?]`` -> ``null``; all targets if none is given.
    ``fullgraph.raiseLimit [target]`` -> ``RunSummary``: runs a target again with five times its time limit,
    which it keeps until it is cleared.
    ``fullgraph.runOnSave [target, boolean]`` -> ``null``: whether a target runs again when a file is saved.
    ``fullgraph.addToBaseline [uri]`` -> ``null``: writes a finding, by the URI of its explanation, into the
    project's file of known findings.
    ``fullgraph.saveTarget [target]`` -> ``string``: adds a target to pyproject.toml, by an edit that the
    client makes, and returns its name there.
    A target is named by its id, or by the URI of a file, which means what ``Targets.meant`` says, or of a
    cell of a notebook, with which its program ends from then on.
Commands of the client, used if it lists them in ``experimental.commands.commands``:
    ``fullgraph.showExplanation [uri]``, ``fullgraph.showTarget [target]``,
    ``fullgraph.showSource [Location]``, ``fullgraph.openArtifact [uri]`` (a compiled form of a kernel, beside
    the kernel); a client with ``fullgraph.openRepro [uri]`` opens the repro of a ``MinifySummary`` itself.
In ``Diagnostic.data``: ``FindingData``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from fullgraph_compiler.facts import Severity
from lsprotocol import types
from pygls.protocol import LanguageServerProtocol, default_converter

from .analyses.registry import command_of
from .kinds import FindingKind
from .report.model import TimeKind
from .report.phases import Part
from .runs.slot import RunState
from .workspace.config import TargetKind

TARGETS = "fullgraph/targets"
SUGGESTED_TARGETS = "fullgraph/suggestedTargets"
REPORT = "fullgraph/report"
LAYERS = "fullgraph/layers"
PERFORMANCE = "fullgraph/performance"
COUNTERPARTS = "fullgraph/counterparts"
GRAPH_LINES = "fullgraph/graphLines"
AT_LINE = "fullgraph/atLine"
GUARDS = "fullgraph/guards"
INTERPRETER = "fullgraph/interpreter"
INTERPRETERS = "fullgraph/interpreters"
ENVIRONMENT = "fullgraph/environment"
BUG_REPORT = "fullgraph/bugReport"
DEBUG_CONFIGURATION = "fullgraph/debugConfiguration"
DEVICES = "fullgraph/devices"
TOOL = "fullgraph/tool"
STATUS = "fullgraph/status"
OUTPUT = "fullgraph/output"

RUN = "fullgraph.run"
STAGES = command_of("stages")
RECIPES = command_of("recipes")
RECOMPILES = command_of("recompiles")
KERNELS = command_of("kernels")
ASSEMBLY = command_of("build")
READ_TRACE = "fullgraph.readTrace"
TRACE_DIFF = "fullgraph.traceDiff"
MINIFY = command_of("minify")
TRY_FIXES = "fullgraph.tryFixes"
STOP = "fullgraph.stop"
CLEAR = "fullgraph.clear"
RAISE_LIMIT = "fullgraph.raiseLimit"
RUN_ON_SAVE = "fullgraph.runOnSave"
SHOW_RESULTS = "fullgraph.showResults"
ADD_TO_BASELINE = "fullgraph.addToBaseline"
SAVE_TARGET = "fullgraph.saveTarget"

SHOW_EXPLANATION = "fullgraph.showExplanation"
SHOW_TARGET = "fullgraph.showTarget"
SHOW_SOURCE = "fullgraph.showSource"
OPEN_ARTIFACT = "fullgraph.openArtifact"
OPEN_REPRO = "fullgraph.openRepro"

EXPLANATION_SCHEME = "fullgraph-explanation"
PROFILE_SCHEME = "fullgraph-profile"
COMPARISON_SCHEME = "fullgraph-comparison"
KERNEL_SCHEME = "fullgraph-kernel"


LineSectionKind: TypeAlias = Literal[
    "findings", "graphs", "shapes", "guards", "sizes", "kernels", "compilations"
]


@attrs.frozen
class TargetsParams:
    """A request for the targets of the open folders, or of one document."""

    text_document: types.TextDocumentIdentifier | None = None


@attrs.frozen
class TargetItem:
    """A program that can run."""

    id: str
    """The argument for ``fullgraph.run``."""
    label: str
    kind: TargetKind
    uri: str
    folder: str
    """The URI of the folder that it runs for."""
    configured: bool
    """Whether it comes from the configuration rather than from discovery."""
    stale: bool
    """Whether a file that it depends on has changed since it ran."""
    run_on_save: bool
    range: types.Range | None = None
    """The function, class, test or main guard, where the target is not a whole file."""
    selection_range: types.Range | None = None
    """Its name, or the first line of the main guard."""
    state: RunState | None = None
    """The state of its run, or of its last one; absent if it did not run."""


@attrs.frozen
class SuggestedTargetsParams:
    """A request for the targets that analyze a document."""

    text_document: types.TextDocumentIdentifier


@attrs.frozen
class SuggestedTargets:
    """The targets that analyze a document, the likeliest first."""

    targets: list[TargetItem]
    sure: bool
    """Whether nobody needs to be asked: the first one is meant, or the file by its URI if there is none."""


@attrs.frozen
class ReportParams:
    """A request for the report of a target, or of one of its layers."""

    target: str
    layer: str | None = None
    """The ``layer`` of a ``RunSummary`` or ``LayerItem``; absent for the target's own result."""


@attrs.frozen
class GraphItem:
    """One captured graph."""

    compile_id: str
    ops: int
    location: types.Location | None = None
    """The user's line that its first operation comes from."""


@attrs.frozen
class FrameItem:
    """One function of the user's code with all its compilations."""

    function: str
    location: types.Location
    graphs: list[GraphItem]
    ops: int
    breaks: int
    guards: int
    recompiles: int
    seconds: float
    findings: list[int]
    """The indices of the report's findings that belong to it."""


@attrs.frozen
class MinifyOptions:
    """The choice of a target's failure; the first one, if neither field is given."""

    fault: int = 0
    """The number of its fault; 0 before its stage was determined."""
    compile_id: str = ""
    """The graph that fails; empty if unknown."""


@attrs.frozen
class FindingItem:
    """A finding of a report."""

    kind: FindingKind
    kind_name: str
    """The name of its kind, in the plural: ``graph breaks``."""
    code: str
    severity: Severity
    message: str
    count: int
    explanation: str
    """The URI of its full explanation."""
    minify: MinifyOptions | None = None
    """The argument for ``fullgraph.minify``, for a failure that can be minified."""
    location: types.Location | None = None
    """``None`` for a finding of the run as a whole."""


@attrs.frozen
class KernelItem:
    """A piece of generated code: a kernel, or the whole code of a graph."""

    uri: str
    name: str
    graph: str
    """The compile id and the pass (forward, backward) of its graph."""
    operators: str
    """The operators that it computes; empty for the whole code."""
    locations: list[types.Location]
    """The user's lines that it computes."""


@attrs.frozen
class ArtifactItem:
    """A document of a graph: one of its forms, its code, a kernel, or a compiled form of a kernel."""

    uri: str
    name: str
    """The title: ``Graph, transformed``, or a kernel's name."""
    file: str
    """The name of its file, with folders: ``0_0_forward/ir_pre_fusion.txt``."""
    compile_id: str
    phase: str
    """``forward``, ``backward``, ``inference``, or empty for a document of all of them."""
    locations: list[types.Location]
    """The user's lines behind a kernel; empty for other documents, which are of the whole graph."""
    previous: str | None = None
    """The URI of the same document of the run before, if its text was different."""


@attrs.frozen
class RankItem:
    """The summary of one of several ranks of a report."""

    rank: int
    compilations: int
    graphs: int
    breaks: int
    recompiles: int
    seconds: float
    differs: bool
    """Whether it behaves unlike most others."""
    group: int
    """The number of its group: the ranks that are alike in all that is compared."""


@attrs.frozen
class DryItem:
    """A note that the run was a dry one, without data."""

    label: str
    """``dry run``, ``preview for h100``."""
    sentence: str
    unknown: list[str]
    """Sentences about what a run without data cannot determine."""


@attrs.frozen
class ReportItem:
    """The report of a target's last run, partial while that is still on."""

    target: str
    generation: int
    torch: str
    seconds: float
    frames: list[FrameItem]
    findings: list[FindingItem]
    kernels: list[KernelItem]
    artifacts: list[ArtifactItem]
    """In the order of the compiler's steps for each graph; kernels and their compiled forms come last."""
    ranks: list[RankItem]
    """Empty for a program of one process."""
    rank_groups: list[str]
    """The ranks of each group in words, by its number: ``Ranks 0-511``."""
    dry: DryItem | None = None
    """Absent if the run had its data."""
    ignored: int | None = None
    """The number of findings that comments in the source ignore; absent if there are none."""
    left_out: str | None = None
    """The parts of the compiler that were not run, as a note; absent if there are none."""
    files: str | None = None
    """A sentence that the run changed no file, with any limits of that; absent if it could change files."""


@attrs.frozen
class LayerItem:
    """A result that stands beside the one of an ordinary run: a preview, a profile, times."""

    layer: str
    """Its kind: there is one of each."""
    label: str
    """``Preview for h100``."""
    stale: bool
    """Whether a file that it depends on has changed since its run."""
    report: ReportItem
    state: RunState | None = None
    """How its run ended; absent while it is on."""
    verdict: str | None = None
    """What it found, in a sentence; absent if the report's numbers say it."""


@attrs.frozen
class CounterpartsParams:
    """A request for the places in other documents that belong to a place in source or generated code."""

    text_document: types.TextDocumentIdentifier
    position: types.Position
    among: list[str]
    """The URIs of those other documents."""


@attrs.frozen
class PhaseItem:
    """A step of the compiler, with torch's name."""

    name: str
    start: float
    """Seconds since the first step began."""
    seconds: float
    compile_id: str
    depth: int
    """The number of steps around it."""
    part: Part
    """The part of the compiler that it belongs to."""


@attrs.frozen
class CompilationItem:
    """One compilation of a function, or of a part of it after a graph break."""

    compile_id: str
    function: str
    location: types.Location
    start: float
    """Seconds since the first step of the compiler began."""
    seconds: float
    reason: str
    """A sentence about the guard that failed before it; empty for a first compilation."""


@attrs.frozen
class KernelRow:
    """A kernel or library function, with the total cost of its launches in one piece of code."""

    uri: str
    """The URI of its document; for a library function that of the whole code."""
    name: str
    language: str
    compile_id: str
    phase: str
    operators: str
    locations: list[types.Location]
    launches: int
    arguments: str
    """The arguments of its first launch."""
    grid: str
    read: int | None = None
    """Bytes, computed from the shapes."""
    written: int | None = None
    flops: int | None = None
    seconds: float | None = None
    """The least time on this GPU (the roofline)."""
    config: str | None = None
    """The configuration that autotuning chose, or one of its candidates."""
    registers: int | None = None
    spills: int | None = None
    shared: int | None = None
    """Shared memory of a block, in bytes."""
    problem: str | None = None
    """Why it was not compiled."""


@attrs.frozen
class OperationItem:
    """An operation of a lowered graph."""

    name: str
    operator: str
    """``aten.mm``."""
    inputs: list[str]
    """Names of operations, and of inputs of the graph."""
    kernel: int | None = None
    """The launch that computes it, counted from 0 in the graph; absent for an operation without cost."""
    location: types.Location | None = None


@attrs.frozen
class PictureItem:
    """A lowered graph to draw: operations in their order, grouped by the launch that computes them."""

    name: str
    """Its compile id and pass."""
    operations: list[OperationItem]
    kernels: list[str]
    """The names of the launches."""
    documents: list[str]
    """The URI of each launch's kernel; empty for a library function."""


@attrs.frozen
class TimesItem:
    """The times in seconds of the program in a process of its own, with cold or warm compiler caches."""

    cache: str
    seconds: float
    compiling: float


@attrs.frozen
class CacheCountItem:
    """A cache of the compiler, and the number of graphs by what came of them in it."""

    name: str
    hits: int
    misses: int
    bypasses: int


@attrs.frozen
class CacheUseItem:
    """What is known of why a cache did not have some graphs; ``source`` is the first line that differs."""

    label: str
    sentences: str
    location: types.Location
    source: types.Location | None = None


@attrs.frozen
class CachesItem:
    """What came of graphs in the compiler's caches; ``warm`` says that the program had run just before."""

    warm: bool
    counts: list[CacheCountItem]
    uses: list[CacheUseItem]
    notes: list[str]
    """What was read of earlier runs beside graphs, as sentences."""


@attrs.frozen
class SpeedPartItem:
    """A part of the time of a compiled call, in seconds."""

    kind: TimeKind
    label: str
    seconds: float


@attrs.frozen
class SpeedCauseItem:
    """Something that takes time of a compiled call, with the seconds that could go without it."""

    message: str
    hint: str
    """What to do; empty if nothing is known."""
    gain: float
    location: types.Location | None = None


@attrs.frozen
class SpeedItem:
    """The measured speed of compiled calls, beside uncompiled ones, in seconds of one call."""

    verdict: str
    compiled: float
    """0 if nothing could be measured."""
    eager: float
    low: float
    """Compiled calls are so many times as fast as uncompiled ones at least, ``high`` times at most (95 %)."""
    high: float
    samples: int
    parts: list[SpeedPartItem]
    """In the order of a call."""
    causes: list[SpeedCauseItem]
    """What would bring most comes first."""
    notes: list[str]
    """Sentences about memory, and about the time between calls."""


@attrs.frozen
class PerformanceItem:
    """The part of a report about speed: compile time by step, and the kernels of the compiled code."""

    target: str
    label: str
    generation: int
    torch: str
    seconds: float
    complete: bool
    """Whether kernels were built: otherwise the times are without that."""
    phases: list[PhaseItem]
    """In the order of their start: inner steps follow the step around them."""
    compilations: list[CompilationItem]
    kernels: list[KernelRow]
    pictures: list[PictureItem]
    times: list[TimesItem]
    findings: list[FindingItem]
    """The findings about speed."""
    dry: DryItem | None = None
    """Absent if the run had its data."""
    layer: str | None = None
    """The layer that it is of; absent for the target's own result."""
    speed: SpeedItem | None = None
    """Absent if it was not measured."""
    caches: CachesItem | None = None
    """Absent if no cache was used."""


@attrs.frozen
class ExcerptItem:
    """Lines of the source from the line ``start`` on; ``first`` and ``last`` are those of a finding."""

    start: int
    lines: list[str]
    first: int
    last: int


@attrs.frozen
class NoteItem:
    """A note on a finding, such as its reason."""

    label: str
    text: str


@attrs.frozen
class ToldFindingItem:
    """A finding with all that an editor shows of it in other places."""

    finding: FindingItem
    place: str
    """``model.py:12:9``; empty for a finding of the run as a whole."""
    notes: list[NoteItem]
    excerpt: ExcerptItem | None = None
    """Absent if the line is in no file of the workspace."""


@attrs.frozen
class TraceItem:
    """The rest of a trace, for a page of its own. It is written to a file, and no message."""

    report: ReportItem
    findings: list[ToldFindingItem]
    texts: dict[str, str]
    """The texts of documents, by URI."""
    rank: int | None = None
    """Of several ranks, the one whose graphs, kernels and times are shown."""


@attrs.frozen
class GraphLinesParams:
    """A request for the graph of each line of a document, and for the lines that ran eagerly."""

    text_document: types.TextDocumentIdentifier


@attrs.frozen
class GraphLinesItem:
    """Consecutive lines that ran in the same way. Lines that add nothing to a graph are left out."""

    start_line: int
    end_line: int
    """The last line."""
    graphs: list[int]
    """The numbers of their graphs, counted from 1 in the order of the program."""
    label: str
    """Descriptions of those graphs, as Markdown, a line each; empty if there are none."""
    eager: bool
    """Whether they ran eagerly, always or sometimes."""
    reason: str
    """The causes of that, as Markdown, a line each."""


@attrs.frozen
class AtLineParams:
    """A request for everything that is known of a line."""

    text_document: types.TextDocumentIdentifier
    position: types.Position
    """A place in the line; its column does not matter."""


@attrs.frozen
class LineEntry:
    """One thing that is known of a line."""

    label: str
    """Plain text, as is ``description``, which goes on with it."""
    description: str = ""
    details: str = ""
    """All that is known of it, as Markdown; empty if that is the label and the description."""
    notes: list[str] = attrs.field(factory=list)
    """Plain sentences that belong below it: the reason of a finding, then what to do."""
    severity: Severity | None = None
    """That of a finding."""
    location: types.Location | None = None
    """The place that it leads to: in the source, or in generated code."""
    explanation: str | None = None
    """The URI of the full explanation of a finding."""


@attrs.frozen
class LineSection:
    """The things of one kind that are known of a line."""

    kind: LineSectionKind
    title: str
    entries: list[LineEntry]
    description: str = ""


@attrs.frozen
class AtLineItem:
    """Everything that is known of a line."""

    sections: list[LineSection]
    nothing: str | None = None
    """A sentence that says why there are no sections."""


@attrs.frozen
class GuardsParams:
    """A request for the guards of one function of a report."""

    target: str
    generation: int
    frame: int
    """Its index in ``ReportItem.frames``."""


@attrs.frozen
class GuardItem:
    """A condition under which a compiled function may be used again."""

    name: str
    """The guarded expression, as the user would write it; empty for ambient state."""
    kind: str
    expected: str
    failures: int
    ambient: bool
    """Whether it guards state of the process, such as the grad mode, rather than a value."""
    origin: str = ""
    """The kind of the value: a parameter, a buffer, a global; empty if unknown."""
    location: types.Location | None = None
    """The place of the value's first use."""
    origin_location: types.Location | None = None
    """The definition of the value: the parameter, the assignment of the attribute."""
    code: str = ""
    """torch's own check."""


@attrs.frozen
class InterpreterParams:
    """A request about the Python that runs the targets of a file or folder."""

    uri: str


@attrs.frozen
class InterpretersParams:
    """A request for the Pythons that can be chosen for a file or folder; the first one is in use."""

    uri: str
    known: list[str] | None = None
    """The paths of those that the client knows of."""


@attrs.frozen
class InterpreterItem:
    """A Python, and whether targets can run with it."""

    path: str
    origin: str
    """The reason for its choice: ``setting fullgraph.interpreter``, ``.venv``."""
    python: str | None = None
    """Its version."""
    torch: str | None = None
    """The version of its torch."""
    problem: str | None = None
    """Sentences that say why targets cannot run with it, and what to do."""


@attrs.frozen
class StatusParams:
    """The state of a target has changed."""

    target: str
    generation: int
    """The number of the last run that began; 0 if none has."""
    stale: bool
    run_on_save: bool
    state: RunState | None = None
    """Absent once the target was cleared."""


@attrs.frozen
class OutputParams:
    """A program has printed something."""

    target: str
    label: str
    """The target's."""
    generation: int
    """The number of the run."""
    text: str
    """Any part of the output, on either standard stream."""


@attrs.frozen
class DryRunOptions:
    """Options that make one run of a target a dry run: with tensors that have no data."""

    dry_run: bool | None = None
    device: str | None = None
    """The ``name`` of a ``DeviceItem``: the run is dry, and its kernels are for that GPU."""


@attrs.frozen
class DeviceItem:
    """A GPU that kernels can be previewed for without it."""

    name: str
    gpu: str
    """The driver's name for it."""
    description: str
    """Compute capability, SMs, memory."""


@attrs.frozen
class RunSummary:
    """The answer to ``fullgraph.run``."""

    target: str
    status: str
    """The status of the run; ``cancelled`` also if it was stopped before it began."""
    findings: int
    compiled: bool = False
    """Whether a function was compiled."""
    ignored: int | None = None
    """The number of findings that comments in the source ignore; absent if there are none."""
    document: str | None = None
    """The URI of the run's result, if that is a document, such as a profile of recompilations."""
    layer: str | None = None
    """The layer that the run made; absent for an ordinary run."""


@attrs.frozen
class MinifySummary:
    """The answer to ``fullgraph.minify``."""

    target: str
    status: str
    """The status at the end."""
    nodes: int
    nodes_at_first: int
    queries: int
    seconds: float
    reproduces: bool
    """Whether the repro, run by a fresh interpreter, fails in the same way."""
    message: str
    """A summary in one sentence, which the server has shown."""
    repro: str | None = None
    """The URI of the repro, if there is one; the smallest so far if minifying was stopped."""


@attrs.frozen
class TargetParams:
    """A request about a target, by its id or a file's URI; a repro is a file, too."""

    target: str


@attrs.frozen
class ToolParams:
    """A call of a tool for agents, with its arguments as `fullgraph mcp` describes them."""

    name: str
    arguments: dict[str, Any]


@attrs.frozen
class BugReportItem:
    """A bug report, or why there is none."""

    text: str | None = None
    """Markdown in the form of PyTorch's issue template."""
    holds: str | None = None
    """A sentence about the user's data in the text, to show before copying it."""
    problem: str | None = None


@attrs.frozen
class DebugParams:
    """A request for the launch configuration of a target, with torch.compile or without."""

    target: str
    uncompiled: bool = False


@attrs.frozen
class DebugConfiguration:
    """A launch configuration of debugpy."""

    name: str
    type: str
    request: str
    args: list[str]
    cwd: str
    env: dict[str, str]
    python: str
    just_my_code: bool
    sub_process: bool
    console: str
    program: str | None = None
    module: str | None = None


@attrs.frozen
class DebugItem:
    """The launch configuration of a program, or the problem that prevents it."""

    configuration: DebugConfiguration | None = None
    problem: str | None = None


@attrs.frozen
class FindingData:
    """The data of a diagnostic, for later requests about it."""

    target: str
    generation: int
    kind: FindingKind
    count: int
    rendered: str
    """The full explanation, as plain text."""
    explanation: str
    """The URI of the full explanation."""
    minify: MinifyOptions | None = None
    """The argument for ``fullgraph.minify``, for a failure that can be minified."""


def _request(method: str, params: type[Any]) -> type[Any]:
    """Make the class of a whole request, as pygls needs it."""
    return attrs.make_class(
        params.__name__.removesuffix("Params") + "Request",
        {
            "id": attrs.field(type=Any),
            "params": attrs.field(type=params),
            "method": attrs.field(type=str, default=method),
            "jsonrpc": attrs.field(type=str, default="2.0"),
        },
    )


_PARAMS: dict[str, type[Any]] = {
    TARGETS: TargetsParams,
    SUGGESTED_TARGETS: SuggestedTargetsParams,
    REPORT: ReportParams,
    LAYERS: TargetParams,
    PERFORMANCE: ReportParams,
    COUNTERPARTS: CounterpartsParams,
    GRAPH_LINES: GraphLinesParams,
    AT_LINE: AtLineParams,
    GUARDS: GuardsParams,
    INTERPRETER: InterpreterParams,
    INTERPRETERS: InterpretersParams,
    ENVIRONMENT: InterpreterParams,
    BUG_REPORT: TargetParams,
    DEBUG_CONFIGURATION: DebugParams,
    TOOL: ToolParams,
}
_REQUESTS = {method: _request(method, params) for method, params in _PARAMS.items()}

MESSAGES: tuple[type[Any], ...] = (
    TargetsParams,
    TargetItem,
    SuggestedTargetsParams,
    SuggestedTargets,
    ReportParams,
    GraphItem,
    FrameItem,
    MinifyOptions,
    FindingItem,
    KernelItem,
    ArtifactItem,
    ReportItem,
    LayerItem,
    CounterpartsParams,
    PhaseItem,
    CompilationItem,
    KernelRow,
    OperationItem,
    PictureItem,
    TimesItem,
    PerformanceItem,
    ExcerptItem,
    NoteItem,
    ToldFindingItem,
    TraceItem,
    DryItem,
    DryRunOptions,
    DeviceItem,
    GraphLinesParams,
    GraphLinesItem,
    AtLineParams,
    LineEntry,
    LineSection,
    AtLineItem,
    GuardsParams,
    GuardItem,
    InterpreterParams,
    InterpretersParams,
    InterpreterItem,
    StatusParams,
    OutputParams,
    RunSummary,
    MinifySummary,
    TargetParams,
    ToolParams,
    BugReportItem,
    DebugParams,
    DebugConfiguration,
    DebugItem,
    FindingData,
)
"""Every class of this module that crosses the wire."""


class FullgraphProtocol(LanguageServerProtocol):
    """LSP with the messages of this module."""

    @lru_cache  # noqa: B019 - one protocol lives as long as the process
    def get_message_type(self, method: str) -> type[Any] | None:
        """Return the type of a request or notification."""
        return _REQUESTS.get(method) or super().get_message_type(method)


Unstructure: TypeAlias = Callable[[Any], Mapping[str, Any]]
"""A function that makes the JSON object of a message."""


def create_converter(wrapped: Callable[[type[Any], Unstructure], Unstructure] | None = None) -> Converter:
    """Create the converter of pygls with hooks for these messages: camel case, absent values left out.

    ``wrapped`` returns what makes the JSON object of one of these classes in place of the usual function.

    A value of another type is an error: cattrs alone would make a text of a number.
    """
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    for kind in (str, int, bool):
        converter.register_structure_hook(kind, _exact)

    @converter.register_structure_hook_factory(_is_list)
    def exact_list(kind: Any) -> Callable[[Any, Any], list[Any]]:
        (item,) = get_args(kind)
        structure = converter.get_structure_hook(item)

        def hook(value: Any, _: Any) -> list[Any]:
            return [structure(each, item) for each in _exact(value, list)]

        return hook

    for cls in MESSAGES:
        attrs.resolve_types(cls)
        names = {
            field.name: override(rename=camel_case(field.name), omit_if_default=field.default is None)
            for field in attrs.fields(cls)
        }
        # mypy cannot match the keywords of a mapping of overrides.
        hook = make_dict_unstructure_fn(cls, converter, **names)  # type: ignore[arg-type]
        converter.register_unstructure_hook(cls, wrapped(cls, hook) if wrapped else hook)
        if cls in _PARAMS.values():
            converter.register_structure_hook(cls, make_dict_structure_fn(cls, converter, **names))  # type: ignore[arg-type]
    return converter


def _is_list(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin in (list, Sequence)


def _exact(value: Any, kind: type[Any]) -> Any:
    if issubclass(kind, Enum):
        return kind(value)
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}")
    return value


def camel_case(name: str) -> str:
    """Return the name that a field has on the wire."""
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)
