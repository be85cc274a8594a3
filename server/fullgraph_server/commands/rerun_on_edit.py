"""Reruns of targets when a file that they depend on is saved, or edited and left alone for a moment."""

from __future__ import annotations

import asyncio

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..client.configuration import Configuration, RunOn
from ..client.documents import Documents
from ..features.diagnostics import Diagnostics
from ..runs.schedule import Runs


def register(
    server: LanguageServer,
    runs: Runs,
    documents: Documents,
    configuration: Configuration,
    diagnostics: Diagnostics,
) -> None:
    """Serve ``textDocument/didChange`` and ``textDocument/didSave``."""
    pauses: dict[str, asyncio.TimerHandle] = {}
    tasks: set[asyncio.Task[None]] = set()

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        filename = documents.filename(params.text_document.uri)
        if filename is None:
            return
        diagnostics.edited(filename)
        pause = runs.edited(filename)
        if timer := pauses.pop(filename, None):
            timer.cancel()
        if pause is not None:
            pauses[filename] = asyncio.get_running_loop().call_later(pause, end_of_pause, filename)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: types.DidSaveTextDocumentParams) -> None:
        if filename := documents.filename(params.text_document.uri):
            await rerun(filename, "save")

    def end_of_pause(filename: str) -> None:
        del pauses[filename]
        task = asyncio.ensure_future(rerun(filename, "type"))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def rerun(filename: str, occasion: RunOn) -> None:
        source = documents.source(filename)
        if source is None or source.tree is None:
            return  # a line is being written: the last results are of more use than a syntax error
        settings = await configuration.settings(documents.uri(filename))
        if occasion == settings.run_on or (occasion == "save" and settings.run_on == "type"):
            runs.restart(filename, settings.overrides(documents.workspace_of(filename).root))
