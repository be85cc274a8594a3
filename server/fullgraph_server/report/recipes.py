"""Results of a program with parts of the compiler turned off: table and sentence.

Each such setting is called a recipe.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from fullgraph_compiler.facts import Failure, RecipeTried

from ..text.messages import first_line
from ..text.tables import aligned
from .faults import outcome
from .model import Report

_GIB = 1 << 30
_LONGEST = 80
"""The number of characters of an error's message that are shown."""


def recipe_table(recipes: Sequence[RecipeTried]) -> list[str]:
    """Return a table of recipes as lines: name, seconds, memory in GiB, outcome."""
    rows = [
        (
            recipe.recipe,
            f"{recipe.seconds:.1f} s",
            f"{recipe.memory / _GIB:.2f} GiB" if recipe.memory else "-",
            _outcome_words(recipe.failure),
        )
        for recipe in recipes
    ]
    return aligned(rows, "<>><")


def compiler_fails(report: Report) -> bool:
    """Return whether the unchanged program fails, but the uncompiled one does not."""
    recipes = report.of(RecipeTried)
    if report.status != "finished" or not recipes:
        return False
    as_it_is, *_, uncompiled = recipes
    return as_it_is.failure is not None and uncompiled.failure is None


def what_helps(report: Report) -> str:
    """Say in one sentence which recipes let the program finish."""
    recipes = report.of(RecipeTried)
    if report.status != "finished" or not recipes:
        return report.problem.message if report.problem else "Stopped before everything was tried."
    as_it_is, *others, uncompiled = recipes
    if as_it_is.failure is None:
        return "The program gets through unchanged: no recipe is needed."
    if uncompiled.failure is not None:
        return "The program also fails uncompiled: the compiler is not at fault."
    helping = [recipe.recipe for recipe in others if recipe.failure is None]
    if helping:
        return f"The program gets through with {' or '.join(helping)}."
    return "No recipe helps: the program gets through only uncompiled."


def _outcome_words(failure: Failure | None) -> str:
    if failure is None or failure.kind == "hang":
        return outcome(failure)
    if failure.kind == "crash":
        return f"{outcome(failure)} ({failure.error})"
    error = ": ".join(part for part in (failure.error, first_line(failure.message)) if part)
    return f"{outcome(failure)}: {textwrap.shorten(error, _LONGEST, placeholder=' ...')}"
