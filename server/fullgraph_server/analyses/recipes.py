"""Recipes: run a crashing program with one part of the compiler off at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from fullgraph_compiler.facts import RecipeTried

from ..report.model import Finding
from ..report.recipes import compiler_fails, recipe_table, what_helps
from .analysis import Analysis, CommandLineAnalysis, EditorAnalysis
from .progress import ProgressTally
from .shown import BLANK, ReportView, StyledLine, line


def _lines(shown: ReportView) -> Iterator[StyledLine | Finding]:
    report = shown.report
    recipes = report.of(RecipeTried)
    for recipe, text in zip(recipes, recipe_table(recipes), strict=True):
        yield line(text, "red" if recipe.failure else "")
    if recipes:
        yield BLANK
    for finding in report.findings:
        if finding.severity == "error" or finding.kind == "target-error":
            yield finding
    yield line(what_helps(report), "bold")
    if compiler_fails(report):
        yield line(f"Find the stage at fault: fullgraph stages {shown.target}")


ANALYSIS: Final = Analysis(
    id="recipes",
    label="crash workarounds",
    doing="trying workarounds for a crash of {target}",
    in_one_process="recipes are tried",
    repeats=True,
    progress=partial(ProgressTally, RecipeTried, lambda count: f"{count} tried" if count else ""),
    verdict=what_helps,
    lines=_lines,
    in_editor=EditorAnalysis(
        command="fullgraph.recipes",
        client="tryRecipes",
        title="Try Workarounds for a Crash",
        question="Turn off one part of the compiler at a time, also when memory runs out",
        group="failures and wrong results",
        menu="analyses",
        order=30,
        announced=True,
    ),
    on_command_line=CommandLineAnalysis(
        name="recipes",
        answer="Does a crash go away with a part of the compiler off?",
        page="docs/failures.md",
        help="""Try what torch's FAQ advises for crashes and memory.

        TARGET (see fullgraph check) runs unmodified, then with one part of the compiler off at a time,
        then uncompiled. A table shows which runs finish, and how much memory each takes.
        Each run may use three quarters of --memory.

        The exit code is 0 if the unmodified program finishes, 1 if not, and 2 if it could not be started.
        """,
    ),
)
