"""Speed: how fast compiled calls are, and why they are not faster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from ..report.measured.speed import memory_words, outside_words
from ..report.model import Finding, Report, Speed, SpeedCause
from ..text.durations import duration, scaled
from ..text.messages import counted
from ..text.tables import aligned
from .analysis import Analysis, InEditor, OnCommandLine
from .shown import BLANK, Line, Shown, line

_BAR: Final = 24
_MOST_CAUSES: Final = 8


def _lines(shown: Shown) -> Iterator[Line | Finding]:
    yield from shown.failures()
    speed = shown.report.speed
    if speed is None:
        return
    yield line(speed.verdict, "bold")
    yield from (*_details(speed), *_table(speed), *_causes(shown, speed))


def _details(speed: Speed) -> Iterator[Line]:
    measured, machine = speed.measured, speed.machine
    if not measured.compiled:
        return
    yield BLANK
    if measured.eager:
        samples = f"{counted(measured.samples, 'sample')} of {counted(measured.calls, 'call')}"
        interval = f"{measured.low:.2f} to {measured.high:.2f} times as fast"
        yield line(
            f"A call takes {duration(measured.compiled)} compiled, {duration(measured.eager)} uncompiled "
            f"({interval}, {samples} of {', '.join(measured.functions)})."
        )
    else:
        yield line(f"A call takes {duration(measured.compiled)} compiled.")
    if machine is not None:
        threads = f", {counted(machine.threads, 'thread')}" if machine.threads else ""
        vectors = f", {machine.vectors}" if machine.vectors else ", no vector instructions" if threads else ""
        gigabytes = f"{machine.bandwidth / 1e9:.0f} GB/s of memory bandwidth"
        flops = f", {scaled(machine.flops, 1000, ('FLOPS', 'kFLOPS', 'MFLOPS', 'GFLOPS', 'TFLOPS'))}"
        yield line(f"{machine.name}{threads}{vectors}, {gigabytes}{flops if machine.flops else ''}.")
    yield from map(line, filter(None, (memory_words(speed), outside_words(measured))))


def _table(speed: Speed) -> Iterator[Line]:
    if not speed.parts:
        return
    yield BLANK
    rows = [
        (part.label, duration(part.seconds), f"{part.share:.0%}", "█" * round(part.share * _BAR))
        for part in sorted(speed.parts, key=lambda part: -part.seconds)
    ]
    yield from map(line, aligned(rows, "<>><"))


def _causes(shown: Shown, speed: Speed) -> Iterator[Line]:
    causes = speed.telling_causes
    if not causes:
        return
    yield BLANK
    yield line("What takes the time, and how much of it could go:")
    for cause in causes[:_MOST_CAUSES]:
        place = f"{shown.at(cause.span)}: " if cause.span else ""
        yield line(f"  {place}{cause.message} (-{cause.gain / speed.measured.compiled:.0%})")
        if cause.hint:
            yield line(f"    {cause.hint}")


def _as_json(report: Report, common: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - an object of its own
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


ANALYSIS: Final = Analysis(
    id="speed",
    label="speed",
    doing="measuring the speed of {target}",
    # What makes calls of the program again must change no file.
    switches={"files": "discard"},
    in_one_process="speed is measured",
    repeats=True,
    verdict=lambda report: report.speed.verdict if report.speed else None,
    lines=_lines,
    as_json=_as_json,
    in_editor=InEditor(
        command="fullgraph.speed",
        client="measureSpeed",
        title="Why Is It Not Faster?",
        question="Compiled calls beside uncompiled ones, what their time goes to, and why",
        group="speed",
        menu="analyses",
        opens="report",
        announced=True,
    ),
    on_command_line=OnCommandLine(
        name="speed",
        answer="Why is it not faster? Compiled calls measured beside uncompiled ones, and one sentence on "
        "what takes the time, by line.",
        page="docs/speed.md",
    ),
)
