"""Errors and graph breaks with their source: the line, and the calls on it."""

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
    """An error or a graph break; ``own`` are the user's frames of its stack."""

    def __init__(self, own: Sequence[StackFrame], find: Callable[[str], SourceFile | None]) -> None:
        self.own, self._find = own, find
        self.filename, self.row = (own[-1].filename, own[-1].row) if own else ("", 0)

    @property
    def source(self) -> SourceFile | None:
        """The file of the innermost of the user's frames."""
        return self._find(self.filename) if self.filename else None

    def line(self, mark: MarkUse) -> str:
        """Name the line of a mark."""
        return line_of(mark, self.filename)

    def where(self, *marks: MarkUse | None) -> str:
        """Name the line of a mark in parentheses; empty unless there is exactly one."""
        found = list(filter(None, marks))
        return f" ({self.line(found[0])})" if len(found) == 1 else ""

    def calls(self) -> Iterator[ast.Call]:
        """Yield the calls that begin on rows of the user's frames, innermost first."""
        for frame in reversed(self.own):
            source = self._find(frame.filename)
            nodes = source.nodes_at(frame.row) if source else ()
            yield from (node for node in nodes if isinstance(node, ast.Call))


class SeenError(_SeenProblem):
    """A known error with the user's frames that led to it."""

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

    ``stack`` begins with the callers of the compiled frame.
    """

    def __init__(self, fact: Broken, places: FactLocator, marks: MarkUses) -> None:
        self.fact, self.places, self.marks = fact, places, marks
        self.stack = places.full_stack(fact.stack, fact.compile_id)
        super().__init__(places.own(self.stack), places.workspace.source)
