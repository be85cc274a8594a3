"""Previews for which another interpreter's torch writes the kernels."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..cases import case, places, repro
from ..cases.collect import GraphKeeper, saved, unsaved
from ..facts import Fact, PreviewDeferred, RanDry, TargetProblem, WrittenGraph

_INPUTS = "\n\narguments = inputs()\n"
_RUN = "compiled(Repro(), arguments)(*arguments)\n"


class DeferredPreview:
    """A preview that writes each captured graph as a program for another interpreter."""

    def __init__(self, device: str, reason: str) -> None:
        self._device = device
        self._reason = reason
        self._folder = Path(tempfile.mkdtemp(prefix="graphs-"))

    def prepare(self) -> None:
        """Replace the program's backends by one that saves the graphs."""
        GraphKeeper(self._folder).install()

    def first(self) -> RanDry:
        """Return the fact that the run is dry, to report before the program runs."""
        return RanDry(self._device)

    def rest(self) -> Iterator[Fact]:
        """Yield one fact with all written graphs, after the program has run.

        Before it, yield a problem for each graph that could not be saved.
        """
        for graph in unsaved(self._folder):
            yield TargetProblem("warning", f"graph {graph.compile_id} cannot be saved: {graph.reason}")
        graphs = [graph for graph in saved(self._folder) if graph.backend == "inductor"]
        written = tuple(_written(graph) for graph in graphs if not graph.backend_is_code)
        yield PreviewDeferred(self._reason, written)


def _written(graph: case.FailureCase) -> WrittenGraph:
    marks = (
        f"torch._dynamo.mark_static(arguments[{place}], {[*dimensions]})\n"
        for place, dimensions in enumerate(graph.static)
        if dimensions
    )
    text = "".join((repro.program(graph), _INPUTS, *marks, _RUN))
    rows = range(1, text.count("\n") + 1)
    stacks = ((row, places.calls_at(graph, text, row)) for row in rows)
    return WrittenGraph(graph.compile_id, text, tuple(place for place in stacks if place[1]))
