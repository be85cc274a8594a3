"""Errors and graph breaks, with the lines and calls of the user's code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias

from fullgraph_compiler.facts import CompileFailure, GraphBreak, StackFrame

from ...text.known_errors import KnownError
from ...workspace.source import SourceFile
from ..source_locator import FactLocator
from .marks import MarkUse, MarkUses
from .words import line_of

Broken: TypeAlias = GraphBreak | CompileFailure


class _SeenProblem:
    """An error or a graph break; ``own`` are the frames of user code on its stack."""

    def __init__(self, own: Sequence[StackFrame], find: Callable[[str], SourceFile | None]) -> None:
        self.own, self._find = own, find
        self.filename, self.row = (own[-1].filename, own[-1].row) if own else ("", 0)

    @property
    def source(self) -> SourceFile | None:
        """The file of the innermost frame of user code."""
        return self._find(self.filename) if self.filename else None

    def line(self, mark: MarkUse) -> str:
        """Name the line of a mark."""
        return line_of(mark, self.filename)

    def where(self, *marks: MarkUse | None) -> str:
        """Name a mark's line in parentheses; empty unless exactly one mark is given."""
        found = list(filter(None, marks))
        return f" ({self.line(found[0])})" if len(found) == 1 else ""

    def calls(self) -> Iterator[ast.Call]:
        """Yield the calls that begin on rows of the user's frames, innermost first."""
        for frame in reversed(self.own):
            source = self._find(frame.filename)
            nodes = source.nodes_at(frame.row) if source else ()
            yield from (node for node in nodes if isinstance(node, ast.Call))


class SeenError(_SeenProblem):
    """A known error, with the frames of user code that led to it.

    ``name`` is the name in the error's message, or empty. ``untraced`` are file and row of each gradient that
    breaks a graph.
    """

    def __init__(
        self,
        known: KnownError,
        message: str,
        own: Sequence[StackFrame],
        find: Callable[[str], SourceFile | None],
        untraced: Collection[tuple[str, int]],
    ) -> None:
        super().__init__(own, find)
        self.untraced = untraced
        self.known, self.message = known, message
        named = re.search(known.message, message)
        self.name = named["name"] if named and "name" in named.re.groupindex else ""


class SeenBreak(_SeenProblem):
    """A graph break or compiler error.

    ``stack`` is the whole stack: it begins with the callers of the compiled frame.
    """

    def __init__(self, fact: Broken, places: FactLocator, marks: MarkUses) -> None:
        self.fact, self.places, self.marks = fact, places, marks
        self.stack = places.full_stack(fact.stack, fact.compile_id)
        super().__init__(places.own(self.stack), places.workspace.source)
