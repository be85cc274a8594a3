"""The tools that search for edits and prove them; nothing is written."""

from __future__ import annotations

import ast
import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..fixes.changes import counts_of, drifts_of, gone
from ..fixes.editing import edited, edited_texts
from ..fixes.experiments import ExperimentState
from ..fixes.model import Edit, Fix, OperatorDefinition
from ..fixes.model import Verdict as Proven
from ..fixes.plans import shortest
from ..fixes.prover import EditProver
from ..fixes.rules.catalogue import candidates
from ..fixes.search import CandidateVerdict, FindingTries, fix_first, gain, try_all, try_finding
from ..fixes.unshown import unshown
from ..fixes.words import unified_diff, verdict_words
from ..report.model import Finding
from ..runs.plan import RunPlan
from ..text.messages import counted
from ..workspace.source import SourceFile
from ..workspace.syntax import bound
from .answers import FixAnswer, FixEntry, TryAnswer
from .patching import DiffHunk, PatchError, edits, parse
from .reading import MOST, clipped, counts, paged
from .tool_calls import ToolCall, ToolError

_DIFF = 12_000
"""The most characters of a diff in an answer."""
_SOURCE = 1_000_000
"""The most characters of a file that a diff may change: other calls wait while Python parses the file."""
_WRITE = "Nothing is written: apply the diff yourself, then call check_target."


async def list_fixes(call: ToolCall, target: str, finding: str = "") -> FixAnswer:
    """Try known edits for the findings of a target, and prove each edit.

    With ``finding``, try edits only for that finding of the target's last check.
    """
    plan = await call.plan(target, "fix")
    if finding:
        call.finding(target, finding)  # or a refusal

    async def search(prover: EditProver) -> FixAnswer:
        base = await prover.as_it_is()
        nondeterminism = await prover.nondeterminism(base)
        if finding:
            wanted = _named(call, base, finding)
            tried = [await try_finding(prover, base, base, wanted, candidates)]
            together, gained = "", ""
        else:
            tried = fix_first([item async for item in try_all(prover, base, candidates)])
            best = await shortest(prover, base, tried, candidates, ("safe",))
            together = _diff(call, best.texts)
            gained = gain(counts_of(base.report), counts_of(best.last.report))
        ids = {id(item): name for name, item in call.ids(base.report).items()}
        known = [item for item in tried if item.tries]
        shown, left_out = paged(known, 0, "finding with an edit", "", "findings with an edit")
        fixes = tuple(_fixed(call, base, ids[id(item.finding)], item) for item in shown)
        without = tuple(_unknown(ids[id(item.finding)], item) for item in tried if not item.tries)
        if left_out:
            left_out += " Call list_fixes with one finding of check_target to see its edit."
        if (more := len(without) - MOST) > 0:
            left_out += f" {counted(more, 'finding')} more without an edit."
        if len(together) > _DIFF:
            left_out += (
                f" The combined diff has {len(together):,} characters: run `fullgraph fix --format diff`."
            )
            together = ""
        return FixAnswer(
            target,
            fixes,
            without[:MOST],
            together,
            gained,
            left_out.strip(),
            _next_of_fixes(base, nondeterminism, fixes),
        )

    return await call.runs.prove(plan, call.progress, search)


async def try_edit(call: ToolCall, target: str, diff: str, finding: str = "") -> TryAnswer:
    """Prove a unified diff: compare reports and results with and without the diff."""
    plan = await call.plan(target, "fix")
    if finding:
        call.finding(target, finding)  # or a refusal
    try:
        hunks = {_located(call, plan, path): (path, found) for path, found in parse(diff).items()}
        sources = {name: plan.workspace.source(name) for name in hunks}
        await asyncio.to_thread(_fix, hunks, sources)
    except PatchError as error:
        raise ToolError(str(error)) from error

    async def search(prover: EditProver) -> TryAnswer:
        base = await prover.as_it_is()
        for name, (path, _) in hunks.items():
            if base.report.status == "not-started" or name not in base.report.files:
                problem = base.report.problem
                why = problem.message if problem else f"{path} is not imported by {target}"
                raise ToolError(f"The edit cannot be judged: {why}")
        # A report has only the texts of files that it names.
        texts = {name: base.report.files[name] or sources[name] for name in hunks}
        base = replace(base, report=replace(base.report, files={**base.report.files, **texts}))
        wanted = _named(call, base, finding) if finding else None
        try:
            fix = await asyncio.to_thread(_fix, hunks, texts)
        except PatchError as error:
            raise ToolError(str(error)) from error
        await prover.nondeterminism(base)
        return await _tried(call, prover, target, base, fix, wanted)

    return await call.runs.prove(plan, call.progress, search)


