"""Findings at their places in the current text, each shown once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..protocol.report import MinifyOptions
from ..report.model import Finding, Report
from ..text.urls import without_secrets
from ..workspace.drift import TextDrift
from ..workspace.positions import Span
from ..workspace.targets import ARGUMENTS, LAUNCH

Drifts: TypeAlias = Callable[[Report, str], TextDrift]
"""Returns the edits of a file's text since a report's run."""

_MOST_TARGETS = 2
"""How many targets a list names before it says ``and 2 more``."""


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding of a report at its current place.

    If its line was edited, the place is the text of that line.
    """

    report: Report
    finding: Finding
    span: Span
    edited: bool
    targets: tuple[str, ...] = ()
    """The targets that have the finding, if another target ran the line without the finding; else empty."""

    @property
    def message(self) -> str:
        """The finding's sentence, with a note if edited, and the names of its targets."""
        message = self.finding.message
        if self.edited:
            message += " (edited since the run)"
        return f"{message} [{names_of(self.targets)}]" if self.targets else message


def minify_options(report: Report, finding: Finding) -> MinifyOptions | None:
    """Return the minifier's options for a finding; ``None`` if it cannot be minified."""
    if not (report.repeatable and finding.minifiable):
        return None
    return MinifyOptions(finding.fault, finding.compile_id)


def newest_first(reports: Iterable[Report]) -> list[Report]:
    """Sort reports, the newest first."""
    return sorted(reports, key=lambda report: -report.generation)


def names_of(targets: Sequence[str]) -> str:
    """List targets in words: ``train.py, test_model.py::test_step and 2 more``."""
    names = list(map(_name, targets))
    left = len(names) - _MOST_TARGETS
    return ", ".join(names[:_MOST_TARGETS]) + (f" and {left} more" if left > 0 else "")


def _name(target: str) -> str:
    path, dashes, arguments = without_secrets(target.removeprefix(LAUNCH)).partition(ARGUMENTS)
    return f"{path.rpartition('/')[2]}{dashes}{arguments}"


def shown_findings(filename: str, reports: Iterable[Report], drifts: Drifts) -> list[ShownFinding]:
    """Return the findings in a file, except those on deleted lines.

    Of equal findings, only the finding of the first report is returned.

    If several targets ran a line and their findings on it differ, each finding names its targets.
    """
    reports = [
        report
        for report in reports
        if filename in report.files or any(item.span.filename == filename for item in report.findings)
    ]
    by_place: dict[tuple[object, ...], ShownFinding] = {}
    finders: dict[tuple[object, ...], list[str]] = {}
    fresh: set[tuple[str, int]] = set()
    for report in reports:
        drift = drifts(report, filename)
        for finding in report.findings:
            if finding.of_run or finding.span.filename != filename:
                continue
            moved = drift.span(finding.span)
            edited, line = moved.change == "edited", (finding.code, moved.span.row)
            if moved.change == "deleted" or (edited and line in fresh):
                continue  # a newer run reports it on the current text of the line
            if not edited:
                fresh.add(line)
            shown = ShownFinding(report, finding, moved.span, edited)
            place = finding.kind, finding.code, shown.span, shown.message
            by_place.setdefault(place, shown)
            finders.setdefault(place, []).append(report.target)
    if len(reports) < 2:
        return list(by_place.values())
    ran = {report.target: _rows(filename, report, drifts(report, filename)) for report in reports}
    return [_named(shown, finders[place], ran) for place, shown in by_place.items()]


def _named(shown: ShownFinding, finders: list[str], ran: Mapping[str, AbstractSet[int]]) -> ShownFinding:
    """Add a finding's targets if another target ran its line without the finding."""
    others = any(shown.span.row in rows for target, rows in ran.items() if target not in finders)
    return replace(shown, targets=tuple(dict.fromkeys(finders))) if others else shown


def _rows(filename: str, report: Report, drift: TextDrift) -> set[int]:
    """Return the current rows of a file whose code a target ran, in graphs or eagerly."""
    spans = (span for lines in report.graph_lines if lines.filename == filename for span in lines.spans)
    found = (item.span for item in report.findings if item.span.filename == filename and not item.of_run)
    rows: set[int] = set()
    for span in (*spans, *found):
        moved = drift.span(span)
        if moved.change != "deleted":
            rows.update(range(moved.span.row, moved.span.end_row + 1))
    return rows
