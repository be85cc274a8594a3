"""A client for the tests of the server: remembers what it is told, and can wait for it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient
from pytest_lsp.client import register_lsp_features

WAIT_SECONDS = 30

CAPABILITIES = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
            related_information=True, version_support=True, code_description_support=True, data_support=True
        ),
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
    ),
    workspace=types.WorkspaceClientCapabilities(configuration=True, workspace_folders=True),
    window=types.WindowClientCapabilities(work_done_progress=True),
    experimental={"fullgraphStatus": True},
)


class Editor(LanguageClient):
    """Plays the editor."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        register_lsp_features(self)
        self.published: list[types.PublishDiagnosticsParams] = []
        self.statuses: list[Any] = []
        self._changed = asyncio.Condition()
        self._keep(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, self.published)
        self._keep("fullgraph/status", self.statuses)
        self._keep(types.PROGRESS, [])

    def _keep(self, method: str, received: list[Any]) -> None:
        handler = self.protocol.fm.features.pop(method, None)

        @self.feature(method)
        async def keep(params: Any) -> None:
            received.append(params)
            if handler is not None:
                handler(params)
            async with self._changed:
                self._changed.notify_all()

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait until what has been received fulfils a condition."""
        async with self._changed:
            await asyncio.wait_for(self._changed.wait_for(condition), WAIT_SECONDS)

    async def open_folder(self, folder: Path, options: Any = None) -> types.InitializeResult:
        """Initialize the server with one folder."""
        uri = uris.from_fs_path(str(folder))
        return await self.initialize_session(
            types.InitializeParams(
                capabilities=CAPABILITIES,
                workspace_folders=[types.WorkspaceFolder(uri, folder.name)],
                initialization_options=options,
            )
        )

    def open(self, file: Path, version: int = 1) -> str:
        """Open a file; returns its URI."""
        uri = uri_of(file)
        item = types.TextDocumentItem(uri, types.LanguageKind.Python, version, file.read_text("utf-8"))
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def save(self, uri: str) -> None:
        """Tell that a file was saved."""
        self.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def begin(self, name: str, *arguments: Any) -> asyncio.Task[Any]:
        """Execute a command. The request is sent as soon as the caller lets others run."""
        params = types.ExecuteCommandParams(name, arguments=list(arguments))
        return asyncio.ensure_future(self.workspace_execute_command_async(params))

    async def command(self, name: str, *arguments: Any) -> Any:
        """Execute a command, and wait for its answer."""
        return await asyncio.wait_for(self.begin(name, *arguments), WAIT_SECONDS)

    async def hover(self, uri: str, line: int, character: int) -> types.Hover | None:
        """Hover over a position."""
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        return await self.text_document_hover_async(params)


def uri_of(file: Path) -> str:
    """The URI of a file."""
    uri = uris.from_fs_path(str(file))
    assert uri is not None
    return uri


CONFIG = ClientServerConfig(
    server_command=[sys.executable, "-c", "from fullgraph_server.server import main; main()"],
    client_factory=Editor,
)
