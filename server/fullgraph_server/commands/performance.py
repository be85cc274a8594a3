"""The request ``fullgraph/performance``: compile time by step, and kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from fullgraph_compiler.facts import Cost, KernelCompiled, KernelNode, TimesMeasured

from ..analyses.registry import layer_label
from ..client.findings import names_of
from ..client.targets import NoTarget
from ..features.artifacts import ArtifactDocuments
from ..features.context import Context
from ..kinds import KINDS
from ..protocol.names import PERFORMANCE
from ..protocol.report import ReportParams
from ..report.caches.model import CacheCount, Caches, CacheUse, labels
from ..report.kernels import by_kernel, config_words, count_launches, operators, spans_of, total_cost
from ..report.measured.model import Speed, SpeedCause, SpeedPart
from ..report.measured.speed import memory_words, outside_words
from ..report.model import Code, Compilation, Finding, Launch, Report
from ..report.phases import Step, steps_of
from ..shapes.shape import Key, shape
from ..workspace.positions import Span
from .client_edge import ClientEdge, ReportEdge
from .report import DRY, FINDING, layer_argument


def register(context: Context, artifacts: ArtifactDocuments) -> None:
    """Answer the request."""

    @context.server.feature(PERFORMANCE)
    async def performance(params: ReportParams) -> dict[str, Any] | None:
        target = context.targets.find(params.target)
        if isinstance(target, NoTarget):
            return None
        report = context.runs.report(target.id, layer_argument(params.layer))
        if report is None:
            return None
        return PERFORMANCE_ITEM.object(report, ClientEdge(report, artifacts, context.documents))


# -- the items behind shapes --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """A kernel or library function with its launches in one piece of code.

    ``uri`` is the URI of its document.
    """

    code: Code
    launches: Sequence[Launch]
    uri: str

    @property
    def first(self) -> Launch:
        return self.launches[0]

    @property
    def built(self) -> KernelCompiled | None:
        return self.first.built

    @property
    def cost(self) -> Cost | None:
        return total_cost(self.launches)


@dataclass(frozen=True, slots=True)
class _Picture:
    """The lowered graph of one piece of code.

    ``documents`` has the URI of the kernel of each launch.
    """

    code: Code
    name: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Node:
    """An operation of a lowered graph, and the index of the launch that computes it."""

    node: KernelNode
    kernel: int | None
    location: Span | None


@dataclass(frozen=True, slots=True)
class _Lacking:
    """Graphs that a cache lacks, and the reasons as far as they are known."""

    sentences: str
    uses: Sequence[CacheUse]

    @property
    def source(self) -> Span | None:
        """The first source line that differs between the cache keys."""
        return next((item.span for item in self.uses[0].differences if item.span), None)


def _rows(report: Report, edge: ReportEdge) -> list[_Row]:
    uris = _uris(edge)
    return [
        _Row(code, launches, uris.get((id(code), name)) or uris[id(code), ""])
        for code in report.codes
        for name, launches in by_kernel(code).items()
    ]


def _pictures(report: Report, edge: ReportEdge) -> list[_Picture]:
    uris, names, pictures = _uris(edge), Counter[str](), []
    for code in report.codes:
        name = f"{code.compile_id} {code.phase}"
        names[name] += 1  # a split graph has several pieces of code for each pass
        name += f" ({names[name]})" if names[name] > 1 else ""
        documents = tuple(uris.get((id(code), launch.name), "") for launch in code.launches)
        pictures.append(_Picture(code, name, documents))
    return pictures


def _nodes(picture: _Picture, _: ReportEdge) -> list[_Node]:
    launches = list(enumerate(picture.code.launches))
    numbers = {item.name: number for number, launch in launches for item in launch.operations}
    spans = {item.name: item.span for _, launch in launches for item in launch.operations if item.span}
    return [_Node(node, numbers.get(node.name), spans.get(node.name)) for node in picture.code.nodes]


def _uris(edge: ReportEdge) -> dict[tuple[int, str], str]:
    """Map code and kernel name to a document's URI; the name is empty for whole code."""
    return {
        (id(item.document.code), item.document.title if item.document.launches else ""): item.uri
        for item in edge.documents
        if item.document.code is not None and not item.document.built
    }


def _label(report: Report, _: ReportEdge) -> str:
    name = names_of([report.target])
    return f"{name}: {layer_label(report)}" if report.layer else name


def _notes(speed: Speed, _: ReportEdge) -> list[str]:
    """Describe memory use, and time outside of calls, in sentences."""
    notes = (memory_words(speed), outside_words(speed.measured))
    return [note for note in notes if note and speed.measured.compiled]


def _lacking(caches: Caches, _: ReportEdge) -> list[_Lacking]:
    return [_Lacking(sentences, uses) for sentences, uses in caches.explained.items()]


