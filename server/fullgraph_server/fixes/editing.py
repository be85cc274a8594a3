"""Edits applied to a text, and the statements that they replace."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from fullgraph_compiler.facts import Trial

from ..workspace.source import SourceFile
from ..workspace.syntax import blocks, first_row, last_row
from .model import Edit, Fix

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class ReplacedBlock:
    """Statements of one block that edits replace: their rows, and the new text.

    ``text`` has the indentation of the file.
    """

    first_row: int
    last_row: int
    text: str


BlocksOf: TypeAlias = Callable[[SourceFile, Sequence[Edit]], list[ReplacedBlock]]
"""A function that returns the statements of a file that the given edits replace."""


def edited(source: SourceFile, edits: Iterable[Edit]) -> str:
    """Return a file's text with edits, which must not overlap.

    All other characters are unchanged.
    """
    starts = line_starts(source.text)
    text = source.text
    for edit in sorted(edits, key=lambda edit: (edit.span.row, edit.span.column), reverse=True):
        first = starts[edit.span.row - 1] + edit.span.column - 1
        last = starts[edit.span.end_row - 1] + edit.span.end_column - 1
        written = edit.text.replace("\n", "\r\n") if "\r\n" in source.text else edit.text
        text = text[:first] + written + text[last:]
    return text


def are_apart(edits: Iterable[Edit]) -> bool:
    """Tell whether edits do not overlap.

    Equal edits count as one, and insertions may be adjacent.
    """
    spans = sorted(
        (span.filename, (span.row, span.column), (span.end_row, span.end_column))
        for span in {edit: edit.span for edit in edits}.values()
    )
    return all(first[0] != second[0] or first[2] <= second[1] for first, second in pairwise(spans))


def edited_texts(files: Mapping[str, SourceFile | None], edits: Iterable[Edit]) -> dict[str, tuple[str, str]]:
    """Return the texts of the edited files, before and after the edits.

    Missing files are left out.
    """
    edits = list(dict.fromkeys(edits))
    return {
        filename: (source.text, edited(source, [edit for edit in edits if edit.span.filename == filename]))
        for filename in dict.fromkeys(edit.span.filename for edit in edits)
        if (source := files.get(filename)) is not None
    }


def replaced(source: SourceFile, edits: Sequence[Edit]) -> list[ReplacedBlock]:
    """Return the statements in functions that edits replace.

    For each edit, these are the fewest whole statements that contain the edit. Insertions outside of
    functions, such as imports, replace nothing.
    """
    if source.tree is None:
        return []
    spans = dict.fromkeys(rows for edit in edits if (rows := _statements(source.tree, edit)) is not None)
    return [replaced_rows(source, edits, *rows) for rows in _joined(source, spans)]


def edited_files(files: Mapping[str, SourceFile | None], fix: Fix) -> dict[str, SourceFile]:
    """Return the files that a fix edits."""
    names = dict.fromkeys(edit.span.filename for edit in fix.edits)
    return {name: source for name in names if (source := files.get(name)) is not None}


def trials_of(files: Mapping[str, SourceFile | None], fix: Fix, parts: BlocksOf) -> list[Trial]:
    """Return the trials of a fix: for each block that it edits, the new statements."""
    trials: list[Trial] = []
    defines, in_place = "", False
    if fix.operator is not None:
        defines, in_place = fix.operator.definition, fix.operator.in_place
    for filename, source in edited_files(files, fix).items():
        edits = [edit for edit in fix.edits if edit.span.filename == filename]
        for part in parts(source, edits):
            trial = Trial(
                len(trials) + 1,
                filename,
                part.first_row,
                part.last_row,
                part.text,
                fix.runs_skipped,
                fix.errors_differ,
                defines,
                gradients=not in_place,
                prints=not fix.prints_differ,
                owned=fix.owned,
                raises_more=fix.raises_more,
            )
            trials.append(trial)
    return trials


def is_across(source: SourceFile, edit: Edit) -> bool:
    """Tell whether an edit of a function begins or ends outside the function's body.

    An edit that removes the whole function does not count, because it changes the callers, not the function.
    """
    if source.tree is None or _statements(source.tree, edit) is not None:
        return False
    return any(
        _touched(item, edit) and not _is_removed(item, edit)
        for item in ast.walk(source.tree)
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
    )


def _is_removed(function: ast.FunctionDef | ast.AsyncFunctionDef, edit: Edit) -> bool:
    is_inside = edit.span.row <= first_row(function) and (function.end_lineno or 0) < edit.span.end_row
    return is_inside and f"def {function.name}(" not in edit.text


def _joined(source: SourceFile, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join adjacent statements: one may use a value that the previous computes."""
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


def replaced_rows(source: SourceFile, edits: Sequence[Edit], first: int, last: int) -> ReplacedBlock:
    """Return the rows ``first`` to ``last`` with their new text.

    Comments after the rows are included if the same edits change them.
    """
    behind = max([last, *(_last_row(edit) for edit in edits if first <= edit.span.row <= last)])
    end = behind + 1, 1
    inside = [
        edit for edit in edits if first <= edit.span.row and (edit.span.end_row, edit.span.end_column) <= end
    ]
    starts = line_starts(source.text)
    after = edited(source, inside)
    rest = len(source.text) - starts[behind]
    return ReplacedBlock(first, last, after[starts[first - 1] : len(after) - rest])


def _last_row(edit: Edit) -> int:
    """Return the last row that an edit changes.

    An edit of whole lines ends at the start of the next line.
    """
    span = edit.span
    return span.end_row - (span.end_column == 1 and span.row < span.end_row)


def _statements(tree: ast.Module, edit: Edit) -> tuple[int, int] | None:
    """Return the rows of the innermost statements that contain an edit.

    The result is the first and last row of the statements of a function's block that the edit touches;
    ``None`` if no function contains the edit.
    """
    functions = (item for item in ast.walk(tree) if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)))
    inside = [block for function in functions for block in _touched(function, edit)]
    last = max((first_row(item) for block in _touched(tree, edit) for item in block), default=0)
    best: tuple[int, int] | None = None
    for block in inside:
        rows = (first_row(block[0]), max(last_row(item) for item in block))
        is_within = rows[0] <= edit.span.row and last <= rows[1]  # else the edit extends beyond it
        if is_within and (best is None or rows[1] - rows[0] <= best[1] - best[0]):
            best = rows
    return best


def _touched(node: ast.AST, edit: Edit) -> list[list[ast.stmt]]:
    """Return the statements below a node that an edit touches, grouped by block."""
    every = (block for child in ast.walk(node) for block in blocks(child))
    touched = ([item for item in block if touches(item, edit)] for block in every)
    return [block for block in touched if block]


def touches(statement: ast.stmt, edit: Edit) -> bool:
    """Tell whether an edit and a statement have a row in common."""
    last = last_row(statement)
    return first_row(statement) <= _last_row(edit) and edit.span.row <= last


def line_starts(text: str) -> list[int]:
    """Return the offset of each line, and the offset of the end of the text.

    Lines are split as in :class:`SourceFile`.
    """
    return [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
