"""Run and observe a program without a worker.

Usage: ``python -m fullgraph_compiler.observe [--trace FOLDER] [-m] PROGRAM ARGS``. The program runs in this
process, which any launcher may have started, and leaves a log of its compilations. This module does not
import torch, because the program may set environment variables for torch before it imports torch.
"""

from __future__ import annotations

import argparse
import errno
import os
from functools import partial
from typing import Final

from ..files.stand_ins import on_import
from .complaints import complain
from .running import run

_FOLDER: Final = "TORCH_TRACE"
"""The environment variable that names torch's log folder; the program's child processes write there, too."""


def main() -> None:
    """Run and observe the program that the command line names."""
    options = _parser().parse_args()
    folder = os.path.abspath(options.trace or os.environ.get(_FOLDER) or "fullgraph-trace")
    try:
        os.makedirs(folder, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        os.environ.pop(_FOLDER, None)
        complain(f"no log is written to {folder}", error)
    else:
        os.environ[_FOLDER] = folder
        on_import("torch", partial(_observe, folder))
    run(options.program, options.arguments, module=options.module)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fullgraph_compiler.observe",
        description="Run a program, and write a log of what torch.compile does in it, for `fullgraph trace`.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--trace", metavar="FOLDER", help="where to write the log (default: $TORCH_TRACE, or fullgraph-trace)"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module, not a file")
    parser.add_argument("program", metavar="PROGRAM")
    # Otherwise the error for a missing PROGRAM would say that ARGS are required as well.
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER).required = False
    return parser


def _observe(folder: str, _torch: object) -> None:
    """Start to write the log, after torch is loaded.

    Never raises.
    """
    try:
        from .writing import write_log

        write_log(folder)
    except Exception as error:
        complain("no log is written", error)


if __name__ == "__main__":
    main()
