"""Logs that are deep, long, hard for patterns, large once unpacked, or that name files elsewhere."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from fullgraph_compiler.trace import read_head
from fullgraph_server.cli.formats import FORMATS, CheckedReport
from fullgraph_server.compare.fingerprint import fingerprinted
from fullgraph_server.report.model import Report
from fullgraph_server.traces import reading
from fullgraph_server.traces.logs import find_logs
from fullgraph_server.traces.present import as_it_is_now
from fullgraph_server.traces.reading import Detail, ReadOptions
from fullgraph_server.traces.trace import read_trace
from fullgraph_server.workspace.targets import trace_target
from fullgraph_server.workspace.workspace import Workspace
from hostile_logs import (
    everywhere,
    finished,
    hard,
    long,
    nested,
    nested_headers,
    raw,
    record,
    started,
    strings,
)
from traces import PROGRAM, read, recorded

DETAILS = ("findings", "graphs", "code")
DAMAGED = "of the log cannot be read: it is damaged"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    return folder


def shown(path: Path, project: Path, number: int = 2) -> Report:
    """A report in all the ways in which a terminal shows it."""
    report = read(path, project, DETAILS[number % 3])
    workspace = Workspace(project)
    now = as_it_is_now(report, workspace)
    checked = CheckedReport(trace_target(path, project), now, Workspace(project, now.files.get))
    for write in FORMATS.values():
        write([checked], 1, io.StringIO())
    fingerprinted(report, project)
    return report


def told(report: Report) -> list[str]:
    return [item.message for item in report.findings if item.kind == "target-error"]


def logs(texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((name, everywhere(text)) for name, text in texts)


def headers() -> Iterator[tuple[str, str]]:
    for name, header in nested_headers():
        yield name, strings() + header + started() + finished() + header


@pytest.mark.parametrize(
    "made",
    [
        headers(),
        *(pytest.param(logs(made), marks=pytest.mark.slow) for made in (nested(), long(), hard())),
    ],
    ids=["headers", "nested", "long", "hard"],
)
def test_a_hostile_log_is_read_and_shown(made: Iterator[tuple[str, str]], project: Path) -> None:
    path = project.parent / "trace.log"
    for number, (name, log) in enumerate(made):
        path.write_bytes(log.encode("utf-8", "surrogatepass"))
        report = shown(path, project, number)
        assert report.status == "finished", name
        assert any(frame.function == "toy" for frame in report.frames), name


# -- what is damaged ---------------------------------------------------------------------------


def test_a_rank_of_thousands_of_digits_spoils_no_folder(project: Path) -> None:
    folder = project.parent / "ranks"
    folder.mkdir()
    (folder / "a.log").write_bytes(recorded())
    header = f'{{"dynamo_start": {{"stack": []}}, "rank": {"9" * 5_000}}}'
    (folder / "b.log").write_text(raw(header))
    (folder / f"dedicated_log_torch_trace_rank_{'9' * 200}_x.log").write_bytes(recorded())
    head = read_head(folder / "b.log")
    assert head is not None
    assert head.rank is None
    assert find_logs(folder).logs
    assert read(folder, project).frames


@pytest.mark.parametrize(
    "damaged",
    [
        record("chromium_event", payload='{\n"name": "x",\n"ts": 1.0,\n"args": {\n"ph": "B"\n}'),
        record("@recompile_reasons", payload='["0/0: a == 1", "0/0'),
        record("@inductor_provenance_tracking_node_mappings", payload='{"cppCodeToPost": {"a": ['),
        record("@inductor_provenance_tracking_kernel_stack_traces", payload='{"a": ['),
        record("@inductor_collective_schedule", payload='["a", '),
        raw('{"dynamo_start": {"stack": '),
        raw('{"dynamo_start": {"stack": []}, "frame_id": {}}'),
    ],
    ids=["event", "reasons", "mappings", "stacks", "collectives", "header", "id"],
)
def test_a_payload_that_was_cut_off_is_told(damaged: str, project: Path) -> None:
    path = project.parent / "trace.log"
    path.write_text(strings() + started() + damaged + finished())
    assert told(read(path, project, "code")) == [f"1 record {DAMAGED}"]


@pytest.mark.parametrize("detail", ["findings", "graphs", "code"])
def test_a_payload_that_nothing_else_reads_is_looked_at(detail: Detail, project: Path) -> None:
    path = project.parent / "trace.log"
    whole = '{"name": "x", "ts": 1.0, "args": {}, "ph": "B", "cat": "dynamo_timed", "tid": 0, "pid": 0}'
    events = [record("chromium_event", payload=text) for text in (whole, whole.rstrip("}"))]
    path.write_text(strings() + started() + "".join(events) + finished())
    assert told(read(path, project, detail)) == [f"1 record {DAMAGED}"]


def test_of_very_many_findings_some_are_shown(project: Path) -> None:
    path = project.parent / "trace.log"
    breaks = (
        record("@dynamo_graph_break_reason", payload=f"reason {number}", frame_id=number)
        for number in range(1_500)
    )
    path.write_text(strings() + "".join(breaks) + raw('{"dynamo_start": '), encoding="utf-8")
    path.write_text(path.read_text() + started())
    report = read(path, project)
    assert len(report.findings) == 501
    assert told(report) == [f"1 record {DAMAGED}", "1,001 more findings of the log are not shown"]


# -- memory ------------------------------------------------------------------------------------

SIZE = 2 << 20
MEASURE = """
import sys
from pathlib import Path
from fullgraph_server.traces.reading import Detail, ReadOptions
from fullgraph_server.traces.trace import report_or_problem
report = report_or_problem(Path(sys.argv[1]), ReadOptions(Path(sys.argv[2]), "graphs"), "trace:x", 1, None)
print(*(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM:")))
print(*(item.message for item in getattr(report, "findings", ())), sep="\\n")
"""
GUARD = "+- GuardManager: source=L['{0}'], x\n| +- A: L['{0}'] == {0}\n"


def many_guards() -> str:
    return (
        strings()
        + started()
        + record("dynamo_cpp_guards_str", payload="+- A: b\n" * (SIZE // 9))
        + finished()
    )


def distinct_guards(size: int = SIZE) -> str:
    tree = "".join(GUARD.format(number) for number in range(size // 60))
    return strings() + started() + record("dynamo_cpp_guards_str", payload=tree) + finished()


def many_statements() -> str:
    return strings() + started() + record("inductor_output_code", payload="a;" * (SIZE // 2)) + finished()


def filled(one: str) -> str:
    return strings() + one * (SIZE // len(one)) + started() + finished()


LARGE = {
    "records": lambda: filled('V0000 ] {"a": 0}\n'),
    "known records": lambda: filled('V0000 ] {"str": 0}\n'),
    "names": lambda: "".join(f'V0000 ] {{"a{number}": 0}}\n' for number in range(SIZE // 22)),
    "one line": lambda: raw('{"dynamo_start": {"stack": [' + "{}," * (SIZE // 3) + "{}]}}"),
    "numbers": lambda: raw('{"dynamo_start": {"stack": [' + "1.5," * (SIZE // 4) + "1]}}"),
    "strings": lambda: "".join(record("str", ["x", number]) for number in range(SIZE // 110)),
    "frames": lambda: "".join(
        record("dynamo_start", {"stack": [{"line": 1, "name": "f", "filename": 0}]}, frame_id=number)
        for number in range(SIZE // 150)
    ),
    "lines": lambda: record("@dynamo_graph_break_reason", payload="\x0b" * SIZE),
    "wide": lambda: record("@dynamo_graph_break_reason", payload="\U0001f600" + "x" * SIZE),
    "guards": many_guards,
    "distinct guards": distinct_guards,
    "statements": many_statements,
}


def measured(path: Path, project: Path) -> tuple[int, str]:
    """The most MB that reading a log takes in a process of its own, and what the report says."""
    command = [sys.executable, "-c", MEASURE, str(path), str(project)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, _, messages = done.stdout.partition("\n")
    return int(peak), messages


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel limits memory on Linux alone")
@pytest.mark.parametrize("name", LARGE)
def test_a_log_of_2_mb_takes_no_more_than_200_mb(name: str, project: Path) -> None:
    path = project.parent / "trace.log"
    path.write_text(LARGE[name](), "utf-8")
    assert measured(path, project)[0] <= 200


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel limits memory on Linux alone")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["wide", "distinct guards"])
def test_a_packed_log_of_2_mb_takes_no_more_than_200_mb(name: str, project: Path) -> None:
    path = project.parent / "trace.log.gz"
    part = gzip.compress(LARGE[name]().encode())
    path.write_bytes(part * max(1, SIZE // len(part)))
    peak, messages = measured(path, project)
    assert peak <= 200
    assert ("The log cannot be read: that takes more than" in messages) == (name == "wide")


def test_a_small_file_that_unpacks_to_a_very_large_one_is_read_in_part(project: Path) -> None:
    path = project.parent / "bomb.log.gz"
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as stream:
        stream.write(recorded())
        for _ in range(256):
            stream.write(bytes(1 << 20))
    path.write_bytes(packed.getvalue())
    assert path.stat().st_size < 500_000
    report = read(path, project)
    assert told(report) == ["Only the first 64 MB of the log were read: unpacked, it is far larger"]
    assert any("gunzip" in hint for item in report.findings for hint in item.hints)
    assert any(item.code == "GB0059" for item in report.findings)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="its peak is read from proc(5)")
def test_a_packed_log_takes_no_more_memory_than_what_is_read_of_it(project: Path) -> None:
    path = project.parent / "bomb.log.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(recorded())
        for _ in range(2 << 10):
            stream.write(bytes(1 << 20))
    assert path.stat().st_size < 3 << 20
    assert measured(path, project)[0] <= 200


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel limits memory on Linux alone")
def test_what_takes_too_much_memory_is_left_out_and_told(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project.parent / "trace.log"
    path.write_text(distinct_guards(10 * SIZE))
    monkeypatch.setattr(reading, "_MEMORY_SHARE", 0)
    monkeypatch.setattr(reading, "_MEMORY", 60 << 20)
    report = read(path, project, "graphs")
    assert told(report) == ["The whole log cannot be read: that takes more than 60 MB of memory"]
    assert report.frames


# -- files elsewhere ---------------------------------------------------------------------------

ELSEWHERE = (
    "/marker/program.py",
    "//marker/share/program.py",
    "\\\\marker\\share\\program.py",
    "\\\\?\\UNC\\marker\\share\\program.py",
    "file://marker/share/program.py",
    "Z:\\marker\\program.py",
    "/x/site-packages/marker/program.py",
    "/x/lib/python3.11/marker.py",
    "/mapped/marker/program.py",
    "/mapped/Z:/marker/program.py",
    "project/marker/program.py",
)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_path_of_a_log_is_never_looked_up(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project.parent / "trace.log"
    quoted = name.replace("\\", "\\\\").encode()
    path.write_bytes(recorded().replace(b"/home/user/project/program.py", quoted))
    looked_up: set[str] = set()
    for module, function in ((os, "stat"), (os, "lstat"), (os, "readlink"), (os, "listdir"), (os, "scandir")):
        real = getattr(module, function)

        def noted(place: object, *args: object, _real: object = real, **more: object) -> object:
            if isinstance(place, (str, os.PathLike)):
                looked_up.add(os.fspath(place))
            return _real(place, *args, **more)  # type: ignore[operator]

        monkeypatch.setattr(module, function, noted)
    libraries = (str(project.parent),)
    wanted = ReadOptions(project, "code", {"/mapped": "."}, libraries)
    report = read_trace(path, wanted, f"trace:{path}")
    now = as_it_is_now(report, Workspace(project))
    checked = CheckedReport(trace_target(path, project), now, Workspace(project, now.files.get))
    for write in FORMATS.values():
        write([checked], 1, io.StringIO())
    fingerprinted(report, project)
    assert any(item.code == "GB0059" for item in report.findings)
    assert looked_up
    assert not [place for place in looked_up if "marker" in place]
    spans = {item.span.filename for item in report.findings} | {frame.filename for frame in report.frames}
    assert not [place for place in spans if place.startswith(("//", "\\\\", "file:/"))]
