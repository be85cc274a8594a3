"""Watch whether a program connects to a server or starts another program."""

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
"""Python's audit events for connections and new programs. Connections from C libraries raise no event."""


class ReachRecorder:
    """A watcher of whether the program connects to a server or starts another program.

    If it does, another run of the program would have effects outside of its process again.
    """

    def __init__(self) -> None:
        self.seen = False
        watching = self

        # A function, not a method, since a bound method takes three times as long (``modules.py``).
        def audit(event: str, arguments: tuple[Any, ...]) -> None:
            if event in _EVENTS and not (event.startswith("socket.") and _is_local(arguments)):
                watching.seen = True

        sys.addaudithook(audit)


def _is_local(arguments: tuple[Any, ...]) -> bool:
    """Return whether a socket address is a path, not a host.

    The processes of one program talk to each other through such sockets.
    """
    return not (arguments and isinstance(arguments[-1], tuple))
