"""Plans and jobs: everything that a run needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from fullgraph_compiler.facts import Depth, Fact, SourceText

from ..compare.baseline import Baseline
from ..report.fold import fold
from ..report.model import Report
from ..traces.seen_calls import seen_calls
from ..workers.settings import RunSettings
from ..workspace.targets import Target, problem_facts
from ..workspace.workspace import Workspace
from .effective_settings import SettingOverrides
from .engine import RunEngine
from .program_run import to_stderr


@dataclass(frozen=True)
class RunPlan:
    """Everything that a run needs.

    A plan is made when its run starts, so that it contains the newest text.
    """

    target: Target
    settings: RunSettings
    workspace: Workspace
    """The workspace with the texts that the run sees."""
    texts: tuple[SourceText, ...] = ()
    """The texts that differ from the files on disk."""
    baseline: Baseline = field(default_factory=Baseline)
    """Accepted findings, which are hidden; empty on the command line, where commands read the baseline."""
    goes_deeper: bool = False
    """Whether TorchInductor also runs, in the background, once no other run is in progress."""
    tries_fixes: bool = False
    """Whether fixes of the findings are tried without a request."""

    def of_cells(self) -> RunPlan:
        """Return the plan with only the cells of a notebook that its target runs.

        The plan of a target that is not a notebook is returned unchanged.
        """
        filename = self.target.filename
        source = self.workspace.source(filename)
        if source is None or not source.cells:
            return self
        program, read = source.until(self.target.cells), self.workspace.read
        others = (text for text in self.texts if text.filename != filename)
        return replace(
            self,
            workspace=replace(self.workspace, read=lambda name: program if name == filename else read(name)),
            texts=(*others, SourceText(filename, program.text)),
        )

    def switched(self, switches: Mapping[str, Any]) -> RunPlan:
        """Return the plan with some attributes of its switches set."""
        changed = replace(self.settings.switches, **switches)
        return replace(self, settings=replace(self.settings, switches=changed))

    def in_background(self) -> RunPlan:
        """Return the plan of a background run: low priority, file changes discarded."""
        plan = self.switched({"files": "discard"})
        return replace(plan, settings=replace(plan.settings, low_priority=True))

    def stretched(self, factor: float) -> RunPlan:
        """Return the plan with its time limits multiplied by ``factor``."""
        return replace(self, settings=self.settings.stretched(factor))

    def depth(self, requested: Depth) -> Depth:
        """Return the depth at which the run is made.

        For a preview, ``build`` becomes ``kernels``: at this depth, a preview already builds its kernels.
        """
        return "kernels" if requested == "build" and self.settings.switches.device else requested

    def fold(self, generation: int, depth: Depth, torch: str, facts: Sequence[Fact]) -> Report:
        """Return the report of the facts of one process."""
        target, workspace = self.target, self.workspace
        facts = (*problem_facts(target), *facts)
        report = fold(target.id, generation, torch, facts, workspace, target.filename, depth)
        return replace(report, calls=seen_calls(facts, workspace))


class RunPlanner(Protocol):
    """A function that makes the plans of runs."""

    async def __call__(self, target: str, overrides: SettingOverrides | None = None, /) -> RunPlan | None:
        """Make the plan of a target's next run; ``None`` if the target is gone.

        ``overrides`` are settings of a folder that the client has just sent.
        """


@dataclass(frozen=True)
class RunJob:
    """One run of a target: its plan, and the receivers of its reports and output."""

    plan: RunPlan
    generation: int
    depth: Depth
    engine: RunEngine
    libraries: Sequence[str] = ()
    """The installed modules that the target's program imported in its last runs."""
    on_report: Callable[[Report], None] | None = None
    """Gets a report of all facts so far whenever facts arrive; ``None`` to make only the last report."""
    on_output: Callable[[str], None] = to_stderr
    """Gets what the target's program prints."""
    on_facts: Callable[[Sequence[Fact]], object] = bool
    """Gets the facts of the target's program as they arrive, for a display of progress."""

    def fold(self, torch: str, facts: Sequence[Fact]) -> Report:
        """Return the report of the facts of one process."""
        return self.plan.fold(self.generation, self.depth, torch, facts)
