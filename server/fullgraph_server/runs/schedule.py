"""Runs over time: for each target one that is on and one that waits, their generations and reports."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from fullgraph_compiler.facts import Depth, Fact, MinifyRequest, ModulesLoaded, Status

from ..report.model import Report
from ..workers.pool import WorkerPool
from ..workspace.targets import Target
from .effective_settings import Overrides
from .execution import Execution, execution_of, failed_report
from .limits import with_limits
from .partial_reports import is_worth_showing
from .plan import Job, Plan
from .planner import Planner
from .program_run import Run, to_stderr

_log = logging.getLogger(__name__)

_AT_ONCE = max(2, (os.cpu_count() or 2) // 4)
"""How many targets run at the same time: each uses several cores itself."""

_PAUSE_SHARE, _LEAST_PAUSE, _LONGEST_PAUSE = 0.5, 0.15, 2.0
"""How long an author's pause is before a run: a part of what the last run took, and its limits in seconds."""

_USUAL: tuple[Depth, ...] = ("graph", "kernels", "build")
"""Depths that say whether kernels are to be shown from now on; the others look for something else."""

_MOST_OUTPUT = 1_000_000
"""Characters of a program's output that are passed on."""

RunState: TypeAlias = Literal["queued", "running"] | Status


@dataclass(frozen=True)
class TargetState:
    """What a target does, and what became of its last run."""

    run: RunState | None = None
    """``None`` for a target that did not run."""
    generation: int = 0
    """Of the last run that began."""
    stale: bool = False
    """Whether a file that it depends on has changed since that run began."""
    run_on_save: bool = True
    """Whether it runs again when such a file is saved."""


class RunObserver:
    """Is told what happens to runs. For one target, generations only grow."""

    def started(self, target: Target, generation: int, cancel: Callable[[], None]) -> None:
        """A run begins; ``cancel`` ends it."""

    def reported(self, report: Report) -> None:
        """There is a newer report of the target: of facts so far, or of the whole run."""

    def finished(self, target: Target, generation: int, status: Status) -> None:
        """The run is over, and what it told has been reported."""

    def cleared(self, target: str) -> None:
        """The target's report is gone."""

    def changed(self, target: str, state: TargetState) -> None:
        """The target's state is another."""


