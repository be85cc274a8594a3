"""A client that sends any bytes to the server, and collects its answers by id."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

WAIT_SECONDS = 120
NOWHERE = {"fullgraph": {"interpreter": "/nowhere/python"}}
"""Settings with which no program runs."""


class RawClient:
    """The connection to a server.

    ``respond`` makes the responses to the server's own requests.
    """

    def __init__(self, process: asyncio.subprocess.Process, respond: Callable[[], dict[str, Any]]) -> None:
        self.process = process
        self.answers: defaultdict[Any, list[Any]] = defaultdict(list)
        """The responses of the server, by their ids as JSON."""
        self.notified: list[Any] = []
        self.is_silent = False
        """Whether the server's own requests get no response."""
        self.unanswered = 0
        self._respond = respond

    async def send(self, message: Any) -> None:
        """Send a JSON value, or the bytes of a text that need not be one."""
        assert self.process.stdin is not None
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        await self.process.stdin.drain()

    async def ask(self, method: str, params: Any, number: Any) -> Any:
        """Send a request, and return the response."""
        await self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        await self.until(lambda: self.answers[json.dumps(number)])
        return self.answers[json.dumps(number)][-1]

    async def until(self, condition: Callable[[], Any]) -> None:
        """Take messages of the server until a condition holds."""

        async def take() -> None:
            while not condition():
                await self._take()

        await asyncio.wait_for(take(), WAIT_SECONDS)

    async def open(self, folder: Path, **options: Any) -> Any:
        """Initialize the server with a folder."""
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        params = {"capabilities": {}, "workspaceFolders": folders, "initializationOptions": NOWHERE}
        answer = await self.ask("initialize", {**params, **options}, "initialize")
        await self.notify("initialized", {})
        return answer

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def leave(self) -> int | None:
        """Shut the server down; its exit code."""
        assert (await self.ask("shutdown", None, "shutdown"))["result"] is None
        await self.notify("exit", None)
        return await asyncio.wait_for(self.process.wait(), WAIT_SECONDS)

    async def _take(self) -> None:
        assert self.process.stdout is not None
        header = await self.process.stdout.readuntil(b"\r\n\r\n")
        length = int(header.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
        message = json.loads(await self.process.stdout.readexactly(length))
        if "method" not in message:
            self.answers[json.dumps(message["id"])].append(message)
        elif self.is_silent and "id" in message:
            self.unanswered += 1
        elif "id" in message:
            await self.send({"jsonrpc": "2.0", "id": message["id"], **self._respond()})
        else:
            self.notified.append(message)


@asynccontextmanager
async def raw_client(
    respond: Callable[[], dict[str, Any]] = lambda: {"result": None},
) -> AsyncIterator[RawClient]:
    """Start a server; kill it at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from fullgraph_server.server import main; main()",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=1 << 26,
    )
    try:
        yield RawClient(process, respond)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
