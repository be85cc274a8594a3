"""Logs that were cut off, bent, shuffled or forged: what can be read is shown, and nothing else touched."""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.trace import TraceLog, read_head
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.positions import Span
from traces import PROGRAM, read, recorded, records

FRAMES = re.compile(rb'"frame_id": ([01]),')
BEGINS = re.compile(rb'V\d{4} [^\n]*?\] \{"(\w+)": ')
LOG = b"".join(item for item in records(recorded()) if b'{"str": ' in item or FRAMES.search(item))
"""The records of the first frames: small, since it is read many thousand times."""
RECORDS = records(LOG)
MUTATIONS = 200
"""Of each kind, in each of the rounds: one by default, and the others are slow."""
ROUNDS = [pytest.param(0), *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, 10))]

Mutation = Callable[[random.Random], bytes]


def cut_off(rng: random.Random) -> bytes:
    return LOG[: rng.randrange(len(LOG))]


def bent(rng: random.Random) -> bytes:
    log = bytearray(LOG)
    for _ in range(rng.randrange(1, 60)):
        log[rng.randrange(len(log))] ^= 1 << rng.randrange(8)
    return bytes(log)


def shuffled(rng: random.Random) -> bytes:
    kept = [item for item in RECORDS if rng.random() < 0.8]
    rng.shuffle(kept)
    return b"".join(kept)


def with_garbage(rng: random.Random) -> bytes:
    place = rng.randrange(len(LOG))
    garbage = (
        b"x" * rng.choice([1, 3_000, 200_000]),
        bytes(rng.randrange(256) for _ in range(rng.randrange(1, 400))),
        b"\xff\xfe\xed" * rng.randrange(1, 50),
        b"\n" * rng.randrange(1, 5) + b'V1122 x] {"dynamo_start": {"stack": 3}}\n',
        b"\r\n",
    )
    return LOG[:place] + rng.choice(garbage) + LOG[place:]


def forged(rng: random.Random) -> bytes:
    """Numbers and texts of other kinds, and file names that lead elsewhere."""
    values = [b"null", b"-1", b"1e999", b"NaN", b"99999999999999999999", b'"x"', b"[]", b"{}", b"true"]
    log = re.sub(
        rb'(": )(\d+|"[^"\n]*")',
        lambda found: found[1] + (rng.choice(values) if rng.random() < 0.03 else found[2]),
        LOG,
    )
    return log.replace(b"/home/user/project/program.py", rng.choice(HOSTILE).encode())


HOSTILE = (
    "../../outside.py",
    "/etc/passwd",
    "/dev/zero",
    "/dev/stdin",
    "/proc/self/mem",
    "~/program.py",
    "\\\\\\\\server\\\\share\\\\program.py",
    "C:\\\\program.py",
    "a\\u0000b/program.py",
    "\\udc80/program.py",
    "/" * 3_000,
    "x/" * 3_000 + "program.py",
    "program.py/",
    ".",
    "",
)
KINDS: Sequence[Mutation] = (cut_off, bent, shuffled, with_garbage, forged)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    (tmp_path / "outside.py").write_text(PROGRAM)
    return folder


