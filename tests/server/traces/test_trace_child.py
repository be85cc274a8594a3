"""Calls in a process of their own: answered, ended, and never left behind."""

from __future__ import annotations

import asyncio
import os
import pickle
import select
import subprocess
import sys
from typing import Any

import pytest
from fullgraph_server.traces import child
from fullgraph_server.traces.child import ChildDiedError, FunctionProcess


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set once a process has begun."""
    event, start = asyncio.Event(), asyncio.create_subprocess_exec

    async def started(*command: Any, **options: Any) -> asyncio.subprocess.Process:
        process = await start(*command, **options)
        event.set()
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", started)
    return event


async def test_a_function_is_called_in_another_process() -> None:
    assert await FunctionProcess().call(os.getpid) != os.getpid()
    assert await FunctionProcess().call(sorted, [2, 1]) == [1, 2]


async def test_what_raises_has_no_answer() -> None:
    with pytest.raises(ChildDiedError, match="exit code 1"):
        await FunctionProcess().call(int, "x")


async def test_one_that_is_killed_ends_at_once(begun: asyncio.Event) -> None:
    waiting = FunctionProcess()
    call = asyncio.create_task(waiting.call(select.select, [], [], []))
    await begun.wait()
    waiting.kill()
    with pytest.raises(ChildDiedError):
        await call


async def test_one_that_is_killed_before_it_begins_does_not_begin() -> None:
    waiting = FunctionProcess()
    waiting.kill()
    with pytest.raises(ChildDiedError):
        await waiting.call(select.select, [], [], [])


async def test_a_call_that_nobody_waits_for_ends(begun: asyncio.Event) -> None:
    waiting = FunctionProcess()
    call = asyncio.create_task(waiting.call(select.select, [], [], []))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert waiting._process
    assert await waiting._process.wait() != 0


@pytest.mark.skipif(sys.platform == "win32", reason="there a process is ended in another way")
def test_it_ends_with_who_started_it() -> None:
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", child._MAIN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(pickle.dumps(sys.path) + pickle.dumps((select.select, ([], [], []))))
    process.stdin.close()
    assert process.wait(30) < 0
    process.stdout.close()
