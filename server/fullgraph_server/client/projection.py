"""Finished reports, indexed by the rows and names of one file for hovers.

The index uses the rows of the text that ran; requests about the current text are mapped to those rows.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..report.measured.model import MeasuredSpeed, SpeedCause
from ..report.model import FrameReport, GeneratedCode, Guard, KernelLaunch, Report, SizeCondition, TensorName
from ..runs.schedule import RunSchedule
from ..text.source_names import written_name
from ..workspace.drift import TextDrift
from ..workspace.positions import Span
from .documents import ClientDocuments
from .findings import Drifts, ShownFinding, shown_findings

_LAST = re.compile(r"(?<!\w)\w+$")
"""Matches the last name of an attribute path; a path that does not end in a name is used whole."""

_MOST_TARGETS = 3
"""How many targets with different reports of one function are shown."""


@dataclass(frozen=True)
class NamedGuards:
    """The guards on a value and its parts, grouped by value, kind and expectation.

    Guards that failed come first.
    """

    own: Sequence[Sequence[Guard]]
    parts: Sequence[Sequence[Guard]]

    @cached_property
    def count(self) -> int:
        """The number of guards."""
        return sum(len(group) for group in (*self.own, *self.parts))


@dataclass(frozen=True, eq=False)
class ProjectedFunction:
    """A compiled function, and its rows in the file: decorators, ``def``, body."""

    report: Report
    frame: FrameReport
    first_row: int
    last_row: int
    has_name: bool
    """Whether the function is a ``def`` or lambda in the text, rather than a comprehension or the like."""
    outer: ProjectedFunction | None = None
    _found: dict[str, NamedGuards] = field(default_factory=dict)
    """Cached answers: there can be thousands of guards on one name."""

    def guards_on(self, path: str) -> NamedGuards:
        """Return the guards on a name or attribute path."""
        if path not in self._found:
            names = (name for separator in ".[" for name in self._names_below(path + separator))
            parts = [guard for name in names for guard in self._guards[name]]
            self._found[path] = NamedGuards(grouped(self._guards.get(path, ())), grouped(parts))
        return self._found[path]

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
class FileProjection:
    """Compiled functions and tensors of a report in a file, by row of the run's text."""

    report: Report
    functions: Sequence[ProjectedFunction]
    """Sorted by first row, outer before inner."""
    tensors: Mapping[int, Sequence[TensorName]]
    """Names that hold tensors, by the row in which the name ends."""
    guards: Mapping[tuple[int, str], Sequence[tuple[FrameReport, Guard]]]
    """Guards by the row in which the guarded value is first needed, and the last name of its path; rows of an
    inlined function have the guards of the compiled function that inlined it."""
    sizes: Mapping[int, Sequence[SizeCondition]]
    """Conditions on sizes, by the row that added the condition."""
    costs: Mapping[int, Sequence[SpeedCause]]
    """The causes of time in compiled calls, by their first row."""
    _first_rows: Sequence[int]

    @cached_property
    def mixes_devices(self) -> bool:
        """Whether names in this file hold tensors of several devices."""
        names = itertools.chain.from_iterable(self.tensors.values())
        return len({tensor.device for name in names for tensor in name.shown}) > 1

    def function_at(self, row: int) -> ProjectedFunction | None:
        """Return the innermost compiled function around a row."""
        index = bisect_right(self._first_rows, row) - 1
        function = self.functions[index] if index >= 0 else None
        while function is not None and function.last_row < row:
            function = function.outer
        return function


@dataclass(frozen=True, slots=True)
class ShownTensors:
    """A name that holds tensors, and the row of the current text in which it ends."""

    name: TensorName
    row: int
    with_device: bool
    target: str


