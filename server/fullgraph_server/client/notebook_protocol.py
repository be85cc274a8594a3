"""Notebooks in messages: one program for the server, cells for the client.

A row that arrives with the URI of a cell becomes a row of the program; rows of the program are sent as rows
of cells. So features need no code for notebooks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..workspace.notebooks.file import NOTEBOOK
from .answering import AnsweringProtocol
from .notebooks import NotebookFinder, OpenNotebook, ShownCell

SYNC = types.NotebookDocumentSyncOptions(
    notebook_selector=[types.NotebookDocumentFilterWithNotebook("jupyter-notebook")], save=True
)
"""The notebooks whose changes the client is asked to send."""

_Json = Any


class NotebookProtocol(AnsweringProtocol):
    """The LSP protocol that translates rows of notebook programs to rows of cells."""

    def __init__(self, server: LanguageServer, converter: Any) -> None:
        super().__init__(server, converter)
        self._notebooks = NotebookFinder(server)
        self._cells: dict[Any, str] = {}
        """The URI of the cell that a request is about, by the id of the request."""
        self._told: dict[str, _Json] = {}
        """The diagnostics that were last published for each cell."""

    def read_message(self, data: dict[str, Any]) -> Any:
        """Convert a client's message; rows of cells become rows of the program."""
        params = data.get("params")
        if self._workspace is not None and isinstance(params, dict):
            uri = _uri_of(params)
            notebook = self._notebooks.at(uri) if uri else None
            if uri and notebook and (first := notebook.first_row(uri)) is not None:
                data = {**data, "params": _shifted(params, first - 1)}
                if "id" in data:
                    self._cells[data["id"]] = uri
            for closed in _closed_cells(params):
                self._tell({"uri": closed, "diagnostics": []})
        return super().read_message(data)

    def _send_data(self, data: Any) -> None:
        cell = self._cells.pop(getattr(data, "id", None), "")
        notebooks = list(self._notebooks.all()) if self._workspace is not None else []
        if isinstance(getattr(data, "params", None), types.PublishDiagnosticsParams):
            for params in diagnostics_of_cells(self._converter.unstructure(data.params), notebooks):
                self._tell(params)
        elif notebooks:
            message = json.loads(json.dumps(data, default=self._serialize_message))
            super()._send_data(in_cells(message, notebooks, cell))
        else:
            super()._send_data(data)

    def _tell(self, params: _Json) -> None:
        """Publish diagnostics; for a cell, only if they differ from those published last."""
        uri, found = params["uri"], params["diagnostics"]
        if uri.startswith("file:") or self._told.get(uri, []) != found:
            self._told[uri] = found
            method = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
            super()._send_data({"jsonrpc": self.VERSION, "method": method, "params": params})


def in_cells(message: _Json, notebooks: list[OpenNotebook], cell: str = "") -> _Json:
    """Replace rows of programs in a message by rows of cells.

    ``cell`` is the URI of the cell that the request was about.
    """
    cells = _CellMap(notebooks)
    content = {key: message[key] for key in ("result", "params") if key in message}
    return {**message, **{key: cells.written(value, cells.of(cell)) for key, value in content.items()}}


def diagnostics_of_cells(params: _Json, notebooks: list[OpenNotebook]) -> Iterator[_Json]:
    """Split the diagnostics of a notebook's program by cell.

    Diagnostics of other documents are yielded unchanged.
    """
    if params["uri"].endswith(NOTEBOOK) or notebooks:
        yield from _CellMap(notebooks).diagnostics(params)
    else:
        yield params


class _CellExtent:
    """A cell, and the 0-based lines of the program that are in it."""

    def __init__(self, cell: ShownCell, first: int, end: int) -> None:
        self.uri, self.version = cell.uri, cell.version
        self.first, self.end = first - 1, end - 1
        self.last_width = len(cell.text[cell.text.rfind("\n") + 1 :].encode("utf-16-le")) // 2


