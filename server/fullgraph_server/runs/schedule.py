"""Runs over time: for each target one that is on and one that waits, their generations and reports."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fullgraph_compiler.facts import Depth, Fact, Status

from ..analyses.inductor import INDUCTOR
from ..compare.baseline import without_known
from ..report.model import Layer, Report
from ..workspace.targets import Target
from .choice import Choice
from .effective_settings import Overrides
from .engine import Engine
from .execution import execution_of, failed_report
from .layers import as_layer, is_beside, leaves_out_inductor
from .limits import WorkerRequest, settings_at
from .partial_reports import is_worth_showing
from .plan import Job, Plan, Planner
from .program_run import OnOutput, Run, to_stderr
from .progress import RunProgress
from .saves import is_long, repeated
from .slot import CurrentRun, Request, RunOptions, Slot, TargetState

_log = logging.getLogger(__name__)

_AT_ONCE = max(2, (os.cpu_count() or 2) // 4)
"""How many targets run at the same time: each uses several cores itself."""

_PAUSE_SHARE, _LEAST_PAUSE, _LONGEST_PAUSE = 0.5, 0.15, 2.0
"""How long an author's pause is before a run: a part of what the last run took, and its limits in seconds."""

_STRETCH = 5.0
"""How many times as long a target may run once its limit was raised."""

_MOST_OUTPUT = 1_000_000
"""Characters of a program's output that are passed on."""

_LEFT_OUT = f"\n(Fullgraph leaves out the rest: the program printed more than {_MOST_OUTPUT:,} characters.)\n"


