"""Experiments: runs with edits, trials of statements, and comparisons of results.

Equal requests are executed only once.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

from fullgraph_compiler.facts import (
    AddedSizes,
    CallPlace,
    CallsRequest,
    CallsSeen,
    CompareRequest,
    Depth,
    Fact,
    Program,
    ResultsCompared,
    RunFinished,
    RunRequest,
    SizeTried,
    SourceText,
    StatementsTried,
    TargetProblem,
    Trial,
    TrialRequest,
)

from ..report.model import Report
from ..runs.plan import RunPlan
from ..runs.program_run import WorkerRequest, WorkerRun
from ..runs.schedule import AT_ONCE, processors
from ..workers.crash import REPORT_IT
from ..workspace.drift import with_text
from ..workspace.positions import Span
from ..workspace.source import SourceFile
from .splitting.watching import with_watches

Start = Callable[[RunPlan, WorkerRequest, Callable[[str], None]], WorkerRun]
"""A function that makes the run of a request. The callback gets the program's output."""

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
"""No environment variables."""
_THREADS: Final = max(1, processors() // AT_ONCE)
"""The number of threads of torch in a run: more threads than processors would wait for each other."""
_T = TypeVar("_T", bound=Fact)
_Made = TypeVar("_Made")


class CannotTryError(Exception):
    """Raised if an edit could not be tried because Fullgraph itself failed twice.

    The exception's text says how Fullgraph failed.
    """


@dataclass(frozen=True)
class RunMode:
    """The way to run a program: the depth, and options of :class:`RunRequest`."""

    depth: Depth = "graph"
    other_mode: bool = False
    uncompiled: bool = False
    exact: bool = False


@dataclass(frozen=True)
class ExperimentState:
    """A program's texts, with the report, output and results of one run.

    ``texts`` are the texts that differ from the files on disk, by file name. ``record`` is the file with the
    recorded results. ``left_out`` are the parts of the compiler that the program uses but that the run left
    out. ``failure`` says why there was no run.
    """

    texts: Mapping[str, str]
    report: Report
    printed: str
    record: Path
    sizes: tuple[SizeTried, ...] = ()
    """The outcomes of the program's calls with other sizes, if other sizes were tried."""
    left_out: tuple[str, ...] = ()
    failure: str = ""
    exit_code: int = 0


@dataclass
class Experiments:
    """Runs of one target with edits, cached by the edited texts: no run is repeated."""

    plan: RunPlan
    start: Start
    folder: Path
    """A folder, empty at first, for recorded results. The code that made the folder removes it."""
    added: tuple[AddedSizes, ...] | None = None
    """Further sizes with which to run the program; if ``None``, no other sizes are tried."""
    torch: str = ""
    _numbers: Callable[[], int] = field(default_factory=lambda: itertools.count(1).__next__)
    _made: dict[Any, asyncio.Future[Any]] = field(default_factory=dict)
    """The finished and the pending results, by request."""
    _compiling: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """A run that compiles kernels holds this semaphore: processors are few, and the next run finds the
    kernels in the cache."""
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    """Each run holds this semaphore."""
    _runs: set[WorkerRun] = field(default_factory=set)
    _cancelled: bool = False

    def cancel(self) -> None:
        """Cancel all runs in progress, and every run that starts later."""
        self._cancelled = True
        for run in self._runs:
            run.cancel()

    async def close(self) -> None:
        """Cancel all requests in progress, and wait until they have ended."""
        for task in self._made.values():
            task.cancel()
        await asyncio.gather(*self._made.values(), return_exceptions=True)

    async def _once(self, key: object, make: Callable[[], Coroutine[Any, Any, _Made]]) -> _Made:
        """Return the result for a key; on the first request, start ``make`` to compute it."""
        if key not in self._made:
            self._made[key] = asyncio.ensure_future(make())
        return await self._made[key]  # type: ignore[no-any-return]

    # -- runs ----------------------------------------------------------------------------------

    async def state(self, texts: Mapping[str, str], how: RunMode = RunMode()) -> ExperimentState:
        """Run the program with ``texts``, or return the state of an equal earlier run."""
        return await self._once((frozenset(texts.items()), how), lambda: self.run(texts, how))

    async def run(
        self, texts: Mapping[str, str], how: RunMode = RunMode(), variables: Mapping[str, str] = _NONE
    ) -> ExperimentState:
        """Run the program with ``texts``; discard the program's changes of files."""
        number = self._numbers()
        record = self.folder / f"{number}.results"
        plan = self._plan_with(texts)
        settings = replace(plan.settings, env={**plan.settings.env, **variables})
        plan = replace(plan, settings=settings)
        printed: list[str] = []
        request = RunRequest(
            number,
            _program(plan),
            **vars(how),
            texts=self._recorded(plan.texts),
            record=str(record),
            added=self.added if how == RunMode() else None,
            threads=_THREADS,
        )
        async with nullcontext() if how.depth == "graph" else self._compiling:
            facts = await self._execute(plan, request, printed)
        report = plan.fold(number, how.depth, self.torch, facts)
        sizes = tuple(fact for fact in facts if isinstance(fact, SizeTried))
        end = _first(facts, RunFinished)
        left_out = end.left_out if end is not None else ()
        code = (end.exit_code or 0) if end is not None else 0
        return ExperimentState(
            texts, report, "".join(printed), record, sizes, left_out, _own_failure(facts), code
        )

    # -- comparisons, trials and observations ----------------------------------------------------

    async def compare(
        self, before: Path, after: Path, rounded: Path | None = None, *, errors_differ: bool = False
    ) -> ResultsCompared:
        """Compare the recorded results of two runs. Raises :class:`CannotTryError`.

        Numbers may differ about as much as they differ between ``before`` and ``rounded``.
        """
        rounding = str(rounded) if rounded is not None else ""
        request = CompareRequest(0, str(before), str(after), errors_differ, rounding)
        return await self._once(request, lambda: self._compared(request))

    async def _compared(self, request: CompareRequest) -> ResultsCompared:
        facts = await self._execute(self.plan, replace(request, generation=self._numbers()))
        compared = _first(facts, ResultsCompared)
        if compared is None:
            raise CannotTryError(_ending(facts))
        return compared

    async def tried(self, texts: Mapping[str, str], trials: Sequence[Trial]) -> list[StatementsTried]:
        """Compare new statements with those of ``texts``. Raises :class:`CannotTryError`.

        Trials that were not made before are made in one run of the program.
        """
        text = frozenset(texts.items())
        keys = [replace(trial, number=0) for trial in trials]
        if missing := [key for key in dict.fromkeys(keys) if (key, text) not in self._made]:
            numbered = [replace(key, number=number) for number, key in enumerate(missing, 1)]
            answers = asyncio.ensure_future(self._trials(texts, numbered))
            for number, key in enumerate(missing, 1):
                self._made[key, text] = asyncio.ensure_future(_item(answers, number))
        return [await self._made[key, text] for key in keys]

    async def _trials(
        self, texts: Mapping[str, str], trials: Sequence[Trial]
    ) -> Mapping[int, StatementsTried]:
        plan = self._plan_with(texts)
        request = TrialRequest(self._numbers(), _program(plan), tuple(trials), plan.texts, threads=_THREADS)
        facts = await self._execute(plan, request)
        told = {fact.number: fact for fact in facts if isinstance(fact, StatementsTried)}
        if failure := _own_failure(facts):
            raise CannotTryError(failure)
        lost = _ending(facts)
        return {
            trial.number: told.get(trial.number) or StatementsTried(trial.number, 0, problem=lost)
            for trial in trials
        }

    async def calls(
        self, state: ExperimentState, spans: Sequence[Span], *, gradients: bool = False
    ) -> Mapping[Span, CallsSeen]:
        """Observe the calls at given places, in a run with the texts of a state."""
        places = tuple(
            CallPlace(number, **asdict(span), gradients=gradients) for number, span in enumerate(spans, 1)
        )
        key = places, frozenset(state.texts.items())
        seen = await self._once(key, lambda: self._observation(state.texts, places))
        return {span: seen[number] for number, span in enumerate(spans, 1)}

    async def _observation(
        self, texts: Mapping[str, str], places: tuple[CallPlace, ...]
    ) -> Mapping[int, CallsSeen]:
        plan = self._plan_with(texts)
        request = CallsRequest(self._numbers(), _program(plan), places, plan.texts, threads=_THREADS)
        facts = await self._execute(plan, request)
        told = {fact.number: fact for fact in facts if isinstance(fact, CallsSeen)}
        lost = CallsSeen(0, problem="cannot be observed: the run ended early")
        return {place.number: told.get(place.number, lost) for place in places}

    # -- workers -------------------------------------------------------------------------------

    async def _execute(
        self, plan: RunPlan, request: WorkerRequest, printed: list[str] | None = None
    ) -> list[Fact]:
        """Send a request to a worker; send it once more if Fullgraph itself fails."""
        facts: list[Fact] = []
        output: list[str] = [] if printed is None else printed
        for _ in range(2):
            facts, output[:] = [], ()
            run = self.start(plan, request, output.append)
            if self._cancelled:
                run.cancel()
            self._runs.add(run)
            try:
                async with self._turns:
                    await run.execute(facts.extend)
            finally:
                self._runs.discard(run)
            self.torch = run.torch or self.torch
            if not _own_failure(facts):
                break
        return facts

    def _recorded(self, texts: Sequence[SourceText]) -> tuple[SourceText, ...]:
        """Return texts that also record the calls of functions that an edit has split."""
        unsaved = {text.filename: text.text for text in self.plan.texts}
        recorded = []
        for item in texts:
            before = self.plan.workspace.read(item.filename) or SourceFile(item.filename, "")
            before = with_text(before, unsaved.get(item.filename, before.text))
            recorded.append(replace(item, text=with_watches(before, with_text(before, item.text))))
        return tuple(recorded)

    def _plan_with(self, texts: Mapping[str, str]) -> RunPlan:
        """Return the plan of a run with ``texts`` that discards the run's file changes."""
        plan = self.plan.switched({"files": "discard"})
        read = plan.workspace.read
        sources = {name: with_text(read(name) or SourceFile(name, ""), text) for name, text in texts.items()}
        workspace = replace(plan.workspace, read=lambda name: sources.get(name) or read(name))
        return replace(
            plan, workspace=workspace, texts=tuple(SourceText(name, text) for name, text in texts.items())
        )


async def _item(answers: Awaitable[Mapping[int, StatementsTried]], number: int) -> StatementsTried:
    return (await answers)[number]


def _program(plan: RunPlan) -> Program:
    program = plan.target.program
    assert isinstance(program, Program), "others are refused"
    return program


def _first(facts: Iterable[Fact], kind: type[_T]) -> _T | None:
    return next((fact for fact in facts if isinstance(fact, kind)), None)


def _own_failure(facts: Iterable[Fact]) -> str:
    """Say how Fullgraph itself failed; return "" if it did not fail."""
    problems = (fact for fact in facts if isinstance(fact, TargetProblem) and REPORT_IT in fact.hints)
    return next((problem.message for problem in problems), "")


def _ending(facts: Sequence[Fact]) -> str:
    """Say why a worker did not return a result."""
    problem, end = _first(facts, TargetProblem), _first(facts, RunFinished)
    return problem.message if problem else f"the comparison ended early ({end.status if end else 'crashed'})"
