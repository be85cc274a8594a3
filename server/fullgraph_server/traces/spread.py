"""Many logs read at once, in processes of this machine or of a Dask cluster.

If a process dies, only the log that it was reading is lost.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .. import __version__
from ..text.messages import counted
from ..text.urls import Url, without_secrets
from .logs import LogFile, NoTraceError
from .ranks import RankResult

if TYPE_CHECKING:
    from distributed import Client

_log = logging.getLogger(__name__)

Read: TypeAlias = Callable[[LogFile], RankResult]
_Submit: TypeAlias = Callable[[LogFile], Future[RankResult]]
_WORTH_PROCESSES: Final = 32 << 20
"""The size of all logs, in bytes, from which several processes are faster in spite of their start time."""
_DIED: Final = "the process that read it died"
_PATIENCE: Final = 10
"""Seconds to wait for the scheduler of a cluster."""


def read_in_processes(
    read: Read, logs: Sequence[LogFile]
) -> Generator[tuple[LogFile, RankResult], None, None]:
    """Yield each log and its result when it is read; large logs use several processes."""
    at_once = min(os.cpu_count() or 1, len(logs))
    if at_once == 1 or sum(log.size for log in logs) < _WORTH_PROCESSES:
        yield from ((log, read(log)) for log in logs)
        return
    waiting = deque(logs)
    while waiting:
        lost: list[LogFile] = []
        with _pool(at_once, read) as pool:
            yield from _read(partial(_submit, pool), waiting, 2 * at_once, lost)
        # A process that dies breaks the whole pool. Reading its logs one by one shows which one kills it.
        for log in lost:
            with _pool(1, read) as pool:
                again: list[LogFile] = []
                yield from _read(partial(_submit, pool), deque([log]), 1, again)
            yield from ((log, RankResult(None, problem=_DIED)) for log in again)


def read_on_cluster(
    read: Read, logs: Sequence[LogFile], address: str, root: str
) -> Generator[tuple[LogFile, RankResult], None, None]:
    """Read logs on a Dask cluster; yield each log and its result when it is read.

    Raises ``NoTraceError`` if the cluster cannot be used.
    """
    with _client(address) as client:
        _check(client, str(Url(address)), root)
        yield from _read_with(client, read, logs)


def _read(
    submit: _Submit, waiting: deque[LogFile], at_once: int, lost: list[LogFile]
) -> Iterator[tuple[LogFile, RankResult]]:
    """Yield each log and its result when it is read.

    If the pool breaks, add the logs that its processes had started to read to ``lost``.
    """
    running: dict[Future[RankResult], LogFile] = {}
    while running or (waiting and not lost):
        while waiting and not lost and len(running) < at_once:
            try:
                running[submit(waiting[0])] = waiting[0]
            except BrokenProcessPool:
                break
            waiting.popleft()
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            log = running.pop(future)
            try:
                yield log, future.result()
            except BrokenProcessPool:
                lost.append(log)
            except Exception as error:
                _log.info("reading %s failed", log.shown, exc_info=True)
                yield log, RankResult(None, problem=_reason(error, log))


def _reason(error: Exception, log: LogFile) -> str:
    said = f"reading it failed ({type(error).__name__}: {error})".splitlines()[0]
    return without_secrets(said, [log.remote.url] if log.remote else [])


# -- processes ---------------------------------------------------------------------------------

_shared: list[Read] = []
"""The function that reads a log: each process of a pool gets the function once instead of with each log."""


@contextmanager
def _pool(at_once: int, read: Read) -> Iterator[ProcessPoolExecutor]:
    """Start a pool of processes; shut it down when the context ends.

    On an exception or interrupt, kill the processes, since they might be waiting for a remote server.
    """
    import multiprocessing

    # Spawned, not forked: the language server has threads.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(at_once, context, _share, (read,))
    try:
        yield pool
    except BaseException:
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _share(read: Read) -> None:
    """Prepare a process of a pool.

    It will end together with the process that started it.
    """
    _shared[:] = [read]
    # The terminal interrupts the whole group: the parent process handles the interrupt.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _submit(pool: ProcessPoolExecutor, log: LogFile) -> Future[RankResult]:
    return pool.submit(_call, log)


def _call(log: LogFile) -> RankResult:
    return _shared[0](log)


# -- clusters ----------------------------------------------------------------------------------


@contextmanager
def _client(address: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        message = "--scheduler needs Dask's distributed: pip install 'fullgraph[cluster]'"
        raise NoTraceError(message) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are reported for each rank
    client = None
    with suppress(OSError, ValueError):
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    if client is None:
        # Free the incomplete client now: at exit, it would wait for its thread and print a traceback.
        gc.collect()
        raise NoTraceError(f"No Dask scheduler answers at {Url(address)}: start one with `dask scheduler`.")
    with client:
        yield client


def _check(client: Client, address: str, root: str) -> None:
    """Raise ``NoTraceError`` unless workers can read logs as this process would.

    Each worker needs the same version of Fullgraph and the folder ``root``.
    """
    workers: dict[str, Any] = client.run(_describe, root, on_error="return")
    if not workers:
        raise NoTraceError(f"The scheduler at {address} has no workers: start some with `dask worker`.")
    told = [answer if isinstance(answer, tuple) else ("none", True) for answer in workers.values()]
    if others := [version for version, _ in told if version != __version__]:
        versions = ", ".join(sorted(set(others)))
        raise NoTraceError(
            f"{counted(len(others), 'worker')} of {len(told)} at {address} {_have(others)} another Fullgraph "
            f"version ({versions}) than this one ({__version__}): install the same."
        )
    if blind := [sees for _, sees in told if not sees]:
        raise NoTraceError(
            f"{counted(len(blind), 'worker')} of {len(told)} at {address} {_have(blind)} no folder {root}: "
            "workers read the project's files there."
        )


def _describe(root: str) -> tuple[str, bool]:
    """Return Fullgraph's version and whether ``root`` exists; called in a worker."""
    return __version__, os.path.isdir(root)


def _have(items: Sequence[object]) -> str:
    return "has" if len(items) == 1 else "have"


def _read_with(client: Client, read: Read, logs: Sequence[LogFile]) -> Iterator[tuple[LogFile, RankResult]]:
    """Read logs on a connected cluster; yield each log and its result when it is read.

    ``Client.get_executor()`` is not used, since it hangs if futures are lost.
    """
    from distributed import KilledWorker, as_completed

    # A task, not scattered data: the scheduler repeats the task if the worker that holds it dies.
    shared = client.submit(_same, read, pure=False)
    running = {client.submit(_apply, shared, log, pure=False): log for log in logs}
    for future in as_completed(running, loop=client.loop):
        log = running.pop(future)
        try:
            yield log, future.result()
        except KilledWorker:
            yield log, RankResult(None, problem=_DIED)
        except Exception as error:
            yield log, RankResult(None, problem=_reason(error, log))


def _same(read: Read) -> Read:
    return read


def _apply(read: Read, log: LogFile) -> RankResult:
    """Read a log in a worker of a cluster.

    A remote log is copied to the worker's folder, which the cluster cleans up.
    """
    from distributed import get_worker

    if log.remote and not log.path.parent.is_dir():
        log = replace(log, path=Path(get_worker().local_directory, log.path.name))
    return read(log)
