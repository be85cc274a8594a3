"""A trace as the work of a target: what stands for a run is that its logs are read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fullgraph_compiler.facts import Fact, RunFinished, TargetProblem

from ..engine.plan import Job
from ..engine.report import Report
from ..workspace.targets import Trace
from .logs import NoTraceError, find_logs
from .paths import library_folders
from .reading import Reading
from .trace import read_trace

_SMALL: Final = 16 << 20
"""Bytes of a log, as it lies on disk, of which code is decoded at once; else when it is asked for."""


class TraceWork:
    """Reads the logs of a trace beside the event loop."""

    facts: Sequence[Fact] = ()

    def __init__(self, job: Job, program: Trace) -> None:
        self._job = job
        self._target = job.plan.target
        self._program = program
        self._cancelled = False

    def cancel(self) -> None:
        """Take no more note of what is read."""
        self._cancelled = True

    async def execute(self) -> Report:
        """Read. What cannot be read is told as a finding."""
        report = await asyncio.to_thread(self._read)
        if self._cancelled:
            report = replace(report, status="cancelled")
        if self._job.on_report:
            self._job.on_report(report)
        return report

    def prepare(self, libraries: Sequence[str]) -> None:
        """Nothing: reading needs no process of its own."""

    def depends_on(self, report: Report) -> frozenset[str]:  # noqa: ARG002
        """The logs, which may grow; edits of the source are followed without reading again."""
        return frozenset({self._target.filename})

    def _read(self) -> Report:
        path, rank, target = self._program.path, self._program.rank, self._target.id
        try:
            return read_trace(path, self._reading(), target, self._job.generation, rank)
        except (NoTraceError, OSError) as error:
            message = str(error) if isinstance(error, NoTraceError) else f"{path}: {error.strerror}"
            return self._job.fold("", (TargetProblem("error", message), RunFinished("not-started", 0.0)))

    def _reading(self) -> Reading:
        plan = self._job.plan
        small = find_logs(self._program.path).largest <= _SMALL
        return Reading(
            plan.workspace.root,
            "code" if small or self._job.depth != "graph" else "graphs",
            dict(self._program.folders),
            library_folders(plan.settings.python),
            {text.filename: text.text for text in plan.texts},
        )
