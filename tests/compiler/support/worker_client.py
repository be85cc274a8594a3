"""Speaks to a worker as the server does, but synchronously."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fullgraph_compiler
from fullgraph_compiler.facts import Depth, Fact, Program, RunRequest, SourceText, from_json, to_json

MAIN = Path(fullgraph_compiler.__file__).parent / "worker" / "main.py"


TOY = """
import torch

@torch.compile
def toy(a, b):
    x = a / (torch.abs(a) + 1)
    print("woo")
    if b.sum() < 0:
        b = b * -1
    return x * b

for size in (10, 12):
    toy(torch.ones(size, device="{device}"), torch.ones(size, device="{device}"))
"""
"""Two graph breaks and a recompilation, the same each time."""


@dataclass(frozen=True)
class Result:
    """What one worker said and did until it ended."""

    facts: tuple[Fact, ...]
    hello: dict[str, Any]
    exit_code: int
    output: str
    crash_log: str
    answer: str = ""
    """The error that the request to run was answered with."""

    def of(self, kind: type) -> list[Any]:
        """The facts of one kind, in order."""
        return [fact for fact in self.facts if isinstance(fact, kind)]


def run_worker(
    program: Program,
    cwd: Path,
    *,
    depth: Depth = "graph",
    env: dict[str, str] | None = None,
    texts: tuple[SourceText, ...] = (),
    low_priority: bool = False,
) -> Result:
    """Run one program in a worker of its own, and wait for its end."""
    folder = cwd / ".run"
    folder.mkdir(exist_ok=True)
    log = folder / "crash.log"
    requests = _frame(1, "initialize", {"protocol": 1}) + _frame(
        2, "run", to_json(RunRequest(7, program, depth, texts, low_priority=low_priority))
    )
    # The end of its input would tell the worker that the server has gone.
    reader, writer = os.pipe()
    os.write(writer, requests)
    process = subprocess.Popen(
        [sys.executable, str(MAIN)],
        stdin=reader,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, "FULLGRAPH_RUN_FOLDER": str(folder), **(env or {})},
        start_new_session=True,
    )
    os.close(reader)
    try:
        answered, output = process.communicate(timeout=240)
    finally:
        kill_group(process.pid)
        os.close(writer)
    return _result(answered, process.returncode, output.decode(errors="replace"), log)


class Forks:
    """A process that has torch, and runs programs in forks; a context manager."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, str(MAIN), "--fork-server"]
        self._server = subprocess.Popen(command, stdin=theirs, cwd=cwd)
        theirs.close()
        self._control.send(json.dumps({"warm": [], "ahead": False, "folder": str(cwd)}).encode())
        self.ready: dict[str, str] = self._told("ready")["ready"]
        self._forks = 0

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self._control.close()
        self._server.wait(60)

    def run(self, program: Program) -> Result:
        """Run one program, and wait for its end."""
        return self.ask("run", RunRequest(7, program))

    def ask(self, method: str, request: Any) -> Result:
        """Send one request, and wait for its end."""
        self._forks += 1
        folder = self.cwd / f".run{self._forks}"
        folder.mkdir()
        channel, their_channel = socket.socketpair()
        fork = {"fork": self._forks, "cwd": str(self.cwd), "folder": str(folder), "memory": None}
        with tempfile.TemporaryFile() as output:
            descriptors = [their_channel.fileno(), output.fileno()]
            socket.send_fds(self._control, [json.dumps(fork).encode()], descriptors)
            their_channel.close()
            channel.sendall(_frame(1, "initialize", {"protocol": 1}))
            channel.sendall(_frame(2, method, to_json(request)))
            answered = b""
            with channel, contextlib.suppress(ConnectionError):  # it may be closed with a request in it
                while chunk := channel.recv(1 << 16):
                    answered += chunk
            code = self._told("exited")["code"]
            output.seek(0)
            text = output.read().decode(errors="replace")
        return _result(answered, code, text, folder / "crash.log")

    def _told(self, key: str) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(self._control.recv(1 << 16))
            if key in message:
                return message


def run_forked(program: Program, cwd: Path) -> tuple[dict[str, str], tuple[Fact, ...]]:
    """Run a program in a fork of a process that has torch.

    Return the ``ready`` message of this process, and the facts.
    """
    with Forks(cwd) as forks:
        return forks.ready, forks.run(program).facts


def kill_group(pid: int) -> None:
    """End every process that is left of a worker's group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _result(answered: bytes, code: int, output: str, log: Path) -> Result:
    facts: list[Fact] = []
    hello: dict[str, Any] = {}
    error = ""
    for message in _messages(answered):
        if message.get("method") == "facts":
            assert message["params"]["generation"] == 7
            facts += from_json(message["params"]["facts"])
        elif message.get("id") == 1:
            hello = message
        elif "error" in message:
            error = message["error"]["message"]
    crash_log = log.read_text() if log.exists() else ""
    return Result(tuple(facts), hello, code, output, crash_log, error)


def _frame(request: int, method: str, params: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": request, "method": method, "params": params}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _messages(data: bytes) -> list[dict[str, Any]]:
    messages = []
    while data:
        header, _, rest = data.partition(b"\r\n\r\n")
        assert header.startswith(b"Content-Length: "), f"not a message: {header[:80]!r}"
        length = int(header.split()[1])
        messages.append(json.loads(rest[:length]))
        data = rest[length:]
    return messages
