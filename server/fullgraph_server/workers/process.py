"""A worker's process, seen from outside: its channel, its output, its end."""

from __future__ import annotations

import asyncio
import asyncio.subprocess
import codecs
import contextlib
import logging
import os
import shlex
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..workspace.bundled import worker_script

_log = logging.getLogger(__name__)

BUFFER = 1 << 20
KILL_SECONDS = 5.0
"""The time that a killed process may take to end (the kernel can hold it in a driver)."""
_DYING_SECONDS = 1.0
"""The longest time for which killed processes block the event loop; usually it is some milliseconds."""
DRAIN_SECONDS = 0.5
"""The time to read on after a process has ended: a descendant in another session can hold its pipes open."""
_TAIL = 4000


class WorkerProcess(ABC):
    """A process that runs a worker and leads a process group."""

    exited: asyncio.Future[int]
    """The return code; set once the process itself has ended, even if descendants still hold its pipes."""
    exceeded: asyncio.Future[None]
    """Set when the process has exceeded its memory limit and is about to write its stack."""
    reader: asyncio.StreamReader
    writer: Any
    output: asyncio.StreamReader

    @abstractmethod
    def abort(self) -> None:
        """End the process after it has written its stack to its crash log."""

    @abstractmethod
    def kill(self) -> None:
        """Kill the process and its descendants."""

    @abstractmethod
    def close(self) -> None:
        """Close this end of the process's pipes."""


class ExecutedProcess(WorkerProcess):
    """A worker's process that was not forked; it imports libraries on request."""

    def __init__(self, transport: asyncio.SubprocessTransport, protocol: ProcessProtocol) -> None:
        assert protocol.stdin is not None
        assert protocol.stdout is not None
        assert protocol.stderr is not None
        self.exited = protocol.exited
        self.exceeded = asyncio.get_running_loop().create_future()
        self.reader, self.writer, self.output = protocol.stdout, protocol.stdin, protocol.stderr
        self._transport = transport

    @classmethod
    async def start(
        cls, python: str, cwd: Path, env: Mapping[str, str], folder: Path, stdin: int | None = None
    ) -> ExecutedProcess:
        """Start a worker with the folder ``folder``; its program reads ``stdin``.

        Raises ``OSError`` or ``ValueError`` if the interpreter cannot be started.
        """
        command = (python, worker_script())
        own_input = {} if stdin is None else {"FULLGRAPH_STDIN": str(stdin)}
        _log.info("starting %s in %s", shlex.join(command), cwd)
        transport, protocol = await asyncio.get_running_loop().subprocess_exec(
            ProcessProtocol,
            *command,
            cwd=cwd,
            env={**env, "FULLGRAPH_RUN_FOLDER": str(folder), **own_input},
            pass_fds=() if stdin is None else (stdin,),
            **own_group(),
        )
        return cls(transport, protocol)

    def abort(self) -> None:
        """End the process after it has written its stack to its crash log."""
        if sys.platform != "win32" and not self.exited.done():
            with contextlib.suppress(OSError):
                os.kill(self._transport.get_pid(), signal.SIGABRT)

    def kill(self) -> None:
        """Kill the process and its descendants."""
        kill_group(self._transport.get_pid())

    def close(self) -> None:
        """Close this end of the process's pipes."""
        self._transport.close()


class ProcessOutput:
    """The output of a process as text."""

    def __init__(self) -> None:
        self.tail = ""
        """The last characters of the output."""

    async def read(self, stream: asyncio.StreamReader, on_text: Callable[[str], None]) -> None:
        """Pass the stream's text to ``on_text`` until the stream ends.

        Reading continues even if ``on_text`` fails: the process would block on a full pipe.
        """
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with contextlib.suppress(ConnectionError):  # a killed process can reset the connection
            while chunk := await stream.read(BUFFER):
                text = decoder.decode(chunk)
                self.tail = (self.tail + text)[-_TAIL:]
                try:
                    on_text(text)
                except Exception:
                    _log.exception("cannot pass on the output of a process")
                    on_text = _drop


def _drop(_: str) -> None:
    """Ignore output that cannot be passed on."""


def own_group() -> dict[str, Any]:
    """Return the arguments that make a new process the leader of a new process group."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def kill_group(pid: int) -> None:
    """Kill all members of a process group, including those that outlive the leader."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True, check=False)
    else:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def kill_marked(variable: str, value: str) -> None:
    """Kill every process with this variable in its environment (Linux; proc(5)).

    Processes inherit the variable even if they leave their parents, groups and sessions. Afterwards no such
    process writes to the folder of its run, which is about to be removed.
    """
    mark, deadline = f"{variable}={value}".encode(), time.monotonic() + _DYING_SECONDS
    while marked := [pid for pid in _processes() if mark in _environment(pid).split(b"\0")]:
        for pid in marked:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            return


def is_working(pid: int) -> bool:
    """Return whether a process computes, or waits for a processor or disk.

    Linux only; see proc_pid_stat(5).
    """
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0] in (b"R", b"D")
    return False


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _environment(pid: int) -> bytes:
    """Return a process's initial environment.

    Empty if the process is dead or belongs to another user.
    """
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return file.read()
    return b""


class ProcessProtocol(asyncio.subprocess.SubprocessStreamProtocol):
    """A subprocess protocol that reports the end of the process itself.

    Before Python 3.13, ``asyncio.subprocess.Process.wait`` also waits for the pipes.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(limit=BUFFER, loop=loop)
        self.exited: asyncio.Future[int] = loop.create_future()
        self._subprocess: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport, which has the exit status."""
        super().connection_made(transport)
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._subprocess = transport

    def process_exited(self) -> None:
        """Set ``exited`` to the return code."""
        super().process_exited()
        assert self._subprocess is not None
        code = self._subprocess.get_returncode()
        if not self.exited.done():
            self.exited.set_result(0 if code is None else code)
