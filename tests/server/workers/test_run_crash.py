"""Crash logs of faulthandler, read back."""

from __future__ import annotations

import pytest
from fullgraph_compiler.facts import StackFrame
from fullgraph_server.workers.crash import crash_stack, describe_exit

THREADS = """\
Fatal Python error: Segmentation fault

Thread 0x00007f0000000001 (most recent call first):
  File "/lib/threading.py", line 10 in wait

Current thread 0x00007f0000000002 [MainThread] (most recent call first):
  File "/lib/native.py", line 3 in boom
  File "/home/me/caf\\xe9 \\u6f22.py", line 7 in forward
  File "<frozen runpy>", line 88 in _run_code
  File "/opt/fullgraph_compiler/capture/run.py", line 9 in run
  ...

Thread 0x00007f0000000003 (most recent call first):
  File "/lib/other.py", line 1 in other

Current thread's C stack trace (most recent call first):
  Binary file "/lib/libc.so.6", at +0x3c050

Extension modules: numpy (total: 1)
"""


def test_current_thread_outermost_first_without_the_worker() -> None:
    assert crash_stack(THREADS, "/opt/fullgraph_compiler/") == (
        StackFrame("/home/me/café 漢.py", 7, "forward"),
        StackFrame("/lib/native.py", 3, "boom"),
    )


def test_the_main_thread_comes_last_where_no_thread_is_current() -> None:
    log = THREADS.replace("Current thread 0x", "Thread 0x")
    assert crash_stack(log, "/opt/") == (StackFrame("/lib/other.py", 1, "other"),)


def test_windows() -> None:
    log = (
        "Windows fatal exception: access violation\n\n"
        "Current thread 0x00001234 (most recent call first):\n"
        '  File "C:\\x64\\toy.py", line 2 in <module>\n'
    )
    assert crash_stack(log, "C:\\server\\") == (StackFrame("C:\\x64\\toy.py", 2, "<module>"),)


@pytest.mark.parametrize("log", ["", "Killed", 'Current thread 0x1 (most recent call first):\n  File "a'])
def test_no_stack(log: str) -> None:
    assert crash_stack(log, "/opt/") == ()


@pytest.mark.parametrize(
    ("returncode", "words"),
    [
        (0, "exit code 0"),
        (3, "exit code 3"),
        (-11, "segmentation fault (SIGSEGV)"),
        (-9, "killed: perhaps out of memory (SIGKILL)"),
        (-10, "SIGUSR1"),
        (-200, "signal 200"),
    ],
)
def test_exit_in_words(returncode: int, words: str) -> None:
    assert describe_exit(returncode) == words
