"""One worker process: started in the user's interpreter, spoken to in JSON-RPC, killed with its group."""

from __future__ import annotations

import asyncio
import asyncio.subprocess
import codecs
import contextlib
import importlib.util
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent import futures
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cattrs import Converter
from pygls.client import JsonRPCClient
from pygls.io_ import run_async
from pygls.protocol import default_converter
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

_log = logging.getLogger(__name__)

_BUFFER = 1 << 20
_KILL_SECONDS = 5.0
"""How long a killed process may take to disappear (the kernel can hold it in a driver)."""
_DRAIN_SECONDS = 0.5
"""How long to read on after the process has ended: a descendant in another session can hold the pipes."""
_TAIL = 4000
_CRASH_LOG = "crash.log"


@dataclass(frozen=True)
class Refusal:
    """An error answer of the worker; ``message`` is a sentence for the user."""

    message: str


class Worker:
    """A running worker. Whoever starts one closes it, however its run ends."""

    exited: asyncio.Future[int]
    """Done when the process itself has ended, whoever still holds its pipes; the return code."""

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        process: _ProcessProtocol,
        folder: Path,
        on_facts: Callable[[Any], None],
        on_output: Callable[[str], None],
    ) -> None:
        assert process.stdin is not None
        self.exited = process.exited
        self.output_tail = ""
        self._transport = transport
        self._process = process
        self._folder = folder
        self._on_output = on_output
        self._client = JsonRPCClient(converter_factory=_plain_converter)
        self._client.feature("facts")(lambda params: on_facts(params))
        self._client.protocol.set_writer(process.stdin)
        self._readers = {asyncio.create_task(self._read_messages()), asyncio.create_task(self._read_output())}

    @classmethod
    async def start(
        cls,
        python: str,
        cwd: Path,
        env: Mapping[str, str],
        on_facts: Callable[[Any], None],
        on_output: Callable[[str], None],
    ) -> Worker:
        """Start a worker in its own process group.

        ``on_facts`` gets the parameters of each ``facts`` notification, ``on_output`` the program's output.
        Raises ``OSError`` or ``ValueError`` if the interpreter cannot be started.
        """
        # The run's own folder: the worker keeps its caches beside the crash log, and may die at any time.
        folder = Path(tempfile.mkdtemp(prefix="fullgraph-"))
        command = (python, worker_script())
        _log.info("starting %s in %s", shlex.join(command), cwd)
        try:
            transport, process = await asyncio.get_running_loop().subprocess_exec(
                _ProcessProtocol,
                *command,
                cwd=cwd,
                env={**env, "FULLGRAPH_RUN_FOLDER": str(folder)},
                **_own_group(),
            )
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(transport, process, folder, on_facts, on_output)

    def request(self, method: str, params: object) -> asyncio.Future[Any]:
        """Send a request; the future gets the result or a :class:`Refusal`, never an exception."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def settle(reply: futures.Future[Any]) -> None:
            error = reply.exception()
            answer.set_result(reply.result() if error is None else Refusal(str(error)))

        self._client.protocol.send_request(method, params).add_done_callback(settle)
        return answer

    def abort(self) -> None:
        """Make the worker write to its crash log where it is, and die."""
        if sys.platform != "win32" and not self.exited.done():
            with contextlib.suppress(OSError):
                os.kill(self._transport.get_pid(), signal.SIGABRT)

    async def drain(self) -> None:
        """Read what a worker that has ended left in its pipes."""
        await asyncio.wait(self._readers, timeout=_DRAIN_SECONDS)

    async def close(self) -> str:
        """Kill the process and its descendants, read what it left, and return its crash log."""
        self._kill_group()
        await asyncio.wait({self.exited}, timeout=_KILL_SECONDS)
        await self.drain()
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        self._transport.close()
        return self._remove_folder()

    def _remove_folder(self) -> str:
        try:
            log = (self._folder / _CRASH_LOG).read_text("utf-8", "replace")
        except OSError:
            log = ""  # it ended before it had opened its log
        shutil.rmtree(self._folder, ignore_errors=True)
        return log

    def _kill_group(self) -> None:
        pid = self._transport.get_pid()
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True, check=False)
        else:
            # The group outlives its leader for as long as it has members.
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)

    async def _read_messages(self) -> None:
        assert self._process.stdout is not None
        try:
            await run_async(threading.Event(), self._process.stdout, self._client.protocol, _log)
        except (asyncio.IncompleteReadError, ValueError):
            _log.warning("the worker's last message was incomplete")

    async def _read_output(self) -> None:
        assert self._process.stderr is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while chunk := await self._process.stderr.read(_BUFFER):
            text = decoder.decode(chunk)
            self.output_tail = (self.output_tail + text)[-_TAIL:]
            self._on_output(text)


@cache
def worker_folder() -> str:
    """The folder of ``fullgraph_compiler``, found without importing it."""
    spec = importlib.util.find_spec("fullgraph_compiler")
    assert spec is not None
    assert spec.submodule_search_locations
    return os.path.join(os.path.abspath(spec.submodule_search_locations[0]), "")


def worker_script() -> str:
    """The file that a worker runs. By path: a workspace's own modules must not stand in for it."""
    return os.path.join(worker_folder(), "worker", "main.py")


class _ProcessProtocol(asyncio.subprocess.SubprocessStreamProtocol):
    """Knows when the process itself ended: ``Process.wait`` also waits for its pipes, before Python 3.13."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(limit=_BUFFER, loop=loop)
        self.exited: asyncio.Future[int] = loop.create_future()
        self._subprocess: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._subprocess = transport

    def process_exited(self) -> None:
        super().process_exited()
        assert self._subprocess is not None
        code = self._subprocess.get_returncode()
        if not self.exited.done():
            self.exited.set_result(0 if code is None else code)


def _own_group() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _plain_converter() -> Converter:
    """A converter that leaves parameters and results as JSON values (pygls makes named tuples of them)."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    for message in (JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage):
        converter.register_structure_hook(message, lambda data, cls: cls(**data))
    return converter
