"""Logs of the ranks of a job, made of a real one, with planted differences."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from traces import records

FOLDER = Path(__file__).parent / "ranks"
PROGRAM = (FOLDER / "train.py").read_text()
LOG = gzip.decompress((FOLDER / "train.log.gz").read_bytes())
Edit: TypeAlias = Callable[[list[bytes]], list[bytes]]
"""A change of a log's records."""


def row(text: str) -> int:
    """The line of the program with a text."""
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def write(
    folder: Path,
    count: int,
    edits: Iterable[tuple[Iterable[int], Edit]] = (),
    common: Edit = lambda log: log,
) -> Path:
    """Write the logs of a job of ``count`` ranks.

    All have the ``common`` edit, and some have ``edits``.
    """
    folder.mkdir(exist_ok=True)
    usual = common(records(LOG))
    edited: dict[int, list[bytes]] = {}
    for ranks, edit in edits:
        for rank in ranks:
            edited[rank] = edit(edited.get(rank, usual))
    for rank in range(count):
        log = b"".join(edited.get(rank, usual))
        path = folder / f"dedicated_log_torch_trace_rank_{rank}_abc.log"
        path.write_bytes(log.replace(b'"rank": 0,', b'"rank": %d,' % rank))
    return folder


def of(name: str, compile_id: str = "") -> Callable[[bytes], bool]:
    """Tell records by the name of their event, and by the compilation."""
    frame, _, again = compile_id.partition("/")
    ids = f'"frame_id": {frame}, "frame_compile_id": {again},'.encode() if compile_id else b""
    pattern = re.compile(rb'\] \{(?:"%b": |"artifact": \{"name": "%b")' % (name.encode(), name.encode()))
    return lambda record: bool(pattern.search(record)) and ids in record.partition(b"\n")[0]


def replaced(name: str, compile_id: str, old: str, new: str) -> Edit:
    """Change a text wherever it is in some records."""
    wanted = of(name, compile_id)

    def edit(log: list[bytes]) -> list[bytes]:
        changed = [item.replace(old.encode(), new.encode()) if wanted(item) else item for item in log]
        assert changed != log, "nothing was planted"
        return changed

    return edit


def without(name: str, compile_id: str = "") -> Edit:
    """Leave out some records."""
    wanted = of(name, compile_id)
    return lambda log: [item for item in log if not wanted(item)]


def with_json(name: str, compile_id: str, change: Callable[[Any], Any]) -> Edit:
    """Change the payload of some records, which is JSON."""
    wanted = of(name, compile_id)

    def changed(record: bytes) -> bytes:
        head, _, payload = record.partition(b"\n")
        text = json.dumps(change(json.loads(payload)), indent=0)
        return head + b"".join(b"\n\t" + line.encode() for line in text.splitlines()) + b"\n"

    return lambda log: [changed(item) if wanted(item) else item for item in log]


def graph_lines(compile_id: str, change: Callable[[list[str]], list[str]]) -> Edit:
    """Change the lines of the graph that Dynamo captured."""
    wanted = of("dynamo_output_graph", compile_id)

    def changed(record: bytes) -> bytes:
        head, *lines = record.decode().split("\n")
        return "\n".join([head, *change(lines)]).encode()

    return lambda log: [changed(item) if wanted(item) else item for item in log]


def again(compile_id: str, new: str) -> Edit:
    """Repeat all records of a compilation, as another one."""
    frame, _, number = compile_id.partition("/")
    frame_of_new, _, number_of_new = new.partition("/")
    old = f'"frame_id": {frame}, "frame_compile_id": {number},'.encode()
    ids = f'"frame_id": {frame_of_new}, "frame_compile_id": {number_of_new},'.encode()

    def edit(log: list[bytes]) -> list[bytes]:
        last = max(index for index, item in enumerate(log) if old in item)
        copies = [item.replace(old, ids) for item in log if old in item]
        return [*log[: last + 1], *copies, *log[last + 1 :]]

    return edit


def both(*edits: Edit) -> Edit:
    """Make several changes."""

    def edit(log: list[bytes]) -> list[bytes]:
        for item in edits:
            log = item(log)
        return log

    return edit
