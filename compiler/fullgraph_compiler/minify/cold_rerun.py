"""A fresh interpreter for a repro: whether that still fails is not for a process that knows more to say."""

from __future__ import annotations

import os
import subprocess
import sys
from types import TracebackType

from ..compat.inductor_compat import IMPORTS

_WAIT = f"""\
import runpy, sys
{IMPORTS}
filename = sys.stdin.readline().rstrip()
if filename:
    sys.argv = [filename]
    runpy.run_path(filename, run_name="__main__")
"""


class FreshInterpreter:
    """Imports torch, which takes seconds, while this process has other things to do; then runs one file."""

    def __init__(self) -> None:
        env = {
            **os.environ,
            # A graph that was compiled with another definition of the same names must not stand in for this.
            "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
            "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
            # For so little a pool of compilers costs more than it brings.
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WAIT],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> FreshInterpreter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def run(self, filename: str) -> int:
        """The exit code of the file. Once only."""
        self._process.communicate(f"{filename}\n")
        return self._process.returncode