# -- shapes; times are in seconds, memory is in bytes -------------------------------------------

PHASE: Final = shape(
    Step,
    "name=phase.name",
    Key("start", value=lambda step, edge: step.phase.start - edge.begin, type=float),
    "seconds=phase.seconds",
    "compile_id=phase.compile_id",
    "depth",
    "part",
    name="PhaseItem",
)
COMPILATION: Final = shape(
    Compilation,
    "compile_id",
    "function",
    "location=span",
    Key("start", value=lambda item, edge: max(item.start - edge.begin, 0.0), type=float),
    "seconds",
    "reason",
    name="CompilationItem",
)
ROW: Final = shape(
    _Row,
    "uri",
    "name=first.name",
    "language=first.language",
    "compile_id=code.compile_id",
    "phase=code.phase",
    Key("operators", value=lambda row, _: operators(row.launches), type=str),
    Key("locations", value=lambda row, _: spans_of(row.launches), type=list[Span]),
    Key("launches", value=lambda row, _: count_launches(row.launches), type=int),
    # The arguments and the grid are those of the first launch.
    Key("arguments", value=lambda row, _: ", ".join(row.first.arguments), type=str),
    "grid=first.grid",
    "read=cost.read",
    "written=cost.written",
    "flops=cost.flops",
    "seconds=cost.seconds",
    Key("config", value=lambda row, _: row.built and (config_words(row.built) or None), type=str | None),
    "registers=built.registers",
    "spills=built.spills",
    "shared=built.shared",
    # The reason why it was not compiled.
    Key("problem", value=lambda row, _: row.built and (row.built.problem or None), type=str | None),
    name="KernelRow",
)
OPERATION: Final = shape(
    _Node,
    "name=node.name",
    "operator=node.operator",
    "inputs=node.inputs",
    "kernel",
    "location",
    name="OperationItem",
)
PICTURE: Final = shape(
    _Picture,
    "name",
    Key("operations", value=_nodes, type=list[_Node], shape=OPERATION),
    Key(
        "kernels",
        value=lambda picture, _: [launch.name for launch in picture.code.launches],
        type=list[str],
    ),
    "documents",
    name="PictureItem",
)
TIMES: Final = shape(TimesMeasured, "cache", "seconds", "compiling", name="TimesItem")
CACHE_COUNT: Final = shape(CacheCount, "name", "hits", "misses", "bypasses", name="CacheCountItem")
CACHE_USE: Final = shape(
    _Lacking,
    Key("label", value=lambda lacking, _: labels(lacking.uses), type=str),
    "sentences",
    Key("location", value=lambda lacking, _: lacking.uses[0].span, type=Span),
    "source",
    name="CacheUseItem",
)
CACHES: Final = shape(
    Caches,
    "warm",
    Key("counts", shape=CACHE_COUNT),
    Key("uses", value=_lacking, type=list[_Lacking], shape=CACHE_USE),
    "notes",
    name="CachesItem",
)
PART: Final = shape(SpeedPart, "kind", "label", "seconds", name="SpeedPartItem")
CAUSE: Final = shape(SpeedCause, "message", "hint", "gain", "location=span", name="SpeedCauseItem")
SPEED: Final = shape(
    Speed,
    "verdict",
    "compiled=measured.compiled",
    "eager=measured.eager",
    "low=measured.low",
    "high=measured.high",
    "samples=measured.samples",
    Key("parts", shape=PART),
    Key("causes", "telling_causes", CAUSE),
    Key("notes", value=_notes, type=list[str]),
    name="SpeedItem",
)
PERFORMANCE_ITEM: Final = shape(
    Report,
    "target",
    Key("label", value=_label, type=str),
    "generation",
    "torch",
    "seconds",
    # Whether kernels were built; if not, the times do not include building them.
    "complete",
    Key("phases", value=lambda report, _: steps_of(report.phases), type=list[Step], shape=PHASE),
    Key("compilations", shape=COMPILATION),
    Key("kernels", value=_rows, type=list[_Row], shape=ROW),
    Key("pictures", value=_pictures, type=list[_Picture], shape=PICTURE),
    Key(
        "times",
        value=lambda report, _: report.of(TimesMeasured),
        type=list[TimesMeasured],
        shape=TIMES,
    ),
    Key(
        "findings",
        value=lambda report, _: [item for item in report.findings if KINDS[item.kind].is_about_speed],
        type=list[Finding],
        shape=FINDING,
    ),
    Key("dry", shape=DRY),
    Key("layer", value=lambda report, _: report.layer or None, type=str | None),
    Key("speed", shape=SPEED),
    Key(
        "caches",
        value=lambda report, _: report.caches if report.caches.counts else None,
        type=Caches | None,
        shape=CACHES,
    ),
    name="PerformanceItem",
)
