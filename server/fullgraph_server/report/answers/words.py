"""An answer, as parts that are put together, and the words for the lines that it names."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, replace
from typing import Final

from ...workspace.source import SourceFile
from .marks import Mark

_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class Answer:
    """What is to be said of a break or an error.

    ``note`` is said of it, in the place of ``replaced`` if torch's explanation has that. ``hints`` come ahead
    of torch's, ``instead`` of them where torch's are false or add nothing. ``eager`` is what runs eagerly
    because of it, as a clause. ``title`` stands in the place of torch's message; the finding is then on the
    first call of ``operator``, if that is given. ``blame`` is a sentence that says what is at fault, where it
    is not the stage of the compiler that fails.
    """

    note: str = ""
    hints: tuple[str, ...] = ()
    replaced: str = ""
    instead: bool = False
    eager: str = ""
    title: str = ""
    operator: str = ""
    blame: str = ""

    def with_part(self, other: Answer) -> Answer:
        """Return both, this one first."""
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
        """Return torch's explanation with the note."""
        if self.replaced and self.replaced in explanation:
            return explanation.replace(self.replaced, self.note, 1)
        first, gap, rest = explanation.partition("\n\n")  # the first paragraph is what everyone sees
        return "\n".join(filter(None, (first, self.note))) + gap + rest

    def advised(self, hints: tuple[str, ...]) -> tuple[str, ...]:
        """Return the hints with those of torch, unless they are told instead of them."""
        return self.hints if self.instead else (*self.hints, *hints)


def written(node: ast.expr | None, otherwise: str) -> str:
    """Write a short expression as the program does; ``otherwise`` for none, or a long one."""
    text = ast.unparse(node) if node is not None else ""
    return text if text and len(text) <= _LONGEST else otherwise


def line_of(mark: Mark, filename: str) -> str:
    """Name the line of a mark, with its file if that is another one than ``filename``."""
    return row_of(mark.source, mark.row, filename)


def row_of(source: SourceFile, row: int, filename: str) -> str:
    """Name a line of a file, with the file if that is another one than ``filename``."""
    if source.filename == filename:
        return f"line {source.row_words(row)}"
    return f"{os.path.basename(source.filename)}:{source.place(row)}"
