"""The Python of each folder, and the requests ``fullgraph/interpreter`` and ``fullgraph/environment``."""

from __future__ import annotations

import os
from pathlib import Path

from pygls.lsp.server import LanguageServer

from ..client.configuration import Configuration
from ..client.documents import Documents
from ..protocol import ENVIRONMENT, INTERPRETER, InterpreterItem, InterpreterParams
from ..runs.effective_settings import choose_interpreter
from ..workers.environment import environment_report
from ..workers.interpreter import Interpreter
from ..workers.probe import probe
from ..workspace.config import read_config


async def interpreter_of(
    uri: str, documents: Documents, configuration: Configuration
) -> tuple[Interpreter, Path]:
    """Return the Python that runs the targets of a file or folder, and the open folder around it."""
    filename = documents.filename(uri) or os.getcwd()
    root = documents.workspace_of(filename).root
    return choose_interpreter(read_config(root), await configuration.overrides(uri, root)), root


def register(server: LanguageServer, documents: Documents, configuration: Configuration) -> None:
    """Answer the requests about interpreters."""

    @server.feature(INTERPRETER)
    async def interpreter(params: InterpreterParams) -> InterpreterItem:
        chosen, _ = await interpreter_of(params.uri, documents, configuration)
        versions = await probe(chosen.path)
        return InterpreterItem(chosen.path, chosen.origin, versions.python, versions.torch, versions.problem)

    @server.feature(ENVIRONMENT)
    async def environment(params: InterpreterParams) -> str:
        chosen, root = await interpreter_of(params.uri, documents, configuration)
        return await environment_report(chosen, root)
