"""The warning when observation fails; the program goes on."""

from __future__ import annotations

import contextlib
import sys


def complain(what: str, error: Exception) -> None:
    """Write to stderr that ``what`` is missing, and why."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else repr(error)
    with contextlib.suppress(Exception):  # the program may have closed or replaced its stderr
        sys.stderr.write(f"fullgraph: {what} ({reason}); the program goes on.\n")
        sys.stderr.flush()
