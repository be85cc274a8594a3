"""Plans and jobs: what a run is made of, once its settings and texts are clear."""

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
from .effective_settings import Overrides
from .engine import Engine
from .program_run import to_stderr


@dataclass(frozen=True)
class Plan:
    """All that a run needs. Made when it starts, so that it is of the newest text."""

    target: Target
    settings: RunSettings
    workspace: Workspace
    """Its files are as the run sees them."""
    texts: tuple[SourceText, ...] = ()
    """The files that differ from those on disk."""
    baseline: Baseline = field(default_factory=Baseline)
    """The findings that are left out; none on the command line, which tells of them."""
    goes_deeper: bool = False
    """Whether TorchInductor runs, too, once nothing else does."""
    tries_fixes: bool = False
    """Whether fixes of the findings are tried before anybody asks."""

    def of_cells(self) -> Plan:
        """Return the plan for a notebook, of which the run gets its first cells; any other as it is."""
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

    def switched(self, switches: Mapping[str, Any]) -> Plan:
        """Return the plan with some attributes of its switches set, for one run."""
        changed = replace(self.settings.switches, **switches)
        return replace(self, settings=replace(self.settings, switches=changed))

    def in_background(self) -> Plan:
        """Return the plan of a run that nobody waits for: of low priority, and without changes to files."""
        plan = self.switched({"files": "discard"})
        return replace(plan, settings=replace(plan.settings, low_priority=True))

    def stretched(self, factor: float) -> Plan:
        """Return the plan with limits of time that are so many times as long."""
        return replace(self, settings=self.settings.stretched(factor))

    def depth(self, requested: Depth) -> Depth:
        """Return the depth of a run: a preview builds its kernels as it writes them."""
        return "kernels" if requested == "build" and self.settings.switches.device else requested

    def fold(self, generation: int, depth: Depth, torch: str, facts: Sequence[Fact]) -> Report:
        """Return the report of the facts of one process."""
        target, workspace = self.target, self.workspace
        facts = (*problem_facts(target), *facts)
        report = fold(target.id, generation, torch, facts, workspace, target.filename, depth)
        return replace(report, calls=seen_calls(facts, workspace))


class Planner(Protocol):
    """Makes the plans of runs."""

    async def __call__(self, target: str, overrides: Overrides | None = None, /) -> Plan | None:
        """Make the plan of a target's next run; ``None`` if there is no such target any more.

        ``overrides`` are the settings of a folder that a client has just given.
        """


@dataclass(frozen=True)
class Job:
    """One generation of a target: how it is made, and who gets its reports and output."""

    plan: Plan
    generation: int
    depth: Depth
    engine: Engine
    libraries: Sequence[str] = ()
    """The installed modules that the target's program imported in its last runs."""
    on_report: Callable[[Report], None] | None = None
    """Gets the report of the facts so far, whenever there are more; ``None`` if nobody wants that."""
    on_output: Callable[[str], None] = to_stderr
    """Gets what the target's program prints."""
    on_facts: Callable[[Sequence[Fact]], object] = bool
    """Gets the facts of the target's program as they come, for a display of progress."""

    def fold(self, torch: str, facts: Sequence[Fact]) -> Report:
        """Return the report of the facts of one process."""
        return self.plan.fold(self.generation, self.depth, torch, facts)
