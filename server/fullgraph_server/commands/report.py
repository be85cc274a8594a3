"""The requests ``fullgraph/report``, ``layers`` and ``guards``: a report for a view of the client."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from lsprotocol import types

from ..analyses.registry import analyses, layer_label, verdict
from ..client.arguments import refusal
from ..client.documents import Places
from ..client.findings import minify_options
from ..client.targets import NoTarget
from ..compare.ranks import rank_words
from ..features.artifacts import ArtifactDocuments, ShownDocument
from ..features.context import Context
from ..features.explanation import explanation_uri
from ..kinds import KINDS
from ..protocol.names import GUARDS, LAYERS, REPORT
from ..protocol.report import (
    ArtifactItem,
    DryItem,
    FindingItem,
    FrameItem,
    GraphItem,
    GuardItem,
    GuardsParams,
    KernelItem,
    LayerItem,
    RankItem,
    ReportItem,
    ReportParams,
)
from ..protocol.targets import TargetParams
from ..report.kernels import operators, spans_of
from ..report.model import Finding, FrameReport, Guard, Layer, RankSummary, Report
from ..report.origins import is_ambient, is_of_library, origin_of
from ..text import devices
from ..text.source_names import written_name
from ..workspace.positions import Span


def register(context: Context, items: ReportItems) -> None:
    """Answer the requests."""

    @context.server.feature(REPORT)
    async def report(params: ReportParams) -> ReportItem | None:
        shown = context.runs.report(params.target, layer_argument(params.layer))
        return items.report(shown, context.runs.left_out(shown)) if shown else None

    @context.server.feature(LAYERS)
    async def layers(params: TargetParams) -> list[LayerItem]:
        target = context.targets.find(params.target)
        layers = () if isinstance(target, NoTarget) else context.runs.layers(target.id)
        return [items.layer(layer, stale=context.runs.is_stale(layer)) for layer in layers]

    @context.server.feature(GUARDS)
    async def guards(params: GuardsParams) -> list[GuardItem]:
        shown = next(
            (item for item in context.runs.results(params.target) if item.generation == params.generation),
            None,
        )
        if shown is None or not 0 <= params.frame < len(shown.frames):
            return []
        frame = shown.frames[params.frame]
        guards = sorted(frame.guards, key=lambda guard: _importance(shown, guard))
        return [items.guard(shown, frame, guard) for guard in guards]


def layer_argument(name: str | None) -> Layer:
    """Return the layer that a request names, or raise a refusal; the target's own result without a name."""
    if name and name not in (analysis.layer for analysis in analyses().values()):
        raise refusal(f"There is no layer {name!r} of a target.")
    return name or ""


def _importance(report: Report, guard: Guard) -> tuple[int, bool, bool]:
    """Return a sort key: guards that failed first, then those of the user's values that have a name."""
    return -guard.failures, not written_name(guard.source), is_of_library(guard, report.files)


def _is_code(shown: ShownDocument) -> bool:
    return shown.document.code is not None and not shown.document.built


def dry_item(report: Report) -> DryItem | None:
    """Describe a run without data; ``None`` for a run with data."""
    dry = report.dry
    return DryItem(devices.brief(dry), devices.sentence(dry), list(dry.unknown)) if dry else None


def _rank(rank: RankSummary) -> RankItem:
    return RankItem(
        rank.rank,
        rank.compilations,
        rank.graphs,
        rank.breaks,
        rank.recompiles,
        rank.seconds,
        rank.differs,
        rank.group,
    )


def _rank_groups(ranks: Sequence[RankSummary]) -> list[str]:
    groups: dict[int, list[int]] = defaultdict(list)
    for rank in ranks:
        groups[rank.group].append(rank.rank)
    words = [rank_words(members) for _, members in sorted(groups.items())]
    return [text[0].upper() + text[1:] for text in words]


