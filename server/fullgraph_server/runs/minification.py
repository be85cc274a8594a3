"""Minification: shrinks a failure of a target to a repro."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from fullgraph_compiler.facts import (
    Fact,
    Level,
    MinifyProgress,
    MinifyRequest,
    Program,
    ReproWritten,
    RunFinished,
    StageChecked,
    Status,
    TargetProblem,
)

from ..analyses.suitability import unsuited
from ..report.model import Finding, Report
from ..text.markdown import code_span
from ..workspace.own_folder import own_folder
from .plan import RunPlan, RunPlanner
from .program_run import WorkerRun
from .schedule import RunSchedule

NOTHING_FAILS = "Nothing fails: there is no failure to minify."


class MinifyResult:
    """The result of a minification, final or so far, made from its facts."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.status: Status | None = None
        self.progress: MinifyProgress | None = None
        self.written: ReproWritten | None = None
        self.problem = ""
        self.checked = 0

    def take(self, facts: Sequence[Fact]) -> None:
        """Take the newest facts."""
        for fact in facts:
            if isinstance(fact, MinifyProgress):
                self.progress = fact
            elif isinstance(fact, StageChecked):
                self.checked += 1
            elif isinstance(fact, ReproWritten):
                self.written = fact
            elif isinstance(fact, TargetProblem):
                self.problem = fact.message
            elif isinstance(fact, RunFinished):
                self.status = fact.status

    @property
    def size(self) -> MinifyProgress | ReproWritten | None:
        """The newest counts of the repro; ``None`` if there is no repro."""
        return (self.written or self.progress) if _has_text(self.output) else None

    @property
    def progress_message(self) -> str:
        """The progress in a few words."""
        if self.progress is None:
            return f"looking for the stage at fault, {self.checked} checked"
        left = f"{self.progress.nodes} of {self.progress.nodes_at_first} nodes left"
        return f"minifying: {left}, {self.progress.queries} queries, {self.progress.seconds:.0f} s"

    @property
    def message(self) -> str:
        """The result in one sentence."""
        size, name = self.size, self.output.name
        if size is None:
            stopped = self.status == "cancelled"
            return "Stopped before there was a repro." if stopped else self.problem or NOTHING_FAILS
        numbers = f"{size.nodes} of {size.nodes_at_first} nodes, {size.queries} queries, {size.seconds:.1f} s"
        if self.written is None:
            why = "Stopped" if self.status == "cancelled" else self.problem.rstrip(".") or "It ended early"
            return f"{why}: {name} is the smallest repro so far: {numbers}"
        fails = "still fails when run" if self.written.reproduces else "does not fail when run by itself"
        return f"{name}: {numbers if self.written.nodes else _call(self.written)}; {fails}"

    @property
    def hint(self) -> str:
        """The result as advice for the failure."""
        return f"Minified to {self.message}." if self.written else f"{self.message}."


@dataclass(frozen=True)
class FailureChoice:
    """The failure to minify, chosen by fault number or graph; by default the first.

    ``level`` is the form of the graph that is minified; ``None`` for the form that suits the failure.
    """

    fault: int = 0
    compile_id: str = ""
    level: Level | None = None


class Minification:
    """The minification of one failure of a target into a file. Execute it once.

    ``start`` creates the run of the request; in an editor, this run is outside of the schedule.
    """

    def __init__(
        self,
        plan: RunPlan,
        failing: FailureChoice,
        output: Path,
        start: Callable[[RunPlan, MinifyRequest], WorkerRun],
    ) -> None:
        program = plan.target.program
        assert isinstance(program, Program), "others are refused"
        self.target = plan.target
        self.minified = MinifyResult(output)
        request = MinifyRequest(
            generation=1,
            program=program,
            output=str(output),
            failure=failing.fault,
            compile_id=failing.compile_id,
            level=failing.level,
            texts=plan.texts,
        )
        self._run = start(plan, request)

    def cancel(self) -> None:
        """Stop the minification; the best repro so far stays."""
        self._run.cancel()

    async def execute(self, on_progress: Callable[[str], None]) -> MinifyResult:
        """Shrink the failure.

        ``on_progress`` gets a message about each step.
        """

        def take(facts: Sequence[Fact]) -> None:
            self.minified.take(facts)
            on_progress(self.minified.progress_message)

        await self._run.execute(take)
        return self.minified


