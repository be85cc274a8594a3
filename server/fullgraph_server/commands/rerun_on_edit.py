"""Reruns of targets when a file on which they depend is saved or edited."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from lsprotocol import types

from ..client.configuration import RunOn
from ..client.findings import names_of
from ..client.messages import agrees
from ..features.context import ServerContext
from ..features.diagnostics import DiagnosticPublisher
from ..runs.effective_settings import SettingOverrides


def register(context: ServerContext, diagnostics: DiagnosticPublisher) -> None:
    """Register handlers that rerun targets when documents change or are saved."""
    pauses: dict[str, asyncio.TimerHandle] = {}
    tasks: set[asyncio.Task[None]] = set()
    asking: set[str] = set()

    @context.server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        filename = context.documents.filename(params.text_document.uri)
        if filename is not None:
            changed(filename)

    @context.server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def notebook_did_change(params: types.DidChangeNotebookDocumentParams) -> None:
        # Changes of cell outputs arrive here, too.
        filename = context.documents.filename(params.notebook_document.uri)
        if filename is not None:
            changed(filename)

    def changed(filename: str) -> None:
        diagnostics.edited(filename)
        pause = context.runs.edited(filename, lambda report: context.documents.has_cells_of(report, filename))
        if timer := pauses.pop(filename, None):
            timer.cancel()
        if pause is not None:
            pauses[filename] = asyncio.get_running_loop().call_later(pause, end_of_pause, filename)

    @context.server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: types.DidSaveTextDocumentParams) -> None:
        if filename := context.documents.filename(params.text_document.uri):
            await rerun(filename, "save")

    @context.server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    async def notebook_did_save(params: types.DidSaveNotebookDocumentParams) -> None:
        if filename := context.documents.filename(params.notebook_document.uri):
            await rerun(filename, "save")

    def cells_run(filename: str) -> int:
        """Return how many cells of a notebook have run; 0 for any other file."""
        ran = (report.files.get(filename) for report in context.runs.reports())
        return max((len(source.cells) for source in ran if source), default=0)

    def end_of_pause(filename: str) -> None:
        del pauses[filename]
        beside(rerun(filename, "type"))

    def beside(work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def rerun(filename: str, occasion: RunOn) -> None:
        source = context.documents.source(filename)
        if source is None or source.until(cells_run(filename)).tree is None:
            return  # a line is being typed: the last results are more useful than a syntax error
        settings = await context.configuration.settings(context.documents.uri(filename))
        if occasion == settings.run_on or (occasion == "save" and settings.run_on == "type"):
            overrides = settings.overrides(context.documents.workspace_of(filename).root)
            for target in context.runs.restart(filename, overrides, context.documents.is_open):
                if target not in asking:
                    asking.add(target)
                    beside(ask(target, filename, overrides))

    async def ask(target: str, filename: str, overrides: SettingOverrides) -> None:
        """Ask the user once whether a slow target should run after each save."""
        report = context.runs.report(target)
        seconds = report.seconds if report else 0.0
        name = names_of([target])
        agreed = await agrees(context.server, f"{name} took {seconds:.0f} s. Run it again after each save?")
        asking.discard(target)
        if target in context.runs.names():  # the target may have been cleared meanwhile
            context.runs.set_run_on_save(target, filename, agreed)
            if agreed:
                context.runs.repeat(target, overrides)
