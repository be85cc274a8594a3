"""The request ``fullgraph/performance``: compile time by step, and the kernels of the compiled code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from fullgraph_compiler.facts import TimesMeasured

from ..analyses.registry import layer_label
from ..client.documents import Places
from ..client.findings import names_of
from ..client.targets import NoTarget
from ..features.artifacts import ArtifactDocuments, ShownDocument
from ..features.context import Context
from ..kinds import KINDS
from ..protocol.names import PERFORMANCE
from ..protocol.performance import (
    CacheCountItem,
    CachesItem,
    CacheUseItem,
    CompilationItem,
    KernelRow,
    OperationItem,
    PerformanceItem,
    PhaseItem,
    PictureItem,
    SpeedCauseItem,
    SpeedItem,
    SpeedPartItem,
    TimesItem,
)
from ..protocol.report import ReportParams
from ..report.caches.model import labels
from ..report.kernels import by_kernel, config_words, count_launches, operators, spans_of, total_cost
from ..report.measured.model import Speed
from ..report.measured.speed import memory_words, outside_words
from ..report.model import Code, Compilation, Launch, Report
from ..report.phases import steps_of
from .report import ReportItems, dry_item, layer_argument


def register(context: Context, artifacts: ArtifactDocuments, items: ReportItems) -> None:
    """Answer the request."""
    views = PerformanceItems(context.documents, artifacts, items)

    @context.server.feature(PERFORMANCE)
    async def performance(params: ReportParams) -> PerformanceItem | None:
        target = context.targets.find(params.target)
        report = (
            None
            if isinstance(target, NoTarget)
            else context.runs.report(target.id, layer_argument(params.layer))
        )
        return views.performance(report) if report else None


_Uris: TypeAlias = Mapping[tuple[int, str], str]


def _label(report: Report) -> str:
    name = names_of([report.target])
    return f"{name}: {layer_label(report)}" if report.layer else name


class PerformanceItems:
    """Converter of the part of a report about speed to items of the protocol."""

    def __init__(self, documents: Places, artifacts: ArtifactDocuments, items: ReportItems) -> None:
        self._documents = documents
        self._artifacts = artifacts
        self._items = items

    def performance(self, report: Report) -> PerformanceItem:
        """Convert the part of a report about speed."""
        shown = self._artifacts.of_report(report)
        begin = min((phase.start for phase in report.phases), default=0.0)
        return PerformanceItem(
            target=report.target,
            label=_label(report),
            generation=report.generation,
            torch=report.torch,
            seconds=report.seconds,
            complete=report.complete,
            phases=[
                PhaseItem(
                    name=step.phase.name,
                    start=step.phase.start - begin,
                    seconds=step.phase.seconds,
                    compile_id=step.phase.compile_id,
                    depth=step.depth,
                    part=step.part,
                )
                for step in steps_of(report.phases)
            ],
            compilations=[self._compilation(report, item, begin) for item in report.compilations],
            kernels=self._kernels(report, shown),
            pictures=self._pictures(report, shown),
            times=[TimesItem(item.cache, item.seconds, item.compiling) for item in report.of(TimesMeasured)],
            findings=[
                self._items.finding(report, finding)
                for finding in report.findings
                if KINDS[finding.kind].is_about_speed
            ],
            dry=dry_item(report),
            layer=report.layer or None,
            speed=self._speed(report, report.speed) if report.speed else None,
            caches=self._caches(report) if report.caches.counts else None,
        )

    def _caches(self, report: Report) -> CachesItem:
        caches = report.caches
        return CachesItem(
            warm=caches.warm,
            counts=[
                CacheCountItem(item.name, item.hits, item.misses, item.bypasses) for item in caches.counts
            ],
            uses=[
                CacheUseItem(
                    labels(uses),
                    sentences,
                    self._documents.location(report, uses[0].span),
                    next(
                        (
                            self._documents.location(report, item.span)
                            for item in uses[0].differences
                            if item.span
                        ),
                        None,
                    ),
                )
                for sentences, uses in caches.explained.items()
            ],
            notes=list(caches.notes),
        )

    def _speed(self, report: Report, speed: Speed) -> SpeedItem:
        measured = speed.measured
        memory = memory_words(speed)
        return SpeedItem(
            verdict=speed.verdict,
            compiled=measured.compiled,
            eager=measured.eager,
            low=measured.low,
            high=measured.high,
            samples=measured.samples,
            parts=[SpeedPartItem(part.kind, part.label, part.seconds) for part in speed.parts],
            causes=[
                SpeedCauseItem(
                    cause.message,
                    cause.hint,
                    cause.gain,
                    self._documents.location(report, cause.span) if cause.span else None,
                )
                for cause in speed.telling_causes
            ],
            notes=[note for note in (memory, outside_words(measured)) if note and measured.compiled],
        )

    def _compilation(self, report: Report, item: Compilation, begin: float) -> CompilationItem:
        return CompilationItem(
            compile_id=item.compile_id,
            function=item.function,
            location=self._documents.location(report, item.span),
            start=max(item.start - begin, 0.0),
            seconds=item.seconds,
            reason=item.reason,
        )

    def _kernels(self, report: Report, shown: Sequence[ShownDocument]) -> list[KernelRow]:
        uris, rows = _uris(shown), []
        for code in report.codes:
            rows += [
                self._kernel(report, code, launches, uris.get((id(code), name)) or uris[id(code), ""])
                for name, launches in by_kernel(code).items()
            ]
        return rows

    def _kernel(self, report: Report, code: Code, launches: Sequence[Launch], uri: str) -> KernelRow:
        first, cost = launches[0], total_cost(launches)
        built = first.built
        return KernelRow(
            uri=uri,
            name=first.name,
            language=first.language,
            compile_id=code.compile_id,
            phase=code.phase,
            operators=operators(launches),
            locations=[self._documents.location(report, span) for span in spans_of(launches)],
            launches=count_launches(launches),
            arguments=", ".join(first.arguments),
            grid=first.grid,
            read=cost.read if cost else None,
            written=cost.written if cost else None,
            flops=cost.flops if cost else None,
            seconds=cost.seconds if cost else None,
            config=config_words(built) or None if built else None,
            registers=built.registers if built else None,
            spills=built.spills if built else None,
            shared=built.shared if built else None,
            problem=built.problem or None if built else None,
        )

    def _pictures(self, report: Report, shown: Sequence[ShownDocument]) -> list[PictureItem]:
        uris, names = _uris(shown), Counter[str]()
        pictures = []
        for code in report.codes:
            name = f"{code.compile_id} {code.phase}"
            names[name] += 1  # a graph that is split has several of each pass
            name += f" ({names[name]})" if names[name] > 1 else ""
            pictures.append(self._picture(report, code, name, uris))
        return pictures

    def _picture(self, report: Report, code: Code, name: str, uris: _Uris) -> PictureItem:
        by_node = {
            operation.name: number
            for number, launch in enumerate(code.launches)
            for operation in launch.operations
        }
        places = {
            operation.name: self._documents.location(report, operation.span)
            for launch in code.launches
            for operation in launch.operations
            if operation.span
        }
        return PictureItem(
            name=name,
            operations=[
                OperationItem(
                    name=node.name,
                    operator=node.operator,
                    inputs=list(node.inputs),
                    kernel=by_node.get(node.name),
                    location=places.get(node.name),
                )
                for node in code.nodes
            ],
            kernels=[launch.name for launch in code.launches],
            documents=[uris.get((id(code), launch.name), "") for launch in code.launches],
        )


def _uris(shown: Iterable[ShownDocument]) -> _Uris:
    """Map code and name of each kernel to its document; that of the whole code has no name."""
    return {
        (id(item.document.code), item.document.title if item.document.launches else ""): item.uri
        for item in shown
        if item.document.code is not None and not item.document.built
    }
