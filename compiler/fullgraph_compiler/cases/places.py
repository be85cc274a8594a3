"""From a line of a case's own text back to the line of the user's program that it comes from."""

from __future__ import annotations

import re

from ..facts import Stack
from .case import Case, Code, Operation

FILENAME = "<repro>"
"""Under this name the text of a case runs."""

_PLACE = re.compile(rf'"{FILENAME}", line (\d+)')


def users_calls(case: Case, text: str, calls: Stack) -> Stack:
    """The user's stack of an operation whose own stack lies in the text of a case."""
    rows = [call.row for call in calls if call.filename == FILENAME]
    return calls_at(case, text, rows[-1]) if rows else ()


def calls_in(case: Case, text: str, message: str) -> Stack:
    """The user's stack of the operation that a traceback names last."""
    for row in reversed(_PLACE.findall(message)):
        if calls := calls_at(case, text, int(row)):
            return calls
    return ()


def calls_at(case: Case, text: str, row: int) -> Stack:
    """The user's stack of the operation in a row of the text.

    It stands there as ``name = ...``, or a Triton kernel's call as ``kernel[...](...)``.
    """
    line = text.splitlines()[row - 1].strip()
    names = {line.partition(" = ")[0], line.partition("[")[0]}
    return next((item.calls for item in case.graph.operations if not names.isdisjoint(_names(item))), ())


def _names(operation: Operation) -> set[str]:
    kernels = (value.text for name, value in operation.kwargs if name == "kernel" and isinstance(value, Code))
    return {operation.name, *kernels}
