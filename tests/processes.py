"""What tests need to know of processes that they did not start themselves."""

from __future__ import annotations

import os
import select


def dies(pid: int) -> bool:
    """Whether a process has ended, or does so while we wait: a kill takes its time."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 20)[0])
    finally:
        os.close(descriptor)
