"""Map lines of a case's program to the lines of the user's code they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Stack
from .case import CaseGraph, CaseOperation, ConstantCode, FailureCase
from .writing import class_title

FILENAME = "<repro>"
"""The filename under which the program of a case runs."""

_CLASS = re.compile(r"class (\w+?)_*\(")
_PLACE = re.compile(rf'"{FILENAME}", line (\d+)')


def users_calls(case: FailureCase, text: str, calls: Stack) -> Stack:
    """Convert a stack in a case's program to the innermost operation's user stack."""
    rows = [call.row for call in calls if call.filename == FILENAME]
    return calls_at(case, text, rows[-1]) if rows else ()


def calls_in(case: FailureCase, text: str, message: str) -> Stack:
    """Return the user stack of the last operation that a traceback mentions.

    ``text`` is the program of the case, ``message`` the traceback.
    """
    for row in reversed(_PLACE.findall(message)):
        if calls := calls_at(case, text, int(row)):
            return calls
    return ()


def calls_at(case: FailureCase, text: str, row: int) -> Stack:
    """Return the user stack of the operation in a row of a case's program.

    The row has the form ``name = ...``, or ``kernel[...](...)`` for a call of a Triton kernel.
    """
    above = text.splitlines()[:row]
    line = above[-1].strip()
    names = {line.partition(" = ")[0], line.partition("[")[0]}
    operations = _graph_of(case.graph, above).operations
    return next((item.calls for item in operations if not names.isdisjoint(_names(item))), ())


def _graph_of(graph: CaseGraph, lines: list[str]) -> CaseGraph:
    """Return the graph or subgraph whose class ``lines`` end in."""
    title = next((found[1] for line in reversed(lines) if (found := _CLASS.match(line))), "")
    return dict(_titled(graph)).get(title, graph)


def _titled(graph: CaseGraph) -> Iterator[tuple[str, CaseGraph]]:
    """Yield all subgraphs of a graph, each with the name of its class in the program."""
    for name, subgraph in graph.subgraphs:
        yield class_title(name), subgraph
        yield from _titled(subgraph)


def _names(operation: CaseOperation) -> set[str]:
    kernels = (
        value.text for name, value in operation.kwargs if name == "kernel" and isinstance(value, ConstantCode)
    )
    return {operation.name, *kernels}
