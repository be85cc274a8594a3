"""Text: how fast compiled calls are and why, in one sentence, then the parts of their time and the causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, Final, TextIO

from rich.text import Text

from ...report.measured.speed import memory_words, outside_words
from ...report.model import Report, Speed, SpeedCause
from ...text.durations import duration, scaled
from ...text.messages import counted
from ...text.tables import aligned
from ..output import clean_console, write_object
from .checked import Checked, shown_path
from .text import print_failures

_BAR: Final = 24
_MOST_CAUSES: Final = 8


def write(reports: Iterable[Checked], targets: int, out: TextIO) -> None:  # noqa: ARG001
    """Write each report as soon as it is complete."""
    console = clean_console(out)
    for checked in reports:
        print_failures(console, checked)
        speed = checked.report.speed
        if speed is None:
            continue
        console.print(Text(speed.verdict, "bold"))
        for line in (*_details(speed), *_table(speed), *_causes(speed)):
            console.print(Text(line))


def write_json(reports: Iterable[Checked], targets: int, out: TextIO) -> None:  # noqa: ARG001
    """Write one object a target, with all seconds of one call."""
    for checked in reports:
        write_object(out, speed_object(checked.report))


def speed_object(report: Report) -> dict[str, Any]:
    """Return a report's speed for JSON."""
    head = {"target": report.target, "torch": report.torch, "status": report.status}
    speed = report.speed
    if speed is None:
        problem = report.problem
        return {**head, "verdict": None, "problem": problem.message if problem else None}
    measured = asdict(speed.measured)
    del measured["parts"]
    return {
        **head,
        "verdict": speed.verdict,
        **measured,
        "parts": [asdict(part) for part in speed.parts],
        "first": _cause_object(speed.first) if speed.first else None,
        "causes": [_cause_object(cause) for cause in speed.causes],
        "kernels": [asdict(part) for part in speed.measured.parts if part.kind == "kernel"],
        "machine": asdict(speed.machine) if speed.machine else None,
        "memory": _memory_object(speed),
    }


def _memory_object(speed: Speed) -> dict[str, Any] | None:
    if speed.memory is None:
        return None
    held = [{"bytes": item.size, "file": item.span.filename, "line": item.span.row} for item in speed.held]
    return {"compiled": speed.memory.compiled, "eager": speed.memory.eager, "held": held}


def _cause_object(cause: SpeedCause) -> dict[str, Any]:
    span = cause.span
    return {
        "kind": cause.kind,
        "seconds": cause.seconds,
        "gain": cause.gain,
        "message": cause.message,
        "hint": cause.hint,
        "file": span.filename if span else None,
        "line": span.row if span else None,
    }


def _details(speed: Speed) -> Iterator[str]:
    measured, machine = speed.measured, speed.machine
    if not measured.compiled:
        return
    yield ""
    if measured.eager:
        samples = f"{counted(measured.samples, 'sample')} of {counted(measured.calls, 'call')}"
        interval = f"{measured.low:.2f} to {measured.high:.2f} times as fast"
        yield (
            f"A call takes {duration(measured.compiled)} compiled, {duration(measured.eager)} uncompiled "
            f"({interval}, {samples} of {', '.join(measured.functions)})."
        )
    else:
        yield f"A call takes {duration(measured.compiled)} compiled."
    if machine is not None:
        threads = f", {counted(machine.threads, 'thread')}" if machine.threads else ""
        vectors = f", {machine.vectors}" if machine.vectors else ", no vector instructions" if threads else ""
        gigabytes = f"{machine.bandwidth / 1e9:.0f} GB/s of memory bandwidth"
        flops = f", {scaled(machine.flops, 1000, ('FLOPS', 'kFLOPS', 'MFLOPS', 'GFLOPS', 'TFLOPS'))}"
        yield f"{machine.name}{threads}{vectors}, {gigabytes}{flops if machine.flops else ''}."
    if memory := memory_words(speed):
        yield memory
    if outside := outside_words(measured):
        yield outside


def _table(speed: Speed) -> Iterator[str]:
    if not speed.parts:
        return
    yield ""
    rows = [
        (part.label, duration(part.seconds), f"{part.share:.0%}", "█" * round(part.share * _BAR))
        for part in sorted(speed.parts, key=lambda part: -part.seconds)
    ]
    yield from aligned(rows, "<>><")


def _causes(speed: Speed) -> Iterator[str]:
    causes = [cause for cause in speed.causes if cause.gain >= 0.01 * speed.measured.compiled]
    if not causes:
        return
    yield ""
    yield "What takes the time, and how much of it could go:"
    for cause in causes[:_MOST_CAUSES]:
        place = f"{shown_path(cause.span.filename)}:{cause.span.row}: " if cause.span else ""
        yield f"  {place}{cause.message} (-{cause.gain / speed.measured.compiled:.0%})"
        if cause.hint:
            yield f"    {cause.hint}"
