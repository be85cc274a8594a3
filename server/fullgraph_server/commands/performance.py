"""The request ``fullgraph/performance``: compile time by step, and kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from fullgraph_compiler.facts import Cost, KernelCompiled, KernelNode, TimesMeasured

from ..analyses.registry import layer_label
from ..client.findings import names_of
from ..client.targets import NoTargetReason
from ..features.artifacts import ArtifactDocuments
from ..features.context import ServerContext
from ..kinds import KINDS
from ..protocol.names import PERFORMANCE
from ..protocol.report import ReportParams
from ..report.caches.model import CacheCount, CacheUse, CacheUses, labels
from ..report.kernels import by_kernel, config_words, count_launches, operators, spans_of, total_cost
from ..report.measured.model import MeasuredSpeed, SpeedCause, SpeedPart
from ..report.measured.speed import memory_words, outside_words
from ..report.model import Finding, FrameCompilation, GeneratedCode, KernelLaunch, Report
from ..report.phases import PhaseStep, steps_of
from ..shapes.shape import JsonKey, shape
from ..workspace.positions import Span
from .client_edge import ClientEdge, ReportEdge
from .report import DRY, FINDING, layer_argument


def register(context: ServerContext, artifacts: ArtifactDocuments) -> None:
    """Register the handler of ``fullgraph/performance``."""

    @context.server.feature(PERFORMANCE)
    async def performance(params: ReportParams) -> dict[str, Any] | None:
        target = context.targets.find(params.target)
        if isinstance(target, NoTargetReason):
            return None
        report = context.runs.report(target.id, layer_argument(params.layer))
        if report is None:
            return None
        return PERFORMANCE_ITEM.object(report, ClientEdge(report, artifacts, context.documents))


# -- the items behind shapes --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _KernelRow:
    """A kernel or library function with its launches in one piece of code.

    ``uri`` is the URI of the document that shows the kernel.
    """

    code: GeneratedCode
    launches: Sequence[KernelLaunch]
    uri: str

    @property
    def first(self) -> KernelLaunch:
        return self.launches[0]

    @property
    def built(self) -> KernelCompiled | None:
        return self.first.built

    @property
    def cost(self) -> Cost | None:
        return total_cost(self.launches)


@dataclass(frozen=True, slots=True)
class _GraphPicture:
    """The lowered graph of one piece of code.

    ``documents`` has, for each launch, the URI of the kernel's document.
    """

    code: GeneratedCode
    name: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _PictureNode:
    """An operation of a lowered graph, and the index of the launch that computes it."""

    node: KernelNode
    kernel: int | None
    location: Span | None


@dataclass(frozen=True, slots=True)
class _MissedGraphs:
    """Graphs that were not found in a cache, and the known reasons."""

    sentences: str
    uses: Sequence[CacheUse]

    @property
    def source(self) -> Span | None:
        """The first source line that differs between the cache keys."""
        return next((item.span for item in self.uses[0].differences if item.span), None)


def _rows(report: Report, edge: ReportEdge) -> list[_KernelRow]:
    uris = _uris(edge)
    return [
        _KernelRow(code, launches, uris.get((id(code), name)) or uris[id(code), ""])
        for code in report.codes
        for name, launches in by_kernel(code).items()
    ]


def _pictures(report: Report, edge: ReportEdge) -> list[_GraphPicture]:
    uris, names, pictures = _uris(edge), Counter[str](), []
    for code in report.codes:
        name = f"{code.compile_id} {code.phase}"
        names[name] += 1  # a split graph has several pieces of code for each pass
        name += f" ({names[name]})" if names[name] > 1 else ""
        documents = tuple(uris.get((id(code), launch.name), "") for launch in code.launches)
        pictures.append(_GraphPicture(code, name, documents))
    return pictures


def _nodes(picture: _GraphPicture, _: ReportEdge) -> list[_PictureNode]:
    launches = list(enumerate(picture.code.launches))
    numbers = {item.name: number for number, launch in launches for item in launch.operations}
    spans = {item.name: item.span for _, launch in launches for item in launch.operations if item.span}
    return [_PictureNode(node, numbers.get(node.name), spans.get(node.name)) for node in picture.code.nodes]


def _uris(edge: ReportEdge) -> dict[tuple[int, str], str]:
    """Map code and kernel name to a document's URI; the name of whole code is empty."""
    return {
        (id(item.document.code), item.document.title if item.document.launches else ""): item.uri
        for item in edge.documents
        if item.document.code is not None and not item.document.built
    }


def _label(report: Report, _: ReportEdge) -> str:
    name = names_of([report.target])
    return f"{name}: {layer_label(report)}" if report.layer else name


def _notes(speed: MeasuredSpeed, _: ReportEdge) -> list[str]:
    """Describe memory use, and time outside of calls, in sentences."""
    notes = (memory_words(speed), outside_words(speed.measured))
    return [note for note in notes if note and speed.measured.compiled]


