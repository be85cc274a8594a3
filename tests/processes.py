"""The processes of the machine, with parents and states, from Linux's ``/proc``."""

from __future__ import annotations

import contextlib
import os
import selectors
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def marked(variable: str) -> list[int]:
    """Return the living processes that have ``NAME=value`` in their environment.

    They were started with it, or forked from such a process.
    """
    return [pid for pid in _all() if variable.encode() in _read(pid, "environ").split(b"\0")]


def children(pid: int) -> list[int]:
    """The processes below a process at the first level, zombies as well."""
    return [child for child in _all() if _status(child)[1:2] == [str(pid)]]


def descendants(pid: int) -> list[int]:
    """All processes below a process, zombies as well."""
    below = children(pid)
    return below + [deeper for child in below for deeper in descendants(child)]


def is_zombie(pid: int) -> bool:
    """Whether a process has ended and nobody has asked how."""
    return _status(pid)[:1] == ["Z"]


def name(pid: int) -> str:
    """What a process calls itself; its forks inherit that."""
    return _read(pid, "comm").decode(errors="replace").strip()


def outliving(pids: Iterable[int], seconds: float = 20) -> list[int]:
    """Those of some processes that do not end within a time."""
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                descriptor = os.pidfd_open(pid)
                stack.callback(os.close, descriptor)
                selector.register(descriptor, selectors.EVENT_READ, pid)
        deadline = time.monotonic() + seconds
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                selector.unregister(key.fileobj)
        return [key.data for key in selector.get_map().values()]


def dies(pid: int) -> bool:
    """Whether a process has ended, or does so while we wait: a kill takes its time."""
    return not outliving([pid])


def resident(pid: int) -> int:
    """The bytes of memory that a process has in use."""
    return int(_read(pid, "statm").split()[1]) * _PAGE


def _all() -> Iterator[int]:
    return (int(entry) for entry in os.listdir("/proc") if entry.isdigit())


def _status(pid: int) -> list[str]:
    """Return the fields after the name of a process: state, parent, and so on.

    The name may contain any character. The result is empty if the process is gone.
    """
    return _read(pid, "stat").decode(errors="replace").rpartition(")")[2].split()


def _read(pid: int, file: str) -> bytes:
    try:
        return Path("/proc", str(pid), file).read_bytes()
    except OSError:
        return b""  # it is gone, or another user's
