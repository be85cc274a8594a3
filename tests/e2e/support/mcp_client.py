"""The official client of the Model Context Protocol, with a server it has started."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

CLI = "from fullgraph_server.cli import main; main()"


def connected(folder: Path, mark: str = "", **options: Any) -> AbstractAsyncContextManager[Client]:
    """Return a client whose server was started in a folder.

    ``mark`` is a variable ``NAME=value`` in the environment of the server's processes.
    """
    name, _, value = mark.partition("=")
    words = ["-c", CLI, "mcp", "--python", sys.executable]
    environment = {name: value} if mark else None
    server = StdioServerParameters(command=sys.executable, args=words, cwd=folder, env=environment)
    return Client(server, **options)


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """Why a tool refuses a call."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    (content,) = result.content
    return content.text.removeprefix(f"Error executing tool {tool}: ")


async def _check(folder: str, target: str, mark: str) -> None:
    async with connected(Path(folder), mark) as client:
        await answer(client, "check_target", target=target)


if __name__ == "__main__":
    asyncio.run(_check(*sys.argv[1:]))
