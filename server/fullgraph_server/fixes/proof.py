"""Proofs: a program is run as it is and with edits, and what both told and gave back is compared."""

from __future__ import annotations

import ast
import asyncio
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

from fullgraph_compiler.facts import (
    AddedSizes,
    CallPlace,
    CallsRequest,
    CallsSeen,
    CompareRequest,
    Examples,
    Fact,
    Program,
    PytestNode,
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

from ..report.model import Finding, Report
from ..runs.limits import WorkerRequest
from ..runs.plan import Job, Plan
from ..runs.program_run import Run
from ..text.messages import counted
from ..workers.pool import WorkerPool
from ..workspace.drift import with_text
from ..workspace.positions import Span
from ..workspace.ranges import node_span
from ..workspace.source import SourceFile
from .changes import counts_of, drifts_of, fixable, gone, gone_along, revealed, worse
from .editing import Replaced, edited_texts, replaced
from .model import Edit, Fix, Verdict
from .printed import own_text
from .widening import replaced_widely

Start = Callable[[Plan, WorkerRequest, Callable[[str], None]], Run]
"""Makes the run of a request, whose output goes to the function."""

_Parts = Callable[[SourceFile, Sequence[Edit]], list[Replaced]]
"""Returns the statements of a file that edits replace."""

_AT_ITS_END: Final = ("finished", "exited", "raised")
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_T = TypeVar("_T", bound=Fact)


@dataclass(frozen=True)
class State:
    """Texts of a program, what one run of them told and printed, and where its results are recorded.

    ``texts`` are those that differ from the files on disk, by file name.
    """

    texts: Mapping[str, str]
    report: Report
    printed: str
    record: Path
    sizes: tuple[SizeTried, ...] = ()
    """What its calls have shown with other sizes, if those were tried."""


@dataclass
class Prover:
    """Proves edits of one target. Runs are kept by their texts: the same one is not done twice."""

    plan: Plan
    start: Start
    folder: Path
    """An empty folder for what runs record; whoever makes it removes it."""
    wanted: Callable[[Finding], bool] = lambda _: True
    """Tells whether fixes of a finding are looked for."""
    added: tuple[AddedSizes, ...] | None = None
    """Sizes that are run, too; with ``None`` no other sizes are tried."""
    torch: str = ""
    _numbers: Callable[[], int] = field(default_factory=lambda: itertools.count(1).__next__)
    _states: dict[tuple[frozenset[tuple[str, str]], bool, bool], asyncio.Task[State]] = field(
        default_factory=dict
    )
    _compared: dict[tuple[Path, Path], asyncio.Task[ResultsCompared | str]] = field(default_factory=dict)
    _tried: dict[tuple[Trial, frozenset[tuple[str, str]]], asyncio.Task[StatementsTried]] = field(
        default_factory=dict
    )
    _seen: dict[
        tuple[tuple[CallPlace, ...], frozenset[tuple[str, str]]], asyncio.Task[Mapping[int, CallsSeen]]
    ] = field(default_factory=dict)
    _runs: set[Run] = field(default_factory=set)
    _unsteady: str = ""
    """Why results of this program cannot be compared; empty as far as is known."""
    _prints_vary: bool = False
    """Whether the program prints something else each time."""
    _varying: frozenset[str] = frozenset()
    """The variables of its modules that the program leaves otherwise each time."""
    _cancelled: bool = False

    def cancel(self) -> None:
        """End everything that is on, and what would follow."""
        self._cancelled = True
        for run in self._runs:
            run.cancel()

    async def close(self) -> None:
        """Wait until nothing is on; what is on ends."""
        kept: Sequence[Mapping[Any, asyncio.Task[Any]]]
        kept = (self._states, self._compared, self._tried, self._seen)
        tasks = [task for some in kept for task in some.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def fixable(self, report: Report) -> list[Finding]:
        """Return the findings of a report for which fixes are looked for."""
        return [finding for finding in fixable(report) if self.wanted(finding)]

    async def as_it_is(self) -> State:
        """Run the target as it is."""
        return await self._state({text.filename: text.text for text in self.plan.texts})

    async def with_fixes(self, state: State, fixes: Iterable[Fix]) -> State:
        """Run the target with fixes of the texts of a state."""
        return await self._state(_with(state, fixes))

    async def in_environment(self, state: State, variables: Mapping[str, str]) -> State:
        """Run the target with the texts of a state and more variables of the environment."""
        return await self._run(state.texts, variables)

    async def nondeterminism(self, state: State) -> str:
        """Say how two runs of the same text differ, as a sentence; empty if they do not.

        If they do, nothing is verified from then on.
        """
        self._unsteady = await self._difference_of_runs(state)
        return self._unsteady

    async def _difference_of_runs(self, state: State) -> str:
        if state.report.status not in _AT_ITS_END:
            return "the program as it is does not get to its end"
        again = await self._run(state.texts)
        # Times, mostly: then results alone are compared, which the verdict says.
        self._prints_vary = own_text(again.printed) != own_text(state.printed)
        compared = await self._compare(state.record, again.record)
        if isinstance(compared, ResultsCompared):
            self._varying = frozenset(item.place for item in compared.variables)
        if isinstance(compared, str) or compared.difference:
            return f"two runs of the program as it is differ: {_difference(compared)}"
        return ""

    async def prove(self, base: State, before: State, fix: Fix, finding: Finding) -> tuple[Verdict, State]:
        """Try a fix of a finding in ``before``, and compare with ``base``, the program as it was at first.

        Returns what is to be said of it, and the state that it leads to.
        """
        (tried, after) = await asyncio.gather(
            self._try(before, fix) if fix.replaces else _nothing(), self.with_fixes(before, [fix])
        )
        counts = counts_of(before.report), counts_of(after.report)
        drifts = drifts_of(before.report, after.report)
        untaken = tuple(dict.fromkeys(itertools.chain(*(item.untaken for item in tried))))
        problem = (
            gone(finding, before.report, after.report, drifts)
            or worse(before.report, after.report, drifts)
            or _of_trials(tried)
            or of_sizes(after.sizes)
        )
        if problem:
            return Verdict(False, problem, *counts, untaken=untaken), after
        if self._unsteady:
            return Verdict(False, self._unsteady, *counts), after
        compared = await self._same(base, after, prints=not fix.prints_differ)
        if isinstance(compared, ResultsCompared):
            compared = self._left(compared, of_form=fix.safety == "safe") or compared
        if isinstance(compared, str):
            return Verdict(False, compared, *counts), after
        failure, mode = "", ""
        if len(compared.modes) == 1:
            failure, mode = await self._in_other_mode(base, before, after, compared.modes[0])
        if failure:
            return Verdict(False, failure, *counts), after
        basis = ", ".join(filter(None, [self._basis(compared, tried, fix), mode]))
        if fix.operator is not None and fix.operator.name and (failure := await self._check(after, fix)):
            return Verdict(False, failure, *counts, basis), after
        if untaken:
            return Verdict(False, f"not seen: {untaken[0]}", *counts, basis, untaken), after
        along = gone_along(finding, before.report, after.report, drifts)
        if more := revealed(before.report, after.report, drifts):
            return Verdict(False, more, *counts, basis, along=along, reveals=True), after
        return Verdict(True, "", *counts, basis, along=along), after

    async def _in_other_mode(self, base: State, before: State, after: State, mode: str) -> tuple[str, str]:
        """Say what is wrong with an edit in the mode in which modules do not run here, and what was seen."""
        other = "evaluation" if mode == "training" else "training"
        first, was, now = [await self._state(state.texts, other_mode=True) for state in (base, before, after)]
        if first.report.status != base.report.status:
            return "", f"not in {other} mode, in which the program does not get to its end"
        problem = worse(was.report, now.report, drifts_of(was.report, now.report))
        compared = problem or await self._compare_with(first, now, other_mode=True)
        if isinstance(compared, str):
            return f"in {other} mode: {compared}", ""
        left = counts_of(now.report).breaks
        others = f", which has {counted(left, 'break')}" if left > counts_of(after.report).breaks else ""
        return "", f"in {other} mode, too{others}"

    async def calls(self, state: State, places: Sequence[Span]) -> Mapping[Span, CallsSeen]:
        """Observe calls, by their places, in a run of the texts of a state."""
        wanted = [CallPlace(number, *_place(span)) for number, span in enumerate(places, 1)]
        seen = await self._observed(state, tuple(wanted))
        return {span: seen[number] for number, span in enumerate(places, 1)}

    async def _check(self, state: State, fix: Fix) -> str:
        """Say why what an edit makes an operator of torch is none; empty if it passes all checks."""
        assert fix.operator is not None
        spans = [
            node_span(source, node)
            for filename in dict.fromkeys(edit.span.filename for edit in fix.edits)
            if (source := state.report.files.get(filename)) is not None and source.tree is not None
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == fix.operator.name
        ]
        wanted = [
            CallPlace(number, *_place(span), gradients="autograd.grad" in fix.operator.definition)
            for number, span in enumerate(spans, 1)
        ]
        seen = await self._observed(state, tuple(wanted))
        if failure := next((item.failure for item in seen.values() if item.failure), ""):
            return f"`torch.library.opcheck` fails: {failure}"
        return "" if any(item.checked for item in seen.values()) else "the operator could not be checked"

    async def _observed(self, state: State, places: tuple[CallPlace, ...]) -> Mapping[int, CallsSeen]:
        key = places, frozenset(state.texts.items())
        if key not in self._seen:
            self._seen[key] = asyncio.ensure_future(self._observation(state.texts, places))
        return await self._seen[key]

    async def _observation(
        self, texts: Mapping[str, str], places: tuple[CallPlace, ...]
    ) -> Mapping[int, CallsSeen]:
        plan = self._plan_with(texts)
        program = plan.target.program
        assert isinstance(program, Program), "others are refused"
        request = CallsRequest(self._numbers(), program, places, plan.texts)
        facts, _ = await self._execute(plan, request)
        told = {fact.number: fact for fact in facts if isinstance(fact, CallsSeen)}
        lost = CallsSeen(0, problem="cannot be observed: the run ended early")
        return {place.number: told.get(place.number, lost) for place in places}

    async def differences(self, base: State, state: State) -> str:
        """Say why a state is not the program as it was at first, in one sentence; empty if it is."""
        drifts = drifts_of(base.report, state.report)
        problem = worse(base.report, state.report, drifts) or of_sizes(state.sizes) or self._unsteady
        compared = problem or await self._same(base, state)
        return compared if isinstance(compared, str) else self._left(compared, of_form=False)

    def _left(self, compared: ResultsCompared, *, of_form: bool) -> str:
        """Say which variable the program leaves otherwise; one of another type counts with ``of_form``."""
        counting = (item for item in compared.variables if of_form or not item.of_form)
        return next((item.words for item in counting if item.place not in self._varying), "")

    async def _same(self, base: State, after: State, *, prints: bool = True) -> ResultsCompared | str:
        """Compare what two runs printed and gave back; returns a sentence if it is not the same."""
        is_compared = prints and not self._prints_vary
        if is_compared and own_text(base.printed) != own_text(after.printed):
            return "the program prints something else"
        return await self._compare_with(base, after)

    async def _compare_with(
        self, base: State, after: State, *, other_mode: bool = False
    ) -> ResultsCompared | str:
        """Compare what two runs gave back; returns a sentence if it is not the same.

        Where compiling changes what the program does (NumPy's random numbers), its own code is what counts.
        """
        compared = await self._compare(base.record, after.record)
        if isinstance(compared, str) or not compared.difference:
            return compared
        plain = await self._state(base.texts, other_mode=other_mode, uncompiled=True)
        with_plain = await self._compare(plain.record, after.record)
        if isinstance(with_plain, str) or with_plain.difference or plain.report.status != base.report.status:
            return _difference(compared)
        return replace(with_plain, seen=(*with_plain.seen, "as uncompiled, which compiling had changed"))

    # -- runs ----------------------------------------------------------------------------------

    async def _state(
        self, texts: Mapping[str, str], *, other_mode: bool = False, uncompiled: bool = False
    ) -> State:
        key = frozenset(texts.items()), other_mode, uncompiled
        if key not in self._states:
            run = self._run(texts, other_mode=other_mode, uncompiled=uncompiled)
            self._states[key] = asyncio.ensure_future(run)
        return await self._states[key]

    async def _run(
        self,
        texts: Mapping[str, str],
        variables: Mapping[str, str] = _NONE,
        *,
        other_mode: bool = False,
        uncompiled: bool = False,
    ) -> State:
        """Run the program with these texts; its files are discarded."""
        number = self._numbers()
        record = self.folder / f"{number}.results"
        plan = self._plan_with(texts)
        settings = replace(plan.settings, env={**plan.settings.env, **variables})
        plan = replace(plan, settings=settings)
        program = plan.target.program
        assert isinstance(program, Program), "others are refused"
        printed: list[str] = []
        request = RunRequest(
            number,
            program,
            texts=plan.texts,
            record=str(record),
            other_mode=other_mode,
            uncompiled=uncompiled,
            added=None if other_mode or uncompiled else self.added,
        )
        facts, torch = await self._execute(plan, request, printed.append)
        report = Job(plan, number, "graph", _NO_WORKERS).fold(torch, facts)
        sizes = tuple(fact for fact in facts if isinstance(fact, SizeTried))
        return State(texts, report, "".join(printed), record, sizes)

    async def _compare(self, before: Path, after: Path) -> ResultsCompared | str:
        """Compare what two runs recorded; returns a sentence if that is not possible."""
        if (before, after) not in self._compared:
            self._compared[before, after] = asyncio.ensure_future(self._comparison(before, after))
        return await self._compared[before, after]

    async def _comparison(self, before: Path, after: Path) -> ResultsCompared | str:
        request = CompareRequest(self._numbers(), str(before), str(after))
        facts, _ = await self._execute(self.plan, request)
        return _first(facts, ResultsCompared) or _ending(facts)

    async def _try(self, state: State, fix: Fix) -> list[StatementsTried]:
        """Try the statements that a fix replaces against the new ones.

        Where they cannot be tried by themselves, or what they differ in depends on its use, the rest of the
        function is tried with them. It overrules no difference of values, which what follows may hide.
        """
        narrow = await self._tried_of(state, fix, replaced)
        if not any(map(_is_open, narrow)) or any(_is_told(item) for item in narrow):
            return narrow
        wide = await self._tried_of(state, fix, replaced_widely)
        return wide if wide and not any(item.problem for item in wide) else narrow

    async def _tried_of(self, state: State, fix: Fix, parts: _Parts) -> list[StatementsTried]:
        trials: list[Trial] = []
        for filename, source in _edited_files(state, fix).items():
            edits = [edit for edit in fix.edits if edit.span.filename == filename]
            for part in parts(source, edits):
                rows = part.first_row, part.last_row
                defines, in_place = "", False
                if fix.operator is not None:
                    defines, in_place = fix.operator.definition, fix.operator.in_place
                trial = Trial(
                    len(trials) + 1,
                    filename,
                    *rows,
                    part.text,
                    fix.runs_skipped,
                    fix.errors_differ,
                    defines,
                    gradients=not in_place,
                )
                trials.append(trial)
        texts = frozenset(state.texts.items())
        missing = [trial for trial in trials if (trial, texts) not in self._tried]
        if missing:
            answers = asyncio.ensure_future(self._trials(state.texts, missing))
            for trial in missing:
                self._tried[trial, texts] = asyncio.ensure_future(_answer(answers, trial.number))
        return [await self._tried[trial, texts] for trial in trials]

    async def _trials(
        self, texts: Mapping[str, str], trials: Sequence[Trial]
    ) -> Mapping[int, StatementsTried]:
        plan = self._plan_with(texts)
        program = plan.target.program
        assert isinstance(program, Program), "others are refused"
        request = TrialRequest(self._numbers(), program, tuple(trials), plan.texts)
        facts, _ = await self._execute(plan, request)
        told = {fact.number: fact for fact in facts if isinstance(fact, StatementsTried)}
        lost = _ending(facts)
        return {
            trial.number: told.get(trial.number) or StatementsTried(trial.number, 0, problem=lost)
            for trial in trials
        }

    async def _execute(
        self, plan: Plan, request: WorkerRequest, on_output: Callable[[str], None] = lambda _: None
    ) -> tuple[list[Fact], str]:
        run = self.start(plan, request, on_output)
        if self._cancelled:
            run.cancel()
        facts: list[Fact] = []
        self._runs.add(run)
        try:
            await run.execute(facts.extend)
        finally:
            self._runs.discard(run)
        self.torch = run.torch or self.torch
        return facts, run.torch

    def _plan_with(self, texts: Mapping[str, str]) -> Plan:
        """Return the plan of a run with these texts, which changes no file."""
        plan = self.plan.switched({"files": "discard"})
        read = plan.workspace.read
        sources = {name: with_text(read(name) or SourceFile(name, ""), text) for name, text in texts.items()}
        workspace = replace(plan.workspace, read=lambda name: sources.get(name) or read(name))
        return replace(
            plan, workspace=workspace, texts=tuple(SourceText(name, text) for name, text in texts.items())
        )

    # -- words ---------------------------------------------------------------------------------

    def _basis(self, compared: ResultsCompared, tried: Sequence[StatementsTried], fix: Fix) -> str:
        program = self.plan.target.program
        if isinstance(program, Examples):
            calls = sum(len(example.calls) for example in program.examples)
            ran = counted(calls, "example call")
        else:
            ran = "one test" if isinstance(program, PytestNode) else "one run of the script"
        cases = sum(item.cases for item in tried)
        parts = [ran, *compared.seen, f"{counted(cases, 'set')} of values for the new lines" if cases else ""]
        parts += [fix.operator.seen] if fix.operator is not None else []
        parts += ["not what it prints, which is another text each time"] if self._prints_vary else []
        return ", ".join(filter(None, parts))


_NO_WORKERS: Final = WorkerPool()
"""For jobs that only fold facts."""


async def _nothing() -> list[StatementsTried]:
    return []


async def _answer(answers: asyncio.Future[Mapping[int, StatementsTried]], number: int) -> StatementsTried:
    return (await answers)[number]


def _place(span: Span) -> tuple[str, int, int, int, int]:
    return span.filename, span.row, span.column, span.end_row, span.end_column


def _with(state: State, fixes: Iterable[Fix]) -> dict[str, str]:
    """Return the texts of a state with fixes."""
    texts = edited_texts(state.report.files, itertools.chain(*(fix.edits for fix in fixes)))
    return {**state.texts, **{name: after for name, (_, after) in texts.items()}}


def _edited_files(state: State, fix: Fix) -> dict[str, SourceFile]:
    names = dict.fromkeys(edit.span.filename for edit in fix.edits)
    return {name: source for name in names if (source := state.report.files.get(name)) is not None}


def _is_open(item: StatementsTried) -> bool:
    """Tell whether statements by themselves do not show that they do the same, nor that they do not."""
    return bool(item.problem or item.depends_on_use or not item.cases)


def _is_told(item: StatementsTried) -> bool:
    """Tell whether statements by themselves do something else, or have a branch that no value took."""
    return bool(item.difference or item.untaken) and not _is_open(item)


def _of_trials(tried: Iterable[StatementsTried]) -> str:
    """Say why statements do not do the same as those they replace; empty if nothing is known against it."""
    for item in tried:
        if item.difference:
            return f"the new lines do something else: {item.difference}"
        if item.problem or not item.cases:
            problem = item.problem or "There are no values for them."
            return f"the new lines cannot be tried by themselves: {problem}"
    return ""


def of_sizes(sizes: Iterable[SizeTried]) -> str:
    """Say at which size a compiled function is wrong; empty if it is not, as far as was tried."""
    for item in sizes:
        if item.outcome in ("differs", "raises"):
            what = "results differ" if item.outcome == "differs" else "torch raises an error"
            return f"with {item.place} = {item.size} {what}: {item.words}"
    return ""


def _difference(compared: ResultsCompared | str) -> str:
    return compared if isinstance(compared, str) else f"results differ: {compared.difference}"


def _first(facts: Iterable[Fact], kind: type[_T]) -> _T | None:
    return next((fact for fact in facts if isinstance(fact, kind)), None)


def _ending(facts: Iterable[Fact]) -> str:
    """Say why a worker did not answer."""
    facts = list(facts)
    problem, end = _first(facts, TargetProblem), _first(facts, RunFinished)
    return problem.message if problem else f"the comparison ended early ({end.status if end else 'crashed'})"
