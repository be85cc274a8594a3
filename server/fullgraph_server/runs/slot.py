"""One target of the schedule: the request that waits, the run that is on, and what earlier runs left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from fullgraph_compiler.facts import Depth, Fact, ModulesLoaded, Status

from ..analyses.registry import layer_of
from ..report.model import Layer, Report
from .effective_settings import Overrides
from .execution import Execution
from .layers import is_beside, with_layers
from .plan import Plan

RunState: TypeAlias = Literal["queued", "running"] | Status


@dataclass(frozen=True)
class TargetState:
    """What a target does, and how its last run ended."""

    run: RunState | None = None
    """``None`` for a target that did not run."""
    generation: int = 0
    """Of the last run that began."""
    stale: bool = False
    """Whether a file that it depends on has changed since that run began."""
    run_on_save: bool = True
    """Whether it runs again when such a file is saved."""


@dataclass(frozen=True)
class RunOptions:
    """What is asked of a run: how deep it goes, and the switches that are set for it alone."""

    depth: Depth = "graph"
    switches: Mapping[str, Any] = field(default_factory=dict)
    by_itself: bool = False
    """Whether nobody has asked: then no file is changed, unless the settings say otherwise."""
    in_background: bool = False
    """Whether it is for TorchInductor while nothing else runs: it ends as soon as anything else is to run."""
    overrides: Overrides | None = None
    """The settings that the client has given with the request; it is asked for them if there are none."""

    @property
    def layer(self) -> Layer:
        """The layer of the target's results that such a run makes; empty for the ordinary result."""
        return "inductor" if self.in_background else layer_of(self.depth, self.switches)

    def switched(self, plan: Plan) -> Plan:
        """Return the plan of such a run."""
        plan = plan.switched(self.switches)
        if self.in_background:
            return plan.in_background()
        discards = self.by_itself and plan.settings.switches.files is None
        return plan.switched({"files": "discard"}) if discards else plan

    def joined(self, other: RunOptions) -> RunOptions:
        """Return the options of a run that is for both; the later one decides where they differ."""
        depth = self.depth if other.depth == "graph" else other.depth
        switches = {**self.switches, **other.switches}
        by_itself = self.by_itself and other.by_itself
        return RunOptions(depth, switches, by_itself, self.in_background, other.overrides)


@dataclass(frozen=True)
class Request:
    """A run that has not begun; ``answer`` gets its report, or ``None`` if it never begins."""

    options: RunOptions
    answer: asyncio.Future[Report | None]


RunPhase: TypeAlias = Literal["running", "superseded", "cleared"]
Phase: TypeAlias = Literal["idle", "queued"] | RunPhase


@dataclass
class CurrentRun:
    """The run that is on."""

    options: RunOptions
    generation: int
    phase: RunPhase = "running"
    execution: Execution | None = None
    """``None`` until it is made."""
    status: Status | None = None
    """Of its last report, which may come before its process has gone."""
    changes: list[Callable[[Report], Report]] = field(default_factory=list)
    """What became of its reports since it began: each that comes is changed in the same way."""


@dataclass(frozen=True)
class Kept:
    """What runs have left for the next one, and for those who ask."""

    report: Report | None = None
    """Of the last ordinary run that is over; of a layer as long as there was no ordinary run."""
    marked: Report | None = None
    """The same, with what newer layers add to its lines."""
    latest: Report | None = None
    """Of the run that is on, if it is ordinary and has something worth showing; else the last one's."""
    layers: Mapping[Layer, Report] = field(default_factory=dict)
    """The newest report of each layer."""
    edited: int = 0
    """The last generation that has read a text which was edited since."""
    usual_depth: Depth = "graph"
    """The depth of a run for which nobody sets one."""
    limit: float | None = None
    """The time limit of the last ordinary run, in seconds."""
    stretch: float = 1.0
    """How many times as long as the settings say the target may run, since the user has asked for that."""
    files: frozenset[str] = frozenset()
    """The files that the target depends on."""
    libraries: tuple[str, ...] = ()
    """The installed modules that it imports."""


