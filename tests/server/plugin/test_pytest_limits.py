"""The pytest plugin where there is no torch: its arguments, its verdicts, and what it costs a suite."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    Fact,
    FrameCompiled,
    FrameStarted,
    GraphBreak,
    GuardFailure,
    Recompile,
    RecompileLimit,
    Stack,
    StackFrame,
)
from fullgraph_pytest.limits import CompileLimits, limits_of
from fullgraph_pytest.verdict import LimitExceededError, verdict
from fullgraph_server.workspace.targets import pytest_target
from fullgraph_server.workspace.workspace import Workspace

LIBRARY = "/usr/lib/python3.11/site-packages/lib/ops.py"
UNMARKED = """
    import sys, pytest

    @pytest.mark.parametrize("number", range(3))
    def test_unmarked(number):
        pass

    def test_nothing_was_imported():
        ours = {"torch", "click", "rich", "pygls", "fullgraph_server", "fullgraph_pytest.hooks"}
        assert not ours & {*sys.modules}
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.py"
    path.write_text("def f(x):\n    print(x)\n    return x + 1\n")
    return str(path)


def compiled(model: str, compile_id: str, *between: Fact) -> list[Fact]:
    started = FrameStarted(compile_id, "f", model, 1)
    return [started, *between, FrameCompiled(compile_id, "f", model, 1, 1, 1, 1, 0.1)]


def a_break(compile_id: str, stack: Stack) -> GraphBreak:
    return GraphBreak(compile_id, "GB0059", "no print", "", (), "", "", stack, False, "")


def judged(model: str, facts: list[Fact], begin: int = 0, **arguments: object) -> LimitExceededError | None:
    folder = Path(model).parent
    limits = limits_of((), arguments)
    return verdict(facts, begin, limits, pytest_target("test_model.py::test", folder), Workspace(folder))


@pytest.mark.parametrize(
    ("positional", "named", "sentence"),
    [
        ((0,), {}, "fullgraph takes only keyword arguments, such as breaks=0"),
        (
            (),
            {"brakes": 1},
            "fullgraph has no argument 'brakes': it has breaks, recompiles, graphs, own_code",
        ),
        ((), {"breaks": "1"}, "breaks of fullgraph must be a whole number, 0 or more, not '1'"),
        ((), {"breaks": None}, "breaks of fullgraph must be a whole number, 0 or more, not None"),
        ((), {"recompiles": -1}, "recompiles of fullgraph must be a whole number, 0 or more, not -1"),
        ((), {"graphs": True}, "graphs of fullgraph must be a whole number, 0 or more, not True"),
        ((), {"own_code": 1}, "own_code of fullgraph must be True or False, not 1"),
    ],
)
def test_arguments_that_cannot_be_are_told(
    positional: tuple[object, ...], named: dict[str, object], sentence: str
) -> None:
    with pytest.raises(TypeError) as raised:
        limits_of(positional, named)
    assert str(raised.value) == sentence


def test_arguments_have_defaults() -> None:
    assert limits_of((), {}) == CompileLimits(breaks=0, recompiles=0, graphs=None, own_code=False)


def test_a_break_is_told_as_by_check_on_its_line(model: str) -> None:
    facts = compiled(model, "0/0", a_break("0/0", (StackFrame(model, 2, "f", 4, 2, 12),)))
    failure = judged(model, facts)
    assert failure is not None
    assert failure.span is not None
    assert (failure.span.filename, failure.span.row) == (model, 2)
    first, _, rest = str(failure).partition("\n\n")
    assert first == "1 graph break, where breaks=0 is allowed."
    assert rest.startswith(f"{model}:2:5 warning GB0059 `print(x)` breaks the graph\n")
    assert "^^^^^^^^ graph break" in rest
    assert judged(model, facts, breaks=1) is None


def test_breaks_in_libraries_can_be_left_out(model: str) -> None:
    stack = (StackFrame(model, 3, "f"), StackFrame(LIBRARY, 7, "op"))
    facts = compiled(model, "0/0", a_break("0/0", stack))
    assert judged(model, facts) is not None
    assert judged(model, facts, own_code=True) is None
    own = compiled(model, "0/0", a_break("0/0", stack[:1]))
    assert judged(model, own, own_code=True) is not None


