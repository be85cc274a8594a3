"""One odd file costs its own targets, and nothing else: no other file's, and no waiting."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from faked_run import fullgraph
from fullgraph_server.client.targets import target_place
from fullgraph_server.workspace.config import read_config
from fullgraph_server.workspace.examples import find_examples
from fullgraph_server.workspace.source import SourceFile, SourceReader, read_source, unreadable
from fullgraph_server.workspace.targets import find_targets
from odd_files import DEEP, ODD

GOOD = "# fullgraph: g(1)\ndef g(x): ...\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.py").write_text(GOOD)
    return tmp_path


@pytest.mark.parametrize("kind", [*ODD, *DEEP])
def test_the_targets_of_other_files_are_found(folder: Path, kind: str) -> None:
    {**ODD, **DEEP}[kind](folder)
    targets = find_targets(folder, folder)
    assert f"{folder / 'good.py'}::g" in {target.id for target in targets}
    for target in targets:
        target_place(target, SourceReader()(target.filename))


@pytest.mark.parametrize("kind", ODD)
def test_who_names_such_a_file_is_told_why_it_is_not_read(folder: Path, kind: str) -> None:
    ODD[kind](folder)
    name = next(name for name in os.listdir(folder) if name.startswith("odd"))
    result = fullgraph("check", str(folder / name))
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit), "a traceback"
    assert any(words in result.output for words in ("cannot be read: ", "has no targets: ", "not exist"))
    assert read_source(str(folder / name)) is SourceReader()(str(folder / name)) is None
    assert unreadable(str(folder / name))


def test_a_file_without_permission_is_told_as_such(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)  # the administrator may read everything
    why = unreadable(str(folder / "good.py"))
    monkeypatch.undo()
    assert why == "Permission denied"


@pytest.mark.parametrize("kind", ["a pipe", "a link to a device", "a folder", "a huge file", "deep"])
def test_an_odd_configuration_is_a_problem_and_no_error(folder: Path, kind: str) -> None:
    if kind == "deep":
        (folder / "pyproject.toml").write_text("x = " + "[" * 20_000)
    else:
        ODD[kind](folder)
        (folder / "odd.py").rename(folder / "pyproject.toml")
    (problem,) = read_config(folder).problems
    assert "pyproject.toml" in problem.message


@pytest.mark.parametrize(
    "line",
    [
        "# fullgraph: f(1)" + " where x" * 4_000,
        "# fullgraph: f(1)" + " " * 32_000 + "x",
        "# fullgraph: f(1) where " + "item@1 = 1," * 3_000,
        "# fullgraph: " + "(" * 32_000,
        "# fullgraph: " + "'" * 31_999,
        "#" + " fullgraph:" * 3_000,
        "# fullgraph: " + "f'{" * 10_000,
    ],
    ids=lambda line: f"{line[:30]}...",
)
def test_twice_the_comment_takes_about_twice_the_time(line: str) -> None:
    def seconds(times: int) -> float:
        source = SourceFile("/w/a.py", line + line[20:] * (times - 1) + "\ndef f(x): ...\n")
        assert source.tree is not None
        begun = time.process_time()
        find_examples(source)
        return time.process_time() - begun

    once, more = (min(seconds(times) for _ in range(3)) for times in (1, 4))
    assert more < 10 * once + 0.05, "a quadratic pattern takes 16 times as long"
