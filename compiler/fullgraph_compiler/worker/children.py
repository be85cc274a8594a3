"""Forked children of a worker: each does one thing, and answers once, or dies, or takes too long."""

from __future__ import annotations

import contextlib
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


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: with its answer, an exit code (negative for a signal), or out of time."""

    answer: Any = None
    answered: bool = False
    code: int | None = None
    seconds: float = 0.0

    @property
    def out_of_time(self) -> bool:
        """Whether it was killed because it took too long."""
        return not self.answered and self.code is None


class Child:
    """A child that computes ``work()``. Whoever starts one calls :meth:`end`."""

    def __init__(self, work: Callable[[], Any], seconds: float | None) -> None:
        self.started = time.monotonic()
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

    def end(self) -> Ended:
        """How it ended, or that it had no more time."""
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
        return Ended(code=os.waitstatus_to_exitcode(status) if found else None, seconds=seconds)


def run_child(work: Callable[[], Any], seconds: float | None = None) -> Ended:
    """Do ``work()`` in a child, and wait for it."""
    child = Child(work, seconds)
    wait_for({child})
    return child.end()


def wait_for(children: set[Child]) -> Child:
    """The next one of some children that has ended, or has no more time."""
    with selectors.DefaultSelector() as selector:
        for child in children:
            selector.register(child.reader, selectors.EVENT_READ, child)
            selector.register(child.death, selectors.EVENT_READ, child)
        while True:
            deadlines = [child.deadline for child in children if child.deadline is not None]
            left = min(deadlines) - time.monotonic() if deadlines else None
            for key, _ in selector.select(left if left is None else max(left, 0.0)):
                ready: Child = key.data
                if key.fd == ready.death:
                    return ready
                if ready.read():
                    selector.unregister(ready.reader)
            now = time.monotonic()
            late = (child for child in children if child.deadline is not None and child.deadline <= now)
            if (found := next(late, None)) is not None:
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
