"""Proofs of edits: runs without and with edits, with results and reports compared."""

from __future__ import annotations

import ast
import asyncio
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from fullgraph_compiler.facts import (
    Examples,
    LeftBehind,
    PytestNode,
    ResultsCompared,
    SizeTried,
    StatementsTried,
)

from ..report.model import Finding, Report
from ..text.messages import counted
from ..workspace.ranges import node_span
from ..workspace.syntax import nodes_of
from .changes import (
    LEAST_KEPT,
    counts_of,
    drifts_of,
    fails_only_in,
    fixable,
    gone,
    gone_along,
    only_in,
    removes_too,
    revealed,
    share_compiled,
    uncompiled,
    worse,
)
from .editing import BlocksOf, edited_files, edited_texts, is_across, replaced, trials_of
from .experiments import CannotTryError, Experiments, ExperimentState, RunMode
from .model import Fix, Verdict
from .printed import is_rounded, own_text
from .widening import replaced_widely

_AT_ITS_END: Final = ("finished", "exited", "raised")
_DRAWS: Final = "which draws random numbers or rounds differently"
_ROUNDS: Final = "which rounds differently, about as much as without the edit"
WAITS: Final = "the run with the whole compiler waits until you ask for fixes"
_GRAPHS: Final = RunMode()
_ALONE: Final = RunMode("alone")
_EXACTLY: Final = RunMode("alone", exact=True)


