"""Observe a program in a forked child of this process, which has torch loaded already.

A worker of its own for each of hundreds of cases would spend nearly all of its time importing torch.
Everything from the listener on is what a worker runs.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import torch._dynamo  # one copy serves all children
from fullgraph_compiler.capture.run import run
from fullgraph_compiler.facts import (
    Depth,
    Fact,
    Program,
    RunRequest,
    SourceText,
    Switches,
    as_object,
    from_json,
)
from fullgraph_compiler.files.protection import discard_files, is_wanted


def observe(
    program: Program,
    cwd: Path,
    texts: tuple[SourceText, ...] = (),
    log: Path | None = None,
    depth: Depth = "graph",
    switches: Switches | None = None,
) -> tuple[Fact, ...]:
    """The facts of one run; ``TORCH_LOGS=recompiles`` goes into ``log``, if there is one.

    Raises ``RuntimeError`` when the child dies before its end.
    """
    reader, writer = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            os.close(reader)
            request = RunRequest(1, program, depth, texts, switches=switches or Switches())
            _run(request, cwd, writer, log, Path(folder))
        os.close(writer)
        with open(reader, encoding="utf-8") as stream:
            facts = [fact for line in stream for fact in from_json(json.loads(line))]
        _, status = os.waitpid(child, 0)
    if status != 0:
        raise RuntimeError(f"the child of {program} died with status {status}")
    return tuple(facts)


def _run(request: RunRequest, cwd: Path, writer: int, log: Path | None, folder: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    os.chdir(cwd)
    if log is not None:
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT), 2)
        torch._logging.set_logs(recompiles=True)
    code = 1
    try:
        if is_wanted(request):
            discard_files(request, folder)
        with open(writer, "w", encoding="utf-8") as stream:
            run(
                request,
                lambda facts: print(json.dumps(facts, default=as_object), file=stream, flush=True),
            )
        code = 0
    finally:
        os._exit(code)
