"""Handles of fork servers: processes whose forks are warm workers.

The program of a fork server is ``fullgraph_compiler.worker.fork_server``.
"""

from __future__ import annotations

import asyncio
import asyncio.subprocess
import contextlib
import itertools
import json
import logging
import shlex
import socket
import struct
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
    ProcessOutput,
    ProcessProtocol,
    WorkerProcess,
    is_working,
    kill_group,
    kill_marked,
    own_group,
)

_log = logging.getLogger(__name__)

_MESSAGE_BYTES = 1 << 20
_MARK = "FULLGRAPH_FORK_SERVER"
"""The environment variable that marks a fork server's descendants."""
_KILLED = -9
_ANSWER_SECONDS = 60.0
"""The longest wait for the answer of a fork server from an earlier command, even if it is still working."""
_LOOK_SECONDS = 0.25
"""The interval between checks whether that fork server is still working."""
_IDLE_LOOKS = 8
"""The number of consecutive checks without work after which that fork server counts as stopped or hung."""
_END_SECONDS = 5.0
"""The time that a fork server may take to end its forks."""


class ForkServerEndedError(Exception):
    """Error for a fork server that has ended.

    ``code`` is its exit code, ``output`` the end of its output.
    """

    def __init__(self, code: int, output: str) -> None:
        super().__init__(f"the fork server has ended with {describe_exit(code)}")
        self.code = code
        self.output = output


@dataclass(frozen=True)
class ReadyAnswer:
    """The answer of a fork server that has imported the requested libraries.

    ``problem`` says why no run can start in the fork server, ``unsafe`` why it must not fork. Both are
    sentences, and empty if there is no reason.
    """

    problem: str
    unsafe: str