class RunObserver:
    """Observer of runs. For one target, generations only grow."""

    def started(self, target: Target, generation: int, cancel: Callable[[], None]) -> None:
        """Take note that a run begins; ``cancel`` ends it."""

    def progressed(self, generation: int, message: str) -> None:
        """Take note of what a run that has begun is doing now."""

    def reported(self, report: Report) -> None:
        """Take a newer report of the target: of the facts so far, or of the whole run."""

    def layered(self, report: Report) -> None:
        """Take a newer report of a layer that stands beside the target's ordinary result."""

    def finished(self, target: Target, generation: int, status: Status) -> None:
        """Take note that the run is over; all its facts have been reported."""

    def cleared(self, target: str) -> None:
        """Take note that the target's report is gone."""

    def changed(self, target: str, state: TargetState) -> None:
        """Take a new state of the target."""

    def chosen(self) -> None:
        """Take note that the results of other targets are shown from now on."""


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
        self._plan = plan
        self._observers = observers
        self._choice = choice or Choice()
        self._on_output = on_output or _to_stderr
        self._generations, self._asked = itertools.count(1), itertools.count(1)
        self._slots: dict[str, Slot] = {}
        self._engine = Engine()
        self._turns = asyncio.Semaphore(_AT_ONCE)

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
        slot = self._slots.setdefault(target, Slot())
        slot.asked = next(self._asked)
        return self._start(target, slot, RunOptions(depth or slot.kept.usual_depth, switches or {}))

    def _start(self, target: str, slot: Slot, options: RunOptions) -> asyncio.Future[Report | None]:
        if not options.in_background:
            for each in self._slots.values():
                each.give_way()
        answer = slot.ask(options)
        if slot.task is None:
            slot.task = asyncio.create_task(self._work(target, slot))
        self._show_state(target, slot)
        # Others wait for it as well: one who gives up must not take it from them.
        return asyncio.shield(answer)

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
        for name, slot in list(repeated(self._slots, filename, self._choice, is_open)):
            if is_long(slot):
                unasked.append(name)
            else:
                self.repeat(name, overrides)
        return unasked

    def repeat(self, target: str, overrides: Overrides | None = None) -> None:
        """Run a target again by itself. A run that is on has read an older text: it ends."""
        slot = self._slots[target]
        # Who asked for the run that is on gets the answer of the next: it must be of the same kind.
        by_itself = RunOptions(slot.kept.usual_depth, by_itself=True)
        options = slot.run.options if slot.run and slot.is_busy else by_itself
        self._start(target, slot, replace(options, overrides=overrides))
        slot.supersede()
        if options.layer:  # and the program as it is: a layer says nothing of that
            self._start(target, slot, replace(by_itself, overrides=overrides))

    def stop(self, target: str | None = None) -> None:
        """End the run that is on and drop the one that waits, of one target or of all."""
        for name, slot in self._selected(target):
            slot.stop()
            self._show_state(name, slot)

    def clear(self, target: str | None = None) -> None:
        """Forget one target or all, as if it had never run."""
        for name, slot in self._selected(target):
            slot.clear()
            self._notify(lambda observer, name=name: observer.cleared(name))  # type: ignore[misc]
            self._show_state(name, slot, generation=0, stale=False, run_on_save=True)

    async def close(self) -> None:
        """End everything, and wait until every process is gone."""
        self.stop()
        tasks = [slot.task for slot in self._slots.values() if slot.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._engine.close()

    def set_run_on_save(self, target: str, filename: str, enabled: bool) -> None:
        """Let a target run again by itself or not; one that has not run yet depends on ``filename``."""
        slot = self._slots.setdefault(target, Slot())
        slot.kept = replace(slot.kept, files=slot.kept.files | {filename})
        slot.agreed = enabled
        self._show_state(target, slot, run_on_save=enabled)

    def raised_limit(self, target: str) -> float | None:
        """Return the seconds that a target may take once its limit is raised; ``None`` if it has no limit."""
        slot = self._slots.get(target)
        return slot.kept.limit * _STRETCH if slot and slot.kept.limit else None

    def raise_limit(self, target: str) -> asyncio.Future[Report | None]:
        """Run a target again with a higher limit, which it keeps until it is cleared."""
        slot = self._slots.setdefault(target, Slot())
        slot.kept = replace(slot.kept, stretch=slot.kept.stretch * _STRETCH)
        return self.start(target)

    def edited(self, filename: str, is_as_it_ran: Callable[[Report], bool] = lambda _: False) -> float | None:
        """Take note that a file is not as it was when it ran, but where a report's part of it is.

        Returns the seconds of quiet after which its targets should run again; ``None`` if there are none.
        """
        pauses = []
        for name, slot in self._slots.items():
            report = slot.kept.report
            if (
                filename in slot.kept.files
                and slot.state.generation
                and not (report and is_as_it_ran(report))
            ):
                slot.kept = replace(slot.kept, edited=slot.state.generation)
                self._show_state(name, slot, stale=True)
                seconds = report.seconds if report else 0.0
                pauses.append(min(max(_PAUSE_SHARE * seconds, _LEAST_PAUSE), _LONGEST_PAUSE))
        return max(pauses, default=None)

    def beside(self, plan: Plan, request: WorkerRequest, on_output: OnOutput | None = None) -> Run:
        """Make a run of something else that a worker does for a target, beside those of the schedule."""
        slot = self._slots.get(plan.target.id)
        output = on_output or self._output(plan.target, next(self._generations))
        return self._engine.run(plan, request, output, slot.kept.libraries if slot else ())

    # -- results --------------------------------------------------------------------------------

    def reports(self) -> tuple[Report, ...]:
        """Return the results of all targets as they are shown in their files: one report of each target.

        It is of the last ordinary run, with what layers add to its lines; of a layer if there is no other.
        """
        reports = (slot.kept.marked for slot in self._slots.values())
        return tuple(report for report in reports if report is not None)

    def names(self) -> list[str]:
        """Return the targets that have run or are about to."""
        return [name for name, slot in self._slots.items() if slot.state.run is not None]

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
        self._notify(lambda observer: observer.chosen())
        for name, slot in self._slots.items():
            self._notify(lambda observer, name=name, slot=slot: observer.changed(name, slot.state))  # type: ignore[misc]

    def report(self, target: str, layer: Layer = "") -> Report | None:
        """Return the report of a target, or one of its layers: so far if it runs, else of its last run."""
        slot = self._slots.get(target)
        if slot is None:
            return None
        return slot.kept.layers.get(layer) if layer else slot.kept.latest

    def results(self, target: str) -> tuple[Report, ...]:
        """Return the report of a target, and behind it its layers, the newest first."""
        report = self.report(target)
        return (report, *self.layers(target)) if report else ()

    def layers(self, target: str) -> tuple[Report, ...]:
        """Return the layers that stand beside the report of a target, the newest first."""
        slot = self._slots.get(target)
        layers = slot.kept.layers.values() if slot else ()
        return tuple(sorted((item for item in layers if item is not self.report(target)), key=_newest_first))

    def left_out(self, report: Report) -> tuple[str, ...]:
        """Return the parts of the compiler that nobody has run for a result."""
        layer = self.report(report.target, "inductor")
        has_run = layer is not None and layer.generation > report.generation and layer.status == "finished"
        return () if has_run else report.left_out

    def is_stale(self, report: Report) -> bool:
        """Tell whether a file that a report depends on has changed since its run began."""
        slot = self._slots.get(report.target)
        return slot is not None and report.generation <= slot.kept.edited

    def add(self, report: Report) -> None:
        """Take the report of a layer that was made beside the schedule."""
        slot = self._slots.get(report.target)
        if slot is not None:
            self._report(report.target, slot, replace(report, generation=next(self._generations)))

    def revise(self, targets: Collection[str], change: Callable[[Report], Report]) -> None:
        """Change the reports of targets that are kept, and show them."""
        for name, slot in self._slots.items():
            if name in targets and slot.run is not None:
                slot.run.changes.append(change)
            if name in targets and (latest := slot.kept.latest) is not None:
                slot.revise(change)
                shown = slot.kept.latest if latest.status is None else slot.kept.marked
                self._notify(lambda observer, shown=shown: observer.reported(shown))  # type: ignore[misc]
                self._notify(lambda observer, name=name, slot=slot: observer.changed(name, slot.state))  # type: ignore[misc]

    def state(self, target: str) -> TargetState:
        """Return what a target does, and how its last run ended."""
        slot = self._slots.get(target)
        return slot.state if slot else TargetState()

    # -- running -------------------------------------------------------------------------------

    async def _work(self, target: str, slot: Slot) -> None:
        """Run for as long as a request waits."""
        try:
            while slot.requests:
                async with self._turns:
                    await self._attempt(target, slot)
        except asyncio.CancelledError:  # the server ends, or somebody has cancelled what it waits for
            slot.last_status = "cancelled"
            raise
        finally:
            slot.task = None
            while request := slot.take():
                request.answer.cancel()
            self._show_state(target, slot)
        self._go_deeper()

    def _go_deeper(self) -> None:
        """Run TorchInductor for one target whose last run has left it out, if nothing else runs."""
        if any(slot.task for slot in self._slots.values()):
            return
        for name, slot in self._slots.items():
            if slot.goes_deeper and not slot.state.stale:
                slot.goes_deeper = False
                self._start(name, slot, RunOptions("kernels", by_itself=True, in_background=True))
                return

    async def _attempt(self, target: str, slot: Slot) -> None:
        if (waiting := slot.next_request) is None:  # stopped meanwhile
            return
        plan, error = await self._planned(target, waiting.options.overrides)
        # Who asked until now gets this run: it is of the newest text.
        request = slot.take()
        if request is None:  # stopped meanwhile
            return
        if error is not None:
            self._refuse(target, slot, request, error)
        elif plan is None:
            self.clear(target)
            request.answer.set_result(None)
        else:
            await self._answer(target, slot, plan, request)

    async def _planned(
        self, target: str, overrides: Overrides | None
    ) -> tuple[Plan | None, Exception | None]:
        try:
            return await self._plan(target, overrides), None
        except Exception as error:
            _log.exception("the run of %s could not be planned", target)
            return None, error

    def _refuse(self, target: str, slot: Slot, request: Request, error: Exception) -> None:
        """Answer a request for which no plan could be made."""
        generation = next(self._generations)
        slot.last_status = "crashed"
        self._show_state(target, slot, generation=generation)
        if slot.filename:
            request.answer.set_result(self._failed(target, slot, generation, error, request.options.layer))
        else:  # there is no place yet for a finding
            request.answer.set_exception(error)

    async def _answer(self, target: str, slot: Slot, plan: Plan, request: Request) -> None:
        """Answer a request with the report of its run, or of the run that takes the place of that."""
        run = slot.begin(request.options, next(self._generations), plan.target.filename)
        try:
            report = await self._run(target, slot, run, plan)
        except asyncio.CancelledError:
            request.answer.cancel()
            raise
        later = slot.requests.get(run.options.layer)
        if run.phase == "superseded" and later is not None:
            _settle_with(request.answer, later.answer)
        else:
            request.answer.set_result(report)

    async def _run(self, name: str, slot: Slot, run: CurrentRun, plan: Plan) -> Report:
        """Run once. An error of Fullgraph's own ends the run, and becomes a finding of it."""
        target, generation, was_stale = plan.target, run.generation, slot.state.stale
        beside = slot.is_beside
        stale = was_stale if beside else False
        self._show_state(name, slot, generation=generation, stale=stale)
        try:
            plan = run.options.switched(plan).stretched(slot.kept.stretch)
            report = await self._execute(name, slot, run, plan)
        except Exception as error:
            report = self._failed(name, slot, generation, error, run.options.layer)
        except asyncio.CancelledError:
            slot.end("cancelled")
            self._notify(lambda observer: observer.finished(target, generation, "cancelled"))
            raise
        status = report.status or "crashed"
        slot.end(status)
        if run.phase == "cleared":
            self._show_state(name, slot)
        else:
            # What is shown is as old as before, unless this run has shown something.
            is_shown = is_worth_showing(report) and run.phase == "running" and not beside
            stale = slot.state.stale or (was_stale and not is_shown)
            self._show_state(name, slot, stale=stale)
        self._notify(lambda observer: observer.finished(target, generation, status))
        return report

    async def _execute(self, name: str, slot: Slot, run: CurrentRun, plan: Plan) -> Report:
        """Make the report of one run, and keep what the next one needs to know."""
        depth = plan.depth(run.options.depth)
        if not run.options.layer:
            slot.kept = replace(slot.kept, limit=settings_at(plan.settings, depth).timeout)
        in_background = run.options.in_background
        label = f"{INDUCTOR} on {plan.target.label}" if in_background else plan.target.label
        target = replace(plan.target, label=label)
        progress = RunProgress(target, "graph" if in_background else depth, plan.settings.switches)

        def show_progress(facts: Sequence[Fact] = ()) -> None:
            if progress.take(facts) or not facts:
                self._notify(lambda observer: observer.progressed(run.generation, progress.message))

        def shown(report: Report) -> Report:
            report = without_known(as_layer(report, run.options.layer), plan.baseline, plan.workspace.root)
            for change in run.changes:
                report = change(report)
            return report

        job = Job(
            plan,
            run.generation,
            depth,
            self._engine,
            slot.kept.libraries,
            lambda report: self._report(name, slot, shown(report)),
            self._output(plan.target, run.generation),
            show_progress,
        )
        execution = run.execution = execution_of(job)
        if error := self._notify(lambda observer: observer.started(target, run.generation, execution.cancel)):
            raise error
        show_progress()
        report = shown(await execution.execute())
        if not run.options.layer:
            slot.goes_deeper = plan.goes_deeper and leaves_out_inductor(report)
        if run.phase != "cleared":
            is_shown = is_worth_showing(report) and run.phase == "running"
            slot.keep(report, execution.facts, execution.depends_on(report) if is_shown else None)
            if report.status != "not-started":
                execution.prepare(slot.kept.libraries)
        return report

    def _failed(self, target: str, slot: Slot, generation: int, error: Exception, layer: Layer) -> Report:
        """Show the report of a run in which Fullgraph itself failed."""
        report = self.report(target, layer)
        if report is None or report.generation != generation:
            report = Report(target, generation)
        report = as_layer(failed_report(report, slot.filename, error), layer)
        with contextlib.suppress(Exception):  # of an observer, which was logged
            self._report(target, slot, report)
        return report

    def _report(self, target: str, slot: Slot, report: Report) -> None:
        """Take a report, and show it. Raises the error of an observer that cannot."""
        if slot.phase in ("superseded", "cleared"):
            return
        if slot.run and slot.run.options.in_background and report.status in (None, "cancelled"):
            return  # it may end before it has told all, and what it told before stays until then
        if is_beside(report, slot.kept.latest):
            self._show_layer(slot, report)
        elif error := self._notify(lambda observer: observer.reported(report)):
            raise error
        else:
            slot.show(report)
        # Its process may take a moment to go: nobody has to wait for that.
        before = slot.state
        self._show_state(target, slot)
        if report.layer and report.status is not None and slot.state is before:
            # One that comes by itself, or was made beside the schedule, leaves the state as it is.
            self._notify(lambda observer: observer.changed(target, before))

    def _show_layer(self, slot: Slot, report: Report) -> None:
        """Take the report of a layer beside the ordinary result, and show what it adds to that."""
        if error := self._notify(lambda observer: observer.layered(report)):
            raise error
        before = slot.kept.marked
        slot.show(report)
        after = slot.kept.marked
        if after is not None and after is not before:
            self._notify(lambda observer: observer.reported(after))

    def _show_state(self, name: str, slot: Slot, **changes: Any) -> None:
        """Show the observers what a target does, if that or one of ``changes`` is new."""
        state = replace(slot.state, run=slot.run_state, **changes)
        if state != slot.state:
            slot.state = state
            self._notify(lambda observer: observer.changed(name, state))

    def _notify(self, notify: Callable[[RunObserver], None]) -> Exception | None:
        """Notify all observers; the error of one keeps nothing from the others, and is returned."""
        failed = None
        for observer in self._observers:
            try:
                notify(observer)
            except Exception as error:
                _log.exception("%s failed", type(observer).__name__)
                failed = error
        return failed

    def _output(self, target: Target, generation: int) -> Callable[[str], None]:
        """Return what takes the output of one run."""
        return _Output(partial(self._on_output, target, generation)).write

    def _selected(self, target: str | None) -> list[tuple[str, Slot]]:
        return [(name, slot) for name, slot in self._slots.items() if target in (None, name)]


class _Output:
    """Passes a program's output on, up to a limit: some programs print for ever."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._left = _MOST_OUTPUT

    def write(self, text: str) -> None:
        if self._left <= 0:
            return
        self._write(text[: self._left])
        self._left -= len(text)
        if self._left <= 0:
            self._write(_LEFT_OUT)


def _to_stderr(_target: Target, _generation: int, text: str) -> None:
    to_stderr(text)


def _newest_first(report: Report) -> int:
    return -report.generation


def _settle_with(answer: asyncio.Future[Report | None], later: asyncio.Future[Report | None]) -> None:
    """Answer a request with what another one gets."""

    def settle(done: asyncio.Future[Report | None]) -> None:
        if done.cancelled():
            answer.cancel()
        elif error := done.exception():
            answer.set_exception(error)
        else:
            answer.set_result(done.result())

    later.add_done_callback(settle)
