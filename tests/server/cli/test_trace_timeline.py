"""``fullgraph trace --perfetto``: a file in Chromium's trace event format, with all ranks on one axis."""

from __future__ import annotations

import gzip
import json
import math
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from faked_run import fullgraph
from hostile import MARKDOWN, TERMINAL
from hostile_logs import everywhere, finished, record, started, strings
from traces import PROGRAM, RECORDED, recorded

SECOND = 1e6


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def step(kind: str, name: str, seconds: float, **more: Any) -> str:
    event = {"ph": kind, "name": name, "ts": seconds * SECOND, **more}
    return record("chromium_event", payload=json.dumps(event))


LOG = step("B", "dynamo", 100).encode() + recorded("2.15") + step("E", "dynamo", 105).encode()


def written(path: str, file: str = "steps.json") -> tuple[list[dict[str, Any]], str]:
    """The events of a trace, which are checked against the format, and what is told beside it."""
    result = fullgraph("trace", path, "--perfetto", file, "--fail-on", "never")
    assert result.exit_code == 0, result.stderr
    packed = Path(file).read_bytes()
    text = (gzip.decompress(packed) if file.endswith(".gz") else packed).decode("ascii")
    whole = json.loads(text, parse_constant=pytest.fail)
    assert set(whole) == {"traceEvents", "displayTimeUnit", "otherData"}
    opened = defaultdict(list)
    for event in whole["traceEvents"]:
        json.dumps(event, ensure_ascii=False).encode()  # raises where there is half a character
        assert isinstance(event["name"], str)
        assert isinstance(event["args"], dict)
        thread = event["pid"], event["tid"]
        assert all(isinstance(number, int) for number in thread)
        if event["ph"] == "M":
            continue
        assert math.isfinite(event["ts"])
        if event["ph"] == "B":
            opened[thread].append(event["name"])
        elif event["ph"] == "E":
            assert opened[thread].pop() == event["name"]
        else:
            assert (event["ph"], event["s"]) == ("i", "t")
    return whole["traceEvents"], result.stderr


def named(events: list[dict[str, Any]], kind: str) -> dict[int, Any]:
    return {event["pid"]: next(iter(event["args"].values())) for event in events if event["name"] == kind}


@pytest.mark.parametrize("file", ["steps.json", "steps.json.gz"])
def test_the_steps_of_a_log_and_its_findings(folder: Path, file: str) -> None:
    (folder / "job.log").write_bytes(LOG)
    events, told = written("job.log", file)
    assert told == f"{file} can be opened in https://ui.perfetto.dev\n"
    assert named(events, "process_name") == {0: "torch.compile"}
    flag, *_ = [event for event in events if event["name"].startswith("`print`")]
    assert (flag["args"]["file"], flag["args"]["line"]) == ("program.py", 14)
    assert flag["ts"] == 100 * SECOND
    assert [event["ts"] for event in events if event["ph"] in "BE"] == [100 * SECOND, 105 * SECOND]


def test_the_steps_of_torch_nest(folder: Path) -> None:
    packed = (RECORDED / "torch-2.11-gpu-train.log.gz").read_bytes()
    (folder / "job.log.gz").write_bytes(packed)
    events, _ = written("job.log.gz")
    begun = gzip.decompress(packed).count(b'"ph": "B"')
    assert [sum(event["ph"] == kind for event in events) for kind in "BE"] == [begun, begun]


def test_ranks_are_processes_on_one_axis(folder: Path) -> None:
    for rank in (0, 1, 10):
        log = strings() + step("B", "dynamo", 100 + rank) + started() + step("E", "dynamo", 200) + finished()
        (folder / f"rank_{rank}.log").write_text(log)
    events, told = written(".")
    assert named(events, "process_name") == {0: "rank 0", 1: "rank 1", 10: "rank 10"}
    assert named(events, "process_sort_index") == {0: 0, 1: 1, 10: 10}
    assert {event["pid"]: event["ts"] for event in events if event["ph"] == "B"} == {
        rank: (100 + rank) * SECOND for rank in (0, 1, 10)
    }
    assert "clocks" not in told


