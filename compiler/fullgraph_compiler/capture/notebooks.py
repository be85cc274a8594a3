"""Compile and execute notebooks; ``await`` works at top level, as in IPython."""

from __future__ import annotations

import ast
import asyncio
import inspect
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

_NOTEBOOK = ".ipynb"


def is_notebook(filename: str) -> bool:
    """Return whether a file is a notebook.

    The language server has already converted the cells of a notebook to a program.
    """
    return filename.endswith(_NOTEBOOK)


def compiled(source: bytes, filename: str) -> CodeType:
    """Compile a file, which may be a notebook.

    Raises the errors of ``compile``.
    """
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if is_notebook(filename) else 0
    code: CodeType = compile(source, filename, "exec", flags, dont_inherit=True)
    return code


def execute(code: CodeType, namespace: dict[str, Any]) -> None:
    """Execute a module's code, in an event loop if it uses ``await`` at top level."""
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, namespace))
    else:
        exec(code, namespace)


class NotebookLoader(SourceFileLoader):
    """A loader that imports a notebook as a module."""

    def exec_module(self, module: ModuleType) -> None:
        """Execute the notebook's program in the namespace of a module."""
        execute(compiled(self.get_data(self.path), self.path), vars(module))
