"""The order in which ranks run graphs; if not recorded, the order of first calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fullgraph_compiler.facts import StackFrame
from fullgraph_compiler.trace.record import frame_number

from ..report.model import Finding, Report
from ..text.markdown import code_span
from ..workspace.positions import Span
from ..workspace.ranges import frame_span
from .rank_aspects import Sources
from .rank_differences import Key, RankDifference, RankReport, key_of
from .rank_groups import RankGroups, groups
from .rank_places import first_frame, function_span
from .rank_words import group_words, rest_words

_WHY = (
    "Ranks that run graphs in different orders call collective operations in different orders, both in the "
    "graphs and between them: then the job hangs."
)
_WHY_FIRST = (
    "A function is compiled when it is first called, so these ranks call the functions in different orders. "
    "If there are collective operations in the functions or between them, the job hangs."
)


@dataclass(frozen=True, slots=True)
class _GraphRun:
    """A graph that ran: its function, first operation, and first user line."""

    function: str
    first: tuple[str, int]
    span: Span


def order_differences(
    reports: Sequence[RankReport], total: int, sources: Sources
) -> Iterator[RankDifference]:
    """Yield the positions at which some of ``total`` ranks run a different graph."""
    numbers: dict[_GraphRun, int] = {}
    known: dict[int, tuple[int, ...]] = {}
    for item in reports:
        if item.report.executed:
            own = {name: numbers.setdefault(ran, len(numbers)) for name, ran in _graphs(item.report, sources)}
            # torch does not log the name of a graph whose code came from a cache.
            if own.keys() >= {*item.report.executed}:
                known[item.rank] = tuple(own[name] for name in item.report.executed)
    ran = [*numbers]
    for found in groups(known, frozenset()):
        orders = (known[ranks[0]] for ranks in found.ranks)
        at = [ran[order[found.index]] if found.index < len(order) else None for order in orders]
        yield _other_graph(found, at, total)


def first_call_differences(
    reports: Sequence[RankReport], total: int, sources: Sources
) -> Iterator[RankDifference]:
    """Yield the positions at which first calls differ between ``total`` ranks.

    Only functions that all ranks compile are compared. Yields nothing if the order of graphs is recorded for
    any rank: then :func:`order_differences` says more.
    """
    if not reports or any(item.report.executed for item in reports):
        return
    frames = [{key_of(frame): frame for frame in item.report.frames} for item in reports]
    common = set.intersection(*map(set, frames))
    numbers: dict[Key, int] = {}
    known: dict[int, tuple[int, ...]] = {}
    for item, own in zip(reports, frames, strict=True):
        order = sorted(common, key=lambda key: min(map(frame_number, own[key].compile_ids), default=-1))
        known[item.rank] = tuple(numbers.setdefault(key, len(numbers)) for key in order)
    functions = [frames[0][key] for key in numbers]
    for found in groups(known, frozenset()):
        at = [functions[known[ranks[0]][found.index]] for ranks in found.ranks]
        words = [f"{code_span(frame.qualname)} (line {frame.row})" for frame in at]
        rest, *others = zip(words, found.ranks, strict=True)
        told = ", ".join(group_words(others))
        where = rest_words(rest[1], total, sum(len(ranks) for _, ranks in others))
        message = f"function {found.index + 1} to be compiled is {told}, and {rest[0]} on {where}"
        yield _difference(found, message, function_span(at[0], sources), _WHY_FIRST)


def _other_graph(found: RankGroups, at: Sequence[_GraphRun | None], total: int) -> RankDifference:
    """Describe which graph each group of ranks runs at an index, if any."""
    first, graph = next((number, ran) for number, ran in enumerate(at) if ran)
    told = [(_words(ran), ranks) for ran, ranks in zip(at, found.ranks, strict=True) if ran is not graph]
    rest = rest_words(found.ranks[first], total, sum(len(ranks) for _, ranks in told))
    others = ", ".join(group_words(told))
    message = f"{_words(graph)} is graph {found.index + 1} to run on {rest}, but {others}"
    return _difference(found, message, graph.span, _WHY)


def _difference(found: RankGroups, message: str, span: Span, why: str) -> RankDifference:
    finding = Finding(
        "rank-difference",
        "rank-difference",
        "warning",
        message,
        span,
        explanation=why,
        ranks=found.different,
    )
    return RankDifference(finding, found)


def _graphs(report: Report, sources: Sources) -> Iterator[tuple[str, _GraphRun]]:
    """Yield the graphs of a report by compile id."""
    for frame in report.frames:
        source = sources.get(frame.filename)
        around = function_span(frame, sources)
        for graph in frame.traced:
            own = first_frame(graph, sources)
            first = graph.stack[0] if graph.stack else StackFrame(frame.filename, frame.row, frame.function)
            shown = own or (None if source else first)
            span = frame_span(sources.get(shown.filename), shown) if shown else around
            yield graph.compile_id, _GraphRun(frame.qualname, (first.filename, first.row), span)


def _words(graph: _GraphRun | None) -> str:
    return f"{code_span(graph.function)} (line {graph.span.row})" if graph else "none"