class Slot:
    """One target, which is in one phase at a time. All changes of it are in this table.

    ===================  =========  ============================================================
    phase                event      next phase
    ===================  =========  ============================================================
    idle                 ask        queued
    queued               ask        queued: the request is for both
    queued               begin      running: the request was taken
    queued               stop       idle
    running, superseded  ask        the same; the request waits
    running              supersede  superseded: a request waits, and takes the place of this run
    superseded           stop       running, until the execution has ended: nothing waits any more
    running              give way   superseded, if it is in the background: what else runs comes first
    running, superseded  clear      cleared: its reports are not shown
    any of a run         end        queued if a request waits, else idle
    ===================  =========  ============================================================
    """

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        """Serves the requests; ``None`` in the phase ``idle``."""
        self.requests: dict[Layer, Request] = {}
        """The requests that wait, one for each layer: they are served in their order."""
        self.run: CurrentRun | None = None
        self.kept = Kept()
        self.filename = ""
        """The target's, once it is known."""
        self.last_status: Status | None = None
        """Of the last run that is over."""
        self.asked = 0
        """When the user last asked for a run: later requests have greater numbers."""
        self.agreed = False
        """Whether the user wants it to run again at each save, however long it takes."""
        self.goes_deeper = False
        """Whether TorchInductor is to run for the last result, once nothing else does."""
        self.state = TargetState()
        """As the observers know it."""

    @property
    def phase(self) -> Phase:
        """What the target does."""
        if self.run is not None:
            return self.run.phase
        return "queued" if self.requests else "idle"

    @property
    def is_busy(self) -> bool:
        """Whether a run is on or waits, other than one in the background."""
        on = self.run is not None and not self.run.options.in_background
        return on or any(not request.options.in_background for request in self.requests.values())

    @property
    def run_state(self) -> RunState | None:
        """What observers are to know about the phase: a run in the background leaves the outcome as it is."""
        if self.run is None or self.run.options.in_background:
            return "queued" if self.is_busy else self.last_status
        if self.run.phase == "cleared":
            return None
        if self.run.status is None:
            return "running"
        return self.last_status if self.is_beside else self.run.status

    @property
    def is_beside(self) -> bool:
        """Whether the run that is on makes a layer beside an ordinary result."""
        shown = self.kept.latest
        return bool(self.run and self.run.options.layer) and shown is not None and not shown.layer

    # -- events --------------------------------------------------------------------------------

    def ask(self, options: RunOptions) -> asyncio.Future[Report | None]:
        """Ask for a run; a request for the same layer that waits already becomes one for both."""
        waiting = self.requests.get(options.layer)
        if waiting is None:
            request = Request(options, asyncio.get_running_loop().create_future())
        else:
            request = replace(waiting, options=waiting.options.joined(options))
        self.requests[options.layer] = request
        return request.answer

    @property
    def next_request(self) -> Request | None:
        """The request that has waited longest."""
        return next(iter(self.requests.values()), None)

    def take(self) -> Request | None:
        """Return the request that has waited longest, which waits no more."""
        return self.requests.pop(next(iter(self.requests))) if self.requests else None

    def begin(self, options: RunOptions, generation: int, filename: str) -> CurrentRun:
        """Begin a run of the target in ``filename``."""
        self.filename = filename
        self.kept = replace(self.kept, files=self.kept.files | {filename})
        self.run = CurrentRun(options, generation)
        return self.run

    def supersede(self) -> None:
        """Let the request that waits take the place of the run that is on, if there is one."""
        if self.run is not None and self.run.phase == "running":
            self.run.phase = "superseded"
            self._cancel()

    def give_way(self) -> None:
        """End what is for the background: it begins anew when nothing else runs."""
        if (request := self.requests.pop("inductor", None)) is not None:
            request.answer.set_result(None)
            self.goes_deeper = True
        if self.run is not None and self.run.options.in_background and self.run.phase == "running":
            self.run.phase = "superseded"
            self.goes_deeper = True
            self._cancel()

    def stop(self) -> None:
        """Drop the request that waits, and cancel the run that is on."""
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
        self.kept = Kept()
        self.last_status = None
        self.agreed = False

    def end(self, status: Status) -> None:
        """End the run that is on."""
        if self.phase != "cleared" and not self.is_beside:
            self.last_status = status
        self.run = None

    def _cancel(self) -> None:
        if self.run is not None and self.run.execution is not None:
            self.run.execution.cancel()

    # -- results -------------------------------------------------------------------------------

    def show(self, report: Report) -> None:
        """Keep a report that is shown: of the run that is on, or of one that could not begin."""
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
        """Change all reports that are kept."""
        kept = self.kept
        self.kept = replace(
            kept,
            report=kept.report and change(kept.report),
            marked=kept.marked and change(kept.marked),
            latest=kept.latest and change(kept.latest),
            layers={layer: change(report) for layer, report in kept.layers.items()},
        )

    def keep(self, report: Report, facts: Iterable[Fact], files: frozenset[str] | None) -> None:
        """Keep what the next run needs to know.

        ``files`` are those that the run depends on; ``None`` if its report is not worth showing.
        """
        if files is not None:
            # A run that fails early names few of the files that it depends on: earlier ones stay.
            all_named = report.status == "finished" and not report.layer
            earlier = frozenset() if all_named else self.kept.files
            files = earlier | files
        loaded = [fact for fact in facts if isinstance(fact, ModulesLoaded)]
        names = (name for fact in loaded for name in fact.libraries)
        libraries = tuple(dict.fromkeys((*self.kept.libraries, *names)))
        if any(fact.variables for fact in loaded):
            # Libraries read the environment when they are imported: they must not be imported before.
            libraries = ()
        self.kept = replace(self.kept, files=self.kept.files if files is None else files, libraries=libraries)


def _finished(kept: Kept, report: Report) -> Kept:
    """Return what is kept once the report of a run is complete."""
    if not report.layer:
        depth: Depth = "kernels" if report.codes else "graph"
        return replace(kept, report=report, marked=report, usual_depth=depth)
    if kept.report is None or not is_beside(report, kept.report):
        return replace(kept, report=report, marked=report)
    newer = (layer for layer in kept.layers.values() if layer.generation > kept.report.generation)
    return replace(kept, marked=with_layers(kept.report, newer))
