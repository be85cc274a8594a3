"""Commands that run, stop and clear targets, and running again on save."""

from __future__ import annotations

import os
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from ..engine.interpreter import find_interpreter, named_interpreter
from ..engine.run import RunSettings
from ..engine.runs import Plan, Planner, Runs
from ..protocol import CLEAR, RUN, STOP, RunSummary
from ..workspace.config import read_config
from .configuration import Configuration
from .documents import Documents
from .targets import NoTarget, Targets

_TIMEOUT = 60.0
"""Seconds for a run where nobody has said more: a file that is saved must not run for ever."""


def create_planner(targets: Targets, documents: Documents, configuration: Configuration) -> Planner:
    """Plans are made of the newest settings: the client's, then the project's, then what is found."""

    async def plan(name: str) -> Plan | None:
        target = targets.find(name)
        if isinstance(target, NoTarget):
            return None
        workspace = documents.workspace_of(target.filename)
        root = workspace.root
        settings = await configuration.settings(documents.uri(target.filename))
        config = read_config(root)
        for problem in config.problems:
            configuration.tell(problem.message)
        python = settings.interpreter or config.python
        return Plan(
            target,
            RunSettings(
                python=named_interpreter(python, root) if python else find_interpreter(root),
                cwd=target.cwd,
                env={**os.environ, **target.env},
                timeout=settings.timeout or target.timeout or config.timeout or _TIMEOUT,
            ),
            workspace,
        )

    return plan


def register(server: LanguageServer, runs: Runs, targets: Targets, documents: Documents) -> None:
    """Serve the commands and ``textDocument/didSave``."""

    @server.command(RUN)
    async def run(*args: Any) -> RunSummary:
        name = _named(targets, _only_argument(RUN, args))
        report = await runs.start(name)
        if report is None or report.status is None:
            return RunSummary(name, "cancelled", 0)
        return RunSummary(name, report.status, len(report.findings))

    @server.command(STOP)
    async def stop(*args: Any) -> None:
        runs.stop(_named(targets, _only_argument(STOP, args)) if args else None)

    @server.command(CLEAR)
    async def clear(*args: Any) -> None:
        runs.clear(_named(targets, _only_argument(CLEAR, args)) if args else None)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: types.DidSaveTextDocumentParams) -> None:
        filename = documents.filename(params.text_document.uri)
        for name in runs.depending_on(filename) if filename else ():
            runs.start(name)


def _only_argument(command: str, args: tuple[Any, ...]) -> str:
    if len(args) == 1 and isinstance(args[0], str) and args[0]:
        return args[0]
    raise _refusal(f"{command} takes one argument: the URI of a file, or the id of a target.")


def _named(targets: Targets, name: str) -> str:
    target = targets.find(name)
    if isinstance(target, NoTarget):
        raise _refusal(target.message)
    return target.id


def _refusal(message: str) -> JsonRpcException:
    return JsonRpcException(message, types.LSPErrorCodes.RequestFailed.value)
