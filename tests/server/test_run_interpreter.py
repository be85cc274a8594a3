"""Which Python runs a target."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from fullgraph_server.engine.interpreter import find_interpreter, named_interpreter


def environment(folder: Path) -> str:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    return str(python)


def test_the_active_environment_comes_before_the_projects_own(tmp_path: Path) -> None:
    project = tmp_path / "project"
    second = environment(project / "venv")
    assert find_interpreter(project, {}) == second
    first = environment(project / ".venv")
    assert find_interpreter(project, {}) == first
    active = environment(tmp_path / "active")
    assert find_interpreter(project, {"VIRTUAL_ENV": str(tmp_path / "active")}) == active


@pytest.mark.parametrize("has_torch", [True, False])
def test_without_an_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_torch: bool) -> None:
    found = importlib.util.find_spec("json") if has_torch else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found if name == "torch" else None)
    program = tmp_path / "bin" / "python3"
    program.parent.mkdir()
    program.touch(0o755)
    env = {"PATH": str(program.parent), "VIRTUAL_ENV": str(tmp_path / "gone")}
    assert find_interpreter(tmp_path, env) == (sys.executable if has_torch else str(program))
    if not has_torch:
        assert find_interpreter(tmp_path, {"PATH": str(tmp_path)}) == "python3"


def test_a_name_is_a_path_an_environment_or_a_program(tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    assert named_interpreter("env", tmp_path) == python
    assert named_interpreter(str(tmp_path / "env"), Path("/")) == python
    assert named_interpreter("env/bin/python", tmp_path) == python
    assert named_interpreter("python3.12", tmp_path) == "python3.12"
    assert named_interpreter("~/python", tmp_path) == str(Path.home() / "python")
