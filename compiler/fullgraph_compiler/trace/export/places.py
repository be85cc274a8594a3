"""Places of an export: operations of its graphs, and calls of the program.

Calls of the program are picked from stacks that also contain calls of torch.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from ...facts import ExportProblem, GraphCaptured, ShapeGuard, Specialization, Stack, StackFrame
from ..record import UNKNOWN_FILE

_CLOSE: Final = 20
"""The most rows between a place in an unnamed file and an operation in the same function."""
Placed: TypeAlias = ExportProblem | ShapeGuard | Specialization
Names: TypeAlias = Mapping[tuple[str, int], set[str]]
"""The files that contain an operation, by the name of the function and the row."""
_TORCH: Final = re.compile(r"[/\\]torch[/\\]")
_OF_TORCH: Final = re.compile(
    r"[/\\]torch[/\\](?:_|export|fx|nn[/\\]modules[/\\]module|utils|overrides|library\.py)"
    r"|[/\\]fullgraph_\w+[/\\]|[/\\](?:contextlib|functools)\.py$|^<(?!ipython)"
)


def with_names(fact: Placed, names: Names) -> Placed:
    """Return a fact, completed with the file names that its log lacks.

    torch writes each file name only into the first log of a process. ``draft_export`` has a separate log,
    which may not be the first.
    """
    stack = _named(fact.stack, names)
    if isinstance(fact, ExportProblem):
        symbols = tuple(replace(item, stack=_named(item.stack, names)) for item in fact.symbols)
        return replace(fact, stack=stack, symbols=symbols)
    return replace(fact, stack=stack)


def names_in(graph: GraphCaptured) -> Names:
    """Return the files of a graph's operations, by function and row."""
    names: dict[tuple[str, int], set[str]] = defaultdict(set)
    for frame in {node.frame for node in graph.nodes}:
        names[frame.function, frame.row].add(frame.filename)
    return names


def _named(stack: Stack, names: Names) -> Stack:
    """Replace unknown files by the file of nearby operations in the same function.

    Functions are the same if their names are. Frames whose file stays unknown are dropped.
    """
    found = []
    for frame in stack:
        if frame.filename == UNKNOWN_FILE:
            rows = range(frame.row - _CLOSE, frame.row + _CLOSE + 1)
            near = set().union(*(names.get((frame.function, row), ()) for row in rows))
            if len(near) != 1:
                continue
            frame = replace(frame, filename=near.pop())
        found.append(frame)
    return tuple(found)


def places_of(graph: GraphCaptured) -> frozenset[tuple[str, int]]:
    """Return the files and rows of a graph's operations."""
    return frozenset((node.frame.filename, node.frame.row) for node in graph.nodes)


def first_own(graph: GraphCaptured) -> StackFrame | None:
    """Return the place of the first operation outside torch's modules.

    If there is none, return the place of the first operation; ``None`` if the graph has no operations.
    """
    frames = [node.frame for node in graph.nodes]
    return next(
        (frame for frame in frames if not _TORCH.search(frame.filename)), frames[0] if frames else None
    )


def users_calls(stack: Stack) -> Stack:
    """Return a stack without the internal calls of torch and of Fullgraph."""
    return tuple(frame for frame in stack if not _OF_TORCH.search(frame.filename))