class ForkServer:
    """A handle of a running fork server. The code that starts a fork server closes it."""

    ended: asyncio.Future[int]
    """The exit code, once the fork server has ended."""

    def __init__(
        self,
        control: socket.socket,
        cwd: Path,
        mark: str = "",
        child: tuple[asyncio.SubprocessTransport, ProcessProtocol] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        transport, protocol = child or (None, None)
        self._transport = transport
        self.ended = protocol.exited if protocol else self._loop.create_future()
        self._pid = transport.get_pid() if transport else 0
        self._control = control
        self._cwd = cwd
        self._mark = mark
        self._stays = False
        self._ids = itertools.count(1)
        self._ready: deque[asyncio.Future[ReadyAnswer]] = deque()
        self._forked: dict[int, ForkedProcess] = {}
        self._output = ProcessOutput()
        self._reader: asyncio.Task[None] | None = None
        if protocol and protocol.stdout:
            reading = self._output.read(protocol.stdout, lambda text: _log.info("%s", text.rstrip()))
            self._reader = asyncio.create_task(reading)
        self.ended.add_done_callback(lambda _: self._end_forks())
        self._loop.add_reader(control, self._receive)

    @classmethod
    async def start(cls, python: str, cwd: Path, env: Mapping[str, str]) -> ForkServer:
        """Start a fork server, which has not imported any library yet.

        Raises ``OSError`` or ``ValueError`` if the interpreter cannot be started.
        """
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = (python, worker_script(), "--fork-server")
        mark = str(uuid.uuid4())
        _log.info("starting %s in %s", shlex.join(command), cwd)
        try:
            control.setblocking(False)
            child = await asyncio.get_running_loop().subprocess_exec(
                ProcessProtocol,
                *command,
                stdin=theirs.fileno(),
                stderr=asyncio.subprocess.STDOUT,
                cwd=cwd,
                env={**env, _MARK: mark},
                **own_group(),
            )
            return cls(control, cwd, mark, child)
        except BaseException:
            control.close()  # this ends a running fork server
            raise
        finally:
            theirs.close()

    @classmethod
    async def connect(cls, path: Path, cwd: Path) -> ForkServer:
        """Connect to a fork server that listens at ``path``, with its libraries imported.

        Raises ``OSError``, :class:`ForkServerEndedError` or ``asyncio.TimeoutError`` if there is no fork
        server, or if it ends because it is out of date.
        """
        control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            control.setblocking(False)
            control.connect(str(path))
        except BaseException:
            control.close()
            raise
        server = cls(control, cwd)
        try:
            await server._await_busy(_peer(control))
        except BaseException:
            server._disconnect()
            raise
        return server

    async def _await_busy(self, pid: int) -> None:
        """Wait for the fork server's answer while its process ``pid`` is working.

        On a busy machine, this may take long. Raises ``asyncio.TimeoutError`` if the process stops working,
        or :class:`ForkServerEndedError`.
        """
        answer = asyncio.ensure_future(self._await_ready())
        idle, end = 0, self._loop.time() + _ANSWER_SECONDS
        try:
            while not (await asyncio.wait({answer}, timeout=_LOOK_SECONDS))[0]:
                idle = 0 if is_working(pid) else idle + 1
                if idle == _IDLE_LOOKS or self._loop.time() > end:
                    raise asyncio.TimeoutError
        finally:
            answer.cancel()
        answer.result()

    async def warm(self, libraries: Sequence[str], folder: Path, *, ahead: bool = False) -> ReadyAnswer:
        """Import torch and ``libraries``; with ``ahead``, also warm up Dynamo.

        The fork server puts its temporary files into ``folder``.

        Raises :class:`ForkServerEndedError` if the fork server ends meanwhile.
        """
        self._send({"warm": list(libraries), "ahead": ahead, "folder": str(folder)})
        return await self._await_ready()

    async def _await_ready(self) -> ReadyAnswer:
        ready: asyncio.Future[ReadyAnswer] = self._loop.create_future()
        self._ready.append(ready)
        answers: tuple[asyncio.Future[Any], ...] = (ready, self.ended)
        await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            if self._reader is not None:
                await asyncio.wait({self._reader}, timeout=DRAIN_SECONDS)
            raise self._ended_error()
        return ready.result()

    async def fork(self, folder: Path, memory: int | None, stdin: int | None) -> ForkedProcess:
        """Fork a process that runs a worker in ``folder``, limited to ``memory`` bytes.

        The program reads its input from the descriptor ``stdin``, if given. Raises
        :class:`ForkServerEndedError` if the fork server has ended, or ends meanwhile.
        """
        channel, their_channel = socket.socketpair()
        output, their_output = socket.socketpair()
        forked = ForkedProcess(self, next(self._ids))
        self._forked[forked.id] = forked
        try:
            message = {"fork": forked.id, "cwd": str(self._cwd), "folder": str(folder), "memory": memory}
            given = () if stdin is None else (stdin,)
            self._send(message, their_channel.fileno(), their_output.fileno(), *given)
            answers: tuple[asyncio.Future[Any], ...] = (forked.started, self.ended)
            await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
            if not forked.started.done():
                raise self._ended_error()
            forked.reader, forked.writer = await asyncio.open_connection(sock=channel, limit=BUFFER)
            forked.output, forked.output_writer = await asyncio.open_connection(sock=output, limit=BUFFER)
        except BaseException:
            forked.kill()
            # Until it has ended, the process may write to its folder, which is about to be removed.
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
        """Close the fork server after all its forks have ended by themselves."""
        try:
            while self._forked:
                await asyncio.wait({forked.exited for forked in self._forked.values()})
        finally:
            await self.close()

    async def stay(self, listener: socket.socket, path: Path, seconds: float) -> None:
        """Leave the fork server to the next command.

        The command must connect to ``path`` within ``seconds``.
        """
        self._stays = True
        with contextlib.suppress(OSError, ForkServerEndedError):
            self._send({"stay": seconds, "path": str(path)}, listener.fileno())
        await self.close()

    async def close(self) -> None:
        """End the fork server, which ends its forks."""
        with contextlib.suppress(OSError):  # it has ended
            self._control.shutdown(socket.SHUT_WR)
        await asyncio.wait({self.ended}, timeout=_END_SECONDS)
        if not self.ended.done():
            kill_group(self._pid)
            await asyncio.wait({self.ended}, timeout=KILL_SECONDS)
        if self._reader is not None:
            self._reader.cancel()
        if self._transport is not None:
            self._transport.close()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message that needs no answer; do nothing if the fork server has ended."""
        with contextlib.suppress(OSError, ForkServerEndedError):
            self._send(message)

    def _send(self, message: Mapping[str, Any], *descriptors: int) -> None:
        if self.ended.done():
            raise self._ended_error()
        if self._control.fileno() == -1:
            return  # disconnected: `ended` will be set soon
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
            self._disconnect()
            if self._transport is None:
                self.ended.set_result(0)  # for a child process, its exit sets `ended`
            return
        message = json.loads(data)
        if "ready" in message:
            self._pid, self._mark = message.get("pid", self._pid), message.get("mark", self._mark)
            ready = self._ready.popleft()
            if not ready.done():
                ready.set_result(ReadyAnswer(**message["ready"]))
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

    def _disconnect(self) -> None:
        """Close the control socket, which ends the fork server."""
        if self._control.fileno() != -1:
            self._loop.remove_reader(self._control)
            self._control.close()

    def _end_forks(self) -> None:
        """Kill the remaining forks, which a killed fork server could not do itself."""
        self._disconnect()
        if self._mark and not self._stays:  # a fork server that never answered has sent no mark
            kill_marked(_MARK, self._mark)
        for forked in self._forked.values():
            forked.exited.set_result(_KILLED)
        self._forked.clear()

    def _ended_error(self) -> ForkServerEndedError:
        return ForkServerEndedError(self.ended.result(), self._output.tail)


def _peer(control: socket.socket) -> int:
    """Return the id of the process that listens at the other end of a socket."""
    credentials = control.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid


class ForkedProcess(WorkerProcess):
    """A worker's process, forked by a fork server."""

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
        """End the process after it has written its stack to its crash log."""
        self._server.send({"abort": self.id})

    def kill(self) -> None:
        """Kill the process and its descendants."""
        if not self.exited.done():
            self._server.send({"kill": self.id})

    def close(self) -> None:
        """Close this end of the process's pipes."""
        self.writer.close()
        if self.output_writer is not None:
            self.output_writer.close()
