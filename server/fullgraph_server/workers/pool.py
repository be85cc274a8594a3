"""The workers of all runs: a warm pool for each kind of run, closed when idle."""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .crash import early_end
from .fork_server import ForkServerEndedError
from .handover import Handover
from .settings import RunSettings
from .warm_pool import StartError, WarmPool
from .worker import Worker

_log = logging.getLogger(__name__)

_IDLE_SECONDS = 600.0
"""The idle time after which a warm pool is closed to free its memory."""
_MOST = 4
"""The most warm pools; each takes several hundred megabytes. The least recently used is closed first."""

_HARMLESS = frozenset({
    "torch", "torchgen", "functorch", "triton", "filelock", "fsspec", "jinja2", "markupsafe", "mpmath",
    "networkx", "numpy", "optree", "psutil", "setuptools", "sympy", "tabulate", "tqdm", "typing_extensions",
    "yaml",
})  # fmt: skip
"""Packages that need no pool of their own: torch imports them itself, so an early import is harmless."""


class WorkerPool:
    """The owner of the warm pools, which lends workers to runs.

    All programs read their input from the descriptor ``stdin``; without it, they have no input. With a
    ``handover``, fork servers come from earlier commands, and stay for later commands.
    """

    def __init__(
        self,
        *,
        fork: bool = sys.platform == "linux",
        stdin: int | None = None,
        handover: Handover | None = None,
    ) -> None:
        self._fork = fork
        self._stdin = stdin
        self._handover = handover
        self._warm_pools: dict[object, WarmPool] = {}
        self._users: dict[WarmPool, int] = {}
        self._taken: dict[Worker, WarmPool] = {}
        self._timers: dict[WarmPool, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        """The parent of all run folders. Removing it also removes files of processes that ended late."""

    async def take(self, settings: RunSettings, libraries: Sequence[str]) -> Worker:
        """Return a worker for one run, with these libraries imported.

        The caller closes the worker, then calls :meth:`give_back`. Raises :class:`StartError`.
        """
        for again in (True, False):
            warm_pool = self._warm_pool(settings, libraries)
            self._hold(warm_pool)
            try:
                worker = await warm_pool.take(
                    separate=settings.switches.discards_files, urgent=not settings.low_priority
                )
            except ForkServerEndedError as end:
                self._discard(warm_pool)
                if not again:
                    raise StartError(early_end(settings.python, end.code, end.output)) from None
                # The fork server ended since packages were installed after its start, or it was killed.
                _log.info("%s: starting another", end)
            except StartError:
                # The cause may be fixed by the next run.
                self._discard(warm_pool)
                raise
            except BaseException:
                self._release(warm_pool)
                raise
            else:
                self._taken[worker] = warm_pool
                return worker
        raise AssertionError

    def give_back(self, worker: Worker) -> None:
        """Release a worker whose run is over."""
        self._release(self._taken.pop(worker))

    def expect(self, settings: RunSettings, libraries: Sequence[str]) -> None:
        """Prepare a worker for a future run of this kind."""
        warm_pool = self._warm_pool(settings, libraries)
        self._hold(warm_pool)
        warm_pool.prepare(libraries, separate=settings.switches.discards_files)
        self._release(warm_pool)

    async def close(self) -> None:
        """End all processes of the pool."""
        for warm_pool in list(self._warm_pools.values()):
            self._discard(warm_pool)
        await asyncio.gather(*self._ending, return_exceptions=True)
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _warm_pool(self, settings: RunSettings, libraries: Sequence[str]) -> WarmPool:
        packages = frozenset(name.partition(".")[0] for name in libraries) - _HARMLESS
        env = frozenset(settings.env.items())
        key = (settings.python, settings.cwd, env, settings.memory, packages)
        warm_pool = self._warm_pools.pop(key, None)
        if warm_pool is not None and warm_pool.dead:
            self._discard(warm_pool)
            warm_pool = None
        if warm_pool is None:
            warm_pool = WarmPool(
                settings,
                libraries,
                self._run_folders(),
                fork=self._fork,
                stdin=self._stdin,
                handover=self._handover,
            )
        self._warm_pools[key] = warm_pool  # the most recently used one is the last
        return warm_pool

    def _run_folders(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="fullgraph-", ignore_cleanup_errors=True)
        return Path(self._folder.name)

    def _hold(self, warm_pool: WarmPool) -> None:
        self._users[warm_pool] = self._users.get(warm_pool, 0) + 1
        if timer := self._timers.pop(warm_pool, None):
            timer.cancel()
        idle = [pool for pool in self._warm_pools.values() if not self._users.get(pool)]
        for surplus in idle[: max(len(self._warm_pools) - _MOST, 0)]:
            self._discard(surplus)

    def _release(self, warm_pool: WarmPool) -> None:
        if warm_pool not in self._users:
            return  # the pool was discarded meanwhile
        self._users[warm_pool] -= 1
        if not self._users[warm_pool]:
            loop = asyncio.get_running_loop()
            self._timers[warm_pool] = loop.call_later(_IDLE_SECONDS, self._discard, warm_pool)

    def _discard(self, warm_pool: WarmPool) -> None:
        self._warm_pools = {key: pool for key, pool in self._warm_pools.items() if pool is not warm_pool}
        self._users.pop(warm_pool, None)
        if timer := self._timers.pop(warm_pool, None):
            timer.cancel()
        task = asyncio.ensure_future(warm_pool.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
