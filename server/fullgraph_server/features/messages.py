"""Messages to the user (``window/showMessage``)."""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..engine.visible import visible


def show_message(server: LanguageServer, kind: types.MessageType, message: str) -> None:
    """Show a sentence without links: VS Code makes them of Markdown's form, also to commands."""
    server.window_show_message(types.ShowMessageParams(kind, visible(message).replace("](", "] (")))
