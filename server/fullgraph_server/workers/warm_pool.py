"""Workers of one kind (interpreter, folder, environment, libraries), started warm.

If a process that has imported the libraries can fork safely, workers are its forks. Otherwise each worker
imports the libraries itself. Either way, one spare worker is ready for the next run.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from .fork_server import ForkServer
from .handover import Handover
from .probe import cannot_start
from .process import ExecutedProcess, WorkerProcess
from .settings import RunSettings
from .worker import Worker

_log = logging.getLogger(__name__)

START_SECONDS = 120.0
"""The time limit for the first answer: importing torch from a cold network disk takes long."""


class StartError(Exception):
    """A failure to start workers; the exception's text is a sentence for the user."""


class WarmPool:
    """The workers of one kind, with their folders in ``folder``.

    The code that creates a pool closes it.
    """

    def __init__(
        self,
        settings: RunSettings,
        libraries: Sequence[str],
        folder: Path,
        *,
        fork: bool,
        stdin: int | None = None,
        handover: Handover | None = None,
    ) -> None:
        self._settings = settings
        self._stdin = stdin
        self._folder = folder
        self._handover = handover
        self._libraries = dict.fromkeys(libraries)
        self._server = asyncio.ensure_future(self._start_server()) if fork else None
        self._servers = [] if self._server is None else [self._server]
        """The start of the first fork server, then each import of more libraries; the last is current."""
        self._forks = False
        self._is_ahead = False
        """Whether Dynamo is warm in the fork server, for later runs."""
        self._spare: asyncio.Task[Worker] | None = None
        self._spare_is_separate = False
        self._ending: set[asyncio.Task[None]] = set()
        self._retiring: list[asyncio.Task[None]] = []

    @property
    def dead(self) -> bool:
        """Whether the pool can start no more workers: its fork server failed or has ended."""
        if self._server is None or not self._server.done():
            return False
        failed = self._server.cancelled() or self._server.exception() is not None
        return failed or self._server.result().ended.done()

    async def take(self, *, separate: bool = False, urgent: bool = True) -> Worker:
        """Return a worker, which the caller closes.

        A ``separate`` worker can discard the file changes of its run. A request that is not ``urgent`` leaves
        the spare worker to a run that a user waits for. Raises :class:`StartError` or
        :class:`ForkServerEndedError`.
        """
        if self._server is not None:
            # Shielded: other runs wait for the fork server as well.
            await asyncio.shield(self._server)
        if not urgent:
            return await self._start_worker(ahead=False, separate=separate)
        spare = self._spare
        if spare is not None and self._forks and not _is_ready(spare):
            # A new fork is ready sooner than the spare worker would finish or stop its work ahead.
            self._end(_close(spare))
            spare = self._spare = None
        # A fork has one thread when its run begins. Any other worker also has the threads of its libraries.
        if spare is not None and not self._forks and separate != self._spare_is_separate:
            self._end(_close(spare))
            spare = self._spare = None
        if spare is None:
            return await self._start_worker(ahead=False, separate=separate)
        self._spare = None
        try:
            worker = await asyncio.shield(spare)
        except asyncio.CancelledError:
            self._end(_close(spare))
            raise
        if not worker.process.exited.done():
            return worker
        await worker.close()
        return await self._start_worker(ahead=False, separate=separate)

    def prepare(self, libraries: Sequence[str], *, separate: bool = False) -> None:
        """Start a spare worker before the next run, which will need these libraries too."""
        new = [name for name in libraries if name not in self._libraries]
        self._libraries.update(dict.fromkeys(new))
        if self.dead:
            return
        if new and self._spare is not None:
            self._end(_close(self._spare))
            self._spare = None
        if self._server is not None and (new or not self._is_ahead):
            self._is_ahead = True
            self._server = asyncio.ensure_future(self._learn(self._server, new))
            self._servers.append(self._server)
        if self._spare is None:
            self._spare = asyncio.ensure_future(self._start_worker(ahead=True, separate=separate))
            self._spare_is_separate = separate

    async def close(self) -> None:
        """End all processes; if ending one fails, still end the rest."""
        for starting in self._servers:
            starting.cancel()  # a start may take long, and the spare worker waits for it
        started = await asyncio.gather(*self._servers, return_exceptions=True)
        try:
            async with contextlib.AsyncExitStack() as ends:  # the spare worker first
                for server in {server for server in started if isinstance(server, ForkServer)}:
                    is_last = server is started[-1]
                    ends.push_async_callback(self._part_with if is_last else ForkServer.close, server)
                if self._spare is not None:
                    ends.push_async_callback(_close, self._spare)
        finally:
            for task in self._retiring:
                task.cancel()  # not the other `_ending` tasks: cancelled, they would leave folders behind
            await asyncio.gather(*self._ending, return_exceptions=True)

    async def _start_worker(self, *, ahead: bool, separate: bool) -> Worker:
        if self._server is not None:
            await asyncio.shield(self._server)
        if self._forks:
            return await Worker.start(self._process, folder=self._folder, ahead=ahead)
        return await Worker.start(
            self._process, list(self._libraries), folder=self._folder, ahead=ahead, separate=separate
        )

    async def _part_with(self, server: ForkServer) -> None:
        if self._handover is not None and self._forks and not server.ended.done():
            await self._handover.leave(server, self._settings, self._libraries)
        else:
            await server.close()

    async def _start_server(self) -> ForkServer:
        if self._handover is not None:
            found = await self._handover.find(self._settings, self._libraries)
            if found is not None:
                self._forks = True
                return found
        return await self._warm(await self._execute_server(), list(self._libraries))

    async def _learn(self, started: asyncio.Future[ForkServer], libraries: Sequence[str]) -> ForkServer:
        server = await started
        return await self._warm(server, libraries, ahead=True) if self._forks else server

    async def _warm(self, server: ForkServer, libraries: Sequence[str], *, ahead: bool = False) -> ForkServer:
        """Import libraries in a fork server; replace it if its forks become unsafe."""
        try:
            ready = await asyncio.wait_for(server.warm(libraries, self._folder, ahead=ahead), START_SECONDS)
            if ready.problem:
                raise StartError(ready.problem)
        except asyncio.TimeoutError:
            await server.close()
            raise StartError(silent(self._settings.python)) from None
        except BaseException:
            await server.close()
            raise
        self._forks = not ready.unsafe
        if self._forks:
            return server
        _log.info("runs start in processes of their own, not in forks: %s", ready.unsafe)
        self._retiring.append(self._end(server.retire()))
        return await self._execute_server()

    async def _execute_server(self) -> ForkServer:
        settings = self._settings
        try:
            return await ForkServer.start(settings.python, settings.cwd, settings.env)
        except (OSError, ValueError) as error:
            raise StartError(cannot_start(settings.python, error)) from None

    async def _process(self, folder: Path) -> WorkerProcess:
        settings = self._settings
        if self._server is not None:
            return await self._server.result().fork(folder, settings.memory, self._stdin)
        try:
            return await ExecutedProcess.start(
                settings.python, settings.cwd, settings.env, folder, self._stdin
            )
        except (OSError, ValueError) as error:
            raise StartError(cannot_start(settings.python, error)) from None

    def _end(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run the closing of a worker or server in the background."""
        task = asyncio.ensure_future(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task


def _is_ready(starting: asyncio.Task[Worker]) -> bool:
    failed = starting.done() and (starting.cancelled() or starting.exception() is not None)
    return failed or (starting.done() and starting.result().hello.done())


async def _close(starting: asyncio.Task[Worker]) -> None:
    (worker,) = await asyncio.gather(starting, return_exceptions=True)
    if isinstance(worker, Worker):
        await worker.close()


def silent(python: str) -> str:
    """Return the message that an interpreter does not answer."""
    return f"{python} did not answer within {START_SECONDS:g} s."
