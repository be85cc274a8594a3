"""Runs of programs that fail in every way, and what must be true after each run.

The programs are those of ``tests/cases/faults``. Each names its process ``fault``, and the server has a mark
in its environment: all processes that they start inherit both, so none can hide.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import shutil
import signal
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import processes
from lsp_session import Editor, uri_of
from lsprotocol import types
from pygls.exceptions import JsonRpcException

PROGRAMS = Path(__file__).parents[2] / "cases" / "faults"
_SERVER = Path(__file__).with_name("faulty_server.py")
_LOG = Path(__file__).parents[2] / "compiler" / "traces" / "torch-2.13.log.gz"
_MARK = "FULLGRAPH_SOAK"
_MEMORY = 1
"""GiB that a run may use."""
_SHORT, _LONG = 2, 60
"""Seconds for programs that never end, and for those that do: on a busy machine they may take long."""


@dataclass(frozen=True)
class Fault:
    """A program, how its run ends, and what each of its findings contains.

    A finding contains a code, or a part of its message.
    """

    program: str
    status: str
    findings: tuple[str, ...]
    timeout: float = _LONG


_SEEN = "GB0059"
"""What each program does before it goes wrong. That stays, however it ends."""
_LOST = "closed the file descriptors"
_LATE = f"Stopped after {_SHORT} s"

FAULTS = (
    Fault("finds.py", "finished", (_SEEN,)),
    Fault("raises.py", "raised", (_SEEN, "ZeroDivisionError")),
    Fault("syntax_error.py", "not-started", ("SyntaxError",)),
    Fault("segfault.py", "crashed", (_SEEN, "segmentation fault")),
    Fault("os_exit.py", "crashed", (_SEEN, "exit code 3")),
    Fault("endless_loop.py", "timeout", (_SEEN, _LATE), _SHORT),
    Fault("blocked.py", "timeout", (_SEEN, _LATE), _SHORT),
    Fault("memory_hog.py", "memory", (_SEEN, f"{_MEMORY} GiB")),
    Fault("memory_children.py", "memory", (_SEEN, f"{_MEMORY} GiB")),
    Fault("fork_bomb.py", "finished", (_SEEN,)),
    Fault("closed_descriptors.py", "crashed", (_SEEN, _LOST)),
    Fault("taken_descriptors.py", "crashed", (_SEEN, _LOST)),
    Fault("replaced.py", "finished", (_SEEN,)),
    Fault("unprintable.py", "raised", (_SEEN, "Unprintable")),
)
_OWN_ENDS = ("crashed", "not-started")
"""How a run ends in which the server itself has failed."""
WAITS = Fault("waits.py", "timeout", (_SEEN, _LATE), _SHORT)
"""For runs that are killed."""

Moment: TypeAlias = Callable[["asyncio.Future[Any]"], Awaitable[Iterable[int]]]
"""Waits until it is time during a run, and gives the processes to kill."""


class Soak:
    """A server under test. Its methods return the problems found, one sentence each."""

    def __init__(self, editor: Editor, folder: Path, mark: str, temporary: Path) -> None:
        self.editor = editor
        self._folder = folder
        self._temporary = temporary
        self._mark = mark
        self._zombies: set[int] = set()
        self.failed: set[tuple[str, str]] = set()
        """The functions of the server that were made to fail, and when."""

    @property
    def server(self) -> int:
        """The process of the server."""
        return self.editor._server.pid

    def workers(self) -> list[int]:
        """Return the processes that serve runs or wait for one.

        The server's own children have forked them.
        """
        return [pid for child in processes.children(self.server) for pid in processes.children(child)]

    async def run(self, fault: Fault) -> list[str]:
        """Run a program to its end, and read the answer."""
        summary, shown = await self._answer(self.begin(fault), fault)
        return _misjudged(fault, summary, shown)

    async def run_and_kill(self, fault: Fault, moment: Moment) -> list[str]:
        """Kill processes while a program runs.

        If its own process is not among them, the program may end as usual.
        """
        run = self.begin(fault)
        for pid in await moment(run):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        summary, shown = await self._answer(run, fault)
        return _unclear(summary, shown, [item.message for item in self.editor.messages])

    async def run_and_fail(self, fault: Fault, random: Random) -> list[str]:
        """Run a program three times; in the second run, a function of the server fails.

        The function is one that runs have called.
        """
        wrong = await self.run(fault)  # which calls them
        moment = random.choice(("before", "after"))
        names = await self.editor.command("test.calls", moment)
        untried = [name for name in names if (name, moment) not in self.failed]
        name = random.choice(untried or names)
        self.failed.add((name, moment))
        await self.editor.command("test.fail", name, moment)
        try:
            summary, shown = await self._answer(self.begin(fault), fault)
            failed = [item.message for item in shown if "Fullgraph itself failed" in item.message]
            told = summary["status"] == fault.status or (summary["status"] in _OWN_ENDS and bool(shown))
            wrong += [f"{name} fails {moment}: {summary}, {failed}"] * (not told)
        except JsonRpcException as error:
            wrong.append(f"{name} fails {moment}: {error}")
        await self.editor.command("test.fail")
        return wrong + await self.run(fault)

    async def read_damaged(self, random: Random) -> list[str]:
        """Read a trace that was cut off, bent, or filled with nonsense."""
        log = bytearray(gzip.decompress(_LOG.read_bytes()))
        begin, end = sorted(random.sample(range(len(log)), 2))
        damage = random.choice((b"", b"[" * 100_000, b"\xff\x00\n" * 500, bytes(reversed(log[begin:end]))))
        path = self._folder / "damaged.log"
        path.write_bytes(bytes(log[:begin]) + damage + bytes(log[end:]))
        run = self.editor.begin("fullgraph.readTrace", str(path))
        summary = await asyncio.wait_for(run, _LONG)
        read = summary["status"] in ("finished", "not-started")
        return [f"a damaged trace: {summary}"] * (not read)

    def begin(self, fault: Fault) -> asyncio.Future[Any]:
        """Start a run; the future gets the answer."""
        self.editor.published.clear()
        self.editor.messages.clear()
        self.editor.set_configuration({"fullgraph": {"memory": _MEMORY, "timeout": fault.timeout}})
        return self.editor.begin("fullgraph.run", uri_of(self._folder / fault.program))

    async def left_behind(self) -> list[str]:
        """Return the leftovers of finished runs: orphans, and zombies that nobody reaps."""
        orphans = await _outliving(
            pid for pid in processes.marked(self._mark) if processes.name(pid) == "fault"
        )
        zombies = set(filter(processes.is_zombie, processes.descendants(self.server)))
        # What has only just died is reaped by the time the next run is over.
        stuck, self._zombies = zombies & self._zombies, zombies
        return orphans + [f"nobody reaps: {', '.join(map(str, stuck))}"] * bool(stuck)

    async def first_finding(self, _run: asyncio.Future[Any]) -> None:
        """Wait until the run that is on has told something."""
        await self.editor.until(lambda: any(params.diagnostics for params in self.editor.published))

    async def shut_down(self) -> list[str]:
        """End the server as an editor does."""
        await self.editor.shutdown_session()
        folders = sorted(path.name for path in self._temporary.glob("fullgraph-*"))
        return await self._survivors() + [f"left behind: {', '.join(folders)}"] * bool(folders)

    async def kill_server(self) -> list[str]:
        """End the server as if the editor had died with it."""
        os.kill(self.server, signal.SIGKILL)
        await self.editor._server.wait()
        return await self._survivors()

    async def _answer(self, run: asyncio.Future[Any], fault: Fault) -> tuple[Any, list[types.Diagnostic]]:
        summary = await asyncio.wait_for(run, _LONG + fault.timeout)
        last = {params.uri: params.diagnostics for params in self.editor.published}
        # The programs share what they do at first: it is shown as what the newest run has found.
        shown = [item for items in last.values() for item in items]
        return summary, [item for item in shown if item.data["target"] == summary["target"]]

    async def _survivors(self) -> list[str]:
        """Return the processes left after the server has ended.

        Some processes end only when others have ended, so look again.
        """
        left: list[str] = []
        while not left and (found := processes.marked(self._mark)):
            left = await _outliving(found)
        return left


@contextlib.asynccontextmanager
async def soaking(folder: Path) -> AsyncIterator[Soak]:
    """Start a server on a folder with a copy of the programs."""
    shutil.copytree(PROGRAMS, folder)
    temporary = folder.with_name("temporary")
    temporary.mkdir()
    value = uuid.uuid4().hex
    editor = Editor()
    env = {**os.environ, _MARK: value, "TMPDIR": str(temporary)}
    await editor.start_io(sys.executable, str(_SERVER), env=env)
    try:
        await editor.open_folder(folder)
        yield Soak(editor, folder, f"{_MARK}={value}", temporary)
    finally:
        if editor._server.returncode is None:
            await editor.shutdown_session()
        await editor.stop()


def _misjudged(fault: Fault, summary: Any, shown: list[types.Diagnostic]) -> list[str]:
    """What is wrong with the answer to a run that nobody disturbed."""
    findings = [f"{item.code} {item.message}" for item in shown]
    fits = len(findings) == len(fault.findings) and all(
        any(text in finding for finding in findings) for text in fault.findings
    )
    answered = (summary["status"], summary["findings"]) == (fault.status, len(fault.findings))
    return [f"{fault.program}: {summary}, {findings}"] * (not (answered and fits))


def _unclear(summary: Any, shown: list[types.Diagnostic], messages: list[str]) -> list[str]:
    """Return the problem if the answer to a killed run is not findings or one message.

    A run that was killed before it began has no line for a finding: a message reports it.
    """
    problems = [item.message for item in shown if item.code == "target-error"] + messages
    clear = len(problems) == (summary["status"] != "finished") and (shown or messages)
    return [f"killed: {summary}, {[item.message for item in shown]}, {messages}"] * (not clear)


async def _outliving(pids: Iterable[int]) -> list[str]:
    """Which processes do not end, given time; they are killed then."""
    left = await asyncio.to_thread(processes.outliving, pids)
    names = [f"{processes.name(pid)} {pid}" for pid in left]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return [f"live on: {', '.join(names)}"] * bool(left)
