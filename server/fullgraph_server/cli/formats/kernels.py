"""Kernels as text: the most expensive kernels, then the launches of each graph.

The code of the kernels is written into a folder, on request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TextIO

from rich.text import Text

from ...report.artifacts import documents_of
from ...report.kernels import (
    by_kernel,
    codes_words,
    cost_words,
    count_launches,
    function_words,
    launch_words,
    operators,
    spans_of,
    total_cost,
)
from ...report.model import GeneratedCode, KernelLaunch, Report
from ...text import devices
from ...text.markdown import escaped, link
from ...text.tables import aligned
from ...workspace.positions import Span
from ..output import clean_console
from .checked import CheckedReport, shown_path
from .places import cell_of, shown_row
from .text import print_finding

INDEX: Final = "index.md"
INDEX_HEAD: Final = "# What torch.compile made of "
_MOST_KERNELS = 10
"""The most kernels in the list of expensive kernels; a result with no more kernels has no such list."""
_MOST_OPERATORS = 6
_MOST_SETTINGS = 4
"""How many of autotuning's rejected candidates are shown; the files list all of them."""


def write(reports: Iterable[CheckedReport], targets: int, out: TextIO, folder: Path | None = None) -> None:  # noqa: ARG001
    """Write each report when it is complete; write the code into ``folder``, if given."""
    console = clean_console(out)
    for checked in reports:
        report = checked.report
        for number, line in enumerate(_head(report)):
            console.print(Text(line, "" if number else "bold"))
        for code in report.codes:
            console.print(Text(_title(report, code.compile_id, code.phase), "bold"))
            for line in _lines(code, report):
                console.print(Text(f"  {line}"))
            console.print()
        for finding in report.findings:
            if finding.severity == "error" or finding.kind == "target-error":
                print_finding(console, checked, finding)
        words = codes_words(report.codes)
        if folder is not None and report.codes:
            write_files(report, folder)
            words += f", written to {shown_path(str(folder / INDEX))}"
        console.print(Text(words, "bold"))
        for line in dry_lines(report):
            console.print(Text(line))


def write_files(report: Report, folder: Path) -> None:
    """Write all artifacts of each graph into a folder, with an index."""
    lines = [f"{INDEX_HEAD}{escaped(report.target)}"]
    if report.dry is not None:
        lines += [
            "",
            escaped(devices.sentence(report.dry)),
            *(f"- {escaped(item)}" for item in report.dry.unknown),
        ]
    heading = ""
    for document in documents_of(report):
        path = folder / document.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text, "utf-8", "backslashreplace")
        title = _title(report, document.compile_id, document.phase)
        if title != heading:
            lines += ["", f"## {escaped(title)}", ""]
            heading = title
        line = f"- {link(document.title, document.name)}"
        if document.launches and not document.built:
            place = _place(spans_of(document.launches))
            line += f": {escaped(f'{operators(document.launches)} ({place})')}"
        lines.append(line)
    (folder / INDEX).write_text("\n".join(lines) + "\n", "utf-8", "backslashreplace")


def dry_lines(report: Report) -> Iterator[str]:
    """Yield a sentence about a dry run, then what a dry run cannot determine.

    Yields nothing if the run was not a dry run.
    """
    if report.dry is not None:
        yield devices.sentence(report.dry)
        yield from (f"- {item}" for item in report.dry.unknown)


def _head(report: Report) -> Iterator[str]:
    """Yield lines with the most expensive kernels and the total, if there are many.

    Costs are TorchInductor's estimates.
    """
    kernels = [(code, launches) for code in report.codes for launches in by_kernel(code).values()]
    costs = [(cost, *kernel) for kernel in kernels if (cost := total_cost(kernel[1])) is not None]
    total = total_cost(launch for code in report.codes for launch in code.launches)
    if len(kernels) <= _MOST_KERNELS or total is None:
        return
    costs.sort(key=lambda item: (item[0].seconds or 0.0, item[0].read + item[0].written), reverse=True)
    rows = [
        (
            f"{count_launches(launches)}×",
            _place(spans_of(launches)),
            f"graph {code.compile_id}" + (f", {code.phase}" if code.phase else ""),
            cost_words(cost, count_launches(launches)),
            launches[0].name,
        )
        for cost, code, launches in costs[:_MOST_KERNELS]
    ]
    yield f"The {len(rows)} most expensive of {len(kernels)} kernels, by TorchInductor's estimate:"
    yield from (f"  {row}" for row in aligned(rows, "><<<<"))
    launches = count_launches(launch for code in report.codes for launch in code.launches)
    yield f"All {launches} launches: {cost_words(total)}"
    yield ""


def _title(report: Report, compile_id: str, phase: str) -> str:
    span = next((graph.span for graph in report.graphs if graph.compile_id == compile_id), None)
    at = f", {shown_row(span.filename, span.row)}" if span else ""
    return f"Graph {compile_id}{at}" + (f", {phase}" if phase else "")


def _lines(code: GeneratedCode, report: Report) -> Iterator[str]:
    """Yield a line for each launch, followed by lines with details.

    The first launch of a built kernel is followed by the result of the build. In a preview, a call of a
    library function is followed by its cost.
    """
    rows = aligned([_row(launch) for launch in code.launches], "<<<")
    indent = " " * (max((len(_place(launch.spans)) for launch in code.launches), default=0) + 2)
    described: set[str] = set()
    for launch, row in zip(code.launches, rows, strict=True):
        yield row
        if launch.built is None:
            previewed = report.dry is not None and report.dry.device
            words = [cost_words(launch.cost)] if previewed and launch.cost else []
        else:
            words = [] if launch.name in described else list(launch_words(launch, _MOST_SETTINGS))
            described.add(launch.name)
        yield from (f"{indent}{line}" for line in words)


def _row(launch: KernelLaunch) -> tuple[str, str, str]:
    names = operators([launch]).split(", ")
    more = f", and {len(names) - _MOST_OPERATORS} more" if len(names) > _MOST_OPERATORS else ""
    return (
        _place(launch.spans),
        launch.name,
        ", ".join(names[:_MOST_OPERATORS]) + more + function_words(launch),
    )


def _place(spans: Iterable[Span]) -> str:
    """Return text like ``model.py:7,8``; files are separated by a comma and a space."""
    rows_of: dict[tuple[str, int], set[int]] = {}
    for span in spans:
        cell, row = cell_of(span.filename, span.row)
        rows_of.setdefault((span.filename, cell), set()).add(row)
    return ", ".join(
        f"{shown_path(name)}:{f'cell {cell}:' if cell else ''}{','.join(map(str, sorted(rows)))}"
        for (name, cell), rows in rows_of.items()
    )
