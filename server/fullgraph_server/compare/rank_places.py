"""Source lines of operations that differ between ranks."""

from __future__ import annotations

from collections.abc import Mapping

from fullgraph_compiler.facts import Collective, GraphTraced, StackFrame

from ..report.model import FrameReport
from ..workspace.definitions import definitions
from ..workspace.positions import Span
from ..workspace.ranges import definition_span, frame_span, row_span
from ..workspace.source import SourceFile
from ..workspace.syntax import last_row


def operation_span(graph: GraphTraced, index: int, sources: Mapping[str, SourceFile | None]) -> Span | None:
    """Return the user's line of an operation, if torch records one.

    For an operation in a library, torch does not record the user's line; only that of a collective is
    inferred.
    """
    frame = graph.stack[index]
    if frame.filename in sources:
        return frame_span(sources[frame.filename], frame)
    call = next((call for call in graph.collectives if call.operation == index), None)
    return collective_span(graph, call, sources) if call else None


def function_span(frame: FrameReport, sources: Mapping[str, SourceFile | None]) -> Span:
    """Return the place of a function.

    For a library function, this is the first of the user's lines in the function's graphs.
    """
    own = (first_frame(graph, sources) for graph in frame.traced)
    first = None if frame.filename in sources else next(filter(None, own), None)
    if first:
        return frame_span(sources[first.filename], first)
    return definition_span(sources.get(frame.filename), frame.filename, frame.row, frame.function)


def first_frame(graph: GraphTraced, sources: Mapping[str, SourceFile | None]) -> StackFrame | None:
    """Return the frame of the first user line in a graph."""
    return next((frame for frame in graph.stack if frame.filename in sources), None)


def collective_span(
    graph: GraphTraced, call: Collective, sources: Mapping[str, SourceFile | None]
) -> Span | None:
    """Return the line that calls a collective operation; ``None`` if ambiguous.

    torch records a line in torch itself. So the user's line is inferred: it is in the function of the
    neighboring operations, between their lines, and contains the operator's name.
    """
    own = [number for number, frame in enumerate(graph.stack) if frame.filename in sources]
    before = max((number for number in own if number <= call.operation), default=None)
    after = min((number for number in own if number > call.operation), default=None)
    if before == call.operation:
        return frame_span(sources[graph.stack[before].filename], graph.stack[before])
    around = [graph.stack[number] for number in (before, after) if number is not None]
    source = sources[around[0].filename] if around else None
    function = definitions(source).function_at(around[0].row) if source else None
    if source is None or function is None:
        return None
    inside = range(function.lineno + 1, last_row(function) + 1)
    if any(frame.filename != source.filename or frame.row not in inside for frame in around):
        return None
    first = inside.start if before is None else graph.stack[before].row
    last = inside.stop - 1 if after is None else graph.stack[after].row
    name = _stem(call.operator)
    rows = [row for row in range(first, last + 1) if name in source.line(row).partition("#")[0]]
    between = range(before or 0, len(graph.stack) if after is None else after)
    same = [item for item in graph.collectives if item.operation in between and _stem(item.operator) == name]
    if len(rows) == 1:  # perhaps in a loop
        return row_span(source, rows[0])
    return row_span(source, rows[same.index(call)]) if len(rows) == len(same) else None


def _stem(operator: str) -> str:
    """Return the stem of an operator's name: ``all_gather`` for all variants of it."""
    return "_".join(operator.split("_")[:2])
