"""The schedule of runs: an editor's targets, their generations and results."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fullgraph_compiler.facts import Depth

from ..report.model import Layer, Report
from ..workspace.targets import Target
from .choice import TargetChoice
from .effective_settings import SettingOverrides
from .engine import RunEngine
from .observers import RunObserver, RunObservers
from .plan import RunPlan, RunPlanner
from .program_run import OnOutput, WorkerRequest, WorkerRun, to_stderr
from .saves import is_long, repeated
from .slot import RunOptions, TargetState
from .target import ScheduleServices, TargetRuns


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 2


AT_ONCE = max(2, processors() // 4)
"""How many programs run at the same time: each of them uses several cores."""

_PAUSE_SHARE, _LEAST_PAUSE, _LONGEST_PAUSE = 0.5, 0.15, 2.0
"""The pause in typing before a run: a share of the last run's seconds, and its least and greatest value."""

_STRETCH = 5.0
"""The factor by which raising a target's time limit multiplies it."""


class RunSchedule:
    """The schedule of all targets; of each target, at most one run executes at a time."""

    def __init__(
        self,
        plan: RunPlanner,
        observers: Sequence[RunObserver],
        choice: TargetChoice | None = None,
        on_output: Callable[[Target, int, str], None] | None = None,
    ) -> None:
        """Make a schedule without targets.

        ``on_output`` gets target, generation and printed text of a program; by default, the text goes to
        standard error.
        """
        self._choice = choice or TargetChoice()
        self._asked = itertools.count(1)
        self._targets: dict[str, TargetRuns] = {}
        self._observers = RunObservers(observers)
        self._shared = ScheduleServices(
            plan,
            RunEngine(),
            self._observers,
            on_output or _to_stderr,
            itertools.count(1),
            asyncio.Semaphore(AT_ONCE),
            self._make_way,
            self._go_deeper,
        )

    # -- requests ------------------------------------------------------------------------------

    def start(
        self, target: str, depth: Depth | None = None, switches: Mapping[str, Any] | None = None
    ) -> asyncio.Future[Report | None]:
        """Request a run.

        The future gets the report, or ``None`` if the run was stopped before it began. Requests for the same
        layer share one run until it begins; requests made while another run executes share the next one. The
        run goes as deep as the deepest request. Without ``depth``, a target whose last run generated kernels
        generates them again. ``switches`` are attributes of the target's switches for this run alone.
        """
        if self._choice.target != target:
            self.choose("")  # the user wants to see the target that runs
        runs = self._runs_of(target)
        runs.slot.asked = next(self._asked)
        return runs.ask(RunOptions(depth or runs.kept.usual_depth, switches or {}))

    def restart(
        self,
        filename: str,
        overrides: SettingOverrides | None = None,
        is_open: Callable[[str], bool] = lambda _: True,
    ) -> list[str]:
        """Rerun targets that imported a saved file; return targets that need consent.

        ``overrides`` are the settings of the file's folder, if the client has just sent them; ``is_open``
        tells whether the client shows a file.
        """
        unasked = []
        slots = {name: runs.slot for name, runs in self._targets.items()}
        for name, slot in list(repeated(slots, filename, self._choice, is_open)):
            if is_long(slot):
                unasked.append(name)
            else:
                self.repeat(name, overrides)
        return unasked

    def repeat(self, target: str, overrides: SettingOverrides | None = None) -> None:
        """Rerun a target without a request; end a run in progress, which used older text."""
        self._targets[target].repeat(overrides)

    def stop(self, target: str | None = None) -> None:
        """End the current run and drop waiting runs, of one target or (``None``) of all."""
        for runs in self._selected(target):
            runs.stop()

    def clear(self, target: str | None = None) -> None:
        """Forget all runs of one target or (``None``) of all targets."""
        for runs in self._selected(target):
            runs.clear()

    async def close(self) -> None:
        """End all runs, and wait until every process is gone."""
        self.stop()
        tasks = [runs.slot.task for runs in self._targets.values() if runs.slot.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._shared.engine.close()

    def set_run_on_save(self, target: str, filename: str, enabled: bool) -> None:
        """Set whether saves rerun a target.

        ``filename`` is the target's own file: other files on which the target depends are unknown before its
        first run.
        """
        runs = self._runs_of(target)
        runs.slot.kept = replace(runs.kept, files=runs.kept.files | {filename})
        runs.slot.agreed = enabled
        runs.show_state(run_on_save=enabled)

    def raised_limit(self, target: str) -> float | None:
        """Return the time limit in seconds that :meth:`raise_limit` would set.

        Return ``None`` if the target has no time limit.
        """
        runs = self._targets.get(target)
        return runs.kept.limit * _STRETCH if runs and runs.kept.limit else None

    def raise_limit(self, target: str) -> asyncio.Future[Report | None]:
        """Rerun a target with a higher time limit, in effect until the target is cleared."""
        runs = self._runs_of(target)
        runs.slot.kept = replace(runs.kept, stretch=runs.kept.stretch * _STRETCH)
        return self.start(target)

    def edited(self, filename: str, is_as_it_ran: Callable[[Report], bool] = lambda _: False) -> float | None:
        """Mark the targets that ran a file as stale.

        A target does not become stale if ``is_as_it_ran`` is true for its report. Returns the seconds without
        edits after which the stale targets should be rerun; ``None`` if no target became stale.
        """
        pauses = []
        for runs in self._targets.values():
            report, has_run = runs.kept.report, runs.state.generation > 0
            if filename in runs.kept.files and has_run and not (report and is_as_it_ran(report)):
                runs.edited()
                seconds = report.seconds if report else 0.0
                pauses.append(min(max(_PAUSE_SHARE * seconds, _LEAST_PAUSE), _LONGEST_PAUSE))
        return max(pauses, default=None)

    def beside(self, plan: RunPlan, request: WorkerRequest, on_output: OnOutput | None = None) -> WorkerRun:
        """Create a run of any worker request for a target, outside of the schedule."""
        runs = self._targets.get(plan.target.id) or TargetRuns(plan.target.id, self._shared)
        output = on_output or runs.output(plan.target, next(self._shared.generations))
        return self._shared.engine.run(plan, request, output, runs.kept.libraries)

    # -- results --------------------------------------------------------------------------------

    def reports(self) -> tuple[Report, ...]:
        """Return the reports to show in files, one for each target.

        Each is the report of the last ordinary run, with what layers add to its lines, or the report of a
        layer if no ordinary run has finished.
        """
        reports = (runs.kept.marked for runs in self._targets.values())
        return tuple(report for report in reports if report is not None)

    def names(self) -> list[str]:
        """Return the targets that have run or wait to run."""
        return [name for name, runs in self._targets.items() if runs.state.run is not None]

    def of_file(self, filename: str) -> list[Report]:
        """Return the results that are shown in a file, the newest first."""
        return self._choice.among(filename, self.reports())

    @property
    def choice(self) -> str:
        """The target whose results hide those of other targets; empty if none is chosen."""
        return self._choice.target

    def choose(self, target: str) -> None:
        """Show only one target's results in the files that it ran; empty shows all."""
        if target == self._choice.target:
            return
        self._choice.target = target
        self._observers.notify(lambda observer: observer.chosen())
        for runs in self._targets.values():
            runs.tell_state()

    def report(self, target: str, layer: Layer = "") -> Report | None:
        """Return the newest report of a target or of its layer, even of a run in progress."""
        runs = self._targets.get(target)
        return runs.report(layer) if runs else None

    def results(self, target: str) -> tuple[Report, ...]:
        """Return the report of a target, followed by its layers, the newest first."""
        report = self.report(target)
        return (report, *self.layers(target)) if report else ()

    def layers(self, target: str) -> tuple[Report, ...]:
        """Return a target's layers, except a layer that is returned by :meth:`report`.

        The newest layer comes first.
        """
        runs = self._targets.get(target)
        layers = runs.kept.layers.values() if runs else ()
        return tuple(sorted((item for item in layers if item is not self.report(target)), key=_newest_first))

    def left_out(self, report: Report) -> tuple[str, ...]:
        """Return compiler parts that a report's run left out and no later run executed."""
        layer = self.report(report.target, "inductor")
        has_run = layer is not None and layer.generation > report.generation and layer.status == "finished"
        return () if has_run else report.left_out

    def is_stale(self, report: Report) -> bool:
        """Tell whether a file that a report depends on has changed since its run began."""
        runs = self._targets.get(report.target)
        return runs is not None and report.generation <= runs.kept.edited

    def add(self, report: Report) -> None:
        """Add the report of a layer that was made outside of the schedule."""
        if (runs := self._targets.get(report.target)) is not None:
            runs.add(report)

    def revise(self, targets: Collection[str], change: Callable[[Report], Report]) -> None:
        """Change the stored reports of targets, and show them."""
        for name, runs in self._targets.items():
            if name in targets:
                runs.revise(change)

    def state(self, target: str) -> TargetState:
        """Return the current state of a target."""
        runs = self._targets.get(target)
        return runs.state if runs else TargetState()

    # -- all targets ----------------------------------------------------------------------------

    def _make_way(self) -> None:
        """End all background runs."""
        for runs in self._targets.values():
            runs.slot.give_way()

    def _go_deeper(self) -> None:
        """If idle, run TorchInductor in the background for one target that left it out."""
        if any(target.slot.task for target in self._targets.values()):
            return
        for target in self._targets.values():
            if target.slot.goes_deeper and not target.state.stale:
                target.slot.goes_deeper = False
                target.ask(RunOptions("kernels", by_itself=True, in_background=True))
                return

    def _runs_of(self, target: str) -> TargetRuns:
        return self._targets.setdefault(target, TargetRuns(target, self._shared))

    def _selected(self, target: str | None) -> list[TargetRuns]:
        return [runs for name, runs in self._targets.items() if target in (None, name)]


def _to_stderr(_target: Target, _generation: int, text: str) -> None:
    to_stderr(text)


def _newest_first(report: Report) -> int:
    return -report.generation
