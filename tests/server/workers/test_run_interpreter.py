"""Which Python runs a target."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
import venv
from importlib import metadata
from pathlib import Path

import pytest
from fullgraph_server.workers.interpreter import (
    PythonInterpreter,
    find_interpreter,
    known_interpreters,
    named_interpreter,
)
from fullgraph_server.workers.probe import InterpreterProbe, probe


def environment(folder: Path) -> str:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    return str(python)


def test_the_active_environment_comes_before_the_projects_own(tmp_path: Path) -> None:
    project = tmp_path / "project"
    second = environment(project / "venv")
    assert find_interpreter(project, {}) == PythonInterpreter(second, "venv")
    first = environment(project / ".venv")
    assert find_interpreter(project, {}) == PythonInterpreter(first, ".venv")
    active = environment(tmp_path / "active")
    env = {"VIRTUAL_ENV": str(tmp_path / "active")}
    assert find_interpreter(project, env) == PythonInterpreter(active, "VIRTUAL_ENV")


@pytest.mark.parametrize("has_torch", [True, False])
def test_without_an_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_torch: bool) -> None:
    found = importlib.util.find_spec("json") if has_torch else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found if name == "torch" else None)
    program = tmp_path / "bin" / "python3"
    program.parent.mkdir()
    program.touch(0o755)
    env = {"PATH": str(program.parent), "VIRTUAL_ENV": str(tmp_path / "gone")}
    assert find_interpreter(tmp_path, env).path == (sys.executable if has_torch else str(program))
    if not has_torch:
        assert find_interpreter(tmp_path, {"PATH": str(tmp_path)}) == PythonInterpreter(
            "python3", "python3 on PATH"
        )


def test_a_name_is_a_path_an_environment_or_a_program(tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    assert named_interpreter("env", tmp_path) == python
    assert named_interpreter(str(tmp_path / "env"), Path("/")) == python
    assert named_interpreter("env/bin/python", tmp_path) == python
    assert named_interpreter("python3.12", tmp_path) == "python3.12"
    assert named_interpreter("~/python", tmp_path) == str(Path.home() / "python")


def test_a_part_of_a_project_has_the_projects_environment(tmp_path: Path) -> None:
    project = tmp_path / "project"
    part = project / "examples" / "one"
    part.mkdir(parents=True)
    environment(tmp_path / ".venv")
    assert find_interpreter(part, {}).origin != ".venv", "a folder that marks no project has no parts"
    (project / "pyproject.toml").touch()
    python = environment(project / ".venv")
    assert find_interpreter(part, {}) == PythonInterpreter(python, os.path.join("..", "..", ".venv"))
    assert find_interpreter(project, {}) == PythonInterpreter(python, ".venv")


def test_known_interpreters_are_those_of_the_project_of_conda_of_pyenv_and_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    monkeypatch.setenv("HOME", str(home))
    own = environment(project / ".venv")
    conda, older = environment(tmp_path / "miniconda"), environment(home / ".pyenv" / "versions" / "3.11.7")
    listed = home / ".conda" / "environments.txt"
    listed.parent.mkdir()
    listed.write_text(f"{tmp_path / 'miniconda'}\n{tmp_path / 'gone'}\n")
    for name in ("python3", "python"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.touch(0o755)
    chosen = PythonInterpreter(older, "the setting fullgraph.interpreter")
    assert known_interpreters(project, [chosen], {"PATH": str(tmp_path / "bin")}) == [
        chosen,
        PythonInterpreter(own, ".venv"),
        PythonInterpreter(conda, "conda"),
        PythonInterpreter(str(tmp_path / "bin" / "python3"), "PATH"),
    ]


def test_an_environment_is_another_interpreter_than_the_one_it_was_made_with(tmp_path: Path) -> None:
    python = environment(tmp_path / ".venv")
    os.remove(python)
    os.symlink(sys.executable, python)
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    known = known_interpreters(tmp_path, [PythonInterpreter(sys.executable, "mine")], {})
    assert [item.path for item in known[:2]] == [sys.executable, python]


# -- what an interpreter is --------------------------------------------------------------------


async def test_probe_tells_versions_without_importing_torch(tmp_path: Path) -> None:
    own = await probe(sys.executable)
    # The package of some builds leaves out which device they are for.
    assert own.torch is not None
    assert own.torch.startswith(metadata.version("torch"))
    assert own == InterpreterProbe(platform.python_version(), own.torch)
    venv.create(tmp_path / "env", symlinks=True)
    python = str(tmp_path / "env" / "bin" / "python")
    found = await probe(python)
    assert (found.python, found.torch) == (platform.python_version(), None)
    remedy = "Install torch (pip install torch) or choose another interpreter"
    assert found.problem == f"{remedy}: there is none in {python}"


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (None, "There is no interpreter {}."),
        ("echo hello", "{} does not answer like a Python interpreter. Choose"),
        ("echo no such option >&2; exit 3", "{} does not answer like a Python interpreter: no such option"),
        (
            """echo '{"python": "3.9.1", "torch": null}'""",
            "Fullgraph needs Python 3.10 or newer, and {} is 3.9.1.",
        ),
    ],
)
async def test_what_is_no_interpreter(tmp_path: Path, script: str | None, problem: str) -> None:
    python = tmp_path / "python"
    if script is not None:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
    found = (await probe(str(python))).problem
    assert found is not None
    assert found.startswith(problem.format(python))