class _OtherCellError(Exception):
    """A position outside of the cell that the request was about."""


class _CellMap:
    """The map from URIs and rows of programs to cells."""

    def __init__(self, notebooks: list[OpenNotebook]) -> None:
        self._extents: dict[str, list[_CellExtent]] = {}
        for notebook in notebooks:
            extents = [_CellExtent(*extent) for extent in notebook.extents()]
            self._extents[notebook.uri] = extents
            self._extents.update((extent.uri, extents) for extent in extents)

    def of(self, uri: str) -> _CellExtent | None:
        """Return the cell with this URI."""
        return next((extent for extent in self._extents.get(uri, ()) if extent.uri == uri), None)

    def at(self, uri: Any, line: int) -> _CellExtent | None:
        """Return the cell around a line of a program; ``None`` for another document."""
        extents = self._extents.get(uri, ()) if isinstance(uri, str) else ()
        return next((extent for extent in extents if line < extent.end), None)

    def diagnostics(self, params: _Json) -> Iterator[_Json]:
        """Yield the diagnostics of each cell; diagnostics of other documents unchanged."""
        extents = self._extents.get(params["uri"])
        if extents is None and not params["uri"].endswith(NOTEBOOK):
            yield {**params, "diagnostics": self.written(params["diagnostics"], None)}
        for extent in extents or ():
            found = [item for item in params["diagnostics"] if self._starts_in(extent, item)]
            yield {
                "uri": extent.uri,
                "version": extent.version,
                "diagnostics": self.written(found, extent),
            }

    def _starts_in(self, extent: _CellExtent, item: _Json) -> bool:
        return bool(extent.first <= item["range"]["start"]["line"] < extent.end)

    def written(self, value: _Json, cell: _CellExtent | None) -> _Json:
        """Replace rows of programs in a value by rows of cells.

        Rows without a URI belong to ``cell``.
        """
        if isinstance(value, list):
            return list(self._items(value, cell))
        if not isinstance(value, dict):
            return value
        try:
            return self._object(value, cell)
        except _OtherCellError:
            return None

    def _items(self, values: list[_Json], cell: _CellExtent | None) -> Iterator[_Json]:
        for value in values:
            if isinstance(value, dict) and "edits" in value and "textDocument" in value:
                yield from self._document_edits(value)
                continue
            try:
                yield self._object(value, cell) if isinstance(value, dict) else self.written(value, cell)
            except _OtherCellError:
                continue

    def _object(self, value: dict[str, _Json], cell: _CellExtent | None) -> dict[str, _Json]:
        if value.keys() == {"line", "character"}:
            return _position(value, cell)
        if value.keys() == {"start", "end"}:
            return _range(value, cell)
        if {"startLine", "endLine"} <= value.keys() and cell:  # of ``fullgraph/graphLines``
            return {**value, **_lines(value["startLine"], value["endLine"], cell)}
        own = cell
        for name, place in (("uri", "range"), ("targetUri", "targetRange")):
            if isinstance(value.get(name), str) and isinstance(value.get(place), dict):
                own = self.at(value[name], value[place]["start"]["line"])
                value = {**value, name: own.uri if own else value[name]}
        written: dict[str, _Json] = {}
        for key, item in value.items():
            of = cell if key == "originSelectionRange" else own
            if key == "changes" and isinstance(item, dict):
                written[key] = dict(self._changes(item))
            elif isinstance(item, list):
                written[key] = list(self._items(item, of))
            else:
                written[key] = self._object(item, of) if isinstance(item, dict) else item
        return written

    def _document_edits(self, value: dict[str, _Json]) -> Iterator[_Json]:
        document = value["textDocument"]
        for uri, edits in self._edits(document["uri"], value["edits"]):
            own = self.of(uri)
            version = own.version if own else document.get("version")
            yield {"textDocument": {"uri": uri, "version": version}, "edits": edits}

    def _changes(self, changes: dict[str, _Json]) -> Iterator[tuple[str, _Json]]:
        for uri, edits in changes.items():
            yield from self._edits(uri, edits)

    def _edits(self, uri: str, edits: list[_Json]) -> Iterator[tuple[str, list[_Json]]]:
        """Yield the edits of each cell; edits of other documents unchanged."""
        if uri not in self._extents:
            yield uri, edits
            return
        by_cell: dict[str, list[_Json]] = {}
        for edit in edits:
            line = edit["range"]["start"]["line"]
            above = self.at(uri, line - 1)
            if above is not None and above.end == line and edit["newText"].startswith("\n"):
                by_cell.setdefault(above.uri, []).append(_appended(edit, above))
            elif (own := self.at(uri, line)) is not None:
                by_cell.setdefault(own.uri, []).append(_edit(edit, own))
        yield from by_cell.items()


