"""Which settings take effect: the client's or command line's, the target's, the project's, or none."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import Script, Switches
from fullgraph_server.cli.trace import TraceOptions
from fullgraph_server.client.configuration import EditorSettings
from fullgraph_server.runs.effective_settings import SettingOverrides, choose_interpreter, resolve
from fullgraph_server.workers.interpreter import PythonInterpreter
from fullgraph_server.workspace.config import ProjectConfig
from fullgraph_server.workspace.targets import Target, Trace, trace_target

NOTHING = SettingOverrides(Path("/elsewhere"))


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target("name", "name", "script", str(tmp_path / "a.py"), Script("a.py"), tmp_path, {"A": "1"})


@pytest.fixture
def config(tmp_path: Path) -> ProjectConfig:
    switches = Switches(dynamic="on", files="keep")
    return ProjectConfig(
        tmp_path,
        python="/project/python",
        timeout=3.0,
        memory=2.0,
        switches=switches,
        paths={"/there": "/project", "/data": "/mnt"},
        preview_python="/project/preview",
    )


def test_the_project_sets_what_nobody_overrides(target: Target, config: ProjectConfig) -> None:
    same, settings = resolve(target, config, NOTHING, 60.0)
    assert same == target
    assert (settings.python, settings.preview_python) == ("/project/python", "/project/preview")
    assert (settings.timeout, settings.patience, settings.memory) == (3.0, 3.0, 2 << 30)
    assert (settings.switches, settings.cwd) == (config.switches, target.cwd)
    assert dict(settings.env) == {**os.environ, "A": "1"}


def test_a_target_comes_before_its_project(target: Target, config: ProjectConfig) -> None:
    own = replace(target, timeout=5.0, switches=Switches(only="f"))
    _, settings = resolve(own, config, NOTHING)
    assert (settings.timeout, settings.switches) == (5.0, Switches(only="f"))


def test_an_override_comes_before_the_target(target: Target, config: ProjectConfig) -> None:
    own = replace(target, timeout=5.0, switches=Switches(only="f", files="keep"))
    overrides = SettingOverrides(
        Path("/elsewhere"),
        interpreter="./python",
        preview_python="./preview",
        timeout=7.0,
        memory=1.0,
        switches={"files": "discard"},
    )
    _, settings = resolve(own, config, overrides)
    assert (settings.python, settings.preview_python) == ("/elsewhere/python", "/elsewhere/preview")
    assert (settings.timeout, settings.memory) == (7.0, 1 << 30)
    assert settings.switches == Switches(only="f", files="discard")


def test_the_default_timeout_is_no_patience(target: Target, tmp_path: Path) -> None:
    empty = ProjectConfig(tmp_path)
    settings = [resolve(target, empty, NOTHING, timeout)[1] for timeout in (60.0, None)]
    assert [(item.timeout, item.patience) for item in settings] == [(60.0, 300.0), (None, 300.0)]


def test_a_trace_gets_the_folders_of_both(config: ProjectConfig, tmp_path: Path) -> None:
    overrides = replace(NOTHING, trace_paths={"/there": "/here"})
    target, _ = resolve(trace_target(tmp_path / "log", tmp_path), config, overrides)
    assert isinstance(target.program, Trace)
    assert dict(target.program.folders) == {"/there": "/here", "/data": "/mnt"}


def test_the_interpreter_is_the_set_one_then_the_projects_then_the_editors(config: ProjectConfig) -> None:
    active = replace(NOTHING, active_interpreter="/active/python")
    assert choose_interpreter(config, replace(active, interpreter="/set/python")) == PythonInterpreter(
        "/set/python", "the setting fullgraph.interpreter"
    )
    assert choose_interpreter(config, active) == PythonInterpreter("/project/python", "pyproject.toml")
    assert choose_interpreter(replace(config, python=None), active) == PythonInterpreter(
        "/active/python", "the Python extension"
    )


def test_the_python_of_a_target_comes_before_the_projects(config: ProjectConfig, tmp_path: Path) -> None:
    target = Target("name", "name", "script", "a.py", Script("a.py"), tmp_path, python="/its/python")
    pythons = [
        resolve(target, config, over)[1].python for over in (NOTHING, replace(NOTHING, interpreter="/set"))
    ]
    assert pythons == ["/its/python", "/set"]


def test_a_relative_interpreter_is_one_of_the_project_or_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("project", "current"):
        python = tmp_path / name / "env" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.touch()
    monkeypatch.chdir(tmp_path / "current")
    config = ProjectConfig(tmp_path / "project", python="env", preview_python="env")
    nothing = replace(NOTHING, folder=tmp_path / "current")
    target = Target("name", "name", "script", "a.py", Script("a.py"), tmp_path)
    expected = str(tmp_path / "project" / "env" / "bin" / "python")
    _, settings = resolve(target, config, nothing)
    assert settings.python == settings.preview_python == expected
    editor = EditorSettings(interpreter="env", preview_python="env").overrides(tmp_path / "project")
    _, settings = resolve(target, ProjectConfig(tmp_path / "project"), editor)
    assert settings.python == settings.preview_python == expected
    expected = str(tmp_path / "current" / "env" / "bin" / "python")
    _, settings = resolve(target, config, SettingOverrides(Path.cwd(), "env", preview_python="env"))
    assert settings.python == settings.preview_python == expected
    assert choose_interpreter(config, TraceOptions(python="env").overrides).path == expected


def test_settings_and_options_override_the_same(tmp_path: Path) -> None:
    settings = EditorSettings(timeout=7.0, memory=1.0, trace_paths={"/a": "/b"}, files="discard")
    editors = SettingOverrides(tmp_path, tries_fixes=True)
    expected = replace(editors, timeout=7.0, memory=1.0, switches={"files": "discard"})
    assert settings.overrides(tmp_path) == replace(expected, trace_paths={"/a": "/b"})
    assert EditorSettings().overrides(tmp_path) == editors
    assert EditorSettings(try_fixes="asked").overrides(tmp_path) == SettingOverrides(tmp_path)