class Runs:
    """Every target that was asked for. One run of a target is on at a time, and one waits."""

    def __init__(self, plan: Planner, observers: Sequence[RunObserver]) -> None:
        self._plan = plan
        self._observers = observers
        self._generations = itertools.count(1)
        self._slots: dict[str, _Slot] = {}
        self._workers = WorkerPool()
        self._turns = asyncio.Semaphore(_AT_ONCE)

    # -- what is asked for ---------------------------------------------------------------------

    def start(
        self, target: str, depth: Depth | None = None, switches: Mapping[str, Any] | None = None
    ) -> asyncio.Future[Report | None]:
        """Ask for a run. The future gets its report, or ``None`` if it was stopped before it began.

        Requests made while another run is on share the next one, and so do those made before it begins;
        it goes as deep as one of them wants. Kernels that were asked for once are shown by later runs, too.
        ``switches`` are attributes of the target's switches that are set for this run alone.
        """
        slot = self._slots.setdefault(target, _Slot())
        return self._start(target, slot, _RunOptions(depth or slot.usual_depth, switches or {}))

    def _start(self, target: str, slot: _Slot, asked: _RunOptions) -> asyncio.Future[Report | None]:
        if slot.waiting is None:
            slot.waiting, slot.asked = asyncio.get_running_loop().create_future(), asked
        else:
            slot.asked = slot.asked.joined(asked)
        if slot.task is None:
            slot.task = asyncio.create_task(self._work(target, slot))
        # Others wait for it as well: one who gives up must not take it from them.
        return asyncio.shield(slot.waiting)

    def restart(self, filename: str, overrides: Overrides | None = None) -> None:
        """Run again what depends on a file. A run that is on has read an older text: it ends.

        ``overrides`` are the settings of the file's folder, if the client has just given them.
        """
        for name, slot in list(self._slots.items()):
            if filename in slot.files and slot.state.run_on_save:
                # Who asked for the run that is on gets the answer of the next: it must be of the same kind.
                options = slot.running or _RunOptions(slot.usual_depth, by_itself=True)
                self._start(name, slot, replace(options, overrides=overrides))
                slot.supersede()

    def stop(self, target: str | None = None) -> None:
        """End the run that is on and drop the one that waits, of one target or of all."""
        for slot in self._selected(target):
            slot.stop()

    def clear(self, target: str | None = None) -> None:
        """Forget one target or all, as if it had never run."""
        names = [target] if target is not None else list(self._slots)
        for name in names:
            slot = self._slots.get(name)
            if slot is None:
                continue
            slot.forget()
            self._tell(lambda observer, name=name: observer.cleared(name))  # type: ignore[misc]
            self._change(name, slot, run=None, generation=0, stale=False, run_on_save=True)

    async def close(self) -> None:
        """End everything, and wait until every process is gone."""
        self.stop()
        tasks = [slot.task for slot in self._slots.values() if slot.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._workers.close()

    def set_run_on_save(self, target: str, filename: str, enabled: bool) -> None:
        """Let a target run again by itself or not; one that has not run yet depends on ``filename``."""
        slot = self._slots.setdefault(target, _Slot())
        slot.files |= {filename}
        self._change(target, slot, run_on_save=enabled)

    def edited(self, filename: str) -> float | None:
        """Take note that a file is not as it was when it ran.

        Returns the seconds of quiet after which its targets should run again; ``None`` if there are none.
        """
        pauses = []
        for name, slot in self._slots.items():
            if filename in slot.files and slot.state.generation:
                self._change(name, slot, stale=True)
                seconds = slot.report.seconds if slot.report else 0.0
                pauses.append(min(max(_PAUSE_SHARE * seconds, _LEAST_PAUSE), _LONGEST_PAUSE))
        return max(pauses, default=None)

    def beside(self, plan: Plan, request: MinifyRequest) -> Run:
        """Something else that a worker does for a target, beside the runs of the schedule."""
        settings, asked = with_limits(plan.settings, request, plan.workspace.root)
        slot = self._slots.get(plan.target.id)
        return Run(self._workers, settings, asked, slot.libraries if slot else (), _Output().write)

    # -- what is known -------------------------------------------------------------------------

    def reports(self) -> tuple[Report, ...]:
        """The reports of finished runs, the newest of each target."""
        return tuple(slot.report for slot in self._slots.values() if slot.report is not None)

    def names(self) -> list[str]:
        """The targets that have run or are about to."""
        return [name for name, slot in self._slots.items() if slot.state.run is not None]

    def report(self, target: str) -> Report | None:
        """What a target has told: so far if it runs, else in its last run."""
        slot = self._slots.get(target)
        return slot.latest if slot else None

    def state(self, target: str) -> TargetState:
        """What a target does, and what became of its last run."""
        slot = self._slots.get(target)
        return slot.state if slot else TargetState()

    # -- running -------------------------------------------------------------------------------

    async def _work(self, target: str, slot: _Slot) -> None:
        """Run for as long as a run waits."""
        try:
            while slot.waiting is not None:
                before = slot.state
                slot.forgotten = False
                self._change(target, slot, run="queued")
                async with self._turns:
                    await self._attempt(target, slot, before)
        except asyncio.CancelledError:  # the server ends, or somebody has cancelled what it waits for
            self._change(target, slot, run="cancelled")
            raise
        finally:
            slot.task = None
            if slot.waiting is not None:
                slot.waiting.cancel()
                slot.waiting = None

    async def _attempt(self, target: str, slot: _Slot, before: TargetState) -> None:
        plan, error = await self._planned(target, slot.asked.overrides)
        # Who asked until now gets this run: it is of the newest text.
        asked, answer = slot.asked, slot.take()
        if answer is None:  # stopped meanwhile
            self._change(target, slot, run=None if slot.forgotten else before.run)
        elif error is not None:
            slot.superseded = False
            self._change(target, slot, run="crashed", generation=next(self._generations))
            if slot.filename:
                answer.set_result(self._failed(target, slot, error))
            else:  # there is no place yet for a finding
                answer.set_exception(error)
        elif plan is None:
            self.clear(target)
            answer.set_result(None)
        else:
            try:
                report = await self._run(target, slot, plan, asked, before.stale)
            except asyncio.CancelledError:
                answer.cancel()
                raise
            if slot.superseded and slot.waiting is not None:
                _settle_with(answer, slot.waiting)
            else:
                answer.set_result(report)

    async def _planned(
        self, target: str, overrides: Overrides | None
    ) -> tuple[Plan | None, Exception | None]:
        try:
            return await self._plan(target, overrides), None
        except Exception as error:
            _log.exception("the run of %s could not be planned", target)
            return None, error

    async def _run(self, name: str, slot: _Slot, plan: Plan, asked: _RunOptions, was_stale: bool) -> Report:
        """Run once. An error of Fullgraph's own ends the run, and is told as a finding of it."""
        target, generation = plan.target, next(self._generations)
        slot.filename = target.filename
        slot.files |= {target.filename}
        slot.superseded = False
        slot.running = asked
        self._change(name, slot, run="running", generation=generation, stale=False)
        try:
            report = await self._execute(name, slot, asked.switched(plan), generation)
        except Exception as error:
            report = self._failed(name, slot, error)
        except asyncio.CancelledError:
            self._tell(lambda observer: observer.finished(target, generation, "cancelled"))
            raise
        finally:
            slot.work = slot.running = None
        status = report.status or "crashed"
        if not slot.forgotten:
            told_something = is_worth_showing(report) and not slot.superseded
            stale = slot.state.stale or (was_stale and not told_something)
            follows = slot.superseded and slot.waiting is not None
            self._change(name, slot, run="queued" if follows else status, stale=stale)
        self._tell(lambda observer: observer.finished(target, generation, status))
        return report

    async def _execute(self, name: str, slot: _Slot, plan: Plan, generation: int) -> Report:
        """Make the report of one run, and keep what the next one needs to know."""
        assert slot.running is not None
        job = Job(
            plan,
            generation,
            plan.depth(slot.running.depth),
            self._workers,
            slot.libraries,
            lambda report: self._report(name, slot, report),
            _Output().write,
        )
        work = slot.work = execution_of(job)
        if error := self._tell(lambda observer: observer.started(plan.target, generation, work.cancel)):
            raise error
        report = await work.execute()
        if not slot.forgotten:
            told = is_worth_showing(report) and not slot.superseded
            slot.finish(report, work.facts, work.depends_on(report) if told else None)
            if report.status != "not-started":
                work.prepare(slot.libraries)
        return report

    def _failed(self, target: str, slot: _Slot, error: Exception) -> Report:
        """Show the report of a run in which Fullgraph itself failed."""
        generation, told = slot.state.generation, slot.latest
        if told is None or told.generation != generation:
            told = Report(target, generation)
        report = failed_report(told, slot.filename, error)
        with contextlib.suppress(Exception):  # of an observer, which was logged
            self._report(target, slot, report)
        return report

    def _report(self, target: str, slot: _Slot, report: Report) -> None:
        """Take a report, and show it. Raises the error of an observer that cannot."""
        if slot.forgotten or slot.superseded:
            return
        if error := self._tell(lambda observer: observer.reported(report)):
            raise error
        slot.latest = report
        if report.status is not None:
            slot.report = report
            if report.depth in _USUAL and not (slot.running and slot.running.switches):
                slot.usual_depth = "kernels" if report.codes else "graph"
            # Its process may take a moment to go: nobody has to wait for that.
            self._change(target, slot, run=report.status)

    def _change(self, target: str, slot: _Slot, **changes: Any) -> None:
        state = replace(slot.state, **changes)
        if state != slot.state:
            slot.state = state
            self._tell(lambda observer: observer.changed(target, state))

    def _tell(self, tell: Callable[[RunObserver], None]) -> Exception | None:
        """Tell all observers; the error of one keeps nothing from the others, and is returned."""
        failed = None
        for observer in self._observers:
            try:
                tell(observer)
            except Exception as error:
                _log.exception("%s failed", type(observer).__name__)
                failed = error
        return failed

    def _selected(self, target: str | None) -> list[_Slot]:
        return [slot for name, slot in self._slots.items() if target in (None, name)]


@dataclass(frozen=True)
class _RunOptions:
    """What is asked of a run: how deep it goes, and the switches that are set for it alone."""

    depth: Depth = "graph"
    switches: Mapping[str, Any] = field(default_factory=dict)
    by_itself: bool = False
    """Whether nobody has asked: then no file is changed, unless the settings say otherwise."""
    overrides: Overrides | None = None
    """The settings that the client has given with the request; it is asked for them if there are none."""

    def switched(self, plan: Plan) -> Plan:
        """The plan of such a run."""
        plan = plan.switched(self.switches)
        discards = self.by_itself and plan.settings.switches.files is None
        return plan.switched({"files": "discard"}) if discards else plan

    def joined(self, other: _RunOptions) -> _RunOptions:
        """What is asked of a run that is for both; the later one decides where they differ."""
        depth = self.depth if other.depth == "graph" else other.depth
        switches = {**self.switches, **other.switches}
        return _RunOptions(depth, switches, self.by_itself and other.by_itself, other.overrides)


class _Slot:
    """One target: its run, the request that waits, and the last report."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.work: Execution | None = None
        self.running: _RunOptions | None = None
        """What was asked of the run that is on."""
        self.waiting: asyncio.Future[Report | None] | None = None
        self.asked = _RunOptions()
        """What is asked of the run that waits."""
        self.usual_depth: Depth = "graph"
        """How deep a run goes of which nobody has said more."""
        self.state = TargetState()
        self.filename = ""
        """The target's, once it is known."""
        self.report: Report | None = None
        """Of the last run that is over."""
        self.latest: Report | None = None
        """Of the run that is on, if it has told something; else the last one's."""
        self.files: frozenset[str] = frozenset()
        """What the target depends on."""
        self.libraries: tuple[str, ...] = ()
        """The installed modules that it imports."""
        self.forgotten = False
        """Cleared since the last run began: what it still is_worth_showing is of no interest."""
        self.superseded = False
        """Another run has taken the place of the one that is on."""

    def take(self) -> asyncio.Future[Report | None] | None:
        """The request that waits; from now on there is none."""
        waiting, self.waiting = self.waiting, None
        return waiting

    def supersede(self) -> None:
        if self.work is not None:
            self.superseded = True
            self.work.cancel()

    def stop(self) -> None:
        self.superseded = False
        if self.waiting is not None and self.task is not None:
            self.waiting.set_result(None)
            self.waiting = None
        if self.work is not None:
            self.work.cancel()

    def forget(self) -> None:
        self.stop()
        self.forgotten = True
        self.report = self.latest = None
        self.usual_depth = "graph"
        self.files = frozenset()
        self.libraries = ()

    def finish(self, report: Report, facts: Iterable[Fact], files: frozenset[str] | None) -> None:
        """Keep what a run has told; ``files`` are those that it depends on, if it told something."""
        if files is not None:
            # A run that fails early names few of the files that it depends on: earlier ones stay.
            earlier = frozenset() if report.status == "finished" else self.files
            self.files = earlier | files
        loaded = [fact for fact in facts if isinstance(fact, ModulesLoaded)]
        names = (name for fact in loaded for name in fact.libraries)
        self.libraries = tuple(dict.fromkeys((*self.libraries, *names)))
        if any(fact.variables for fact in loaded):
            # Libraries read the environment when they are imported: they must not be imported before.
            self.libraries = ()


class _Output:
    """Passes a program's output to the server's log, up to a limit: some programs print for ever."""

    def __init__(self) -> None:
        self._left = _MOST_OUTPUT

    def write(self, text: str) -> None:
        if self._left <= 0:
            return
        to_stderr(text[: self._left])
        self._left -= len(text)
        if self._left <= 0:
            _log.warning("the program prints too much: the rest of its output is left out")


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
