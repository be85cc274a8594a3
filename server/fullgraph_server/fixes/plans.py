"""Plans: the smallest set of fixes that leaves the fewest graph breaks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..report.model import Finding
from .changes import Drifts, counts_of, drifts_of
from .experiments import ExperimentState
from .model import Edit, Fix, Safety
from .prover import EditProver
from .search import Candidates, CandidateVerdict, FindingTries, judged_by_run, try_finding

_MOST_STEPS = 32
_MOST_COMBINED = 12
"""The largest number of candidates of which all combinations are examined."""


@dataclass(frozen=True, slots=True)
class FixPlan:
    """Fixes in the order in which they are applied.

    Each fix edits the text that the earlier fixes produced.
    """

    base: ExperimentState
    last: ExperimentState
    steps: tuple[tuple[Finding, CandidateVerdict], ...]
    left: tuple[FindingTries, ...]
    """The remaining findings, with the candidates that were tried for each."""

    @property
    def texts(self) -> dict[str, tuple[str, str]]:
        """Return the texts of the changed files, before and after."""
        changed = {}
        for filename, text in self.last.texts.items():
            source = self.base.report.files.get(filename)
            if source is not None and source.text != text:
                changed[filename] = (source.text, text)
        return changed


@dataclass(frozen=True, slots=True)
class _PlanStep:
    """A candidate for a step of a plan, tried on the unmodified program."""

    finding: Finding
    item: CandidateVerdict

    @property
    def removes(self) -> set[Finding]:
        return {self.finding, *self.item.verdict.along}

    @property
    def weight(self) -> int:
        """The cost of the candidate, in steps of a plan.

        It is one, plus one for each graph break that the candidate reveals. A split counts as three, or as
        five if it leaves little compiled: a reviewer prefers two rewritten lines to a second function.
        """
        verdict = self.item.verdict
        own = 1 + 2 * self.item.fix.uncompiles + 2 * self.item.fix.leaves_little
        gone = sum(finding.kind == "graph-break" for finding in self.removes)
        return own + verdict.after.breaks - verdict.before.breaks + gone if verdict.reveals else own

    def is_of(self, finding: Finding) -> bool:
        """Tell whether a finding in a later text is the finding of this candidate."""
        return _key(finding) == _key(self.finding)


async def shortest(
    prover: EditProver,
    base: ExperimentState,
    tried: Sequence[FindingTries],
    candidates: Candidates,
    safety: Sequence[Safety],
) -> FixPlan:
    """Find the smallest set of fixes with the fewest breaks and recompilations.

    ``tried`` has all findings of ``base``, in the order in which to fix them. The plan begins with the
    smallest set of candidates that removes every removable finding; then come fixes for the findings that
    remain. Steps that only reveal graph breaks stay in the plan if later steps remove these breaks; a plan
    without such steps is made, too, unless it cannot be better. At the end, each step is dropped if the other
    steps remove as much without it.
    """
    steps = [_PlanStep(item.finding, step) for item in tried for step in item.steps(safety)]
    ways = [steps, [step for step in steps if not step.item.verdict.reveals]]
    plans = [await _followed(prover, base, candidates, safety, tried, smallest_cover(ways[0]))]
    is_best = not counts_of(plans[0].last.report).breaks and not _has_reveals(plans[0])
    if ways[0] != ways[1] and not is_best:
        plans.append(await _followed(prover, base, candidates, safety, tried, smallest_cover(ways[1])))
    return await _minimal(prover, min(plans, key=_cost), tried)


def _has_reveals(plan: FixPlan) -> bool:
    """Tell whether a step of a plan reveals graph breaks."""
    return any(item.verdict.reveals for _, item in plan.steps)


def _cost(plan: FixPlan) -> tuple[int, ...]:
    counts = counts_of(plan.last.report)
    splits = sum(item.fix.uncompiles for _, item in plan.steps)
    return counts.breaks, counts.recompiles, splits, len(plan.steps)


def smallest_cover(steps: Sequence[_PlanStep]) -> list[_PlanStep]:
    """Return the lightest set of candidates that removes every removable finding.

    With more than 12 candidates the choice is greedy: the next candidate is the one that removes most of the
    remaining findings. The result may then have one or two candidates more than the smallest set.
    """
    everything = set[Finding]().union(*(step.removes for step in steps))
    if len(steps) <= _MOST_COMBINED:
        sets = itertools.chain(*(itertools.combinations(steps, size) for size in range(len(steps) + 1)))
        whole = (some for some in sets if everything == set().union(*(step.removes for step in some)))
        return list(min(whole, key=lambda some: sum(step.weight for step in some)))
    chosen: list[_PlanStep] = []
    while everything:
        most = max(steps, key=lambda step: len(everything & step.removes))
        chosen.append(most)
        everything -= most.removes
    return chosen


async def _followed(
    prover: EditProver,
    base: ExperimentState,
    candidates: Candidates,
    safety: Sequence[Safety],
    tried: Sequence[FindingTries],
    first: Sequence[_PlanStep],
) -> FixPlan:
    """Make a plan that prefers the steps in ``first`` over other candidates."""
    state, left = base, list[FindingTries]()
    made: list[tuple[Finding, CandidateVerdict]] = []
    sound = FixPlan(base, base, (), ())
    known = {item.finding: item for item in tried}

    def rank(finding: Finding) -> int:
        return next((index for index, step in enumerate(first) if step.is_of(finding)), len(first))

    for _ in range(_MOST_STEPS):
        left = []
        findings = list(known) if state is base else prover.fixable(state.report)
        for finding in sorted(findings, key=rank):
            wanted = [step.item.fix.rule for step in first if step.is_of(finding)]
            if state is base and not known[finding].is_put_off:
                item = known[finding]
            else:
                item = await _tried(prover, base, state, finding, candidates, safety, wanted)
            steps = sorted(item.steps(safety), key=lambda step: step.fix.rule not in wanted)
            if steps:
                made.append((item.finding, steps[0]))
                state = await prover.with_fixes(state, [steps[0].fix])
                if (
                    not steps[0].verdict.reveals
                    and counts_of(state.report).breaks <= counts_of(base.report).breaks
                ):
                    sound = FixPlan(base, state, tuple(made), ())
                break
            left.append(item)
        else:
            break
    if sound.last is not state:  # the graph breaks that the last steps revealed cannot be fixed
        found = prover.fixable(sound.last.report)
        left = [await try_finding(prover, base, sound.last, finding, candidates) for finding in found]
    return replace(sound, left=tuple(left))


async def _tried(
    prover: EditProver,
    base: ExperimentState,
    state: ExperimentState,
    finding: Finding,
    candidates: Candidates,
    safety: Sequence[Safety],
    wanted: Sequence[str],
) -> FindingTries:
    """Try the candidates of the ``wanted`` rules, which were verified before, and others if these fail."""
    if wanted:
        item = await try_finding(
            prover,
            base,
            state,
            finding,
            lambda one, context: [fix for fix in candidates(one, context) if fix.rule in wanted],
        )
        if item.steps(safety):
            return item
    return await try_finding(prover, base, state, finding, candidates)


async def _minimal(prover: EditProver, plan: FixPlan, tried: Sequence[FindingTries]) -> FixPlan:
    """Drop each step that other steps make needless, beginning with the first step."""
    index = 0
    while index < len(plan.steps) > 1:
        shorter = None if _is_needed(plan, index, tried) else await _without(prover, plan, index)
        plan, index = (shorter, index) if shorter is not None else (plan, index + 1)
    return plan


def _is_needed(plan: FixPlan, index: int, tried: Sequence[FindingTries]) -> bool:
    """Tell whether no other step removes the graph break of a step, as far as ``tried`` says.

    ``tried`` has the findings of the unmodified program. The edits of a recompilation may be needless though
    no single step removes it.
    """
    finding, _ = plan.steps[index]
    if finding.kind != "graph-break":
        return False
    for number, (other, step) in enumerate(plan.steps):
        same = (known for known in tried if _key(known.finding) == _key(other))
        runs = [one.verdict for known in same for one in known.tries if one.fix.rule == step.fix.rule]
        runs = [verdict for verdict in runs if verdict.verified or verdict.reveals]
        removed = {_key(item) for verdict in runs for item in verdict.along}
        if number != index and (not runs or _key(finding) in removed):
            return False
    return True


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.kind, finding.code, finding.message


async def _without(prover: EditProver, plan: FixPlan, left_out: int) -> FixPlan | None:
    """Return the plan without one step, or ``None``.

    Return ``None`` if the shorter plan removes less, or if other steps need the step.
    """
    before, state = plan.base, plan.base
    made: list[tuple[Finding, CandidateVerdict]] = []
    for index, (finding, item) in enumerate(plan.steps):
        if index != left_out:
            drifts = drifts_of(before.report, state.report)
            fix, place = _moved(item.fix, drifts), drifts(finding.span.filename).span(finding.span).span
            wanted = finding.kind, finding.code, place.row
            every = prover.fixable(state.report)
            same = (one for one in every if (one.kind, one.code, one.span.row) == wanted)
            found = next(same, None)
            if fix is None or found is None:
                return None
            verdict, state = await prover.prove(plan.base, state, fix, found, whole=False)
            if not (verdict.verified or verdict.reveals):
                return None
            judged = judged_by_run(fix, verdict)
            if judged.fix.safety != fix.safety:
                return None
            made.append((found, judged))
        before = await prover.with_fixes(before, [item.fix])
    was, now = counts_of(plan.last.report), counts_of(state.report)
    removes_less = now.breaks > was.breaks or now.recompiles > was.recompiles or now.graphs > was.graphs
    if removes_less or made[-1][1].verdict.reveals:
        return None
    found, last = made.pop()
    if any(step.fix.needs_whole_compiler for _, step in plan.steps):
        last = replace(last, verdict=await prover.confirmed(plan.base, state, last.fix, last.verdict))
    return replace(plan, last=state, steps=(*made, (found, last))) if last.verdict.verified else None


def _moved(fix: Fix, drifts: Drifts) -> Fix | None:
    """Return a fix moved to another text; ``None`` if the lines that it edits changed."""
    moved = [drifts(edit.span.filename).span(edit.span) for edit in fix.edits]
    if any(item.change != "same" for item in moved):
        return None
    edits = (Edit(item.span, edit.text) for item, edit in zip(moved, fix.edits, strict=True))
    return replace(fix, edits=tuple(edits))
