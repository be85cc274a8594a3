"""Programs of notebooks: ``await`` works at their top level, as in IPython."""

from __future__ import annotations

import ast
import asyncio
import inspect
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

_NOTEBOOK = ".ipynb"


def is_notebook(filename: str) -> bool:
    """Tell whether a file is a notebook, whose program the server has made."""
    return filename.endswith(_NOTEBOOK)


def compiled(source: bytes, filename: str) -> CodeType:
    """Compile a file, which may be a notebook. Raises what ``compile`` does."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if is_notebook(filename) else 0
    code: CodeType = compile(source, filename, "exec", flags, dont_inherit=True)
    return code


def execute(code: CodeType, namespace: dict[str, Any]) -> None:
    """Execute a module's code; one that awaits in an event loop."""
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, namespace))
    else:
        exec(code, namespace)


class NotebookLoader(SourceFileLoader):
    """Loader of a notebook as a module."""

    def exec_module(self, module: ModuleType) -> None:
        """Execute the program of the notebook in a module."""
        execute(compiled(self.get_data(self.path), self.path), vars(module))
