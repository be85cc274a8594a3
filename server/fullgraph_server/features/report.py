"""The requests ``fullgraph/report`` and ``fullgraph/guards``: a report for a view of the client."""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..engine.kernels import operators
from ..engine.names import written_name
from ..engine.report import Finding, FrameReport, Guard, Report, Span
from ..engine.runs import Runs
from ..protocol import (
    GUARDS,
    REPORT,
    FindingItem,
    FrameItem,
    GraphItem,
    GuardItem,
    GuardsParams,
    KernelItem,
    ReportItem,
    ReportParams,
)
from .documents import Documents
from .explanation import explanation_uri
from .findings import minify_options
from .kernels import KernelDocuments


def register(server: LanguageServer, documents: Documents, runs: Runs, kernels: KernelDocuments) -> None:
    """Answer both requests."""
    items = _Items(documents, kernels)

    @server.feature(REPORT)
    async def report(params: ReportParams) -> ReportItem | None:
        found = runs.report(params.target)
        return items.report(found) if found else None

    @server.feature(GUARDS)
    async def guards(params: GuardsParams) -> list[GuardItem]:
        found = runs.report(params.target)
        if found is None or found.generation != params.generation or params.frame >= len(found.frames):
            return []
        guards = sorted(found.frames[params.frame].guards, key=_importance)
        return [items.guard(found, guard) for guard in guards]


def _importance(guard: Guard) -> tuple[int, bool, bool]:
    """Those that failed first, then those of values that have a name."""
    return -guard.failures, not written_name(guard.source), not guard.expected


class _Items:
    """Parts of a report as items of the protocol."""

    def __init__(self, documents: Documents, kernels: KernelDocuments) -> None:
        self._documents = documents
        self._kernels = kernels

    def report(self, report: Report) -> ReportItem:
        return ReportItem(
            target=report.target,
            generation=report.generation,
            torch=report.torch,
            seconds=report.seconds,
            frames=[self._frame(report, frame) for frame in report.frames],
            findings=[self._finding(report, finding) for finding in report.findings],
            kernels=[
                KernelItem(
                    uri=uri,
                    name=file.launches[0].name if file.launches else file.name,
                    graph=f"{file.code.compile_id} {file.code.phase}",
                    operators=operators(file.launches),
                    locations=[location for _, location in self._kernels.sources(uri)],
                )
                for uri, file in self._kernels.of_report(report)
            ],
        )

    def guard(self, report: Report, guard: Guard) -> GuardItem:
        location = self._location(report, guard.span)
        return GuardItem(written_name(guard.source), guard.kind, guard.expected, guard.failures, location)

    def _frame(self, report: Report, frame: FrameReport) -> FrameItem:
        own = set(frame.compile_ids)
        return FrameItem(
            function=frame.function,
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

    def _finding(self, report: Report, finding: Finding) -> FindingItem:
        return FindingItem(
            kind=finding.kind,
            code=finding.code,
            severity=finding.severity,
            message=finding.message,
            location=self._documents.location(report, finding.span),
            count=finding.count,
            explanation=explanation_uri(report.target, finding),
            minify=minify_options(finding),
        )

    def _location(self, report: Report, span: Span | None) -> types.Location | None:
        return self._documents.location(report, span) if span else None
