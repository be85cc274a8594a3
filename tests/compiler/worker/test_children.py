"""A worker's forked children: their answers and their ends."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import resource
import runpy
import signal
import sys

import pytest
from processes import dies

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux only")

if sys.platform == "linux":
    from fullgraph_compiler.processes import processes
    from fullgraph_compiler.processes.children import ForkedChild, run_child, wait_for


def _wait_for_ever() -> None:
    while True:
        signal.pause()


def test_a_child_answers() -> None:
    ended = run_child(lambda: list(range(100_000)))
    assert ended.answered
    assert ended.answer[-1] == 99_999
    assert not ended.out_of_time


def test_what_a_child_does_stays_in_it() -> None:
    names: list[str] = []
    run_child(lambda: names.append("child"))
    assert names == []


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_signal_ends_a_child(number: signal.Signals) -> None:
    def work() -> None:
        faulthandler.disable()  # else pytest's dumps the stack into the output of the tests
        os.kill(os.getpid(), number)

    ended = run_child(work)
    assert (ended.answered, ended.code, ended.out_of_time) == (False, -number, False)


def test_an_exit_is_no_answer() -> None:
    ended = run_child(lambda: os._exit(7))
    assert (ended.answered, ended.code) == (False, 7)


def test_an_exception_is_no_answer() -> None:
    ended = run_child(lambda: 1 // 0)
    assert (ended.answered, ended.code) == (False, 1)


def test_a_child_runs_out_of_time() -> None:
    ended = run_child(_wait_for_ever, seconds=0.1)
    assert ended.out_of_time
    assert not ended.answered


def test_a_child_runs_out_of_memory() -> None:
    def hoard() -> None:
        data = bytearray(200 << 20)
        data[::4096] = bytes(len(data[::4096]))
        _wait_for_ever()

    ended = run_child(hoard, memory=100 << 20)
    assert ended.out_of_memory
    assert not ended.answered
    assert not ended.out_of_time


def test_what_a_child_has_started_ends_with_it() -> None:
    def start() -> int:
        pid = os.fork()
        if pid == 0:
            _wait_for_ever()
        return pid

    ended = run_child(start)
    assert dies(ended.answer)


def test_the_first_that_is_done_comes_first() -> None:
    slow, quick = ForkedChild(_wait_for_ever, None), ForkedChild(lambda: "quick", None)
    assert wait_for({slow, quick}) is quick
    assert quick.end().answer == "quick"
    slow.deadline = 0.0
    assert wait_for({slow}) is slow
    assert slow.end().out_of_time


def test_a_system_without_prctl_can_import_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())
    runpy.run_path(processes.__file__)


@pytest.mark.parametrize(("platform", "unit"), [("linux", 1024), ("darwin", 1)])
def test_peak_memory_is_in_bytes_on_each_system(
    monkeypatch: pytest.MonkeyPatch, platform: str, unit: int
) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    monkeypatch.setattr(resource, "getrusage", lambda _: used)
    monkeypatch.setattr(sys, "platform", platform)
    assert processes.peak_memory() == used.ru_maxrss * unit


def test_the_peak_of_a_child_has_what_it_allocates() -> None:
    ended = run_child(lambda: (processes.peak_memory(), len(b"x" * (1 << 26)), processes.peak_memory()))
    before, _, after = ended.answer
    assert before + (1 << 25) < after < before + (1 << 28)


def test_a_child_can_limit_its_memory() -> None:
    def take() -> str:
        processes.limit_memory(1 << 20)
        len(bytes(1 << 20))
        try:
            len(bytes(1 << 34))
        except MemoryError:
            return "refused"
        return "taken"

    assert run_child(take).answer == "refused"
