"""Speaks to a worker as the server does, but synchronously."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
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
) -> Result:
    """Run one program in a worker of its own, and wait for its end."""
    folder = cwd / ".run"
    folder.mkdir(exist_ok=True)
    log = folder / "crash.log"
    requests = _frame(1, "initialize", {"protocol": 1}) + _frame(
        2, "run", to_json(RunRequest(7, program, depth, texts))
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
    facts: list[Fact] = []
    hello: dict[str, Any] = {}
    for message in _messages(answered):
        if message.get("method") == "facts":
            assert message["params"]["generation"] == 7
            facts += from_json(message["params"]["facts"])
        elif message.get("id") == 1:
            hello = message
    crash_log = log.read_text() if log.exists() else ""
    return Result(tuple(facts), hello, process.returncode, output.decode(errors="replace"), crash_log)


def run_forked(program: Program, cwd: Path) -> tuple[dict[str, str], tuple[Fact, ...]]:
    """Run one program in a fork of a process that has torch; what that one says of itself, and the facts."""
    folder = cwd / ".run"
    folder.mkdir(exist_ok=True)
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = subprocess.Popen([sys.executable, str(MAIN), "--fork-server"], stdin=theirs, cwd=cwd)
    theirs.close()
    channel, their_channel = socket.socketpair()
    try:
        control.send(json.dumps({"warm": []}).encode())
        ready = json.loads(control.recv(1 << 16))["ready"]
        fork = {"fork": 1, "folder": str(folder), "memory": None}
        descriptors = [their_channel.fileno(), 2]
        socket.send_fds(control, [json.dumps(fork).encode()], descriptors)
        their_channel.close()
        channel.sendall(_frame(1, "initialize", {"protocol": 1}))
        channel.sendall(_frame(2, "run", to_json(RunRequest(7, program))))
        answered = b"".join(iter(lambda: channel.recv(1 << 16), b""))
    finally:
        control.close()
        channel.close()
        server.wait(60)
    told = [message["params"] for message in _messages(answered) if message.get("method") == "facts"]
    return ready, tuple(fact for params in told for fact in from_json(params["facts"]))


def kill_group(pid: int) -> None:
    """End every process that is left of a worker's group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


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
