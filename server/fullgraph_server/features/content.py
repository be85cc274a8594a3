"""Documents that are not files.

The client requests their text with ``workspace/textDocumentContent`` (LSP 3.18).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from .context import ServerContext


def register(context: ServerContext, texts: Mapping[str, Callable[[str], str | None]]) -> None:
    """Register the handler of ``workspace/textDocumentContent``.

    ``texts`` has for each URI scheme a function that returns the text of a URI, or ``None`` for an unknown
    URI.
    """

    @context.server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        workspace = context.server.client_capabilities.workspace
        if workspace and workspace.text_document_content:
            # pygls cannot announce this capability in its answer to ``initialize``.
            options = types.TextDocumentContentRegistrationOptions([*texts])
            method = types.WORKSPACE_TEXT_DOCUMENT_CONTENT
            registration = types.Registration(method, method, options)
            await context.server.client_register_capability_async(types.RegistrationParams([registration]))

    @context.server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
    async def content(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        read = texts.get(params.uri.partition(":")[0])
        text = read(params.uri) if read else None
        if text is None:
            message = f"{params.uri} is not a Fullgraph document."
            raise JsonRpcException(message, types.LSPErrorCodes.RequestFailed.value)
        return types.TextDocumentContentResult(text)
