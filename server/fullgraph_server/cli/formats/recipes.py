"""Text: a table of the recipes that were tried, then those that help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from rich.text import Text

from ...report.recipes import compiler_fails, recipe_table, what_helps
from ..output import clean_console
from ..resolve import as_typed
from .checked import Checked
from .text import print_finding


def write(reports: Iterable[Checked], targets: int, out: TextIO) -> None:  # noqa: ARG001
    """Write each report as soon as it is complete."""
    console = clean_console(out)
    for checked in reports:
        report = checked.report
        for recipe, line in zip(report.recipes, recipe_table(report.recipes), strict=True):
            console.print(Text(line, "red" if recipe.failure else ""))
        if report.recipes:
            console.print()
        for finding in report.findings:
            if finding.severity == "error" or finding.kind == "target-error":
                print_finding(console, checked, finding)
        console.print(Text(what_helps(report), "bold"))
        if compiler_fails(report):
            console.print(f"Find the stage at fault: fullgraph stages {as_typed(checked.target)}")
