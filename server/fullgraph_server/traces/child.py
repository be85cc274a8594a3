"""A process that calls one function, so that the language server stays responsive.

The process gets the function and its arguments as a pickle on stdin, and writes the result as a pickle to
stdout. It ends when stdin ends, for example because the process that started it ended.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from typing import Any, Final

from ..workers.process import kill_group, own_group

_MAIN: Final = (
    f"import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); from {__name__} import main; main()"
)


class ChildDiedError(Exception):
    """Error for a process that ended without returning a result."""


class FunctionProcess:
    """A process that makes one function call."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._killed = False

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call the function in the process and return its result.

        Raises ``ChildDiedError`` if the process dies or is killed, and ``OSError`` if it cannot be started.
        """
        # Isolated, with the path of this process: neither the environment nor a workspace adds modules.
        command = (sys.executable, "-I", "-S", "-c", _MAIN)
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, **own_group())
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        try:
            if self._killed:
                self.kill()
            process.stdin.write(pickle.dumps(sys.path) + pickle.dumps((function, args)))
            answer = await process.stdout.read()
            code = await process.wait()
        finally:
            self.kill()  # the process still runs if the caller was cancelled
            process.stdin.close()
        if code != 0:
            raise ChildDiedError(f"exit code {code}")
        # In a thread: a report can be large.
        return await asyncio.to_thread(pickle.loads, answer)

    def kill(self) -> None:
        """End the process and its children now."""
        self._killed = True
        if self._process is not None and self._process.returncode is None:
            kill_group(self._process.pid)


def main() -> None:
    """Read a function from stdin, call it, and write its result to stdout."""
    function, args = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    pickle.dump(function(*args), sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
    sys.stdout.buffer.flush()
    os._exit(0)  # skips freeing a large report


def _end_with_stdin() -> None:
    while os.read(0, 1):
        pass
    kill_group(os.getpid())