class FileView:
    """The finished reports about a file, at the rows of its current text.

    Projections are sorted newest first; if several agree about a function, the newest is used.
    """

    def __init__(self, filename: str, projections: Sequence[FileProjection], drifts: Drifts) -> None:
        self.filename = filename
        self._drifts = drifts
        self._seen = [(item, drifts(item.report, filename)) for item in projections]

    def functions(self) -> Iterator[tuple[ProjectedFunction, int]]:
        """Yield each compiled function whose ``def`` exists, with its current row.

        If reports of targets differ about a function, it is yielded once for each of these targets.
        """
        for (row, _), same in self._by_definition.items():
            yield from ((function, row) for function in same if function.has_name)

    def of_targets(self, function: ProjectedFunction) -> Sequence[ProjectedFunction]:
        """Return the differing versions of a function in several targets, newest first."""
        return next((same for same in self._by_definition.values() if function in same), [function])

    @cached_property
    def _by_definition(self) -> Mapping[tuple[int, str], Sequence[ProjectedFunction]]:
        """The functions by the current row of their ``def`` and their name.

        Each function has the newest versions that differ between targets.
        """
        found: dict[tuple[int, str], list[ProjectedFunction]] = {}
        for projection, drift in self._seen:
            for function in projection.functions:
                if (row := _defined_at(function, drift)) is not None:
                    same = found.setdefault((row, function.frame.function), [])
                    is_new = all(_differ(function, other) for other in same)
                    if is_new and len(same) < _MOST_TARGETS:
                        same.append(function)
        return found

    def functions_at(self, row: int) -> list[tuple[ProjectedFunction, int]]:
        """List the compiled functions around an unedited line, innermost first.

        Each function comes with the row that the line had in the function's run.
        """
        around: dict[tuple[int, str], tuple[ProjectedFunction, int]] = {}
        for projection, drift in self._seen:
            earlier = drift.earlier(row)
            function = projection.function_at(earlier) if earlier is not None else None
            while function is not None and earlier is not None:
                if (defined := _defined_at(function, drift)) is not None:
                    around.setdefault((defined, function.frame.function), (function, earlier))
                function = function.outer
        return [around[key] for key in sorted(around, reverse=True)]

    def findings_at(self, row: int, column: int) -> list[ShownFinding]:
        """Return the findings whose range contains a place."""
        place = (row, column)
        return [
            item
            for item in self.findings_on(row)
            if (item.span.row, item.span.column) <= place <= (item.span.end_row, item.span.end_column)
        ]

    def findings_on(self, row: int) -> list[ShownFinding]:
        """Return the findings whose range touches a line."""
        reports = (projection.report for projection, _ in self._seen)
        shown = shown_findings(self.filename, reports, self._drifts)
        return [item for item in shown if item.span.row <= row <= item.span.end_row]

    @property
    def has_run(self) -> bool:
        """Whether a run imported the file."""
        return bool(self._seen)

    def is_edited(self, row: int) -> bool:
        """Tell whether a line is in none of the texts that ran."""
        return all(drift.earlier(row) is None for _, drift in self._seen)

    def guards_used_at(
        self, row: int, column: int, path: str
    ) -> tuple[Report, Sequence[tuple[FrameReport, Guard]]] | None:
        """Return the newest run's guards on values that an unedited line is first to need.

        ``self.scale`` in an inlined function matches ``self.blocks[0].scale`` of the compiled function.
        """
        for projection, drift in self._seen:
            in_line = projection.guards.get((drift.earlier(row) or 0, path.rpartition(".")[2]), ())
            at_column = [item for item in in_line if item[1].span and _holds(item[1].span, column)]
            if in_line:
                return projection.report, at_column or in_line
        return None

    def sizes_at(self, row: int) -> tuple[Report, Sequence[SizeCondition]] | None:
        """Return the conditions on sizes that an unedited line added, in the newest run."""
        for projection, drift in self._seen:
            if conditions := projection.sizes.get(drift.earlier(row) or 0):
                return projection.report, conditions
        return None

    def launches_at(self, row: int) -> list[tuple[GeneratedCode, KernelLaunch]]:
        """Return the kernel launches for an unedited line, in the newest run with code."""
        for projection, drift in self._seen:
            earlier = drift.earlier(row)
            if projection.report.codes and earlier is not None:
                return [
                    (code, launch)
                    for code in projection.report.codes
                    for launch in code.launches
                    if launch.spans_at(self.filename, earlier)
                ]
        return []

    def tensors(self, first_row: int, last_row: int) -> Iterator[ShownTensors]:
        """Yield the names that hold tensors and end in these rows.

        In each row, the names of the newest run come first.
        """
        for row in range(first_row, last_row + 1):
            for projection, drift in self._seen:
                for name in projection.tensors.get(drift.earlier(row) or 0, ()):
                    if _is_as_it_ran(name, drift):
                        yield ShownTensors(name, row, projection.mixes_devices, projection.report.target)

    def costs(
        self, first_row: int, last_row: int
    ) -> Iterator[tuple[int, MeasuredSpeed, Sequence[SpeedCause]]]:
        """Yield the unedited lines in these rows that cost time in compiled calls.

        The causes of a line are those of the newest run that has causes for the line.
        """
        for row in range(first_row, last_row + 1):
            for projection, drift in self._seen:
                speed = projection.report.speed
                if speed and (causes := projection.costs.get(drift.earlier(row) or 0)):
                    yield row, speed, causes
                    break

    def row(self, report: Report, span: Span) -> int | None:
        """Return the current row of a report's line; ``None`` if edited or deleted."""
        moved = self._drifts(report, span.filename).span(span)
        return moved.span.row if moved.change == "same" else None


