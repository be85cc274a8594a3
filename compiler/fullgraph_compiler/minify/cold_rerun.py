"""Run a repro in a fresh interpreter, without the state of this process."""

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
    """A process that imports torch in the background, and then runs one file.

    The import starts at once because it takes seconds.
    """

    def __init__(self) -> None:
        env = {
            **os.environ,
            # A cached graph may come from another definition of the same names.
            "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
            "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
            # For one small graph, a pool of compiler processes costs more time than it saves.
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
        """Run a file and return its exit code.

        This works only once.
        """
        self._process.communicate(f"{filename}\n")
        return self._process.returncode
