"""The progress of a run in a few words, from the facts reported so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fullgraph_compiler.facts import CodeGenerated, Fact, FrameCompiled, FrameStarted, PreviewDeferred

from ..text.messages import counted


class AnalysisProgress:
    """The progress of a run by compilations, or by graphs once code is generated."""

    def __init__(self) -> None:
        self._compiling: dict[str, str] = {}
        self._compiled: set[str] = set()
        self._written: set[str] = set()
        self._graphs = 0

    def take(self, fact: Fact) -> None:
        """Take the next fact."""
        if isinstance(fact, FrameStarted):
            self._compiling[fact.compile_id] = fact.function
        elif isinstance(fact, FrameCompiled):
            self._compiling.pop(fact.compile_id, None)
            self._compiled.add(fact.compile_id)
        elif isinstance(fact, CodeGenerated):
            self._written.add(fact.compile_id)
        elif isinstance(fact, PreviewDeferred):
            self._graphs = len(fact.graphs)

    @property
    def now(self) -> str:
        """Return a few words; empty at the beginning."""
        if self._graphs:  # a preview captures all graphs before it compiles the first
            return f"{len(self._written)} of {counted(self._graphs, 'graph')} done"
        if self._written:
            return f"{counted(len(self._written), 'graph')} done"
        if self._compiling:
            return f"compiling {list(self._compiling.values())[-1]}"
        return counted(len(self._compiled), "compilation") if self._compiled else ""


class ProgressTally(AnalysisProgress):
    """A run's progress by the number of facts of one type; ``words`` makes the text."""

    def __init__(self, kind: type[Any], words: Callable[[int], str]) -> None:
        super().__init__()
        self._kind, self._words = kind, words
        self._count = 0

    def take(self, fact: Fact) -> None:
        """Take the next fact."""
        self._count += isinstance(fact, self._kind)

    @property
    def now(self) -> str:
        """Return the words for the number so far."""
        return self._words(self._count)
