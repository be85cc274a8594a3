"""Finished reports, seen from one file: an index by row and by name that a hover reads at once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..engine.names import written_name
from ..engine.report import Finding, FrameReport, Guard, Report
from ..engine.runs import Runs
from ..workspace.source import SourceFile
from .documents import Documents
from .explanation import explanation_uri


@dataclass(frozen=True, eq=False)
class Function:
    """A compiled function, and the rows that it takes: decorators, ``def``, body."""

    frame: FrameReport
    first_row: int
    def_row: int
    last_row: int
    outer: Function | None = None

    def guards_on(self, path: str) -> tuple[Sequence[Guard], Sequence[Guard]]:
        """The guards on a name or attribute path itself, and those on parts of its value."""
        parts: list[Guard] = []
        for separator in ".[":
            for name in self._names_below(path + separator):
                parts += self._guards[name]
        return self._guards.get(path, ()), parts

    def _names_below(self, prefix: str) -> Iterator[str]:
        for index in range(bisect_left(self._names, prefix), len(self._names)):
            if not self._names[index].startswith(prefix):
                return
            yield self._names[index]

    @cached_property
    def _guards(self) -> dict[str, list[Guard]]:
        guards: dict[str, list[Guard]] = {}
        for guard in self.frame.guards:
            guards.setdefault(written_name(guard.source), []).append(guard)
        return guards

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self._guards)


@dataclass(frozen=True, eq=False)
class Projection:
    """What the reports say about one file."""

    functions: Sequence[Function] = ()
    """By first row, outer before inner."""
    findings: Sequence[Finding] = ()
    explanations: Mapping[Finding, str] = field(default_factory=dict)
    """The URI of each finding's full explanation."""
    _first_rows: list[int] = field(default_factory=list)

    def function_at(self, row: int) -> Function | None:
        """The innermost compiled function around a row."""
        index = bisect_right(self._first_rows, row) - 1
        function = self.functions[index] if index >= 0 else None
        while function is not None and function.last_row < row:
            function = function.outer
        return function

    def findings_at(self, row: int, column: int) -> list[Finding]:
        """The findings whose range holds a place, or ends there."""
        place = (row, column)
        return [
            finding
            for finding in self.findings
            if (finding.span.row, finding.span.column)
            <= place
            <= (finding.span.end_row, finding.span.end_column)
        ]


class Projections:
    """The projection of each file, made anew only when a report of it has changed."""

    def __init__(self, runs: Runs, documents: Documents) -> None:
        self._runs = runs
        self._documents = documents
        self._made: dict[str, tuple[list[Report], Projection]] = {}

    def of(self, filename: str) -> Projection:
        """What the finished reports say about a file."""
        reports = [report for report in self._runs.reports() if filename in report.files]
        known = self._made.get(filename)
        if known is None or not _same(known[0], reports):
            source = self._documents.workspace_of(filename).source(filename)
            known = self._made[filename] = (reports, project(filename, reports, source))
        return known[1]


def project(filename: str, reports: Iterable[Report], source: SourceFile | None) -> Projection:
    """Gather what reports say about a file. Of a function that several tell of, the newest counts."""
    newest = sorted(reports, key=lambda report: report.generation)
    frames = {
        (frame.row, frame.function): frame
        for report in newest
        for frame in report.frames
        if frame.filename == filename
    }
    rows = source.functions if source else {}
    functions: list[Function] = []
    for (row, name), frame in sorted(frames.items()):
        first_row, last_row = rows.get((row, name), (row, row))
        outer = functions[-1] if functions else None
        while outer is not None and outer.last_row < last_row:
            outer = outer.outer
        functions.append(Function(frame, first_row, row, last_row, outer))
    findings: dict[tuple[object, ...], Finding] = {}
    explanations: dict[Finding, str] = {}
    for report in newest:
        for index, finding in enumerate(report.findings):
            if finding.span.filename == filename:
                findings[finding.code, finding.span, finding.message] = finding
                explanations[finding] = explanation_uri(report, index)
    first_rows = [function.first_row for function in functions]
    return Projection(functions, list(findings.values()), explanations, first_rows)


def _same(one: Sequence[Report], other: Sequence[Report]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
