"""JSON-RPC 2.0 with Content-Length framing, on descriptors hidden from user code.

This module exists because the standard library has no such framing, and Fullgraph must not import anything
else into the user's process.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from ..facts import CHANNEL_LOST, as_object

# There can be thousands of facts: the encoder of the standard library walks them in C.
_encode = json.JSONEncoder(default=as_object, check_circular=False).encode
# A program may replace these functions with its own.
_exit, _fstat, _getpid = os._exit, os.fstat, os.getpid


class ServerChannel:
    """The worker's end of the connection to Fullgraph's server.

    Sending is thread-safe. If the program closes the connection, ``on_lost`` is called and the process exits
    with ``CHANNEL_LOST``.
    """

    def __init__(
        self, reader: BinaryIO, writer: BinaryIO, on_lost: Callable[[], None] = lambda: None
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._on_lost = on_lost
        self._descriptor = writer.fileno()
        self._file = _identity(self._descriptor)
        self._lock = threading.Lock()
        self._owner = _getpid()

    @classmethod
    def take_standard_streams(cls, on_lost: Callable[[], None], stdin: int | None) -> ServerChannel:
        """Claim descriptors 0 and 1 for the protocol, before any user code is imported.

        Afterwards, descriptor 1 is standard error, so that the output of ``print``, of ``puts`` in native
        code and of child processes cannot reach the protocol. Descriptor 0 becomes ``stdin``, or the null
        device if ``stdin`` is ``None``.
        """
        channel = cls(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"), on_lost)
        os.dup2(2, 1)
        source = os.open(os.devnull, os.O_RDONLY) if stdin is None else stdin
        os.dup2(source, 0)
        os.close(source)
        if stdin is not None:
            # The interpreter opened its own stream on a socket, and so believes that it cannot seek.
            sys.stdin = open(0, closefd=False)  # noqa: SIM115 - open until the process ends
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
        return channel

    def adopt(self) -> None:
        """Let this forked child send messages instead of its parent, which waits for it."""
        self._owner = _getpid()

    def read(self) -> dict[str, Any] | None:
        """Return the next message, or ``None`` if the server has closed the connection."""
        length = 0
        while True:
            line = self._reader.readline()
            if not line:
                return None
            if not line.strip():
                break
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        body = self._reader.read(length)
        if len(body) < length:
            return None
        message = json.loads(body)
        return message if isinstance(message, dict) else {}

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def respond(self, request: Any, result: Any) -> None:
        """Send a result as the response to the request with the id ``request``."""
        self._send({"id": request, "result": result})

    def fail(self, request: Any, message: str) -> None:
        """Send an error as the response to the request with the id ``request``.

        ``message`` is for the user.
        """
        self._send({"id": request, "error": {"code": -32000, "message": message}})

    def _send(self, message: dict[str, Any]) -> None:
        if _getpid() != self._owner:
            # A child that user code forked is not observed, and must not send on the worker's connection.
            return
        body = _encode({"jsonrpc": "2.0", **message}).encode()
        with self._lock:
            if _identity(self._descriptor) != self._file:
                # The descriptor may now belong to a file of the program: do not write to it.
                self._on_lost()
                _exit(CHANNEL_LOST)
            try:
                self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                self._writer.flush()
            except OSError:
                # The server has gone, so nobody needs this run.
                _exit(1)


def _identity(descriptor: int) -> tuple[int, int] | None:
    """Return device and inode of an open descriptor; ``None`` if it is closed."""
    try:
        status = _fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino
