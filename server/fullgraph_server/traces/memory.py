"""A limit on the memory of this process while it reads untrusted data."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_ONE: Final = threading.Lock()


@contextmanager
def at_most(more: int) -> Iterator[None]:
    """Limit the process to ``more`` additional bytes of memory.

    Beyond the limit, Python raises ``MemoryError``. The limit exists on Linux only. Workers of a cluster can
    have several threads: a thread that sets a limit waits until no other thread has one.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    with _ONE:
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limits = [limit for limit in (_data() + more, soft, hard) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data() -> int:
    """Return the bytes of this process that the limit covers: proc(5), ``VmData``."""
    with open("/proc/self/status", "rb") as status:
        for line in status:
            if line.startswith(b"VmData:"):
                return int(line.split()[1]) * 1024
    return 0
