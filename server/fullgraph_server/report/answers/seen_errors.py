"""An error that a program raised, or that ended a compilation, beside the program's text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from fullgraph_compiler.facts import StackFrame

from ...text.known_errors import KnownError
from ...workspace.source import SourceFile
from .marks import Mark
from .words import line_of


class SeenError:
    """An error of the program, and the calls of its own that led to it."""

    def __init__(
        self,
        known: KnownError,
        message: str,
        own: Sequence[StackFrame],
        source: Callable[[str], SourceFile | None],
        untraced: Collection[tuple[str, int]],
    ) -> None:
        self.untraced = untraced
        self.known, self.message, self._own, self._source = known, message, own, source
        self.filename, self.row = (own[-1].filename, own[-1].row) if own else ("", 0)
        named = known.message.search(message)
        self.name = named["name"] if named and "name" in named.re.groupindex else ""

    @property
    def source(self) -> SourceFile | None:
        """The file in which the error was raised."""
        return self._source(self.filename) if self.filename else None

    def line(self, mark: Mark) -> str:
        """Name the line of a mark."""
        return line_of(mark, self.filename)

    def calls(self) -> Iterator[ast.Call]:
        """Yield the calls that begin in the lines of the stack, those of the innermost line first."""
        for frame in reversed(self._own):
            source = self._source(frame.filename)
            nodes = source.nodes_at(frame.row) if source else ()
            yield from (node for node in nodes if isinstance(node, ast.Call))
