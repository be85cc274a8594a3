"""A notebook that the client of the tests shows."""

from __future__ import annotations

import json
from pathlib import Path

from lsp_session import Editor, uri_of
from lsprotocol import types


class Notebook:
    """Plays the notebook editor of one file."""

    def __init__(self, editor: Editor, file: Path, *cells: str) -> None:
        self.editor, self.uri = editor, uri_of(file)
        self._versions: dict[str, int] = {}
        self._version = 1
        write(file, *cells)
        items = [self._item(f"{number}", text) for number, text in enumerate(cells)]
        document = types.NotebookDocument(
            self.uri, "jupyter-notebook", 1, [self._cell(item.uri) for item in items]
        )
        params = types.DidOpenNotebookDocumentParams(document, items)
        editor.notebook_document_did_open(params)

    def cell(self, number: int | str) -> str:
        """The URI of a cell, by the number that it was opened with."""
        return f"{self.uri.replace('file:', 'vscode-notebook-cell:')}#W{number}"

    def edit(self, number: int, text: str) -> None:
        """Replace the text of a cell."""
        uri = self.cell(number)
        self._versions[uri] += 1
        change = types.NotebookDocumentCellContentChanges(
            types.VersionedTextDocumentIdentifier(version=self._versions[uri], uri=uri),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
        self._change(types.NotebookDocumentCellChanges(text_content=[change]))

    def insert(self, index: int, name: str, text: str, language: str = "python") -> None:
        """Insert a cell."""
        item = self._item(name, text, language)
        array = types.NotebookCellArrayChange(start=index, delete_count=0, cells=[self._cell(item.uri)])
        structure = types.NotebookDocumentCellChangeStructure(array=array, did_open=[item])
        self._change(types.NotebookDocumentCellChanges(structure=structure))

    def save(self) -> None:
        """Tell that the notebook was saved."""
        params = types.DidSaveNotebookDocumentParams(types.NotebookDocumentIdentifier(self.uri))
        self.editor.notebook_document_did_save(params)

    def close(self) -> None:
        """Close the notebook."""
        cells = [types.TextDocumentIdentifier(uri) for uri in self._versions]
        document = types.NotebookDocumentIdentifier(self.uri)
        self.editor.notebook_document_did_close(types.DidCloseNotebookDocumentParams(document, cells))

    def shown(self, number: int | str) -> list[types.Diagnostic]:
        """The diagnostics of a cell."""
        params = self.editor.shown(self.cell(number))
        return list(params.diagnostics) if params else []

    def places(self, number: int | str) -> list[tuple[str, int]]:
        """The code and line of each diagnostic of a cell."""
        return [(str(item.code), item.range.start.line) for item in self.shown(number)]

    def _change(self, cells: types.NotebookDocumentCellChanges) -> None:
        self._version += 1
        document = types.VersionedNotebookDocumentIdentifier(self._version, self.uri)
        change = types.NotebookDocumentChangeEvent(cells=cells)
        self.editor.notebook_document_did_change(types.DidChangeNotebookDocumentParams(document, change))

    def _item(self, name: str, text: str, language: str = "python") -> types.TextDocumentItem:
        self._versions[self.cell(name)] = 1
        return types.TextDocumentItem(self.cell(name), language, 1, text)

    def _cell(self, uri: str) -> types.NotebookCell:
        return types.NotebookCell(types.NotebookCellKind.Code, uri)


def write(file: Path, *cells: str) -> None:
    """Write a notebook."""
    own = [{"cell_type": "code", "source": text, "metadata": {}} for text in cells]
    file.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": own}))