def test_a_comment_ignores_a_break(model: str) -> None:
    Path(model).write_text("def f(x):\n    print(x)  # fullgraph: ignore[GB0059]\n")
    facts = compiled(model, "0/0", a_break("0/0", (StackFrame(model, 2, "f"),)))
    assert judged(model, facts) is None


def test_of_a_part_only_what_is_compiled_in_it_counts(model: str) -> None:
    again = Recompile("0/1", (GuardFailure("0/0", "L['x']", "TENSOR_MATCH", "size", changed="size"),))
    before = compiled(model, "0/0", a_break("0/0", (StackFrame(model, 2, "f"),)))
    facts = [*before, *compiled(model, "0/1", again)]
    failure = judged(model, facts, len(before))
    assert failure is not None
    assert str(failure).startswith("1 recompilation, where recompiles=0 is allowed.\n")
    assert "GB0059" not in str(failure)
    assert judged(model, facts, len(before), recompiles=1, graphs=1) is None


def test_code_that_runs_eagerly_for_a_limit_counts_as_a_break(model: str) -> None:
    limit = RecompileLimit("0/8", "f", model, 1, 8, "recompile_limit", False)
    failure = judged(model, [FrameStarted("0/8", "f", model, 1), limit], graphs=0)
    assert failure is not None
    assert str(failure).startswith("1 recompile limit hit, where breaks=0 is allowed.\n")


def test_the_number_of_graphs_is_told(model: str) -> None:
    facts = [*compiled(model, "0/0"), *compiled(model, "1/0")]
    assert judged(model, facts) is None
    assert judged(model, facts, graphs=2) is None
    assert str(judged(model, facts, graphs=1)) == "2 graphs, where graphs=1 is expected."
    started = [FrameStarted("0/0", "f", model, 1)]
    assert str(judged(model, [*started])) == "0 graphs, where at least one is expected."


@pytest.mark.parametrize("arguments", [{}, {"graphs": 1}])
def test_where_nothing_is_compiled_there_is_one_sentence_why(model: str, arguments: dict[str, int]) -> None:
    failure = judged(model, compiled(model, "0/0"), begin=2, **arguments)
    assert failure is not None
    assert failure.span is None
    assert str(failure).startswith("Nothing was compiled: ")
    assert "torch.compiler.reset()" in str(failure)
    assert judged(model, [], graphs=0) is None


def test_a_suite_that_does_not_use_it_imports_nothing(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, UNMARKED, "--strict-markers")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("option", ["--fullgraph-baseline=known.json", "--fullgraph-update-baseline"])
def test_options_of_the_baseline_need_the_option(tmp_path: Path, option: str) -> None:
    done = run_pytest(tmp_path, UNMARKED, option)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: --fullgraph-baseline and --fullgraph-update-baseline need --fullgraph" in done.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--fullgraph-update-baseline"], "--fullgraph-update-baseline needs --fullgraph-baseline FILE"),
        (
            ["--fullgraph-baseline=no.json"],
            "no.json does not exist: write it with --fullgraph-update-baseline",
        ),
    ],
)
def test_a_baseline_that_cannot_be_used_is_told(tmp_path: Path, options: list[str], sentence: str) -> None:
    done = run_pytest(tmp_path, UNMARKED, "--fullgraph", *options)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {sentence}" in done.stderr


def test_without_torch_a_marked_test_says_so(tmp_path: Path) -> None:
    program = "import pytest, sys\nsys.modules['torch'] = None\n@pytest.mark.fullgraph\ndef test(): pass\n"
    done = run_pytest(tmp_path, program)
    assert "The use of torch.compile cannot be checked: this environment has no torch." in done.stdout
    assert "1 error" in done.stdout


def run_pytest(folder: Path, suite: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a suite with the plugin and no other one."""
    (folder / "test_suite.py").write_text(textwrap.dedent(suite))
    command = [sys.executable, "-m", "pytest", "-p", "fullgraph_pytest", "-p", "no:cacheprovider", *options]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
