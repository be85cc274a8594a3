"""Text: the stages of the program and of each graph, then the stage at fault."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TextIO

from fullgraph_compiler.facts import StageChecked
from rich.text import Text

from ...report.faults import open_words, stage_lines, verdict
from ...report.model import Report
from ..output import clean_console
from ..resolve import as_typed
from .checked import Checked
from .places import shown_row
from .text import print_finding


def write(reports: Iterable[Checked], targets: int, out: TextIO) -> None:  # noqa: ARG001
    """Write each report as soon as it is complete."""
    console = clean_console(out)
    for checked in reports:
        report = checked.report
        for compile_id, stages in _by_graph(report):
            console.print(Text(_title(report, compile_id), "bold"))
            for stage, line in zip(stages, stage_lines(stages), strict=True):
                console.print(Text(f"  {line}", "red" if stage.failure else ""))
            console.print()
        for graph in filter(lambda graph: graph.compile_id, report.unchecked):
            console.print(Text(_title(report, graph.compile_id), "bold"))
            console.print(Text("  not checked"))
            console.print()
        failures = [finding for finding in report.findings if finding.severity == "error" or finding.fault]
        for finding in failures:
            print_finding(console, checked, finding)
        conclusion = open_words(report) if failures else verdict(report)
        if conclusion:
            console.print(Text(conclusion, "bold"))
        for finding in failures:
            if finding.fault and finding.minifiable:
                target = as_typed(checked.target)
                purpose = "Shrink it to a repro" if finding.has_graph else "Write a repro of it"
                console.print(f"{purpose}: fullgraph minify {target} --failure {finding.fault}")


def _by_graph(report: Report) -> Iterator[tuple[str, list[StageChecked]]]:
    """Yield the stages of the whole program (its compile id is empty), then those of each graph."""
    stages = sorted(report.stages, key=lambda stage: stage.compile_id != "")
    order = {stage.compile_id: index for index, stage in reversed(list(enumerate(stages)))}
    stages.sort(key=lambda stage: order[stage.compile_id])
    for compile_id, group in itertools.groupby(stages, key=lambda stage: stage.compile_id):
        yield compile_id, list(group)


def _title(report: Report, compile_id: str) -> str:
    if not compile_id:
        return "The whole program"
    span = next((graph.span for graph in report.graphs if graph.compile_id == compile_id), None)
    return f"Graph {compile_id}" + (f", {shown_row(span.filename, span.row)}" if span else "")
