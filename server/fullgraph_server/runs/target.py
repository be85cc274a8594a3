"""The runs of one target: the current run, waiting runs, and notifications."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fullgraph_compiler.facts import Fact

from ..analyses.inductor import INDUCTOR
from ..compare.baseline import without_known
from ..report.model import Layer, Report
from ..workspace.targets import Target
from .effective_settings import SettingOverrides
from .engine import RunEngine, settings_at
from .execution import execution_of, failed_report
from .layers import as_layer, is_beside, leaves_out_inductor
from .observers import RunObservers
from .partial_reports import is_worth_showing
from .plan import RunJob, RunPlan, RunPlanner
from .progress import RunProgress
from .slot import CurrentRun, QueuedRun, RunOptions, SlotHistory, TargetSlot, TargetState

_log = logging.getLogger(__name__)

_MOST_OUTPUT = 1_000_000
"""The most characters of a program's output that are passed on."""

_LEFT_OUT = f"\n(Fullgraph leaves out the rest: the program printed more than {_MOST_OUTPUT:,} characters.)\n"


@dataclass(frozen=True)
class ScheduleServices:
    """The objects that all targets of a schedule share."""

    plan: RunPlanner
    engine: RunEngine
    observers: RunObservers
    on_output: Callable[[Target, int, str], None]
    generations: Iterator[int]
    turns: asyncio.Semaphore
    """Limits how many targets run at the same time."""
    make_way: Callable[[], None]
    """Ends all background runs; called before any other run is requested."""
    when_idle: Callable[[], None]
    """Called when a target becomes idle."""


