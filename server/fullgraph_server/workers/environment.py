"""The environment report for PyTorch's issue template, written by torch itself."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from .. import __version__
from ..text.markdown import escaped, fenced
from .channel import WorkerRefusal
from .interpreter import PythonInterpreter
from .probe import cannot_start
from .process import ExecutedProcess, WorkerProcess
from .worker import Worker

_SECONDS = 120.0
"""The time limit of a report: torch runs compilers, driver tools and pip for it."""


async def environment_report(interpreter: PythonInterpreter, folder: Path) -> str:
    """Return Fullgraph's version, the interpreter and torch's environment as Markdown.

    ``torch.utils.collect_env`` writes torch's report.
    """
    lines = [
        f"- Fullgraph {__version__}, server on Python {sys.version.split()[0]}",
        f"- Interpreter: {escaped(f'{interpreter.path} ({interpreter.origin})')}",
    ]
    report = await _collect(interpreter.path, folder)
    return "\n".join([*lines, "", fenced("text", report.strip()), ""])


async def _collect(python: str, folder: Path) -> str:
    """Return torch's report, or a sentence that says why there is no report."""

    async def process(own_folder: Path) -> WorkerProcess:
        return await ExecutedProcess.start(python, folder, os.environ, own_folder)

    try:
        worker = await Worker.start(process)
    except (OSError, ValueError) as error:
        return cannot_start(python, error)
    try:
        for answer in (worker.hello, worker.request("environment", None)):
            await asyncio.wait(
                {answer, worker.process.exited}, timeout=_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if worker.process.exited.done():
                await worker.drain()
            if not answer.done():
                return f"{python} gave no report. Its last output: {worker.output.tail.strip()}"
            if isinstance(answer.result(), WorkerRefusal):
                return str(answer.result().message)
        return str(answer.result())
    finally:
        await worker.close()
