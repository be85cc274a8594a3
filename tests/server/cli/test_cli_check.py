"""The command line as its caller sees it: words in, output and exit code out. Runs are faked."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from faked_run import FakeRun, fake_runs, fullgraph
from fullgraph_compiler.facts import (
    CallsWithoutGraph,
    CompileFailure,
    Examples,
    Fact,
    GraphBreak,
    GuardFailure,
    PytestNode,
    Recompile,
    Script,
    StackFrame,
    Switches,
    TargetProblem,
)
from fullgraph_server import __version__
from fullgraph_server.analyses.suitability import unsuited
from fullgraph_server.cli import fix as fix_module
from fullgraph_server.cli import session as session_module
from fullgraph_server.cli import sizes as sizes_module
from fullgraph_server.cli.formats.fixes import FIX_FORMATS
from fullgraph_server.cli.formats.sizes import SIZES_FORMATS
from fullgraph_server.workers.pool import WorkerPool
from fullgraph_server.workspace.config import ProjectConfig
from fullgraph_server.workspace.targets import console_script_target

EXAMPLE = "# fullgraph: f(f32[2])\ndef f(x): ...\n# fullgraph: g(f32[2])\ndef g(x): ...\n"


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeRun]:
    return fake_runs(monkeypatch)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.py").write_text("print(1)\n")
    (tmp_path / "ex.py").write_text(EXAMPLE)
    (tmp_path / "n.ipynb").write_text("{}")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*words: str) -> Result:
    return fullgraph("check", *words)


def stack(folder: Path) -> tuple[StackFrame, ...]:
    return (StackFrame(str(folder / "a.py"), 1, "f"),)


def broke(folder: Path) -> GraphBreak:
    return GraphBreak("0/0", "GB0059", "broke", "", (), "", "", stack(folder), False, "")


def recompiled(folder: Path) -> Recompile:
    return Recompile("0/1", (GuardFailure("0/0", "", "", "changed", stack=stack(folder)),))


def failed(folder: Path) -> CompileFailure:
    return CompileFailure("0/0", "backend", "E", "failed", stack(folder))


def without_graph(folder: Path) -> CallsWithoutGraph:
    return CallsWithoutGraph("f", str(folder / "a.py"), 1, 2, stack(folder))


def without_call(_: Path) -> CallsWithoutGraph:
    return CallsWithoutGraph("", "", 1, 0)


@pytest.mark.parametrize(
    ("make", "codes"),
    [
        (None, {"break": 0, "recompile": 0, "failure": 0, "never": 0}),
        (recompiled, {"break": 0, "recompile": 1, "failure": 0, "never": 0}),
        (broke, {"break": 1, "recompile": 1, "failure": 0, "never": 0}),
        (failed, {"break": 1, "recompile": 1, "failure": 1, "nothing-compiled": 1, "never": 0}),
        (without_graph, {"break": 1, "nothing-compiled": 1, "failure": 0}),
        (without_call, {"break": 1, "nothing-compiled": 1, "failure": 0}),
    ],
)
def test_fail_on_decides_the_exit_code(
    fake: type[FakeRun], folder: Path, make: Callable[[Path], Fact] | None, codes: dict[str, int]
) -> None:
    fake.facts = (make(folder),) if make else ()
    fake.status = "raised" if make is failed else "finished"
    assert {level: check("a.py", "--fail-on", level).exit_code for level in codes} == codes
    assert check("a.py").exit_code == codes["failure"]


def test_an_error_after_which_the_program_goes_on_fails_as_a_break_does(
    fake: type[FakeRun], folder: Path
) -> None:
    fake.facts = (failed(folder),)
    codes = {level: check("a.py", "--fail-on", level).exit_code for level in ("failure", "break", "never")}
    assert codes == {"failure": 0, "break": 1, "never": 0}


@pytest.mark.parametrize("level", ["break", "recompile", "failure"])
def test_a_break_that_stops_the_program_fails_though_the_same_one_was_a_warning(
    fake: type[FakeRun], folder: Path, level: str
) -> None:
    stops = CompileFailure("1/0", "capture", "Unsupported", "broke", stack(folder), "GB0059")
    fake.status, fake.facts = "raised", (broke(folder), stops)
    assert check("a.py", "--fail-on", level).exit_code == 1


@pytest.mark.parametrize(("level", "code"), [("failure", 1), ("break", 1), ("never", 0)])
def test_a_run_that_came_to_its_time_limit_is_no_error_and_no_pass(
    fake: type[FakeRun], level: str, code: int
) -> None:
    fake.status, fake.facts = "timeout", (TargetProblem("information", "Stopped after 5 s."),)
    result = check("a.py", "--fail-on", level)
    assert result.exit_code == code
    assert " info target-error Stopped after 5 s" in result.stdout
    assert "error:" not in result.stdout
    assert result.stdout.splitlines()[-1].startswith("stopped at its time limit: nothing was compiled")


def test_a_target_that_could_not_be_started_gives_2_even_where_nothing_fails(fake: type[FakeRun]) -> None:
    fake.status, fake.facts = "not-started", (TargetProblem("error", "no torch here"),)
    result = check("a.py", "--fail-on", "never")
    assert result.exit_code == 2
    assert result.stdout.startswith("error: no torch here\n\n"), "no file is at fault, and no line"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("no.py",), "no.py does not exist"),
        (("no.py::f",), "no.py does not exist"),
        (
            ("ex.py::h",),
            "h has no example calls in ex.py\n\n  fullgraph check ex.py::f\n  fullgraph check ex.py::g\n",
        ),
        (("a.py::f",), "f has no example calls in a.py\n\nWrite one above it: # fullgraph: f(...)\n"),
        (
            ("empty",),
            "empty has no targets: no .py file in it is a program or test that mentions torch.compile",
        ),
        (("--timeout", "3"), "Missing argument 'TARGET...'."),
        (("--console-script", ""), "--console-script needs the name of a command that a package installs"),
        (("--pytest", "no.py::test"), "no.py does not exist"),
        (("ex.py", "--args", "x"), "arguments are for scripts, and ex.py runs as example"),
        (("-m", "a.py"), "a.py is a file, not a module: name it a, or run it as a script"),
        (("-m", "./sub/a.py"), "./sub/a.py is a file, not a module: name it sub.a, or run it as a script"),
        (("-m", "..a"), "..a is not the name of a module, such as package.module"),
        (("a.py", "--steps", "3"), "Options of your program follow --: main check TARGET -- --steps"),
        (("ex.py", "--ranks", "2"), "--ranks is for scripts, and ex.py runs as example"),
        (("a.py", "--ranks", "0"), "Invalid value for '--ranks'"),
        (("a.py", "--args", "'"), "the arguments cannot be split into words: No closing quotation"),
        (("ex.py", "--", "x"), "arguments are for scripts, and ex.py runs as example"),
        (("n.ipynb",), "n.ipynb cannot be read: it is a damaged notebook without a format version"),
        (("a.py", "--timeout", "0"), "Invalid value for '--timeout'"),
        (("a.py", "--only", "("), "Invalid value for --only: missing ), unterminated subpattern"),
        (("a.py", "--recompile-limit", "0"), "Invalid value for '--recompile-limit'"),
        (("a.py", "--format", "xml"), "Invalid value for '--format'"),
    ],
)
def test_wrong_usage_gives_2_and_says_what_to_do(words: tuple[str, ...], message: str) -> None:
    result = check(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_a_file_in_the_place_of_a_command_is_told_the_command() -> None:
    assert "a.py is not a command: fullgraph check a.py" in fullgraph("a.py", "--steps").stderr
    assert "No such command 'b.py'" in fullgraph("b.py").stderr


def test_the_switches_of_the_command_line_come_before_those_of_the_project(
    fake: type[FakeRun], folder: Path
) -> None:
    (folder / "pyproject.toml").write_text("[tool.fullgraph]\ndynamic = true\nrecompile-limit = 2\n")
    words = ("--dynamic", "off", "--only", "f", "--cold-caches", "--cpp-stacks", "--dry-run")
    for command in (("check", "a.py"), ("check", "a.py", *words), ("frozen", "a.py", "--warm-up", "3")):
        assert fullgraph(*command).exit_code == 0
    assert [(request.depth, request.switches) for _, request in fake.asked] == [
        ("graph", Switches("on", 2)),
        ("graph", Switches("off", 2, "f", cold_caches=True, cpp_stacks=True, dry_run=True)),
        ("late-compile", Switches("on", 2, warm_up=3)),
    ]


def test_what_the_words_run(fake: type[FakeRun], folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        "[tool.fullgraph]\ntimeout = 9\nmemory = 2\n"
        "targets = [{name = 'train', script = 'a.py', args = ['1'], env = {A = 'b'}}]\n"
    )
    assert check("a.py", "--args", "--n '1 2'", "--timeout", "3", "--memory", "0.5").exit_code == 0
    assert check("ex.py", "ex.py::g", "train").exit_code == 0
    assert check("--pytest", "ex.py::test_a", "a.py").exit_code == 0
    assert check("train", "--", "2").exit_code == 0
    assert check("a.py", "--memory", "0.5", "--", "--timeout", "3 4").exit_code == 0
    programs = [request.program for _, request in fake.asked]
    script, both, one, train, node, file, again, behind = programs
    assert behind == Script(str(folder / "a.py"), ("--timeout", "3 4"))
    assert script == Script(str(folder / "a.py"), ("--n", "1 2"))
    assert isinstance(both, Examples)
    assert [example.qualname for example in both.examples] == ["f", "g"]
    assert isinstance(one, Examples)
    assert [example.qualname for example in one.examples] == ["g"]
    assert (train, again) == (Script(str(folder / "a.py"), ("1",)), Script(str(folder / "a.py"), ("2",)))
    assert (node, file) == (PytestNode(str(folder / "ex.py::test_a")), PytestNode(str(folder / "a.py")))
    settings = [settings for settings, _ in fake.asked]
    assert [item.timeout for item in settings[:2]] == [3.0, 9.0]
    assert [item.memory for item in settings[:2]] == [1 << 29, 1 << 31]
    assert {item.cwd for item in settings} == {folder}
    assert (settings[0].env.get("A"), settings[3].env["A"]) == (os.environ.get("A"), "b")


def test_a_module_runs_by_its_name(fake: type[FakeRun], folder: Path) -> None:
    assert check("-m", "a", "pkg.b", "--", "--n", "1").exit_code == 0
    assert fullgraph("recompiles", "--module", "a").exit_code == 0
    one, other, again = [request.program for _, request in fake.asked]
    assert one == Script(str(folder / "a.py"), ("--n", "1"), "a")
    assert other == Script(str(folder / "pkg" / "b.py"), ("--n", "1"), "pkg.b")
    assert again == Script(str(folder / "a.py"), (), "a")
    fake.facts = (recompiled(folder),)
    assert check("-m", "a", "no").stdout.count("-m a: ") == 1


def test_a_program_that_runs_once_gets_the_input_of_the_command(
    fake: type[FakeRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[bool] = []

    class Pool(WorkerPool):
        def __init__(self, *, stdin: int | None, **others: Any) -> None:
            given.append(stdin is not None and os.path.sameopenfile(stdin, 0))
            super().__init__(stdin=stdin, **others)

    monkeypatch.setattr(session_module, "WorkerPool", Pool)
    for command in ("check", "recompiles", "frozen", "kernels"):
        assert fullgraph(command, "a.py").exit_code == 0
    assert given == [True] * 4
    for command in ("times", "stages", "recipes", "minify"):
        fullgraph(command, "a.py")
    assert given[4:] == [False] * 4, "what the first run has read would be gone in the next"
    assert len(fake.asked) == 8


@pytest.mark.parametrize("words", [["--diff"], ["--format", "diff"]])
def test_a_diff_is_a_format_with_a_shorter_name(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    given: list[Any] = []
    monkeypatch.setattr(fix_module, "fix_targets", lambda *arguments: given.append(arguments[2]) or 0)
    monkeypatch.setattr(sizes_module, "size_target", lambda *arguments, **_: given.append(arguments[2]) or 0)
    for command in ("fix", "sizes"):
        fullgraph(command, "a.py", *words)
    assert given == [FIX_FORMATS["diff"], SIZES_FORMATS["diff"]]
    assert "--diff" not in fullgraph("fix", "--help").stdout


def test_an_example_call_that_does_not_parse_is_a_finding(folder: Path) -> None:
    (folder / "ex.py").write_text("# fullgraph: f(\n" + EXAMPLE)
    result = check("ex.py", "--format", "json")
    (finding,) = json.loads(result.stdout)["findings"]
    assert finding["message"].startswith("example call is not an expression")
    assert finding["location"]["row"] == 1
    assert result.exit_code == 1


def test_wrong_configuration_is_told_once_on_stderr(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.fullgraph]\ntimeout = 'x'\n")
    result = check("a.py", "--format", "json")
    assert result.exit_code == 0
    assert "pyproject.toml:2: tool.fullgraph.timeout: must be a number" in result.stderr
    assert json.loads(result.stdout)["findings"] == []
    assert check("a.py", "ex.py").stderr.count("must be a number") == 1


def test_a_signal_stops_the_run_and_keeps_what_was_found(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = (broke(folder),)
    fake.on_execute = lambda: signal.raise_signal(signal.SIGINT)
    result = check("a.py", "ex.py", "--format", "json")
    (report,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert (result.exit_code, report["status"], len(report["findings"])) == (130, "cancelled", 1)
    assert len(fake.asked) == 1


def test_a_second_signal_does_not_wait(fake: type[FakeRun]) -> None:
    def twice() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    fake.on_execute = twice
    before = signal.getsignal(signal.SIGINT)
    assert check("a.py").exit_code != 0
    assert signal.getsignal(signal.SIGINT) is before


def test_the_version() -> None:
    assert fullgraph("--version").output == f"fullgraph {__version__}\n"


def test_the_interpreter_is_the_one_asked_for_else_the_configured_one(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.fullgraph]\npython = "configured/bin/python"\n')
    check("a.py")
    check("a.py", "--python", "wanted/bin/python")
    asked = [settings.python for settings, _ in FakeRun.asked[-2:]]
    assert asked == [str(folder / "configured/bin/python"), str(folder / "wanted/bin/python")]


def test_an_error_of_fullgraph_itself_is_a_finding_and_no_traceback(
    fake: type[FakeRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def execute(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(fake, "execute", execute)
    result = check("a.py")
    assert result.exit_code == 1
    assert "Fullgraph itself failed in this run, with RecursionError: too deep" in result.stdout
    assert "Traceback" not in result.stdout


def test_a_folder_stands_for_the_targets_in_it(fake: type[FakeRun], folder: Path) -> None:
    (folder / "tests").mkdir()
    (folder / "tests" / "test_m.py").write_text("def test_a(): torch.compile\ndef test_b(): ...\n")
    (folder / "train.py").write_text("torch.compile\nif __name__ == '__main__': ...\n")
    targets = '[[tool.fullgraph.targets]]\nscript = "train.py"\nargs = ["-n", "3"]\n'
    (folder / "pyproject.toml").write_text(targets)
    result = check(".")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "5 targets: no findings (0 graphs, ran 2.5 s)"
    programs = [request.program for _, request in fake.asked]
    assert [program.args for program in programs if isinstance(program, Script)] == [("-n", "3")]
    assert sum(isinstance(program, Examples) for program in programs) == 2
    tests = [PytestNode(f"{folder / 'tests' / 'test_m.py'}::test_{name}") for name in "ab"]
    assert [program for program in programs if isinstance(program, PytestNode)] == tests
    fake.asked.clear()
    assert check("tests").exit_code == 0
    assert [(settings.cwd, request.program) for settings, request in fake.asked] == [
        (folder, test) for test in tests
    ]


def test_a_command_about_one_target_takes_no_folder() -> None:
    result = fullgraph("kernels", ".")
    assert ". is a folder: name a target in it\n\n  fullgraph check ex.py::f\n" in result.stderr


def test_a_console_script_is_one_of_the_environment(fake: type[FakeRun], folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[project.scripts]\nmy-train = "pkg.train:main"\n')
    assert check("--console-script", "my-train", "--", "-n", "3").exit_code == 0
    ((_, request),) = fake.asked
    filename = str(folder / "pkg" / "train.py")
    assert request.program == Script(filename, ("-n", "3"), console_script="my-train")
    told = check("my-train")
    assert "If a package installs it: fullgraph check --console-script my-train" in told.stderr


def test_debugpy_starts_no_console_script(folder: Path) -> None:
    target = console_script_target("my-train", ProjectConfig(folder), folder)
    assert unsuited(target, "debug").startswith("debugpy cannot start the console script my-train")
    assert not unsuited(target, "stages")
