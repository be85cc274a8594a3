"""One worker: a process that serves one run and speaks JSON-RPC."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from fullgraph_compiler.facts import PROTOCOL_VERSION

from .channel import WorkerChannel
from .process import DRAIN_SECONDS, KILL_SECONDS, ProcessOutput, WorkerProcess

_CRASH_LOG = "crash.log"


class Worker:
    """A running worker. The code that takes it closes it, however its run ends."""

    hello: asyncio.Future[Any]
    """The answer to ``initialize``, once the worker has imported its libraries, or a
    :class:`WorkerRefusal`."""

    def __init__(
        self, process: WorkerProcess, folder: Path, libraries: Sequence[str], ahead: bool, separate: bool
    ) -> None:
        self.process = process
        self.output = ProcessOutput()
        self._folder = folder
        self._on_facts: Callable[[Any], None] = _ignore
        self._on_output: Callable[[str], None] = _ignore
        self._channel = WorkerChannel(process.writer, self._take)
        output = self.output.read(process.output, lambda text: self._on_output(text))
        self._readers = {asyncio.create_task(self._channel.read(process.reader)), asyncio.create_task(output)}
        self.hello = self.request(
            "initialize",
            {"protocol": PROTOCOL_VERSION, "libraries": libraries, "ahead": ahead, "separate": separate},
        )

    @classmethod
    async def start(
        cls,
        process: Callable[[Path], Awaitable[WorkerProcess]],
        libraries: Sequence[str] = (),
        *,
        folder: Path | None = None,
        ahead: bool = False,
        separate: bool = False,
    ) -> Worker:
        """Start a worker in the process that ``process`` starts.

        ``process`` gets the worker's folder, which is created in ``folder``, by default in the folder for
        temporary files. The worker imports ``libraries``; with ``ahead``, it also does some of the run's work
        in advance. A ``separate`` worker can discard the file changes of its run even if libraries start
        threads. Raises the errors of ``process``.
        """
        # Caches and crash log are in the worker's folder, since the worker may die at any time.
        own_folder = Path(tempfile.mkdtemp(prefix="fullgraph-", dir=folder))
        started: WorkerProcess | None = None
        try:
            started = await process(own_folder)
            return cls(started, own_folder, libraries, ahead, separate)
        except BaseException:
            if started is not None:
                started.kill()
            shutil.rmtree(own_folder, ignore_errors=True)
            raise

    def listen(self, on_facts: Callable[[Any], None], on_output: Callable[[str], None]) -> None:
        """Pass parameters of ``facts`` notifications and the output to these callbacks."""
        self._on_facts, self._on_output = on_facts, on_output

    def request(self, method: str, params: object) -> asyncio.Future[Any]:
        """Send a request; return a future of its result.

        The future gets the result or a :class:`WorkerRefusal`, never an exception.
        """
        return self._channel.request(method, params)

    async def drain(self) -> None:
        """Read the remaining data in the pipes of a worker that has ended."""
        await asyncio.wait(self._readers, timeout=DRAIN_SECONDS)

    async def close(self) -> str:
        """Kill the process and its descendants; return its crash log.

        The process's remaining output is read first.
        """
        try:
            self.process.kill()
            await asyncio.wait({self.process.exited}, timeout=KILL_SECONDS)
            await self.drain()
            for reader in self._readers:
                reader.cancel()
            await asyncio.gather(*self._readers, return_exceptions=True)
            self.process.close()
        finally:
            log = self._remove_folder()
        return log

    def _remove_folder(self) -> str:
        try:
            log = (self._folder / _CRASH_LOG).read_text("utf-8", "replace")
        except OSError:
            log = ""  # the worker ended before it opened its log
        shutil.rmtree(self._folder, ignore_errors=True)
        return log

    def _take(self, method: str, params: Any) -> None:
        if method == "facts":
            self._on_facts(params)


def _ignore(_: object) -> None:
    """Ignore messages before :meth:`listen` is called."""
