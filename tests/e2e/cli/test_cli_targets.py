"""What the command line runs: a folder, a launch configuration. Programs run for real."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CLI = "from fullgraph_server.cli import main; main()"
TRAIN = """
import os, sys, torch

@torch.compile
def step(x):
    print("woo")
    return x * int(sys.argv[1])

step(torch.ones(2))
assert (os.environ["SIZE"], os.path.basename(os.getcwd())) == ("3", "data"), os.getcwd()
"""
LAUNCH = """{
    // Python
    "configurations": [
        {
            "name": "Train", "type": "debugpy", "request": "launch", "module": "package.train",
            "args": ["3"], "cwd": "${workspaceFolder}/data", "env": {"PYTHONPATH": "${workspaceFolder}"},
        },
    ]
}"""
TEST = """
import torch

def test_one():
    torch.compile(lambda x: x + 1)(torch.ones(2))

class TestMore:
    def test_two(self):
        torch.compile(lambda x: (print("woo"), x + 2)[1])(torch.ones(2))
"""


def check(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CLI, "check", "--python", sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_a_launch_configuration_runs_as_the_editor_starts_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {".vscode/launch.json": LAUNCH, ".env": "SIZE=3\n", "package/train.py": TRAIN, "data/x.txt": ""},
    )
    run = check(tmp_path, "--launch", "Train", "--format", "json")
    told = json.loads(run.stdout)
    assert (run.returncode, told["target"], told["status"]) == (0, "launch:Train", "finished"), run
    (finding,) = told["findings"]
    assert (finding["kind"], finding["filename"]) == ("graph-break", str(tmp_path / "package" / "train.py"))


def test_a_folder_runs_each_target_in_it_and_sums_up(tmp_path: Path) -> None:
    write(tmp_path, {"tests/test_m.py": TEST, "tests/helper.py": "def f(): ...\n"})
    run = check(tmp_path, "tests")
    assert run.returncode == 0, run
    lines = run.stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines if line.startswith("tests/test_m.py::")] == [
        "tests/test_m.py::test_one",
        "tests/test_m.py::TestMore::test_two",
    ]
    assert lines[-1].startswith("2 targets: 1 graph break (2 graphs, ran ")