class _Opened:
    """The files that this process opens while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.names: set[str] = set()
        sys.addaudithook(self._note)  # which cannot be taken away again

    def _note(self, event: str, args: tuple[Any, ...]) -> None:
        if self.on and event in ("open", "os.remove", "os.rename", "os.mkdir") and isinstance(args[0], str):
            self.names.add(args[0])


@pytest.fixture(scope="module")
def opened() -> _Opened:
    return _Opened()


@pytest.fixture
def untouched(opened: _Opened, project: Path) -> Iterator[None]:
    """Nothing was opened but the log and the workspace."""
    opened.names.clear()
    opened.on = True
    yield
    opened.on = False
    # Python looks for the line of a syntax error in a file of this name; memory is limited from what is used.
    names = opened.names - {"<unknown>", "/proc/self/status"}
    outside = {name for name in names if not Path(name).is_relative_to(project.parent)}
    assert not outside
    assert str(project.parent / "outside.py") not in opened.names


@pytest.mark.parametrize("round_", ROUNDS)
@pytest.mark.parametrize("mutate", KINDS, ids=lambda mutate: mutate.__name__)
@pytest.mark.usefixtures("untouched")
def test_every_readable_record_is_read_and_nothing_fails(
    mutate: Mutation, round_: int, project: Path
) -> None:
    rng = random.Random(f"{mutate.__name__} {round_}")
    path = project.parent / "trace.log"
    for number in range(MUTATIONS):
        log = mutate(rng)
        path.write_bytes(log)
        readable = whole_records(log)
        with TraceLog(path) as found:
            names = [record.name for record in found.records() if record.payload is not None]
        missing = [name for name in readable if name not in names]
        assert not missing, f"mutation {number}"
        if read_head(path) is None:
            assert not readable
            continue
        report = read(path, project, ("findings", "graphs", "code")[number % 3])
        assert report.status == "finished"


def whole_records(log: bytes) -> list[str]:
    """The names of the records of the log that are in another one as they were."""
    found = []
    for item in RECORDS:
        place = log.find(item)
        if place == 0 or (place > 0 and log[place - 1 : place] == b"\n"):
            begins = BEGINS.match(item)
            assert begins
            name = re.match(rb'"artifact": \{"name": "([^"]+)"', item[item.index(b"] {") + 3 :])
            found.append((name or begins)[1].decode())
    return found


def of_frame(report: Report, frame: str) -> list[tuple[str, Span | None, set[str]]]:
    """Code, place and compile ids of what a frame met; a recompilation may be told with another frame's."""
    own = [
        (item, {name for name in item.compile_ids if name.startswith(f"{frame}/")})
        for item in report.findings
    ]
    found = [(item.code, None if item.kind == "recompile" else item.span, ids) for item, ids in own if ids]
    return sorted(found, key=str)


@pytest.mark.parametrize("frame", ["0", "1"])
def test_damage_to_one_frame_leaves_the_findings_of_the_others(frame: str, project: Path) -> None:
    path = project.parent / "trace.log"
    path.write_bytes(LOG)
    whole = read(path, project)
    own = [index for index, item in enumerate(RECORDS) if b'"frame_id": %b,' % frame.encode() in item]
    assert own
    rng = random.Random(frame)
    for index in own:
        bad = bytearray(RECORDS[index])
        for _ in range(9):
            bad[rng.randrange(len(bad) - 1)] = rng.randrange(32, 127)
        path.write_bytes(b"".join((*RECORDS[:index], bytes(bad), *RECORDS[index + 1 :])))
        report = read(path, project)
        other = "1" if frame == "0" else "0"
        assert of_frame(report, other) == of_frame(whole, other) != []


def test_what_is_damaged_is_told(project: Path) -> None:
    path = project.parent / "trace.log"
    index = next(i for i, item in enumerate(RECORDS) if b"compilation_metrics" in item[:200])
    path.write_bytes(b"".join((*RECORDS[:index], RECORDS[index][:500], b"\n", *RECORDS[index + 1 :])))
    told = [item.message for item in read(path, project).findings if item.kind == "target-error"]
    assert told == ["1 record of the log cannot be read: it is damaged"]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.usefixtures("untouched")
def test_files_of_hostile_names_are_not_opened(name: str, project: Path) -> None:
    path = project.parent / "trace.log"
    path.write_bytes(LOG.replace(b"/home/user/project/program.py", name.encode()))
    report = read(path, project, "code")
    assert any(item.code == "GB0059" for item in report.findings)
    assert all(name.startswith(str(project)) for name in report.files)


@pytest.mark.usefixtures("untouched")
def test_a_pipe_in_the_workspace_is_not_waited_for(project: Path) -> None:
    (project / "program.py").unlink()
    os.mkfifo(project / "program.py")
    path = project.parent / "trace.log"
    path.write_bytes(LOG)
    assert any(item.code == "GB0059" for item in read(path, project).findings)
