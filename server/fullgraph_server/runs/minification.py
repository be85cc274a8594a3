"""A failure of a target, shrunk to a repro."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fullgraph_compiler.facts import (
    Fact,
    MinifyProgress,
    MinifyRequest,
    Program,
    ReproWritten,
    RunFinished,
    StageChecked,
    Status,
    TargetProblem,
)

from ..text.markdown import code_span
from ..workspace.own_folder import own_folder
from .plan import Plan
from .schedule import Runs

NOTHING_FAILS = "Nothing fails: there is no failure to minify."


class Minified:
    """What a minification has told."""

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
        """The newest numbers of the repro, if there is one."""
        return (self.written or self.progress) if _has_text(self.output) else None

    @property
    def progress_message(self) -> str:
        """How far it is."""
        if self.progress is None:
            return f"looking for the stage at fault, {self.checked} checked"
        left = f"{self.progress.nodes} of {self.progress.nodes_at_first} nodes left"
        return f"minifying: {left}, {self.progress.queries} queries, {self.progress.seconds:.0f} s"

    @property
    def message(self) -> str:
        """What became of it, in one sentence."""
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


@dataclass(frozen=True)
class Failing:
    """Which failure is meant: by the number of its fault, by its graph, or the first one."""

    fault: int = 0
    compile_id: str = ""


class Minification:
    """The minification of one failure of a target, its repro kept at ``root``. Execute it once."""

    def __init__(self, runs: Runs, plan: Plan, failing: Failing, generation: int, root: Path) -> None:
        program = plan.target.program
        assert isinstance(program, Program), "others are refused"
        self.target = plan.target
        self._minified = Minified(new_repro(root, plan.target.filename))
        request = MinifyRequest(
            generation=generation,
            program=program,
            output=str(self._minified.output),
            failure=failing.fault,
            compile_id=failing.compile_id,
            texts=plan.texts,
        )
        self._run = runs.beside(plan, request)

    def cancel(self) -> None:
        """Stop it; the best repro so far stays."""
        self._run.cancel()

    async def execute(self, on_progress: Callable[[str], None]) -> Minified:
        """Shrink the failure; ``on_progress`` is told how far that is."""

        def take(facts: Sequence[Fact]) -> None:
            self._minified.take(facts)
            on_progress(self._minified.progress_message)

        try:
            await self._run.execute(take)
        finally:
            if self._minified.size is None:
                self._minified.output.unlink(missing_ok=True)
        return self._minified


def new_repro(root: Path, filename: str) -> Path:
    """A new, empty file for the repro of a failure in ``filename``. Raises ``OSError``."""
    folder = own_folder(root, "repros")
    for number in itertools.count(1):
        path = folder / f"{Path(filename).stem}-{number}.py"
        try:
            path.open("x").close()
        except FileExistsError:
            continue
        return path
    raise AssertionError


def _call(written: ReproWritten) -> str:
    """What the repro is of a failure that no graph has."""
    where = f", in {code_span(written.stack[-1].function)}" if written.stack else ""
    return f"the call that goes wrong in Dynamo{where}"


def _has_text(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False
