"""Formats of ``fullgraph fix``: text, JSON, and a unified diff."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO, TypeAlias

from rich.text import Text

from ...fixes.changes import counts_of
from ...fixes.experiments import ExperimentState
from ...fixes.model import SAFETY, Edit, RunCounts, Safety
from ...fixes.patches import library_of, patch
from ...fixes.plans import FixPlan
from ...fixes.search import CandidateVerdict, FindingTries, gain, root_of
from ...fixes.sizes import refused_mark
from ...fixes.words import removal_words, safety_words, unified_diff, verdict_words
from ...report.model import Finding
from ...shapes.shape import JsonKey, shape
from ...text.messages import ENDINGS, counted
from ...text.visible import visible
from ...workspace.packages import InstalledPackage
from ...workspace.targets import Target
from ...workspace.workspace import Workspace
from ..output import clean_console, print_diff, tell, write_line, write_object
from .places import in_cells, shown_place


@dataclass(frozen=True)
class TargetFixes:
    """The result of ``fullgraph fix``: edits tried for each finding, and the plan."""

    target: Target
    workspace: Workspace
    base: ExperimentState
    nondeterminism: str
    """How two runs of the unmodified target differ, as a sentence; empty if they are equal."""
    tried: tuple[FindingTries, ...]
    plan: FixPlan
    package: InstalledPackage | None = None
    """The installed package that the edits change; ``None`` if they change the user's own files."""
    safety: Sequence[Safety] = SAFETY[:1]
    """The levels of safety that the plan may have."""
    applied: bool = False
    refusal: str = ""
    """Why nothing was written despite ``--apply``; else empty."""


FixFormat: TypeAlias = Callable[[TargetFixes, TextIO], None]
"""A function that writes the result for a target to a stream."""


def write(fixed: TargetFixes, out: TextIO) -> None:
    """Write each finding with its best edit and the verdict; then the plan, as a diff."""
    console = clean_console(out)
    for tried in fixed.tried:
        for text in _finding(tried, root_of(tried, fixed.tried), library_of(tried.finding, fixed.workspace)):
            console.print(text)
        console.print()
    if fixed.nondeterminism:
        console.print(Text(f"No result could be compared: {fixed.nondeterminism}.", "bold"))
    folder = str(fixed.package.folder) if fixed.package else os.getcwd()
    print_diff(console, unified_diff(fixed.plan.texts, folder))
    if fixed.plan.texts:
        console.print()
    console.print(Text(summary(fixed), "bold"))


def write_diff(fixed: TargetFixes, out: TextIO) -> None:
    """Write the edits of the plan as a unified diff for ``git apply``."""
    for line in _lines(fixed):
        write_line(out, line)
    tell(summary(fixed))


def write_json(fixed: TargetFixes, out: TextIO) -> None:
    """Write the result as one JSON object."""
    write_object(out, in_cells(SHAPE.object(fixed)))


FIX_FORMATS: Final[Mapping[str, FixFormat]] = {"text": write, "json": write_json, "diff": write_diff}


def summary(fixed: TargetFixes) -> str:
    """Return one line that says what the edits of the plan achieve together."""
    report, plan = fixed.base.report, fixed.plan
    if report.status == "not-started":
        reason = f": {report.problem.message}" if report.problem is not None else ""
        return f"{ENDINGS['not-started']}{reason}"
    if not fixed.tried and fixed.workspace.package:
        return f"nothing to fix: no finding is in the source of {fixed.workspace.package}"
    if not fixed.tried and report.problem is not None:
        problem = refused_mark(report) or report.problem.message
        return f"no graph breaks, no recompilations, but the program fails: {problem}"
    if not fixed.tried:
        return "nothing to fix: no graph breaks, no recompilations"
    if not plan.steps:
        none = "no edit is known" if not any(item.tries for item in fixed.tried) else "no edit is verified"
        return f"{none} that keeps what the program does: {_left(fixed)}"
    edits = counted(len({step.fix for _, step in plan.steps}), "edit")
    gained = gain(counts_of(report), counts_of(plan.last.report))
    offer = "--format diff writes a patch" if fixed.package else "write with --apply"
    ending = "written" if fixed.applied else fixed.refusal or offer
    return f"{edits} together: {gained} - {_left(fixed)} - {ending}"


def _lines(fixed: TargetFixes) -> Iterator[str]:
    if fixed.package is None:
        return unified_diff(fixed.plan.texts, os.getcwd())
    report = fixed.base.report
    return patch(fixed.plan, fixed.package, fixed.target.label, report.torch)