@dataclass
class EditProver(Experiments):
    """The runs and comparisons that prove edits of one target."""

    wanted: Callable[[Finding], bool] = lambda _: True
    """A predicate that selects the findings for which fixes are looked for."""
    show: Callable[[Finding, Fix], None] = lambda _finding, _fix: None
    """A callback that shows the user which fix of which finding is tried."""
    is_asked: bool = True
    """Whether the user waits for the verdicts. If not, the slow run with the whole compiler is left out."""
    _unsteady: str = ""
    """Why results of this program cannot be compared; empty if no reason is known."""
    _prints_vary: bool = False
    """Whether the program's printed output differs from run to run."""
    _again_varies: bool = False
    """Whether the results of calls that are repeated with other values differ from run to run."""
    _varying: set[str] = field(default_factory=set)
    """The variables, settings and files whose state at the program's end differs from run to run."""
    _gone: set[str] = field(default_factory=set)
    """The variables of modules that an edit removes, by its own words."""
    _varying_numbers: frozenset[str] = frozenset()
    """The places of Python numbers in results that differ from run to run, such as measured times."""

    async def as_it_is(self) -> ExperimentState:
        """Run the unmodified target."""
        return await self.state({text.filename: text.text for text in self.plan.texts})

    async def with_fixes(
        self, state: ExperimentState, fixes: Iterable[Fix], how: RunMode = _GRAPHS
    ) -> ExperimentState:
        """Run the target with fixes applied to the texts of a state."""
        return await self.state(_with(state, fixes), how)

    def fixable(self, report: Report) -> list[Finding]:
        """Return the findings of a report for which fixes are looked for."""
        return [finding for finding in fixable(report) if self.wanted(finding)]

    async def nondeterminism(self, state: ExperimentState) -> str:
        """Say how two runs of the same text differ, as a sentence; ``""`` if they do not.

        If they differ, no later fix is verified.
        """
        try:
            self._unsteady = await self._difference_of_runs(state)
        except CannotTryError as failure:
            self._unsteady = str(failure)
        return self._unsteady

    async def _difference_of_runs(self, state: ExperimentState) -> str:
        if state.report.status not in _AT_ITS_END:
            return "the unmodified program does not finish"
        again = await self.run(state.texts)
        # Usually printed durations differ. Then only results are compared, and the verdict says so.
        self._prints_vary = own_text(again.printed) != own_text(state.printed)
        compared = await self.compare(state.record, again.record)
        self._again_varies = bool(compared.again)
        self._varying = {item.place for item in compared.left}
        self._varying_numbers = frozenset(item.place for item in compared.numbers)
        difference = compared.difference
        return (
            f"two runs of the unmodified program differ: results differ: {difference}" if difference else ""
        )

    async def prove(
        self,
        base: ExperimentState,
        before: ExperimentState,
        fix: Fix,
        finding: Finding,
        *,
        whole: bool = True,
    ) -> tuple[Verdict, ExperimentState]:
        """Try a fix on the state ``before``; compare results with ``base``, the original.

        Return the verdict, and the state of the program with the fix. Without ``whole``, the whole compiler
        does not run, and a verified fix still has to be confirmed.
        """
        self.show(finding, fix)
        self._gone.update(filter(None, [fix.gone]))
        after = before
        counts = counts_of(before.report), counts_of(before.report)
        try:
            tried = await self._try(before, fix) if fix.replaces else []
            untaken = tuple(dict.fromkeys(itertools.chain(*(item.untaken for item in tried))))
            if problem := _of_trials(tried):
                return Verdict(False, problem, *counts, untaken=untaken), before
            after = await self.with_fixes(before, [fix])
            counts = counts_of(before.report), counts_of(after.report)
            if after.failure:
                raise CannotTryError(after.failure)
            verdict = await self._verdict(base, before, after, fix, finding, tried)
        except CannotTryError as failure:
            return Verdict(False, str(failure), *counts, tried=False), after
        return (await self.confirmed(base, after, fix, verdict) if whole else verdict), after

    async def confirmed(
        self, base: ExperimentState, after: ExperimentState, fix: Fix, verdict: Verdict
    ) -> Verdict:
        """Confirm a verified fix by a run with the whole compiler; return the verdict."""
        if not verdict.verified:
            return verdict
        if not self.is_asked:
            return replace(verdict, verified=False, reason=WAITS, tried=False)
        try:
            failure, alone = await self._alone(base, after, fix)
        except CannotTryError as problem:
            return replace(verdict, verified=False, reason=str(problem), tried=False)
        basis = ", ".join(filter(None, [verdict.basis, alone]))
        return replace(verdict, verified=not failure, reason=failure, basis=basis)

    async def _verdict(
        self,
        base: ExperimentState,
        before: ExperimentState,
        after: ExperimentState,
        fix: Fix,
        finding: Finding,
        tried: Sequence[StatementsTried],
    ) -> Verdict:
        counts = counts_of(before.report), counts_of(after.report)
        drifts = drifts_of(before.report, after.report)
        untaken = tuple(dict.fromkeys(itertools.chain(*(item.untaken for item in tried))))
        problem = (
            gone(finding, before.report, after.report, drifts)
            or worse(before.report, after.report, drifts)
            or of_sizes(after.sizes)
            or (fix.uncompiles and uncompiled(base.report, after.report))
        )
        if problem:
            return Verdict(False, problem, *counts, untaken=untaken)
        if self._unsteady:
            return Verdict(False, self._unsteady, *counts)
        compared = await self._same(base, after, fix)
        if isinstance(compared, str):
            return Verdict(False, compared, *counts)
        failure, mode = "", ""
        more = revealed(before.report, after.report, drifts)
        # The other mode of an edit that reveals graph breaks is compared once other edits have removed these.
        if len(compared.modes) == 1 and not more:
            failure, mode = await self._in_other_mode(base, before, after, fix, compared.modes[0])
        if failure:
            return Verdict(False, failure, *counts)
        basis = ", ".join(filter(None, [self._basis(compared, tried, fix), mode]))
        if fix.operator is not None and fix.operator.name and (failure := await self._check(after, fix)):
            return Verdict(False, failure, *counts, basis)
        if untaken:
            return Verdict(False, f"not seen: {untaken[0]}", *counts, basis, untaken)
        along = gone_along(finding, before.report, after.report, drifts)
        noticed = next((item.mild for item in tried if item.mild), "") or self._noticed(compared)
        is_small = fix.uncompiles and share_compiled(base.report, after.report) < LEAST_KEPT
        return Verdict(
            not more,
            more,
            *counts,
            basis,
            along=along,
            reveals=bool(more),
            noticed=noticed,
            is_small=is_small,
        )

    async def _in_other_mode(
        self, base: ExperimentState, before: ExperimentState, after: ExperimentState, fix: Fix, mode: str
    ) -> tuple[str, str]:
        """Try an edit with modules in the other mode: training or evaluation.

        Return what is wrong with the edit, and what was compared.
        """
        other = "evaluation" if mode == "training" else "training"
        how = RunMode(other_mode=True)
        first, was, now = await asyncio.gather(
            *(self.state(state.texts, how) for state in (base, before, after))
        )
        if first.report.status != base.report.status:
            return "", f"not in {other} mode, in which the program does not finish"
        problem = next(filter(None, (_worse(state, now) for state in (was, first))), "")
        compared = problem or await self._compare_with(first, now, fix, other_mode=True)
        if isinstance(compared, str):
            return f"in {other} mode: {compared}", ""
        if other == "training" and "gradients" not in compared.seen:
            return "", "not in training mode, in which nothing has a gradient"
        left = counts_of(now.report).breaks
        others = f", which has {counted(left, 'break')}" if left > counts_of(after.report).breaks else ""
        return "", f"in {other} mode, too{others}"

    async def _alone(self, base: ExperimentState, after: ExperimentState, fix: Fix) -> tuple[str, str]:
        """Run with the whole compiler; return what is wrong, and what was compared.

        All earlier runs left TorchInductor out. The results must equal those of an earlier run.
        """
        if not after.left_out:
            return "", ""
        compiler = " and ".join(after.left_out)
        now = await self._run_alone(after, _ALONE)
        problem = only_in(now.report, after.report)
        if problem:
            was = await self._run_alone(base, _ALONE)
            fault = only_in(was.report, base.report)
            if not fault:
                return f"with {compiler} {problem}", ""
            if fails_only_in(was.report, base.report) or fails_only_in(now.report, after.report):
                return _not_run(compiler, fault), ""
            if more := _worse(was, now):
                return f"with {compiler} {more}", ""
            if not removes_too(base.report, after.report, was.report, now.report):
                return f"with {compiler} as much is left as without the edit", ""
        difference = await self._differs(base, now, fix)
        if not difference:
            return "", f"one run with {compiler}"
        fault, excuse = await self._excused(base, after, now, fix)
        if fault:
            return _not_run(compiler, fault), ""
        return ("", f"one run with {compiler}, {excuse}") if excuse else (f"with {compiler} {difference}", "")

    async def _excused(
        self, base: ExperimentState, after: ExperimentState, now: ExperimentState, fix: Fix
    ) -> tuple[str, str]:
        """Say what fails in the unmodified program, and why results with the whole compiler may differ.

        The runs are repeated with the random numbers and the rounding of uncompiled code, because
        TorchInductor draws and rounds differently for different graphs. Then the edit may change numbers
        about as much as TorchInductor changes them without the edit: training amplifies rounding. ``now`` is
        the run of ``after`` with the whole compiler.
        """
        exact = await self._run_alone(after, _EXACTLY)
        is_sound = not _worse(now, exact)
        if is_sound and not await self._differs(base, exact, fix):
            return "", _DRAWS
        was = await self._run_alone(base, _EXACTLY)
        if fails_only_in(was.report, base.report) or not is_sound:
            return only_in(was.report, base.report), ""
        if not await self._differs(was, exact, fix):
            return "", _DRAWS
        return "", "" if await self._differs(base, exact, fix, was) else _ROUNDS

    async def _run_alone(self, state: ExperimentState, how: RunMode) -> ExperimentState:
        alone = await self.state(state.texts, how)
        if alone.failure:
            raise CannotTryError(alone.failure)
        return alone

    async def _differs(
        self,
        before: ExperimentState,
        after: ExperimentState,
        fix: Fix,
        rounded: ExperimentState | None = None,
    ) -> str:
        """Say how the results of two runs differ; return "" if they are equal.

        ``rounded`` is a run of the program of ``before`` with another rounding.
        """
        rounding = rounded.record if rounded is not None else None
        compared = await self.compare(before.record, after.record, rounding, errors_differ=fix.errors_differ)
        return self._difference(compared)

    def _difference(self, compared: ResultsCompared) -> str:
        """Say what differs between two runs; return "" if nothing does.

        Values that differ between two runs of the unmodified program do not count, nor does another dtype or
        shape of a variable at the program's end.
        """
        numbers = [item for item in compared.numbers if item.place not in self._varying_numbers]
        number = f"{numbers[0].place}: {numbers[0].words}" if numbers else ""
        difference = compared.difference or number or ("" if self._again_varies else compared.again)
        left = [
            item
            for item in compared.left
            if not item.of_form and item.place not in self._varying and not self._is_gone(item)
        ]
        ending = f"at its end, {left[0].place}: {left[0].words}" if left else ""
        return (difference and f"results differ: {difference}") or ending

    def _is_gone(self, item: LeftBehind) -> bool:
        """Tell whether a variable or an attribute is missing because an edit says that it removes it."""
        return any(
            item.words.endswith(f".{name}: missing")
            or (item.words == "missing" and item.place.startswith(f"`{name}` of "))
            for name in self._gone
        )

    def _noticed(self, compared: ResultsCompared) -> str:
        """Say what differs though all numbers are equal; return "" if nothing does."""
        left = [item for item in compared.left if item.of_form and item.place not in self._varying]
        return compared.mild or (f"{left[0].place}: {left[0].words}" if left else "")

    async def _check(self, state: ExperimentState, fix: Fix) -> str:
        """Say why the operator of a fix fails torch's checks; return "" if it passes."""
        assert fix.operator is not None
        spans = [
            node_span(source, node)
            for source in edited_files(state.report.files, fix).values()
            for node in nodes_of(ast.Call, source.tree)
            if isinstance(node.func, ast.Name) and node.func.id == fix.operator.name
        ]
        seen = await self.calls(state, spans, gradients="autograd.grad" in fix.operator.definition)
        if failure := next((item.failure for item in seen.values() if item.failure), ""):
            return f"`torch.library.opcheck` fails: {failure}"
        return "" if any(item.checked for item in seen.values()) else "the operator could not be checked"

    async def differences(self, base: ExperimentState, state: ExperimentState) -> str:
        """Say how a state differs from the original program; return ``""`` if it does not."""
        drifts = drifts_of(base.report, state.report)
        problem = worse(base.report, state.report, drifts) or of_sizes(state.sizes) or self._unsteady
        try:
            compared = problem or await self._same(base, state)
        except CannotTryError as failure:
            return str(failure)
        return compared if isinstance(compared, str) else ""

    async def _same(
        self, base: ExperimentState, after: ExperimentState, fix: Fix | None = None
    ) -> ResultsCompared | str:
        """Compare output and results of two runs; return a sentence if they differ."""
        is_compared = not self._prints_vary and not (fix is not None and fix.prints_differ)
        before, now = own_text(base.printed), own_text(after.printed)
        if is_compared and before != now and not is_rounded(before, now):
            return "the program prints something else"
        compared = await self._compare_with(base, after, fix)
        if isinstance(compared, str) or not is_compared or before == now:
            return compared
        return replace(compared, seen=(*compared.seen, "printed numbers, which differ by rounding"))

    async def _compare_with(
        self, base: ExperimentState, after: ExperimentState, fix: Fix | None, *, other_mode: bool = False
    ) -> ResultsCompared | str:
        """Compare the results of two runs; return a sentence if they differ.

        Compiling may itself change the program's results (NumPy's random numbers); results that equal those
        of the uncompiled program are accepted, too.
        """
        errors_differ = fix is not None and fix.errors_differ
        compared = await self.compare(base.record, after.record, errors_differ=errors_differ)
        if not self._difference(compared):
            return compared
        plain = await self.state(base.texts, RunMode(other_mode=other_mode, uncompiled=True))
        with_plain = await self.compare(plain.record, after.record, errors_differ=errors_differ)
        if self._difference(with_plain) or plain.report.status != base.report.status:
            return self._difference(compared)
        return replace(
            with_plain, seen=(*with_plain.seen, "equal to the uncompiled program, unlike without the edit")
        )

    async def _try(self, state: ExperimentState, fix: Fix) -> list[StatementsTried]:
        """Run the statements that a fix replaces and the new statements; compare them.

        If the statements cannot be tried by themselves, or if it depends on later code whether a difference
        matters, the rest of the function is tried with them. Such a wider trial does not overrule a
        difference of values that the narrow trial found, because the rest of the function may hide this
        difference.
        """
        sources = ((state.report.files.get(edit.span.filename), edit) for edit in fix.edits)
        is_outside = any(source is not None and is_across(source, edit) for source, edit in sources)
        narrow = [_ACROSS] if is_outside else await self._tried_of(state, fix, replaced)
        if not any(map(_is_open, narrow)) or any(_is_told(item) for item in narrow):
            return narrow
        wide = await self._tried_of(state, fix, replaced_widely)
        return wide if wide and not any(item.problem for item in wide) else narrow

    async def try_lines(self, state: ExperimentState, fixes: Iterable[Fix]) -> None:
        """Try the new lines of several fixes in one run of the program; keep the answers."""
        trials = [
            trial for fix in fixes if fix.replaces for trial in trials_of(state.report.files, fix, replaced)
        ]
        with suppress(CannotTryError):
            await self.tried(state.texts, trials)

    async def _tried_of(self, state: ExperimentState, fix: Fix, parts: BlocksOf) -> list[StatementsTried]:
        return await self.tried(state.texts, trials_of(state.report.files, fix, parts))

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
        repeated = "" if self._again_varies else counted(compared.repeated, "call") * bool(compared.repeated)
        parts += [f"{repeated} made again with other values"] if repeated else []
        parts += [fix.operator.seen] if fix.operator is not None else []
        parts += ["not its output, which differs each time"] if self._prints_vary else []
        varying = [varying_place(place) for place in sorted(self._varying_numbers)[:1]]
        parts += [f"not {place}, which differs each time" for place in varying]
        return ", ".join(filter(None, parts))


