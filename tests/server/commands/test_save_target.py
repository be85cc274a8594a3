"""What of a target goes into pyproject.toml, and where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.facts import Example, Examples
from fullgraph_server.commands.save_target import addition, entry_of
from fullgraph_server.workspace.config import ProjectConfig, read_config
from fullgraph_server.workspace.targets import (
    Target,
    TorchrunJob,
    configured_targets,
    console_script_target,
    module_target,
    pytest_target,
    script_target,
    trace_target,
    with_arguments,
)

ROOT = Path("/w")


def example(name: str) -> Target:
    whole = Examples("/w/model.py", (Example("Net", ()),))
    return Target(f"/w/model.py{name}", f"model.py{name}", "example", "/w/model.py", whole, ROOT)


def torchrun() -> Target:
    target = script_target("/w/train.py", ROOT, ("-n", "2"))
    return replace(target, label="all", kind="torchrun", program=TorchrunJob(target.program, 4))


@pytest.mark.parametrize(
    ("target", "entry"),
    [
        (script_target("/w/src/train.py", ROOT), {"script": "src/train.py"}),
        (
            with_arguments("/w/train.py", ROOT, ("--name", 'a "b"')),
            {"name": "train.py --name 'a \"b\"'", "script": "train.py", "args": ["--name", 'a "b"']},
        ),
        (script_target("/elsewhere/train.py", ROOT), {"script": "/elsewhere/train.py"}),
        (
            replace(
                script_target("/w/a.py", Path("/w/sub")), label="Train", env={"A.B": "1\n2"}, timeout=2.5
            ),
            {"name": "Train", "script": "a.py", "cwd": "sub", "env": {"A.B": "1\n2"}, "timeout": 2.5},
        ),
        (
            module_target("pkg.train", ROOT, ("-n", "2")),
            {"name": "-m pkg.train", "module": "pkg.train", "args": ["-n", "2"]},
        ),
        (console_script_target("my-train", ProjectConfig(ROOT), ROOT), {"console-script": "my-train"}),
        (pytest_target("tests/test_a.py::test_b", ROOT), {"pytest": "tests/test_a.py::test_b"}),
        (example("::Net"), {"example": "model.py::Net"}),
        (example(""), {"example": "model.py"}),
        (torchrun(), {"name": "all", "torchrun": "train.py", "args": ["-n", "2"], "ranks": 4}),
        (trace_target(Path("/logs/job.log"), ROOT), {}),
    ],
    ids=lambda value: value.label if isinstance(value, Target) else "",
)
def test_an_entry_says_what_the_target_is(target: Target, entry: dict[str, Any], tmp_path: Path) -> None:
    assert entry_of(target, ROOT) == entry
    if entry:
        (tmp_path / "pyproject.toml").write_text(addition("", entry))
        config = read_config(tmp_path)
        assert config.problems == ()
        (saved,) = configured_targets(config)
        assert (saved.kind, saved.timeout, dict(saved.env)) == (target.kind, target.timeout, dict(target.env))


@pytest.mark.parametrize(
    ("before", "gap"),
    [
        ("", ""),
        ("[project]\nname = 'x'  # mine\n", "\n"),
        ("[tool.fullgraph]\ntimeout = 3", "\n\n"),
        ("[[tool.fullgraph.targets]]\nscript = 'a.py'\n\n[tool.other]\n", "\n"),
    ],
)
def test_it_is_added_behind_what_is_there(before: str, gap: str) -> None:
    assert addition(before, {"script": "b.py"}) == f'{gap}[[tool.fullgraph.targets]]\nscript = "b.py"\n'


@pytest.mark.parametrize(
    "before", ["[tool.fullgraph]\ntargets = [{ script = 'a.py' }]\n", "[tool.fullgraph", "tool = 3\n"]
)
def test_a_file_that_takes_no_table_is_left_alone(before: str) -> None:
    assert addition(before, {"script": "b.py"}) is None
