"""Provide values from example calls to data-dependent operations in a dry run."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

from ..compat.fake_compat import graph_node
from ..facts import ExampleCall, GivenValue, Stack, StackFrame
from ..trace.messages import parse_frames

_running: list[tuple[str, ExampleCall]] = []
"""The running example call and its file; empty if no example call is running."""
_used: set[tuple[str, GivenValue]] = set()
_unused: list[tuple[str, ExampleCall, GivenValue]] = []


@contextmanager
def giving(filename: str, call: ExampleCall) -> Iterator[None]:
    """Provide the values of an example call within the context."""
    _running.append((filename, call))
    _used.clear()
    try:
        yield
        _unused.extend((filename, call, given) for given in call.values if (filename, given) not in _used)
    finally:
        _running.pop()


def value_of(operation: str) -> int | float | bool | None:
    """Return the example call's value for an operation at the current line, if any."""
    if not _running or not _running[-1][1].values:
        return None
    filename, call = _running[-1]
    row = row_in(filename, places(_live_frames()))
    for given in call.values:
        if (given.operation, given.row) == (operation, row):
            _used.add((filename, given))
            return given.value
    return None


def unused() -> Iterable[tuple[str, ExampleCall, GivenValue]]:
    """Return the values that no operation used, with their files and example calls."""
    return tuple(_unused)


def row_in(filename: str, stack: Iterable[StackFrame]) -> int | None:
    """Return the row of the innermost frame in a file; ``None`` if there is none.

    ``stack`` must begin with the innermost frame.
    """
    return next((frame.row for frame in stack if frame.filename == filename), None)


def places(frames: Iterable[tuple[FrameType, int]]) -> Iterator[StackFrame]:
    """Yield the user's locations of frames, innermost first.

    If a frame runs the code of a graph, yield the user stack of the current operation instead.
    """
    for frame, row in frames:
        inner = of_graph(frame, row)
        yield from reversed(inner or (StackFrame(frame.f_code.co_filename, row, frame.f_code.co_name),))


def of_graph(frame: FrameType, row: int) -> Stack:
    """Return the user stack of the operation in a row of a graph's code.

    Empty if the frame does not run the code of a graph.
    """
    node = graph_node(frame, row)
    trace = str(node.meta.get("stack_trace") or "") if node is not None else ""
    return parse_frames(trace.splitlines(), linecache.getline)


def _live_frames() -> Iterator[tuple[FrameType, int]]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame, frame.f_lineno
        frame = frame.f_back
