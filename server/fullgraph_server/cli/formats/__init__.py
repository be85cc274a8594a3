"""The formats of a report. Each writes reports as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TextIO, TypeAlias

from . import github, json, sarif, text
from .checked import Checked

Format: TypeAlias = Callable[[Iterable[Checked], int, TextIO], None]
"""Writes the reports of so many targets to a stream."""

FORMATS: Mapping[str, Format] = {
    "text": text.write,
    "json": json.write,
    "github": github.write,
    "sarif": sarif.write,
}

__all__ = ["FORMATS", "Checked", "Format"]
