"""One source file: its text and lines, its syntax tree, and columns in characters."""

from __future__ import annotations

import ast
import errno
import io
import os
import stat
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from .notebooks.file import NOTEBOOK, read_cells
from .notebooks.program import MOST_PARSED, NotebookError, program
from .syntax import first_row, last_row

_MOST_BYTES: Final = 16 << 20
"""The limit in bytes of a file's size: nobody writes larger files by hand."""
TOO_LONG: Final = (
    f"The file is longer than {MOST_PARSED:,} characters: Fullgraph does not parse it, and finds no example "
    "calls, tests or ignore comments in it."
)


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A file's content when it was read. Rows are 1-based."""

    filename: str
    text: str
    cells: tuple[int, ...] = ()
    """The first row of each code cell, if the text is the program of a notebook."""

    def __reduce__(self) -> tuple[type[SourceFile], tuple[str, str, tuple[int, ...]]]:
        """Pickle only the content that was read: other processes can compute the rest."""
        return SourceFile, (self.filename, self.text, self.cells)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines as Python's tokenizer counts them, without line ends."""
        text = self.text
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return tuple(text.split("\n"))

    @property
    def is_long(self) -> bool:
        """Whether the text is too long to parse.

        A syntax tree takes hundreds of times the memory of the text.
        """
        return len(self.text) > MOST_PARSED

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree; ``None`` if the text has a syntax error or is too long."""
        if self.is_long:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def line(self, row: int) -> str:
        """Return the line at ``row``; "" if the file has no such row."""
        return self.lines[row - 1] if 1 <= row <= len(self.lines) else ""

    def column(self, row: int, offset: int) -> int:
        """Return the 1-based character column of a 0-based UTF-8 byte offset in a line."""
        line = self.line(row)
        if line.isascii():
            return min(max(offset, 0), len(line)) + 1
        return len(line.encode("utf-8", "surrogatepass")[: max(offset, 0)].decode("utf-8", "ignore")) + 1

    def offset(self, row: int, column: int) -> int:
        """Return the 0-based UTF-8 byte offset in a line of a 1-based character column.

        This is the inverse of :meth:`column`.
        """
        return len(self.line(row)[: column - 1].encode("utf-8", "surrogatepass"))

    def cell(self, row: int) -> tuple[int, int]:
        """Return the number of a row's code cell, and the row within the cell.

        If there are no cells, return 0 and the row.
        """
        number = bisect_right(self.cells, row)
        return number, row - self.cells[number - 1] + 1 if number else row

    def place(self, row: int) -> str:
        """Return a row as shown to users: ``12``, or ``cell 3:2`` in a notebook."""
        cell, row = self.cell(row)
        return f"cell {cell}:{row}" if cell else str(row)

    def row_words(self, row: int) -> str:
        """Return a row for use after "line": ``12``, or ``2 of cell 3`` in a notebook."""
        cell, row = self.cell(row)
        return f"{row} of cell {cell}" if cell else str(row)

    def until(self, cell: int) -> SourceFile:
        """Return the program up to and including a code cell.

        For the last cell, return this file itself.
        """
        if not 0 < cell < len(self.cells):
            return self
        text = "\n".join(self.lines[: self.cells[cell] - 1])
        return SourceFile(self.filename, text, self.cells[:cell])

    def by_cell(self) -> list[str]:
        """Return the program of each code cell."""
        ends = [*(row - 1 for row in self.cells[1:]), len(self.lines)]
        return ["\n".join(self.lines[row - 1 : end]) for row, end in zip(self.cells, ends, strict=True)]

    def still_is(self, ran: SourceFile) -> bool:
        """Return whether this text is the text that ran; a notebook may have more cells."""
        return self.until(len(ran.cells)).lines == ran.lines

    def nodes_at(self, row: int) -> Sequence[ast.expr | ast.stmt | ast.arg]:
        """Return the syntax nodes that begin in ``row``, outer nodes before inner ones."""
        return self._nodes.get(row, ())

    @cached_property
    def functions(self) -> Mapping[tuple[int, str], tuple[int, int]]:
        """The first and last row of each function, by its ``def`` row and name.

        The first row is the row of the first decorator, if there is one.
        """
        rows: dict[tuple[int, str], tuple[int, int]] = {}
        for node in ast.walk(self.tree) if self.tree else ():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                rows[node.lineno, node.name] = (first_row(node), last_row(node))
            elif isinstance(node, ast.Lambda):
                rows[node.lineno, "<lambda>"] = (node.lineno, last_row(node))
        return rows

    @cached_property
    def _nodes(self) -> Mapping[int, Sequence[ast.expr | ast.stmt | ast.arg]]:
        rows: dict[int, list[ast.expr | ast.stmt | ast.arg]] = {}
        if self.tree is not None:
            for node in ast.walk(self.tree):
                if isinstance(node, (ast.expr, ast.stmt, ast.arg)):
                    rows.setdefault(node.lineno, []).append(node)
        return rows


class SourceReader:
    """A cached reader of files.

    A file is read again only if its modification time or size has changed.
    """

    def __init__(self) -> None:
        self._files: dict[str, tuple[tuple[int, int], SourceFile | None]] = {}

    def __call__(self, filename: str) -> SourceFile | None:
        """Return the file, or ``None`` if it is missing or not Python text."""
        try:
            status = os.stat(filename)
        except (OSError, ValueError):
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        cached = self._files.get(filename)
        if cached is None or cached[0] != stamp:
            cached = self._files[filename] = (stamp, read_source(filename))
        return cached[1]


def read_source(filename: str) -> SourceFile | None:
    """Read a Python file or notebook in its declared encoding.

    Return ``None`` if the file cannot be read.
    """
    try:
        if filename.endswith(NOTEBOOK):
            return SourceFile(filename, *program(read_cells(read_bytes(filename))))
        data = io.BytesIO(read_bytes(filename))
        encoding, _ = tokenize.detect_encoding(data.readline)
        data.seek(0)
        return SourceFile(filename, io.TextIOWrapper(data, encoding).read())
    except (OSError, SyntaxError, ValueError):
        return None


def read_bytes(filename: str) -> bytes:
    """Read a regular file of limited size. Raises ``OSError`` for anything else.

    Reading a pipe could block forever, and a device has no end.
    """
    try:
        filename.encode()
    except UnicodeEncodeError:
        raise OSError(errno.EILSEQ, "its path is not UTF-8") from None
    if not stat.S_ISREG(os.stat(filename).st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    with open(filename, "rb") as stream:
        data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {_MOST_BYTES >> 20} MiB")
    return data


def unreadable(filename: str) -> str:
    """Return why a file cannot be read, as part of a sentence; "" if it can be read."""
    try:
        data = read_bytes(filename)
        if filename.endswith(NOTEBOOK):
            program(read_cells(data))
    except OSError as error:
        why = error.strerror or str(error)
        is_large = error.errno == errno.EFBIG and filename.endswith(NOTEBOOK)
        return f"{why}: clear its outputs" if is_large else why
    except NotebookError as error:
        return str(error)
    return ""
