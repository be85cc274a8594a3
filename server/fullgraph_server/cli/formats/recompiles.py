"""Text: each recompiled function with causes and callers, then a summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.text import Text

from ...report.profile import FunctionProfile, cost, dynamic_sentence, profiles, sentence
from ...text.messages import what_changed
from ...workspace.positions import Span
from ..output import clean_console
from .checked import Checked
from .places import shown_row
from .text import print_finding, run_words, trial_of_dynamic, wrapped

_MOST_CALLS = 8
_MOST_FUNCTIONS = 5
"""A result with more of them is long: its sum stands at its beginning, too."""
_HELP = "help: "


def write(reports: Iterable[Checked], targets: int, out: TextIO) -> None:  # noqa: ARG001
    """Write each report as soon as it is complete."""
    console = clean_console(out)
    for checked in reports:
        report = checked.report
        recompiled = profiles(report)
        if len(recompiled) > _MOST_FUNCTIONS:
            console.print(Text(f"{sentence(report)} The most frequent first:", "bold"))
            console.print()
        for profile in recompiled:
            for line in _lines(checked, profile, console.width if console.is_terminal else None):
                console.print(line)
            console.print()
        for finding in report.findings:
            if finding.severity == "error" or finding.kind == "target-error":
                print_finding(console, checked, finding)
        if checked.dynamic is None and (command := trial_of_dynamic(checked)):
            console.print(Text(command))
        console.print(Text(sentence(report).rstrip(".") + run_words(report), "bold"))
        if checked.dynamic is not None:
            console.print(Text(dynamic_sentence(report, checked.dynamic), "bold"))


def _lines(checked: Checked, profile: FunctionProfile, width: int | None) -> Iterator[Text]:
    frame = profile.frame
    counts = [item.count for item in (*profile.causes, *profile.breaks)]
    counts += [count for _, count in profile.callers]
    digits = len(str(max(counts, default=0)))
    indent = " " * (digits + 6)

    yield Text.assemble((f"{shown_row(frame.filename, frame.row)} {frame.qualname}", "bold"))
    yield Text(f"  {cost(profile)}")
    yield Text("  causes", "bold")
    printed: set[str] = set()
    for cause in profile.causes:
        words = what_changed(cause.finding.message)
        yield Text.assemble(_times(cause.count, digits), (words, "bold blue"))
        yield Text(indent + _code(checked, cause.finding.span))
        for hint in dict.fromkeys(hint for hint in cause.finding.hints if hint not in printed):
            printed.add(hint)
            first, *others = wrapped(hint, len(indent + _HELP), width)
            yield Text(indent + _HELP + first)
            yield from (Text(" " * len(indent + _HELP) + line) for line in others)
    if profile.callers:
        yield Text("  called from", "bold")
    for span, count in profile.callers[:_MOST_CALLS]:
        yield Text(_times(count, digits) + _code(checked, span))
    if (more := len(profile.callers) - _MOST_CALLS) > 0:
        yield Text(f"{indent}and {more} more")
    if profile.breaks:
        yield Text("  graph breaks", "bold")
    for cause in profile.breaks:
        words = f"{cause.finding.code} {cause.finding.message}"
        yield Text.assemble(_times(cause.count, digits), (words, "bold yellow"))
        yield Text(indent + _code(checked, cause.finding.span))


def _times(count: int, digits: int) -> str:
    return f"    {count:>{digits}}× "


def _code(checked: Checked, span: Span) -> str:
    """Return a place with its line of code."""
    source = checked.workspace.source(span.filename)
    code = source.line(span.row).strip() if source else ""
    return f"{shown_row(span.filename, span.row)}  {code}".rstrip()
