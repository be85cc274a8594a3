"""Findings as a client sees them: at their place in the text as it is now, each shown once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..protocol import MinifyOptions
from ..report.model import Finding, Report
from ..workspace.drift import Drift
from ..workspace.positions import Span

Drifts: TypeAlias = Callable[[Report, str], Drift]
"""Returns the edits of a file's text since a report's run."""


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding of a report at the place where it is now, or on the text of its line if that was edited."""

    report: Report
    finding: Finding
    span: Span
    edited: bool

    @property
    def message(self) -> str:
        """The finding's sentence, which says if the line was edited since the run."""
        message = self.finding.message
        return f"{message} (edited since the run)" if self.edited else message


def minify_options(report: Report, finding: Finding) -> MinifyOptions | None:
    """Return the minifier's options for a finding; ``None`` if it cannot be minified here."""
    if not (report.repeatable and finding.minifiable):
        return None
    return MinifyOptions(finding.fault, finding.compile_id)


def newest_first(reports: Iterable[Report]) -> list[Report]:
    """Sort reports, the newest first."""
    return sorted(reports, key=lambda report: -report.generation)


def shown_findings(filename: str, reports: Iterable[Report], drifts: Drifts) -> list[ShownFinding]:
    """Return the findings in a file, except on deleted lines. Of equal ones, the first report counts."""
    by_place: dict[tuple[object, ...], ShownFinding] = {}
    fresh: set[tuple[str, int]] = set()
    for report in reports:
        drift = drifts(report, filename)
        for finding in report.findings:
            if finding.of_run or finding.span.filename != filename:
                continue
            moved = drift.span(finding.span)
            edited, line = moved.change == "edited", (finding.code, moved.span.row)
            if moved.change == "deleted" or (edited and line in fresh):
                continue  # a newer run reports it on the line as it is now
            if not edited:
                fresh.add(line)
            shown = ShownFinding(report, finding, moved.span, edited)
            by_place.setdefault((finding.kind, finding.code, shown.span, shown.message), shown)
    return list(by_place.values())


def findings_at(shown: Iterable[ShownFinding], row: int, column: int) -> Iterator[ShownFinding]:
    """Yield the findings whose range holds a place, or ends there."""
    place = (row, column)
    for item in shown:
        span = item.span
        if (span.row, span.column) <= place <= (span.end_row, span.end_column):
            yield item
