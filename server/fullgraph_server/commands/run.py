"""Commands that run, stop and clear targets, and running again on save."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import attrs
from fullgraph_compiler.facts import Depth
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..client.arguments import refusal, run_arguments, target_argument
from ..client.configuration import Configuration, RunOn
from ..client.documents import Documents
from ..client.messages import show_message
from ..client.targets import Targets
from ..features.diagnostics import Diagnostics
from ..features.profile import profile_uri
from ..protocol import (
    ASSEMBLY,
    CLEAR,
    COMPILE_TIMES,
    FROZEN,
    KERNELS,
    RECIPES,
    RECOMPILES,
    RUN,
    RUN_ON_SAVE,
    STAGES,
    STOP,
    RunSummary,
)
from ..report import faults
from ..report.model import Report
from ..report.recipes import what_helps
from ..report.recompiles import late_compilation_verdict
from ..runs.minification import Minifications
from ..runs.schedule import Runs
from ..runs.suitability import unsuited

_UNTOLD = ("cancelled", "not-started")
"""Ends of a run after which there is no verdict to tell."""


def summary(target: str, report: Report | None) -> RunSummary:
    """What a command that runs a target answers."""
    if report is None or report.status is None:
        return RunSummary(target, "cancelled", 0)
    return RunSummary(target, report.status, len(report.findings))


def register(
    server: LanguageServer,
    runs: Runs,
    targets: Targets,
    documents: Documents,
    configuration: Configuration,
    diagnostics: Diagnostics,
    minifications: Minifications,
) -> None:
    """Serve the commands, ``textDocument/didChange`` and ``textDocument/didSave``."""
    pauses: dict[str, asyncio.TimerHandle] = {}
    tasks: set[asyncio.Task[None]] = set()

    @server.command(RUN)
    async def run(*args: Any) -> RunSummary:
        target, switches = run_arguments(targets, RUN, args)
        report = await runs.start(target.id, "graph" if switches else None, switches)
        return summary(target.id, report)

    @server.command(KERNELS)
    async def kernels(*args: Any) -> RunSummary:
        target, switches = run_arguments(targets, KERNELS, args)
        return summary(target.id, await runs.start(target.id, "kernels", switches))

    @server.command(ASSEMBLY)
    async def assembly(*args: Any) -> RunSummary:
        name = target_argument(targets, ASSEMBLY, args).id
        return summary(name, await runs.start(name, "build"))

    @server.command(COMPILE_TIMES)
    async def compile_times(*args: Any) -> RunSummary:
        name = suited(COMPILE_TIMES, args, "times")
        return summary(name, await runs.start(name, "times"))

    @server.command(RECOMPILES)
    async def recompiles(*args: Any) -> RunSummary:
        name = suited(RECOMPILES, args, "recompiles")
        report = await runs.start(name, "recompiles")
        told = summary(name, report)
        if report is None or report.depth != "recompiles" or told.status in _UNTOLD:
            return told
        return attrs.evolve(told, document=profile_uri(report))

    @server.command(STAGES)
    async def stages(*args: Any) -> RunSummary:
        return await judge(suited(STAGES, args, "stages"), "stages", faults.verdict)

    @server.command(FROZEN)
    async def frozen(*args: Any) -> RunSummary:
        return await judge(suited(FROZEN, args, "late-compile"), "late-compile", late_compilation_verdict)

    @server.command(RECIPES)
    async def recipes(*args: Any) -> RunSummary:
        return await judge(suited(RECIPES, args, "recipes"), "recipes", what_helps)

    def suited(command: str, args: tuple[Any, ...], depth: Depth) -> str:
        """The target that a command names, if it can run at this depth."""
        target = target_argument(targets, command, args)
        if problem := unsuited(target, depth):
            raise refusal(problem)
        return target.id

    async def judge(name: str, depth: Depth, verdict: Callable[[Report], str]) -> RunSummary:
        """Run a target, and say in one sentence what came of it."""
        report = await runs.start(name, depth)
        if report is not None and report.status is not None and report.status not in _UNTOLD:
            fails = any(finding.severity == "error" for finding in report.findings)
            kind = types.MessageType.Warning if fails else types.MessageType.Info
            show_message(server, kind, verdict(report))
        return summary(name, report)

    @server.command(STOP)
    async def stop(*args: Any) -> None:
        name = target_argument(targets, STOP, args).id if args else None
        runs.stop(name)
        minifications.stop(name)

    @server.command(CLEAR)
    async def clear(*args: Any) -> None:
        runs.clear(target_argument(targets, CLEAR, args).id if args else None)

    @server.command(RUN_ON_SAVE)
    async def run_on_save(*args: Any) -> None:
        if len(args) != 2 or not isinstance(args[1], bool):
            raise refusal(f"{RUN_ON_SAVE} takes two arguments: a target, and true or false.")
        target = target_argument(targets, RUN_ON_SAVE, args[:1])
        runs.set_run_on_save(target.id, target.filename, args[1])

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
            pauses[filename] = asyncio.get_running_loop().call_later(pause, paused, filename)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: types.DidSaveTextDocumentParams) -> None:
        if filename := documents.filename(params.text_document.uri):
            await changed(filename, "save")

    def paused(filename: str) -> None:
        del pauses[filename]
        source = documents.source(filename)
        if source is not None and source.tree is not None:  # else a line is being written
            task = asyncio.ensure_future(changed(filename, "type"))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def changed(filename: str, occasion: RunOn) -> None:
        settings = await configuration.settings(documents.uri(filename))
        if occasion == settings.run_on or (occasion == "save" and settings.run_on == "type"):
            runs.restart(filename)
