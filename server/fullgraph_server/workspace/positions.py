"""Places in source files, in rows and columns as editors show them.

Rows and columns are 1-based, columns in characters (code points), and ``end_column`` is exclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

TRACE: Final = "trace:"
"""The prefix of the ids of traces."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of one file.

    ``row`` and ``column`` are 1-based; ``end_column`` is exclusive.
    """

    filename: str
    row: int
    column: int
    end_row: int
    end_column: int


@dataclass(frozen=True, slots=True)
class StackCall:
    """A stack frame as shown to the user."""

    filename: str
    row: int
    function: str


@dataclass(frozen=True, slots=True)
class TextProblem:
    """A problem in a text that the user wrote for Fullgraph: a sentence and a place."""

    message: str
    span: Span
