"""Targets of ``.vscode/launch.json``."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from faked_run import FakeRun, fake_runs, fullgraph
from fullgraph_compiler.facts import Script
from fullgraph_server.client.compiled_files import CompiledFiles
from fullgraph_server.client.findings import names_of
from fullgraph_server.client.targets import NoTargetReason, TargetRegistry
from fullgraph_server.workspace.launch.configurations import LaunchError, launch_target, launch_targets
from fullgraph_server.workspace.launch.env_file import read_env_file
from fullgraph_server.workspace.launch.jsonc import without_comments
from fullgraph_server.workspace.targets import Target
from fullgraph_server.workspace.workspace import Workspace

TRAIN = {"name": "Train", "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/train.py"}
FILE = {
    **TRAIN,
    "name": "File",
    "program": "${file}",
    "args": ["${fileDirname}", "${fileBasenameNoExtension}"],
}
NODE = {**TRAIN, "name": "Web", "type": "node"}
ATTACH = {**TRAIN, "name": "Attach", "request": "attach"}
BOTH = {"name": "Both", "configurations": ["Train", {"name": "File", "folder": "other"}]}


def write(root: Path, text: str) -> None:
    (root / ".vscode").mkdir(exist_ok=True)
    (root / ".vscode" / "launch.json").write_text(text, "utf-8")


def write_all(root: Path, *configurations: Any) -> None:
    document = {"version": "0.2.0", "configurations": configurations, "compounds": [BOTH, {"name": "None"}]}
    write(root, json.dumps(document))


def found(root: Path, *configurations: Any) -> tuple[Target, ...]:
    write_all(root, *configurations)
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
    write(tmp_path, text)
    (target,) = launch_targets(tmp_path)
    filename = str(tmp_path / "src" / "train.py")
    assert (target.id, target.label, target.kind) == ("launch:Train // small", "Train // small", "script")
    args = ("--url", "http://x/*y*/", "--data", "/data", "-n", "3")
    assert target.program == Script(filename, args)
    assert (target.filename, target.cwd, target.python) == (filename, tmp_path / "src", None)
    assert target.env == {"ROOT": str(tmp_path), "N": "1"}
    assert launch_target(tmp_path, "Train // small") == target


def test_a_module_runs_by_its_name(tmp_path: Path) -> None:
    (target,) = found(tmp_path, {**TRAIN, "program": None, "module": "pkg.train", "args": ["-n"]})
    filename = str(tmp_path / "pkg" / "train.py")
    assert (target.kind, target.program) == ("module", Script(filename, ("-n",), "pkg.train"))


@pytest.mark.parametrize(
    ("written", "python"),
    [
        ("/other/python", "/other/python"),
        (["env/bin/python"], "{root}/env/bin/python"),
        ("python3.12", "python3.12"),
        ("${command:python.interpreterPath}", None),
    ],
)
@pytest.mark.parametrize("key", ["python", "pythonPath"])
def test_it_runs_with_the_python_that_it_names(
    tmp_path: Path, key: str, written: Any, python: str | None
) -> None:
    (target,) = found(tmp_path, {**TRAIN, key: written})
    assert target.python == (python and python.format(root=tmp_path))


def test_variables_come_from_the_env_file_and_from_env_which_counts_more(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nB=2\n")
    (tmp_path / "own.env").write_text("A=own\n")
    by_default, named, gone = found(
        tmp_path,
        {**TRAIN, "env": {"B": "3"}},
        {**TRAIN, "name": "own", "envFile": "${workspaceFolder}/own.env"},
        {**TRAIN, "name": "gone", "envFile": "gone.env"},
    )
    assert (by_default.env, named.env, gone.env) == ({"A": "1", "B": "3"}, {"A": "own"}, {})


def test_an_env_file_is_read_as_vscode_reads_it() -> None:
    text = "# A=0\n A = 1 \nB='x\\ny'\nC=\"${A}-${HOME}-${NONE}\"\nD=\nE=\\${A}\n2=x\nno line\nF=a=b\n"
    values = {"A": "1", "B": "x\ny", "C": "1-/home-", "D": "", "E": "${A}", "F": "a=b"}
    assert read_env_file(text, {"HOME": "/home"}) == values


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"program": "${file}"}, "needs ${file}, which is about the file in the editor: analyze that file"),
        (
            {"args": ["${input:steps}"]},
            "needs ${input:steps}, which VS Code alone asks for: write its value there, or make it a target",
        ),
        ({"args": "${command:pickArgs}"}, "needs ${command:pickArgs}, which VS Code alone knows"),
        ({"cwd": "${workspaceFolder:other}"}, "needs ${workspaceFolder:other}, which VS Code alone knows"),
        ({"args": 5}, "has args that are not a list"),
        ({"args": "'"}, "has args that cannot be read: No closing quotation"),
        ({"program": None}, "has no program and no module"),
        ({"module": "a/b.py"}, "cannot run: a/b.py is a file, not a module"),
        ({"envFile": "${workspaceFolder}"}, "has an envFile that cannot be read: it is not a regular file"),
        ({"python": ["python", "-O"]}, "has a list as its python: only a path is supported"),
        ({"program": "run.sh"}, "run.sh, whose name does not end with .py"),
        ({"program": "a\0.py"}, "has 'a\\x00.py' where a string is needed"),
        ({"env": ["A=1"]}, "has an env that does not map names of variables to values"),
        ({"env": {"A=B": "1"}}, "has an env that does not map names"),
        ({"env": {"": "1"}}, "has an env that does not map names"),
        ({"cwd": 3}, "has 3 where a string is needed"),
    ],
)
def test_what_cannot_be_run_as_it_is_written_is_left_out_and_told(
    changes: dict[str, Any], reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        assert found(tmp_path, {**TRAIN, **changes}, {**TRAIN, "name": "other"})[0].label == "other"
        launch_targets(tmp_path)
    (logged,) = (record.message for record in caplog.records)
    with pytest.raises(LaunchError) as error:
        launch_target(tmp_path, "Train")
    assert str(error.value).startswith("The launch configuration Train ")
    assert reason in str(error.value)
    assert str(error.value) in logged, "once, and the same"


@pytest.mark.parametrize("other", [NODE, ATTACH, 3, None, {**TRAIN, "name": ""}])
def test_configurations_of_other_kinds_are_passed_over(
    other: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        assert found(tmp_path, other) == ()
    assert not caplog.records


def test_arguments_in_one_text_are_split_as_a_shell_does(tmp_path: Path) -> None:
    (target,) = found(tmp_path, {**TRAIN, "args": "--name 'a b'"})
    assert target.program == Script(str(tmp_path / "train.py"), ("--name", "a b"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "cannot be read: Expecting value"),
        ("{\n/*\n*/ nothing }", "Expecting property name enclosed in double quotes: line 3 column 4"),
        ("[" * 100_000, "cannot be read: "),
        ('{"a": "\udcff', "cannot be read: 'utf-8' codec"),
        ("[]", "launch.json has no configuration Train; no configuration in it starts a Python program."),
        ("3", "launch.json has no configuration Train"),
        (
            '{"configurations": 3, "compounds": [{"name": "Train", "configurations": 3}]}',
            "Train is a compound that starts several programs: it has no configurations.",
        ),
    ],
    ids=lambda value: value[:12],
)
def test_a_file_of_another_form_has_no_targets(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "launch.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert launch_targets(tmp_path) == ()
    with pytest.raises(LaunchError) as error:
        launch_target(tmp_path, "Train")
    assert reason in str(error.value)


def test_a_folder_without_the_file_has_none(tmp_path: Path) -> None:
    assert launch_targets(tmp_path) == ()


@pytest.mark.parametrize(
    "unit", ["/*", "//", '"', '"\\', ",", ", ", "/", "/* */ ,\n", '"a" // b\n', "\\"], ids=repr
)
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    # A quadratic expression would take hours, and the timeout of the tests would end it.
    without_comments(unit * 200_000)


@pytest.mark.parametrize("unit", ["A", "A=", "${", "\\", "A=${A}", '"'], ids=repr)
def test_no_env_file_takes_more_than_linear_time(unit: str) -> None:
    read_env_file(f"A={unit * 200_000}\n", {})


def test_a_finding_names_the_configuration_as_the_user_did() -> None:
    assert names_of(["launch:Small", "/w/train.py"]) == "Small, train.py"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("launch:File", "needs ${fileDirname}, which is about the file in the editor"),
        ("launch:Web", "Web is of the type node"),
        ("launch:Tain", 'launch.json has no configuration Tain; it has "Train", "File".'),
    ],
)
def test_an_editor_is_told_why_a_name_is_no_target(tmp_path: Path, name: str, message: str) -> None:
    write_all(tmp_path, TRAIN, FILE, NODE)
    documents: Any = SimpleNamespace(workspaces=lambda: [Workspace(tmp_path)])
    targets = TargetRegistry(documents, CompiledFiles())
    found = targets.find("launch:Train")
    assert isinstance(found, Target)
    assert found.filename == str(tmp_path / "train.py")
    refused = targets.find(name)
    assert isinstance(refused, NoTargetReason)
    assert message in refused.message


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[FakeRun]:
    (tmp_path / "train.py").write_text("")
    (tmp_path / "sub").mkdir()
    write_all(
        tmp_path,
        {**TRAIN, "args": ["-n", "3"], "env": {"A": "1"}, "python": "/its/python"},
        FILE,
        NODE,
        ATTACH,
        {**TRAIN, "name": "Odd", "request": None},
    )
    monkeypatch.chdir(tmp_path / "sub")
    return fake_runs(monkeypatch)


def test_the_command_line_runs_a_configuration_of_a_folder_above(fake: type[FakeRun], tmp_path: Path) -> None:
    assert fullgraph("check", "--launch", "Train").exit_code == 0
    assert fullgraph("kernels", "--launch", "Train", "--python", "/mine", "--", "-n", "4").exit_code == 0
    assert fullgraph("check", "--launch", "File", "../train.py").exit_code == 0
    (first, request), (second, other), (_, about_file) = fake.asked
    assert request.program == Script(str(tmp_path / "train.py"), ("-n", "3"))
    assert (first.cwd, first.env["A"], first.python) == (tmp_path, "1", "/its/python")
    assert (second.python, other.program.args) == ("/mine", ("-n", "4"))
    assert about_file.program == Script(str(tmp_path / "train.py"), (str(tmp_path), "train"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("Tain",), 'launch.json has no configuration Tain; it has "Train", "File".'),
        (
            ("Web",),
            "The launch configuration Web is of the type node: only configurations of the type debugpy can",
        ),
        (("Attach",), "The launch configuration Attach attaches to a running program"),
        (("Odd",), "The launch configuration Odd does not have the request launch: it cannot run"),
        (("Both",), 'several programs: name one of its configurations, "Train", "File".'),
        (("File",), "File needs ${fileDirname}, which is about the file in the editor"),
        (("Train", "../train.py"), "The launch configuration Train is not about a file: leave out"),
        (("Train", "a.py", "b.py"), "--launch takes one file at most, for ${file} in the configuration"),
        (("Train", "-m"), "--launch takes one file at most"),
    ],
)
def test_what_is_no_configuration_is_told_in_a_sentence(
    fake: type[FakeRun], words: tuple[str, ...], message: str
) -> None:
    result = fullgraph("check", "--launch", *words)
    assert (result.exit_code, fake.asked) == (2, [])
    assert message in result.stderr


def test_where_there_is_no_launch_json_that_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = fullgraph("check", "--launch", "Train")
    assert f"there is no .vscode/launch.json in {tmp_path} or a folder above it" in result.stderr


def test_an_env_file_whose_lines_name_each_other_stays_small(tmp_path: Path) -> None:
    lines = ["A0=" + "x" * 1000, *(f"A{n}=" + f"${{A{n - 1}}}" * 20 for n in range(1, 12))]
    with pytest.raises(ValueError, match="its values are longer than 1,048,576 characters"):
        read_env_file("\n".join(lines), {})
    assert len(read_env_file("\n".join(lines[:3]), {})["A2"]) == 400_000
    write_all(tmp_path, TRAIN)
    (tmp_path / ".env").write_text("\n".join(lines))
    with pytest.raises(LaunchError, match="has an envFile that cannot be read: its values are longer"):
        launch_target(tmp_path, "Train")


def test_variables_of_the_environment_do_not_multiply_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONG", "x" * 100_000)
    write_all(tmp_path, {**TRAIN, "args": ["${env:LONG}" * 100]})
    with pytest.raises(LaunchError, match="whose texts are longer than"):
        launch_target(tmp_path, "Train")
