"""Whether a program connects to a server, or starts another program."""

from __future__ import annotations

import sys
from typing import Any, Final

_EVENTS: Final = frozenset(
    (
        "socket.connect",
        "socket.sendto",
        "socket.sendmsg",
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "pty.spawn",
    )
)
"""Audit events of Python's; what a library in C connects to has none."""


class Reach:
    """Records from now on whether the program reaches others, who can tell each run of it."""

    def __init__(self) -> None:
        self.seen = False
        watching = self

        # A function, not a method, for the reason given in ``modules.py``.
        def audit(event: str, arguments: tuple[Any, ...]) -> None:
            if event in _EVENTS and not (event.startswith("socket.") and _is_local(arguments)):
                watching.seen = True

        sys.addaudithook(audit)


def _is_local(arguments: tuple[Any, ...]) -> bool:
    """Tell whether an address is a path: the processes of one program talk so to each other."""
    return not (arguments and isinstance(arguments[-1], tuple))
