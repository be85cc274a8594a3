"""Targets of ``.vscode/launch.json``."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.facts import Script
from fullgraph_server.client.findings import names_of
from fullgraph_server.client.launch import launch_targets, without_comments
from fullgraph_server.workspace.targets import Target

TRAIN = {"name": "Train", "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/train.py"}


def found(root: Path, *configurations: Any) -> tuple[Target, ...]:
    return read(root, json.dumps({"version": "0.2.0", "configurations": configurations}))


def read(root: Path, text: str) -> tuple[Target, ...]:
    (root / ".vscode").mkdir(exist_ok=True)
    (root / ".vscode" / "launch.json").write_text(text, "utf-8")
    return launch_targets(root)


def test_a_configuration_is_a_target_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA", "/data")
    text = """\ufeff{
        // Use IntelliSense to learn about attributes.
        "configurations": [
            {
                "name": "Train // small", /* mine */
                "type": "debugpy",
                "request": "launch",
                "program": "train.py",
                "cwd": "${workspaceFolder}/src",
                "args": ["--url", "http://x/*y*/", "--data", "${env:DATA}", "-n", 3,],
                "env": {"ROOT": "${workspaceFolder}", "N": 1, "GONE": null},
                "console": "integratedTerminal",
            },
        ]
    }"""
    (target,) = read(tmp_path, text)
    filename = str(tmp_path / "src" / "train.py")
    assert (target.id, target.label, target.kind) == ("launch:Train // small", "Train // small", "script")
    args = ("--url", "http://x/*y*/", "--data", "/data", "-n", "3")
    assert target.program == Script(filename, args)
    assert (target.filename, target.cwd) == (filename, tmp_path / "src")
    assert target.env == {"ROOT": str(tmp_path), "N": "1"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"program": "${file}"}, "only the editor knows ${file}"),
        ({"args": ["${input:steps}"]}, "only the editor knows ${input:steps}"),
        ({"args": "${command:pickArgs}"}, "only the editor knows ${command:pickArgs}"),
        ({"args": 5}, "its args are no list"),
        ({"program": None, "module": "torch.distributed.run"}, "it has no program"),
        ({"name": ""}, "it has no name"),
        ({"envFile": "${workspaceFolder}/.env"}, "its envFile is not read"),
        ({"python": "/other/python"}, "it has a Python of its own"),
        ({"program": "run.sh"}, "its program is no Python file"),
        ({"cwd": 3}, "3 is no text"),
    ],
)
def test_what_cannot_be_run_as_it_is_written_is_left_out_and_logged(
    changes: dict[str, Any], reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        assert found(tmp_path, {**TRAIN, **changes}, {**TRAIN, "name": "other"})[0].label == "other"
    assert reason in caplog.text


@pytest.mark.parametrize("changes", [{"type": "node"}, {"request": "attach"}])
def test_configurations_of_other_kinds_are_passed_over(changes: dict[str, Any], tmp_path: Path) -> None:
    assert found(tmp_path, {**TRAIN, **changes}, 3, None) == ()


def test_arguments_in_one_text_are_split_as_a_shell_does(tmp_path: Path) -> None:
    (target,) = found(tmp_path, {**TRAIN, "args": "--name 'a b'"})
    assert target.program == Script(str(tmp_path / "train.py"), ("--name", "a b"))


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "3", '{"configurations": 3}', "[" * 100_000, '{"a": "\udcff']
)
def test_a_file_of_another_form_has_no_targets(text: str, tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "launch.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert launch_targets(tmp_path) == ()


def test_a_folder_without_the_file_has_none(tmp_path: Path) -> None:
    assert launch_targets(tmp_path) == ()


@pytest.mark.parametrize(
    "unit", ["/*", "//", '"', '"\\', ",", ", ", "/", "/* */ ,\n", '"a" // b\n', "\\"], ids=repr
)
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    # A quadratic expression would take hours, and the timeout of the tests would end it.
    without_comments(unit * 200_000)


def test_a_finding_names_the_configuration_as_the_user_did() -> None:
    assert names_of(["launch:Small", "/w/train.py"]) == "Small, train.py"
