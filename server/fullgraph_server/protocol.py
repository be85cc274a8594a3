"""Every message of Fullgraph that LSP does not have. Mirrored by ``extension/src/protocol.ts``.

Requests:
    ``fullgraph/targets`` ``TargetsParams`` -> ``TargetItem[]``: what can be run.
    ``fullgraph/report`` ``ReportParams`` -> ``ReportItem | null``: what the last run of a target told.
    ``fullgraph/performance`` ``TargetParams`` -> ``PerformanceItem | null``: its times, graphs and kernels.
    ``fullgraph/counterparts`` ``CounterpartsParams`` -> ``Location[]``: what belongs to a place.
    ``fullgraph/graphLines`` ``GraphLinesParams`` -> ``GraphLinesItem[]``: the graph that each line is in.
    ``fullgraph/guards`` ``GuardsParams`` -> ``GuardItem[]``: the guards of one function of a report.
    ``fullgraph/interpreter`` ``InterpreterParams`` -> ``InterpreterItem``: the Python that runs its targets.
    ``fullgraph/environment`` ``InterpreterParams`` -> ``string``: that Python and torch, for a bug report.
    ``fullgraph/bugReport`` ``TargetParams`` -> ``BugReportItem``: a failure, for PyTorch's issues.
    ``fullgraph/debugConfiguration`` ``DebugParams`` -> ``DebugItem``: how debugpy starts it.
    ``fullgraph/devices`` -> ``DeviceItem[]``: the GPUs that kernels can be previewed for.
    ``workspace/textDocumentContent`` (LSP 3.18) for URIs of the schemes ``fullgraph-explanation``,
    ``fullgraph-profile`` and ``fullgraph-comparison``: Markdown, and ``fullgraph-kernel``: generated code and
    what it came from, in the language that its name tells.
Notifications of the server, to a client with the capability ``experimental.fullgraphStatus``:
    ``fullgraph/status`` ``StatusParams``: the state of a target has changed.
Commands (``workspace/executeCommand``):
    ``fullgraph.run [target, DryRunOptions?]`` -> ``RunSummary``, once the run is over.
    ``fullgraph.stages [target]`` -> ``RunSummary``: the same, through the stages of the compiler.
    ``fullgraph.recipes [target]`` -> ``RunSummary``: the same, with one part of it off after the other.
    ``fullgraph.recompiles [target]`` -> ``RunSummary``: the same, with one compilation kept of each function;
    its ``document`` tells what was compiled again.
    ``fullgraph.frozen [target]`` -> ``RunSummary``: the same, without a compilation after the warm-up.
    ``fullgraph.kernels [target, DryRunOptions?]`` -> ``RunSummary``: the same, until TorchInductor has
    written its code.
    ``fullgraph.assembly [target]`` -> ``RunSummary``: the same, and all kernels are built.
    ``fullgraph.compileTimes [target]`` -> ``RunSummary``: the same, with cold and then with warm caches.
    ``fullgraph.readTrace [path or URI, rank?]`` -> ``RunSummary``: a trace, or one of its ranks, is a target
    from now on; it is read again by itself when it grows.
    ``fullgraph.traceDiff [target, target]`` -> ``string``: the URI of a document that compares two traces.
    ``fullgraph.minify [target, MinifyOptions?]`` -> ``MinifySummary``, once it is over.
    ``fullgraph.stop [target?]``, ``fullgraph.clear [target?]`` -> ``null``; of all targets without one.
    ``fullgraph.runOnSave [target, boolean]`` -> ``null``: whether a target runs again when a file is saved.
    A target is named by its id or by a file's URI.
Commands of the client, used where it names them in ``experimental.commands.commands``:
    ``fullgraph.showExplanation [uri]``, ``fullgraph.showTarget [target]``,
    ``fullgraph.showSource [Location]``, ``fullgraph.openArtifact [uri]`` (what a kernel was compiled to,
    beside the kernel); ``fullgraph.openRepro [uri]`` says that it opens the repro of a
    ``MinifySummary`` itself.
In ``Diagnostic.data``: ``FindingData``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from fullgraph_compiler.facts import Severity
from lsprotocol import types
from pygls.protocol import LanguageServerProtocol, default_converter

from .report.model import FindingKind
from .report.phases import Part
from .runs.slot import RunState
from .workspace.config import TargetKind

TARGETS = "fullgraph/targets"
REPORT = "fullgraph/report"
PERFORMANCE = "fullgraph/performance"
COUNTERPARTS = "fullgraph/counterparts"
GRAPH_LINES = "fullgraph/graphLines"
GUARDS = "fullgraph/guards"
INTERPRETER = "fullgraph/interpreter"
ENVIRONMENT = "fullgraph/environment"
BUG_REPORT = "fullgraph/bugReport"
DEBUG_CONFIGURATION = "fullgraph/debugConfiguration"
DEVICES = "fullgraph/devices"
STATUS = "fullgraph/status"

RUN = "fullgraph.run"
STAGES = "fullgraph.stages"
RECIPES = "fullgraph.recipes"
RECOMPILES = "fullgraph.recompiles"
FROZEN = "fullgraph.frozen"
KERNELS = "fullgraph.kernels"
ASSEMBLY = "fullgraph.assembly"
COMPILE_TIMES = "fullgraph.compileTimes"
READ_TRACE = "fullgraph.readTrace"
TRACE_DIFF = "fullgraph.traceDiff"
MINIFY = "fullgraph.minify"
STOP = "fullgraph.stop"
CLEAR = "fullgraph.clear"
RUN_ON_SAVE = "fullgraph.runOnSave"

SHOW_EXPLANATION = "fullgraph.showExplanation"
SHOW_TARGET = "fullgraph.showTarget"
SHOW_SOURCE = "fullgraph.showSource"
OPEN_ARTIFACT = "fullgraph.openArtifact"
OPEN_REPRO = "fullgraph.openRepro"

EXPLANATION_SCHEME = "fullgraph-explanation"
PROFILE_SCHEME = "fullgraph-profile"
COMPARISON_SCHEME = "fullgraph-comparison"
KERNEL_SCHEME = "fullgraph-kernel"


@attrs.frozen
class TargetsParams:
    """Asks for the targets of the open folders, or of one document."""

    text_document: types.TextDocumentIdentifier | None = None


@attrs.frozen
class TargetItem:
    """Something that can be run."""

    id: str
    """What ``fullgraph.run`` takes."""
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
    """What it does, or how its last run ended; absent if it did not run."""


@attrs.frozen
class ReportParams:
    """Asks for what the last run of a target told."""

    target: str


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
    """The report's findings that belong to it."""


