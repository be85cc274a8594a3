"""The client's view of files: folders, URIs, versions, and encoded positions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from weakref import WeakKeyDictionary

from fullgraph_compiler.facts import SourceText
from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from ..report.model import Report
from ..workspace.drift import TextDrift
from ..workspace.notebooks.file import NOTEBOOK
from ..workspace.positions import Span
from ..workspace.source import SourceFile
from ..workspace.workspace import Workspace, project_root
from .notebooks import NotebookFinder, OpenNotebook

_NO_DRIFT = TextDrift(None, None)
_MOST_OF_LINE = 20_000
"""The most characters of a line that a request reads: it looks up every name in the line."""


class ClientDocuments:
    """Files by path: the text that the client shows, else the text on disk."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._notebooks = NotebookFinder(server)
        self._workspaces: dict[Path, Workspace] = {}
        self._sources: WeakKeyDictionary[TextDocument, tuple[int | None, SourceFile]] = WeakKeyDictionary()
        self._drifts: WeakKeyDictionary[SourceFile, TextDrift] = WeakKeyDictionary()

    # -- folders -------------------------------------------------------------------------------

    def workspaces(self) -> list[Workspace]:
        """Return the folders that are open in the client."""
        workspace = self._server.workspace
        paths = [uris.to_fs_path(folder.uri) for folder in workspace.folders.values()]
        paths = paths or [workspace.root_path]
        return [self._workspace(Path(path)) for path in paths if path]

    def workspace_of(self, filename: str) -> Workspace:
        """Return the innermost open folder around a file, else the file's project."""
        around = [item for item in self.workspaces() if Path(filename).is_relative_to(item.root)]
        if around:
            return max(around, key=lambda item: len(item.root.parts))
        return self._workspace(project_root(Path(filename)))

    def keeping_root(self, filename: str) -> Path | None:
        """Return the open folder for generated files: the file's folder, else the first."""
        opened = [workspace.root for workspace in self.workspaces()]
        own = self.workspace_of(filename).root
        return own if own in opened else next(iter(opened), None)

    def _workspace(self, root: Path) -> Workspace:
        # Cached, since each workspace caches the files that it has read.
        return self._workspaces.setdefault(root, Workspace(root))

    # -- files ---------------------------------------------------------------------------------

    def filename(self, uri: str) -> str | None:
        """Return the path of a file on disk; ``None`` for any other document.

        A notebook cell has the path of its notebook.
        """
        notebook = self._notebooks.uri_of(uri)
        return _path(notebook or uri)

    def notebook(self, filename: str) -> OpenNotebook | None:
        """Return the notebook that the client shows for a file, if it is open."""
        return next((item for item in self._notebooks.all() if _path(item.uri) == filename), None)

    def uri(self, filename: str) -> str:
        """Return the URI of a file, in the client's spelling if it has the file open."""
        document = self._open(filename)
        return document.uri if document else _uri(filename)

    def uris(self, filename: str) -> Sequence[str]:
        """Return the URIs of a file's open documents; for a notebook, of its cells."""
        document = self._open(filename)
        if isinstance(document, OpenNotebook):
            return [cell.uri for cell in document.cells]
        return [document.uri] if document else []

    def version(self, filename: str) -> int | None:
        """Return the version of the text that the client shows, if it shows the file."""
        document = self._open(filename)
        return document.version if document else None

    def is_open(self, filename: str) -> bool:
        """Tell whether the client shows a file."""
        return self._open(filename) is not None

    def source(self, filename: str) -> SourceFile | None:
        """Return the text that the client shows; for a closed file, the text on disk."""
        document = self._open(filename)
        if document is None:
            return self.workspace_of(filename).source(filename)
        if isinstance(document, OpenNotebook):
            return document.source(filename)
        cached = self._sources.get(document)
        if cached is None or cached[0] != document.version:
            cached = (document.version, SourceFile(filename, document.source))
            self._sources[document] = cached
        return cached[1]

    def drift(self, report: Report, filename: str) -> TextDrift:
        """Return the edits of a file since a report's run.

        If the report does not contain the file, there are no edits.
        """
        ran = report.files.get(filename)
        now = self.source(filename) if ran else None
        if ran is None or ran is now:
            return _NO_DRIFT
        drift = self._drifts.get(ran)
        if drift is None or drift.after is not now:
            drift = self._drifts[ran] = TextDrift(ran, now)
        return drift

    def has_cells_of(self, report: Report, filename: str, row: int = 0) -> bool:
        """Tell whether a notebook still begins with the cells that ran.

        If ``row`` is given, only the cells up to this row are compared.
        """
        ran, now = report.files.get(filename), self.source(filename)
        return bool(ran and ran.cells and now and now.still_is(ran.until(now.cell(row)[0])))

    def as_shown(self, workspace: Workspace) -> tuple[Workspace, tuple[SourceText, ...]]:
        """Freeze a workspace at the texts that the client shows.

        Also returns the shown texts that differ from the files on disk.
        """
        shown: dict[str, SourceFile] = {}
        opened = self._server.workspace.text_documents.values()
        for filename in dict.fromkeys(self.filename(document.uri) for document in opened):
            source = self.source(filename) if filename else None
            if source is not None:
                shown[source.filename] = source
        texts = []
        for filename, source in shown.items():
            saved = workspace.source(filename)
            if saved is not None and saved.lines != source.lines:
                texts.append(SourceText(filename, source.text))
        frozen = replace(workspace, read=lambda filename: shown.get(filename) or workspace.source(filename))
        return frozen, tuple(texts)

    def _open(self, filename: str) -> TextDocument | OpenNotebook | None:
        if filename.endswith(NOTEBOOK):
            return self.notebook(filename)
        documents: Mapping[str, TextDocument] = self._server.workspace.text_documents
        if (document := documents.get(_uri(filename))) is not None:
            return document
        # A client may spell URIs differently, for example by escaping other characters.
        return next((item for item in documents.values() if _path(item.uri) == filename), None)

    # -- positions -----------------------------------------------------------------------------

    def range(self, span: Span) -> types.Range:
        """Convert a span to a range in the client's position encoding."""
        lines = self._text(span.filename)
        start, end = (span.row, span.column), (span.end_row, span.end_column)
        return types.Range(self._to_client(lines, *start), self._to_client(lines, *max(start, end)))

    def line_range(self, filename: str, row: int) -> types.Range:
        """Return the range of a line's text, without its indentation and trailing blanks."""
        line = self.line(filename, row)
        start = len(line) - len(line.lstrip()) + 1
        return self.range(Span(filename, row, start, row, max(len(line.rstrip()) + 1, start)))

    def location(self, report: Report, span: Span) -> types.Location:
        """Locate a report's span in the current text.

        An edited span is located as its whole line, a deleted span as the nearest place.
        """
        moved = self.drift(report, span.filename).span(span)
        return types.Location(self.uri(span.filename), self.range_of(report, moved.span))

    def range_of(self, report: Report, span: Span) -> types.Range:
        """Convert a report's span to a range.

        If the report does not allow reading the span's file, the range is the start of the row.
        """
        return self.range(span) if report.may_read(span.filename) else _row_range(span.row)

    def line_location(self, report: Report, filename: str, row: int) -> types.Location:
        """Locate a report's line in the current text; the nearest line if it was deleted."""
        now, _ = self.drift(report, filename).line(row)
        readable = report.may_read(filename)
        place = self.line_range(filename, now) if readable else _row_range(now)
        return types.Location(self.uri(filename), place)

    def shown_row(self, filename: str, row: int) -> str:
        """Write a row for people: ``12``, and in a notebook ``cell 3:2``."""
        source = self.source(filename) if filename.endswith(NOTEBOOK) else None
        return source.place(row) if source else str(row)

    def row_words(self, filename: str, row: int) -> str:
        """Write a row in a sentence: ``12``, and in a notebook ``2 of cell 3``."""
        source = self.source(filename) if filename.endswith(NOTEBOOK) else None
        return source.row_words(row) if source else str(row)

    def line_uri(self, filename: str, row: int) -> str:
        """Return the URI of a line for a link; in a notebook, the URI of its cell."""
        notebook = self.notebook(filename)
        cell = next((cell for cell, _, end in notebook.extents() if row < end), None) if notebook else None
        return cell.uri if cell else f"{self.uri(filename)}#L{row}"

    def place(self, filename: str, position: types.Position) -> tuple[int, int]:
        """Return the 1-based row and character column of a position."""
        line = self.line(filename, position.line + 1)
        codec = self._server.workspace.position_codec
        converted = codec.position_from_client_units([line], types.Position(0, position.character))
        return position.line + 1, converted.character + 1

    def line(self, filename: str, row: int) -> str:
        """Return the beginning of a shown line; empty for a row outside of the file."""
        lines = self._text(filename)
        return lines[row - 1][:_MOST_OF_LINE] if 1 <= row <= len(lines) else ""

    def _to_client(self, lines: Sequence[str], row: int, column: int) -> types.Position:
        line = lines[row - 1] if row <= len(lines) else ""
        units = self._server.workspace.position_codec.client_num_units(line[: column - 1])
        return types.Position(row - 1, units)

    def _text(self, filename: str) -> Sequence[str]:
        """Return the lines as Python splits them; pygls would also split at form feeds."""
        source = self.source(filename)
        return source.lines if source else ()


def _row_range(row: int) -> types.Range:
    return types.Range(types.Position(row - 1, 0), types.Position(row - 1, 0))


@lru_cache(maxsize=4096)
def _uri(filename: str) -> str:
    try:
        return uris.from_fs_path(filename) or ""
    except UnicodeEncodeError:  # a name that is not UTF-8
        return Path(filename).as_uri()


@lru_cache(maxsize=4096)
def _path(uri: str) -> str | None:
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.normpath(path) if path else None
