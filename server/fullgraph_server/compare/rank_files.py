"""A common name for each library file whose path differs between ranks."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from fullgraph_compiler.facts import GraphTraced

from ..report.model import Finding, FrameReport, Report
from .rank_differences import RankReport

_Functions: TypeAlias = Mapping[str, Collection[tuple[int, str]]]
"""The rows and names of functions by file."""


def with_names_of_all(reports: Sequence[RankReport]) -> Iterator[RankReport]:
    """Yield the reports with a common name for each file whose path differs.

    Two paths are the same file if they have the same base name and a function in the same row, and no rank
    has both paths.
    """
    known: dict[str, set[tuple[int, str]]] = {}
    for item in reports:
        own = _functions(item.report)
        pairs = {filename: _same(filename, own, known) for filename in own if filename not in known}
        often = Counter(pairs.values())
        names = {old: new for old, new in pairs.items() if new and often[new] == 1}
        for filename, functions in own.items():
            known.setdefault(names.get(filename, filename), set()).update(functions)
        yield replace(item, report=_renamed(item.report, names)) if names else item


def _functions(report: Report) -> _Functions:
    functions: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
    for frame in report.frames:
        if frame.filename not in report.files:
            functions[frame.filename].add((frame.row, frame.function))
    return functions


def _same(filename: str, own: _Functions, known: _Functions) -> str:
    """Return the file's name on earlier ranks; empty if missing or ambiguous."""
    name, functions = os.path.basename(filename), set(own[filename])
    found = [
        other
        for other in known
        if other not in own and os.path.basename(other) == name and not functions.isdisjoint(known[other])
    ]
    return found[0] if len(found) == 1 else ""


def _renamed(report: Report, names: Mapping[str, str]) -> Report:
    return replace(
        report,
        frames=tuple(_frame(frame, names) for frame in report.frames),
        findings=tuple(_finding(finding, names) for finding in report.findings),
    )


def _frame(frame: FrameReport, names: Mapping[str, str]) -> FrameReport:
    return replace(
        frame,
        filename=names.get(frame.filename, frame.filename),
        traced=tuple(_graph(graph, names) for graph in frame.traced),
    )


def _graph(graph: GraphTraced, names: Mapping[str, str]) -> GraphTraced:
    stack = (replace(frame, filename=names.get(frame.filename, frame.filename)) for frame in graph.stack)
    return replace(graph, stack=tuple(stack))


def _finding(finding: Finding, names: Mapping[str, str]) -> Finding:
    span = finding.span
    return replace(finding, span=replace(span, filename=names.get(span.filename, span.filename)))