@attrs.frozen
class MinifyOptions:
    """Which failure of a target is meant; the first one, if neither is given."""

    fault: int = 0
    """The number of its fault; 0 if no stage was found yet."""
    compile_id: str = ""
    """The graph that fails; empty if that is not known."""


@attrs.frozen
class FindingItem:
    """What a person should look at."""

    kind: FindingKind
    code: str
    severity: Severity
    message: str
    count: int
    explanation: str
    """The URI of its full explanation."""
    minify: MinifyOptions | None = None
    """What ``fullgraph.minify`` takes, for a failure that can be minified."""
    location: types.Location | None = None
    """``None`` for one of the run, which has no place in a file."""


@attrs.frozen
class KernelItem:
    """A piece of generated code: a kernel, or the whole of what was written for a graph."""

    uri: str
    name: str
    graph: str
    """The compile id of its graph, and which pass it is of."""
    operators: str
    """What it computes; empty for the whole code."""
    locations: list[types.Location]
    """The user's lines that it computes."""


@attrs.frozen
class ArtifactItem:
    """A document of a graph: a form that it took, its code, a kernel, what that was compiled to."""

    uri: str
    name: str
    """What it is, in words: ``Graph, transformed``, a kernel's name."""
    file: str
    """The name of its file, with folders: ``0_0_forward/ir_pre_fusion.txt``."""
    compile_id: str
    phase: str
    """``forward``, ``backward``, ``inference``, or empty for what is of all of them."""
    locations: list[types.Location]
    """The user's lines behind a kernel; none of other documents, which are of the whole graph."""
    previous: str | None = None
    """The URI of the same document of the run before, if it said something else."""


@attrs.frozen
class RankItem:
    """One of several ranks that a report is of."""

    rank: int
    compilations: int
    graphs: int
    breaks: int
    recompiles: int
    seconds: float
    differs: bool
    """Whether most others are not like it."""


@attrs.frozen
class DryItem:
    """That a run had no data, and what it cannot tell for that."""

    label: str
    """``dry run``, ``preview for h100``."""
    sentence: str
    unknown: list[str]


@attrs.frozen
class ReportItem:
    """What the last run of a target told, so far if it is still on."""

    target: str
    generation: int
    torch: str
    seconds: float
    frames: list[FrameItem]
    findings: list[FindingItem]
    kernels: list[KernelItem]
    artifacts: list[ArtifactItem]
    """In the order in which each graph becomes code; kernels and their compiled forms come last."""
    ranks: list[RankItem]
    """Empty for a program of one process."""
    dry: DryItem | None = None
    """Absent if it ran with its data."""
    files: str | None = None
    """Says that the run changed no file, and how far that holds; absent if it could change some."""


