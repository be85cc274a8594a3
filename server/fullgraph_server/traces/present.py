"""The report of a trace, moved to the current text of the files.

Output that cannot follow later edits, such as a terminal's, shows the moved report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..report.model import Finding, FrameCompilation, FrameReport, Guard, Report, SeenCall
from ..workspace.drift import TextDrift
from ..workspace.positions import Span, StackCall
from ..workspace.source import SourceFile
from ..workspace.workspace import Workspace


def as_it_is_now(report: Report, workspace: Workspace) -> Report:
    """Move the places of a report to where their lines are in the current files.

    Add a hint to each finding on a line that has changed.
    """
    moving = _PlaceMap(report.files, workspace)
    return replace(
        report,
        findings=tuple(map(moving.finding, report.findings)),
        frames=tuple(map(moving.frame, report.frames)),
        compilations=tuple(map(moving.compilation, report.compilations)),
        calls=tuple(map(moving.seen_call, report.calls)),
        files={name: workspace.source(name) for name in report.files},
    )


class _PlaceMap:
    """A map from places of a report to places in the current files."""

    def __init__(self, files: Mapping[str, SourceFile | None], workspace: Workspace) -> None:
        self._files = files
        self._drifts = {name: TextDrift(ran, workspace.source(name)) for name, ran in files.items()}

    def finding(self, finding: Finding) -> Finding:
        span = finding.span
        moved = replace(finding, span=self.span(span), stack=tuple(map(self._call, finding.stack)))
        ran = self._files.get(span.filename)
        if ran is None or self._drifts[span.filename].span(span).change == "same":
            return moved
        hint = f"This line has changed since the trace, in which it was: {ran.line(span.row).strip()}"
        return replace(moved, hints=(hint, *finding.hints))

    def frame(self, frame: FrameReport) -> FrameReport:
        guards = tuple(self._guard(guard) for guard in frame.guards)
        return replace(frame, row=self._row(frame.filename, frame.row), guards=guards)

    def seen_call(self, call: SeenCall) -> SeenCall:
        return replace(call, row=self._row(call.filename, call.row))

    def compilation(self, item: FrameCompilation) -> FrameCompilation:
        return replace(item, span=self.span(item.span), caller=item.caller and self.span(item.caller))

    def span(self, span: Span) -> Span:
        drift = self._drifts.get(span.filename)
        return drift.span(span).span if drift else span

    def _guard(self, guard: Guard) -> Guard:
        return replace(guard, span=self.span(guard.span)) if guard.span else guard

    def _call(self, call: StackCall) -> StackCall:
        return replace(call, row=self._row(call.filename, call.row))

    def _row(self, filename: str, row: int) -> int:
        drift = self._drifts.get(filename)
        return drift.line(row)[0] if drift else row
