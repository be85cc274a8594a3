"""Forked child processes, each of which computes one answer."""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import selectors
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import processes

_CHUNK = 1 << 20
_WATCH_SECONDS = 0.1
"""The seconds between two checks of the children's memory."""


@dataclass(frozen=True, slots=True)
class ChildResult:
    """How a child ended: with an answer, with an exit code, or by exceeding a limit.

    The exit code is negative for a signal.
    """

    answer: Any = None
    answered: bool = False
    code: int | None = None
    seconds: float = 0.0
    out_of_memory: bool = False

    @property
    def out_of_time(self) -> bool:
        """Whether the child was killed because it took too long."""
        return not self.answered and self.code is None and not self.out_of_memory


class ForkedChild:
    """A child process that computes ``work()`` within limits on time and memory.

    The limits are ``seconds`` and ``memory`` (in bytes). The caller must call :meth:`end`.
    """

    def __init__(self, work: Callable[[], Any], seconds: float | None, memory: int | None = None) -> None:
        self.started = time.monotonic()
        self.memory = memory
        self.out_of_memory = False
        self.deadline = None if seconds is None else self.started + seconds
        self._data = b""
        self.reader, writer = os.pipe()
        os.set_blocking(self.reader, False)
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.reader)
            _work(work, writer, parent)
        with contextlib.suppress(OSError):  # the child does the same, and only the first of both succeeds
            os.setpgid(self.pid, self.pid)
        os.close(writer)
        # The end of the pipe does not show that the child ended: its own children may hold the pipe open.
        self.death = os.pidfd_open(self.pid)

    def read(self) -> bool:
        """Read the available data of the answer; return whether the pipe is at its end."""
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.reader, _CHUNK):
                self._data += chunk
            return True
        return False

    def overspends(self) -> bool:
        """Return whether the child and its descendants exceed the memory limit."""
        self.out_of_memory = self.memory is not None and processes.uses_more_than(self.pid, self.memory)
        return self.out_of_memory

    def end(self) -> ChildResult:
        """Kill the child's process group; return how the child ended."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        # Processes that the child started end with it.
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        if not pid:
            os.waitpid(self.pid, 0)
        self.read()
        os.close(self.reader)
        os.close(self.death)
        seconds = time.monotonic() - self.started
        if pid and self._data:
            with contextlib.suppress(Exception):
                return ChildResult(pickle.loads(self._data), answered=True, seconds=seconds)
        code = os.waitstatus_to_exitcode(status) if pid else None
        return ChildResult(code=code, seconds=seconds, out_of_memory=self.out_of_memory and not pid)


def run_child(
    work: Callable[[], Any], seconds: float | None = None, memory: int | None = None
) -> ChildResult:
    """Compute ``work()`` in a child, and wait for the child.

    ``seconds`` and ``memory`` (in bytes) are its limits.
    """
    _, ended = next(ends_of({ForkedChild(work, seconds, memory)}))
    return ended


def ends_of(children: set[ForkedChild]) -> Iterator[tuple[ForkedChild, ChildResult]]:
    """Yield each child and its result, in the order in which the children end.

    The caller may add children to the set during the iteration.
    """
    while children:
        child = wait_for(children)
        children.remove(child)
        yield child, child.end()


def wait_for(children: set[ForkedChild]) -> ForkedChild:
    """Wait until a child ends or exceeds a limit, and return this child."""
    with selectors.DefaultSelector() as selector:
        for child in children:
            selector.register(child.reader, selectors.EVENT_READ, child)
            selector.register(child.death, selectors.EVENT_READ, child)
        while True:
            waits = [child.deadline - time.monotonic() for child in children if child.deadline is not None]
            waits += [_WATCH_SECONDS for child in children if child.memory is not None]
            for key, _ in selector.select(max(min(waits), 0.0) if waits else None):
                ready: ForkedChild = key.data
                if key.fd == ready.death:
                    return ready
                if ready.read():
                    selector.unregister(ready.reader)
            now = time.monotonic()
            late = (child for child in children if child.deadline is not None and child.deadline <= now)
            greedy = (child for child in children if child.overspends())
            if (over_limit := next(itertools.chain(late, greedy), None)) is not None:
                return over_limit


def _work(work: Callable[[], Any], writer: int, parent: int) -> None:
    code = 1
    try:
        os.setpgid(0, 0)
        processes.die_with_parent(parent)
        answer = pickle.dumps(work())
        with open(writer, "wb") as stream:
            stream.write(answer)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
