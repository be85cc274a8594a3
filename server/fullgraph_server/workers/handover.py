"""Fork servers that stay for the next command of the same user.

Each fork server listens on a Unix socket in a folder that only the user can enter. One command at a time
connects to the fork server, and at its end asks it to stay for the next command. The fork server ends if the
connection closes without this request, or if no command connects in time.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import shutil
import socket
import stat
import sys
import tempfile
import uuid
from collections.abc import Iterable
from pathlib import Path

from ..workspace.bundled import worker_script
from .fork_server import ForkServer, ForkServerEndedError
from .inherited import inherited
from .settings import RunSettings

_log = logging.getLogger(__name__)

_STAY_SECONDS = 600.0
_MOST = 3
"""The most fork servers that stay; each takes several hundred megabytes. The oldest is ended first."""


def handover_of_user() -> Handover | None:
    """Return the handover between the user's commands.

    ``None`` if it is turned off or unsupported.
    """
    if sys.platform != "linux" or os.environ.get("CI") or os.environ.get("FULLGRAPH_WARM") == "0":
        return None
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    name = "fullgraph" if runtime else f"fullgraph-{os.geteuid()}"
    return Handover(Path(runtime or tempfile.gettempdir(), name))


class Handover:
    """A handover of fork servers from one command to the next.

    The next command must connect within ``seconds``.
    """

    def __init__(self, folder: Path, seconds: float = _STAY_SECONDS) -> None:
        self._folder = folder
        self._seconds = seconds
        self._inherited = ""

    async def find(self, settings: RunSettings, libraries: Iterable[str]) -> ForkServer | None:
        """Return a fork server that stayed and matches these settings, or ``None``."""
        # Read once: a fork server that this process starts inherits the current attributes, not later ones.
        self._inherited = inherited()
        with contextlib.suppress(OSError):
            key = _key(settings, libraries, self._inherited)
            for path in reversed(self._staying(key)) if self._is_private() else ():
                try:
                    return await ForkServer.connect(path, settings.cwd)
                except BlockingIOError:
                    _log.info("%s is in use by another command", path)
                except (OSError, ForkServerEndedError, asyncio.TimeoutError) as error:
                    _log.info("%s does not answer: %r", path, error)
                    path.unlink(missing_ok=True)
        return None

    async def leave(self, server: ForkServer, settings: RunSettings, libraries: Iterable[str]) -> None:
        """Let a fork server stay for the next command; end it if it cannot stay."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            try:
                path = self._folder / f"{_key(settings, libraries, self._inherited)}-{uuid.uuid4().hex[:8]}"
                self._folder.mkdir(mode=0o700, exist_ok=True)
                if not self._is_private():
                    raise PermissionError(f"other users can enter {self._folder}")
                listener.bind(str(path))
                listener.listen(1)
            except OSError as error:
                _log.info("the fork server cannot stay for the next command: %s", error)
                await server.close()
                return
            await server.stay(listener, path, self._seconds)
        with contextlib.suppress(OSError):
            for surplus in self._staying()[:-_MOST]:
                end_fork_server(surplus)

    def _staying(self, key: str = "") -> list[Path]:
        """Return the sockets of fork servers that stay, the oldest first."""
        times = {}
        for path in self._folder.glob(f"{key}*"):
            with contextlib.suppress(OSError):  # the fork server has just ended
                times[path] = path.stat().st_mtime
        return sorted(times, key=times.__getitem__)

    def _is_private(self) -> bool:
        """Return whether the folder exists, and only the user can enter it."""
        try:
            status = self._folder.lstat()
        except OSError:
            return False
        mine = status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        return stat.S_ISDIR(status.st_mode) and mine


def end_fork_server(path: Path) -> None:
    """End a fork server by connecting and closing the connection without a message."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.setblocking(False)
        client.connect(str(path))
    path.unlink(missing_ok=True)


def _key(settings: RunSettings, libraries: Iterable[str], inherited: str) -> str:
    """Return a hash of everything in which fork servers may differ for a program.

    Raises ``OSError``.
    """
    env = settings.env
    python = os.stat(shutil.which(settings.python, path=env.get("PATH")) or settings.python)
    program = (settings.python, python.st_ino, python.st_mtime_ns, str(settings.cwd), sorted(env.items()))
    # Modules of torch are left out: a program cannot tell whether one is imported already.
    others = sorted(name for name in libraries if not name.startswith("torch."))
    told = repr((worker_script(), program, others, inherited))
    return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()[:16]
