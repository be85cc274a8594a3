"""Text for people: each function that was compiled again, why, and from where; then what that comes to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.text import Text

from ...report.profile import FunctionProfile, cost, profiles, sentence
from ...text.messages import what_changed
from ...workspace.positions import Span
from ..output import clean_console
from .checked import Checked, shown_path
from .text import print_finding, run_words, wrapped

_MOST_CALLS = 8
_HELP = "help: "


def write(reports: Iterable[Checked], targets: int, out: TextIO) -> None:  # noqa: ARG001
    """Write each report as it comes."""
    console = clean_console(out)
    for checked in reports:
        report = checked.report
        for profile in profiles(report):
            for line in _lines(checked, profile, console.width if console.is_terminal else None):
                console.print(line)
            console.print()
        for finding in report.findings:
            if finding.severity == "error" or finding.kind == "target-error":
                print_finding(console, checked, finding)
        console.print(Text(sentence(report).rstrip(".") + run_words(report), "bold"))


def _lines(checked: Checked, profile: FunctionProfile, width: int | None) -> Iterator[Text]:
    frame = profile.frame
    counts = [item.count for item in (*profile.causes, *profile.breaks)]
    counts += [count for _, count in profile.callers]
    digits = len(str(max(counts, default=0)))
    indent = " " * (digits + 6)

    yield Text.assemble((f"{shown_path(frame.filename)}:{frame.row} {frame.function}", "bold"))
    yield Text(f"  {cost(profile)}")
    yield Text("  causes", "bold")
    told: set[str] = set()
    for cause in profile.causes:
        words = what_changed(cause.finding.message)
        yield Text.assemble(_times(cause.count, digits), (words, "bold blue"))
        yield Text(indent + _code(checked, cause.finding.span))
        for hint in dict.fromkeys(hint for hint in cause.finding.hints if hint not in told):
            told.add(hint)
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
    for found in profile.breaks:
        words = f"{found.finding.code} {found.finding.message}"
        yield Text.assemble(_times(found.count, digits), (words, "bold yellow"))
        yield Text(indent + _code(checked, found.finding.span))


def _times(count: int, digits: int) -> str:
    return f"    {count:>{digits}}× "


def _code(checked: Checked, span: Span) -> str:
    """A place, with the line of code that is there."""
    source = checked.workspace.source(span.filename)
    code = source.line(span.row).strip() if source else ""
    return f"{shown_path(span.filename)}:{span.row}  {code}".rstrip()
