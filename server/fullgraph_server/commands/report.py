"""The requests ``fullgraph/report``, ``layers`` and ``guards`` of views."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from fullgraph_compiler.facts import RanDry
from lsprotocol.types import Location

from ..analyses.registry import analyses, layer_label, verdict
from ..client.arguments import refusal
from ..client.findings import minify_options
from ..client.targets import NoTargetReason
from ..compare.ranks import rank_words
from ..features.artifacts import ArtifactDocuments, ShownDocument
from ..features.context import ServerContext
from ..features.explanation import explanation_uri
from ..kinds import KINDS
from ..protocol.names import GUARDS, LAYERS, REPORT
from ..protocol.report import GuardsParams, MinifyOptions, ReportParams
from ..protocol.targets import TargetParams
from ..report.kernels import operators, spans_of
from ..report.model import CapturedGraph, Finding, FrameReport, Guard, Layer, RankSummary, Report
from ..report.origins import ValueOrigin, is_ambient, is_of_library, origin_of
from ..shapes.shape import JsonKey, shape
from ..text import devices
from ..text.source_names import written_name
from ..workspace.positions import Span
from .client_edge import ClientEdge, ReportEdge


def register(context: ServerContext, artifacts: ArtifactDocuments) -> None:
    """Register the handlers of ``fullgraph/report``, ``layers`` and ``guards``."""

    @context.server.feature(REPORT)
    async def report(params: ReportParams) -> dict[str, Any] | None:
        shown = context.runs.report(params.target, layer_argument(params.layer))
        if shown is None:
            return None
        left_out = context.runs.left_out(shown)
        return REPORT_ITEM.object(shown, ClientEdge(shown, artifacts, context.documents, left_out=left_out))

    @context.server.feature(LAYERS)
    async def layers(params: TargetParams) -> list[dict[str, Any]]:
        target = context.targets.find(params.target)
        layers = () if isinstance(target, NoTargetReason) else context.runs.layers(target.id)
        edges = (
            ClientEdge(layer, artifacts, context.documents, stale=context.runs.is_stale(layer))
            for layer in layers
        )
        return [LAYER.object(edge.report, edge) for edge in edges]

    @context.server.feature(GUARDS)
    async def guards(params: GuardsParams) -> list[dict[str, Any]]:
        shown = next(
            (item for item in context.runs.results(params.target) if item.generation == params.generation),
            None,
        )
        if shown is None or not 0 <= params.frame < len(shown.frames):
            return []
        frame, edge = shown.frames[params.frame], ClientEdge(shown, artifacts, context.documents)
        guards = sorted(frame.guards, key=lambda guard: _importance(shown, guard))
        return [
            GUARD.object(_ShownGuard(guard, origin_of(guard, frame, shown.files)), edge) for guard in guards
        ]


def layer_argument(name: str | None) -> Layer:
    """Return the layer that a request names; empty (the ordinary result) by default.

    Raises :class:`JsonRpcException` if there is no such layer.
    """
    if name and name not in (analysis.layer for analysis in analyses().values()):
        raise refusal(f"There is no layer {name!r} of a target.")
    return name or ""


def _importance(report: Report, guard: Guard) -> tuple[int, bool, bool]:
    """Return a sort key: failed guards first, then guards on named user values."""
    return -guard.failures, not written_name(guard.source), is_of_library(guard, report.files)


# -- shapes: FRAME has what the client gets for a function, and so on --------------------------


@dataclass(frozen=True, slots=True)
class _ShownGuard:
    """A guard of a compiled function, and the origin of the guarded value."""

    guard: Guard
    origin: ValueOrigin | None


def _graphs(frame: FrameReport, edge: ReportEdge) -> list[CapturedGraph]:
    own = set(frame.compile_ids)
    return [graph for graph in edge.report.graphs if graph.compile_id in own]


def _rank_groups(report: Report, _: ReportEdge) -> list[str]:
    """Name the ranks of each group, in the order of group numbers: ``Ranks 0-511``."""
    groups: dict[int, list[int]] = defaultdict(list)
    for rank in report.ranks:
        groups[rank.group].append(rank.rank)
    words = [rank_words(members) for _, members in sorted(groups.items())]
    return [text[0].upper() + text[1:] for text in words]


GRAPH: Final = shape(CapturedGraph, "compile_id", "ops", "location=span", name="GraphItem")
FRAME: Final = shape(
    FrameReport,
    "function=qualname",
    JsonKey(
        "location",
        value=lambda frame, edge: edge.line(frame.filename, frame.row),
        type=Location,
    ),
    JsonKey("graphs", value=_graphs, type=list[CapturedGraph], shape=GRAPH),
    "ops",
    "breaks",
    JsonKey("guards", value=lambda frame, _: len(frame.guards), type=int),
    "recompiles",
    "seconds",
    # The indices of the report's findings that belong to it.
    JsonKey(
        "findings",
        value=lambda frame, edge: [
            index
            for index, finding in enumerate(edge.report.findings)
            if not finding.compile_ids.isdisjoint(frame.compile_ids)
        ],
        type=list[int],
    ),
    name="FrameItem",
)
FINDING: Final = shape(
    Finding,
    "kind",
    # The plural name of its kind: graph breaks.
    JsonKey("kind_name", value=lambda finding, _: KINDS[finding.kind].many, type=str),
    "code",
    "severity",
    "message",
    "count",
    JsonKey(
        "explanation",
        value=lambda finding, edge: explanation_uri(edge.report.target, finding),
        type=str,
    ),
    # The argument for fullgraph.minify, for a failure that can be minified.
    JsonKey(
        "minify",
        value=lambda finding, edge: minify_options(edge.report, finding),
        type=MinifyOptions | None,
    ),
    JsonKey(
        "location",
        value=lambda finding, _: None if finding.of_run else finding.span,
        type=Span | None,
    ),
    name="FindingItem",
)
_LOCATIONS: Final = JsonKey(
    "locations", value=lambda shown, _: spans_of(shown.document.launches), type=list[Span]
)
KERNEL: Final = shape(
    ShownDocument,
    "uri",
    "name=document.title",
    JsonKey("graph", value=lambda shown, _: f"{shown.document.compile_id} {shown.document.phase}", type=str),
    JsonKey("operators", value=lambda shown, _: operators(shown.document.launches), type=str),
    _LOCATIONS,
    name="KernelItem",
)
ARTIFACT: Final = shape(
    ShownDocument,
    "uri",
    "name=document.title",
    "file=document.name",
    "compile_id=document.compile_id",
    "phase=document.phase",
    _LOCATIONS,
    "previous",
    name="ArtifactItem",
)
RANK: Final = shape(
    RankSummary,
    "rank",
    "compilations",
    "graphs",
    "breaks",
    "recompiles",
    "seconds",
    "differs",
    "group",
    name="RankItem",
)
DRY: Final = shape(
    RanDry,
    JsonKey("label", value=lambda dry, _: devices.brief(dry), type=str),
    JsonKey("sentence", value=lambda dry, _: devices.sentence(dry), type=str),
    "unknown",
    name="DryItem",
)
REPORT_ITEM: Final = shape(
    Report,
    "target",
    "generation",
    "torch",
    "seconds",
    JsonKey("frames", shape=FRAME),
    JsonKey("findings", shape=FINDING),
    JsonKey(
        "kernels",
        value=lambda _, edge: [
            shown for shown in edge.documents if shown.document.code is not None and not shown.document.built
        ],
        type=list[ShownDocument],
        shape=KERNEL,
    ),
    JsonKey("artifacts", value=lambda _, edge: edge.documents, type=list[ShownDocument], shape=ARTIFACT),
    JsonKey("ranks", shape=RANK),
    JsonKey("rank_groups", value=_rank_groups, type=list[str]),
    JsonKey("dry", shape=DRY),
    # The number of findings that comments in the source ignore.
    JsonKey("ignored", value=lambda report, _: report.hidden or None, type=int | None),
    JsonKey(
        "left_out",
        value=lambda _, edge: devices.left_out_words(edge.left_out) if edge.left_out else None,
        type=str | None,
    ),
    # A sentence that file changes were discarded, with any limits of that.
    JsonKey(
        "files",
        value=lambda report, _: devices.files_words(report.discarded) if report.discarded else None,
        type=str | None,
    ),
    name="ReportItem",
)
LAYER: Final = shape(
    Report,
    "layer",
    JsonKey("label", value=lambda report, _: layer_label(report), type=str),
    JsonKey("stale", value=lambda _, edge: edge.stale, type=bool),
    JsonKey("report", value=lambda report, _: report, type=Report, shape=REPORT_ITEM),
    "state=status",
    JsonKey("verdict", value=lambda report, _: verdict(report), type=str | None),
    name="LayerItem",
)
GUARD: Final = shape(
    _ShownGuard,
    JsonKey("name", value=lambda shown, _: written_name(shown.guard.source), type=str),
    "kind=guard.kind",
    "expected=guard.expected",
    "failures=guard.failures",
    JsonKey("ambient", value=lambda shown, _: is_ambient(shown.guard), type=bool),
    JsonKey("origin", value=lambda shown, _: shown.origin.kind if shown.origin else "", type=str),
    "location=guard.span",
    "origin_location=origin.span",
    "code=guard.code",
    name="GuardItem",
)
