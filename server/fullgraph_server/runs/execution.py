"""Executions: each makes the report of one generation, for any kind of target."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from fullgraph_compiler.facts import Fact, PreviewDeferred, Program, RunFinished, RunRequest

from ..report.finding_builder import by_place
from ..report.model import Finding, Report
from ..workers.crash import REPORT_IT, own_failure
from ..workspace.positions import Span
from ..workspace.targets import TorchrunJob, Trace
from .partial_reports import PartialReports
from .plan import RunJob
from .previews import PreviewRun, no_preview
from .torchrun import TorchrunExecution
from .trace_execution import TraceExecution

_log = logging.getLogger(__name__)


class TargetExecution(Protocol):
    """One execution of a target, which makes one report. Execute it once."""

    @property
    def facts(self) -> Sequence[Fact]:
        """The facts from which the report is made."""

    def cancel(self) -> None:
        """End the execution now; the facts so far are kept."""

    async def execute(self) -> Report:
        """Make the report.

        Failures of the target's programs are part of the report; only an error of Fullgraph is raised.
        """

    def prepare(self, libraries: Sequence[str]) -> None:
        """Prepare for the next execution, whose program imports ``libraries``."""

    def depends_on(self, report: Report) -> frozenset[str]:
        """Return the files that the report depends on."""


def execution_of(job: RunJob) -> TargetExecution:
    """Create the execution of a target's job."""
    program = job.plan.target.program
    if isinstance(program, Trace):
        return TraceExecution(job, program)
    return (
        TorchrunExecution(job, program)
        if isinstance(program, TorchrunJob)
        else ProgramExecution(job, program)
    )


async def report_of(job: RunJob) -> Report:
    """Make the report of a job; an error of Fullgraph itself becomes a finding."""
    try:
        return await execution_of(job).execute()
    except Exception as error:
        target = job.plan.target
        return failed_report(Report(target.id, job.generation), target.filename, error)


def failed_report(partial: Report, filename: str, error: Exception) -> Report:
    """Return the report of a run in which Fullgraph itself failed.

    The report is ``partial`` plus a finding for the error, on the first line of the target's ``filename``.
    The traceback goes to the log.
    """
    _log.error("the run of %s failed", partial.target, exc_info=error)
    place = Span(filename, 1, 1, 1, 1)
    finding = Finding("target-error", "target-error", "error", own_failure(error), place, hints=(REPORT_IT,))
    findings = sorted((*partial.findings, finding), key=by_place)
    return replace(partial, status="crashed", findings=tuple(findings))


class ProgramExecution:
    """One run of a program in a worker."""

    def __init__(self, job: RunJob, program: Program) -> None:
        plan = job.plan
        request = RunRequest(job.generation, program, job.depth, plan.texts)
        self.facts: list[Fact] = []
        self._job = job
        self._run = job.engine.run(plan, request, job.on_output, job.libraries)
        self._preview: PreviewRun | None = None
        self._end: RunFinished | None = None
        """The last fact of the program, held back while another interpreter compiles the program's graphs."""
        self._reporting = PartialReports(self._report, job.on_report)

    def cancel(self) -> None:
        """End the run."""
        self._run.cancel()
        if self._preview is not None:
            self._preview.cancel()

    async def execute(self) -> Report:
        """Run the program."""
        try:
            await self._run.execute(self._take)
            if self._preview is not None and self._end is not None:
                begun = time.monotonic()
                await self._preview.execute(self._take)
                self._take([replace(self._end, seconds=self._end.seconds + time.monotonic() - begun)])
            return await self._reporting.finish()
        finally:
            self._reporting.close()

    def prepare(self, libraries: Sequence[str]) -> None:
        """Prepare a worker for the next run."""
        self._job.engine.expect(self._job.plan.settings, libraries)

    def depends_on(self, report: Report) -> frozenset[str]:
        """Return the files that the program imported."""
        return frozenset(report.files)

    def _take(self, facts: Sequence[Fact]) -> None:
        self._job.on_facts(facts)
        for fact in facts:
            if isinstance(fact, PreviewDeferred):
                self._go_on_elsewhere(fact)
            elif isinstance(fact, RunFinished) and self._preview is not None and self._end is None:
                self._end = fact
            else:
                self.facts.append(fact)
        if self.facts and isinstance(self.facts[-1], RunFinished):
            self._reporting.end()
        else:
            self._reporting.more()

    def _go_on_elsewhere(self, deferred: PreviewDeferred) -> None:
        python = self._job.plan.settings.preview_python
        if python is None:
            self.facts.append(no_preview(deferred, self._run.torch))
        elif deferred.graphs:
            self._preview = PreviewRun(self._job, deferred, python, self._run.torch)

    def _report(self) -> Report:
        return self._job.fold(self._run.torch, tuple(self.facts))
