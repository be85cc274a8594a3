"""The request ``fullgraph/atLine``: everything known about a line.

A view that follows the cursor shows the answer. The sections of the answer repeat what hovers, hints, gutter
bars and lenses say about the line, in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from lsprotocol import types

from ..client.findings import ShownFinding
from ..client.projection import FileView, ProjectedFunction, ShownTensors
from ..features.code_lens import summary
from ..features.context import ServerContext
from ..features.explanation import explanation_uri
from ..features.fix_actions import FixActions
from ..features.guard_text import GuardGroup, compilation_text, guard_group_text, guards_in, sizes_text
from ..features.hover import finding_text
from ..features.inlay_hint import label, tooltip
from ..features.kernels import CodeMap, DocumentLaunch
from ..protocol.lines import AtLineItem, AtLineParams, LineEntry, LineSection, LineSectionKind
from ..protocol.names import AT_LINE
from ..report.kernels import operators
from ..report.model import FrameCompilation, GraphLines, NumberedGraph, Report, SizeCondition
from ..text.markdown import fenced
from ..text.messages import counted, first_line, guard_words
from ..text.source_names import written_name
from ..workspace.positions import Span
from .graph_lines import placed, words

_MOST_ENTRIES = 30

_Item = TypeVar("_Item")

_NO_RUN = "Nothing is known of this line: no run has imported this file. Analyze it to see more."
_EDITED = "Nothing is known of this line: it was edited since the run. Analyze the file again to see more."
_NOTHING = "Nothing is known of this line: the last run compiled nothing here."


def register(context: ServerContext, kernels: CodeMap, fix_actions: FixActions) -> None:
    """Register the handler of ``fullgraph/atLine``."""

    @context.server.feature(AT_LINE)
    async def at_line(params: AtLineParams) -> AtLineItem:
        filename = context.documents.filename(params.text_document.uri)
        if filename is None:
            return AtLineItem([], _NO_RUN)
        row = params.position.line + 1
        lines = placed(filename, context.runs.of_file(filename), context.documents.drift)
        here = LineView(
            context.projections.of(filename),
            row,
            context.documents.line(filename, row),
            next((item for first, last, item in lines if first <= row <= last), None),
            kernels.launches(filename, row),
            context.documents.location,
            fix_actions.title,
        )
        return here.item()


@dataclass(frozen=True)
class LineView:
    """A line of the current text, with the reports about it."""

    view: FileView
    row: int
    text: str
    ran: GraphLines | None
    launches: Sequence[DocumentLaunch]
    locate: Callable[[Report, Span], types.Location]
    fix_of: Callable[[ShownFinding], str] = lambda _: ""
    """Returns the title of the best verified fix of a finding; empty if there is none."""

    def item(self) -> AtLineItem:
        """Compose the sections; the history of the function around the line comes last."""
        around = self.view.functions_at(self.row)
        ran: list[NumberedGraph | str] = [*self.ran.graphs, *self.ran.reasons] if self.ran else []
        tensors = list(self.view.tensors(self.row, self.row))
        guards = guards_in(self.view, around, self.text, self.row)
        sections = [
            _section("findings", "Findings", self.view.findings_on(self.row), self._finding),
            _section("graphs", "Graphs", ran, _graph),
            _section("shapes", "Shapes", tensors, self._shape),
            _section("guards", "Guards", guards, self._guard),
            _section("sizes", "Size Conditions That This Line Adds", self._sizes(), _size),
            _section("kernels", "Kernels", self.launches, _launch),
            *([self._history(around[0][0])] if around else []),
        ]
        shown = [section for section in sections if section.entries]
        return AtLineItem(shown, None if shown else self._why_nothing())

    def _why_nothing(self) -> str:
        if not self.view.has_run:
            return _NO_RUN
        return _EDITED if self.view.is_edited(self.row) else _NOTHING

    def _finding(self, shown: ShownFinding) -> LineEntry:
        finding = shown.finding
        reason, fix = first_line(finding.explanation), self.fix_of(shown)
        return LineEntry(
            shown.message,
            f"{finding.code} ×{finding.count}" if finding.count > 1 else finding.code,
            finding_text(shown),
            [*([reason] if reason else []), *map(first_line, finding.hints), *([fix] if fix else [])],
            finding.severity,
            self.locate(shown.report, finding.span),
            explanation_uri(shown.report.target, finding),
        )

    def _shape(self, shown: ShownTensors) -> LineEntry:
        name = shown.name
        held = label(name, shown.with_device).removeprefix(": ")
        return LineEntry(name.shown[0].name, held, fenced("text", tooltip(name)))

    def _guard(self, guarded: GuardGroup) -> LineEntry:
        report, frame, group = guarded
        guard, failures = group[0], sum(guard.failures for guard in group)
        failed = f"failed {counted(failures, 'time')}" if failures else ""
        return LineEntry(
            written_name(guard.source),
            " · ".join(filter(None, [failed, guard_words(guard.kind, guard.expected, guard.source)])),
            guard_group_text(self.view, report, frame, group),
            location=self.locate(report, guard.span) if guard.span else None,
        )

    def _sizes(self) -> list[tuple[Report, list[SizeCondition]]]:
        """Return the size conditions that the line adds, grouped if equal."""
        found = self.view.sizes_at(self.row)
        if found is None:
            return []
        report, conditions = found
        same: dict[str, list[SizeCondition]] = {}
        for condition in conditions:
            same.setdefault(condition.text, []).append(condition)
        return [(report, group) for group in same.values()]

    def _history(self, function: ProjectedFunction) -> LineSection:
        report, frame = function.report, function.frame
        own = set(frame.compile_ids)

        def entry(item: FrameCompilation) -> LineEntry:
            return LineEntry(
                f"Compilation {item.compile_id}",
                " · ".join(filter(None, [item.reason, f"{item.seconds:.2f} s"])),
                compilation_text(self.view, report, item),
                location=self.locate(report, item.caller) if item.caller else None,
            )

        compilations = [item for item in report.compilations if item.compile_id in own]
        title = f"Compilations of {frame.qualname}"
        return _section("compilations", title, compilations, entry, summary(frame))


def _graph(ran: NumberedGraph | str) -> LineEntry:
    """Describe a graph, or the reason why a line ran eagerly."""
    said, *details = [ran] if isinstance(ran, str) else words(ran)
    return LineEntry(said[:1].upper() + said[1:], " · ".join(details))


def _size(sizes: tuple[Report, list[SizeCondition]]) -> LineEntry:
    report, conditions = sizes
    return LineEntry(conditions[0].text, details=sizes_text(report, conditions))


def _launch(launched: DocumentLaunch) -> LineEntry:
    shown, launch, _, rows = launched
    first = types.Position(rows[0] - 1, 0)
    return LineEntry(
        launch.name,
        " · ".join(filter(None, [shown.document.phase, operators([launch])])),
        location=types.Location(shown.uri, types.Range(first, first)),
    )


def _section(
    kind: LineSectionKind,
    title: str,
    items: Sequence[_Item],
    entry: Callable[[_Item], LineEntry],
    description: str = "",
) -> LineSection:
    """Make a section of the first items; the last entry counts the remaining items."""
    left = len(items) - _MOST_ENTRIES
    more = [LineEntry(f"and {left:,} more")] if left > 0 else []
    return LineSection(kind, title, [*map(entry, items[:_MOST_ENTRIES]), *more], description)
