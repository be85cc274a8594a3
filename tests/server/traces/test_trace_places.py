"""Traces on the local source: files of other names and folders, lines that moved, changed, or are gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_server.report.model import Report
from fullgraph_server.traces.lines import as_it_ran
from fullgraph_server.traces.paths import PathMap, library_folders
from fullgraph_server.traces.present import as_it_is_now
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace
from traces import PROGRAM, places, read, recorded

LINES = PROGRAM.splitlines()
BREAK = ("GB0059", "program.py", 14)
"""The first break of the recorded program: a ``print``."""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "trace.log"
    path.write_bytes(recorded())
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    return folder


def now(report: Report, project: Path) -> Report:
    return as_it_is_now(report, Workspace(project))


def test_the_same_findings_as_in_the_program_itself(log: Path, project: Path) -> None:
    report = read(log, project)
    assert {name for _, name, _ in places(report)} == {"program.py"}
    assert BREAK in places(report)
    (first,) = [item for item in report.findings if item.code == "GB0059" and item.span.row == 14]
    assert LINES[13][first.span.column - 1 : first.span.end_column - 1].startswith("print("), "with columns"
    assert all(name.startswith(str(project)) for name in report.files)
    assert places(now(report, project)) == places(report)


def test_findings_alone_are_the_same_as_with_all_else(log: Path, project: Path) -> None:
    findings, graphs = (read(log, project, detail).findings for detail in ("findings", "graphs"))
    assert findings == graphs
    assert len(findings) > 8


def test_a_file_is_found_in_another_folder_by_its_text(log: Path, project: Path) -> None:
    (project / "program.py").rename(project / "moved.py")
    (project / "deep" / "er").mkdir(parents=True)
    (project / "moved.py").rename(project / "deep" / "er" / "program.py")
    (project / "program.py").write_text("# a file of the same name, and nothing else of the program\n")
    (name,) = {item.span.filename for item in read(log, project).findings}
    assert Path(name) == project / "deep" / "er" / "program.py"


def test_a_file_of_another_text_is_not_taken_for_it(log: Path, project: Path) -> None:
    (project / "program.py").write_text("def other():\n    return 1\n" * 30)
    (name,) = {item.span.filename for item in read(log, project).findings}
    assert name == "/home/user/project/program.py"


def test_lines_that_moved_are_found_again(log: Path, project: Path) -> None:
    before = places(read(log, project))
    (project / "program.py").write_text("# one\n# two\n# three\n" + PROGRAM)
    after = places(now(read(log, project), project))
    assert after == [(code, name, row + 3) for code, name, row in before]


def test_a_line_that_changed_says_so(log: Path, project: Path) -> None:
    (project / "program.py").write_text(PROGRAM.replace('print("woo")', 'print("hello")'))
    report = now(read(log, project), project)
    (changed,) = [item for item in report.findings if item.code == "GB0059" and item.span.row == 14]
    assert changed.hints[0] == 'This line has changed since the trace, in which it was: print("woo")'
    others = [item for item in report.findings if item is not changed]
    assert not any("changed since the trace" in hint for item in others for hint in item.hints)


def test_a_line_that_is_gone_leaves_its_finding_where_it_was(log: Path, project: Path) -> None:
    (project / "program.py").write_text(PROGRAM.replace('    print("woo")\n', "", 1))
    report = now(read(log, project), project)
    (gone,) = [item for item in report.findings if item.code == "GB0059" and "changed" in item.hints[0]]
    assert abs(gone.span.row - 14) <= 1
    rows = {(item.code, item.span.row) for item in report.findings}
    assert ("GB0170", 14) in rows, "the line after it moved up"


def test_a_folder_that_is_named_comes_first(log: Path, project: Path) -> None:
    (project / "here").mkdir()
    (project / "here" / "program.py").write_text("# not alike at all\n" + PROGRAM)
    named = read(log, project, folders={"/home/user/project": "here"})
    assert {item.span.filename for item in named.findings} == {str(project / "here" / "program.py")}


@pytest.mark.parametrize("remote", ["/home/user/project/../../x", "/home/user/project"])
@pytest.mark.parametrize("local", ["..", "../..", "/", "/etc"])
def test_a_folder_outside_of_the_workspace_is_none(log: Path, project: Path, remote: str, local: str) -> None:
    report = read(log, project, folders={remote: local})
    assert all(name.startswith(str(project)) for name in report.files)


def test_files_of_libraries_are_those_of_the_local_interpreter(tmp_path: Path) -> None:
    inside = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages" / "thing" / "layer.py"
    inside.parent.mkdir(parents=True)
    inside.write_text("x = 1\n")
    (tmp_path / "layer.py").write_text("x = 1\n")
    libraries = library_folders(str(tmp_path / ".venv" / "bin" / "python"))
    paths = PathMap(Workspace(tmp_path), [str(tmp_path / "layer.py")], {}, {}, libraries)
    remote = "/opt/conda/lib/python3.11/site-packages/thing/layer.py"
    assert paths.name(remote) == str(inside)
    assert paths.source(remote) is None, "nothing of the workspace, though a file has its name"
    assert paths.name("/opt/conda/lib/python3.11/site-packages/thing/other.py").startswith("/opt/conda")


def quoted(text: str, *rows: int) -> dict[int, str]:
    return {row: text.split()[row - 1] for row in rows}


@pytest.mark.parametrize(
    ("here", "rows", "text", "changed"),
    [
        ("a b c d e", {1: 1, 2: 2, 3: 3, 5: 5}, "a b c d e", set()),
        ("x y a b c d e", {1: 3, 2: 4, 3: 5, 5: 7}, "x y a b c d e", set()),
        ("a b X d e", {2: 2, 3: 3, 4: 4}, "a b c d e", {3}),
        ("a b d e", {2: 2, 3: 3, 4: 4}, "a b c d e", {3}),
        ("a d e", {1: 1, 2: 2, 3: 3, 4: 4}, "a b c d e", {2, 3}),
        ("a b c", {2: 2, 3: 3, 4: 4}, "a b c d", {4}),
    ],
)
def test_a_text_as_it_ran(here: str, rows: dict[int, int], text: str, changed: set[int]) -> None:
    ran = as_it_ran(SourceFile("f.py", "\n".join(here.split())), quoted("a b c d e", 2, 3, 4))
    assert {row: ran.row(row) for row in rows} == rows
    assert ran.source.lines == tuple(text.split())
    assert ran.changed == changed


def test_of_lines_that_occur_often_the_nearest_counts() -> None:
    here = SourceFile("f.py", "\n".join(["r", "a", "r", "b", "r", "c", "r"]))
    ran = as_it_ran(here, {2: "a", 3: "r", 4: "b", 5: "r"})
    assert [ran.row(row) for row in (2, 3, 4, 5)] == [2, 3, 4, 5]
    ran = as_it_ran(here, {4: "b", 5: "r"})
    assert [ran.row(row) for row in (4, 5)] == [4, 5]


def test_an_indentation_that_changed_is_no_change() -> None:
    ran = as_it_ran(SourceFile("f.py", "with x:\n    a\n    b"), {1: "a", 2: "b"})
    assert (ran.row(1), ran.row(2), ran.changed) == (2, 3, frozenset())


def test_of_files_of_one_name_that_of_the_longest_common_end_counts(tmp_path: Path) -> None:
    names = [tmp_path / folder / "__init__.py" for folder in ("a", "b", "c/b")]
    for name in names:
        name.parent.mkdir(parents=True)
        name.write_text(f"x = {len(name.parts)}\ny = 2\n")
    paths = PathMap(Workspace(tmp_path), map(str, names), {"/job/c/b/__init__.py": {2: "y = 2"}})
    assert paths.name("/job/c/b/__init__.py") == str(names[2])
    assert paths.name("/other/b/__init__.py") == str(names[1]), (
        "nothing is quoted of it: its folder is enough"
    )
    assert paths.name("/other/d/__init__.py") == "/other/d/__init__.py", "its name alone is not"
