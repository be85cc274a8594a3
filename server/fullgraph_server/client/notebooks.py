"""Open notebooks, each as one Python program with a map from rows to cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..workspace.notebooks.program import NotebookCell, NotebookError, program
from ..workspace.source import SourceFile


@dataclass(frozen=True)
class ShownCell:
    """A code cell of an open notebook, with its current text."""

    uri: str
    version: int | None
    language: str
    text: str


@dataclass(frozen=True)
class OpenNotebook:
    """The current state of an open notebook."""

    uri: str
    version: int
    cells: tuple[ShownCell, ...]

    @property
    def problem(self) -> str:
        """The reason why the notebook is not a program, as part of a sentence.

        Empty if the notebook is a program.
        """
        return self._program[2]

    @property
    def rows(self) -> tuple[int, ...]:
        """The first row of each cell in the program."""
        return self._program[1]

    def source(self, filename: str) -> SourceFile | None:
        """Return the notebook's program; ``None`` if the notebook is not a Python program."""
        text, rows, problem = self._program
        return None if problem else _source(filename, text, rows)

    def first_row(self, cell: str) -> int | None:
        """Return the program's row at which a cell begins; ``None`` for any other cell."""
        rows = (row for shown, row in zip(self.cells, self.rows, strict=False) if shown.uri == cell)
        return next(rows, None)

    def number(self, cell: str) -> int:
        """Return the 1-based number of a code cell; 0 if it does not exist."""
        return next((number for number, shown in enumerate(self.cells, 1) if shown.uri == cell), 0)

    def extents(self) -> Iterator[tuple[ShownCell, int, int]]:
        """Yield each cell with its first row and the first row after it."""
        for cell, row in zip(self.cells, self.rows, strict=False):
            yield cell, row, row + cell.text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1

    @cached_property
    def _program(self) -> tuple[str, tuple[int, ...], str]:
        try:
            return *program([NotebookCell(cell.language, cell.text) for cell in self.cells]), ""
        except NotebookError as error:
            return "", (), str(error)


@lru_cache(maxsize=64)
def _source(filename: str, text: str, rows: tuple[int, ...]) -> SourceFile:
    # Cached, since a source file caches what was computed from its text, such as its syntax tree.
    return SourceFile(filename, text, rows)


class NotebookFinder:
    """The notebooks that are open in the client."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._kept: dict[str, OpenNotebook] = {}

    def uri_of(self, cell: str) -> str | None:
        """Return the URI of the notebook that contains a cell."""
        document = self._server.workspace.get_notebook_document(cell_uri=cell)
        return document.uri if document else None

    def all(self) -> Iterator[OpenNotebook]:
        """Yield the notebooks that the client shows."""
        for uri in list(self._server.workspace.notebook_documents):
            if (notebook := self.at(uri)) is not None:
                yield notebook

    def at(self, uri: str) -> OpenNotebook | None:
        """Return the notebook that has this URI, or that has a cell with this URI."""
        workspace = self._server.workspace
        document = workspace.get_notebook_document(notebook_uri=uri) or workspace.get_notebook_document(
            cell_uri=uri
        )
        if document is None:
            return None
        notebook = OpenNotebook(document.uri, document.version, tuple(self._cells(document)))
        kept = self._kept.get(document.uri)
        if kept is not None and kept.cells == notebook.cells and kept.version == notebook.version:
            return kept
        self._kept[document.uri] = notebook
        return notebook

    def _cells(self, document: types.NotebookDocument) -> Iterator[ShownCell]:
        texts = self._server.workspace.text_documents
        for cell in document.cells:
            text = texts.get(unquote(cell.document))
            if cell.kind is types.NotebookCellKind.Code and text is not None:
                yield ShownCell(text.uri, text.version, text.language_id or "", text.source)