def _left(fixed: TargetFixes) -> str:
    plan = fixed.plan
    if not plan.left:
        return "nothing is left"
    bests = [best.fix.safety for item in plan.left if (best := item.best()) is not None]
    counts = {f"--{level}": bests.count(level) for level in SAFETY if level not in fixed.safety}
    offers = " and ".join(f"{option} for {count}" for option, count in counts.items() if count)
    left = f"{counted(len(plan.left), 'finding is', 'findings are')} left"
    return f"{left} (there are verified edits: {offers})" if offers else left


def _finding(tried: FindingTries, root: FindingTries | None, library: str) -> Iterator[Text]:
    finding, best = tried.finding, tried.best()
    place, code = (shown_place(finding), "bold"), (finding.code, "yellow")
    yield Text.assemble(place, " ", code, " ", (finding.message, "bold"))
    if root is not None:
        yield Text(f"  removed by the fix of {shown_place(root.finding)}", "green")
        return
    if not tried.tries:
        elsewhere = f": it is in {library}; --package {library} looks for edits there" if library else ""
        yield Text(f"  no edit is known for this{elsewhere}")
    if tried.refused and best is None:
        yield Text(f"  no operator of torch: {visible(tried.refused)}")
    for item in [best] if best else tried.tries:
        removes = f", {removal_words(item.verdict)}" if item is best and any(tried.removes) else ""
        title = (visible(item.fix.title), "bold")
        yield Text.assemble("  fix: ", title, f" ({safety_words(item.fix)}){removes}")
        yield Text(f"       {visible(item.fix.change)}")
        yield Text(f"       {visible(verdict_words(item.verdict, item.fix))}", "green" if best else "red")
        if item.verdict.basis:
            yield Text(f"       seen: {visible(item.verdict.basis)}")
        if item.verdict.along:
            along = ", ".join(f"{shown_place(other)} {other.code}" for other in item.verdict.along)
            yield Text(f"       also removes: {along}")


def _steps(fixed: TargetFixes) -> list[dict[str, Any]]:
    return [
        {"code": finding.code, "message": finding.message, **_TRY.object(step)}
        for finding, step in fixed.plan.steps
    ]


_COUNTS: Final = shape(RunCounts, "breaks", "graphs", "recompiles")
_EDIT: Final = shape(
    Edit,
    "file=span.filename",
    "row=span.row",
    "column=span.column",
    "end_row=span.end_row",
    "end_column=span.end_column",
    "text",
)
_TRY: Final = shape(
    CandidateVerdict,
    "rule=fix.rule",
    "title=fix.title",
    "change=fix.change",
    "safety=fix.safety",
    "source=fix.source",
    "verified=verdict.verified",
    "tried=verdict.tried",
    "reason=verdict.reason",
    "basis=verdict.basis",
    "untaken=verdict.untaken",
    JsonKey("along", "verdict.along", shape(Finding, "code", "file=span.filename", "row=span.row")),
    JsonKey("before", "verdict.before", _COUNTS),
    JsonKey("after", "verdict.after", _COUNTS),
    JsonKey("edits", "fix.edits", _EDIT),
)
_TRIED: Final = shape(
    FindingTries,
    "code=finding.code",
    "message=finding.message",
    "file=finding.span.filename",
    "row=finding.span.row",
    "column=finding.span.column",
    JsonKey(
        "removes",
        value=lambda tried, _: dict(zip(("breaks", "recompiles"), tried.removes, strict=True)),
        type=dict[str, int],
    ),
    JsonKey("tries", shape=_TRY),
    "refused",
)
SHAPE: Final = shape(
    TargetFixes,
    "target=target.id",
    "torch=base.report.torch",
    "status=base.report.status",
    JsonKey("before", value=lambda fixed, _: counts_of(fixed.base.report), type=RunCounts, shape=_COUNTS),
    JsonKey("after", value=lambda fixed, _: counts_of(fixed.plan.last.report), type=RunCounts, shape=_COUNTS),
    "nondeterminism",
    JsonKey("findings", "tried", _TRIED),
    JsonKey("plan", value=lambda fixed, _: _steps(fixed), type=list[dict[str, Any]]),
    JsonKey("left", "plan.left", shape(FindingTries, "code=finding.code", "message=finding.message")),
    JsonKey(
        "files",
        value=lambda fixed, _: {name: after for name, (_, after) in fixed.plan.texts.items()},
        type=dict[str, str],
    ),
    "applied",
)
"""The JSON object of the result for a target: edits and their verdicts."""
