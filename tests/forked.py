"""Observation of a program in a forked child of this process, which has torch.

A separate worker for each of hundreds of cases would spend nearly all of its time importing torch. The child
runs the same code as a worker, from the listener on.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import cast

import fullgraph_compiler
import torch
from code_hash import digest
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
    to_json,
)
from fullgraph_compiler.files.protection import discard_files, is_wanted
from in_child import in_child
from stored_runs import current_store, with_paths, without_paths

_OURS = f'"filename": "{Path(fullgraph_compiler.__file__).parent}'


def observe(
    program: Program,
    cwd: Path,
    texts: tuple[SourceText, ...] = (),
    log: Path | None = None,
    depth: Depth = "graph",
    switches: Switches | None = None,
) -> tuple[Fact, ...]:
    """Return the facts of one run.

    ``TORCH_LOGS=recompiles`` is written to ``log``, if given. Raises ``AssertionError`` if the child dies or
    takes too long, or if a fact has a place in a file of Fullgraph.
    """
    request = RunRequest(1, program, depth, texts, switches=switches or Switches())
    store = current_store()
    if store is None:
        facts = _observed(request, cwd, log)
    else:
        key = digest(without_paths(to_json(request), cwd=cwd), log is not None)
        stored = store.get(key)
        if stored is None:
            facts = _observed(request, cwd, log)
            made = {"facts": facts, "log": log.read_text() if log else ""}
            store.made[key] = without_paths(made, cwd=cwd)
        else:
            run = with_paths(stored, cwd=cwd)
            facts = run["facts"]
            if log is not None:
                log.write_text(run["log"])
    return cast("tuple[Fact, ...]", from_json(facts))


def _observed(request: RunRequest, cwd: Path, log: Path | None) -> list[object]:
    """Run a program in a child, and return its facts as JSON values."""
    with tempfile.TemporaryDirectory() as folder:
        lines = in_child(lambda: _run(request, cwd, log, Path(folder)))
    assert [line for line in lines if _OURS in line] == []
    return [fact for line in lines for fact in json.loads(line)]


def _run(request: RunRequest, cwd: Path, log: Path | None, folder: Path) -> list[str]:
    """What a worker would send, line by line."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    os.chdir(cwd)
    if log is not None:
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT), 2)
        torch._logging.set_logs(recompiles=True)
    if is_wanted(request):
        discard_files(request, folder)
    lines: list[str] = []
    run(request, lambda facts: lines.append(json.dumps(facts, default=as_object)))
    return lines
