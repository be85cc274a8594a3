"""The formats of a report. Each writes reports as they come.

- ``text``: findings with their code, for people
- ``json``: one object a target
- ``github``: annotations
- ``sarif``: SARIF 2.1.0
- ``checked``: what formats are given, and share
- ``ladder``: the stages
- ``recipes``: what was tried, and what helps
- ``recompiles``: why functions were compiled again
- ``times``: cold and warm caches
- ``kernels``: what each graph became
- ``comparison``: two reports compared
- ``devices``: the GPUs for previews
- ``capabilities``: what an interpreter's torch can be previewed in
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TextIO, TypeAlias

from ...compare.comparison import Comparison
from . import comparison, devices, github, json, ladder, recipes, recompiles, sarif, text
from .checked import Checked

Format: TypeAlias = Callable[[Iterable[Checked], int, TextIO], None]
"""Writes the reports of so many targets to a stream."""

FORMATS: Mapping[str, Format] = {
    "text": text.write,
    "json": json.write,
    "github": github.write,
    "sarif": sarif.write,
}

STAGES_FORMATS: Mapping[str, Format] = {"text": ladder.write, "json": json.write}
"""Those in which the stages can be told."""

RECIPES_FORMATS: Mapping[str, Format] = {"text": recipes.write, "json": json.write}
"""Those in which it can be told what helps."""

RECOMPILES_FORMATS: Mapping[str, Format] = {"text": recompiles.write, "json": json.write}
"""Those in which recompilations can be told one by one."""

ComparisonFormat: TypeAlias = Callable[[Comparison, Checked, TextIO], None]
"""Writes a comparison to a stream; the newer of the two reports is at hand for its code."""

COMPARISON_FORMATS: Mapping[str, ComparisonFormat] = {
    "text": comparison.write,
    "json": comparison.write_json,
    "markdown": comparison.write_markdown,
}
"""Those in which two reports can be compared."""

DEVICES_FORMATS: Mapping[str, Callable[[TextIO], None]] = {
    "text": devices.write,
    "json": devices.write_json,
}
"""Those in which the table of GPUs can be told."""

__all__ = [
    "COMPARISON_FORMATS",
    "DEVICES_FORMATS",
    "FORMATS",
    "RECIPES_FORMATS",
    "RECOMPILES_FORMATS",
    "STAGES_FORMATS",
    "Checked",
    "ComparisonFormat",
    "Format",
]
