"""The request ``fullgraph/graphLines``: which lines ran in which graph or eagerly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from operator import itemgetter

from ..client.findings import Drifts
from ..features.context import ServerContext
from ..protocol.lines import GraphLinesItem, GraphLinesParams
from ..protocol.names import GRAPH_LINES
from ..report.model import GraphLines, NumberedGraph, Report
from ..text.markdown import code_span, escaped
from ..workspace.drift import TextDrift
from ..workspace.positions import Span

_MOST_GRAPHS = 6
_MOST_COMPILATIONS = 3

_NO_DRIFT = TextDrift(None, None)


def register(context: ServerContext) -> None:
    """Register the handler of ``fullgraph/graphLines``."""

    @context.server.feature(GRAPH_LINES)
    async def graph_lines(params: GraphLinesParams) -> list[GraphLinesItem]:
        filename = context.documents.filename(params.text_document.uri)
        if filename is None:
            return []
        return shown_lines(filename, context.runs.of_file(filename), context.documents.drift)


def shown_lines(filename: str, reports: Iterable[Report], drifts: Drifts) -> list[GraphLinesItem]:
    """Describe how each line of the current text ran, by the first report of the line."""
    return [_item(*lines) for lines in placed(filename, reports, drifts)]


def placed(filename: str, reports: Iterable[Report], drifts: Drifts) -> list[tuple[int, int, GraphLines]]:
    """Return the first and last current row of each group of lines that ran alike.

    If several reports contain a line, the first of them is used.
    """
    covered: set[int] = set()
    shown: list[tuple[int, int, GraphLines]] = []
    for report in reports:
        here = [lines for lines in report.graph_lines if lines.filename == filename]
        drift = drifts(report, filename) if here else _NO_DRIFT
        new = [(*rows, lines) for lines in here for rows in _rows(lines.spans, drift, covered)]
        covered.update(row for first, last, _ in new for row in range(first, last + 1))
        shown += new
    shown.sort(key=itemgetter(0))
    return shown


def label(graphs: Iterable[NumberedGraph]) -> str:
    """Describe graphs in Markdown, one line each."""
    lines = [escaped(" · ".join(words(graph))) for graph in graphs]
    more = len(lines) - _MOST_GRAPHS
    return "\n".join([*lines[:_MOST_GRAPHS], *([f"and {more} more"] if more > 0 else [])])


def _rows(spans: Sequence[Span], drift: TextDrift, covered: AbstractSet[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last current row of unedited statements.

    Rows that a newer report covers are left out.
    """
    first, last = spans[0].row, spans[-1].end_row
    shift = drift.shift(first, last)
    if shift is not None and covered.isdisjoint(range(first + shift, last + shift + 1)):
        yield first + shift, last + shift
    elif len(spans) > 1:
        # Edits are few, so most statements have moved together: split until a part has.
        middle = len(spans) // 2
        yield from _rows(spans[:middle], drift, covered)
        yield from _rows(spans[middle:], drift, covered)
    elif shift is None and (moved := drift.span(spans[0])).change == "same":
        rows = moved.span.row, moved.span.end_row
        if covered.isdisjoint(range(rows[0], rows[1] + 1)):
            yield rows


def _item(first: int, last: int, lines: GraphLines) -> GraphLinesItem:
    numbers = [graph.number for graph in lines.graphs]
    eager, reason = bool(lines.reasons), "\n".join(map(escaped, lines.reasons))
    return GraphLinesItem(first - 1, last - 1, numbers, label(lines.graphs), eager, reason)


def words(graph: NumberedGraph) -> list[str]:
    """Describe a graph: number, compilations, function, and recompile limit."""
    ids = graph.compile_ids
    if len(ids) > _MOST_COMPILATIONS:
        compilations = f"compilations {ids[0]} to {ids[-1]}"
    else:
        compilations = f"compilation{'s' if len(ids) > 1 else ''} {', '.join(ids)}"
    parts = [f"graph {graph.number} of {graph.total}", compilations]
    if graph.function:
        parts.append(code_span(graph.function))
    if graph.limited:
        parts.append("recompile limit reached: calls that match no compilation now run eagerly")
    return parts
