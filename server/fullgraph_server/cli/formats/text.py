"""Text: each finding with its source code, then a summary in one line."""

from __future__ import annotations

import itertools
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from fullgraph_compiler.facts import Script
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ...analyses.suitability import unsuited
from ...kinds import KINDS, FindingKind
from ...report.model import ExportedProgram, Finding, Report
from ...text import devices
from ...text.messages import ENDINGS, counted
from ...text.remedies import is_mended_by_dynamic
from ...text.tables import wrapped
from ...text.visible import visible
from ...text.vllm import vllm_lines
from ...workspace.positions import Span, StackCall
from ...workspace.source import SourceFile
from ..output import clean_console
from ..resolve import as_typed
from .checked import CheckedReport
from .places import shown_row

_COLOURS = {"error": "bold red", "warning": "bold yellow", "information": "bold blue"}
_SEVERITIES = {"error": "error", "warning": "warning", "information": "info"}
_GUTTER = "blue"
_MOST_ROWS = 6
_MOST_CALLS = 8


def write(reports: Iterable[CheckedReport], targets: int, out: TextIO) -> None:
    """Write each report's new findings and summary when it is complete, then totals."""
    console = clean_console(out)
    written: list[Report] = []
    for checked in reports:
        written.append(checked.report)
        for finding in checked.new_findings:
            print_finding(console, checked, finding)
        name = f"{checked.target.label}: " if targets > 1 else ""
        if checked.known is not None and (count := len(checked.known.findings)):
            words = counted(count, "finding is", "findings are")
            console.print(Text(f"{name}{words} in the baseline {checked.known.baseline}"))
        for export in checked.report.exports:
            console.print(Text(exported(export)))
        for line in itertools.chain.from_iterable(map(vllm_lines, checked.report.vllm)):
            console.print(Text(visible(line)))
        if command := sizes_command(checked):
            console.print(Text(command))
        console.print(Text(name + summary(checked.report, says_all=targets == 1), "bold"))
        if targets > 1:
            console.print()
    if targets > 1:
        console.print(Text(sums(written, targets), "bold"))


def exported(export: ExportedProgram) -> str:
    """Write ``exported Block.forward: 5 operations, for 2 <= x.shape[0] <= 64``."""
    sizes = f", for {' and '.join(export.sizes)}" if export.sizes else ""
    return f"exported {export.function or 'a program'}: {counted(export.ops, 'operation')}{sizes}"


def sizes_command(checked: CheckedReport) -> str:
    """Return a line that suggests ``fullgraph sizes``, or an empty string.

    It is suggested if untried advice makes sizes dynamic and the target can run again.
    """
    untried = (item for finding in checked.new_findings for item in finding.advice if not item.helps)
    is_advised = any(is_mended_by_dynamic(item.remedies) for item in untried)
    if not checked.report.repeatable or checked.report.dry or not is_advised:
        return ""
    if unsuited(checked.target, "sizes"):
        return ""
    program = checked.target.program
    arguments = f" -- {shlex.join(program.args)}" if isinstance(program, Script) and program.args else ""
    return f"Plan dynamic sizes: fullgraph sizes {as_typed(checked.target)}{arguments}"


def print_finding(console: Console, checked: CheckedReport, finding: Finding) -> None:
    """Print a finding, followed by an empty line."""
    for line in finding_lines(checked, finding, console.width if console.is_terminal else None):
        console.print(line)
    console.print()


def print_failures(console: Console, checked: CheckedReport) -> None:
    """Print the findings that say why the program or the compiler stopped."""
    for finding in checked.report.findings:
        if KINDS[finding.kind].is_failure:
            print_finding(console, checked, finding)


def finding_lines(checked: CheckedReport, finding: Finding, width: int | None) -> Iterator[Text]:
    """Yield a finding's lines, with notes wrapped to ``width`` columns, if given."""
    span, colour, severity = finding.span, _COLOURS[finding.severity], _SEVERITIES[finding.severity]
    if finding.of_run:
        yield Text.assemble((severity, colour), ": ", (finding.message, "bold"))
    else:
        place = f"{shown_row(span.filename, span.row)}:{span.column}"
        yield Text.assemble(
            (place, "bold"), " ", (f"{severity} {finding.code}", colour), " ", (finding.message, "bold")
        )
    source = None if finding.of_run else checked.workspace.source(span.filename)
    gutter = len(str(span.end_row)) + 1
    excerpt = list(_excerpt(source, finding, gutter)) if source else []
    yield from excerpt
    labelled = labelled_notes(finding)
    if not excerpt and not finding.of_run:
        labelled += [("note", label)] if (label := _label(finding)) else []
    if excerpt and labelled:
        yield _bar(gutter)
    for kind, note in labelled:
        yield from _note(kind, note, gutter, None if kind == "docs" else width)


