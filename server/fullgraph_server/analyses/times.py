"""Times: compile time with cold and warm caches, and graphs that the caches lack."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from fullgraph_compiler.facts import TimesMeasured

from ..kinds import KINDS
from ..report.caches.model import CacheUses, labels
from ..report.faults import outcome
from ..report.model import Finding, Report
from ..shapes.report import REPORT
from ..shapes.shape import JsonKey, shape
from ..text.messages import counted
from ..text.tables import aligned
from .analysis import Analysis, CommandLineAnalysis, EditorAnalysis
from .progress import ProgressTally
from .shown import BLANK, ReportView, StyledLine, line


def _verdict(report: Report) -> str | None:
    times = ", ".join(f"{item.seconds:.1f} s with {item.cache} caches" for item in report.of(TimesMeasured))
    lacking = sum(use.cache == "fx-graph" and use.state != "hit" for use in report.caches.uses)
    anew = f"; {counted(lacking, 'graph')} compiled anew" if report.caches.warm and lacking else ""
    return times + anew or None


def _lines(shown: ReportView) -> Iterator[StyledLine | Finding]:
    report = shown.report
    rows = [
        (f"{item.cache} caches", f"{item.compiling:.1f} s", f"{item.seconds:.1f} s", outcome(item.failure))
        for item in report.of(TimesMeasured)
    ]
    if rows:
        yield from map(line, aligned([("", "compiling", "total", ""), *rows], "<>><"))
        yield BLANK
    yield from map(line, _cache_lines(shown, report.caches))
    for finding in report.findings:
        kind = KINDS[finding.kind]
        # The assumptions of an export cost no time.
        if kind.is_about_speed or (kind.is_failure and finding.kind != "export-error"):
            yield finding


def _cache_lines(shown: ReportView, caches: CacheUses) -> Iterator[str]:
    """Yield a table of cache uses, then the reason of each miss and bypass."""
    if not caches.counts:
        return
    title = "in the warm caches" if caches.warm else "in the caches"
    rows = [
        (count.name, f"{count.hits:,}", f"{count.misses:,}", f"{count.bypasses:,}") for count in caches.counts
    ]
    yield from aligned([(title, "found", "missed", "left out"), *rows], "<>>>")
    yield ""
    for sentences, uses in caches.explained.items():
        yield f"{shown.at(uses[0].span)} {labels(uses)}: {sentences}"
    if caches.explained:
        yield ""


TIMES: Final = REPORT.with_keys(
    JsonKey(
        "times",
        value=lambda report, _: {item.cache: item for item in report.of(TimesMeasured)},
        type=dict[str, TimesMeasured],
        shape=shape(
            TimesMeasured,
            JsonKey("seconds", value=lambda item, _: round(item.seconds, 3), type=float),
            JsonKey("compiling", value=lambda item, _: round(item.compiling, 3), type=float),
            JsonKey(
                "fails",
                value=lambda item, _: outcome(item.failure) if item.failure else None,
                type=str | None,
            ),
        ),
    )
)

ANALYSIS: Final = Analysis(
    id="times",
    label="compile times",
    doing="measuring compile times of {target}",
    in_one_process="compile times are measured",
    repeats=True,
    timed=True,
    progress=partial(
        ProgressTally,
        TimesMeasured,
        lambda count: "warm caches, run 2 of 2" if count else "cold caches, run 1 of 2",
    ),
    verdict=_verdict,
    lines=_lines,
    shape=lambda _: TIMES,
    in_editor=EditorAnalysis(
        command="fullgraph.compileTimes",
        client="measureCompileTimes",
        title="Why Is Compilation Slow?",
        question="Cold and warm compiler caches compared, part by part of the compiler",
        group="recompilations and compile time",
        menu="analyses",
        order=30,
        opens="report",
    ),
    on_command_line=CommandLineAnalysis(
        name="times",
        answer="Why is compilation slow, with cold and with warm caches? Which graphs do the warm caches "
        "lack, and why?",
        help="""Show why compilation is slow, and what costs speed afterwards.

        TARGET (see fullgraph check) runs with cold compiler caches, then with warm ones, each time in a
        new process. The report shows both times, the share of each part of the compiler, and which
        graphs the warm caches lack, with the reason.

        The exit code is 0 if nothing fails, 1 if something does, and 2 if the target could not be
        started.
        """,
    ),
)
