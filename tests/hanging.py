"""A program that never ends, and says when it has begun."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from pathlib import Path

PROGRAM = """\
import os, signal
with open("started", "w") as pipe:
    pipe.write(str(os.getpid()))
while True:
    signal.pause()
"""


def hanging(folder: Path) -> Callable[[], int]:
    """Write ``hanging.py``, and return a function that waits until it runs.

    This function returns the id of the program's process.
    """
    os.mkfifo(folder / "started")
    (folder / "hanging.py").write_text(PROGRAM)

    def started() -> int:
        pipe = os.open(folder / "started", os.O_RDWR)
        try:
            assert select.select([pipe], [], [], 60)[0], "the program does not start"
            return int(os.read(pipe, 100))
        finally:
            os.close(pipe)

    return started