def labelled_notes(finding: Finding) -> list[tuple[str, str]]:
    """Return pairs of a label and a note: reason, hints, callers, torch's page."""
    notes = [("note", finding.explanation.strip().partition("\n\n")[0])] if finding.explanation else []
    notes += [("help", hint) for hint in finding.hints]
    notes += [("called from", calls)] if (calls := _other_calls(finding)) else []
    return [*notes, ("docs", finding.url)] if finding.url else notes


def summary(report: Report, *, says_all: bool = True) -> str:
    """Write ``2 graph breaks in 1 function (3 graphs, ran 0.6 s) - torch 2.13.0``.

    If there are no findings and ``says_all`` is true, the summary adds that results were not compared.
    """
    parts = _counts(report.findings)
    graphs = sum(frame.graphs for frame in report.frames)
    taken = f"{'compiled in' if report.of_trace else 'ran'} {report.seconds:.1f} s"
    if report.frames:
        none = "no problems" if _is_ahead_of_time(report) else "no graph breaks, no recompilations"
        nothing = "no other findings" if report.ignored else none
        outcome = ", ".join(parts) or nothing
        outcome += f" in {counted(len(report.frames), 'function')}"
        outcome += f" on {len(report.ranks)} ranks" if report.ranks else ""
        outcome += f" ({counted(graphs, 'graph')}"
        # The log of an export does not say how long it takes.
        outcome += ")" if report.of_trace and not report.seconds else f", {taken})"
    else:
        outcome = ", ".join([*parts, "nothing was compiled"])
        outcome += "" if report.of_trace else f" ({taken})"
    ending = ENDINGS.get(report.status) if report.status else None
    compared = _NOT_COMPARED if says_all and _is_clean(report) else ""
    return (f"{ending}: {outcome}" if ending else outcome) + run_words(report) + compared


_NOT_COMPARED = " - results not compared (fullgraph stages does)"


def _is_clean(report: Report) -> bool:
    """Return whether a run compiled something and has no findings."""
    compiles = bool(report.frames) and not _is_ahead_of_time(report)
    is_run = not (report.of_trace or report.dry)
    return compiles and is_run and not report.ignored and not _counts(report.findings)


def _is_ahead_of_time(report: Report) -> bool:
    """Return whether ``torch.export`` or AOTInductor made every compilation."""
    names = (name for frame in report.frames for name in frame.compile_ids)
    return all(name.startswith(("export/", "aot/")) for name in names)


def sums(reports: Sequence[Report], targets: int) -> str:
    """Write ``3 targets, 1 not started: 2 graph breaks (5 graphs, ran 3.6 s)``."""
    number = counted(targets, "target")
    ran = number if len(reports) == targets else f"{len(reports)} of {number}"
    endings: Counter[str | None] = Counter(report.status for report in reports)
    ended = [f"{endings[status]} {words}" for status, words in ENDINGS.items() if endings[status]]
    found = ", ".join(_counts(finding for report in reports for finding in report.findings))
    graphs = sum(frame.graphs for report in reports for frame in report.frames)
    taken = f"({counted(graphs, 'graph')}, ran {sum(report.seconds for report in reports):.1f} s)"
    compared = _NOT_COMPARED if not found and any(map(_is_clean, reports)) else ""
    return f"{', '.join([ran, *ended])}: {found or 'no findings'} {taken}{compared}"


def _counts(findings: Iterable[Finding]) -> list[str]:
    counts: Counter[FindingKind] = Counter()
    for finding in findings:
        if finding.kind == "target-error" and finding.severity == "information":
            continue  # a note is not a problem
        if finding.kind == "nothing-compiled" and finding.of_run:
            continue  # the rest of the line says so
        counts[finding.kind] += finding.times
    return [kind.counted(counts[name]) for name, kind in KINDS.items() if counts[name]]


