"""Fullgraph's end of a connection to a worker: JSON-RPC 2.0 with Content-Length.

pygls has an equivalent, but importing its LSP types takes longer than running a small program.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerRefusal:
    """An error response of the worker; ``message`` is a sentence for the user."""

    message: str


class WorkerChannel:
    """A JSON-RPC connection to a worker.

    ``on_notification`` gets the method and parameters of each notification.
    """

    def __init__(self, writer: Any, on_notification: Callable[[str, Any], None]) -> None:
        self._writer = writer
        self._on_notification = on_notification
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}

    def request(self, method: str, params: object) -> asyncio.Future[Any]:
        """Send a request; return a future of its result.

        The future gets the result or a :class:`WorkerRefusal`, never an exception.
        """
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        number = next(self._ids)
        self._answers[number] = answer
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        body = json.dumps(message).encode()
        with contextlib.suppress(OSError):  # the worker has ended; Process.exited reports that
            self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        return answer

    async def read(self, reader: asyncio.StreamReader) -> None:
        """Handle messages until the connection ends."""
        # A killed process may leave a message unfinished, or reset the connection.
        with contextlib.suppress(ConnectionError):
            try:
                while header := await reader.readuntil(b"\r\n\r\n"):
                    body = await reader.readexactly(_length(header))
                    try:
                        self._take(json.loads(body))
                    except Exception:
                        _log.exception("cannot handle a message from the worker")
            except asyncio.IncompleteReadError as end:
                if end.partial:
                    _log.warning("the worker's last message was incomplete")
            except (ValueError, asyncio.LimitOverrunError):
                _log.warning("the worker does not speak JSON-RPC")

    def _take(self, message: Any) -> None:
        if "method" in message:
            self._on_notification(message["method"], message.get("params"))
            return
        answer = self._answers.pop(message["id"], None)
        if answer is None or answer.done():
            return
        error = message.get("error")
        answer.set_result(WorkerRefusal(str(error["message"])) if error else message.get("result"))


def _length(header: bytes) -> int:
    """Return a header's content length, -1 if it is missing. Raises ``ValueError``."""
    fields = (line.partition(b":") for line in header.splitlines())
    return next((int(value) for name, _, value in fields if name.lower() == b"content-length"), -1)
