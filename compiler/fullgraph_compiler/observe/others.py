"""Count the unobserved processes that a program starts with ``multiprocessing``.

Among these are workers of data loaders, of ``torch.multiprocessing.spawn`` and of pools.
"""

from __future__ import annotations

import mmap
import os
from multiprocessing.process import BaseProcess
from typing import Any

_getpid = os.getpid  # a program may replace this function


class OtherProcesses:
    """A counter of processes that may compile without being observed.

    A forked process counts when it calls a compiled function. A process that starts a new Python interpreter
    always counts, because this process cannot know whether that process compiles.
    """

    def __init__(self) -> None:
        self._counted = _getpid()
        self._started = 0
        # Forked processes share this memory. Two processes that begin to compile at once may count as one.
        self._forked = mmap.mmap(-1, 8)
        start = BaseProcess.start

        def start_and_count(process: Any) -> None:
            start(process)
            if process._popen.method != "fork":
                self._started += 1

        BaseProcess.start = start_and_count  # type: ignore[method-assign, assignment]

    def called(self) -> None:
        """Record that the current process, possibly forked, calls a compiled function."""
        if (pid := _getpid()) != self._counted:
            self._counted = pid
            self._forked[:] = (int.from_bytes(self._forked[:], "little") + 1).to_bytes(8, "little")

    def count(self) -> int:
        """Return the number of such processes so far."""
        return self._started + int.from_bytes(self._forked[:], "little")
