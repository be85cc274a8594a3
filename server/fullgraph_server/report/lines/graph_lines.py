"""The graphs of each statement of user code, and statements that ran eagerly."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from fullgraph_compiler.facts import Fact, FrameSkipped, GraphBreak, GraphCaptured, RecompileLimit, StackFrame
from fullgraph_compiler.trace import frame_of

from ...text.markdown import code_span
from ...text.messages import first_line, runs_eagerly
from ...text.source_names import compile_number
from ...workspace.positions import Span
from ...workspace.ranges import body_spans, statement_span
from ...workspace.workspace import Workspace
from ..model import GraphLines, NumberedGraph
from ..source_locator import FactLocator, UserFunction


def graph_lines(facts: Sequence[Fact], places: FactLocator) -> tuple[GraphLines, ...]:
    """Return statements in graphs, at breaks or in eager functions, sorted by place."""
    statements = _StatementCollector(places.workspace)
    for graph, captured in _graphs(facts, places):
        for each in captured:
            for frame in itertools.chain((node.frame for node in each.nodes), each.calls):
                if (statement := statements.at(frame)) is not None:
                    statement.graphs[graph.number] = graph
    for fact in facts:
        if isinstance(fact, GraphBreak):
            stack, why = places.traced_stack(fact.stack, fact.compile_id), first_line(fact.reason)
            for frame in stack:
                place = "here" if frame is stack[-1] else f"in {code_span(stack[-1].function)}"
                if (statement := statements.at(frame)) is not None:
                    statement.reasons[f"runs eagerly, since the graph breaks {place}: {why}"] = None
    for compile_id, reason in _given_up(facts).items():
        if (function := places.functions.get(compile_id)) is not None:
            resumes_at = places.resumes_at(compile_id)
            what = runs_eagerly(places.qualname(function), resumed=resumes_at is not None)
            statements.eager_body(function, f"{what}: {first_line(reason)}", resumes_at or 1)
    return tuple(_joined(statements.all()))


def _graphs(
    facts: Iterable[Fact], places: FactLocator
) -> Iterator[tuple[NumberedGraph, list[GraphCaptured]]]:
    """Yield a numbered graph for each frame, with the graphs of its compilations."""
    # torch reports a compilation twice if the first attempt fails: the last report counts.
    captured = {fact.compile_id: fact for fact in facts if isinstance(fact, GraphCaptured)}
    limited = {frame_of(fact.compile_id) for fact in facts if isinstance(fact, RecompileLimit)}
    frames: dict[str, list[str]] = {}
    for compile_id in sorted(captured, key=compile_number):
        frames.setdefault(frame_of(compile_id), []).append(compile_id)
    for number, (frame, compile_ids) in enumerate(frames.items(), 1):
        name = places.name_of(compile_ids[0])
        graph = NumberedGraph(number, len(frames), name, tuple(compile_ids), frame in limited)
        yield graph, [captured[compile_id] for compile_id in compile_ids]


def _given_up(facts: Iterable[Fact]) -> dict[str, str]:
    """Map each compilation whose frame runs eagerly as a whole to the reason."""
    reasons: dict[str, str] = {}
    for fact in facts:
        if isinstance(fact, FrameSkipped) or (isinstance(fact, GraphBreak) and fact.skips_frame):
            reasons.setdefault(fact.compile_id, fact.reason)
    return reasons


def _joined(statements: Iterable[GraphLines]) -> Iterator[GraphLines]:
    """Join consecutive statements that ran in the same way.

    ``statements`` are sorted by place.
    """
    last: list[GraphLines] = []
    for each in statements:
        if last and not _goes_on(last[-1], each):
            yield _as_one(last)
            last = []
        last.append(each)
    if last:
        yield _as_one(last)


def _goes_on(one: GraphLines, other: GraphLines) -> bool:
    return (one.filename, one.spans[-1].end_row + 1, one.graphs, one.reasons) == (
        other.filename,
        other.spans[0].row,
        other.graphs,
        other.reasons,
    )


def _as_one(lines: Sequence[GraphLines]) -> GraphLines:
    return replace(lines[0], spans=tuple(span for each in lines for span in each.spans))


@dataclass(slots=True)
class _StatementGraphs:
    """The graphs of a statement, and the reasons why the statement ran eagerly.

    The graphs are by number. Both mappings are in order.
    """

    graphs: dict[int, NumberedGraph] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)


class _StatementCollector:
    """A collector of statements of user code, with graphs and reasons."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._rows: dict[tuple[str, int], _StatementGraphs | None] = {}
        self._statements: dict[Span, _StatementGraphs] = {}

    def eager_body(self, function: UserFunction, reason: str, first_row: int) -> None:
        """Record that the statements of a function from ``first_row`` on ran eagerly."""
        source = self._workspace.own_source(function.filename)
        for span in body_spans(source, function.row, function.name) if source else ():
            if span.row >= first_row:
                self._of(span).reasons[reason] = None

    def all(self) -> Iterator[GraphLines]:
        """Yield the statements sorted by place; statements on the same line are merged."""
        by_place: dict[Span, _StatementGraphs] = {}
        last: Span | None = None
        for span in sorted(self._statements, key=lambda span: (span.filename, span.row, span.column)):
            own = self._statements[span]
            if last and last.filename == span.filename and last.end_row >= span.row:
                before = by_place.pop(last)
                end = max((last.end_row, last.end_column), (span.end_row, span.end_column))
                span = Span(span.filename, last.row, last.column, *end)
                own = _StatementGraphs({**before.graphs, **own.graphs}, {**before.reasons, **own.reasons})
            by_place[span] = own
            last = span
        for span, own in by_place.items():
            yield GraphLines((span,), tuple(own.graphs.values()), tuple(own.reasons))

    def at(self, frame: StackFrame) -> _StatementGraphs | None:
        """Return the statement at a frame; ``None`` outside of the user's files."""
        key = (frame.filename, frame.row)
        if key not in self._rows:
            source = self._workspace.own_source(frame.filename)
            self._rows[key] = self._of(statement_span(source, frame.row)) if source else None
        return self._rows[key]

    def _of(self, span: Span) -> _StatementGraphs:
        return self._statements.setdefault(span, _StatementGraphs())