@attrs.frozen
class CounterpartsParams:
    """Asks which places of other documents belong to a place in a source file, or in generated code."""

    text_document: types.TextDocumentIdentifier
    position: types.Position
    among: list[str]
    """The URIs of the documents that are asked about."""


@attrs.frozen
class PhaseItem:
    """A step of the compiler, by torch's name for it."""

    name: str
    start: float
    """In seconds since the first one began."""
    seconds: float
    compile_id: str
    depth: int
    """How many steps it is within."""
    part: Part
    """Which part of the compiler it is of."""


@attrs.frozen
class CompilationItem:
    """One compilation of a function, or of a part of it after a graph break."""

    compile_id: str
    function: str
    location: types.Location
    start: float
    """In seconds since the first step of the compiler began."""
    seconds: float
    reason: str
    """The guard that failed before it, in a sentence; empty for a first compilation."""


@attrs.frozen
class KernelRow:
    """A kernel, or a library function, and what all its launches in one piece of code cost together."""

    uri: str
    """Its document; that of the whole code for a library function."""
    name: str
    language: str
    compile_id: str
    phase: str
    operators: str
    locations: list[types.Location]
    launches: int
    arguments: str
    """Of its first launch."""
    grid: str
    read: int | None = None
    """Bytes, as the shapes tell."""
    written: int | None = None
    flops: int | None = None
    seconds: float | None = None
    """The least time that this GPU needs for it (the roofline)."""
    config: str | None = None
    """What autotuning chose, or one of those that it would try."""
    registers: int | None = None
    spills: int | None = None
    shared: int | None = None
    """Bytes of shared memory of a block."""
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
    """The launch that computes it, counted from 0 in the graph; absent for what costs nothing."""
    location: types.Location | None = None


@attrs.frozen
class PictureItem:
    """A lowered graph to be drawn: operations in their order, in groups by the launch that computes them."""

    name: str
    """Its compile id, and which pass it is of."""
    operations: list[OperationItem]
    kernels: list[str]
    """The names of the launches."""
    documents: list[str]
    """The URI of each launch's kernel; empty for a library function."""


@attrs.frozen
class TimesItem:
    """How long the program takes in a process of its own, its compiler caches cold or warm."""

    cache: str
    seconds: float
    compiling: float


@attrs.frozen
class PerformanceItem:
    """What a run tells of speed: where compile time went, and what the compiled code consists of."""

    target: str
    label: str
    generation: int
    torch: str
    seconds: float
    complete: bool
    """Whether all of the compiler ran: else the times are without building kernels."""
    phases: list[PhaseItem]
    """In the order of their start: those within a step follow it."""
    compilations: list[CompilationItem]
    kernels: list[KernelRow]
    pictures: list[PictureItem]
    times: list[TimesItem]
    findings: list[FindingItem]
    """Those about speed."""
    dry: DryItem | None = None
    """Absent if it ran with its data."""


@attrs.frozen
class GraphLinesParams:
    """Asks which graph each line of a document is in, and which ran eagerly."""

    text_document: types.TextDocumentIdentifier


@attrs.frozen
class GraphLinesItem:
    """Lines that follow each other and ran in the same way. Lines that add nothing to a graph are in none."""

    start_line: int
    end_line: int
    """The last one of them."""
    graphs: list[int]
    """The numbers of the graphs that they are in, counted from 1 in the order of the program."""
    label: str
    """Those graphs in words, as Markdown, a line each; empty if there are none."""
    eager: bool
    """Whether they ran eagerly, or did so at times."""
    reason: str
    """Why, in words, as Markdown, a line for each cause."""


@attrs.frozen
class GuardsParams:
    """Asks for the guards of one function of a report."""

    target: str
    generation: int
    frame: int
    """Its index in ``ReportItem.frames``."""


@attrs.frozen
class GuardItem:
    """A condition under which a compiled function may be used again."""

    name: str
    """What is guarded, as the user would write it; empty for ambient state."""
    kind: str
    expected: str
    failures: int
    ambient: bool
    """Whether it is on the state of the process, such as the grad mode, rather than on a value."""
    origin: str = ""
    """What the value is: a parameter, a buffer, a global; empty if that is not known."""
    location: types.Location | None = None
    """Where the value was first needed."""
    origin_location: types.Location | None = None
    """Where it comes from: the parameter, the assignment of the attribute."""


@attrs.frozen
class InterpreterParams:
    """Asks about the Python that runs the targets of a file or folder."""

    uri: str


@attrs.frozen
class InterpreterItem:
    """A Python, and whether targets can run with it."""

    path: str
    origin: str
    """Who chose it: ``setting fullgraph.interpreter``, ``.venv``."""
    python: str | None = None
    """Its version."""
    torch: str | None = None
    """The version of its torch."""
    problem: str | None = None
    """Why targets cannot run with it, and what to do."""


