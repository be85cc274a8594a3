"""The output of a program that runs without a worker."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .crash import describe_exit
from .process import kill_group, own_group

_SECONDS = 120.0
"""The time limit of a program. A program that hangs takes all of it."""


async def output_of(command: Sequence[str], cwd: Path) -> str:
    """Run a program, end its descendants, and return its output and how it ended."""
    with tempfile.TemporaryFile() as output:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=cwd,
                env={**os.environ, "PYTHONFAULTHANDLER": "1"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                **own_group(),
            )
        except (OSError, ValueError) as error:
            return f"{command[0]} cannot be started: {error}"
        ended = asyncio.ensure_future(process.wait())
        try:
            await asyncio.wait({ended}, timeout=_SECONDS)
            ending = describe_exit(ended.result()) if ended.done() else f"no end within {_SECONDS:g} s"
        finally:
            kill_group(process.pid)
            await ended
        output.seek(0)
        text = output.read().decode("utf-8", "replace").rstrip()
    return "\n".join([*([text] if text else []), f"(it ended with {ending})"])
