"""The output formats of reports. Each format writes a report as soon as it is complete.

- ``text``: findings with their code, for people
- ``json``: one object a target
- ``github``: annotations
- ``sarif``: SARIF 2.1.0
- ``stages``: the stages of each graph, and the one at fault
- ``checked``: what formats are given, and share
- ``places``: rows in files and in cells of notebooks
- ``recipes``: what was tried, and what helps
- ``recompiles``: why functions were compiled again
- ``times``: cold and warm caches, and what these held
- ``speed``: compiled calls beside uncompiled ones, and why they are not faster
- ``variants``: other ways to compile a program beside each other
- ``kernels``: what each graph became
- ``comparison``: two reports compared
- ``fixed``: what formats of fixes are given
- ``fixes``: the fixes of findings, and what goes together
- ``sizes``: the marks of sizes, and what other sizes have shown
- ``devices``: the GPUs for previews
- ``capabilities``: what an interpreter's torch can be previewed in
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TextIO, TypeAlias

from ...compare.comparison import Comparison
from . import comparison, devices, github, json, recipes, recompiles, sarif, speed, stages, text, times
from .checked import Checked

Format: TypeAlias = Callable[[Iterable[Checked], int, TextIO], None]
"""A function that writes the reports of a number of targets to a stream."""

FORMATS: Mapping[str, Format] = {
    "text": text.write,
    "json": json.write,
    "github": github.write,
    "sarif": sarif.write,
}

STAGES_FORMATS: Mapping[str, Format] = {"text": stages.write, "json": json.write}
"""The formats of ``fullgraph stages``."""

RECIPES_FORMATS: Mapping[str, Format] = {"text": recipes.write, "json": json.write}
"""The formats of ``fullgraph recipes``."""

RECOMPILES_FORMATS: Mapping[str, Format] = {"text": recompiles.write, "json": json.write}
"""The formats of ``fullgraph recompiles``."""

SPEED_FORMATS: Mapping[str, Format] = {"text": speed.write, "json": speed.write_json}
"""The formats of ``fullgraph speed``."""

TIMES_FORMATS: Mapping[str, Format] = {"text": times.write, "json": times.write_json}
"""The formats of ``fullgraph times``."""

ComparisonFormat: TypeAlias = Callable[[Comparison, Checked, TextIO], None]
"""A function that writes a comparison to a stream; it also gets the newer report, for its code."""

COMPARISON_FORMATS: Mapping[str, ComparisonFormat] = {
    "text": comparison.write,
    "json": comparison.write_json,
    "markdown": comparison.write_markdown,
}
"""The formats of comparisons."""

DEVICES_FORMATS: Mapping[str, Callable[[TextIO], None]] = {
    "text": devices.write,
    "json": devices.write_json,
}
"""The formats of the table of GPUs."""

__all__ = [
    "COMPARISON_FORMATS",
    "DEVICES_FORMATS",
    "FORMATS",
    "RECIPES_FORMATS",
    "RECOMPILES_FORMATS",
    "SPEED_FORMATS",
    "STAGES_FORMATS",
    "TIMES_FORMATS",
    "Checked",
    "ComparisonFormat",
    "Format",
]
