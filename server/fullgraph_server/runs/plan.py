"""What is to be done for a target, once it is clear with which settings and of which text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fullgraph_compiler.facts import Depth, Fact, SourceText

from ..report.fold import fold
from ..report.model import Report
from ..workers.pool import WorkerPool
from ..workers.settings import RunSettings
from ..workspace.targets import Target, problem_facts
from ..workspace.workspace import Workspace
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

    def switched(self, switches: Mapping[str, Any]) -> Plan:
        """The same with some attributes of its switches set, for one run."""
        changed = replace(self.settings.switches, **switches)
        return replace(self, settings=replace(self.settings, switches=changed))

    def depth(self, asked: Depth) -> Depth:
        """How deep a run goes of which so much is asked: a preview builds its kernels as they are written."""
        return "kernels" if asked == "build" and self.settings.switches.device else asked


@dataclass(frozen=True)
class Job:
    """One generation of a target: how it is made, and who is told of it."""

    plan: Plan
    generation: int
    depth: Depth
    workers: WorkerPool
    libraries: Sequence[str] = ()
    """The installed modules that the target's program imports, as far as is known."""
    on_report: Callable[[Report], None] | None = None
    """Gets the report of what is known so far, whenever there is more; ``None`` if nobody wants that."""
    on_output: Callable[[str], None] = to_stderr
    """Gets what the target's program prints."""

    def fold(self, torch: str, facts: Sequence[Fact]) -> Report:
        """The report of facts that one process has told."""
        target = self.plan.target
        told = (*problem_facts(target), *facts)
        return fold(target.id, self.generation, torch, told, self.plan.workspace, target.filename, self.depth)
