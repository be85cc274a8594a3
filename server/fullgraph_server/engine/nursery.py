"""One kind of workers (interpreter, folder, environment, libraries), started warm.

Where a process that has imported everything can fork, it does so for each run. Elsewhere, and where
libraries have made it unsafe, the next worker is started ahead and imports everything while it waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from .fork_server import ForkServer
from .probe import cannot_start
from .process import ExecutedProcess, Process
from .settings import RunSettings
from .worker import Worker

_log = logging.getLogger(__name__)

START_SECONDS = 120.0
"""Importing torch from a cold network disk takes long; what never answers is no Python."""


class StartError(Exception):
    """No program can run; the exception's text is a sentence that says why."""


class Nursery:
    """Starts the workers of one kind. Whoever makes one closes it."""

    def __init__(self, settings: RunSettings, libraries: Sequence[str], *, fork: bool) -> None:
        self._settings = settings
        self._libraries = dict.fromkeys(libraries)
        self._server = asyncio.ensure_future(self._start_server()) if fork else None
        self._forks = False
        self._spare: asyncio.Task[Worker] | None = None
        self._retiring: set[asyncio.Task[None]] = set()

    @property
    def dead(self) -> bool:
        """Whether nothing can come of it any more."""
        if self._server is None or not self._server.done():
            return False
        failed = self._server.cancelled() or self._server.exception() is not None
        return failed or self._server.result().ended.done()

    async def take(self) -> Worker:
        """A worker, which the caller closes. Raises :class:`StartError`, or :class:`EndedError`."""
        if self._server is not None:
            # Others wait for it as well.
            await asyncio.shield(self._server)
        if self._forks:
            return await Worker.start(self._process)
        while True:
            self.prepare()
            spare = self._spare
            assert spare is not None
            worker = await asyncio.shield(spare)
            if self._spare is spare:
                self._spare = None
                if not worker.process.exited.done():
                    return worker
                await worker.close()

    def prepare(self, libraries: Sequence[str] = ()) -> None:
        """Get ready for the next worker; it will need these libraries as well."""
        new = [name for name in libraries if name not in self._libraries]
        self._libraries.update(dict.fromkeys(new))
        if self.dead or (self._server is not None and not self._server.done()):
            return
        if self._server is not None and self._forks:
            if new:
                self._server = asyncio.ensure_future(self._warm(self._server.result(), new))
        elif self._spare is None:
            self._spare = asyncio.ensure_future(Worker.start(self._process, list(self._libraries)))

    async def close(self) -> None:
        """End all processes."""
        if self._spare is not None:
            (worker,) = await asyncio.gather(self._spare, return_exceptions=True)
            if isinstance(worker, Worker):
                await worker.close()
        if self._server is not None:
            self._server.cancel()
            (server,) = await asyncio.gather(self._server, return_exceptions=True)
            if isinstance(server, ForkServer):
                await server.close()
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)

    async def _start_server(self) -> ForkServer:
        return await self._warm(await self._execute_server(), list(self._libraries))

    async def _warm(self, server: ForkServer, libraries: Sequence[str]) -> ForkServer:
        """Have a fork server import these. Where it must not fork after that, one without them takes over."""
        try:
            ready = await asyncio.wait_for(server.warm(libraries), START_SECONDS)
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
        retiring = asyncio.ensure_future(server.retire())
        self._retiring.add(retiring)
        retiring.add_done_callback(self._retiring.discard)
        return await self._execute_server()

    async def _execute_server(self) -> ForkServer:
        settings = self._settings
        try:
            return await ForkServer.start(settings.python, settings.cwd, settings.env)
        except (OSError, ValueError) as error:
            raise StartError(cannot_start(settings.python, error)) from None

    async def _process(self, folder: Path) -> Process:
        settings = self._settings
        if self._server is not None:
            return await self._server.result().fork(folder, settings.memory)
        try:
            return await ExecutedProcess.start(settings.python, settings.cwd, settings.env, folder)
        except (OSError, ValueError) as error:
            raise StartError(cannot_start(settings.python, error)) from None


def silent(python: str) -> str:
    """The sentence for an interpreter that does not answer."""
    return f"{python} did not answer within {START_SECONDS:g} s."