async def _tried(
    call: ToolCall, prover: EditProver, target: str, base: ExperimentState, fix: Fix, wanted: Finding | None
) -> TryAnswer:
    after = await prover.with_fixes(base, [fix])
    moved = drifts_of(base.report, after.report)
    found = prover.fixable(base.report)
    removed = [item for item in found if not gone(item, base.report, after.report, moved)]
    goal = wanted or next(iter(removed), None)
    before, now = counts_of(base.report), counts_of(after.report)
    if reason := await asyncio.to_thread(unshown, fix, base.report.files):
        verdict = Proven(False, reason, before, now)
    elif goal is None:
        reason = await prover.differences(base, after) or "no graph break or recompilation is gone with it"
        verdict = Proven(False, reason, before, now)
    else:
        verdict, _ = await prover.prove(base, base, fix, goal)
        if verdict.verified and verdict.noticed:
            reason = f"other code may notice a difference: {verdict.noticed}"
            verdict = replace(verdict, verified=False, reason=reason)
    ids = {id(item): name for name, item in call.ids(base.report).items()}
    left = [f"{name} {clipped(item.message)}" for name, item in call.ids(after.report).items()]
    shown, left_out = paged(left, 0, "finding", "")
    return TryAnswer(
        target,
        verdict.verified,
        clipped(verdict_words(verdict, fix), _DIFF),
        verdict.basis,
        tuple(ids[id(item)] for item in removed)[:MOST],
        tuple(shown),
        counts(before),
        counts(now),
        f"{left_out} Apply the diff and call check_target for all." if left_out else "",
        _WRITE if verdict.verified else "Change the diff as the verdict says, and try it again.",
    )


# -- diffs -------------------------------------------------------------------------------------


def _located(call: ToolCall, plan: RunPlan, path: str) -> str:
    """Return the file that a diff names.

    Raises :class:`ToolError` for a file outside the workspace.
    """
    folders = (*call.folders, plan.workspace.root)
    names = [os.path.normpath(folder / path) for folder in folders]
    inside = [name for name in names if "\0" not in name and call.is_inside(name)]
    call.refuse_outside(inside[0] if inside else names[0])
    return next(filter(os.path.exists, inside), inside[0])


def _fix(hunks: Mapping[str, tuple[str, list[DiffHunk]]], sources: Mapping[str, SourceFile | None]) -> Fix:
    """Make a candidate of a diff. Raises :class:`PatchError` if it does not apply."""
    made: list[Edit] = []
    defined: list[str] = []
    for name, (path, own) in hunks.items():
        if (source := sources.get(name)) is None:
            raise PatchError(f"{path} is not a readable Python file: name a file of the workspace.")
        if len(source.text) > _SOURCE:
            raise PatchError(f"{path} has more than {_SOURCE:,} characters: no edits of it are tried.")
        changes = edits(source, path, own)
        try:
            tree = ast.parse(edited(source, changes), path)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = str(error) or "it is nested too deeply"
            raise PatchError(f"With the diff, {path} is not valid Python: {why}.") from error
        made += changes
        known = set[str]().union(*map(bound, source.tree.body)) if source.tree else set[str]()
        defined += [ast.unparse(item) for item in tree.body if bound(item) and not bound(item) & known]
    # Definitions that the diff adds to the module: new lines that use them are also tried by themselves.
    definitions = OperatorDefinition("", "\n".join(defined)) if defined else None
    return Fix("edit", "the edit", "", "safe", "", tuple(made), operator=definitions)


def _diff(call: ToolCall, texts: Mapping[str, tuple[str, str]]) -> str:
    return "".join(f"{line}\n" for line in unified_diff(texts, str(call.folders[0])))


# -- parts of answers --------------------------------------------------------------------------


def _named(call: ToolCall, base: ExperimentState, finding: str) -> Finding:
    found = call.ids(base.report).get(finding)
    if found is None:
        raise ToolError(f"The current program has no finding {finding}: call check_target again.")
    return found


def _fixed(call: ToolCall, base: ExperimentState, name: str, tried: FindingTries) -> FixEntry:
    item: CandidateVerdict = tried.best() or tried.tries[0]
    texts = edited_texts(base.report.files, item.fix.edits)
    return FixEntry(
        name,
        item.fix.title,
        item.fix.change,
        item.fix.safety == "safe",
        item.verdict.verified,
        clipped(verdict_words(item.verdict, item.fix)),
        item.verdict.basis,
        clipped(_diff(call, texts), _DIFF),
    )


def _unknown(name: str, tried: FindingTries) -> str:
    return f"{name}: {clipped(tried.refused)}" if tried.refused else name


def _next_of_fixes(base: ExperimentState, nondeterminism: str, fixes: Sequence[FixEntry]) -> str:
    if (problem := base.report.problem) is not None:
        return f"Nothing can be verified, since the run did not finish: {clipped(problem.message)}"
    if nondeterminism:
        return f"Nothing can be verified: {nondeterminism}."
    if any(item.verified for item in fixes):
        return _WRITE
    return "Write an edit of your own, as explain_finding suggests, and prove it with try_edit."
