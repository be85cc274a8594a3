"""Text and JSON of ``fullgraph speed --try``: ways to compile, and the best way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TextIO

from fullgraph_compiler.facts import CallsTimed, VariantMeasured
from rich.text import Text

from ...report.measured.best_variant import LABELS, BestVariant, Goal, advice
from ...report.model import Report
from ...text.durations import duration, size
from ...text.messages import first_line
from ...text.tables import aligned
from ..output import clean_console, write_object
from .checked import CheckedReport
from .text import print_failures


def write(checked: CheckedReport, best: BestVariant | None, goal: Goal, out: TextIO) -> None:  # noqa: ARG001
    """Write the best variant, a table of all variants, and code for the best variant."""
    console = clean_console(out)
    print_failures(console, checked)
    variants = checked.report.of(VariantMeasured)
    if not variants:
        return
    if best is not None:
        console.print(Text(best.sentence, "bold"))
        console.print()
    for line in (*_table(variants), *_notes(variants), *(_code(best) if best else ())):
        console.print(Text(line))


def write_json(checked: CheckedReport, best: BestVariant | None, goal: Goal, out: TextIO) -> None:
    """Write the variants as one JSON object; times of calls are in seconds per call."""
    report: Report = checked.report
    write_object(
        out,
        {
            "target": report.target,
            "torch": report.torch,
            "status": report.status,
            "goal": goal,
            "best": best.variant.variant if best else None,
            "alike": [variant.variant for variant in best.alike] if best else [],
            "verdict": best.sentence if best else None,
            "problem": report.problem.message if report.problem else None,
            "code": advice(best.variant) if best else [],
            "variants": [asdict(variant) for variant in report.of(VariantMeasured)],
        },
    )


VARIANTS_FORMATS = {"text": write, "json": write_json}
"""The formats of ``fullgraph speed --try``."""


def _table(variants: tuple[VariantMeasured, ...]) -> Iterator[str]:
    has_gpu = any(variant.device for variant in variants)
    rows = [("", "cold start", "warm start", "one call", "calls in a row", "peak memory", "")]
    for variant in variants:
        if variant.applies:
            starts = (_start(variant.cold), _start(variant.warm))
            calls = (_call(variant.single), _call(variant.in_row))
            memory = size(variant.memory) if variant.in_row else "-"
            rows.append((LABELS[variant.variant], *starts, *calls, memory, first_line(variant.problem)))
    measured = [(item.single, item.in_row) for item in variants if item.single and item.in_row]
    if measured:  # the least: uncompiled calls, too, enter each part of a variant that compiles parts
        single, in_row = (min(calls.eager for calls in column) for column in zip(*measured, strict=True))
        rows.append(("uncompiled", "-", "-", duration(single), duration(in_row), "-", ""))
    # Without a GPU, both kinds of calls are the same.
    yield from aligned(
        [row if has_gpu else (*row[:4], *row[5:]) for row in rows], "<>>>>><" if has_gpu else "<>>>><"
    )


def _start(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds else "-"


def _call(calls: CallsTimed | None) -> str:
    return duration(calls.seconds) if calls else "-"


def _notes(variants: tuple[VariantMeasured, ...]) -> Iterator[str]:
    yield ""
    if any(variant.device for variant in variants):
        yield "Latency includes waiting for the GPU after each call; throughput, only after the last call."
        yield "Memory is what torch has allocated."
    else:
        yield "Without a GPU, latency and throughput are the same."
        yield "Memory is that of the process, above what it used before the program ran."
    left = [f"{LABELS[item.variant]} ({item.problem})" for item in variants if not item.applies]
    if left:
        yield f"Not tried: {'; '.join(left)}."


def _code(best: BestVariant) -> Iterator[str]:
    lines = advice(best.variant)
    if lines:
        yield ""
        yield from (f"    {line}" for line in lines)
