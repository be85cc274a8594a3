"""Runs over time: the targets of an editor, their generations, and the results that are shown."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fullgraph_compiler.facts import Depth

from ..report.model import Layer, Report
from ..workspace.targets import Target
from .choice import Choice
from .effective_settings import Overrides
from .engine import Engine
from .observers import Observers, RunObserver
from .plan import Plan, Planner
from .program_run import OnOutput, Run, WorkerRequest, to_stderr
from .saves import is_long, repeated
from .slot import RunOptions, TargetState
from .target import Surroundings, TargetRuns

_AT_ONCE = max(2, (os.cpu_count() or 2) // 4)
"""How many targets run at the same time: each uses several cores itself."""

_PAUSE_SHARE, _LEAST_PAUSE, _LONGEST_PAUSE = 0.5, 0.15, 2.0
"""How long an author's pause is before a run: a part of what the last run took, and its limits in seconds."""

_STRETCH = 5.0
"""How many times as long a target may run once its limit was raised."""


class Runs:
    """Schedule of all targets: for each, one run is on at a time, and one waits."""

    def __init__(
        self,
        plan: Planner,
        observers: Sequence[RunObserver],
        choice: Choice | None = None,
        on_output: Callable[[Target, int, str], None] | None = None,
    ) -> None:
        """Make a schedule without targets.

        ``on_output`` gets what programs print, with the target and the generation; by default it goes to
        standard error.
        """
        self._choice = choice or Choice()
        self._asked = itertools.count(1)
        self._targets: dict[str, TargetRuns] = {}
        self._observers = Observers(observers)
        self._shared = Surroundings(
            plan,
            Engine(),
            self._observers,
            on_output or _to_stderr,
            itertools.count(1),
            asyncio.Semaphore(_AT_ONCE),
            self._make_way,
            self._go_deeper,
        )

    # -- requests ------------------------------------------------------------------------------

    def start(
        self, target: str, depth: Depth | None = None, switches: Mapping[str, Any] | None = None
    ) -> asyncio.Future[Report | None]:
        """Ask for a run. The future gets its report, or ``None`` if it was stopped before it began.

        Requests for the same layer that are made while another run is on share the next one, and so do those
        made before it begins; it goes as deep as one of them wants. Kernels that were asked for once are
        shown by later runs, too.
        ``switches`` are attributes of the target's switches that are set for this run alone.
        """
        if self._choice.target != target:
            self.choose("")  # whoever runs a target wants to see it
        runs = self._runs_of(target)
        runs.slot.asked = next(self._asked)
        return runs.ask(RunOptions(depth or runs.kept.usual_depth, switches or {}))

    def restart(
        self,
        filename: str,
        overrides: Overrides | None = None,
        is_open: Callable[[str], bool] = lambda _: True,
    ) -> list[str]:
        """Run again what a save of a file repeats; return the targets that the user is to be asked about.

        ``overrides`` are the settings of the file's folder, if the client has just given them; ``is_open``
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

    def repeat(self, target: str, overrides: Overrides | None = None) -> None:
        """Run a target again by itself. A run that is on has read an older text: it ends."""
        self._targets[target].repeat(overrides)

    def stop(self, target: str | None = None) -> None:
        """End the run that is on and drop the one that waits, of one target or of all."""
        for runs in self._selected(target):
            runs.stop()

    def clear(self, target: str | None = None) -> None:
        """Forget one target or all, as if it had never run."""
        for runs in self._selected(target):
            runs.clear()

    async def close(self) -> None:
        """End everything, and wait until every process is gone."""
        self.stop()
        tasks = [runs.slot.task for runs in self._targets.values() if runs.slot.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._shared.engine.close()

    def set_run_on_save(self, target: str, filename: str, enabled: bool) -> None:
        """Let a target run again by itself or not; one that has not run yet depends on ``filename``."""
        runs = self._runs_of(target)
        runs.slot.kept = replace(runs.kept, files=runs.kept.files | {filename})
        runs.slot.agreed = enabled
        runs.show_state(run_on_save=enabled)

    def raised_limit(self, target: str) -> float | None:
        """Return the seconds that a target may take once its limit is raised; ``None`` if it has no limit."""
        runs = self._targets.get(target)
        return runs.kept.limit * _STRETCH if runs and runs.kept.limit else None

    def raise_limit(self, target: str) -> asyncio.Future[Report | None]:
        """Run a target again with a higher limit, which it keeps until it is cleared."""
        runs = self._runs_of(target)
        runs.slot.kept = replace(runs.kept, stretch=runs.kept.stretch * _STRETCH)
        return self.start(target)

    def edited(self, filename: str, is_as_it_ran: Callable[[Report], bool] = lambda _: False) -> float | None:
        """Take note that a file is not as it was when it ran, but where a report's part of it is.

        Returns the seconds of quiet after which its targets should run again; ``None`` if there are none.
        """
        pauses = []
        for runs in self._targets.values():
            report, has_run = runs.kept.report, runs.state.generation > 0
            if filename in runs.kept.files and has_run and not (report and is_as_it_ran(report)):
                runs.edited()
                seconds = report.seconds if report else 0.0
                pauses.append(min(max(_PAUSE_SHARE * seconds, _LEAST_PAUSE), _LONGEST_PAUSE))
        return max(pauses, default=None)

    def beside(self, plan: Plan, request: WorkerRequest, on_output: OnOutput | None = None) -> Run:
        """Make a run of something else that a worker does for a target, beside those of the schedule."""
        runs = self._targets.get(plan.target.id) or TargetRuns(plan.target.id, self._shared)
        output = on_output or runs.output(plan.target, next(self._shared.generations))
        return self._shared.engine.run(plan, request, output, runs.kept.libraries)

    # -- results --------------------------------------------------------------------------------

    def reports(self) -> tuple[Report, ...]:
        """Return the results of all targets as they are shown in their files: one report of each target.

        It is of the last ordinary run, with what layers add to its lines; of a layer if there is no other.
        """
        reports = (runs.kept.marked for runs in self._targets.values())
        return tuple(report for report in reports if report is not None)

    def names(self) -> list[str]:
        """Return the targets that have run or are about to."""
        return [name for name, runs in self._targets.items() if runs.state.run is not None]

    def of_file(self, filename: str) -> list[Report]:
        """Return the results that are shown in a file, the newest first."""
        return self._choice.among(filename, self.reports())

    @property
    def choice(self) -> str:
        """The target whose results alone are shown in the files that it ran; empty for none."""
        return self._choice.target

    def choose(self, target: str) -> None:
        """Show the results of one target alone in the files that it ran; of all, if it is empty."""
        if target == self._choice.target:
            return
        self._choice.target = target
        self._observers.notify(lambda observer: observer.chosen())
        for runs in self._targets.values():
            runs.tell_state()

    def report(self, target: str, layer: Layer = "") -> Report | None:
        """Return the report of a target, or one of its layers: so far if it runs, else of its last run."""
        runs = self._targets.get(target)
        return runs.report(layer) if runs else None

    def results(self, target: str) -> tuple[Report, ...]:
        """Return the report of a target, and behind it its layers, the newest first."""
        report = self.report(target)
        return (report, *self.layers(target)) if report else ()

    def layers(self, target: str) -> tuple[Report, ...]:
        """Return the layers that stand beside the report of a target, the newest first."""
        runs = self._targets.get(target)
        layers = runs.kept.layers.values() if runs else ()
        return tuple(sorted((item for item in layers if item is not self.report(target)), key=_newest_first))

    def left_out(self, report: Report) -> tuple[str, ...]:
        """Return the parts of the compiler that nobody has run for a result."""
        layer = self.report(report.target, "inductor")
        has_run = layer is not None and layer.generation > report.generation and layer.status == "finished"
        return () if has_run else report.left_out

    def is_stale(self, report: Report) -> bool:
        """Tell whether a file that a report depends on has changed since its run began."""
        runs = self._targets.get(report.target)
        return runs is not None and report.generation <= runs.kept.edited

    def add(self, report: Report) -> None:
        """Take the report of a layer that was made beside the schedule."""
        if (runs := self._targets.get(report.target)) is not None:
            runs.add(report)

    def revise(self, targets: Collection[str], change: Callable[[Report], Report]) -> None:
        """Change the reports of targets that are kept, and show them."""
        for name, runs in self._targets.items():
            if name in targets:
                runs.revise(change)

    def state(self, target: str) -> TargetState:
        """Return what a target does, and how its last run ended."""
        runs = self._targets.get(target)
        return runs.state if runs else TargetState()

    # -- all targets ----------------------------------------------------------------------------

    def _make_way(self) -> None:
        """End what runs in the background."""
        for runs in self._targets.values():
            runs.slot.give_way()

    def _go_deeper(self) -> None:
        """Run TorchInductor for one target whose last run has left it out, if nothing else runs."""
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
