"""What an edit changed of a report, and the search for edits that go together."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pytest
from fullgraph_server.fixes.changes import counts_of, fixable, gone, gone_along, revealed, uncompiled, worse
from fullgraph_server.fixes.experiments import ExperimentState
from fullgraph_server.fixes.model import Edit, Fix, RuleContext, RunCounts, Safety, Verdict
from fullgraph_server.fixes.plans import FixPlan, _minimal, shortest
from fullgraph_server.fixes.prover import EditProver
from fullgraph_server.fixes.search import (
    Candidates,
    CandidateVerdict,
    FindingTries,
    fix_first,
    gain,
    root_of,
    try_all,
)
from fullgraph_server.fixes.words import removal_words, verdict_words
from fullgraph_server.report.model import Finding, FrameReport, GraphLines, NumberedGraph, Report
from fullgraph_server.workspace.drift import TextDrift
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile

FILE = "/w/model.py"


def text_of(*lines: str) -> SourceFile:
    return SourceFile(FILE, "".join(f"{line}\n" for line in lines))


def graph_break(row: int, code: str = "GB0059") -> Finding:
    return Finding("graph-break", code, "warning", f"breaks in {row}", Span(FILE, row, 1, row, 2))


def recompile(row: int, count: int = 1) -> Finding:
    return Finding("recompile", "recompile", "information", "again", Span(FILE, row, 1, row, 2), count=count)


def report(source: SourceFile, *findings: Finding, graphs: int = 1, compiled: Sequence[int] = ()) -> Report:
    frame = FrameReport("f", "f", FILE, 1, ("0/0",), graphs=graphs)
    spans = tuple(Span(FILE, row, 1, row, 2) for row in compiled)
    lines = (GraphLines(spans, (NumberedGraph(1, 1, "f", ("0/0",)),), ()),) if spans else ()
    return Report(
        FILE,
        1,
        status="finished",
        findings=findings,
        frames=(frame,),
        files={FILE: source},
        graph_lines=lines,
    )


def drifts(before: Report, after: Report) -> Any:
    return lambda name: TextDrift(before.files[name], after.files[name])


BEFORE = text_of("a", "b", "c")
AFTER = text_of("new", "a", "b", "changed")


@pytest.mark.parametrize(
    ("rows", "ops", "breaks", "is_enough"),
    [
        (6, 5, 1, True),
        (1, 30, 1, True),
        (2, 5, 0, True),
        (1, 10, 0, True),
        (1, 9, 0, False),
        (5, 27, 1, False),
    ],
    ids=["most lines", "most operations", "some lines", "some operations", "too few", "too few with breaks"],
)
def test_a_split_leaves_lines_or_operations_compiled(
    rows: int, ops: int, breaks: int, is_enough: bool
) -> None:
    source = text_of(*map(str, range(8)))
    frame = FrameReport("f", "f", FILE, 1, ("0/0",), graphs=4, ops=80, recompiles=2)
    part = FrameReport("part", "part", FILE, 1, ("0/0",), graphs=1, ops=ops, breaks=breaks)
    before = replace(report(source, compiled=range(1, 9)), frames=(frame,))
    after = replace(report(source, compiled=range(1, rows + 1)), frames=(part,))
    words = uncompiled(before, after)
    assert words == ("" if is_enough else f"only {rows} of 8 lines in graphs are still compiled")


def test_a_finding_that_moved_with_its_line_is_still_there() -> None:
    before = report(BEFORE, graph_break(2))
    between = drifts(before, report(AFTER))
    assert gone(graph_break(2), before, report(AFTER, graph_break(3)), between)
    assert not gone(graph_break(2), before, report(AFTER), between)


def test_a_break_of_another_kind_at_the_same_place_is_the_same() -> None:
    before = report(BEFORE, graph_break(2))
    between = drifts(before, report(AFTER))
    assert "the graph still breaks" in gone(
        graph_break(2), before, report(AFTER, graph_break(3, "GB0296")), between
    )
    both = report(BEFORE, graph_break(2), graph_break(2, "GB0296"))
    assert not gone(graph_break(2), both, report(AFTER, graph_break(3, "GB0296")), between)


def test_a_finding_is_gone_that_left_its_neighbour_on_the_line_behind() -> None:
    size, length, other = (replace(recompile(2), message=text) for text in ("size", "length", "other"))
    before = report(BEFORE, size, length)
    between = drifts(before, report(BEFORE))
    assert not gone(size, before, report(BEFORE, length), between)
    assert gone(length, before, report(BEFORE, length), between)
    assert gone(size, before, report(BEFORE, length, other), between)


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (report(AFTER, graph_break(3)), ""),
        (report(AFTER, graph_break(3), graph_break(4)), "line 4 is new"),
        (report(AFTER, graph_break(3), graph_break(3, "GB0170")), "line 3 is new"),
        (report(AFTER, recompile(2, 2)), "line 2 is new"),
        (report(AFTER, graphs=2), "`f` has more graphs than before"),
        (replace(report(AFTER), status="raised"), "raises an error with this edit"),
        (replace(report(AFTER), status="timeout"), "takes too long"),
    ],
    ids=["moved", "other line", "other code", "recompiles", "graphs", "raises", "hangs"],
)
def test_what_an_edit_makes_worse_is_told(after: Report, told: str) -> None:
    before = report(BEFORE, graph_break(2), compiled=(1, 2, 3))
    assert told in worse(before, after, drifts(before, after))
    assert bool(told) == bool(worse(before, after, drifts(before, after)))


def test_more_recompilations_on_the_same_line_are_worse() -> None:
    before, after = report(BEFORE, recompile(1)), report(AFTER, recompile(2, 3))
    assert worse(before, after, drifts(before, after)) == "3 recompilations instead of 1"


def test_a_break_on_a_line_that_ran_eagerly_is_revealed() -> None:
    before, after = report(BEFORE, graph_break(1)), report(AFTER, graph_break(3))
    assert not worse(before, after, drifts(before, after))
    assert revealed(before, after, drifts(before, after)) == ("then line 3 breaks the graph: breaks in 3")


def test_a_known_break_that_a_caller_now_gets_to_is_revealed() -> None:
    before = report(BEFORE, graph_break(1), graph_break(2), compiled=(1, 2, 3))
    after = report(AFTER, graph_break(3), graph_break(3))
    assert not worse(before, after, drifts(before, after))
    assert revealed(before, after, drifts(before, after)) == ("then line 3 breaks the graph: breaks in 3")


def test_another_guard_that_fails_in_the_same_recompilations_is_not_worse() -> None:
    before, after = report(BEFORE, recompile(1, 2)), report(BEFORE, recompile(2, 2))
    assert not worse(before, after, drifts(before, after))
    assert not revealed(before, after, drifts(before, after))
    assert "line 2 is new" in worse(before, report(BEFORE, recompile(2, 3)), drifts(before, after))


@pytest.mark.parametrize(
    ("graphs", "name", "times", "told"),
    [
        (0, "f", 2, ""),
        (0, "compiled_f", 1, ""),
        (0, "f", 3, "line 2 is new"),
        (1, "f", 1, "line 2 is new"),
        (1, "_f", 1, "line 2 is new"),
        (0, "g", 1, "line 2 is new"),
    ],
)
def test_a_function_that_had_no_graph_may_recompile_a_few_times(
    graphs: int, name: str, times: int, told: str
) -> None:
    before = report(BEFORE, graph_break(1), graphs=graphs)
    twin = replace(
        before.frames[0], qualname="_f", graphs=0
    )  # another function, whose part has the same name
    before = replace(before, frames=(*before.frames, twin))
    after = report(BEFORE, recompile(2, times))
    after = replace(after, frames=(replace(after.frames[0], qualname=name, recompiles=times),))
    assert told in worse(before, after, drifts(before, after))
    assert bool(told) == bool(worse(before, after, drifts(before, after)))


@pytest.mark.parametrize(("compiled", "words"), [((1,), ""), ((1, 2, 3), "line 2 is new")])
def test_a_function_with_lines_that_ran_eagerly_may_recompile_once(
    compiled: tuple[int, ...], words: str
) -> None:
    before = report(BEFORE, graph_break(1), compiled=compiled)
    after = report(BEFORE, recompile(2), compiled=(1, 2, 3))
    after = replace(after, frames=(replace(after.frames[0], recompiles=1),))
    assert words in worse(before, after, drifts(before, after))
    assert bool(words) == bool(worse(before, after, drifts(before, after)))


def test_old_recompilations_of_a_function_without_graphs_allow_no_new_ones() -> None:
    before = report(BEFORE, recompile(1, 2), graphs=0)
    before = replace(before, frames=(replace(before.frames[0], recompiles=2),))
    after = report(BEFORE, recompile(1, 2), recompile(2, 2))
    frames = (replace(before.frames[0], graphs=1), replace(after.frames[0], qualname="g", recompiles=2))
    after = replace(after, frames=frames)
    assert "line 2 is new" in worse(before, after, drifts(before, after))


def test_a_reached_limit_is_not_worse_but_not_gone_if_the_part_of_the_function_reaches_it() -> None:
    def limit(row: int, name: str) -> Finding:
        return replace(recompile(row), kind="recompile-limit", message=f"`{name}` reached the limit")

    own = limit(1, "Net.forward")
    before, part = report(BEFORE, own), report(AFTER, limit(3, "Net.compiled_forward"))
    assert not worse(before, part, drifts(before, part))
    assert "reach the recompile limit" in gone(own, before, part, drifts(before, part))
    assert not gone(own, before, report(AFTER), drifts(before, part))
    assert "is new" in worse(before, report(AFTER, limit(3, "Net.other")), drifts(before, part))


def test_a_recompilation_is_gone_only_if_there_are_fewer() -> None:
    before, after = report(BEFORE, recompile(1, 4)), report(BEFORE, recompile(2, 4))
    between = drifts(before, after)
    assert gone(recompile(1, 4), before, after, between) == "4 recompilations with this edit, 4 without it"
    assert not gone(recompile(1, 4), before, report(BEFORE, recompile(2, 1)), between)


def test_one_graph_of_a_function_that_had_none_is_not_worse() -> None:
    before, after = report(BEFORE, graph_break(2), graphs=0), report(AFTER, graphs=1)
    assert not worse(before, after, drifts(before, after))


def test_what_goes_with_a_fix_belongs_to_its_root() -> None:
    root, other, apart, left = (graph_break(row) for row in (1, 2, 3, 4))
    before, after = report(BEFORE, root, other, apart, left), report(BEFORE, left)
    along = gone_along(root, before, after, drifts(before, after))
    assert along == (other, apart)
    verdict = Verdict(True, "", counts_of(before), counts_of(after), along=along)
    one, same, own = fix("one"), fix("one"), fix("own")
    group = [
        FindingTries(root, (CandidateVerdict(one, verdict),)),
        FindingTries(other, ()),
        FindingTries(apart, (CandidateVerdict(own, replace(verdict, along=())),)),
        FindingTries(left, ()),
    ]
    assert [root_of(item, group) for item in group] == [None, group[0], None, None]
    group[2] = FindingTries(apart, (CandidateVerdict(same, replace(verdict, along=(root, other))),))
    assert [root_of(item, group) for item in group] == [None, group[0], group[0], None]


Outcome = tuple[Literal["verified", "wrong", "reveals"], tuple[Finding, ...]]


class Programs:
    """A prover of programs that are made up: the outcome of each fix is known by its rule."""

    async def try_lines(self, *_: object) -> None:
        """Try nothing ahead."""

    def __init__(
        self,
        outcomes: Mapping[str, Outcome],
        *findings: Finding,
        noticed: Mapping[str, str] = MappingProxyType({}),
        failing: Collection[str] = (),
        along: tuple[Finding, ...] = (),
    ) -> None:
        self._outcomes, self._noticed, self._failing, self._along = outcomes, noticed, failing, along
        self.confirming: list[str] = []
        self.base = self._state(findings)

    def fixable(self, report: Report) -> list[Finding]:
        return fixable(report)

    def _state(self, findings: Sequence[Finding]) -> ExperimentState:
        return ExperimentState({}, report(BEFORE, *findings, graphs=len(findings) + 1), "", Path())

    async def with_fixes(self, _: ExperimentState, fixes: Sequence[Fix]) -> ExperimentState:
        return self._state(self._outcomes[fixes[0].rule][1])

    async def confirmed(self, _: ExperimentState, __: ExperimentState, fix: Fix, verdict: Verdict) -> Verdict:
        self.confirming.append(fix.rule)
        return replace(verdict, verified=fix.rule not in self._failing)

    async def prove(
        self, _: ExperimentState, before: ExperimentState, fix: Fix, __: Finding, *, whole: bool
    ) -> tuple[Verdict, ExperimentState]:
        assert not whole, "the whole compiler runs for the best one alone"
        what, left = self._outcomes[fix.rule]
        counts = counts_of(before.report), counts_of(self._state(left).report)
        verdict = Verdict(what == "verified", "" if what == "verified" else what, *counts)
        noticed = self._noticed.get(fix.rule, "")
        verdict = replace(verdict, along=self._along if verdict.verified else ())
        return replace(verdict, reveals=what == "reveals", noticed=noticed), self._state(left)


def fix(rule: str, safety: Safety = "safe") -> Fix:
    return Fix(
        rule, f"Do {rule}", "It does.", safety, "", (Edit(Span(FILE, 1, 1, 1, 1), f"torch.compile({rule})"),)
    )


def candidates(table: Mapping[int, Sequence[Fix]]) -> Any:
    def of(finding: Finding, _: RuleContext) -> Sequence[Fix]:
        return table.get(finding.span.row, ())

    return of


async def test_a_safe_fix_is_tried_first_and_ends_the_tries_for_a_finding() -> None:
    outcomes: dict[str, Outcome] = {
        "wrong": ("wrong", ()),
        "drop": ("verified", ()),
        "good": ("verified", ()),
        "more": ("verified", ()),
    }
    programs = Programs(outcomes, graph_break(1), graph_break(2))
    table = {1: [fix("wrong"), fix("drop", "unsafe"), fix("good"), fix("more")]}
    one, other = [item async for item in try_all(programs, programs.base, candidates(table))]  # type: ignore[arg-type]
    assert [item.fix.rule for item in one.tries] == ["good", "wrong"]
    assert one.best() == one.tries[0]
    assert one.best(["unsafe"]) is None
    assert programs.confirming == ["good"]
    assert (other.finding, other.tries, other.best()) == (graph_break(2), (), None)


async def test_the_whole_compiler_runs_until_one_fix_passes() -> None:
    outcomes: dict[str, Outcome] = dict.fromkeys(("tensor", "fails", "next"), ("verified", ()))
    programs = Programs(outcomes, graph_break(1), noticed={"tensor": "a tensor"}, failing={"fails"})
    table = {1: [fix("tensor"), fix("fails", "unsafe"), fix("next", "unsafe"), fix("never", "unsafe")]}
    (one,) = [item async for item in try_all(programs, programs.base, candidates(table))]  # type: ignore[arg-type]
    assert [item.fix.rule for item in one.tries] == ["next", "fails", "tensor"]
    assert "not run with the whole compiler" in one.tries[2].verdict.reason
    assert programs.confirming == ["fails", "next"]


async def test_after_a_fix_that_reveals_breaks_other_ways_of_its_rule_are_not_tried() -> None:
    programs = Programs({"first": ("reveals", (graph_break(3),))}, graph_break(1))
    twice = [fix("first"), replace(fix("first"), title="Do first in another way")]
    (one,) = [item async for item in try_all(programs, programs.base, candidates({1: twice}))]  # type: ignore[arg-type]
    assert [item.fix for item in one.tries] == twice[:1]


async def test_a_recompilation_that_a_fix_of_a_break_removes_is_only_tried_with_better_fixes() -> None:
    recompilation = replace(graph_break(2), kind="recompile")
    outcomes: dict[str, Outcome] = {"split": ("verified", ()), "mark": ("wrong", ())}
    programs = Programs(outcomes, graph_break(1), recompilation, along=(recompilation,))
    table = {1: [fix("split", "unsafe")], 2: [fix("setting", "unsafe"), fix("mark")]}
    one, other = [item async for item in try_all(programs, programs.base, candidates(table))]  # type: ignore[arg-type]
    assert [item.fix.rule for item in other.tries] == ["mark"]
    assert root_of(other, [one, other]) == one


async def plan_of(programs: Any, table: Candidates, safety: Sequence[Safety]) -> FixPlan:
    tried = fix_first([item async for item in try_all(programs, programs.base, table)])
    return await shortest(programs, programs.base, tried, table, safety)


async def test_a_recompilation_waits_for_the_whole_compiler_until_breaks_are_fixed() -> None:
    recompilation = replace(graph_break(2), kind="recompile")
    outcomes: dict[str, Outcome] = {"line": ("verified", (recompilation,)), "mark": ("verified", ())}
    programs = Programs(outcomes, graph_break(1), recompilation)
    table = candidates({1: [fix("line")], 2: [fix("mark")]})
    tried = [item async for item in try_all(programs, programs.base, table, ["safe"])]  # type: ignore[arg-type]
    assert [item.is_put_off for item in tried] == [False, True]
    assert programs.confirming == ["line"]
    await shortest(programs, programs.base, tried, table, ["safe"])  # type: ignore[arg-type]
    assert programs.confirming[:2] == ["line", "mark"]


async def test_fixes_are_made_one_upon_the_other_and_those_that_went_along_are_needless() -> None:
    outcomes: dict[str, Outcome] = {
        "both": ("verified", (graph_break(3),)),
        "second": ("verified", (graph_break(1), graph_break(4))),
        "third": ("verified", ()),
    }
    programs = Programs(outcomes, graph_break(1), graph_break(2), graph_break(4))  # the last moves up
    table = {1: [fix("both")], 2: [fix("second")], 3: [fix("third")]}
    plan = await plan_of(programs, candidates(table), ["safe"])
    assert [step.fix.rule for _, step in plan.steps] == ["both", "third"]
    assert plan.left == ()
    assert counts_of(plan.last.report) == RunCounts(0, 1, 0)


async def test_what_removes_most_is_fixed_first() -> None:
    outcomes: dict[str, Outcome] = {
        "one": ("verified", (graph_break(2), graph_break(3))),
        "most": ("verified", (graph_break(1),)),
        "wrong": ("wrong", ()),
    }
    programs = Programs(outcomes, graph_break(1), graph_break(2), graph_break(3))
    table = candidates({1: [fix("one", "unsafe")], 2: [fix("most")], 3: [fix("wrong")]})
    tried = [item async for item in try_all(programs, programs.base, table)]  # type: ignore[arg-type]
    assert [item.removes for item in tried] == [(1, 0), (2, 0), (0, 0)]
    assert [item.finding.span.row for item in fix_first(tried)] == [2, 1, 3]
    plan = await plan_of(programs, table, ["safe"])
    assert plan.steps[0][1].fix.rule == "most"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (RunCounts(7, 8, 0), RunCounts(2, 3, 0), "removes 5 of 7 breaks"),
        (RunCounts(1, 2, 0), RunCounts(0, 1, 0), "removes the break"),
        (RunCounts(3, 4, 1), RunCounts(0, 1, 0), "removes all 3 breaks and the recompilation"),
        (RunCounts(2, 3, 0), RunCounts(0, 1, 0), "removes both breaks"),
        (RunCounts(0, 4, 4), RunCounts(0, 1, 1), "removes 3 of 4 recompilations"),
        (RunCounts(1, 2, 0), RunCounts(1, 2, 0), ""),
        (RunCounts(1, 2, 0), RunCounts(2, 2, 0), ""),
    ],
)
def test_a_verdict_says_what_is_removed(before: RunCounts, after: RunCounts, words: str) -> None:
    assert removal_words(Verdict(True, "", before, after)) == words


async def test_what_is_revealed_is_fixed_too_or_nothing_is() -> None:
    outcomes: dict[str, Outcome] = {
        "first": ("reveals", (graph_break(3),)),
        "third": ("verified", ()),
    }
    programs = Programs(outcomes, graph_break(1))
    first, third = {1: [fix("first")]}, {3: [fix("third")]}
    plan = await plan_of(programs, candidates(first | third), ["safe"])
    assert [step.fix.rule for _, step in plan.steps] == ["first", "third"]

    plan = await plan_of(programs, candidates(first), ["safe"])
    assert plan.steps == ()
    assert [item.finding for item in plan.left] == [graph_break(1)]


async def test_rewritten_lines_come_before_a_split_function() -> None:
    outcomes: dict[str, Outcome] = {
        "stay-tensor": ("reveals", (graph_break(3),)),
        "where": ("verified", ()),
        "split-function": ("verified", ()),
    }
    programs = Programs(outcomes, graph_break(1))
    both = [fix("stay-tensor"), replace(fix("split-function"), uncompiles=True)]
    plan = await plan_of(programs, candidates({1: both, 3: [fix("where")]}), ["safe"])
    assert [step.fix.rule for _, step in plan.steps] == ["stay-tensor", "where"]
    plan = await plan_of(programs, candidates({1: both, 3: []}), ["safe"])
    assert [step.fix.rule for _, step in plan.steps] == ["split-function"]


async def test_a_setting_comes_before_a_split_that_leaves_little_compiled() -> None:
    setting = replace(
        fix("capture-scalars"), edits=(Edit(Span(FILE, 1, 1, 1, 1), "torch._dynamo.config.x = True\n"),)
    )
    little = replace(fix("split-function"), uncompiles=True, leaves_little=True)
    outcomes: dict[str, Outcome] = {"capture-scalars": ("verified", ()), "split-function": ("verified", ())}
    for split, first in (
        (little, "capture-scalars"),
        (replace(little, leaves_little=False), "split-function"),
    ):
        plan = await plan_of(Programs(outcomes, graph_break(1)), candidates({1: [split, setting]}), ["safe"])
        assert [step.fix.rule for _, step in plan.steps] == [first]


class Overlapping:
    """A prover of programs in which each fix removes breaks, some more than one, and may reveal others."""

    async def try_lines(self, *_: object) -> None:
        """Try nothing ahead."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        rows = range(1, self._random.randint(3, 6))
        hidden = range(10, 10 + self._random.randint(0, 2))
        self.fixes = {row: fix(f"fix-{row}") for row in [*rows, *hidden] if self._random.random() < 0.9}
        self._removed = {
            item.rule: {row, *self._random.sample(rows, self._random.randint(0, len(rows) // 2) * (row < 10))}
            for row, item in self.fixes.items()
        }
        self._revealed = {
            item.rule: set(hidden) if row < 10 and self._random.random() < 0.3 else set[int]()
            for row, item in self.fixes.items()
        }
        self._rows = set(rows)
        self.base = self._state(frozenset())

    def fixable(self, report: Report) -> list[Finding]:
        return fixable(report)

    def _state(self, made: frozenset[str]) -> ExperimentState:
        rows = self._rows | set[int]().union(*(self._revealed[rule] for rule in made))
        rows -= set[int]().union(*(self._removed[rule] for rule in made))
        texts = dict.fromkeys(made, "")
        found = report(BEFORE, *map(graph_break, sorted(rows)), graphs=len(rows) + 1)
        return ExperimentState(texts, found, "", Path())

    async def with_fixes(self, state: ExperimentState, fixes: Sequence[Fix]) -> ExperimentState:
        return self._state(frozenset({*state.texts, *(item.rule for item in fixes)}))

    async def confirmed(self, _: ExperimentState, __: ExperimentState, ___: Fix, verdict: Verdict) -> Verdict:
        return verdict

    async def prove(
        self, _: ExperimentState, before: ExperimentState, fix: Fix, finding: Finding, **__: bool
    ) -> tuple[Verdict, ExperimentState]:
        after = await self.with_fixes(before, [fix])
        was, now = before.report.findings, after.report.findings
        counts = counts_of(before.report), counts_of(after.report)
        along = tuple(item for item in was if item not in now and item != finding)
        if set(now) - set(was):
            return Verdict(False, "more shows", *counts, along=along, reveals=True), after
        return Verdict(finding not in now, "", *counts, along=along), after

    def fewest(self) -> tuple[int, int]:
        """The fewest breaks that any set of fixes leaves, and the size of the smallest such set."""
        level, seen, best = {frozenset[str]()}, set[frozenset[str]](), (len(self._rows), 0)
        while level:
            seen |= level
            best = min(best, *((len(self._state(made).report.findings), len(made)) for made in level))
            level = {
                made | {self.fixes[finding.span.row].rule}
                for made in level
                for finding in self._state(made).report.findings
                if finding.span.row in self.fixes
            } - seen
        return best


@pytest.mark.parametrize("seed", range(20))
async def test_the_shortest_way_is_the_one_of_an_exhaustive_search(seed: int) -> None:
    programs = Overlapping(seed)
    table = candidates({row: [item] for row, item in programs.fixes.items()})
    plan = await plan_of(programs, table, ["safe"])
    assert (len(plan.last.report.findings), len(plan.steps)) == programs.fewest()


async def test_a_step_that_the_others_make_needless_is_left_out_of_a_plan() -> None:
    programs = Overlapping(0)
    first, whole = fix("first"), fix("whole")
    programs._rows, programs.fixes = {1, 2}, {1: first, 2: whole}
    programs._removed, programs._revealed = {"first": {1}, "whole": {1, 2}}, {"first": set(), "whole": set()}
    base = programs._state(frozenset())
    steps, state = [], base
    for step, finding in zip((first, whole), base.report.findings, strict=True):
        verdict, state = await programs.prove(base, state, step, finding)
        steps.append((finding, CandidateVerdict(step, verdict)))
    plan = await _minimal(programs, FixPlan(base, state, tuple(steps), ()), ())  # type: ignore[arg-type]
    assert [step.fix.rule for _, step in plan.steps] == ["whole"]
    programs._removed["whole"] = {2}  # then both are needed
    last = programs._state(frozenset({"first", "whole"}))
    plan = await _minimal(programs, FixPlan(base, last, tuple(steps), ()), ())  # type: ignore[arg-type]
    assert [step.fix.rule for _, step in plan.steps] == ["first", "whole"]


async def test_a_step_is_not_left_out_if_no_other_removes_its_break() -> None:
    programs = Overlapping(0)
    programs._rows, programs.fixes = {1, 2}, {1: fix("first"), 2: fix("second")}
    programs._removed, programs._revealed = {"first": {1}, "second": {2}}, {"first": set(), "second": set()}
    table = candidates({row: [item] for row, item in programs.fixes.items()})
    tried = [item async for item in try_all(programs, programs.base, table)]  # type: ignore[arg-type]
    plan = await shortest(programs, programs.base, tried, table, ["safe"])  # type: ignore[arg-type]
    assert len(plan.steps) == 2
    programs._removed["second"] = {1, 2}
    # The tries were made before the second edit came to remove both breaks.
    assert await _minimal(programs, plan, tried) == plan  # type: ignore[arg-type]
    assert len((await _minimal(programs, plan, ())).steps) == 1  # type: ignore[arg-type]


async def test_what_changes_the_program_is_made_only_if_asked_for() -> None:
    programs = Programs({"drop": ("verified", ())}, graph_break(1))
    table = candidates({1: [fix("drop", "unsafe")]})
    plan = await plan_of(programs, table, ["safe"])
    assert plan.steps == ()
    plan = await plan_of(programs, table, ["safe", "unsafe"])
    assert len(plan.steps) == 1


def test_a_verdict_says_what_was_gained_and_what_is_against_it() -> None:
    assert gain(RunCounts(2, 3, 0), RunCounts(0, 1, 0)) == "2 breaks → 0, 3 graphs → 1"
    verified = Verdict(True, "", RunCounts(1, 2, 1), RunCounts(0, 1, 1))
    assert verdict_words(verified, fix("a")) == "verified: 1 break → 0, 2 graphs → 1, results equal"
    lost = replace(verified, verified=False, tried=False, reason="The worker failed: EOFError")
    assert verdict_words(lost, fix("a")) == "not tried: The worker failed: EOFError"
    wrong = replace(verified, verified=False, reason="results differ: result of call 2: by up to 3.1e-2")
    assert verdict_words(wrong, fix("a")) == (
        "not verified: results differ: result of call 2: by up to 3.1e-2"
    )


async def test_the_whole_compiler_waits_for_somebody_who_asks() -> None:
    nothing: Any = None  # no run is made
    prover = EditProver(nothing, nothing, Path(), is_asked=False)
    fix = Fix("setting", "", "", "unsafe", "", (), replaces=False)
    verdict = Verdict(True, "", RunCounts(1, 2, 0), RunCounts(0, 1, 0))
    waiting = await prover.confirmed(nothing, nothing, fix, verdict)
    assert (waiting.verified, waiting.tried) == (False, False)
    assert verdict_words(waiting, fix).startswith("not tried: the run with the whole compiler waits")
    assert FindingTries(graph_break(1), (CandidateVerdict(fix, waiting),)).waits
    assert not FindingTries(
        graph_break(1), (CandidateVerdict(fix, verdict), CandidateVerdict(fix, waiting))
    ).waits
