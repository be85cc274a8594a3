"""The current step of a run in a few words, from its facts so far."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph_compiler.facts import Depth, Fact, Switches

from ..analyses.registry import analyses
from ..workspace.targets import Target, TorchrunJob, Trace


class RunProgress:
    """The progress of one run; predicts nothing, unless a remaining amount is known."""

    def __init__(self, target: Target, depth: Depth, switches: Switches) -> None:
        self._doing = _doing(target, depth, switches)
        self._progress = analyses()[depth].progress()

    @property
    def message(self) -> str:
        """The current step of the run."""
        return f"{self._doing}: {now}" if (now := self._progress.now) else self._doing

    def take(self, facts: Sequence[Fact]) -> bool:
        """Take the newest facts; return whether they have changed the message."""
        before = self.message
        for fact in facts:
            self._progress.take(fact)
        return self.message != before


def _doing(target: Target, depth: Depth, switches: Switches) -> str:
    program = target.program
    if isinstance(program, Trace):
        return f"reading {target.label}"
    analysis = analyses()[depth]
    if not analysis.makes_layer and switches.device:
        analysis = analyses()["preview"]
    elif depth == "graph" and switches.dry_run:
        analysis = analyses()["dry-run"]
    on_ranks = isinstance(program, TorchrunJob) and analysis.id == "graph"
    words = analysis.doing.format(target=target.label, device=switches.device)
    return f"{words} on {program.ranks} ranks" if isinstance(program, TorchrunJob) and on_ranks else words
