"""Speed: how fast compiled calls are, and why they are not faster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fullgraph_compiler.facts import MachineMeasured, OperatorCounted, SpeedMeasured, TimePart

from ..report.measured.model import HeldMemory, MeasuredSpeed, SpeedCause, SpeedPart
from ..report.measured.speed import memory_words, outside_words
from ..report.model import Finding, Report
from ..shapes.shape import JsonKey, shape, whole
from ..text.durations import duration, scaled
from ..text.messages import counted
from ..text.tables import aligned
from .analysis import Analysis, CommandLineAnalysis, EditorAnalysis
from .shown import BLANK, ReportView, StyledLine, line

_BAR: Final = 24
_MOST_CAUSES: Final = 8


def _lines(shown: ReportView) -> Iterator[StyledLine | Finding]:
    yield from shown.failures()
    speed = shown.report.speed
    if speed is None:
        return
    yield line(speed.verdict, "bold")
    yield from (*_details(speed), *_table(speed), *_causes(shown, speed))


def _details(speed: MeasuredSpeed) -> Iterator[StyledLine]:
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


def _table(speed: MeasuredSpeed) -> Iterator[StyledLine]:
    if not speed.parts:
        return
    yield BLANK
    rows = [
        (part.label, duration(part.seconds), f"{part.share:.0%}", "█" * round(part.share * _BAR))
        for part in sorted(speed.parts, key=lambda part: -part.seconds)
    ]
    yield from map(line, aligned(rows, "<>><"))


def _causes(shown: ReportView, speed: MeasuredSpeed) -> Iterator[StyledLine]:
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


_CAUSE: Final = shape(
    SpeedCause, "kind", "seconds", "gain", "message", "hint", "file=span.filename", "line=span.row"
)
_MEMORY: Final = shape(
    MeasuredSpeed,
    "compiled=memory.compiled",
    "eager=memory.eager",
    JsonKey("held", shape=shape(HeldMemory, "bytes=size", "file=span.filename", "line=span.row")),
)
SPEED: Final = shape(
    Report,
    "target",
    "torch",
    "status",
    "verdict=speed.verdict",
    *(
        JsonKey(key.name, f"speed.measured.{key.name}", key.shape)
        for key in whole(SpeedMeasured, "parts", "operators").keys
    ),
    JsonKey("operators", "speed.measured.operators", whole(OperatorCounted)),
    JsonKey("parts", "speed.parts", whole(SpeedPart)),
    JsonKey("first", "speed.first", _CAUSE),
    JsonKey("causes", "speed.causes", _CAUSE),
    JsonKey(
        "kernels",
        value=lambda report, _: [part for part in report.speed.measured.parts if part.kind == "kernel"],
        type=list[TimePart],
        shape=whole(TimePart),
    ),
    JsonKey("machine", "speed.machine", whole(MachineMeasured)),
    JsonKey(
        "memory",
        value=lambda report, _: report.speed if report.speed.memory else None,
        type=MeasuredSpeed | None,
        shape=_MEMORY,
    ),
)
UNMEASURED: Final = shape(
    Report, "target", "torch", "status", "verdict=speed.verdict", "problem=problem.message"
)


ANALYSIS: Final = Analysis(
    id="speed",
    label="speed",
    doing="measuring the speed of {target}",
    # Calls of the program are repeated, which must change no file.
    switches={"files": "discard"},
    in_one_process="speed is measured",
    repeats=True,
    verdict=lambda report: report.speed.verdict if report.speed else None,
    lines=_lines,
    shape=lambda report: SPEED if report.speed else UNMEASURED,
    in_editor=EditorAnalysis(
        command="fullgraph.speed",
        client="measureSpeed",
        title="Why Is It Not Faster?",
        question="Compiled calls compared with uncompiled ones, what takes their time, and why",
        group="speed",
        menu="analyses",
        opens="report",
        announced=True,
    ),
    on_command_line=CommandLineAnalysis(
        name="speed",
        answer="Why is it not faster? Compiled calls compared with uncompiled ones, and one sentence on "
        "what takes the time, by line.",
        page="docs/speed.md",
    ),
)
