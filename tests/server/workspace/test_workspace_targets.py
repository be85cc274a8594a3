"""Targets: of a file, of a folder, and of the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
from counting import operations
from fullgraph_compiler.facts import Examples, PytestNode, Script, Switches
from fullgraph_server.workspace.config import ProjectConfig, read_config
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.targets import (
    TorchrunJob,
    configured_targets,
    file_target,
    file_targets,
    find_targets,
    module_target,
)

pytestmark = pytest.mark.portable

EXAMPLE = "# fullgraph: f(f32[2])\ndef f(x): ...\n# fullgraph: g(f32[2])\ndef g(x): ...\n"
GUARD = "if __name__ == '__main__':\n    main()\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("f()\n", "script"),
        (GUARD, "script"),
        (EXAMPLE, "example"),
        (EXAMPLE + GUARD, "script"),
        (EXAMPLE + "if '__main__' == __name__ and True: pass\n", "example"),
        ("def f(:\n", "script"),
    ],
)
def test_what_a_file_runs_as(text: str, kind: str) -> None:
    target = file_target(SourceFile("/w/a.py", text), Path("/w"))
    assert (target.kind, target.id, target.label) == (kind, "/w/a.py", "a.py")
    assert isinstance(target.program, Script if kind == "script" else Examples)


def test_a_file_without_a_main_guard_runs_all_its_examples() -> None:
    program = file_target(SourceFile("/w/a.py", EXAMPLE), Path("/w")).program
    assert isinstance(program, Examples)
    assert [example.qualname for example in program.examples] == ["f", "g"]


def test_everything_in_a_file_that_runs_by_itself() -> None:
    text = (
        EXAMPLE
        + "def test_a(): ...\nclass TestB:\n    def test_c(self): ...\n    def help(self): ...\n"
        + GUARD
    )
    targets = file_targets(SourceFile("/w/tests/test_a.py", text), Path("/w"))
    assert [(target.id, target.label, target.filename) for target in targets] == [
        ("/w/tests/test_a.py", "tests/test_a.py", "/w/tests/test_a.py"),
        ("pytest:/w/tests/test_a.py::test_a", "tests/test_a.py::test_a", "/w/tests/test_a.py"),
        ("pytest:/w/tests/test_a.py::TestB::test_c", "tests/test_a.py::TestB::test_c", "/w/tests/test_a.py"),
        ("/w/tests/test_a.py::f", "tests/test_a.py::f", "/w/tests/test_a.py"),
        ("/w/tests/test_a.py::g", "tests/test_a.py::g", "/w/tests/test_a.py"),
    ]


def test_a_folder_gives_the_targets_of_its_own_files(tmp_path: Path) -> None:
    script = f"import torch\n@torch.compile\ndef f(x): ...\n{GUARD}"
    write(tmp_path / "b.py", script)
    write(tmp_path / "a/toy.py", EXAMPLE)
    write(tmp_path / "plain.py", GUARD)
    write(tmp_path / "doc.py", 'def f():\n    """\n    >>> f()\n    """\n')
    write(tmp_path / "notes.txt", script)
    write(tmp_path / "broken.py", "torch.compile(\n")
    for folder in (".venv", "env/lib/python3.11/site-packages", ".git", "build", "node_modules"):
        write(tmp_path / folder / "x.py", script)
    write(tmp_path / "env2/pyvenv.cfg", "")
    write(tmp_path / "env2/x.py", script)
    assert [target.label for target in find_targets(tmp_path, tmp_path)] == [
        "b.py",
        "a/toy.py::f",
        "a/toy.py::g",
    ]


CONFIG = """
[project]
name = "x"

[tool.fullgraph]
python = "bin/python"
timeout = 30
targets = [
  { name = "train", script = "train.py", args = ["--n", "2"], cwd = "run", env = { A = "1" }, timeout = 2.5 },
  { pytest = "tests/test_a.py::test_b" },
  { name = "example", example = "toy.py::g" },
]
"""


def test_configured_targets(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", CONFIG)
    write(tmp_path / "toy.py", EXAMPLE)
    config = read_config(tmp_path)
    assert config.problems == ()
    assert (config.python, config.timeout) == ("bin/python", 30.0)
    train, test, example = configured_targets(config)
    assert (train.id, train.program) == ("train", Script(str(tmp_path / "train.py"), ("--n", "2")))
    assert (train.cwd, train.env, train.timeout) == (tmp_path / "run", {"A": "1"}, 2.5)
    assert (test.id, test.program) == (
        "tests/test_a.py::test_b",
        PytestNode(str(tmp_path / "tests/test_a.py::test_b")),
    )
    assert (test.filename, test.cwd) == (str(tmp_path / "tests/test_a.py"), tmp_path)
    assert isinstance(example.program, Examples)
    assert [item.qualname for item in example.program.examples] == ["g"]


def test_targets_have_the_switches_of_the_project_and_their_own(tmp_path: Path) -> None:
    write(
        tmp_path / "pyproject.toml",
        """
