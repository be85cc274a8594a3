"""The output formats, which write each report as soon as it is complete.

- ``text``: findings with their source code, for people
- ``json``: one object for each target
- ``github``: annotations
- ``sarif``: SARIF 2.1.0
- ``analysed``: the text and the JSON of an analysis
- ``checked``: the input of the formats, and texts that several formats share
- ``places``: places in files and in cells of notebooks
- ``variants``: a comparison of ways to compile a program
- ``kernels``: the kernels of each graph
- ``comparison``: two reports compared
- ``fixes``: the fixes of each finding, and the plan that combines them
- ``sizes``: the planned calls of ``mark_dynamic``, and results with other sizes
- ``devices``: the GPUs for previews
- ``capabilities``: the kernels that an interpreter's torch can preview
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TextIO, TypeAlias

from ...compare.comparison import ReportComparison
from . import comparison, devices, github, json, sarif, text
from .checked import CheckedReport

Format: TypeAlias = Callable[[Iterable[CheckedReport], int, TextIO], None]
"""A function that writes reports to a stream; it also gets the number of targets."""

FORMATS: Mapping[str, Format] = {
    "text": text.write,
    "json": json.write,
    "github": github.write,
    "sarif": sarif.write,
}

ComparisonFormat: TypeAlias = Callable[[ReportComparison, CheckedReport, TextIO], None]
"""A function that writes a comparison to a stream; it also gets the newer report, for source code."""

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
    "CheckedReport",
    "ComparisonFormat",
    "Format",
]
