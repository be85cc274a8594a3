"""The order in which ranks run graphs, where the program recorded that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..report.model import Finding, Report
from ..text.markdown import code_span
from ..workspace.positions import Span
from ..workspace.ranges import definition_span, frame_span
from .rank_aspects import Sources
from .rank_differences import Difference, RankReport
from .rank_groups import groups
from .rank_places import first_frame
from .rank_words import group_words, rest_words

_WHY = (
    "Ranks that run their graphs in another order call the collective operations in these in another order, "
    "too, and those between them: then the job hangs."
)


@dataclass(frozen=True, slots=True)
class _Ran:
    """A graph that ran, by its function and the place where it begins."""

    function: str
    span: Span


def order_differences(reports: Sequence[RankReport], sources: Sources) -> Iterator[Difference]:
    """Yield the places at which ranks run another graph, or none."""
    orders = {item.rank: _order(item.report, sources) for item in reports if item.report.executed}
    known = {rank: order for rank, order in orders.items() if order is not None}
    for found in groups(known, frozenset()):
        at = found.index
        ran = [known[ranks[0]][at] if at < len(known[ranks[0]]) else None for ranks in found.ranks]
        first = next(number for number, graph in enumerate(ran) if graph is not None)
        graph = ran[first]
        assert graph is not None, "at the index of a difference, a rank runs a graph"
        told = [(_words(item), ranks) for item, ranks in zip(ran, found.ranks, strict=True) if item != graph]
        rest = rest_words(found.ranks[first], len(reports), sum(len(ranks) for _, ranks in told))
        message = f"{_words(graph)} is graph {at + 1} to run on {rest}, but {', '.join(group_words(told))}"
        finding = Finding(
            "rank-difference",
            "rank-difference",
            "warning",
            message,
            graph.span,
            explanation=_WHY,
            ranks=found.different,
        )
        yield Difference(finding, found)


def _order(report: Report, sources: Sources) -> tuple[_Ran, ...] | None:
    """Return the graphs in the order in which they ran; ``None`` if torch does not name all of them."""
    graphs = _graphs(report, sources)
    ran = [graphs.get(name) for name in report.executed]
    return tuple(graph for graph in ran if graph) if all(ran) else None


def _graphs(report: Report, sources: Sources) -> Mapping[str, _Ran]:
    graphs = {}
    for frame in report.frames:
        source = sources.get(frame.filename)
        around = definition_span(source, frame.filename, frame.row, frame.function)
        for graph in frame.traced:
            first = first_frame(graph, sources)
            span = frame_span(sources[first.filename], first) if first else around
            graphs[graph.compile_id] = _Ran(frame.qualname, span)
    return graphs


def _words(graph: _Ran | None) -> str:
    return f"{code_span(graph.function)} (line {graph.span.row})" if graph else "none"