def _position(value: dict[str, int], cell: _CellExtent | None) -> dict[str, int]:
    if cell is None:
        return value
    if not cell.first <= value["line"] < cell.end:
        raise _OtherCellError
    return {**value, "line": value["line"] - cell.first}


def _range(value: dict[str, _Json], cell: _CellExtent | None) -> dict[str, _Json]:
    """Convert a range of the program to rows of a cell, cut at the cell's end."""
    if cell is None:
        return value
    end = value["end"]
    if end["line"] >= cell.end:
        end = {"line": cell.end - 1, "character": cell.last_width}
    return {"start": _position(value["start"], cell), "end": _position(end, cell)}


def _lines(first: int, last: int, cell: _CellExtent) -> dict[str, int]:
    if last < cell.first or first >= cell.end:
        raise _OtherCellError
    return {"startLine": max(first, cell.first) - cell.first, "endLine": min(last, cell.end - 1) - cell.first}


def _appended(edit: dict[str, _Json], cell: _CellExtent) -> dict[str, _Json]:
    """Turn an insertion between two cells into an insertion at the end of the first."""
    if edit["range"]["start"] != edit["range"]["end"]:
        raise _OtherCellError  # it replaces lines of the next cell
    end = {"line": cell.end - 1 - cell.first, "character": cell.last_width}
    return {**edit, "range": {"start": end, "end": end}, "newText": "\n" + edit["newText"].removesuffix("\n")}


def _edit(edit: dict[str, _Json], cell: _CellExtent) -> dict[str, _Json]:
    """Convert an edit of the program to rows of a cell.

    The line end after a cell's last line is not part of the cell's text.
    """
    end = edit["range"]["end"]
    if end["line"] > cell.end or (end["line"] == cell.end and end["character"]):
        raise _OtherCellError  # it changes several cells: which cell gets its new lines is unknown
    text = edit["newText"]
    if end["line"] == cell.end:
        text = text.removesuffix("\n").removesuffix("\r")
    return {**edit, "range": _range(edit["range"], cell), "newText": text}


def _uri_of(params: dict[str, _Json]) -> str:
    """Return the URI of the document that a request is about."""
    document = params.get("textDocument")
    uri = document.get("uri") if isinstance(document, dict) else None
    return uri if isinstance(uri, str) else ""


def _closed_cells(params: dict[str, _Json]) -> Iterator[str]:
    """Yield the URIs of cells that were closed with their notebook or deleted from it."""
    change = params.get("change") or {}
    structure = (change.get("cells") or {}).get("structure") or {} if isinstance(change, dict) else {}
    for cell in (*(params.get("cellTextDocuments") or ()), *(structure.get("didClose") or ())):
        if "text" not in cell:
            yield cell["uri"]


def _shifted(value: _Json, rows: int) -> _Json:
    """Return a value with all its positions moved down by ``rows`` rows."""
    if isinstance(value, list):
        return [_shifted(item, rows) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"line", "character"}:
        return {**value, "line": value["line"] + rows}
    return {key: _shifted(item, rows) for key, item in value.items()}