def run_words(report: Report) -> str:
    """Write the end of a summary: torch's version, and notes.

    Example: `` - torch 2.13.0``. The notes are about ignored findings, parts of the compiler that were left
    out, dry runs, and discarded file changes.
    """
    notes = [f"torch {report.torch}"] if report.torch else []
    notes += [f"{counted(len(report.ignored), 'finding')} ignored"] if report.ignored else []
    if report.left_out:
        them = "it" if len(report.left_out) == 1 else "them"
        notes.append(f"{devices.left_out_words(report.left_out)} (fullgraph kernels runs {them})")
    notes += [devices.sentence(report.dry)] if report.dry else []
    notes += [devices.files_words(report.discarded)] if report.discarded else []
    return "".join(f" - {note}" for note in notes)


# -- the source --------------------------------------------------------------------------------


def _excerpt(source: SourceFile, finding: Finding, gutter: int) -> Iterator[Text]:
    span = finding.span
    if not source.line(span.row).strip():
        return
    rows = range(span.row, span.end_row + 1)
    above = span.row - 1
    is_beside = source.cell(above)[0] == source.cell(span.row)[0]
    before = [above] if is_beside and source.line(above).strip() else []
    yield _bar(gutter)
    for row in (*before, *rows[:_MOST_ROWS]):
        yield _bar(gutter, str(source.cell(row)[1])).append(" " + _shown(source.line(row)))
        if row >= span.row:
            last = row == rows[:_MOST_ROWS][-1]
            underline = _underline(source, span, row)
            label = f" {_label(finding)}".rstrip() if last else ""
            yield _bar(gutter).append(" ").append(underline + label, _COLOURS[finding.severity])
    if len(rows) > _MOST_ROWS:
        yield _bar(gutter, "...")


def _underline(source: SourceFile, span: Span, row: int) -> str:
    line = source.line(row)
    start = span.column if row == span.row else len(line) - len(line.lstrip()) + 1
    end = span.end_column if row == span.end_row else len(line.rstrip()) + 1
    width = max(cell_len(_shown(line[: end - 1])) - cell_len(_shown(line[: start - 1])), 1)
    return " " * cell_len(_shown(line[: start - 1])) + "^" * width


def _label(finding: Finding) -> str:
    kind = finding.kind.replace("-", " ") if finding.code != finding.kind else ""
    times = f"in {KINDS[finding.kind].seen_in(finding.count)}"
    times = times if finding.count > 1 and finding.kind != "recompile" else ""
    return " ".join(part for part in (kind, times) if part)


def _bar(gutter: int, row: str = "") -> Text:
    return Text.assemble((f"{row:>{gutter}} |", _GUTTER))


def _shown(code: str) -> str:
    return visible(code.replace("\t", "    "))


# -- notes -------------------------------------------------------------------------------------


def _note(kind: str, note: str, gutter: int, width: int | None) -> Iterator[Text]:
    label = f"{kind}: "
    indent = gutter + 3 + len(label)
    lines = [part for line in note.splitlines() for part in wrapped(line, indent, width)]
    for number, line in enumerate(lines):
        if number:
            yield Text(" " * indent + line)
        else:
            yield Text.assemble((f"{'=':>{gutter + 2}} ", _GUTTER), (label, "bold"), line)


def _other_calls(finding: Finding) -> str:
    """Return the calls that led to the finding, a line each, the innermost first.

    Lines for calls that led to further recompilations of the same finding follow. The text is empty if the
    only call is that of the module which contains the finding.
    """
    own = next(
        (
            index
            for index in reversed(range(len(finding.stack)))
            if (finding.stack[index].filename, finding.stack[index].row)
            == (finding.span.filename, finding.span.row)
        ),
        len(finding.stack),
    )
    calls = finding.stack[:own]
    also = [f"also {_call(call)}" for call in finding.also_from]
    if not also and all(
        call.function == "<module>" and call.filename == finding.span.filename for call in calls
    ):
        return ""
    lines = (_at_most_calls([_call(call) for call in reversed(calls)]), _at_most_calls(also))
    return "\n".join(itertools.chain.from_iterable(lines))


def _call(call: StackCall) -> str:
    return f"{shown_row(call.filename, call.row)} in {call.function}"


def _at_most_calls(shown: list[str]) -> list[str]:
    more = len(shown) - _MOST_CALLS
    return shown if more <= 0 else [*shown[:_MOST_CALLS], f"and {more} more"]
