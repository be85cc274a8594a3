"""The command line at a terminal: a program asks its user, as it does with ``python``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="Windows has no terminals like this")

CLI = "from fullgraph_server.cli import main; main()"
PROGRAM = """\
import sys
number = int(input("how many? "))
assert sys.stdin.isatty()
breakpoint()
print(number + 1, "is more")
"""


def test_a_program_asks_at_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "ask.py").write_text(PROGRAM)
    ours, theirs = pty.openpty()
    words = [sys.executable, "-c", CLI, "check", "ask.py", "--python", sys.executable]
    with subprocess.Popen(
        words, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=lambda: lead(theirs)
    ) as process:
        os.close(theirs)
        answers = (("how many? ", "5"), ("(Pdb) ", "number = number * 2"), ("(Pdb) ", "c"))
        for question, answer in answers:
            read_until(ours, question)
            os.write(ours, f"{answer}\n".encode())
        said = read_until(ours, "torch 2")
        assert process.wait(60) == 0
    os.close(ours)
    assert "11 is more" in said


def lead(terminal: int) -> None:
    """Make a process own a terminal, as a shell does."""
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def read_until(terminal: int, text: str) -> str:
    """Read what is on the terminal until it says this."""
    said = ""
    while text not in said:
        said += os.read(terminal, 4096).decode()
    return said
