"""Formats of ``fullgraph sizes``: text, JSON, and a unified diff."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TextIO, TypeAlias

from fullgraph_compiler.facts import SizeOutcome, SizeTried
from rich.text import Text

from ...fixes.model import Fix
from ...fixes.sizes import SOURCES, SizePlan, refused_mark, times_compiled
from ...fixes.words import unified_diff
from ...report.model import Finding, FrameReport, Report
from ...shapes.shape import JsonKey, shape
from ...text.messages import ENDINGS
from ...text.visible import visible
from ...workspace.targets import Target
from ..output import clean_console, print_diff, tell, write_line, write_object
from .checked import shown_path
from .places import in_cells, shown_place, shown_row

_BAD: Final = ("differs", "raises")
_OUTCOMES: Final[Mapping[SizeOutcome, str]] = {
    "equal": "equal to eager",
    "differs": "differs from eager",
    "compiles-again": "torch compiles again",
    "raises": "torch raises an error where eager does not",
    "refused": "refused by the program itself, uncompiled",
    "unsteady": "not compared",
    "untried": "not tried",
    "unknown": "there is no such size",
}
_AT_ITS_END: Final = ("finished", "exited")


@dataclass(frozen=True)
class TargetSizes:
    """The result of ``fullgraph sizes``: the plan of sizes, and tried sizes."""

    target: Target
    found: SizePlan
    sources: str
    """The value of ``TORCH_COMPILE_DYNAMIC_SOURCES`` with the same effect as the plan; empty if unknown."""
    applied: bool = False
    refusal: str = ""
    """Why nothing was written despite ``--apply``; else empty."""

    @property
    def is_sound(self) -> bool:
        """Whether each function compiles once, and every tried size gives right results."""
        last = self.found.last
        wrong = [
            item for item in last.sizes if item.outcome in _BAD or (item.asked and item.outcome == "untried")
        ]
        is_known = not self.found.nondeterminism and last.report.status in _AT_ITS_END
        return is_known and not self.found.left and not wrong

    def with_writing(self, refusal: str) -> TargetSizes:
        """Return a copy that says whether the plan was written.

        ``refusal`` is the reason why nothing was written; empty if the plan was written.
        """
        return replace(self, applied=not refusal, refusal=refusal)


SizesFormat: TypeAlias = Callable[[TargetSizes, TextIO], None]
"""A function that writes the result for a target to a stream."""


def write(sized: TargetSizes, out: TextIO) -> None:
    """Write compilations and their causes, the plan, and results with other sizes.

    The plan is written as a diff.
    """
    console = clean_console(out)
    found = sized.found
    base, last = found.base.report, found.last.report
    for text in _compilations(base):
        console.print(text)
    if base.problem is not None and base.status not in _AT_ITS_END:
        console.print(Text(visible(refused_mark(base) or base.problem.message), "red"))
    if found.texts:
        console.print()
    print_diff(console, unified_diff(found.texts, os.getcwd()))
    if sized.sources:
        console.print()
        console.print(Text(f'The same without an edit: {SOURCES}="{visible(sized.sources)}"', "bold"))
        console.print(Text("  (a run with it was compiled as often, and its results were equal)"))
    for finding in found.left if not found.nondeterminism else ():
        console.print(Text(f"left: {shown_place(finding)} {visible(finding.message)}", "yellow"))
        for hint in finding.hints[:1]:
            console.print(Text(f"  {visible(hint)}"))
    for reason in found.reasons:
        console.print(Text(f"  not verified: {visible(reason)}"))
    console.print()
    for line in tried_words(found.last.sizes):
        console.print(Text(visible(line)))
    if not found.last.sizes and _frames(last) and last.status in _AT_ITS_END:
        console.print(
            "No other size was tried: none varies or is marked. Add some with --sizes", markup=False
        )
    if found.nondeterminism:
        console.print(Text(f"No edit could be verified: {visible(found.nondeterminism)}.", "bold"))
    console.print(Text(summary(sized), "bold"))


def write_diff(sized: TargetSizes, out: TextIO) -> None:
    """Write the plan as a unified diff for ``git apply``."""
    for line in unified_diff(sized.found.texts, os.getcwd()):
        write_line(out, line)
    tell(summary(sized))


def write_json(sized: TargetSizes, out: TextIO) -> None:
    """Write the result as one JSON object."""
    write_object(out, in_cells(SHAPE.object(sized)))


SIZES_FORMATS: Final[Mapping[str, SizesFormat]] = {"text": write, "json": write_json, "diff": write_diff}


def summary(sized: TargetSizes) -> str:
    """Return the result in one line."""
    found = sized.found
    if found.base.report.status == "not-started":
        return ENDINGS["not-started"]
    if found.base.report.status not in _AT_ITS_END:
        return "no plan: the unmodified program does not finish"
    counts = [times_compiled(frame)[0] for frame in _frames(found.last.report)]
    if not counts:
        return "nothing was compiled"
    often = "compiled once" if max(counts) == 1 else f"compiled up to {max(counts)} times"
    wrong = next((item for item in found.last.sizes if item.outcome in _BAD), None)
    parts = [f"{often} with the plan" if found.texts else often]
    if wrong is not None:
        what = "results differ" if wrong.outcome == "differs" else "torch raises an error"
        parts.append(f"{what} at {wrong.place} = {wrong.size}")
    if found.texts:
        parts.append("written" if sized.applied else sized.refusal or "write it with --apply")
    return " - ".join(parts)


def tried_words(tried: Iterable[SizeTried]) -> Iterator[str]:
    """Yield lines with results of other sizes, by function, dimension and outcome."""
    groups: dict[tuple[Any, ...], list[SizeTried]] = {}
    for item in tried:
        key = item.function, item.place, item.along, item.outcome, item.asked, item.backward
        groups.setdefault(key, []).append(item)
    for group in groups.values():
        first = group[0]
        sizes = ", ".join(str(item.size) for item in group)
        along = f" (with {', '.join(first.along)})" if first.along else ""
        seen = "" if first.asked else ", not seen before"
        words = _OUTCOMES[first.outcome] + (", gradients too" if first.backward else "")
        if first.words:
            words += f" ({first.size}: {first.words})" if len(group) > 1 else f": {first.words}"
        yield f"`{first.function}` at {first.place} = {sizes}{along}{seen}: {words}"


def _compilations(report: Report) -> Iterator[Text]:
    for frame in _frames(report):
        number, parts = times_compiled(frame)
        if number == 1 and os.path.isabs(shown_path(frame.filename)):
            continue  # a library's
        times = "once" if number == 1 else f"{number} times"
        times += f", in {parts} parts" if parts > 1 else ""
        place = f"{shown_row(frame.filename, frame.row)}"
        yield Text.assemble((place, "bold"), f" `{visible(frame.qualname)}` was compiled {times}")
        own = set(frame.compile_ids)
        for finding in report.findings:
            if finding.kind in ("recompile", "recompile-limit") and own & finding.compile_ids:
                yield Text(f"  {shown_place(finding)} {visible(finding.message)}")


def _frames(report: Report) -> list[FrameReport]:
    return [frame for frame in report.frames if frame.compile_ids]


_FUNCTION: Final = shape(
    FrameReport,
    "name=qualname",
    "file=filename",
    "row",
    JsonKey("compilations", value=lambda frame, _: times_compiled(frame)[0], type=int),
    JsonKey("parts", value=lambda frame, _: times_compiled(frame)[1], type=int),
)
_FINDING: Final = shape(Finding, "file=span.filename", "row=span.row", "column=span.column", "message")
SHAPE: Final = shape(
    TargetSizes,
    "target=target.id",
    "torch=found.base.report.torch",
    "status=found.base.report.status",
    JsonKey(
        "functions",
        value=lambda sized, _: _frames(sized.found.base.report),
        type=list[FrameReport],
        shape=_FUNCTION,
    ),
    JsonKey(
        "functions_after",
        value=lambda sized, _: _frames(sized.found.last.report),
        type=list[FrameReport],
        shape=_FUNCTION,
    ),
    JsonKey(
        "recompilations",
        value=lambda sized, _: [
            item for item in sized.found.base.report.findings if item.kind == "recompile"
        ],
        type=list[Finding],
        shape=_FINDING,
    ),
    "nondeterminism=found.nondeterminism",
    JsonKey("plan", "found.fixes", shape(Fix, "rule", "title", "change")),
    JsonKey(
        "files",
        value=lambda sized, _: {name: after for name, (_, after) in sized.found.texts.items()},
        type=dict[str, str],
    ),
    "dynamic_sources=sources",
    JsonKey("left", "found.left", _FINDING),
    "reasons=found.reasons",
    JsonKey(
        "sizes",
        "found.last.sizes",
        shape(
            SizeTried, "function", "size_of=place", "size", "outcome", "words", "along", "asked", "backward"
        ),
    ),
    "applied",
)
"""The JSON object of the result for a target: the plan and the tried sizes."""
