"""Stages: run a program at each compiler stage, to find the stage at fault."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from fullgraph_compiler.facts import Fact, StageChecked

from ..report.faults import open_words, stage_lines, verdict
from ..report.model import Finding, Report
from ..text.messages import counted
from .analysis import Analysis, CommandLineAnalysis, EditorAnalysis
from .progress import AnalysisProgress
from .shown import BLANK, ReportView, StyledLine, line

_PROGRAM_STAGES: Final = ("uncompiled", "eager")
"""The first stages, which run the whole program; the stages after them run one graph at a time."""


class _StageProgress(AnalysisProgress):
    def __init__(self) -> None:
        super().__init__()
        self._checked: set[str] = set()

    def take(self, fact: Fact) -> None:
        if isinstance(fact, StageChecked):
            self._checked.add(fact.compile_id or fact.stage)

    @property
    def now(self) -> str:
        if not self._checked.issuperset(_PROGRAM_STAGES):
            return "stages 1 and 2 of 5, uncompiled and under Dynamo alone"
        if "compiled" in self._checked:
            return "the compiled program again, with eager random numbers"
        graphs = len(self._checked) - len(_PROGRAM_STAGES)
        return f"stages 3 to 5 of 5, {counted(graphs, 'graph')} checked"


def _lines(shown: ReportView) -> Iterator[StyledLine | Finding]:
    report = shown.report
    for compile_id, stages in _by_graph(report):
        yield line(_title(shown, compile_id), "bold")
        for stage, text in zip(stages, stage_lines(stages), strict=True):
            yield line(f"  {text}", "red" if stage.failure else "")
        yield BLANK
    for graph in filter(lambda graph: graph.compile_id, report.unchecked):
        yield line(_title(shown, graph.compile_id), "bold")
        yield line("  not checked")
        yield BLANK
    failures = [finding for finding in report.findings if finding.severity == "error" or finding.fault]
    yield from failures
    conclusion = open_words(report) if failures else verdict(report)
    if conclusion:
        yield line(conclusion, "bold")
    for finding in failures:
        if finding.fault and finding.minifiable:
            purpose = "Shrink it to a repro" if finding.has_graph else "Write a repro of it"
            yield line(f"{purpose}: fullgraph minify {shown.target} --failure {finding.fault}")


def _by_graph(report: Report) -> Iterator[tuple[str, list[StageChecked]]]:
    """Yield compile ids with their stages: the whole program first, then each graph.

    The compile id of the whole program is empty.
    """
    stages = sorted(report.stages, key=lambda stage: stage.compile_id != "")
    order = {stage.compile_id: index for index, stage in reversed(list(enumerate(stages)))}
    stages.sort(key=lambda stage: order[stage.compile_id])
    for compile_id, group in itertools.groupby(stages, key=lambda stage: stage.compile_id):
        yield compile_id, list(group)


def _title(shown: ReportView, compile_id: str) -> str:
    if not compile_id:
        return "The whole program"
    span = next((graph.span for graph in shown.report.graphs if graph.compile_id == compile_id), None)
    return f"Graph {compile_id}" + (f", {shown.at(span)}" if span else "")


ANALYSIS: Final = Analysis(
    id="stages",
    label="compiler stages",
    doing="looking for the stage at fault in {target}",
    in_one_process="the stage at fault is found",
    repeats=True,
    progress=_StageProgress,
    verdict=verdict,
    lines=_lines,
    in_editor=EditorAnalysis(
        command="fullgraph.stages",
        client="findStage",
        title="Which Stage Is at Fault?",
        question="Eager, Dynamo, AOTAutograd, TorchInductor: the first that fails or differs",
        group="failures and wrong results",
        menu="analyses",
        order=10,
        announced=True,
    ),
    on_command_line=CommandLineAnalysis(
        name="stages",
        answer="Which stage of the compiler is at fault?",
        page="docs/failures.md",
        help="""Find the stage of the compiler that is at fault.

        TARGET (see fullgraph check) runs uncompiled, then captured by Dynamo alone; then each of its
        graphs goes through the stages of the compiler, forward and backward, and results are compared.
        If no stage is at fault, the whole program runs once more, compiled.

        The exit code is 0 if nothing is at fault, 1 if something is, and 2 if the target could not be
        started. It is 3 if nothing is at fault in the graphs that were checked, but some graphs could
        not be checked, or the compiled program prints other lines than the uncompiled one.
        """,
    ),
)
