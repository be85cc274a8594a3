"""The warning that observation failed; the program continues."""

from __future__ import annotations

import contextlib
import sys


def complain(what: str, error: Exception) -> None:
    """Write to stderr what is missing from the observation (``what``), and why."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else repr(error)
    with contextlib.suppress(Exception):  # the program may have closed or replaced its stderr
        sys.stderr.write(f"fullgraph: {what} ({reason}); the program goes on.\n")
        sys.stderr.flush()