[tool.fullgraph]
dynamic = "automatic"
recompile-limit = 3
cold-caches = true

[[tool.fullgraph.targets]]
script = "a.py"

[[tool.fullgraph.targets]]
script = "b.py"
dynamic = false
only = "step|Block.*"
cold-caches = false
cpp-stacks = true
warm-up = 2
dry-run = true
device = "h100"
""",
    )
    config = read_config(tmp_path)
    assert config.problems == ()
    general = Switches(dynamic="automatic", recompile_limit=3, cold_caches=True)
    own = Switches("off", 3, "step|Block.*", cpp_stacks=True, warm_up=2, dry_run=True, device="h100")
    assert config.switches == general
    assert [target.switches for target in configured_targets(config)] == [general, own]


def test_a_script_runs_on_several_ranks(tmp_path: Path) -> None:
    write(
        tmp_path / "pyproject.toml",
        """
[[tool.fullgraph.targets]]
torchrun = "train.py"

[[tool.fullgraph.targets]]
name = "many"
torchrun = "train.py"
ranks = 4
args = ["--steps", "3"]
""",
    )
    config = read_config(tmp_path)
    assert config.problems == ()
    two, many = configured_targets(config)
    filename = str(tmp_path / "train.py")
    assert (two.id, two.kind, two.filename) == ("train.py", "torchrun", filename)
    assert two.program == TorchrunJob(Script(filename), 2)
    assert many.program == TorchrunJob(Script(filename, ("--steps", "3")), 4)


def test_a_module_runs_from_its_folder_on(tmp_path: Path) -> None:
    targets = "[[tool.fullgraph.targets]]\nmodule = 'pkg.train'\nargs = ['--steps', '3']\n"
    targets += "[[tool.fullgraph.targets]]\nname = 'whole'\nmodule = 'pkg'\ncwd = 'below'\n"
    write(tmp_path / "pyproject.toml", targets)
    write(tmp_path / "src" / "pkg" / "train.py", "")
    write(tmp_path / "below" / "pkg" / "__main__.py", "")
    config = read_config(tmp_path)
    assert config.problems == ()
    train, whole = configured_targets(config)
    filename = str(tmp_path / "src" / "pkg" / "train.py")
    assert (train.id, train.kind, train.filename) == ("pkg.train", "module", filename)
    assert (train.program, train.cwd) == (Script(filename, ("--steps", "3"), "pkg.train"), tmp_path)
    assert whole.filename == str(tmp_path / "below" / "pkg" / "__main__.py")
    elsewhere = module_target("torch.nn", tmp_path)
    assert (elsewhere.label, elsewhere.filename) == ("-m torch.nn", str(tmp_path / "torch" / "nn.py"))


def test_a_project_without_configuration_has_none(tmp_path: Path) -> None:
    assert read_config(tmp_path) == ProjectConfig(tmp_path)
    write(tmp_path / "pyproject.toml", "[tool.other]\n")
    assert read_config(tmp_path) == ProjectConfig(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("python = 3", "tool.fullgraph.python: must be a string that is not empty, not 3"),
        ("timeout = 0", "tool.fullgraph.timeout: must be a number of seconds above 0, not 0"),
        ("memory = 'x'", "tool.fullgraph.memory: must be a number of GiB above 0, not 'x'"),
        ("timeout = true", "tool.fullgraph.timeout: must be a number of seconds above 0, not True"),
        (
            "colour = 1",
            "tool.fullgraph.colour: unknown key; known are targets, python, preview-python, timeout, memory",
        ),
        ("dynamic = 'maybe'", "tool.fullgraph.dynamic: must be true, false or \"automatic\", not 'maybe'"),
        ("dynamic = 1", 'tool.fullgraph.dynamic: must be true, false or "automatic", not 1'),
        ("recompile-limit = 1.5", "tool.fullgraph.recompile-limit: must be a whole number above 0, not 1.5"),
        ("cold-caches = 'no'", "tool.fullgraph.cold-caches: must be true or false, not 'no'"),
        (
            "only = '('",
            "tool.fullgraph.only: is not a regular expression: missing ), unterminated subpattern",
        ),
        (
            "device = 'h1000'",
            "tool.fullgraph.device: must be one of a100, l4, rtx4090, h100, h200, b200, mi300x, not 'h1000'",
        ),
        ("preview-python = 3", "tool.fullgraph.preview-python: must be a string that is not empty, not 3"),
        ("targets = 'a.py'", "tool.fullgraph.targets: must be a list, not 'a.py'"),
        ("targets = ['a.py']", "tool.fullgraph.targets[0]: must be a table, not 'a.py'"),
        (
            "targets = [{name = 'x'}]",
            "tool.fullgraph.targets[0]: needs exactly one of script, module, console-script, pytest, ",
        ),
        (
            "targets = [{script = 1}]",
            "tool.fullgraph.targets[0].script: must be a string that is not empty, not 1",
        ),
        ("targets = [{script = 'a', args = [1]}]", "tool.fullgraph.targets[0].args[0]: must be a string"),
        ("targets = [{script = 'a', env = {A = 1}}]", "tool.fullgraph.targets[0].env.A: must be a string"),
        ("targets = [{script = 'a', env = 1}]", "tool.fullgraph.targets[0].env: must be a table, not 1"),
        (
            "targets = [{pytest = 'a', args = ['x']}]",
            "tool.fullgraph.targets[0].args: only a script, console script or module has arguments",
        ),
        (
            "targets = [{module = 'pkg/train.py'}]",
            "tool.fullgraph.targets[0].module: pkg/train.py is a file, not a module: name it pkg.train",
        ),
        (
            "targets = [{script = 'a', ranks = 2}]",
            "tool.fullgraph.targets[0].ranks: only torchrun has ranks",
        ),
        (
            "targets = [{torchrun = 'a', ranks = 0}]",
            "tool.fullgraph.targets[0].ranks: must be a whole number above 0, not 0",
        ),
        (
            "targets = [{script = 'a'}, {script = 'a'}]",
            "tool.fullgraph.targets[1]: another target is called 'a'",
        ),
    ],
)
def test_a_wrong_value_is_one_clear_problem_on_its_line(tmp_path: Path, line: str, message: str) -> None:
    write(tmp_path / "pyproject.toml", f"# [tool]\n[tool.fullgraph]\n\n{line}\n")
    (problem,) = read_config(tmp_path).problems
    assert problem.message.startswith(message)
    assert problem.span.row == 4


def test_a_file_that_is_no_toml_is_a_problem_on_its_line(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.fullgraph]\npython = =\n")
    (problem,) = read_config(tmp_path).problems
    assert problem.message.startswith("pyproject.toml does not parse: ")
    assert problem.span.row == 2


def test_a_wrong_target_is_told_on_the_table_that_it_stands_in(tmp_path: Path) -> None:
    target = "[[tool.fullgraph.targets]]\nscript = {0}\n"
    write(tmp_path / "pyproject.toml", target.format("'x'") + target.format(1))
    (problem,) = read_config(tmp_path).problems
    assert problem.message == "tool.fullgraph.targets[1].script: must be a string that is not empty, not 1"
    assert problem.span.row == 3


def test_a_table_that_is_none_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool]\nfullgraph = 1\n")
    (problem,) = read_config(tmp_path).problems
    assert problem.message == "tool.fullgraph: must be a table, not 1"


def test_all_wrong_values_of_a_target_are_told_at_once(tmp_path: Path) -> None:
    line = "targets = [{script = 1, timeout = 'x', device = 'y'}]"
    write(tmp_path / "pyproject.toml", f"[tool.fullgraph]\n{line}\n")
    keys = [problem.message.split(":")[0] for problem in read_config(tmp_path).problems]
    assert keys == [f"tool.fullgraph.targets[0].{key}" for key in ("script", "timeout", "device")]


@pytest.mark.parametrize("wrong", ["", "bad = 1\n"], ids=["right", "wrong"])
@pytest.mark.parametrize("kind", ["script = 's{0}.py'", "example = 'test_a.py::f{0}'"])
def test_twice_the_targets_take_twice_the_work(tmp_path: Path, kind: str, wrong: str) -> None:
    def work(count: int) -> int:
        write(tmp_path / "test_a.py", "".join(EXAMPLE.replace("f", f"f{n}") for n in range(count)))
        tables = (
            f"[[tool.fullgraph.targets]]\nname = 't{n}'\n{kind.format(n)}\n{wrong}" for n in range(count)
        )
        write(tmp_path / "pyproject.toml", "[tool.fullgraph]\n" + "".join(tables))

        def read() -> None:
            config = read_config(tmp_path)
            assert len(configured_targets(config)) == count
            assert len(config.problems) == (count if wrong else 0)

        return operations(read)

    work(1)
    assert work(200) < 2.2 * work(100)