def _lacking(caches: CacheUses, _: ReportEdge) -> list[_MissedGraphs]:
    return [_MissedGraphs(sentences, uses) for sentences, uses in caches.explained.items()]


# -- shapes; times are in seconds, memory is in bytes -------------------------------------------

PHASE: Final = shape(
    PhaseStep,
    "name=phase.name",
    JsonKey("start", value=lambda step, edge: step.phase.start - edge.begin, type=float),
    "seconds=phase.seconds",
    "compile_id=phase.compile_id",
    "depth",
    "part",
    name="PhaseItem",
)
COMPILATION: Final = shape(
    FrameCompilation,
    "compile_id",
    "function",
    "location=span",
    JsonKey("start", value=lambda item, edge: max(item.start - edge.begin, 0.0), type=float),
    "seconds",
    "reason",
    name="CompilationItem",
)
ROW: Final = shape(
    _KernelRow,
    "uri",
    "name=first.name",
    "language=first.language",
    "compile_id=code.compile_id",
    "phase=code.phase",
    JsonKey("operators", value=lambda row, _: operators(row.launches), type=str),
    JsonKey("locations", value=lambda row, _: spans_of(row.launches), type=list[Span]),
    JsonKey("launches", value=lambda row, _: count_launches(row.launches), type=int),
    # The arguments and the grid are those of the first launch.
    JsonKey("arguments", value=lambda row, _: ", ".join(row.first.arguments), type=str),
    "grid=first.grid",
    "read=cost.read",
    "written=cost.written",
    "flops=cost.flops",
    "seconds=cost.seconds",
    JsonKey("config", value=lambda row, _: row.built and (config_words(row.built) or None), type=str | None),
    "registers=built.registers",
    "spills=built.spills",
    "shared=built.shared",
    # The reason why it was not compiled.
    JsonKey("problem", value=lambda row, _: row.built and (row.built.problem or None), type=str | None),
    name="KernelRow",
)
OPERATION: Final = shape(
    _PictureNode,
    "name=node.name",
    "operator=node.operator",
    "inputs=node.inputs",
    "kernel",
    "location",
    name="OperationItem",
)
PICTURE: Final = shape(
    _GraphPicture,
    "name",
    JsonKey("operations", value=_nodes, type=list[_PictureNode], shape=OPERATION),
    JsonKey(
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
    _MissedGraphs,
    JsonKey("label", value=lambda lacking, _: labels(lacking.uses), type=str),
    "sentences",
    JsonKey("location", value=lambda lacking, _: lacking.uses[0].span, type=Span),
    "source",
    name="CacheUseItem",
)
CACHES: Final = shape(
    CacheUses,
    "warm",
    JsonKey("counts", shape=CACHE_COUNT),
    JsonKey("uses", value=_lacking, type=list[_MissedGraphs], shape=CACHE_USE),
    "notes",
    name="CachesItem",
)
PART: Final = shape(SpeedPart, "kind", "label", "seconds", name="SpeedPartItem")
CAUSE: Final = shape(SpeedCause, "message", "hint", "gain", "location=span", name="SpeedCauseItem")
SPEED: Final = shape(
    MeasuredSpeed,
    "verdict",
    "compiled=measured.compiled",
    "eager=measured.eager",
    "low=measured.low",
    "high=measured.high",
    "samples=measured.samples",
    JsonKey("parts", shape=PART),
    JsonKey("causes", "telling_causes", CAUSE),
    JsonKey("notes", value=_notes, type=list[str]),
    name="SpeedItem",
)
PERFORMANCE_ITEM: Final = shape(
    Report,
    "target",
    JsonKey("label", value=_label, type=str),
    "generation",
    "torch",
    "seconds",
    # Whether kernels were built; if not, the times do not include building them.
    "complete",
    JsonKey("phases", value=lambda report, _: steps_of(report.phases), type=list[PhaseStep], shape=PHASE),
    JsonKey("compilations", shape=COMPILATION),
    JsonKey("kernels", value=_rows, type=list[_KernelRow], shape=ROW),
    JsonKey("pictures", value=_pictures, type=list[_GraphPicture], shape=PICTURE),
    JsonKey(
        "times",
        value=lambda report, _: report.of(TimesMeasured),
        type=list[TimesMeasured],
        shape=TIMES,
    ),
    JsonKey(
        "findings",
        value=lambda report, _: [item for item in report.findings if KINDS[item.kind].is_about_speed],
        type=list[Finding],
        shape=FINDING,
    ),
    JsonKey("dry", shape=DRY),
    JsonKey("layer", value=lambda report, _: report.layer or None, type=str | None),
    JsonKey("speed", shape=SPEED),
    JsonKey(
        "caches",
        value=lambda report, _: report.caches if report.caches.counts else None,
        type=CacheUses | None,
        shape=CACHES,
    ),
    name="PerformanceItem",
)