class CannotMinifyError(Exception):
    """A refusal to minify; its message is a sentence for the user."""


Display: TypeAlias = Callable[[Minification], AbstractContextManager[Callable[[str], None]]]
"""Shows a minification while it runs; the context yields a function that shows progress messages."""


class Minifications:
    """The minifications of an editor, one at a time: each uses several processes.

    Repros are written below the folder that ``keeping_root`` returns for a file; if it returns ``None``,
    the minification is refused.
    """

    def __init__(
        self, plan: RunPlanner, runs: RunSchedule, keeping_root: Callable[[str], Path | None]
    ) -> None:
        self._plan = plan
        self._runs = runs
        self._keeping_root = keeping_root
        self._turn = asyncio.Lock()
        self._target = ""
        self._stopped = False
        self._minification: Minification | None = None
        self._repros: dict[str, Path] = {}

    def repro(self, target: str) -> Path | None:
        """Return the last repro of a target."""
        return self._repros.get(target)

    def stop(self, target: str | None = None) -> None:
        """Stop the minification in progress, if it is of ``target`` (``None``: of any).

        The best repro so far stays.
        """
        if self._turn.locked() and target in (None, self._target):
            self._stopped = True
            if self._minification is not None:
                self._minification.cancel()

    async def close(self) -> None:
        """Stop the minification in progress, and wait until it has ended."""
        self.stop()
        async with self._turn:
            pass

    async def minify(self, target: str, failing: FailureChoice, display: Display) -> MinifyResult:
        """Shrink a failure of a target into a new file. Raises :class:`CannotMinifyError`."""
        if self._turn.locked():
            raise CannotMinifyError("Another failure is being minified: stop that first, or wait for it.")
        async with self._turn:
            self._target, self._stopped = target, False
            plan = await self._plan(target)
            if plan is None:
                raise CannotMinifyError(f"The target {target} no longer exists.")
            if problem := unsuited(plan.target, "minify"):
                raise CannotMinifyError(problem)
            try:
                minified = await self._execute(plan, failing, display)
            except OSError as error:
                raise CannotMinifyError(f"The repro cannot be written: {error}.") from error
            finally:
                self._minification = None
        if minified.size is not None:
            self._repros[target] = minified.output
            self._add_layer(target, failing, minified)
        return minified

    def _add_layer(self, target: str, failing: FailureChoice, minified: MinifyResult) -> None:
        """Show the outcome on the line of the failure, if a run has found the failure."""
        size = minified.size
        for report in self._runs.results(target):
            meant = (item for item in report.findings if item.minifiable and not item.of_run)
            finding = next((item for item in meant if _is_meant(item, failing)), None)
            if finding is not None and size is not None:
                told = replace(finding, hints=(minified.hint, *finding.hints))
                layer = Report(target, 0, report.torch, "finished", size.seconds, (told,), layer="minify")
                self._runs.add(replace(layer, files=report.files))
                return

    async def _execute(self, plan: RunPlan, failing: FailureChoice, display: Display) -> MinifyResult:
        root = self._keeping_root(plan.target.filename)
        if root is None:
            raise CannotMinifyError("A repro is saved in the open folder: open a folder first.")
        output = _new_repro(root, plan.target.filename)
        minification = self._minification = Minification(plan, failing, output, self._runs.beside)
        if self._stopped:
            minification.cancel()
        try:
            with display(minification) as show:
                return await minification.execute(show)
        finally:
            if minification.minified.size is None:
                output.unlink(missing_ok=True)


def _new_repro(root: Path, filename: str) -> Path:
    """Create an empty file for a repro.

    The repro is named after ``filename``, the file with the failure. Raises ``OSError``.
    """
    folder, stem = own_folder(root, "repros"), Path(filename).stem
    for number in itertools.count(1):
        path = folder / f"{stem}-{number}.py"
        try:
            path.open("x").close()
        except FileExistsError:
            continue
        return path
    raise AssertionError


def _is_meant(finding: Finding, failing: FailureChoice) -> bool:
    if failing.fault:
        return finding.fault == failing.fault
    return not failing.compile_id or failing.compile_id in finding.compile_ids


def _call(written: ReproWritten) -> str:
    """Describe the repro of a failure for which there is no graph."""
    where = f", in {code_span(written.stack[-1].function)}" if written.stack else ""
    return f"the call that goes wrong in Dynamo{where}"


def _has_text(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False
