"""Commands in a terminal, one after the other: the second finds a process with torch imported."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import pytest
from fullgraph_server.workers.handover import end_fork_server
from processes import dies, marked, outliving

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes stay on Linux alone")

FULLGRAPH = str(Path(sys.executable).with_name("fullgraph"))
PROGRAM = """
import json, os, sys, threading, torch
fds = sorted(map(int, os.listdir("/proc/self/fd")))
env = {name: value for name, value in os.environ.items() if "FULLGRAPH" not in name and "_CACHE_" not in name}
print(json.dumps([
    os.getcwd(), sys.argv, sys.path, env, sys.stdin.read(), len(fds), threading.active_count(),
    os.nice(0), os.getsid(0) == os.getpid(), torch.initial_seed(),
]))
print(json.dumps(os.getppid()))

@torch.compile
def step(x):
    y = x.sin()
    if x.sum() > 0:
        y = y + 1
    return (y * x).sum()

for size in (3, 4, 5):
    step(torch.ones(size, requires_grad=True)).backward()
if "fail" in sys.argv:
    raise ValueError("boom")
"""
HANGS = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(os.getppid(), os.getpid(), child.pid, flush=True)
child.wait()
"""


INHERITS = """
import json, os, signal, sys, torch, library
personality = int(open("/proc/self/personality").read(), 16)
ignored = [signal.getsignal(number) is signal.SIG_IGN for number in (signal.SIGHUP, signal.SIGINT)]
print(json.dumps([ignored, personality, library.VERSION, "sitecustomize" in sys.modules]))
print(json.dumps(os.getppid()))
torch.compile(torch.sin)(torch.ones(3))
"""


class Terminal:
    """A terminal in a folder; nothing of it is left afterwards."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        self.folder, self.sockets = folder, runtime / "fullgraph"
        self.mark = f"FULLGRAPH_TEST_MARK={uuid.uuid4().hex}"
        name, _, value = self.mark.partition("=")
        dropped = ("CI", "FULLGRAPH_WARM")
        self.env = {key: value for key, value in os.environ.items() if key not in dropped}
        self.env |= {name: value, "XDG_RUNTIME_DIR": str(runtime)}

    def run(
        self, *words: str, given: str = "", below: tuple[str, ...] = (), **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, perhaps below another one such as ``nohup``."""
        return subprocess.run(
            [*below, FULLGRAPH, *words],
            cwd=self.folder,
            env=self.env | env,
            input=given,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command."""
        return subprocess.Popen(
            [FULLGRAPH, *words],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    runtime = Path(tempfile.mkdtemp(prefix="fg-"))  # the paths of sockets are short
    terminal = Terminal(tmp_path, runtime)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "hangs.py").write_text(HANGS)
    yield terminal
    for path in terminal.sockets.glob("*"):
        end_fork_server(path)
    assert outliving(marked(terminal.mark)) == []
    shutil.rmtree(runtime)


def told(ran: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    """What a command told but for its times, and the process that forked its worker."""
    seen, parent = ran.stderr.splitlines()[:2]
    return ran.returncode, seen + re.sub(r"\d+\.\d+ s", "", ran.stdout), parent


def test_the_second_command_tells_the_same_from_the_process_of_the_first(terminal: Terminal) -> None:
    words = ("check", "program.py", "--fail-on", "break")
    cold, seen, starter = told(terminal.run(*words, given="one"))
    assert (cold, len(marked(terminal.mark))) == (1, 1)
    again, seen_again, forker = told(terminal.run(*words, given="one"))
    assert (again, seen_again) == (cold, seen)
    assert "breaks the graph" in seen
    assert forker != starter
    assert marked(terminal.mark) == [int(forker)]
    assert told(terminal.run(*words, given="two"))[2] == forker
    # It holds nothing of the commands, and stands in no folder of theirs.
    held = {os.readlink(f"/proc/{forker}/fd/{number}") for number in (0, 1, 2)}
    assert held == {os.devnull}
    assert os.readlink(f"/proc/{forker}/cwd") == "/"
    failed = terminal.run("check", "program.py", "--", "fail")
    assert (failed.returncode, told(failed)[2]) == (1, forker)


def test_what_one_command_had_the_next_has_not(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "path"
    path.mkdir()
    (path / "library.py").write_text("VERSION = 1\n")
    (tmp_path / "inherits.py").write_text(INHERITS)

    def seen(*below: str) -> list[object]:
        ran = terminal.run("check", "inherits.py", below=below, PYTHONPATH=str(path))
        assert ran.returncode == 0, ran.stderr
        told: list[object] = json.loads(
            next(line for line in ran.stderr.splitlines() if line.startswith("[["))
        )
        return told

    is_there = find_spec("sitecustomize") is not None  # Debian's Python has one
    assert seen("nohup", "setarch", "-R") == [[True, False], 0x0040000, 1, is_there]
    assert seen() == [[False, False], 0, 1, is_there]
    (path / "library.py").write_text("VERSION = 2\n")
    (path / "sitecustomize.py").write_text("")
    assert seen() == [[False, False], 0, 2, True]


@pytest.mark.parametrize("opted_out", [{"FULLGRAPH_WARM": "0"}, {"CI": "true"}], ids=" ".join)
def test_who_does_not_want_it_finds_nothing_and_leaves_nothing(
    terminal: Terminal, opted_out: dict[str, str]
) -> None:
    assert terminal.run("check", "hangs.py", "--timeout", "0.1", **opted_out).returncode == 1
    assert outliving(marked(terminal.mark)) == []
    assert not terminal.sockets.exists()


@pytest.mark.parametrize(
    ("number", "stays"), [(signal.SIGKILL, 0), (signal.SIGINT, 1)], ids=["killed", "interrupted"]
)
def test_a_worker_dies_with_its_command(terminal: Terminal, number: int, stays: int) -> None:
    assert terminal.run("check", "program.py").returncode == 0
    with terminal.start("check", "hangs.py") as command:
        assert command.stderr is not None
        forker, *run = pids(command.stderr)
        assert marked(terminal.mark)
        command.send_signal(number)
        command.wait(30)
    assert all(map(dies, run))
    left = [forker] if stays else []
    assert outliving(marked(terminal.mark), 0 if stays else 20) == left
    assert len(list(terminal.sockets.iterdir())) == stays


def pids(output: IO[str]) -> list[int]:
    """The processes that the program has told."""
    return [int(word) for word in output.readline().split()]


@pytest.mark.slow
@pytest.mark.parametrize("words", [("recompiles",), ("frozen",), ("stages",), ("fix",)], ids=" ".join)
def test_other_commands_tell_the_same_too(terminal: Terminal, words: tuple[str, ...]) -> None:
    def tell() -> tuple[int, object]:
        ran = terminal.run(*words, "program.py", "--format", "json")
        return ran.returncode, timeless(json.loads(ran.stdout))

    cold = tell()
    (forker,) = marked(terminal.mark)
    assert tell() == cold
    assert marked(terminal.mark) == [forker]


def timeless(value: object) -> object:
    """A JSON value without the times in it."""
    if isinstance(value, dict):
        return {name: timeless(item) for name, item in value.items() if "seconds" not in name}
    if isinstance(value, list):
        return [timeless(item) for item in value]
    return re.sub(r"\d+(\.\d+)? m?s\b", "", value) if isinstance(value, str) else value
