"""The Python of each folder, and the requests ``fullgraph/interpreter`` and ``fullgraph/environment``."""

from __future__ import annotations

import os
from pathlib import Path

from pygls.lsp.server import LanguageServer

from ..client.configuration import Configuration, Settings
from ..client.documents import Documents
from ..protocol import ENVIRONMENT, INTERPRETER, InterpreterItem, InterpreterParams
from ..workers.environment import environment_report
from ..workers.interpreter import Interpreter, find_interpreter, named_interpreter
from ..workers.probe import probe
from ..workspace.config import Config, read_config


def choose_interpreter(settings: Settings, config: Config) -> Interpreter:
    """The Python that is set, else the project's, else the client's active one, else what is found."""
    named = (
        (settings.interpreter, "the setting fullgraph.interpreter"),
        (config.python, "pyproject.toml"),
        (settings.active_interpreter, "the Python extension"),
    )
    for name, origin in named:
        if name:
            return Interpreter(named_interpreter(name, config.root), origin)
    return find_interpreter(config.root)


def choose_preview_interpreter(settings: Settings, config: Config) -> str | None:
    """The Python for previews that is set, else the project's, if it names one."""
    name = settings.preview_python or config.preview_python
    return named_interpreter(name, config.root) if name else None


async def interpreter_of(
    uri: str, documents: Documents, configuration: Configuration
) -> tuple[Interpreter, Path]:
    """The Python that runs the targets of a file or folder, and the open folder around it."""
    filename = documents.filename(uri) or os.getcwd()
    root = documents.workspace_of(filename).root
    settings = await configuration.settings(uri)
    return choose_interpreter(settings, read_config(root)), root


def register(server: LanguageServer, documents: Documents, configuration: Configuration) -> None:
    """Answer the requests about interpreters."""

    @server.feature(INTERPRETER)
    async def interpreter(params: InterpreterParams) -> InterpreterItem:
        chosen, _ = await interpreter_of(params.uri, documents, configuration)
        found = await probe(chosen.path)
        return InterpreterItem(chosen.path, chosen.origin, found.python, found.torch, found.problem)

    @server.feature(ENVIRONMENT)
    async def environment(params: InterpreterParams) -> str:
        chosen, root = await interpreter_of(params.uri, documents, configuration)
        return await environment_report(chosen, root)
