"""Quick fixes on findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..protocol import SHOW_EXPLANATION
from .capabilities import client_command


def register(server: LanguageServer) -> None:
    """Answer ``textDocument/codeAction``."""
    options = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        found = (_show_explanation(diagnostic) for diagnostic in params.context.diagnostics)
        return [action for action in found if action]

    def _show_explanation(diagnostic: types.Diagnostic) -> types.CodeAction | None:
        uri = _member(diagnostic.data, "explanation") if diagnostic.source == "fullgraph" else None
        title = f"Show the full explanation of {diagnostic.code}"
        command = client_command(server, SHOW_EXPLANATION, title, uri) if uri else None
        if command is None:
            return None
        return types.CodeAction(
            title, types.CodeActionKind.QuickFix, diagnostics=[diagnostic], command=command
        )


def _member(data: Any, name: str) -> Any:
    # pygls makes named tuples of objects that LSP does not describe.
    return data.get(name) if isinstance(data, Mapping) else getattr(data, name, None)
