"""The state of one target: waiting requests, the current run, and past results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from fullgraph_compiler.facts import Depth, Fact, ModulesLoaded, Status

from ..analyses.registry import layer_of
from ..report.model import Layer, Report
from .effective_settings import SettingOverrides
from .execution import TargetExecution
from .layers import is_beside, with_layers
from .plan import RunPlan

RunState: TypeAlias = Literal["queued", "running"] | Status


@dataclass(frozen=True)
class TargetState:
    """The state of a target: what it does now, and how its last run ended."""

    run: RunState | None = None
    """The state of the current run, or the status of the last; ``None`` for a target that did not run."""
    generation: int = 0
    """The generation of the last run that began."""
    stale: bool = False
    """Whether a file on which the target depends has changed since that run began."""
    run_on_save: bool = True
    """Whether saving a file on which the target depends reruns the target."""


@dataclass(frozen=True)
class RunOptions:
    """The options of a run: its depth, and switches that are set for it alone."""

    depth: Depth = "graph"
    switches: Mapping[str, Any] = field(default_factory=dict)
    by_itself: bool = False
    """Whether no user requested the run: then file changes are discarded, unless a setting keeps them."""
    in_background: bool = False
    """Whether this is the background run of TorchInductor, which ends as soon as another run is requested."""
    overrides: SettingOverrides | None = None
    """The settings that came with the request; ``None`` to ask the client for its settings."""

    @property
    def layer(self) -> Layer:
        """The layer that a run with these options makes; empty for the ordinary result."""
        return "inductor" if self.in_background else layer_of(self.depth, self.switches)

    def switched(self, plan: RunPlan) -> RunPlan:
        """Return the plan with these options applied."""
        plan = plan.switched(self.switches)
        if self.in_background:
            return plan.in_background()
        discards = self.by_itself and plan.settings.switches.files is None
        return plan.switched({"files": "discard"}) if discards else plan

    def joined(self, other: RunOptions) -> RunOptions:
        """Return the options of one run for two requests; ``other``, the later, prevails."""
        depth = self.depth if other.depth == "graph" else other.depth
        switches = {**self.switches, **other.switches}
        by_itself = self.by_itself and other.by_itself
        return RunOptions(depth, switches, by_itself, self.in_background, other.overrides)


@dataclass(frozen=True)
class QueuedRun:
    """A requested run that has not begun.

    ``answer`` gets the report, or ``None`` if the run never begins.
    """

    options: RunOptions
    answer: asyncio.Future[Report | None]


RunPhase: TypeAlias = Literal["running", "superseded", "cleared"]
Phase: TypeAlias = Literal["idle", "queued"] | RunPhase


@dataclass
class CurrentRun:
    """The run in progress, and what happened to it."""

    options: RunOptions
    generation: int
    phase: RunPhase = "running"
    execution: TargetExecution | None = None
    """The execution of the run; ``None`` until it is created."""
    status: Status | None = None
    """The status of the run's last report, which may arrive before the process has exited."""
    changes: list[Callable[[Report], Report]] = field(default_factory=list)
    """Changes that were made to reports of this run, and are made to each later report of it."""


@dataclass(frozen=True)
class SlotHistory:
    """Results of earlier runs of a target, and other state for its next run."""

    report: Report | None = None
    """The report of the last finished ordinary run, or of a layer if no ordinary run has finished."""
    marked: Report | None = None
    """``report`` with what newer layers add to its lines."""
    latest: Report | None = None
    """The report of the current run, if it is ordinary and worth showing; otherwise the last report."""
    layers: Mapping[Layer, Report] = field(default_factory=dict)
    """The newest report of each layer."""
    edited: int = 0
    """The last generation that ran source text which has been edited since."""
    usual_depth: Depth = "graph"
    """The depth of a run whose request sets no depth."""
    limit: float | None = None
    """The time limit of the last ordinary run, in seconds."""
    stretch: float = 1.0
    """The factor by which the user has raised the time limit of the settings."""
    files: frozenset[str] = frozenset()
    """The files on which the target depends."""
    libraries: tuple[str, ...] = ()
    """The installed modules that the target imports."""


