"""Find the sockets to which a covered program may connect.

Without this, covers would block connections to these sockets.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_TABLE: Final = "/proc/net/unix"
_PATH_COLUMN: Final = 7
_MOST: Final = 100
"""The maximum number of sockets. To make more of them reachable would take too long."""
_FIRST_PERSON: Final = 1000
"""The lowest user id of a person's account; services have lower ids (``SYS_UID_MAX`` of login.defs(5))."""


@dataclass(frozen=True)
class SocketDescriptors:
    """Descriptors of sockets, by path.

    A descriptor stays valid whatever happens to the path. ``ours`` are the folders in which Fullgraph's own
    processes listen. No program may connect to these processes, because they start programs whose files are
    not covered.
    """

    opened: dict[str, int] = field(default_factory=dict)
    ours: dict[str, None] = field(default_factory=dict)


@contextlib.contextmanager
def find_sockets(table: str = _TABLE) -> Iterator[SocketDescriptors]:
    """Open the sockets of this user, of root and of services.

    Any user can write any text, even whole lines, into the column of paths. So a path counts only if it leads
    to a socket.
    """
    sockets = SocketDescriptors()
    try:
        for path in _paths(table):
            if len(sockets.opened) == _MOST:
                break
            folder, _ = os.path.split(path)
            if path in sockets.opened or not (descriptor := _open_socket(path)):
                continue
            if os.path.basename(folder) in ("fullgraph", f"fullgraph-{os.geteuid()}"):
                os.close(descriptor)
                sockets.ours[folder] = None
            else:
                sockets.opened[path] = descriptor
        yield sockets
    finally:
        for descriptor in sockets.opened.values():
            os.close(descriptor)


def _paths(table: str) -> Iterator[str]:
    with contextlib.suppress(OSError), open(table, errors="surrogateescape", newline="\n") as lines:
        for line in lines:
            columns = line.rstrip("\n").split(maxsplit=_PATH_COLUMN)
            if len(columns) > _PATH_COLUMN and columns[_PATH_COLUMN].startswith("/"):
                yield os.path.realpath(columns[_PATH_COLUMN])


def _open_socket(path: str) -> int:
    """Return a descriptor of a socket to which the program may connect, else 0."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return 0
    status = os.fstat(descriptor)
    if stat.S_ISSOCK(status.st_mode) and (status.st_uid == os.geteuid() or status.st_uid < _FIRST_PERSON):
        return descriptor
    os.close(descriptor)
    return 0
