"""Edits applied to a text, and the statements that they replace."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..workspace.source import SourceFile
from .model import Edit

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Replaced:
    """The statements of one block that edits replace: their rows, and the text that takes their place.

    ``text`` has the indentation of the file.
    """

    first_row: int
    last_row: int
    text: str


def edited(source: SourceFile, edits: Iterable[Edit]) -> str:
    """Return the text of a file with edits, which do not overlap; other characters stay as they are."""
    starts = _line_starts(source.text)
    text = source.text
    for edit in sorted(edits, key=_place, reverse=True):
        first = starts[edit.span.row - 1] + edit.span.column - 1
        last = starts[edit.span.end_row - 1] + edit.span.end_column - 1
        written = edit.text.replace("\n", "\r\n") if "\r\n" in source.text else edit.text
        text = text[:first] + written + text[last:]
    return text


def edited_texts(files: Mapping[str, SourceFile | None], edits: Iterable[Edit]) -> dict[str, tuple[str, str]]:
    """Return the texts of the files that edits are of, before and after.

    Files that are not there are left out.
    """
    edits = list(dict.fromkeys(edits))
    texts: dict[str, tuple[str, str]] = {}
    for filename in dict.fromkeys(edit.span.filename for edit in edits):
        if (source := files.get(filename)) is not None:
            own = [edit for edit in edits if edit.span.filename == filename]
            texts[filename] = source.text, edited(source, own)
    return texts


def replaced(source: SourceFile, edits: Sequence[Edit]) -> list[Replaced]:
    """Return what edits replace in functions: for each edit the smallest run of whole statements.

    Insertions outside of functions, such as imports, replace nothing.
    """
    if source.tree is None:
        return []
    spans = dict.fromkeys(rows for edit in edits if (rows := _statements(source.tree, edit)) is not None)
    return [replaced_rows(source, edits, *rows) for rows in _joined(source, spans)]


def _joined(source: SourceFile, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join statements that follow one another: what one computes, the next one may use."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and found[-1][1] + 1 == first and _indent(source, found[-1][0]) == _indent(source, first):
            found[-1] = found[-1][0], last
        else:
            found.append((first, last))
    return found


def _indent(source: SourceFile, row: int) -> int:
    line = source.line(row)
    return len(line) - len(line.lstrip())


def replaced_rows(source: SourceFile, edits: Sequence[Edit], first: int, last: int) -> Replaced:
    """Return what edits make of some rows."""
    end = last + 1, 1
    inside = [
        edit for edit in edits if first <= edit.span.row and (edit.span.end_row, edit.span.end_column) <= end
    ]
    starts = _line_starts(source.text)
    after = edited(source, inside)
    rest = len(source.text) - starts[last]
    return Replaced(first, last, after[starts[first - 1] : len(after) - rest])


def _statements(tree: ast.Module, edit: Edit) -> tuple[int, int] | None:
    """Return the first and last row of the innermost statements of a function that an edit is within."""
    best: tuple[int, int] | None = None
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for block in _blocks(function):
            touched = [item for item in block if touches(item, edit)]
            if touched:
                rows = (first_row(touched[0]), max(item.end_lineno or item.lineno for item in touched))
                if rows[0] <= edit.span.row and (best is None or rows[1] - rows[0] <= best[1] - best[0]):
                    best = rows
    return best


def _blocks(node: ast.AST) -> Iterable[list[ast.stmt]]:
    for child in ast.walk(node):
        for _, value in ast.iter_fields(child):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value


def touches(statement: ast.stmt, edit: Edit) -> bool:
    """Tell whether an edit is in the rows of a statement, or beside them."""
    span, last = edit.span, statement.end_lineno or statement.lineno
    is_of_lines = span.end_column == 1 and span.row < span.end_row  # which end where the next one begins
    return first_row(statement) <= span.end_row - is_of_lines and span.row <= last


def first_row(statement: ast.stmt) -> int:
    """Return the row in which a statement, or its first decorator, begins."""
    decorators = getattr(statement, "decorator_list", [])
    return min((item.lineno for item in decorators), default=statement.lineno)


def _place(edit: Edit) -> tuple[int, int]:
    return edit.span.row, edit.span.column


def _line_starts(text: str) -> list[int]:
    """Return the offset of each line, as :class:`SourceFile` counts them, and of the end."""
    return [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
