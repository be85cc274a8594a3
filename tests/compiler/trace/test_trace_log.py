"""Logs are read lazily, whatever has become of them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from fullgraph_compiler.trace import TraceLog, TraceRecord, read_head, read_log
from fullgraph_compiler.trace import log as log_module
from fullgraph_compiler.trace.lines import LINE_RECORDS, LineReader

LOGS = sorted((Path(__file__).parents[1] / "traces").glob("torch-*.log.gz"))
HEAD = 'V1121 11:38:41.678000 6943 torch/x.py:1] {"%s": {"a": 1}, "frame_id": 0, "frame_compile_id": %d}'


def write(path: Path, *lines: str) -> Path:
    path.write_bytes("\n".join(lines).encode())
    return path


def names(path: Path) -> list[tuple[str, str, str]]:
    return [(record.name, record.compile_id, record.payload) for record in read_log(path)]


def test_records_with_their_payloads_and_nothing_else(tmp_path: Path) -> None:
    lines = (
        "warning: no record",
        HEAD % ("one", 0),
        "\tfirst",
        "\t\tsecond",
        "between",
        HEAD % ("two", 1),
        "",
    )
    assert names(write(tmp_path / "a.log", *lines)) == [
        ("one", "0/0", "first\n\tsecond"),
        ("two", "0/1", ""),
    ]


def test_a_log_with_the_lines_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes("\r\n".join((HEAD % ("one", 0), "\tfirst", "\tsecond", HEAD % ("two", 1), "")).encode())
    assert names(path) == [("one", "0/0", "first\nsecond"), ("two", "0/1", "")]


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name)
def test_packed_or_not_makes_no_difference(log: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.log"
    plain.write_bytes(gzip.decompress(log.read_bytes()))
    assert names(log) == names(plain)
    assert len(names(plain)) > 20


def test_a_payload_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", HEAD % ("one", 0), "\tfirst")
    with TraceLog(path) as log:
        (record,) = log.records()
        path.write_bytes(path.read_bytes().replace(b"first", b"other"))
        assert record.payload == "other"


def test_only_records_of_the_wanted_names(tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", HEAD % ("one", 0), HEAD % ("two", 0), HEAD % ("one", 1), "")
    with TraceLog(path) as log:
        assert [record.compile_id for record in log.records({"one"})] == ["0/0", "0/1"]
        assert list(log.records({"three"})) == []
        assert log.unread == 0


def test_records_across_the_parts_in_which_a_log_is_read(tmp_path: Path) -> None:
    line = "\t" + "x" * 700_001
    path = write(tmp_path / "a.log", *(part for n in range(9) for part in (HEAD % ("one", n), line)))
    assert [(name, len(text)) for name, _, text in names(path)] == [("one", 700_001)] * 9


def test_a_log_that_is_still_written_lacks_its_last_record_only(tmp_path: Path) -> None:
    whole = "\n".join((HEAD % ("one", 0), "\tfirst", HEAD % ("two", 0)))
    for end in range(len(HEAD % ("one", 0)) + 8, len(whole) - 1):
        path = tmp_path / "a.log"
        path.write_text(whole[:end])
        with TraceLog(path) as log:
            assert [record.payload for record in log.records()] == ["first"]
            assert log.unread == 0


def test_a_record_that_is_damaged_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", HEAD.replace("}", "") % ("one", 0), HEAD % ("two", 0), "")
    with TraceLog(path) as log:
        assert [record.name for record in log.records()] == ["two"]
        assert log.unread == 1


def test_of_a_record_without_an_end_no_more_is_read_than_a_record_can_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "_LONGEST_HEADER", 10_000)
    monkeypatch.setattr(log_module, "_LONGEST_PAYLOAD", 10_000)
    endless = (HEAD % ("one", 0))[:-1] + ', "x": "' + "x" * 200_000
    path = write(tmp_path / "a.log", endless, HEAD % ("two", 0), "\t" + "y" * 200_000)
    with TraceLog(path) as log:
        (record,) = log.records()
        assert (record.name, log.unread) == ("two", 1)
        assert 0 < len(record.payload) <= 10_000


def test_a_packed_log_that_was_cut_off_gives_what_is_whole(tmp_path: Path) -> None:
    log = next(path for path in LOGS if "2.13" in path.name)
    path = tmp_path / "cut.log.gz"
    path.write_bytes(log.read_bytes()[:12_000])
    found = names(path)
    assert 20 < len(found) < len(names(log))
    assert found[:-1] == names(log)[: len(found) - 1]


def test_what_begins_as_a_log_is_one(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", "noise", HEAD % ("one", 0))
    head = read_head(log)
    assert head is not None
    assert head.rank is None
    ranked = read_head(
        write(tmp_path / "b.log", (HEAD % ("one", 0)).replace(', "frame_id"', ', "rank": 3, "frame_id"'))
    )
    assert ranked is not None
    assert ranked.rank == 3
    assert read_head(write(tmp_path / "c.log", "V for vendetta", "x] {}")) is None


def test_lines_that_a_log_quotes() -> None:
    reader = LineReader()
    for record in read_log(next(path for path in LOGS if "2.13" in path.name)):
        if record.name in LINE_RECORDS:
            reader.feed(record)
    program = (LOGS[0].parent / "program.py").read_text().splitlines()
    ((name, lines),) = [item for item in reader.lines.items() if item[0].endswith("project/program.py")]
    assert len(lines) > 15
    assert {row: program[row - 1].strip() for row in lines} == lines, name


def test_a_stack_frame_with_nonsense_is_no_line() -> None:
    reader = LineReader()
    reader.feed(TraceRecord("str", ["a.py", 0], "", 0, ""))
    frames = [{"filename": 0, "line": "x", "loc": "no"}, {"filename": 0, "line": 2, "loc": " yes "}]
    reader.feed(TraceRecord("dynamo_start", {"stack": frames}, "0/0", 0, ""))
    assert reader.lines == {"a.py": {2: "yes"}}
