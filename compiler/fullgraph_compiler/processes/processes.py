"""What Linux knows about processes: who descends from whom, how much memory they use, who dies with whom."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Collection, Iterator

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PAGE = os.sysconf("SC_PAGE_SIZE")

_prctl = ctypes.CDLL(None, use_errno=True).prctl


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process as soon as the one that forked it ends (prctl(2))."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it has ended before we could ask
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parents end, however they hide (prctl(2))."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def prefer_for_oom_kill() -> None:
    """When the machine runs out of memory, this process goes before the editor does (proc(5))."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def children(pid: int) -> Iterator[int]:
    """The processes that a process has for children now."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            # A thread may end while we look.
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                yield from map(int, file.read().split())


def descendants(pid: int) -> Iterator[int]:
    """All processes below a process."""
    for child in children(pid):
        yield child
        yield from descendants(child)


def uses_more_than(pid: int, limit: int) -> bool:
    """Whether a process and its descendants use more bytes of memory than the limit."""
    family = [pid, *descendants(pid)]
    # What they share is counted for each at first: the exact figure costs milliseconds.
    return sum(map(_resident, family)) > limit and sum(map(_proportional, family)) > limit


def threads() -> int:
    """How many threads this process has, those of native libraries included."""
    return len(os.listdir("/proc/self/task"))


def has_open(devices: Collection[str]) -> bool:
    """Whether this process has opened one of some devices."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{name}") in devices:
                return True
    return False


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * _PAGE
    return 0


def _proportional(pid: int) -> int:
    """Resident bytes, with a share of what other processes use as well (``Pss`` of smaps_rollup)."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