class ReportItems:
    """Converter of parts of a report to items of the protocol."""

    def __init__(self, documents: Places, artifacts: ArtifactDocuments) -> None:
        self._documents = documents
        self._artifacts = artifacts

    def report(self, report: Report, left_out: Sequence[str] = ()) -> ReportItem:
        """Convert a whole report, without its guards; ``left_out`` are the parts that were not run since."""
        return ReportItem(
            target=report.target,
            generation=report.generation,
            torch=report.torch,
            seconds=report.seconds,
            frames=[self._frame(report, frame) for frame in report.frames],
            findings=[self.finding(report, finding) for finding in report.findings],
            kernels=[self._kernel(shown) for shown in self._artifacts.of_report(report) if _is_code(shown)],
            artifacts=[self._artifact(shown) for shown in self._artifacts.of_report(report)],
            ranks=[_rank(rank) for rank in report.ranks],
            rank_groups=_rank_groups(report.ranks),
            dry=dry_item(report),
            ignored=report.hidden or None,
            left_out=devices.left_out_words(left_out) if left_out else None,
            files=devices.files_words(report.discarded) if report.discarded else None,
        )

    def layer(self, report: Report, *, stale: bool) -> LayerItem:
        """Convert the report of a layer."""
        told = verdict(report)
        return LayerItem(report.layer, layer_label(report), stale, self.report(report), report.status, told)

    def _kernel(self, shown: ShownDocument) -> KernelItem:
        document = shown.document
        return KernelItem(
            uri=shown.uri,
            name=document.title,
            graph=f"{document.compile_id} {document.phase}",
            operators=operators(document.launches),
            locations=self._locations(shown),
        )

    def _artifact(self, shown: ShownDocument) -> ArtifactItem:
        document = shown.document
        return ArtifactItem(
            uri=shown.uri,
            name=document.title,
            file=document.name,
            compile_id=document.compile_id,
            phase=document.phase,
            locations=self._locations(shown),
            previous=shown.previous,
        )

    def _locations(self, shown: ShownDocument) -> list[types.Location]:
        spans = spans_of(shown.document.launches)
        return [self._documents.location(shown.report, span) for span in spans]

    def guard(self, report: Report, frame: FrameReport, guard: Guard) -> GuardItem:
        """Convert a guard of a function, with the origin of its value."""
        origin = origin_of(guard, frame, report.files)
        return GuardItem(
            name=written_name(guard.source),
            kind=guard.kind,
            expected=guard.expected,
            failures=guard.failures,
            ambient=is_ambient(guard),
            origin=origin.kind if origin else "",
            location=self._location(report, guard.span),
            origin_location=self._location(report, origin.span if origin else None),
            code=guard.code,
        )

    def _frame(self, report: Report, frame: FrameReport) -> FrameItem:
        own = set(frame.compile_ids)
        return FrameItem(
            function=frame.qualname,
            location=self._documents.line_location(report, frame.filename, frame.row),
            graphs=[
                GraphItem(graph.compile_id, graph.ops, self._location(report, graph.span))
                for graph in report.graphs
                if graph.compile_id in own
            ],
            ops=frame.ops,
            breaks=frame.breaks,
            guards=len(frame.guards),
            recompiles=frame.recompiles,
            seconds=frame.seconds,
            findings=[
                index
                for index, finding in enumerate(report.findings)
                if not own.isdisjoint(finding.compile_ids)
            ],
        )

    def finding(self, report: Report, finding: Finding) -> FindingItem:
        """Convert a finding, at its place in the text as it is now."""
        return FindingItem(
            kind=finding.kind,
            kind_name=KINDS[finding.kind].many,
            code=finding.code,
            severity=finding.severity,
            message=finding.message,
            location=None if finding.of_run else self._documents.location(report, finding.span),
            count=finding.count,
            explanation=explanation_uri(report.target, finding),
            minify=minify_options(report, finding),
        )

    def _location(self, report: Report, span: Span | None) -> types.Location | None:
        return self._documents.location(report, span) if span else None
