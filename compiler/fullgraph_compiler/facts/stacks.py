"""Locations in the user's code.

Rows are 1-based; columns are 0-based UTF-8 byte offsets, as CPython's ``co_positions`` and ``ast`` report
them; stacks are ordered from the outermost call to the innermost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .registry import Value

Severity: TypeAlias = Literal["error", "warning", "information"]


@dataclass(frozen=True, slots=True)
class StackFrame(Value):
    """One call of a user stack; columns are set if torch or CPython provides them."""

    filename: str
    row: int
    function: str
    column: int | None = None
    end_row: int | None = None
    end_column: int | None = None


Stack: TypeAlias = tuple[StackFrame, ...]