class TargetSlot:
    """The state of one target, which is in one phase at a time.

    The table lists all transitions.

    ===================  =========  ============================================================
    phase                event      next phase
    ===================  =========  ============================================================
    idle                 ask        queued
    queued               ask        queued: the two requests are merged
    queued               begin      running: the request was taken
    queued               stop       idle
    running, superseded  ask        the same; the request waits
    running              supersede  superseded: a waiting request replaces this run
    superseded           stop       running, until the execution ends: no request waits any more
    running              give way   superseded, if it is a background run: other runs come first
    running, superseded  clear      cleared: its reports are not shown
    any phase of a run   end        queued if a request waits, else idle
    ===================  =========  ============================================================
    """

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        """Serves the requests; ``None`` in the phase ``idle``."""
        self.requests: dict[Layer, QueuedRun] = {}
        """The waiting requests, one for each layer, in the order in which they are served."""
        self.run: CurrentRun | None = None
        self.kept = SlotHistory()
        self.filename = ""
        """The path of the target's file; empty until it is known."""
        self.last_status: Status | None = None
        """The status of the last finished run."""
        self.asked = 0
        """The number of the user's last request: later requests have greater numbers."""
        self.agreed = False
        """Whether the user has agreed that each save reruns the target, however long it takes."""
        self.goes_deeper = False
        """Whether TorchInductor should run for the last result once nothing else runs."""
        self.state = TargetState()
        """The state that the observers have last received."""

    @property
    def phase(self) -> Phase:
        """The current phase of the target."""
        if self.run is not None:
            return self.run.phase
        return "queued" if self.requests else "idle"

    @property
    def is_busy(self) -> bool:
        """Whether a run executes or waits, other than a background run."""
        on = self.run is not None and not self.run.options.in_background
        return on or any(not request.options.in_background for request in self.requests.values())

    @property
    def run_state(self) -> RunState | None:
        """The state that observers see.

        A background run does not change it.
        """
        if self.run is None or self.run.options.in_background:
            return "queued" if self.is_busy else self.last_status
        if self.run.phase == "cleared":
            return None
        if self.run.status is None:
            return "running"
        return self.last_status if self.is_beside else self.run.status

    @property
    def is_beside(self) -> bool:
        """Whether the current run makes a layer in addition to an ordinary result."""
        shown = self.kept.latest
        return bool(self.run and self.run.options.layer) and shown is not None and not shown.layer

    # -- events --------------------------------------------------------------------------------

    def ask(self, options: RunOptions) -> asyncio.Future[Report | None]:
        """Request a run; it is merged with a request that waits for the same layer."""
        waiting = self.requests.get(options.layer)
        if waiting is None:
            request = QueuedRun(options, asyncio.get_running_loop().create_future())
        else:
            request = replace(waiting, options=waiting.options.joined(options))
        self.requests[options.layer] = request
        return request.answer

    @property
    def next_request(self) -> QueuedRun | None:
        """The request that has waited longest."""
        return next(iter(self.requests.values()), None)

    def take(self) -> QueuedRun | None:
        """Remove and return the request that has waited longest."""
        return self.requests.pop(next(iter(self.requests))) if self.requests else None

    def begin(self, options: RunOptions, generation: int, filename: str) -> CurrentRun:
        """Begin a run of the target, whose file is ``filename``."""
        self.filename = filename
        self.kept = replace(self.kept, files=self.kept.files | {filename})
        self.run = CurrentRun(options, generation)
        return self.run

    def supersede(self) -> None:
        """End the current run, if there is one, in favor of the waiting request."""
        if self.run is not None and self.run.phase == "running":
            self.run.phase = "superseded"
            self._cancel()

    def give_way(self) -> None:
        """End the background run; it starts again when nothing else runs."""
        if (request := self.requests.pop("inductor", None)) is not None:
            request.answer.set_result(None)
            self.goes_deeper = True
        if self.run is not None and self.run.options.in_background and self.run.phase == "running":
            self.run.phase = "superseded"
            self.goes_deeper = True
            self._cancel()

    def stop(self) -> None:
        """Drop all waiting requests, and cancel the current run."""
        while request := self.take():
            request.answer.set_result(None)
        self.goes_deeper = False
        if self.run is not None and self.run.phase == "superseded":
            self.run.phase = "running"
        self._cancel()

    def clear(self) -> None:
        """Stop, and forget all runs."""
        self.stop()
        if self.run is not None:
            self.run.phase = "cleared"
        self.kept = SlotHistory()
        self.last_status = None
        self.agreed = False

    def end(self, status: Status) -> None:
        """End the current run."""
        if self.phase != "cleared" and not self.is_beside:
            self.last_status = status
        self.run = None

    def _cancel(self) -> None:
        if self.run is not None and self.run.execution is not None:
            self.run.execution.cancel()

    # -- results -------------------------------------------------------------------------------

    def show(self, report: Report) -> None:
        """Store a report to show, of the current run or of a run that never began."""
        kept = self.kept
        if report.layer:
            kept = replace(kept, layers={**kept.layers, report.layer: report})
        if not is_beside(report, kept.latest):
            kept = replace(kept, latest=report)
        if report.status is not None:
            kept = _finished(kept, report)
            if self.run is not None and self.run.generation == report.generation:
                self.run.status = report.status
        self.kept = kept

    def revise(self, change: Callable[[Report], Report]) -> None:
        """Change all stored reports."""
        kept = self.kept
        self.kept = replace(
            kept,
            report=kept.report and change(kept.report),
            marked=kept.marked and change(kept.marked),
            latest=kept.latest and change(kept.latest),
            layers={layer: change(report) for layer, report in kept.layers.items()},
        )

    def keep(self, report: Report, facts: Iterable[Fact], files: frozenset[str] | None) -> None:
        """Store the files and libraries of a run, which the next run needs.

        ``files`` are the files on which the run depends; ``None`` if its report is not worth showing.
        """
        if files is not None:
            # A run that fails early reports few of the files on which it depends: earlier ones stay.
            all_named = report.status == "finished" and not report.layer
            earlier = frozenset() if all_named else self.kept.files
            files = earlier | files
        loaded = [fact for fact in facts if isinstance(fact, ModulesLoaded)]
        names = (name for fact in loaded for name in fact.libraries)
        libraries = tuple(dict.fromkeys((*self.kept.libraries, *names)))
        if any(fact.variables for fact in loaded):
            # Libraries read the environment on import, so they must not be imported ahead of the program.
            libraries = ()
        self.kept = replace(self.kept, files=self.kept.files if files is None else files, libraries=libraries)


def _finished(kept: SlotHistory, report: Report) -> SlotHistory:
    """Return the stored results with a complete report added."""
    if not report.layer:
        depth: Depth = "kernels" if report.codes else "graph"
        return replace(kept, report=report, marked=report, usual_depth=depth)
    if kept.report is None or not is_beside(report, kept.report):
        return replace(kept, report=report, marked=report)
    newer = (layer for layer in kept.layers.values() if layer.generation > kept.report.generation)
    return replace(kept, marked=with_layers(kept.report, newer))