_ACROSS = StatementsTried(0, 0, problem="An edit of them begins or ends outside their function.")


def _with(state: ExperimentState, fixes: Iterable[Fix]) -> dict[str, str]:
    """Return the texts of a state with fixes applied."""
    texts = edited_texts(state.report.files, itertools.chain(*(fix.edits for fix in fixes)))
    return {**state.texts, **{name: after for name, (_, after) in texts.items()}}


def varying_place(place: str) -> str:
    """Return a place in a call's results without the number of the call and of the item.

    For ``"`Model`.seconds[0] of call 1 of `Model`"``, return ``"`Model`.seconds"``.
    """
    return re.sub(r"\[\d+\]$", "", place.partition(" of ")[0])


def _is_open(item: StatementsTried) -> bool:
    """Tell whether a trial of statements shows neither equality nor a difference."""
    return bool(item.problem or item.depends_on_use or not item.cases)


def _is_told(item: StatementsTried) -> bool:
    """Tell whether a trial of statements shows a difference or an untaken branch."""
    return bool(item.difference or item.untaken) and not _is_open(item)


def _of_trials(tried: Iterable[StatementsTried]) -> str:
    """Say how new statements differ, or why they cannot be tried; otherwise ``""``."""
    for item in tried:
        if item.difference:
            return f"the new lines do something else: {item.difference}"
        if item.problem or not item.cases:
            problem = item.problem or "There are no values for them."
            return f"the new lines cannot be tried by themselves: {problem}"
    return ""


def of_sizes(sizes: Iterable[SizeTried]) -> str:
    """Say at which size a compiled function is wrong; return "" if there is none."""
    for item in sizes:
        if item.outcome in ("differs", "raises"):
            what = "results differ" if item.outcome == "differs" else "torch raises an error"
            return f"with {item.place} = {item.size} {what}: {item.words}"
    return ""


def _not_run(compiler: str, fault: str) -> str:
    return f"it cannot be run with {compiler}: even without an edit, {fault}"


def _worse(before: ExperimentState, after: ExperimentState) -> str:
    return worse(before.report, after.report, drifts_of(before.report, after.report))
