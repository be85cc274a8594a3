"""Text for people: what each graph became, launch by launch; the code itself goes into a folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from rich.text import Text

from ...engine.artifacts import documents_of
from ...engine.kernels import operators, spans_of
from ...engine.report import Launch, Report, Span
from ...engine.tables import aligned
from ...engine.wording import plural
from .checked import Checked, shown_path
from .text import plain_console, print_finding

_INDEX = "index.md"


def write(reports: Iterable[Checked], targets: int, out: TextIO, folder: Path | None = None) -> None:  # noqa: ARG001
    """Write each report as it comes, and its code into ``folder``, if there is one."""
    console = plain_console(out)
    for checked in reports:
        report = checked.report
        for code in report.codes:
            console.print(Text(_title(report, code.compile_id, code.phase), "bold"))
            for line in aligned([_row(launch) for launch in code.launches], "<<<"):
                console.print(Text(f"  {line}"))
            console.print()
        for finding in report.findings:
            if finding.severity == "error":
                print_finding(console, checked, finding)
        launches, codes = sum(len(code.launches) for code in report.codes), len(report.codes)
        words = f"{plural(launches, 'kernel launch', 'kernel launches')} in "
        words += plural(codes, "piece of code", "pieces of code")
        if folder is not None and report.codes:
            write_files(report, folder)
            words += f", written to {shown_path(str(folder / _INDEX))}"
        console.print(Text(words if report.codes else "No code was written.", "bold"))


def write_files(report: Report, folder: Path) -> None:
    """Write all that the compiler made of each graph into a folder, with an index."""
    lines = [f"# What torch.compile made of {report.target}"]
    heading = ""
    for document in documents_of(report):
        path = folder / document.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text, "utf-8")
        title = _title(report, document.compile_id, document.phase)
        if title != heading:
            lines += ["", f"## {title}", ""]
            heading = title
        line = f"- [{document.title}]({document.name})"
        if document.launches and not document.built:
            place = _place(spans_of(document.launches))
            line += f": {operators(document.launches)} ({place})"
        lines.append(line)
    (folder / _INDEX).write_text("\n".join(lines) + "\n", "utf-8")


def _title(report: Report, compile_id: str, phase: str) -> str:
    span = next((graph.span for graph in report.graphs if graph.compile_id == compile_id), None)
    at = f", {shown_path(span.filename)}:{span.row}" if span else ""
    return f"Graph {compile_id}{at}" + (f", {phase}" if phase else "")


def _row(launch: Launch) -> tuple[str, str, str]:
    return _place(launch.spans), launch.name, operators([launch])


def _place(spans: Iterable[Span]) -> str:
    """``model.py:7,8``; files with a comma and a blank between them."""
    rows: dict[str, set[int]] = {}
    for span in spans:
        rows.setdefault(span.filename, set()).add(span.row)
    return ", ".join(
        f"{shown_path(name)}:{','.join(map(str, sorted(found)))}" for name, found in rows.items()
    )