class TargetRuns:
    """One target of a schedule.

    Its phases and their transitions are in the table of :class:`TargetSlot`.
    """

    def __init__(self, name: str, shared: ScheduleServices) -> None:
        self.name = name
        self.slot = TargetSlot()
        self._shared = shared
        self._notify = shared.observers.notify

    @property
    def kept(self) -> SlotHistory:
        """The results and other state that earlier runs have left."""
        return self.slot.kept

    @property
    def state(self) -> TargetState:
        """The current state of the target."""
        return self.slot.state

    def report(self, layer: Layer = "") -> Report | None:
        """Return the newest report of the target or of a layer, even of a run in progress."""
        return self.kept.layers.get(layer) if layer else self.kept.latest

    # -- messages ------------------------------------------------------------------------------

    def ask(self, options: RunOptions) -> asyncio.Future[Report | None]:
        """Request a run, and work until no request waits."""
        if not options.in_background:
            self._shared.make_way()
        answer = self.slot.ask(options)
        if self.slot.task is None:
            self.slot.task = asyncio.create_task(self._work())
        self.show_state()
        # Several callers await the answer: one that is cancelled must not cancel it for the others.
        return asyncio.shield(answer)

    def repeat(self, overrides: SettingOverrides | None) -> None:
        """Rerun without a request; end a run in progress, which used older text."""
        slot = self.slot
        # Callers that await the current run get the answer of the next run: it must be of the same kind.
        by_itself = RunOptions(slot.kept.usual_depth, by_itself=True)
        options = slot.run.options if slot.run and slot.is_busy else by_itself
        self.ask(replace(options, overrides=overrides))
        slot.supersede()
        if options.layer:  # also rerun the ordinary result, which a layer does not update
            self.ask(replace(by_itself, overrides=overrides))

    def stop(self) -> None:
        """End the current run, and drop the waiting runs."""
        self.slot.stop()
        self.show_state()

    def clear(self) -> None:
        """Forget all runs of the target."""
        self.slot.clear()
        self._notify(lambda observer: observer.cleared(self.name))
        self.show_state(generation=0, stale=False, run_on_save=True)

    def add(self, report: Report) -> None:
        """Add the report of a layer that was made outside of the schedule."""
        self._report(replace(report, generation=next(self._shared.generations)))

    def revise(self, change: Callable[[Report], Report]) -> None:
        """Change the stored reports and all reports of the current run, and show them."""
        slot = self.slot
        if slot.run is not None:
            slot.run.changes.append(change)
        if (latest := slot.kept.latest) is not None:
            slot.revise(change)
            shown = slot.kept.latest if latest.status is None else slot.kept.marked
            self._notify(lambda observer: observer.reported(shown))  # type: ignore[arg-type]
            self.tell_state()

    def edited(self) -> None:
        """Note that a file has changed since the last run began."""
        self.slot.kept = replace(self.kept, edited=self.state.generation)
        self.show_state(stale=True)

    def tell_state(self) -> None:
        """Notify the observers of the state, whether or not it has changed."""
        self._notify(lambda observer: observer.changed(self.name, self.state))

    def show_state(self, **changes: Any) -> None:
        """Update the state, and notify the observers if it has changed."""
        state = replace(self.state, run=self.slot.run_state, **changes)
        if state != self.state:
            self.slot.state = state
            self.tell_state()

    def output(self, target: Target, generation: int) -> Callable[[str], None]:
        """Return a function that passes on the output of one run."""
        return _OutputRelay(partial(self._shared.on_output, target, generation)).write

    # -- running -------------------------------------------------------------------------------

    async def _work(self) -> None:
        """Run until no request waits."""
        slot = self.slot
        try:
            while slot.requests:
                async with self._shared.turns:
                    await self._attempt()
        except asyncio.CancelledError:  # the server ends, or a future that the run awaits was cancelled
            slot.last_status = "cancelled"
            raise
        finally:
            slot.task = None
            while request := slot.take():
                request.answer.cancel()
            self.show_state()
        self._shared.when_idle()

    async def _attempt(self) -> None:
        if (waiting := self.slot.next_request) is None:  # stopped meanwhile
            return
        plan, error = await self._planned(waiting.options.overrides)
        # The plan has the newest text, so this run answers every request made until now.
        request = self.slot.take()
        if request is None:  # stopped meanwhile
            return
        if error is not None:
            self._refuse(request, error)
        elif plan is None:
            self.clear()
            request.answer.set_result(None)
        else:
            await self._answer(plan, request)

    async def _planned(self, overrides: SettingOverrides | None) -> tuple[RunPlan | None, Exception | None]:
        try:
            return await self._shared.plan(self.name, overrides), None
        except Exception as error:
            _log.exception("the run of %s could not be planned", self.name)
            return None, error

    def _refuse(self, request: QueuedRun, error: Exception) -> None:
        """Answer a request for which no plan could be made."""
        generation = next(self._shared.generations)
        self.slot.last_status = "crashed"
        self.show_state(generation=generation)
        if self.slot.filename:
            request.answer.set_result(self._failed(generation, error, request.options.layer))
        else:  # no file is known in which a finding could be shown
            request.answer.set_exception(error)

    async def _answer(self, plan: RunPlan, request: QueuedRun) -> None:
        """Answer a request with the report of its run.

        If a later run supersedes this run, the answer is the later run's report.
        """
        run = self.slot.begin(request.options, next(self._shared.generations), plan.target.filename)
        try:
            report = await self._run(run, plan)
        except asyncio.CancelledError:
            request.answer.cancel()
            raise
        later = self.slot.requests.get(run.options.layer)
        if run.phase == "superseded" and later is not None:
            _settle_with(request.answer, later.answer)
        else:
            request.answer.set_result(report)

    async def _run(self, run: CurrentRun, plan: RunPlan) -> Report:
        """Run once; an error of Fullgraph itself ends the run and becomes a finding."""
        slot, target, generation = self.slot, plan.target, run.generation
        was_stale = self.state.stale
        beside = slot.is_beside
        stale = was_stale if beside else False
        self.show_state(generation=generation, stale=stale)
        try:
            plan = run.options.switched(plan).stretched(slot.kept.stretch)
            report = await self._execute(run, plan)
        except Exception as error:
            report = self._failed(generation, error, run.options.layer)
        except asyncio.CancelledError:
            slot.end("cancelled")
            self._notify(lambda observer: observer.finished(target, generation, "cancelled"))
            raise
        status = report.status or "crashed"
        slot.end(status)
        if run.phase == "cleared":
            self.show_state()
        else:
            # The shown results remain stale unless this run has shown new ones.
            is_shown = is_worth_showing(report) and run.phase == "running" and not beside
            stale = slot.state.stale or (was_stale and not is_shown)
            self.show_state(stale=stale)
        self._notify(lambda observer: observer.finished(target, generation, status))
        return report

    async def _execute(self, run: CurrentRun, plan: RunPlan) -> Report:
        """Make the report of one run, and store what the next run needs to know."""
        slot, depth = self.slot, plan.depth(run.options.depth)
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

        job = RunJob(
            plan,
            run.generation,
            depth,
            self._shared.engine,
            slot.kept.libraries,
            lambda report: self._report(shown(report)),
            self.output(plan.target, run.generation),
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

    def _failed(self, generation: int, error: Exception, layer: Layer) -> Report:
        """Show the report of a run in which Fullgraph itself failed."""
        report = self.report(layer)
        if report is None or report.generation != generation:
            report = Report(self.name, generation)
        report = as_layer(failed_report(report, self.slot.filename, error), layer)
        with contextlib.suppress(Exception):  # an observer's error, which was logged
            self._report(report)
        return report

    def _report(self, report: Report) -> None:
        """Store and show a report. Raises the error of an observer that cannot show it."""
        slot = self.slot
        if slot.phase in ("superseded", "cleared"):
            return
        if slot.run and slot.run.options.in_background and report.status in (None, "cancelled"):
            return  # a background run shows only complete results; earlier ones stay until then
        if is_beside(report, slot.kept.latest):
            self._show_layer(report)
        elif error := self._notify(lambda observer: observer.reported(report)):
            raise error
        else:
            slot.show(report)
        # Show the state now: the process may take a moment to exit.
        before = slot.state
        self.show_state()
        if report.layer and report.status is not None and slot.state is before:
            # A layer of a background run, or made outside of the schedule, does not change the state.
            self.tell_state()

    def _show_layer(self, report: Report) -> None:
        """Store the report of a layer, and show what it adds to the ordinary result."""
        if error := self._notify(lambda observer: observer.layered(report)):
            raise error
        before = self.kept.marked
        self.slot.show(report)
        after = self.kept.marked
        if after is not None and after is not before:
            self._notify(lambda observer: observer.reported(after))


class _OutputRelay:
    """The output of a program, passed on up to a limit: some programs print for ever."""

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


def _settle_with(answer: asyncio.Future[Report | None], later: asyncio.Future[Report | None]) -> None:
    """Settle ``answer`` with the result of ``later``, the request that replaced it."""

    def settle(done: asyncio.Future[Report | None]) -> None:
        if done.cancelled():
            answer.cancel()
        elif error := done.exception():
            answer.set_exception(error)
        else:
            answer.set_result(done.result())

    later.add_done_callback(settle)
