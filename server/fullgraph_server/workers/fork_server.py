"""The server's side of a fork server (``fullgraph_compiler.worker.fork_server``): workers that start warm."""

from __future__ import annotations

import asyncio
import asyncio.subprocess
import contextlib
import itertools
import json
import logging
import shlex
import socket
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..workspace.bundled import worker_script
from .crash import describe_exit
from .process import (
    BUFFER,
    DRAIN_SECONDS,
    KILL_SECONDS,
    Output,
    Process,
    ProcessProtocol,
    kill_group,
    kill_marked,
    own_group,
)

_log = logging.getLogger(__name__)

_MESSAGE_BYTES = 1 << 20
_MARK = "FULLGRAPH_FORK_SERVER"
"""The environment variable by which whatever comes from a fork server is known."""
_KILLED = -9
_END_SECONDS = 5.0
"""How long it may take to end all that it has forked."""


class EndedError(Exception):
    """The fork server has ended (exit codes: see there); ``words`` are its last ones."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(f"the fork server has ended with {describe_exit(code)}")
        self.code = code
        self.words = words


@dataclass(frozen=True)
class Ready:
    """The fork server has imported what it was told to.

    ``problem`` says why no run can start there, ``unsafe`` why it must not fork now: sentences, or empty.
    """

    problem: str
    unsafe: str


class ForkServer:
    """A fork server that runs. Whoever starts one closes it."""

    ended: asyncio.Future[int]
    """Its exit code, once it has ended."""

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        protocol: ProcessProtocol,
        control: socket.socket,
        mark: str,
    ) -> None:
        self.ended = protocol.exited
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._control = control
        self._mark = mark
        self._ids = itertools.count(1)
        self._ready: deque[asyncio.Future[Ready]] = deque()
        self._forked: dict[int, ForkedProcess] = {}
        self._output = Output()
        assert protocol.stdout is not None
        reading = self._output.read(protocol.stdout, lambda text: _log.info("%s", text.rstrip()))
        self._reader = asyncio.create_task(reading)
        self.ended.add_done_callback(lambda _: self._bury())
        self._loop.add_reader(control, self._receive)

    @classmethod
    async def start(cls, python: str, cwd: Path, env: Mapping[str, str]) -> ForkServer:
        """Start a fork server that has imported nothing yet.

        Raises ``OSError`` or ``ValueError`` if the interpreter cannot be started.
        """
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = (python, worker_script(), "--fork-server")
        mark = str(uuid.uuid4())
        _log.info("starting %s in %s", shlex.join(command), cwd)
        try:
            control.setblocking(False)
            transport, protocol = await asyncio.get_running_loop().subprocess_exec(
                ProcessProtocol,
                *command,
                stdin=theirs.fileno(),
                stderr=asyncio.subprocess.STDOUT,
                cwd=cwd,
                env={**env, _MARK: mark},
                **own_group(),
            )
            return cls(transport, protocol, control, mark)
        except BaseException:
            control.close()  # by which it ends, if it runs
            raise
        finally:
            theirs.close()

    async def warm(self, libraries: Sequence[str]) -> Ready:
        """Import torch and these modules. Raises :class:`EndedError` if it ends meanwhile."""
        self._send({"warm": list(libraries)})
        ready: asyncio.Future[Ready] = self._loop.create_future()
        self._ready.append(ready)
        answers: tuple[asyncio.Future[Any], ...] = (ready, self.ended)
        await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            await asyncio.wait({self._reader}, timeout=DRAIN_SECONDS)
            raise self._gone()
        return ready.result()

    async def fork(self, folder: Path, memory: int | None) -> ForkedProcess:
        """A new process that serves a worker in this folder, with so many bytes of memory.

        Raises :class:`EndedError` if the fork server has ended, or ends over it.
        """
        channel, their_channel = socket.socketpair()
        output, their_output = socket.socketpair()
        forked = ForkedProcess(self, next(self._ids))
        self._forked[forked.id] = forked
        try:
            message = {"fork": forked.id, "folder": str(folder), "memory": memory}
            self._send(message, their_channel.fileno(), their_output.fileno())
            answers: tuple[asyncio.Future[Any], ...] = (forked.started, self.ended)
            await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
            if not forked.started.done():
                raise self._gone()
            forked.reader, forked.writer = await asyncio.open_connection(sock=channel, limit=BUFFER)
            forked.output, forked.output_writer = await asyncio.open_connection(sock=output, limit=BUFFER)
        except BaseException:
            forked.kill()
            # It may yet write to its folder, which is about to be removed.
            await asyncio.wait({forked.exited}, timeout=KILL_SECONDS)
            self._forked.pop(forked.id, None)
            channel.close()
            output.close()
            raise
        finally:
            their_channel.close()
            their_output.close()
        return forked

    async def retire(self) -> None:
        """Close it once all that it has forked has ended by itself."""
        try:
            while self._forked:
                await asyncio.wait({forked.exited for forked in self._forked.values()})
        finally:
            await self.close()

    async def close(self) -> None:
        """End the process; it ends what it has forked."""
        self._let_go()
        await asyncio.wait({self.ended}, timeout=_END_SECONDS)
        if not self.ended.done():
            kill_group(self._transport.get_pid())
            await asyncio.wait({self.ended}, timeout=KILL_SECONDS)
        self._reader.cancel()
        self._transport.close()

    def send(self, message: Mapping[str, Any]) -> None:
        """Tell it something that needs no answer; it may have ended."""
        with contextlib.suppress(OSError, EndedError):
            self._send(message)

    def _send(self, message: Mapping[str, Any], *descriptors: int) -> None:
        if self.ended.done():
            raise self._gone()
        if self._control.fileno() == -1:
            return  # it has gone: its end is about to be noticed
        with contextlib.suppress(ConnectionError):
            socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)

    def _receive(self) -> None:
        try:
            data = self._control.recv(_MESSAGE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._let_go()
            return
        message = json.loads(data)
        if "ready" in message:
            ready = self._ready.popleft()
            if not ready.done():
                ready.set_result(Ready(**message["ready"]))
            return
        kind = next(kind for kind in ("forked", "exceeded", "exited") if kind in message)
        forked = self._forked.get(message[kind])
        if forked is None:
            return
        if kind == "forked":
            forked.pid = message["pid"]
            forked.started.set_result(None)
        elif kind == "exceeded":
            forked.exceeded.set_result(None)
        else:
            del self._forked[forked.id]
            forked.exited.set_result(message["code"])

    def _let_go(self) -> None:
        """Close the control socket: it ends by itself then."""
        if self._control.fileno() != -1:
            self._loop.remove_reader(self._control)
            self._control.close()

    def _bury(self) -> None:
        """End what is left: it did so itself, unless somebody killed it."""
        self._let_go()
        kill_marked(_MARK, self._mark)
        for forked in self._forked.values():
            forked.exited.set_result(_KILLED)
        self._forked.clear()

    def _gone(self) -> EndedError:
        return EndedError(self.ended.result(), self._output.tail)


class ForkedProcess(Process):
    """A worker's process that a fork server made."""

    def __init__(self, server: ForkServer, number: int) -> None:
        loop = asyncio.get_running_loop()
        self.id = number
        self.pid = 0
        self.started: asyncio.Future[None] = loop.create_future()
        self.exited = loop.create_future()
        self.exceeded = loop.create_future()
        self.output_writer: asyncio.StreamWriter | None = None
        self._server = server

    def abort(self) -> None:
        """Make the process write to its crash log where it is, and die."""
        self._server.send({"abort": self.id})

    def kill(self) -> None:
        """Kill the process and its descendants."""
        if not self.exited.done():
            self._server.send({"kill": self.id})

    def close(self) -> None:
        """Let go of its pipes."""
        self.writer.close()
        if self.output_writer is not None:
            self.output_writer.close()
