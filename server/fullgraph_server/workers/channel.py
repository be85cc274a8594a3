"""The server's end of the connection to a worker: JSON-RPC 2.0 with Content-Length framing.

pygls has the same, but comes with the types of LSP: they take longer to import than a small program to run.
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
class Refusal:
    """An error answer of the worker; ``message`` is a sentence for the user."""

    message: str


class Channel:
    """A connection on which requests are sent; ``on_notification`` gets the method and parameters of each."""

    def __init__(self, writer: Any, on_notification: Callable[[str, Any], None]) -> None:
        self._writer = writer
        self._on_notification = on_notification
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}

    def request(self, method: str, params: object) -> asyncio.Future[Any]:
        """Send a request; the future gets the result or a :class:`Refusal`, never an exception."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        number = next(self._ids)
        self._answers[number] = answer
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        body = json.dumps(message).encode()
        with contextlib.suppress(OSError):  # it has ended, as its process tells
            self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        return answer

    async def read(self, reader: asyncio.StreamReader) -> None:
        """Take messages until the connection ends."""
        # A process that is killed may leave a message unfinished, or reset the connection.
        with contextlib.suppress(ConnectionError):
            try:
                while header := await reader.readuntil(b"\r\n\r\n"):
                    body = await reader.readexactly(_length(header))
                    try:
                        self._take(json.loads(body))
                    except Exception:
                        _log.exception("a message of the worker cannot be handled")
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
        answer.set_result(Refusal(str(error["message"])) if error else message.get("result"))


def _length(header: bytes) -> int:
    """Return the length that a header tells. Raises ``ValueError``."""
    fields = (line.partition(b":") for line in header.splitlines())
    return next((int(value) for name, _, value in fields if name.lower() == b"content-length"), -1)
