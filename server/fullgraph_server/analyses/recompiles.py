"""Recompilations: causes and callers of each recompiled function, then a summary."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from fullgraph_compiler.facts import Recompile

from ..report.model import Finding
from ..report.profile import RecompileProfile, cost, profiles, sentence
from ..text.messages import counted, what_changed
from ..text.tables import wrapped
from .analysis import Analysis, CommandLineAnalysis, EditorAnalysis
from .progress import ProgressTally
from .shown import BLANK, ReportView, StyledLine, line

_MOST_CALLS = 8
_MOST_FUNCTIONS = 5
"""If a result has more functions, its summary is also at the beginning."""
_HELP = "help: "


def _lines(shown: ReportView) -> Iterator[StyledLine | Finding]:
    report = shown.report
    recompiled = profiles(report)
    if len(recompiled) > _MOST_FUNCTIONS:
        yield line(f"{sentence(report)} The most frequent first:", "bold")
        yield BLANK
    for profile in recompiled:
        yield from _profile_lines(shown, profile)
        yield BLANK
    for finding in report.findings:
        if finding.severity == "error" or finding.kind == "target-error":
            yield finding
    if shown.sizes_command:
        yield line(shown.sizes_command)
    yield line(sentence(report).rstrip(".") + shown.summary_end, "bold")


def _profile_lines(shown: ReportView, profile: RecompileProfile) -> Iterator[StyledLine]:
    frame = profile.frame
    counts = [item.count for item in (*profile.causes, *profile.breaks)]
    counts += [count for _, count in profile.callers]
    digits = len(str(max(counts, default=0)))
    indent = " " * (digits + 6)

    yield line(f"{shown.place(frame.filename, frame.row)} {frame.qualname}", "bold")
    yield line(f"  {cost(profile)}")
    yield line("  causes", "bold")
    written: set[str] = set()
    for cause in profile.causes:
        words = what_changed(cause.finding.message)
        yield StyledLine(((_times(cause.count, digits), ""), (words, "bold blue")))
        yield line(indent + shown.code(cause.finding.span))
        for hint in dict.fromkeys(hint for hint in cause.finding.hints if hint not in written):
            written.add(hint)
            first, *others = wrapped(hint, len(indent + _HELP), shown.width)
            yield line(indent + _HELP + first)
            yield from (line(" " * len(indent + _HELP) + text) for text in others)
    if profile.callers:
        yield line("  called from", "bold")
    for span, count in profile.callers[:_MOST_CALLS]:
        yield line(_times(count, digits) + shown.code(span))
    if (more := len(profile.callers) - _MOST_CALLS) > 0:
        yield line(f"{indent}and {more} more")
    if profile.breaks:
        yield line("  graph breaks", "bold")
    for cause in profile.breaks:
        words = f"{cause.finding.code} {cause.finding.message}"
        yield StyledLine(((_times(cause.count, digits), ""), (words, "bold yellow")))
        yield line(indent + shown.code(cause.finding.span))


def _times(count: int, digits: int) -> str:
    return f"    {count:>{digits}}× "


ANALYSIS: Final = Analysis(
    id="recompiles",
    label="recompilation profile",
    doing="profiling recompilations of {target}",
    effort="dynamo",
    progress=partial(
        ProgressTally, Recompile, lambda count: f"{counted(count, 'recompilation')} so far" if count else ""
    ),
    verdict=sentence,
    lines=_lines,
    in_editor=EditorAnalysis(
        command="fullgraph.recompiles",
        client="profileRecompilations",
        title="Profile Recompilations",
        question="Each recompilation, what changed before it, and what it cost",
        group="recompilations and compile time",
        menu="analyses",
        order=10,
        opens="profile",
    ),
    on_command_line=CommandLineAnalysis(
        name="recompiles",
        answer="Why are functions recompiled, how often, by which calls, at what cost? Each function keeps "
        "only one compilation, and there is no recompile limit, so that every change of a guarded value "
        "shows.",
        page="docs/recompilations.md",
        help="""Show why functions are recompiled, and by which calls.

        TARGET (see fullgraph check) runs. Each function keeps only one compilation, and there is no
        recompile limit: the worst case, which shows every change of a guarded value.

        The exit code is 0 if nothing fails, 1 if something does, and 2 if the target could not be
        started.
        """,
        ranks=True,
    ),
)