@attrs.frozen
class StatusParams:
    """The state of a target has changed."""

    target: str
    generation: int
    """Of the last run that began; 0 if none has."""
    stale: bool
    run_on_save: bool
    state: RunState | None = None
    """Absent once the target was cleared."""


@attrs.frozen
class DryRunOptions:
    """Makes one run of a target a dry one: with tensors that have no data."""

    dry_run: bool | None = None
    device: str | None = None
    """The ``name`` of a ``DeviceItem``: the run is dry, and its kernels are for that GPU."""


@attrs.frozen
class DeviceItem:
    """A GPU that need not be there."""

    name: str
    gpu: str
    """What its driver calls it."""
    description: str
    """Compute capability, SMs, memory."""


@attrs.frozen
class RunSummary:
    """The answer to ``fullgraph.run``."""

    target: str
    status: str
    """How the run ended; ``cancelled`` also for one that was stopped before it began."""
    findings: int
    document: str | None = None
    """The URI of what was asked of the run, in words, if that is a document."""


@attrs.frozen
class MinifySummary:
    """The answer to ``fullgraph.minify``."""

    target: str
    status: str
    """How it ended."""
    nodes: int
    nodes_at_first: int
    queries: int
    seconds: float
    reproduces: bool
    """Whether the repro, run by a fresh interpreter, fails in the same way."""
    message: str
    """All of this in one sentence, which the server has shown."""
    repro: str | None = None
    """The URI of the repro, if there is one: the smallest so far, if it was stopped."""


@attrs.frozen
class TargetParams:
    """Asks about a target, by its id or a file's URI; a repro is a file, too."""

    target: str


@attrs.frozen
class BugReportItem:
    """A bug report, or why there is none."""

    text: str | None = None
    """In the form of PyTorch's issue template: Markdown."""
    holds: str | None = None
    """What of the user's is in the text: a sentence to show before that is copied."""
    problem: str | None = None


@attrs.frozen
class DebugParams:
    """Asks how a target starts in a debugger, with torch.compile or without."""

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
    """How a program starts in a debugger, or why it cannot."""

    configuration: DebugConfiguration | None = None
    problem: str | None = None


@attrs.frozen
class FindingData:
    """What a diagnostic carries for later requests about it."""

    target: str
    generation: int
    kind: FindingKind
    count: int
    rendered: str
    """The full explanation, as plain text."""
    explanation: str
    """The URI of the full explanation."""
    minify: MinifyOptions | None = None
    """What ``fullgraph.minify`` takes, for a failure that can be minified."""


def _request(method: str, params: type[Any]) -> type[Any]:
    """The class of a whole request, as pygls wants it."""
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
    REPORT: ReportParams,
    PERFORMANCE: TargetParams,
    COUNTERPARTS: CounterpartsParams,
    GRAPH_LINES: GraphLinesParams,
    GUARDS: GuardsParams,
    INTERPRETER: InterpreterParams,
    ENVIRONMENT: InterpreterParams,
    BUG_REPORT: TargetParams,
    DEBUG_CONFIGURATION: DebugParams,
}
_REQUESTS = {method: _request(method, params) for method, params in _PARAMS.items()}

MESSAGES: tuple[type[Any], ...] = (
    TargetsParams,
    TargetItem,
    ReportParams,
    GraphItem,
    FrameItem,
    MinifyOptions,
    FindingItem,
    KernelItem,
    ArtifactItem,
    ReportItem,
    CounterpartsParams,
    PhaseItem,
    CompilationItem,
    KernelRow,
    OperationItem,
    PictureItem,
    TimesItem,
    PerformanceItem,
    DryItem,
    DryRunOptions,
    DeviceItem,
    GraphLinesParams,
    GraphLinesItem,
    GuardsParams,
    GuardItem,
    InterpreterParams,
    InterpreterItem,
    StatusParams,
    RunSummary,
    MinifySummary,
    TargetParams,
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
        """The type of a request or notification."""
        return _REQUESTS.get(method) or super().get_message_type(method)


def create_converter() -> Converter:
    """The converter of pygls, taught the messages of this module: camel case, and no absent values."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    for cls in MESSAGES:
        attrs.resolve_types(cls)
        names = {
            field.name: override(rename=_camel(field.name), omit_if_default=field.default is None)
            for field in attrs.fields(cls)
        }
        # mypy cannot tell what a mapping of overrides is meant for.
        converter.register_unstructure_hook(cls, make_dict_unstructure_fn(cls, converter, **names))  # type: ignore[arg-type]
        if cls in _PARAMS.values():
            converter.register_structure_hook(cls, make_dict_structure_fn(cls, converter, **names))  # type: ignore[arg-type]
    return converter


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)
