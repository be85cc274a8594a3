"""A client of the Debug Adapter Protocol, which runs a program in debugpy.

It reports where the program stops.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WAIT_SECONDS = 120
"""For one event. A program under a debugger imports torch and compiles in between."""


@dataclass(frozen=True)
class Stop:
    """Where the program has stopped, and what the innermost frame holds there."""

    thread: int
    reason: str
    filename: str
    row: int
    function: str
    variables: Mapping[str, str]
    """Each local variable's value, as the debugger shows it."""


class Debugger:
    """One debug session, as an editor has it. The program's terminal are two pipes."""

    def __init__(self, adapter: asyncio.subprocess.Process) -> None:
        self._adapter = adapter
        self._sequence = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._events: list[tuple[str, Any]] = []
        self._changed = asyncio.Condition()
        self._terminal: asyncio.subprocess.Process | None = None
        self._reading = asyncio.create_task(self._read())
        self._printing: asyncio.Task[bytes] | None = None

    async def launch(
        self, configuration: Mapping[str, Any], breakpoints: Mapping[Path, Sequence[int]]
    ) -> None:
        """Start the program of a launch configuration.

        It also stops at uncaught exceptions.
        """
        await self.request("initialize", adapterID="debugpy", supportsRunInTerminalRequest=True)
        launched = asyncio.create_task(self.request("launch", **configuration))
        waiting = asyncio.create_task(self._event("initialized"))
        # A configuration that is refused is never initialized.
        await asyncio.wait({launched, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if launched.done():
            launched.result()
        await waiting
        for filename, rows in breakpoints.items():
            await self.set_breakpoints(filename, rows)
        await self.request("setExceptionBreakpoints", filters=["uncaught"])
        await self.request("configurationDone")
        await launched

    async def set_breakpoints(self, filename: Path, rows: Sequence[int]) -> None:
        """Set the breakpoints of one file, in the place of those that it had."""
        await self.request(
            "setBreakpoints",
            source={"path": str(filename)},
            breakpoints=[{"line": row} for row in rows],
        )

    async def stopped(self) -> Stop:
        """Where the program stops next. Raises when it ends instead."""
        name, body = await self._event("stopped", "terminated")
        if name == "terminated":
            raise AssertionError(f"the program ended, and did not stop:\n{await self.output()}")
        thread = body["threadId"]
        frame = (await self.request("stackTrace", threadId=thread, levels=1))["stackFrames"][0]
        scopes = (await self.request("scopes", frameId=frame["id"]))["scopes"]
        variables = await self.request("variables", variablesReference=scopes[0]["variablesReference"])
        values = {item["name"]: item["value"] for item in variables["variables"]}
        return Stop(thread, body["reason"], frame["source"]["path"], frame["line"], frame["name"], values)

    async def exception(self, stop: Stop) -> str:
        """The exception that the program has stopped at."""
        return str((await self.request("exceptionInfo", threadId=stop.thread))["description"])

    async def go_on(self, stop: Stop) -> None:
        """Let the program run on."""
        await self.request("continue", threadId=stop.thread)

    async def ended(self) -> int:
        """Let the program run to its end, and return its exit code.

        Raises ``AssertionError`` if it stops once more.
        """
        name, body = await self._event("exited", "stopped")
        assert name == "exited", f"the program stopped once more: {body}"
        return int(body["exitCode"])

    async def output(self) -> str:
        """All that the program printed, once it has ended."""
        assert self._printing is not None
        return (await asyncio.wait_for(self._printing, WAIT_SECONDS)).decode()

    async def close(self) -> None:
        """End the program, if it runs, and the adapter."""
        if self._adapter.returncode is None and self._terminal is not None:
            await self.request("disconnect", terminateDebuggee=True)
            await asyncio.wait_for(self._terminal.wait(), WAIT_SECONDS)
        assert self._adapter.stdin is not None
        self._adapter.stdin.close()
        await asyncio.wait_for(self._adapter.wait(), WAIT_SECONDS)
        await self._reading

    async def request(self, command: str, **arguments: Any) -> Any:
        """Send a request, and return its answer.

        Raises ``RuntimeError`` if it is refused.
        """
        number = next(self._sequence)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._send(seq=number, type="request", command=command, arguments=arguments)
        return await asyncio.wait_for(answer, WAIT_SECONDS)

    async def _event(self, *names: str) -> tuple[str, Any]:
        def first() -> int | None:
            return next((at for at, (name, _) in enumerate(self._events) if name in names), None)

        async with self._changed:
            await asyncio.wait_for(self._changed.wait_for(lambda: first() is not None), WAIT_SECONDS)
            at = first()
            assert at is not None
            return self._events.pop(at)

    def _send(self, **message: Any) -> None:
        body = json.dumps(message).encode()
        assert self._adapter.stdin is not None
        self._adapter.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    async def _read(self) -> None:
        output = self._adapter.stdout
        assert output is not None
        while header := await output.readline():
            length = int(header.partition(b":")[2])
            await output.readline()
            await self._receive(json.loads(await output.readexactly(length)))

    async def _receive(self, message: dict[str, Any]) -> None:
        if message["type"] == "response":
            answer = self._answers.pop(message["request_seq"])
            if answer.done():
                return
            if message["success"]:
                answer.set_result(message.get("body"))
            else:
                answer.set_exception(RuntimeError(f"{message['command']}: {message.get('message')}"))
        elif message["type"] == "event":
            async with self._changed:
                self._events.append((message["event"], message.get("body")))
                self._changed.notify_all()
        elif message["command"] == "runInTerminal":
            await self._run_in_terminal(message["arguments"])
            self._send(
                seq=next(self._sequence),
                type="response",
                request_seq=message["seq"],
                command="runInTerminal",
                success=True,
                body={},
            )

    async def _run_in_terminal(self, arguments: dict[str, Any]) -> None:
        self._terminal = await asyncio.create_subprocess_exec(
            *arguments["args"],
            cwd=arguments["cwd"],
            env={**os.environ, **arguments.get("env", {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert self._terminal.stdout is not None
        # From now on, or a program that prints much would wait for a reader.
        self._printing = asyncio.create_task(self._terminal.stdout.read())


@asynccontextmanager
async def debugging(
    configuration: Mapping[str, Any], breakpoints: Mapping[Path, Sequence[int]]
) -> AsyncIterator[Debugger]:
    """Debug a program until the end of the block."""
    adapter = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "debugpy.adapter",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    debugger = Debugger(adapter)
    try:
        await debugger.launch(configuration, breakpoints)
        yield debugger
    finally:
        await debugger.close()
