"""Requests about interpreters: chosen, available, and their environment reports."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from ..client.configuration import SettingsReader
from ..client.documents import ClientDocuments
from ..features.context import ServerContext
from ..protocol.environment import InterpreterItem, InterpreterParams, InterpretersParams
from ..protocol.names import ENVIRONMENT, INTERPRETER, INTERPRETERS
from ..runs.effective_settings import choose_interpreter
from ..workers.environment import environment_report
from ..workers.interpreter import PythonInterpreter, known_interpreters
from ..workers.probe import InterpreterProbe, probe
from ..workspace.config import read_config

_PATIENCE_SECONDS = 5.0
"""Seconds for which the list of interpreters waits for each interpreter to report its versions."""


async def interpreter_of(
    uri: str, documents: ClientDocuments, configuration: SettingsReader, own: str | None = None
) -> tuple[PythonInterpreter, Path]:
    """Return the Python that runs a file's targets, and the open folder of the file.

    ``own`` is the Python that a target itself sets.
    """
    filename = documents.filename(uri) or os.getcwd()
    root = documents.workspace_of(filename).root
    overrides = await configuration.overrides(uri, root)
    return choose_interpreter(read_config(root), overrides, own), root


def register(context: ServerContext) -> None:
    """Register the handlers of the requests about interpreters."""

    @context.server.feature(INTERPRETER)
    async def interpreter(params: InterpreterParams) -> InterpreterItem:
        chosen, _ = await interpreter_of(params.uri, context.documents, context.configuration)
        return _item(chosen, await probe(chosen.path))

    @context.server.feature(INTERPRETERS)
    async def interpreters(params: InterpretersParams) -> list[InterpreterItem]:
        chosen, root = await interpreter_of(params.uri, context.documents, context.configuration)
        of_client = [PythonInterpreter(path, "the Python extension") for path in params.known or ()]
        known = known_interpreters(root, [chosen, *of_client])
        probes = await asyncio.gather(*(probe(item.path, _PATIENCE_SECONDS) for item in known))
        return [
            _item(item, versions)
            for item, versions in zip(known, probes, strict=True)
            if versions.is_supported or item is chosen
        ]

    @context.server.feature(ENVIRONMENT)
    async def environment(params: InterpreterParams) -> str:
        chosen, root = await interpreter_of(params.uri, context.documents, context.configuration)
        return await environment_report(chosen, root)


def _item(interpreter: PythonInterpreter, versions: InterpreterProbe) -> InterpreterItem:
    return InterpreterItem(
        interpreter.path, interpreter.origin, versions.python, versions.torch, versions.problem
    )
