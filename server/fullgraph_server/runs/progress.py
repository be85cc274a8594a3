"""What a run is doing, in a few words, from the facts that it has told so far."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph_compiler.facts import (
    CodeGenerated,
    Depth,
    Fact,
    FrameCompiled,
    FrameStarted,
    LateCompilation,
    PreviewDeferred,
    RecipeTried,
    Recompile,
    StageChecked,
    Switches,
    TimesMeasured,
)

from ..text.messages import counted
from ..workspace.targets import Target, Torchrun, Trace

_PROGRAM_STAGES = ("uncompiled", "eager")
"""The stages of the whole program; those behind them are of each graph, and are checked together."""


class RunProgress:
    """The progress of one run. It says nothing of what is to come, unless that is known."""

    def __init__(self, target: Target, depth: Depth, switches: Switches) -> None:
        self._doing = _doing(target, depth, switches)
        self._depth = depth
        self._compiling: dict[str, str] = {}
        self._compiled: set[str] = set()
        self._written: set[str] = set()
        self._graphs = 0
        self._recompiled = self._late = self._tried = 0
        self._checked: set[str] = set()
        self._measured = False

    @property
    def message(self) -> str:
        """Return what the run is doing now."""
        return f"{self._doing}: {now}" if (now := self._now()) else self._doing

    def take(self, facts: Sequence[Fact]) -> bool:
        """Take the newest facts; tell whether they have changed the message."""
        before = self.message
        for fact in facts:
            self._take(fact)
        return self.message != before

    def _take(self, fact: Fact) -> None:
        if isinstance(fact, FrameStarted):
            self._compiling[fact.compile_id] = fact.function
        elif isinstance(fact, FrameCompiled):
            self._compiling.pop(fact.compile_id, None)
            self._compiled.add(fact.compile_id)
        elif isinstance(fact, CodeGenerated):
            self._written.add(fact.compile_id)
        elif isinstance(fact, PreviewDeferred):
            self._graphs = len(fact.graphs)
        elif isinstance(fact, Recompile):
            self._recompiled += 1
        elif isinstance(fact, LateCompilation):
            self._late += 1
        elif isinstance(fact, RecipeTried):
            self._tried += 1
        elif isinstance(fact, TimesMeasured):
            self._measured = True
        elif isinstance(fact, StageChecked):
            self._checked.add(fact.compile_id or fact.stage)

    def _now(self) -> str:
        match self._depth:
            case "stages":
                return self._stage()
            case "times":
                return "warm caches, run 2 of 2" if self._measured else "cold caches, run 1 of 2"
            case "recipes":
                return f"{self._tried} tried" if self._tried else ""
            case "recompiles":
                return f"{counted(self._recompiled, 'recompilation')} so far" if self._recompiled else ""
            case "late-compile":
                return f"{self._late} so far" if self._late else ""
            case _:
                return self._kernels() or self._compilations()

    def _stage(self) -> str:
        if not self._checked.issuperset(_PROGRAM_STAGES):
            return "stages 1 and 2 of 5, uncompiled and under Dynamo alone"
        if "compiled" in self._checked:
            return "the compiled program again, with eager random numbers"
        graphs = len(self._checked) - len(_PROGRAM_STAGES)
        return f"stages 3 to 5 of 5, {counted(graphs, 'graph')} checked"

    def _kernels(self) -> str:
        """Count the graphs that have code; the total is known if all are captured first."""
        if self._graphs:
            return f"{len(self._written)} of {counted(self._graphs, 'graph')} done"
        return f"{counted(len(self._written), 'graph')} done" if self._written else ""

    def _compilations(self) -> str:
        if self._compiling:
            return f"compiling {list(self._compiling.values())[-1]}"
        return counted(len(self._compiled), "compilation") if self._compiled else ""


def _doing(target: Target, depth: Depth, switches: Switches) -> str:
    label, program = target.label, target.program
    if isinstance(program, Trace):
        return f"reading {label}"
    match depth:
        case "stages":
            return f"looking for the stage at fault in {label}"
        case "times":
            return f"measuring compile times of {label}"
        case "speed":
            return f"measuring the speed of {label}"
        case "recipes":
            return f"trying workarounds for a crash of {label}"
        case "recompiles":
            return f"profiling recompilations of {label}"
        case "late-compile":
            return f"looking for late compilations of {label}"
    if switches.device:
        return f"writing kernels of {label} for {switches.device}"
    if depth in ("kernels", "build"):
        return f"{'writing' if depth == 'kernels' else 'building'} kernels of {label}"
    if switches.dry_run:
        return f"dry run of {label}"
    on_ranks = f" on {program.ranks} ranks" if isinstance(program, Torchrun) else ""
    return f"running {label}{on_ranks}"
