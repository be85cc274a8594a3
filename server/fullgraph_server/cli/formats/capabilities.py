"""The kernels that an interpreter's torch can preview, as text.

Each function of the self-test has a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from ...report.model import FrameReport, Report
from ...text.tables import aligned
from ..output import write_line
from . import CheckedReport


def write(checked: Iterable[CheckedReport], _: int, out: TextIO) -> None:
    """Write for each function whether its kernels can be previewed, or why not."""
    for item in checked:
        report = item.report
        rows = [(frame.function.replace("_", " "), _capability(report, frame)) for frame in report.frames]
        if report.codes:
            for line in aligned([(f"torch {report.torch}", ""), *rows], "<<"):
                write_line(out, line.rstrip())
        for problem in _problems(report):
            write_line(out, problem)


def _capability(report: Report, frame: FrameReport) -> str:
    codes = [code for code in report.codes if code.compile_id in frame.compile_ids]
    built = [launch.built for code in codes for launch in code.launches if launch.built is not None]
    problems = [kernel.problem for kernel in built if kernel.problem]
    failed = [item.message for item in report.findings if item.compile_ids & {*frame.compile_ids}]
    if problems or not codes:
        return f"no: {(*problems, *failed, 'no code was written')[0]}"
    phases = " and ".join(dict.fromkeys(code.phase for code in codes if code.phase != "inference"))
    forms = dict.fromkeys(name.upper() for kernel in built for name, _ in kernel.texts)
    return f"yes: {', '.join(filter(None, (phases, *forms)))}"


def _problems(report: Report) -> Iterator[str]:
    if report.dry is not None:
        yield from report.dry.unknown
    for finding in report.findings:
        if finding.kind == "target-error":
            yield from (finding.message, *finding.hints)
