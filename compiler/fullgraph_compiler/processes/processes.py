"""Linux processes: descendants, memory, threads, open devices, and their end.

The interfaces are prctl(2) and proc(5).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Collection, Iterator

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PAGE = os.sysconf("SC_PAGE_SIZE")


def die_with_parent(parent: int) -> None:
    """Make the kernel kill this process as soon as its parent ends (prctl(2))."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before the request to the kernel
        os._exit(1)


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parents end (prctl(2))."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def prefer_for_oom_kill() -> None:
    """Make the kernel kill this process first, before the editor, if memory runs out.

    See ``oom_score_adj`` in proc(5).
    """
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def children(pid: int) -> Iterator[int]:
    """Yield the ids of the current children of a process."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            # A thread may end in the meantime.
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                yield from map(int, file.read().split())


def descendants(pid: int) -> Iterator[int]:
    """Yield the ids of all descendants of a process."""
    for child in children(pid):
        yield child
        yield from descendants(child)


def uses_more_than(pid: int, limit: int) -> bool:
    """Return whether a process and its descendants exceed ``limit`` bytes of memory."""
    family = [pid, *descendants(pid)]
    # The cheap sum counts shared memory once for each process; the exact sum takes milliseconds.
    return sum(map(_resident, family)) > limit and sum(map(_proportional, family)) > limit


def peak_memory() -> int:
    """Return the peak of this process's resident set in bytes.

    In a forked child, the peak is counted from the fork on.
    """
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # getrusage(2) counts in bytes on macOS


def threads() -> int:
    """Return the number of threads of this process, native libraries' included."""
    return len(os.listdir("/proc/self/task"))


def has_open(devices: Collection[str]) -> bool:
    """Return whether this process has one of these device files open."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{name}") in devices:
                return True
    return False


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)  # only Linux has it


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * _PAGE
    return 0


def _proportional(pid: int) -> int:
    """Return the proportional set size (``Pss``) of a process in bytes.

    It divides shared memory among the processes that use it.
    """
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def limit_memory(least: int) -> None:
    """Limit the memory that this process may still allocate, on Linux.

    It is ``least`` bytes, or three times what it has if that is more. Beyond the limit, an allocation fails:
    torch raises a ``RuntimeError``.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows

        with open("/proc/self/statm") as file:
            mapped, resident = (int(pages) * _PAGE for pages in file.read().split()[:2])
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = mapped + max(least, 3 * resident)
        resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
