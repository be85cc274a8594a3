"""The client's view of files: its folders, its URIs and versions, and columns in its own units."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from ..engine.report import Span
from ..workspace.source import SourceFile
from ..workspace.workspace import Workspace, project_root


class Documents:
    """Files as the client knows them."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._workspaces: dict[Path, Workspace] = {}
        self._sources: dict[str, tuple[int | None, SourceFile]] = {}

    # -- folders -------------------------------------------------------------------------------

    def workspaces(self) -> list[Workspace]:
        """The folders that are open in the client."""
        workspace = self._server.workspace
        paths = [uris.to_fs_path(folder.uri) for folder in workspace.folders.values()]
        paths = paths or [workspace.root_path]
        return [self._workspace(Path(path)) for path in paths if path]

    def workspace_of(self, filename: str) -> Workspace:
        """The innermost folder around a file; its project, if it lies outside all of them."""
        around = [item for item in self.workspaces() if Path(filename).is_relative_to(item.root)]
        if around:
            return max(around, key=lambda item: len(item.root.parts))
        return self._workspace(project_root(Path(filename)))

    def _workspace(self, root: Path) -> Workspace:
        # Kept, since each remembers the files that it has read.
        return self._workspaces.setdefault(root, Workspace(root))

    # -- files ---------------------------------------------------------------------------------

    def filename(self, uri: str) -> str | None:
        """The path of a file on disk; ``None`` for an unsaved text and other things."""
        path = uris.to_fs_path(uri)
        return os.path.normpath(path) if path else None

    def uri(self, filename: str) -> str:
        """The URI of a file, in the client's spelling if it has the file open."""
        document = self._open(filename)
        return document.uri if document else uris.from_fs_path(filename) or ""

    def version(self, filename: str) -> int | None:
        """The version of the text that the client shows, if it shows the file."""
        document = self._open(filename)
        return document.version if document else None

    def source(self, filename: str) -> SourceFile | None:
        """The text that the client shows; that on disk, if it does not show the file."""
        document = self._open(filename)
        if document is None:
            return self.workspace_of(filename).source(filename)
        known = self._sources.get(document.uri)
        if known is None or known[0] != document.version:
            known = (document.version, SourceFile(filename, document.source))
            self._sources[document.uri] = known
        return known[1]

    def _open(self, filename: str) -> TextDocument | None:
        documents = self._server.workspace.text_documents.values()
        return next((item for item in documents if self.filename(item.uri) == filename), None)

    # -- positions -----------------------------------------------------------------------------

    def range(self, span: Span) -> types.Range:
        """A span in the client's units."""
        lines = self._text(span.filename)
        start, end = (span.row, span.column), (span.end_row, span.end_column)
        return types.Range(self._to_client(lines, *start), self._to_client(lines, *max(start, end)))

    def line_range(self, filename: str, row: int) -> types.Range:
        """A line's text, without its indentation and trailing blanks."""
        line = self.line(filename, row)
        start = len(line) - len(line.lstrip()) + 1
        return self.range(Span(filename, row, start, row, max(len(line.rstrip()) + 1, start)))

    def place(self, filename: str, position: types.Position) -> tuple[int, int]:
        """The 1-based row and character column of a position."""
        line = self.line(filename, position.line + 1)
        codec = self._server.workspace.position_codec
        found = codec.position_from_client_units([line], types.Position(0, position.character))
        return position.line + 1, found.character + 1

    def line(self, filename: str, row: int) -> str:
        """A line of the text that the client shows, empty outside of it."""
        lines = self._text(filename)
        return lines[row - 1] if 1 <= row <= len(lines) else ""

    def _to_client(self, lines: Sequence[str], row: int, column: int) -> types.Position:
        line = lines[row - 1] if row <= len(lines) else ""
        units = self._server.workspace.position_codec.client_num_units(line[: column - 1])
        return types.Position(row - 1, units)

    def _text(self, filename: str) -> Sequence[str]:
        """The lines as Python counts them: pygls also splits at form feeds and the like."""
        source = self.source(filename)
        return source.lines if source else ()