class ProjectionCache:
    """Cache of the projections of each file.

    A new report needs a new projection, an edit does not.
    """

    def __init__(self, runs: RunSchedule, documents: ClientDocuments) -> None:
        self._runs = runs
        self._documents = documents
        self._made: dict[str, list[FileProjection]] = {}

    def of(self, filename: str) -> FileView:
        """Return the view of a file from the finished reports."""
        made = self._made.get(filename, ())
        reports = [report for report in self._runs.of_file(filename) if filename in report.files]
        self._made[filename] = [
            next((item for item in made if item.report is report), None) or project(report, filename)
            for report in reports
        ]
        return FileView(filename, self._made[filename], self._documents.drift)


def project(report: Report, filename: str) -> FileProjection:
    """Index a report by the rows and names of a file."""
    source = report.files.get(filename)
    rows = source.functions if source else {}
    functions: list[ProjectedFunction] = []
    frames = (frame for frame in report.frames if frame.filename == filename)
    for frame in sorted(frames, key=lambda frame: (frame.row, frame.function)):
        written = rows.get((frame.row, frame.function))
        first_row, last_row = written or (frame.row, frame.row)
        outer = functions[-1] if functions else None
        while outer is not None and outer.last_row < last_row:
            outer = outer.outer
        functions.append(ProjectedFunction(report, frame, first_row, last_row, written is not None, outer))
    tensors: dict[int, list[TensorName]] = {}
    for name in report.tensors:
        if name.span.filename == filename:
            tensors.setdefault(name.span.end_row, []).append(name)
    guards: dict[tuple[int, str], list[tuple[FrameReport, Guard]]] = {}
    for frame in report.frames:
        for guard in frame.guards:
            if guard.span is not None and guard.span.filename == filename:
                path = written_name(guard.source)
                end = _LAST.search(path)
                last = end[0] if end else path
                guards.setdefault((guard.span.row, last), []).append((frame, guard))
    sizes: dict[int, list[SizeCondition]] = {}
    for condition in report.sizes:
        if condition.span is not None and condition.span.filename == filename:
            sizes.setdefault(condition.span.row, []).append(condition)
    costs: dict[int, list[SpeedCause]] = {}
    for cause in report.speed.causes if report.speed else ():
        if cause.span is not None and cause.span.filename == filename:
            costs.setdefault(cause.span.row, []).append(cause)
    first_rows = [function.first_row for function in functions]
    return FileProjection(report, functions, tensors, guards, sizes, costs, first_rows)


def counts(frame: FrameReport) -> tuple[int, ...]:
    """Return the counts of a function that do not vary from run to run."""
    return frame.graphs, frame.breaks, len(frame.guards), frame.kernels, frame.recompiles


def _differ(one: ProjectedFunction, other: ProjectedFunction) -> bool:
    return one.report.target != other.report.target and counts(one.frame) != counts(other.frame)


def _defined_at(function: ProjectedFunction, drift: TextDrift) -> int | None:
    """Return the current row of a function's ``def``; ``None`` if it was deleted."""
    row, change = drift.line(function.frame.row)
    return None if change == "deleted" else row


def _holds(span: Span, column: int) -> bool:
    return span.row < span.end_row or span.column <= column <= span.end_column


def _is_as_it_ran(name: TensorName, drift: TextDrift) -> bool:
    """Tell whether a name's statement is unedited, if the row of the name is unedited."""
    rows = {name.span.end_row, name.statement.row, name.statement.end_row}
    return len(rows) == 1 or drift.span(name.statement).change == "same"


def grouped(guards: Iterable[Guard]) -> list[list[Guard]]:
    """Group guards by value, kind and expectation; groups with failures come first."""
    groups: dict[tuple[str, str, str], list[Guard]] = {}
    for guard in sorted(guards, key=_importance):
        groups.setdefault((guard.source, guard.kind, guard.expected), []).append(guard)
    return list(groups.values())


def _importance(guard: Guard) -> tuple[bool, bool, bool]:
    return guard.failures == 0, guard.kind != "TENSOR_MATCH", not guard.expected
