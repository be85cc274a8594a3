"""The notebooks that the client shows, each as one Python program: a map of its rows to those of cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..workspace.notebooks.program import Cell, NotebookError, program
from ..workspace.source import SourceFile


@dataclass(frozen=True)
class ShownCell:
    """A code cell that the client shows."""

    uri: str
    version: int | None
    language: str
    text: str


@dataclass(frozen=True)
class Notebook:
    """A notebook as the client shows it now."""

    uri: str
    version: int
    cells: tuple[ShownCell, ...]

    @property
    def problem(self) -> str:
        """The reason why the notebook is no program, as a part of a sentence; empty if it is one."""
        return self._program[2]

    @property
    def rows(self) -> tuple[int, ...]:
        """The first row of each cell in the program."""
        return self._program[1]

    def source(self, filename: str) -> SourceFile | None:
        """Return the program; ``None`` if the notebook is none."""
        text, rows, problem = self._program
        return None if problem else _source(filename, text, rows)

    def first_row(self, cell: str) -> int | None:
        """Return the row in the program that a cell begins in; ``None`` for a cell that has none."""
        rows = (row for shown, row in zip(self.cells, self.rows, strict=False) if shown.uri == cell)
        return next(rows, None)

    def number(self, cell: str) -> int:
        """Return the number of a code cell; 0 if it is gone."""
        return next((number for number, shown in enumerate(self.cells, 1) if shown.uri == cell), 0)

    def extents(self) -> Iterator[tuple[ShownCell, int, int]]:
        """Yield each cell with its first row, and the first row after it."""
        for cell, row in zip(self.cells, self.rows, strict=False):
            yield cell, row, row + cell.text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1

    @cached_property
    def _program(self) -> tuple[str, tuple[int, ...], str]:
        try:
            return *program([Cell(cell.language, cell.text) for cell in self.cells]), ""
        except NotebookError as error:
            return "", (), str(error)


@lru_cache(maxsize=64)
def _source(filename: str, text: str, rows: tuple[int, ...]) -> SourceFile:
    # Kept: what is known of a text, such as its tree, hangs on the object.
    return SourceFile(filename, text, rows)


class Notebooks:
    """Finder of notebooks among the documents of the client."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._kept: dict[str, Notebook] = {}

    def uri_of(self, cell: str) -> str | None:
        """Return the URI of the notebook that a cell is in."""
        document = self._server.workspace.get_notebook_document(cell_uri=cell)
        return document.uri if document else None

    def all(self) -> Iterator[Notebook]:
        """Yield the notebooks that the client shows."""
        for uri in list(self._server.workspace.notebook_documents):
            if (notebook := self.at(uri)) is not None:
                yield notebook

    def at(self, uri: str) -> Notebook | None:
        """Return the notebook of a URI of its own or of one of its cells."""
        workspace = self._server.workspace
        document = workspace.get_notebook_document(notebook_uri=uri) or workspace.get_notebook_document(
            cell_uri=uri
        )
        if document is None:
            return None
        notebook = Notebook(document.uri, document.version, tuple(self._cells(document)))
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
