"""The answer to a graph break or error, built from parts; phrases for lines."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, replace
from typing import Final

from ...workspace.source import SourceFile
from .marks import MarkUse

_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class FindingAnswer:
    """The answer to a graph break or an error; an empty answer changes nothing.

    ``note`` is added to torch's explanation, or replaces the part ``replaced`` of it. ``hints`` come before
    torch's hints; with ``instead``, they replace torch's hints, which are then wrong or redundant. ``eager``
    is a clause that says what runs eagerly because of the break. ``title`` replaces torch's message. The
    finding is placed on the first call of ``operator``, if given. ``blame`` is a sentence that says what is
    at fault, if the failing stage of the compiler is not.
    """

    note: str = ""
    hints: tuple[str, ...] = ()
    replaced: str = ""
    instead: bool = False
    eager: str = ""
    title: str = ""
    operator: str = ""
    blame: str = ""

    def with_part(self, other: FindingAnswer) -> FindingAnswer:
        """Return this answer with the parts of another answer added."""
        return replace(
            self,
            note="\n".join(filter(None, (self.note, other.note))),
            hints=(*self.hints, *other.hints),
            replaced=self.replaced or other.replaced,
            instead=self.instead or other.instead,
            eager=self.eager or other.eager,
            blame=self.blame or other.blame,
        )

    def explained(self, explanation: str) -> str:
        """Return torch's explanation with the note added or replacing ``replaced``."""
        if self.replaced and self.replaced in explanation:
            return explanation.replace(self.replaced, self.note, 1)
        first, gap, rest = explanation.partition("\n\n")  # only the first paragraph is always shown
        return "\n".join(filter(None, (first, self.note))) + gap + rest

    def advised(self, hints: tuple[str, ...]) -> tuple[str, ...]:
        """Return the answer's hints and torch's ``hints``, unless the former replace them."""
        return self.hints if self.instead else (*self.hints, *hints)


def written(node: ast.expr | None, otherwise: str) -> str:
    """Return the source of an expression; ``otherwise`` if it is missing or long."""
    text = ast.unparse(node) if node is not None else ""
    return text if text and len(text) <= _LONGEST else otherwise


def line_of(mark: MarkUse, filename: str) -> str:
    """Name the line of a mark, with the file's name if that is not ``filename``."""
    return row_of(mark.source, mark.row, filename)


def row_of(source: SourceFile, row: int, filename: str) -> str:
    """Name a line of a file, with the file's name if that is not ``filename``."""
    if source.filename == filename:
        return f"line {source.row_words(row)}"
    return f"{os.path.basename(source.filename)}:{source.place(row)}"
