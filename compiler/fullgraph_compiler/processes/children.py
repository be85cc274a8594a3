"""Forked children of a worker: each does one thing, and answers once, or dies, or takes too long."""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import selectors
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import processes

_CHUNK = 1 << 20
_WATCH_SECONDS = 0.1
"""How often the memory of children is looked at."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: with its answer, an exit code (negative for a signal), out of time or of memory."""

    answer: Any = None
    answered: bool = False
    code: int | None = None
    seconds: float = 0.0
    out_of_memory: bool = False

    @property
    def out_of_time(self) -> bool:
        """Whether it was killed because it took too long."""
        return not self.answered and self.code is None and not self.out_of_memory


class Child:
    """A child that computes ``work()`` in so much time and memory. Whoever starts one calls :meth:`end`."""

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
        with contextlib.suppress(OSError):  # whoever of the two comes first
            os.setpgid(self.pid, self.pid)
        os.close(writer)
        # Not the end of the pipe tells that it has ended: whatever it has started may hold that open.
        self.death = os.pidfd_open(self.pid)

    def read(self) -> bool:
        """Take what has come. Returns whether that was all."""
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.reader, _CHUNK):
                self._data += chunk
            return True
        return False

    def overspends(self) -> bool:
        """Whether it uses more memory than it may."""
        self.out_of_memory = self.memory is not None and processes.uses_more_than(self.pid, self.memory)
        return self.out_of_memory

    def end(self) -> Ended:
        """How it ended, or that it had no more time or memory."""
        found, status = os.waitpid(self.pid, os.WNOHANG)
        # What it has started and left behind ends with it.
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        if not found:
            os.waitpid(self.pid, 0)
        self.read()
        os.close(self.reader)
        os.close(self.death)
        seconds = time.monotonic() - self.started
        if found and self._data:
            with contextlib.suppress(Exception):
                return Ended(pickle.loads(self._data), answered=True, seconds=seconds)
        code = os.waitstatus_to_exitcode(status) if found else None
        return Ended(code=code, seconds=seconds, out_of_memory=self.out_of_memory and not found)


def run_child(work: Callable[[], Any], seconds: float | None = None, memory: int | None = None) -> Ended:
    """Do ``work()`` in a child, and wait for it."""
    child = Child(work, seconds, memory)
    wait_for({child})
    return child.end()


def wait_for(children: set[Child]) -> Child:
    """The next one of some children that has ended, or has no more time or memory."""
    with selectors.DefaultSelector() as selector:
        for child in children:
            selector.register(child.reader, selectors.EVENT_READ, child)
            selector.register(child.death, selectors.EVENT_READ, child)
        while True:
            waits = [child.deadline - time.monotonic() for child in children if child.deadline is not None]
            waits += [_WATCH_SECONDS for child in children if child.memory is not None]
            for key, _ in selector.select(max(min(waits), 0.0) if waits else None):
                ready: Child = key.data
                if key.fd == ready.death:
                    return ready
                if ready.read():
                    selector.unregister(ready.reader)
            now = time.monotonic()
            late = (child for child in children if child.deadline is not None and child.deadline <= now)
            greedy = (child for child in children if child.overspends())
            if (found := next(itertools.chain(late, greedy), None)) is not None:
                return found


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
