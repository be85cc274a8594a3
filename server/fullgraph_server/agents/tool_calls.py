"""A call of a tool: the workspace that the tool may read, new and earlier runs."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from fullgraph_compiler.facts import Depth, Fact, Script

from ..analyses.suitability import unsuited
from ..fixes.prover import EditProver
from ..report.model import Finding, Report
from ..runs.engine import RunEngine
from ..runs.execution import report_of
from ..runs.plan import RunJob, RunPlan
from ..runs.program_run import OnOutput, WorkerRequest, WorkerRun
from ..runs.progress import RunProgress
from ..text.urls import is_url, urls_in, without_secrets
from ..workspace.positions import TRACE, Span
from ..workspace.programs import code_file
from ..workspace.targets import ARGUMENTS, PYTEST, Target, Trace
from ..workspace.workspace import Workspace

_T = TypeVar("_T")

_MOST_KEPT = 16
"""How many runs are kept for later calls."""
_MOST_CHARACTERS: Final = 10_000
_MOST_OF: Final[Mapping[str, int]] = {"diff": 500_000}
"""The most characters of arguments that may be longer than ``_MOST_CHARACTERS``."""


class ToolError(Exception):
    """The refusal of a call; its text says why, and what to do."""


def refusal_text(error: ToolError, arguments: Mapping[str, Any]) -> str:
    """Return why a call is refused, without the secrets of URLs in its arguments."""
    texts = [value for name, value in arguments.items() if isinstance(value, str) and name not in _MOST_OF]
    return without_secrets(str(error), urls_in(texts))


def refuse_odd(arguments: Mapping[str, Any]) -> None:
    """Raise :class:`ToolError` for an argument of the wrong type, or too large."""
    for name, value in arguments.items():
        most = _MOST_OF.get(name, _MOST_CHARACTERS)
        if name == "offset":
            if type(value) is not int or not 0 <= value < _MOST_CHARACTERS:
                raise ToolError(f"offset must be a number from 0 to {_MOST_CHARACTERS - 1:,}.")
        elif not isinstance(value, str):
            raise ToolError(f"{name} must be a string.")
        elif len(value) > most:
            raise ToolError(f"{name} has {len(value):,} characters: shorten it to {most:,} at most.")


@dataclass(frozen=True)
class AgentRun:
    """A finished run of a target: its plan and its report."""

    plan: RunPlan
    report: Report


class AgentRuns:
    """The runs of all calls; several calls can run at once. Close it at the end."""

    def __init__(self) -> None:
        self._engine = RunEngine()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._kept: dict[tuple[str, Depth], AgentRun] = {}

    def kept(self, name: str, depth: Depth) -> AgentRun | None:
        """Return the last run at a depth of the target with this name, or ``None``."""
        return self._kept.get((name, depth))

    async def run(self, name: str, plan: RunPlan, depth: Depth, progress: Callable[[str], None]) -> AgentRun:
        """Run the current state of a target, and keep the run under the target's name."""
        shown = RunProgress(plan.target, depth, plan.settings.switches)

        def take(facts: Sequence[Fact]) -> None:
            if shown.take(facts):
                progress(shown.message)

        progress(shown.message)
        job = RunJob(plan, 1, plan.depth(depth), self._engine, on_facts=take)
        ran = AgentRun(plan, await self._owned(report_of(job)))
        self._kept.pop((name, depth), None)
        self._kept[name, depth] = ran
        while len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return ran

    async def prove(
        self, plan: RunPlan, progress: Callable[[str], None], search: Callable[[EditProver], Awaitable[_T]]
    ) -> _T:
        """Return the result of ``search``, which tries edits of a target.

        File changes of the target's runs are discarded.
        """
        return await self._owned(self._proof(plan, progress, search))

    async def close(self) -> None:
        """Cancel everything that is running, and end every process."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._engine.close()

    async def _proof(
        self, plan: RunPlan, progress: Callable[[str], None], search: Callable[[EditProver], Awaitable[_T]]
    ) -> _T:
        runs = 0

        def start(plan: RunPlan, request: WorkerRequest, on_output: OnOutput | None = None) -> WorkerRun:
            nonlocal runs
            runs += 1
            progress(f"proving edits of {plan.target.label}: run {runs}")
            return self._engine.run(plan, request, on_output)

        with tempfile.TemporaryDirectory(prefix="fullgraph-", ignore_cleanup_errors=True) as folder:
            prover = EditProver(plan, start, Path(folder))
            try:
                return await search(prover)
            finally:
                await prover.close()  # may itself be cancelled

    async def _owned(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Await ``work`` in its own task, which can clean up if the call is cancelled."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            raise


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool.

    ``planner`` raises :class:`ToolError` for a name that is not a target.
    """

    runs: AgentRuns
    folders: tuple[Path, ...]
    """The workspace: no file outside these folders is read. Places are relative to the first folder."""
    planner: Callable[[str], Awaitable[RunPlan]]
    progress: Callable[[str], None]

    async def plan(self, name: str, purpose: str = "graph") -> RunPlan:
        """Return the plan of a target's next run.

        Raises :class:`ToolError` if the target does not suit the purpose, or is outside the workspace.
        """
        if is_url(name.partition(ARGUMENTS)[0]):
            raise ToolError("No URL is opened here: name a file of the workspace by its path.")
        path = name.removeprefix(PYTEST).removeprefix(TRACE).partition("::")[0].partition(ARGUMENTS)[0]
        self.refuse_outside(str(self.folders[0] / path))  # before any file there is read
        plan = await self.planner(name)
        plan = replace(plan, target=await asyncio.to_thread(self._pinned, plan.target))
        if problem := unsuited(plan.target, purpose):
            raise ToolError(problem)
        return plan

    async def run(self, name: str, depth: Depth) -> AgentRun:
        """Run a target."""
        return await self.runs.run(name, await self.plan(name, depth), depth, self.progress)

    def last(self, name: str, depth: Depth = "graph", tool: str = "check_target") -> AgentRun:
        """Return a target's last run. Raises :class:`ToolError` if there is no such run."""
        ran = self.runs.kept(name, depth)
        if ran is None:
            raise ToolError(f"{name} was not run yet: call {tool} first.")
        return ran

    def finding(self, name: str, finding: str) -> tuple[AgentRun, Finding]:
        """Return a target's last check, and the finding with this id in the check.

        Raises :class:`ToolError` if there is no such finding.
        """
        ran = self.last(name)
        found = self.ids(ran.report).get(finding)
        if found is None:
            raise ToolError(f"The last check of {name} has no finding {finding}: call check_target again.")
        return ran, found

    def refuse_outside(self, filename: str) -> None:
        """Raise :class:`ToolError` for a file outside the workspace."""
        filename = os.path.normpath(filename)
        if "\0" in filename:
            raise ToolError(f"{filename!r} is not a path: name a file of the workspace.")
        if not self.is_inside(filename):
            folders = ", ".join(map(str, self.folders))
            raise ToolError(f"{filename} is outside of the workspace ({folders}): name a file in it.")

    def is_inside(self, filename: str) -> bool:
        """Return whether a file, with symbolic links followed, is in the workspace."""
        path = Path(os.path.realpath(filename))
        return any(path.is_relative_to(os.path.realpath(folder)) for folder in self.folders)

    def _pinned(self, target: Target) -> Target:
        """Return the target pinned to its file in the workspace.

        Then no other module of the same name can run instead. Raises :class:`ToolError` for a target that is
        outside the workspace or belongs to a library or an environment.
        """
        program = target.program
        if isinstance(program, Script) and (name := program.module or program.console_script):
            filename = code_file(program)
            if filename is None or not self.is_inside(filename):
                raise ToolError(
                    f"{name} is not a module of the workspace: name one of its files, such as model.py, a "
                    "module in it, such as -m package.train, or a test, such as pytest:tests/test_a.py::test."
                )
            program = replace(program, filename=filename, pinned=True)
            target = replace(target, filename=filename, program=program)
        self.refuse_outside(target.filename)
        if isinstance(program, Trace):
            for folder, _, names in os.walk(target.filename):
                for link in filter(os.path.islink, (os.path.join(folder, name) for name in names)):
                    self.refuse_outside(link)
        elif not self._is_own(target.filename):
            raise ToolError(
                f"{target.filename} belongs to a library or an environment: name a file of the project."
            )
        return target

    def _is_own(self, filename: str) -> bool:
        """Return whether a file belongs to the project, not a library or environment."""
        roots = (Path(os.path.realpath(folder)) for folder in self.folders)
        return any(Workspace(root).contains(os.path.realpath(filename)) for root in roots)

    def _path(self, filename: str) -> str:
        """Return a path relative to the workspace's first folder if possible."""
        path, folder = Path(filename), self.folders[0]
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else filename

    def row(self, report: Report, filename: str, row: int) -> str:
        """Return ``model.py:12`` for a row, or ``model.ipynb:cell 3:2`` in a notebook."""
        source = report.files.get(filename)
        return f"{self._path(filename)}:{source.place(row) if source else row}"

    def place(self, report: Report, span: Span) -> str:
        """Return ``model.py:12:5`` for the beginning of a span."""
        return f"{self.row(report, span.filename, span.row)}:{span.column}"

    def ids(self, report: Report) -> dict[str, Finding]:
        """Return findings by id: place and code, plus a number if these are ambiguous."""
        named: dict[str, Finding] = {}
        same: Counter[str] = Counter()
        for finding in report.findings:
            name = f"{self.place(report, finding.span)}:{finding.code}"
            same[name] += 1
            named[f"{name}#{same[name]}" if same[name] > 1 else name] = finding
        return named
