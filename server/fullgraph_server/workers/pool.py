"""Where runs get their workers from: a nursery for each kind of run, as long as it is of use."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence

from .crash import early_end
from .fork_server import EndedError
from .settings import RunSettings
from .warm_pool import Nursery, StartError
from .worker import Worker

_log = logging.getLogger(__name__)

_IDLE_SECONDS = 600.0
"""What nobody has used for so long gives its memory back."""
_MOST = 4
"""How many nurseries there are; each takes some hundred megabytes. The least recently used goes first."""

_HARMLESS = frozenset(
    {"torch", "torchgen", "functorch", "triton", "filelock", "fsspec", "jinja2", "markupsafe", "mpmath"}
    | {
        "networkx",
        "numpy",
        "optree",
        "psutil",
        "setuptools",
        "sympy",
        "tabulate",
        "tqdm",
        "typing_extensions",
    }
    | {"yaml"}
)
"""Packages whose modules may be there though a program does not import them: torch imports them itself."""


class Workers:
    """Hands out workers."""

    def __init__(self, *, fork: bool = sys.platform == "linux") -> None:
        self._fork = fork
        self._nurseries: dict[object, Nursery] = {}
        self._users: dict[Nursery, int] = {}
        self._taken: dict[Worker, Nursery] = {}
        self._timers: dict[Nursery, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def take(self, settings: RunSettings, libraries: Sequence[str]) -> Worker:
        """A worker for one run, that has these libraries imported. The caller closes it and gives it back.

        Raises :class:`StartError`.
        """
        for again in (True, False):
            nursery = self._nursery(settings, libraries)
            self._hold(nursery)
            try:
                worker = await nursery.take(separate=settings.switches.discards_files)
            except EndedError as gone:
                self._discard(nursery)
                if not again:
                    raise StartError(early_end(settings.python, gone.code, gone.words)) from None
                # Packages were installed since it started, or somebody killed it.
                _log.info("%s: starting another", gone)
            except StartError:
                # Whatever is wrong may have been put right by the next time.
                self._discard(nursery)
                raise
            except BaseException:
                self._release(nursery)
                raise
            else:
                self._taken[worker] = nursery
                return worker
        raise AssertionError

    def give_back(self, worker: Worker) -> None:
        """Take note that a worker's run is over."""
        self._release(self._taken.pop(worker))

    def expect(self, settings: RunSettings, libraries: Sequence[str]) -> None:
        """Get ready for a run of this kind."""
        nursery = self._nursery(settings, libraries)
        self._hold(nursery)
        nursery.prepare(libraries, separate=settings.switches.discards_files)
        self._release(nursery)

    async def close(self) -> None:
        """End every process."""
        for nursery in list(self._nurseries.values()):
            self._discard(nursery)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _nursery(self, settings: RunSettings, libraries: Sequence[str]) -> Nursery:
        packages = frozenset(name.partition(".")[0] for name in libraries) - _HARMLESS
        env = frozenset(settings.env.items())
        key = (settings.python, settings.cwd, env, settings.memory, packages)
        nursery = self._nurseries.pop(key, None)
        if nursery is not None and nursery.dead:
            self._discard(nursery)
            nursery = None
        if nursery is None:
            nursery = Nursery(settings, libraries, fork=self._fork)
        self._nurseries[key] = nursery  # the most recently used one is the last
        return nursery

    def _hold(self, nursery: Nursery) -> None:
        self._users[nursery] = self._users.get(nursery, 0) + 1
        if timer := self._timers.pop(nursery, None):
            timer.cancel()
        idle = [known for known in self._nurseries.values() if not self._users.get(known)]
        for surplus in idle[: max(len(self._nurseries) - _MOST, 0)]:
            self._discard(surplus)

    def _release(self, nursery: Nursery) -> None:
        if nursery not in self._users:
            return  # discarded meanwhile
        self._users[nursery] -= 1
        if not self._users[nursery]:
            loop = asyncio.get_running_loop()
            self._timers[nursery] = loop.call_later(_IDLE_SECONDS, self._discard, nursery)

    def _discard(self, nursery: Nursery) -> None:
        self._nurseries = {key: known for key, known in self._nurseries.items() if known is not nursery}
        self._users.pop(nursery, None)
        if timer := self._timers.pop(nursery, None):
            timer.cancel()
        task = asyncio.ensure_future(nursery.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
