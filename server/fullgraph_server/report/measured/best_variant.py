"""The best of several ways to compile a program for a goal, with a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from fullgraph_compiler.facts import VariantMeasured, VariantName

from ...text.durations import duration, percent

Goal: TypeAlias = Literal["latency", "throughput", "start"]
"""The time to optimize: of a single call, of calls in a row, or of the compiler at the first start."""

GOALS: Final[tuple[Goal, ...]] = ("latency", "throughput", "start")

LABELS: Final[dict[VariantName, str]] = {
    "as-is": "unchanged",
    "whole": "whole model",
    "block": "repeated block",
    "reduce-overhead": 'mode="reduce-overhead"',
    "max-autotune-no-cudagraphs": 'mode="max-autotune-no-cudagraphs"',
    "dynamic": "dynamic=True",
}
_ALIKE: Final = 1.03
"""The ratio up to which times of calls count as equal; they vary by process with the memory addresses."""
_ALIKE_START: Final = 1.15
"""The ratio up to which times of starts count as equal; each start is measured only once."""


@dataclass(frozen=True)
class BestVariant:
    """The best variant to compile a program.

    ``alike`` are the variants that do not differ by more than the noise, including ``variant``.
    """

    variant: VariantMeasured
    alike: tuple[VariantMeasured, ...]
    sentence: str


def best_for(variants: Sequence[VariantMeasured], goal: Goal) -> BestVariant | None:
    """Return the best variant for a goal; ``None`` if no variant could be measured."""
    measured = [variant for variant in variants if variant.in_row and variant.single]
    if not measured:
        return None
    fastest = min(measured, key=lambda variant: _seconds(variant, goal))
    alike = tuple(variant for variant in measured if _are_alike(fastest, variant, goal))
    best = min(alike, key=lambda variant: _simplest(variant, alike, goal))
    as_it_is = next((variant for variant in measured if variant.variant == "as-is"), None)
    others = [variant for variant in measured if variant is not best]
    words = _clear_words(best, as_it_is, others, goal) if len(alike) == 1 else _alike_words(best, alike, goal)
    return BestVariant(best, alike, words)


def advice(variant: VariantMeasured) -> list[str]:
    """Return the lines of code that compile a program as in a variant.

    There are no lines for the unchanged program.
    """
    match variant.variant:
        case "as-is":
            return []
        case "whole":
            return [f"model.compile()  # the {', '.join(variant.modules)}, instead of its parts"]
        case "block":
            classes = ", ".join(variant.modules)
            named = classes if len(variant.modules) == 1 else f"({classes})"
            return [
                "for module in model.modules():  # instead of compiling the model",
                f"    if isinstance(module, {named}):",
                "        module.compile()",
            ]
    return [f"torch.compile(model, {LABELS[variant.variant]})"]


def _seconds(variant: VariantMeasured, goal: Goal) -> float:
    if goal == "start":
        return variant.cold
    calls = variant.single if goal == "latency" else variant.in_row
    assert calls is not None
    return calls.seconds


def _are_alike(fastest: VariantMeasured, other: VariantMeasured, goal: Goal) -> bool:
    if goal == "start":
        return other.cold <= fastest.cold * _ALIKE_START
    best, calls = (variant.single if goal == "latency" else variant.in_row for variant in (fastest, other))
    assert best is not None
    assert calls is not None
    return calls.low <= best.high or calls.seconds <= best.seconds * _ALIKE


def _simplest(variant: VariantMeasured, alike: Sequence[VariantMeasured], goal: Goal) -> tuple[bool, float]:
    """Return the sort key for variants that are equal for a goal.

    They are sorted by their start times; if the goal is the start, by the times of calls. The unchanged
    program comes first unless another variant is clearly faster in this.
    """
    other: Goal = "latency" if goal == "start" else "start"
    least = min(_seconds(item, other) for item in alike)
    limit = least * (_ALIKE if goal == "start" else _ALIKE_START)
    stays = variant.variant == "as-is" and _seconds(variant, other) <= limit
    return not stays, _seconds(variant, other)


def _clear_words(
    best: VariantMeasured, as_it_is: VariantMeasured | None, others: Sequence[VariantMeasured], goal: Goal
) -> str:
    seconds = _seconds(best, goal)
    takes = f"a start takes {duration(seconds)}" if goal == "start" else f"{duration(seconds)} a call"
    beside = (
        as_it_is if as_it_is is not best else min(others, key=lambda item: _seconds(item, goal), default=None)
    )
    words = f"Best for {goal}: {_named(best)}: {takes}"
    if beside is None:
        return f"{words}."
    less = percent(1 - seconds / _seconds(beside, goal))
    than = "the unchanged program" if beside is as_it_is else f"the next one, {LABELS[beside.variant]}"
    words += f", {less} less than {than}"
    if as_it_is is None or beside is not as_it_is:
        return f"{words}."
    if goal == "start":
        return f"{words}; a call takes {_instead(best, as_it_is, 'latency')}."
    return f"{words}, and it starts in {_instead(best, as_it_is, 'start')}."


def _alike_words(best: VariantMeasured, alike: Sequence[VariantMeasured], goal: Goal) -> str:
    names = [LABELS[variant.variant] for variant in alike]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    words = f"No clear best for {goal}: {listed} differ by no more than the noise here."
    if best.variant == "as-is":
        return f"{words} Leave the program unchanged."
    as_it_is = next((variant for variant in alike if variant.variant == "as-is"), None)
    if goal == "start":
        shows = f"has the fastest calls: {duration(_seconds(best, 'latency'))}"
        instead = as_it_is and f" instead of {duration(_seconds(as_it_is, 'latency'))} unchanged"
    else:
        shows = f"starts fastest: in {duration(best.cold)}"
        instead = as_it_is and f" instead of {duration(as_it_is.cold)} unchanged"
    return f"{words} Of these, {_named(best)} {shows}{instead or ''}."


def _instead(best: VariantMeasured, as_it_is: VariantMeasured, goal: Goal) -> str:
    return f"{duration(_seconds(best, goal))} instead of {duration(_seconds(as_it_is, goal))}"


def _named(variant: VariantMeasured) -> str:
    classes = ", ".join(f"`{name}`" for name in variant.modules)
    match variant.variant:
        case "as-is":
            return "the unchanged program"
        case "whole":
            return f"the whole model ({classes})"
        case "block":
            return f"the repeated block (`compile()` of each of {variant.count} modules: {classes})"
    return f"`{LABELS[variant.variant]}`"
