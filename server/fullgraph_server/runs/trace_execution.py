"""The execution of a trace, whose logs are read instead of running a program."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from fullgraph_compiler.facts import Fact, RunFinished, Status, TargetProblem

from ..report.model import Report
from ..traces.child import ChildDiedError, FunctionProcess
from ..traces.paths import library_folders
from ..traces.reading import ReadOptions
from ..traces.trace import report_or_problem
from ..workspace.targets import Trace
from .plan import RunJob

_log = logging.getLogger(__name__)
_FAILED = "The trace cannot be read: the process that reads it has ended. Fullgraph's log says why."


class TraceExecution:
    """An execution that reads the logs of a trace, in a separate process."""

    facts: Sequence[Fact] = ()

    def __init__(self, job: RunJob, program: Trace) -> None:
        self._job = job
        self._target = job.plan.target
        self._program = program
        self._child = FunctionProcess()
        self._cancelled = False

    def cancel(self) -> None:
        """End the reading."""
        self._cancelled = True
        self._child.kill()

    async def execute(self) -> Report:
        """Read the logs. A log that cannot be read becomes a finding."""
        report = await self._read()
        if self._job.on_report and report.status != "cancelled":  # the report of an earlier reading stays
            self._job.on_report(report)
        return report

    def prepare(self, libraries: Sequence[str]) -> None:
        """Do nothing: each reading starts a new process."""

    def depends_on(self, report: Report) -> frozenset[str]:  # noqa: ARG002
        """Return the path of the logs, to which more may be written.

        Edits of the source need no new reading: findings move with the edited lines.
        """
        return frozenset({self._target.filename})

    async def _read(self) -> Report:
        path, rank = self._program.path, self._program.rank
        arguments = (path, self._reading(), self._target.id, self._job.generation, rank)
        try:
            # This process owns the folder for unpacked logs, since the process that reads may be killed.
            with TemporaryDirectory(prefix="fullgraph-", ignore_cleanup_errors=True) as folder:
                result: Report | str = await self._child.call(report_or_problem, *arguments, Path(folder))
        except (ChildDiedError, OSError) as error:
            if self._cancelled:
                return self._without("cancelled")
            _log.error("reading %s has failed: %s", path, error)
            result = _FAILED
        return result if isinstance(result, Report) else self._without("not-started", result)

    def _without(self, status: Status, problem: str = "") -> Report:
        """Make the report of a trace that could not be read."""
        problems = (TargetProblem("error", problem),) if problem else ()
        return self._job.fold("", (*problems, RunFinished(status, 0.0)))

    def _reading(self) -> ReadOptions:
        plan = self._job.plan
        return ReadOptions(
            plan.workspace.root,
            "code" if self._job.depth != "graph" else "graphs",
            dict(self._program.folders),
            library_folders(plan.settings.python),
            {text.filename: text.text for text in plan.texts},
        )
