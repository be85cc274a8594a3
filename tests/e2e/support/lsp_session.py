"""A client for tests of the server, which stores messages and can wait for them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.protocol import default_converter
from pygls.protocol.json_rpc import JsonRPCResponseMessage
from pytest_lsp import ClientServerConfig, LanguageClient
from pytest_lsp.client import register_lsp_features

WAIT_SECONDS = 120

CAPABILITIES = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
            related_information=True, version_support=True, code_description_support=True, data_support=True
        ),
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
    ),
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        workspace_folders=True,
        apply_edit=True,
        workspace_edit=types.WorkspaceEditClientCapabilities(
            document_changes=True, resource_operations=[types.ResourceOperationKind.Create]
        ),
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
        text_document_content=types.TextDocumentContentClientCapabilities(dynamic_registration=True),
    ),
    window=types.WindowClientCapabilities(work_done_progress=True),
    experimental={
        "fullgraphStatus": True,
        "fullgraphOutput": True,
        "commands": {
            "commands": ["fullgraph.showExplanation", "fullgraph.showTarget", "fullgraph.showSource"]
        },
    },
)


STEP = """\
import torch

# fullgraph: step(f32[10])
# fullgraph: step(f32[12])
def step(x):
    y = x.sin() + 1
    print("woo")
    return y * x
"""
"""A function with a graph break that is compiled for two shapes."""


class Editor(LanguageClient):
    """Plays the editor."""

    def __init__(self) -> None:
        super().__init__(converter_factory=_converter)
        register_lsp_features(self)
        self.published: list[types.PublishDiagnosticsParams] = []
        self.statuses: list[Any] = []
        self._changed = asyncio.Condition()
        self._keep(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, self.published)
        self._keep("fullgraph/status", self.statuses)
        self.printed: list[Any] = []
        self._keep("fullgraph/output", self.printed)
        self._keep(types.PROGRESS, [])
        self._versions: dict[str, int] = {}
        self.refreshed = 0
        self.to_read_again: list[str] = []
        """The documents of the server that have a new text."""
        self.registered: list[types.Registration] = []
        self.asked_for_configuration: list[str | None] = []
        """The scope of each item of each ``workspace/configuration`` request."""

        @self.feature(types.WORKSPACE_CODE_LENS_REFRESH)
        async def refresh(_params: None) -> None:
            self.refreshed += 1
            async with self._changed:
                self._changed.notify_all()

        @self.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH)
        async def read_again(params: types.TextDocumentContentRefreshParams) -> None:
            self.to_read_again.append(params.uri)
            async with self._changed:
                self._changed.notify_all()

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        async def register(params: types.RegistrationParams) -> None:
            self.registered += params.registrations
            async with self._changed:
                self._changed.notify_all()

    def get_configuration(self, *, section: str | None = None, scope_uri: str | None = None) -> Any:
        """Answer a request for the configuration, and remember it."""
        self.asked_for_configuration.append(scope_uri)
        return super().get_configuration(section=section, scope_uri=scope_uri)

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
        self._versions[uri] = version
        item = types.TextDocumentItem(uri, types.LanguageKind.Python, version, file.read_text("utf-8"))
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def close_all(self) -> None:
        """Close every file."""
        for uri in self._versions:
            params = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
            self.text_document_did_close(params)
        self._versions.clear()

    async def analyze_step(self, file: Path, text: str) -> None:
        """Open a folder with one file, and run the example calls of its function ``step``."""
        await self.open_program(file, text)
        self.target = f"{file}::step"
        await self.command("fullgraph.run", self.target)

    async def open_program(self, file: Path, text: str) -> None:
        """Open a folder with one file, which this interpreter runs."""
        await asyncio.to_thread(file.write_text, text)
        self.set_configuration({"fullgraph": {"activeInterpreter": sys.executable}})
        await self.open_folder(file.parent)
        self.file, self.uri = file, self.open(file)

    def edit(self, uri: str, text: str) -> int:
        """Replace the text of an open file; returns its new version."""
        version = self._versions[uri] = self._versions[uri] + 1
        identifier = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        return version

    def shown(self, uri: str) -> types.PublishDiagnosticsParams | None:
        """What was published last for a file."""
        return next((params for params in reversed(self.published) if params.uri == uri), None)

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

    async def ask(self, method: str, **params: Any) -> Any:
        """Send one of Fullgraph's own requests."""
        answer = self.protocol.send_request_async(method, params)
        return await asyncio.wait_for(answer, WAIT_SECONDS)

    async def lenses(self, uri: str) -> list[tuple[int, str, str]]:
        """The line, title and command of each code lens."""
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        lenses = await self.text_document_code_lens_async(params) or []
        return [
            (lens.range.start.line, lens.command.title, lens.command.command)
            for lens in lenses
            if lens.command
        ]

    async def hover(self, uri: str, line: int, character: int) -> types.Hover | None:
        """Hover over a position."""
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        return await self.text_document_hover_async(params)


def uri_of(file: Path) -> str:
    """The URI of a file."""
    uri = uris.from_fs_path(str(file))
    assert uri is not None
    return uri


def _converter() -> Any:
    """A converter that leaves the answers to Fullgraph's own requests as they are."""
    converter = default_converter()
    converter.register_structure_hook(JsonRPCResponseMessage, lambda data, cls: cls(**data))
    # lsprotocol takes a code action that has a command for a command.
    converter.register_structure_hook(
        types.Command | types.CodeAction,
        lambda data, _: converter.structure(
            data, types.Command if isinstance(data.get("command"), str) else types.CodeAction
        ),
    )
    return converter


CONFIG = ClientServerConfig(
    server_command=[sys.executable, "-c", "from fullgraph_server.server import main; main()"],
    client_factory=Editor,
)