def test_clocks_that_cannot_be_of_one_job_are_told(folder: Path) -> None:
    for rank, begin in enumerate((10_000, 10_500, 100_000)):
        log = step("B", "dynamo", begin) + step("E", "dynamo", begin + 1)
        (folder / f"rank_{rank}.log").write_text(log)
    _, told = written(".")
    assert told.splitlines()[1] == (
        "Rank 2 begins 1,500 minutes after rank 0: the clocks of their machines differ, or the logs are from "
        "several jobs."
    )


def test_steps_that_an_exception_ended_are_closed(folder: Path) -> None:
    steps = step("B", "a", 1) + step("B", "b", 2) + step("B", "c", 3) + step("E", "x", 4) + step("E", "a", 5)
    (folder / "job.log").write_text(steps + step("i", "mark", 6, tid=2))
    events, _ = written("job.log")
    ended = [(event["name"], event["ts"]) for event in events if event["ph"] == "E"]
    assert ended == [("c", 5 * SECOND), ("b", 5 * SECOND), ("a", 5 * SECOND)]
    assert [event["tid"] for event in events if event["name"] == "mark"] == [2]


def test_a_log_without_steps_says_so(folder: Path) -> None:
    (folder / "job.log").write_text(strings() + started() + finished())
    events, told = written("job.log")
    assert {event["ph"] for event in events} == {"M"}
    assert "The trace has no times: torch did not log the steps of the compiler." in told


@pytest.mark.parametrize("text", [*MARKDOWN, *TERMINAL], ids=ascii)
def test_hostile_texts_stay_texts(folder: Path, text: str) -> None:
    (folder / "job.log").write_bytes(everywhere(text).encode("utf-8", "surrogatepass"))
    assert any(event["ph"] == "B" for event in written("job.log")[0])


BENT = (
    *({"ph": "B", "name": "x", "ts": time} for time in (math.nan, -1, math.inf, "1", [], 1e300)),
    {"ph": "B", "name": "x", "ts": 1, "tid": "a"},
    {"ph": {}, "name": "x", "ts": 1},
    {"ph": "B", "ts": 1},
    {"ph": "B", "name": "x", "ts": 1, "args": 3},
    3,
)


@pytest.mark.parametrize("payload", [*map(json.dumps, BENT), ""])
def test_what_is_no_step_is_left_out(folder: Path, payload: str) -> None:
    bent = record("chromium_event", payload=payload)
    (folder / "job.log").write_text(step("B", "a", 1) + bent + step("E", "a", 2))
    assert [event["name"] for event in written("job.log")[0] if event["ph"] in "BE"] == ["a", "a"]


def test_deep_arguments_are_a_text(folder: Path) -> None:
    (folder / "job.log").write_text(step("B", "a", 1, args={"deep": [[1]], "number": 1.5}))
    [event] = [event for event in written("job.log")[0] if event["ph"] == "B"]
    assert event["args"] == {"deep": "[[1]]", "number": 1.5}


def test_a_file_that_cannot_be_written_is_one_sentence(folder: Path) -> None:
    (folder / "job.log").write_bytes(LOG)
    result = fullgraph("trace", "job.log", "--perfetto", "missing/steps.json")
    assert result.exit_code == 1
    assert result.stderr == "Error: missing/steps.json cannot be written: No such file or directory\n"


@pytest.mark.parametrize("file", ["job/a.log", "job/older.log", "job.tar", "link", "packed"])
def test_a_log_is_not_overwritten(folder: Path, file: str) -> None:
    (folder / "job").mkdir()
    for name in ("older.log", "a.log"):
        (folder / "job" / name).write_bytes(LOG)
    with tarfile.open("job.tar", "w") as archive:
        archive.add("job")
    (folder / "link").symlink_to("job/a.log")
    (folder / "packed").symlink_to("job.tar")
    before = Path(file).read_bytes()
    place = {"job.tar": "job.tar", "packed": (folder / "job.tar").as_uri()}.get(file, "job")
    result = fullgraph("trace", place, "--perfetto", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Error: {file} is a log or an archive: name another file\n" in result.stderr
    assert Path(file).read_bytes() == before
