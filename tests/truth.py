"""Run a program as ``python`` would, with TorchInductor, and read torch's logs.

Fullgraph takes no part: the tests compare its reports with this truth.
"""

from __future__ import annotations

import logging
import os
import re
import runpy
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch._functorch.config
from fullgraph_compiler.facts import Script
from in_child import in_child

SECONDS = 900
"""How long a program may take: the C++ compiler works for each of its graphs."""
_LINE = re.compile(
    r"[VIWE]\d{4} [\d:.]+ \d+ (?P<place>\S+:\d+)\] (?:\[\S*\d/\d\S*\] )?"
    r"(?:\[__(?P<artifact>\w+)\] )?(?P<text>.*)"
)
"""A line of a record of torch's logs (``TorchLogsFormatter`` in ``torch/_logging/_internal.py``)."""
_STARTS = re.compile(
    r"graph_breaks: Graph break(:| .*in user code at )|recompiles: Recompiling function |"
    r"None: torch\._dynamo hit config\."
)
"""The beginnings of what is read, after the name of the log; other records quote some of them."""
_BREAK = re.compile(r" in user code at (?P<file>.+):(?P<row>\d+)$")
_FRAME = re.compile(r'  File "(?P<file>.+)", line (?P<row>\d+), in ')
_BREAK_ID = re.compile(r"/gb/gb(?P<number>\d+)\.html")
_FUNCTION = re.compile(r"Recompiling function (?P<name>.+?) in (?P<file>.+):\d+$")
_LIMITED = re.compile(r"   function: '(?P<name>.+)' \((?P<file>.+):\d+\)")
_RESUMED = re.compile(r"(?:torch_dynamo_resume_in_)+(?P<name>.+?)(?:_at_\d+)+")

Function = tuple[str, str]
"""A function's file and name; resume functions count as part of it."""
Break = tuple[str, int, str]
"""A graph break's file, line and id; the id is empty where torch's log has none."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The content of torch's logs of a run.

    ``error`` is the exception that left the program; empty if it finished.
    """

    breaks: frozenset[Break]
    recompiles: Counter[Function]
    limits: frozenset[Function]
    error: str


def truth(script: Script, cwd: Path, log: Path) -> Truth:
    """Run a script, and read what torch writes into ``log``.

    Raises ``AssertionError`` when the child dies before its end, or takes too long.
    """
    error = in_child(lambda: _run(script, cwd, log), SECONDS)
    return read_logs(log.read_text(errors="replace"), error)


def _run(script: Script, cwd: Path, log: Path) -> str:
    """Run it to its end; return the exception that left it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nothing, descriptor)
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT), 2)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    os.chdir(cwd)
    # With the handler of pytest, torch makes the records of its trace, which fails for some subclasses.
    logging.getLogger("torch.__trace").handlers.clear()
    torch._logging.set_logs(recompiles=True, graph_breaks=True)
    # A graph that torch takes from this cache comes without the guard on a number that compiling it added.
    torch._functorch.config.enable_autograd_cache = False
    sys.argv[:] = [script.filename, *script.args]
    sys.path.insert(0, os.path.dirname(script.filename))
    try:
        runpy.run_path(script.filename, run_name="__main__")
    except SystemExit as error:
        return f"exit {error.code}" if error.code else ""
    except BaseException as error:
        traceback.print_exc()
        return f"{type(error).__qualname__}: {error}"
    return ""


def read_logs(text: str, error: str = "") -> Truth:
    """Read the logs ``recompiles`` and ``graph_breaks``, and warnings about limits."""
    breaks: set[Break] = set()
    recompiles: list[Function] = []
    limits: set[Function] = set()
    for record in _records(text):
        first = record.partition("\n")[0]
        if first.startswith("Graph break"):
            # The record of a frame that is skipped ends in the user's stack, which may be empty, or goes on
            # with that of Dynamo itself.
            stack = record.partition("\nTraceback (most recent call last):")[0]
            place = _BREAK.search(first) or next(reversed([*_FRAME.finditer(stack)]), None)
            number = _BREAK_ID.search(record)
            where = (place["file"], int(place["row"])) if place else ("", 0)
            breaks.add((*where, f"GB{number['number']}" if number else ""))
        elif found := _FUNCTION.match(first):
            recompiles.append(_function(found))
        elif found := _LIMITED.search(record):
            limits.add(_function(found))
            # The recompilation that the limit stops has been logged as well.
            if recompiles[-1:] == [_function(found)]:
                recompiles.pop()
    if error.startswith("RecompileError"):
        recompiles.pop()  # it was logged, and refused
    return Truth(frozenset(breaks), Counter(recompiles), frozenset(limits), error)


def _records(text: str) -> Iterator[str]:
    """Yield the records that are read, without the prefix of each of their lines."""
    record: list[str] = []
    source: tuple[str, str] | None = None
    for found in filter(None, map(_LINE.match, text.splitlines())):
        starts = _STARTS.match(f"{found['artifact']}: {found['text']}")
        if record and (starts or source != (found["place"], found["artifact"])):
            yield "\n".join(record)
            record = []
        source = (found["place"], found["artifact"])
        if record or starts:
            record.append(found["text"])
    if record:
        yield "\n".join(record)


def _function(found: re.Match[str]) -> Function:
    resumed = _RESUMED.fullmatch(found["name"])
    return found["file"], resumed["name"] if resumed else found["name"]
