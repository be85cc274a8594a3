"""Quick fixes on findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..engine.runs import Runs
from ..protocol import MINIFY, SHOW_EXPLANATION, STAGES
from .capabilities import client_command, member

MINIFY_TITLE = "Minify this failure"
STAGES_TITLE = "Which stage is at fault?"

_UNTOLD = ("crashed", "timeout")
"""Ends of a run after which nobody knows whether the compiler or the program did it."""


def register(server: LanguageServer, runs: Runs) -> None:
    """Answer ``textDocument/codeAction``."""
    options = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return [
            types.CodeAction(
                command.title, types.CodeActionKind.QuickFix, diagnostics=[diagnostic], command=command
            )
            for diagnostic in params.context.diagnostics
            if diagnostic.source == "fullgraph"
            for command in _commands(diagnostic)
        ]

    def _commands(diagnostic: types.Diagnostic) -> Iterator[types.Command]:
        data = diagnostic.data
        target, failure = member(data, "target"), member(data, "minify")
        if failure is not None:
            yield minify_command(target, failure)
        if failure is not None or (member(data, "kind") == "target-error" and _ended_untold(target)):
            yield types.Command(STAGES_TITLE, STAGES, arguments=[target])
        title = f"Show the full explanation of {diagnostic.code}"
        uri = member(data, "explanation")
        command = client_command(server, SHOW_EXPLANATION, title, uri) if uri else None
        if command is not None:
            yield command

    def _ended_untold(target: str) -> bool:
        report = runs.report(target)
        return report is not None and report.status in _UNTOLD


def minify_command(target: str, failure: Any) -> types.Command:
    """The command that minifies a failure of a target."""
    return types.Command(MINIFY_TITLE, MINIFY, arguments=[target, failure])
