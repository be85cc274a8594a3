"""``fullgraph stages`` and ``fullgraph minify`` as their callers see them. Runs are faked."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from faked_run import FakeRun, fake_runs, fullgraph
from fullgraph_compiler.facts import (
    Fact,
    Failure,
    FaultLocated,
    GraphBreak,
    GraphCaptured,
    GraphNode,
    GraphUnchecked,
    MinifyProgress,
    MinifyRequest,
    ReproWritten,
    Script,
    StackFrame,
    StageChecked,
    TargetProblem,
)

LOWERING = Failure("error", "LoweringException", "no relu", text="Traceback")


UNCHECKED = GraphUnchecked("1/0", "its copy does not run")


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeRun]:
    return fake_runs(monkeypatch)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.fullgraph]\ntimeout = 20\n")
    (tmp_path / "a.py").write_text("def f(x):\n    return x.relu()\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def climbed(folder: Path) -> tuple[Fact, ...]:
    relu = StackFrame(str(folder / "a.py"), 2, "f", 11, 2, 19)
    return (
        GraphCaptured("0/0", (GraphNode("relu", "f32[2] cpu", relu),)),
        GraphBreak("0/0", "GB0059", "broke", "", (), "", "", (relu,), False, ""),
        StageChecked("uncompiled", "", None, 0.2),
        StageChecked("eager", "", None, 0.3),
        StageChecked("aot_eager", "0/0", None, 0.5),
        StageChecked("inductor", "0/0", LOWERING, 11.5),
        FaultLocated(1, "inductor", "aot_eager", LOWERING, "0/0", (relu,), "lowerings, 2: aten.relu.default"),
    )


# -- stages ------------------------------------------------------------------------------------


def test_stages_shows_all_stages_and_then_what_is_at_fault(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = climbed(folder)
    result = fullgraph("stages", "a.py")
    assert result.exit_code == 1
    assert result.stdout == (
        "The whole program\n"
        "  uncompiled  passes  0.2 s\n"
        "  eager       passes  0.3 s\n"
        "\n"
        "Graph 0/0, a.py:2\n"
        "  aot_eager  passes   0.5 s\n"
        "  inductor   fails   11.5 s\n"
        "\n"
        "a.py:2:12 error compile-error TorchInductor (lowerings: aten.relu.default) fails: "
        "LoweringException: no relu; aot_eager passes\n"
        "   |\n"
        " 1 | def f(x):\n"
        " 2 |     return x.relu()\n"
        "   |            ^^^^^^^^\n"
        "   |\n"
        "   = note: The fault is in TorchInductor, which lowers the graph to kernels. "
        "torch's bisector names lowerings, 2: aten.relu.default.\n"
        "\n"
        "Shrink it to a repro: fullgraph minify a.py --failure 1\n"
    )
    ((settings, request),) = fake.asked
    assert (request.depth, request.cache) == ("stages", str(folder / ".fullgraph" / "cache"))
    assert request.patience == 20, "what pyproject.toml gives to a run"
    assert settings.timeout == 100, "five times as long for all of it"
    assert (folder / ".fullgraph" / ".gitignore").read_text() == "*\n"


def test_stages_has_the_patience_that_it_is_given(fake: type[FakeRun]) -> None:
    fullgraph("stages", "a.py", "--timeout", "7", "--python", "/py", "--", "-x")
    ((settings, request),) = fake.asked
    assert (request.patience, settings.timeout) == (7, 35)
    assert (settings.python, request.program.args) == ("/py", ("-x",))


def test_without_a_word_about_time_stages_has_much(fake: type[FakeRun], folder: Path) -> None:
    (folder / "pyproject.toml").write_text("")
    fullgraph("stages", "a.py")
    ((settings, request),) = fake.asked
    assert (request.patience, settings.timeout) == (300, None)


def test_where_nothing_can_be_written_kernels_are_not_kept(fake: type[FakeRun], folder: Path) -> None:
    (folder / ".fullgraph").write_text("in the way")
    assert fullgraph("stages", "a.py").exit_code == 0
    assert [request.cache for _, request in fake.asked] == [""]


def test_a_failed_capture_gets_a_repro_as_well(fake: type[FakeRun]) -> None:
    fake.facts = (FaultLocated(1, "eager", "uncompiled", LOWERING, ""),)
    stdout = fullgraph("stages", "a.py").stdout
    assert stdout.endswith("\nWrite a repro of it: fullgraph minify a.py --failure 1\n")
    crash = Failure("crash", "SIGSEGV", "it crashes")
    fake.facts = (FaultLocated(1, "eager", "uncompiled", crash, ""),)
    assert "fullgraph minify" not in fullgraph("stages", "a.py").stdout, "there is nothing to record"


@pytest.mark.parametrize(
    ("facts", "status", "code"),
    [
        ((StageChecked("aot_eager", "0/0", None, 1),), "finished", 0),
        ((TargetProblem("warning", "old"),), "finished", 0),
        ((StageChecked("aot_eager", "0/0", None, 1), UNCHECKED), "finished", 3),
        ((TargetProblem("error", "no"), UNCHECKED), "finished", 1),
        ((GraphUnchecked("", "what other processes compile"),), "finished", 3),
        ((StageChecked("compiled", "", None, 1),), "finished", 0),
        ((StageChecked("compiled", "", Failure("accuracy", "Output", "it prints"), 1),), "finished", 3),
        ((UNCHECKED,), "timeout", 1),
        ((TargetProblem("information", "Stopped after 5 s."),), "timeout", 1),
        ((TargetProblem("error", "There is no torch."),), "not-started", 2),
    ],
)
def test_the_exit_code_of_stages(
    fake: type[FakeRun], facts: tuple[Fact, ...], status: str, code: int
) -> None:
    fake.facts, fake.status = facts, status
    assert fullgraph("stages", "a.py").exit_code == code


def test_a_graph_that_was_not_checked_stands_in_the_conclusion(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = (*climbed(folder)[:5], UNCHECKED)
    passing = "1 graph passes all stages, by itself, with the inputs of one call"
    conclusion = f"{passing}; 1 graph not checked (1/0), because its copy does not run"
    stdout = fullgraph("stages", "a.py").stdout
    assert stdout.endswith(f"Graph 1/0\n  not checked\n\n{conclusion}\n")
    told = json.loads(fullgraph("stages", "a.py", "--format", "json").stdout)
    assert told["unchecked"] == [{"compile_id": "1/0", "reason": "its copy does not run"}]
    assert told["conclusion"] == conclusion
    fake.facts = (*climbed(folder), UNCHECKED)
    stdout = fullgraph("stages", "a.py").stdout
    assert "\n1 graph not checked (1/0), because its copy does not run\n" in stdout
    assert "passes all" not in stdout


def test_stages_as_json(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = climbed(folder)
    told = json.loads(fullgraph("stages", "a.py", "--format", "json").stdout)
    assert [(stage["stage"], stage["passes"]) for stage in told["stages"]] == [
        ("uncompiled", True),
        ("eager", True),
        ("aot_eager", True),
        ("inductor", False),
    ]
    assert told["stages"][3] == {
        "stage": "inductor",
        "compile_id": "0/0",
        "passes": False,
        "failure": {
            "kind": "error",
            "error": "LoweringException",
            "message": "no relu",
            "phase": "forward",
        },
        "seconds": 11.5,
    }
    assert [(finding["fault"], finding["compile_ids"]) for finding in told["findings"]] == [
        (0, ["0/0"]),
        (1, ["0/0"]),
    ]


# -- minify ------------------------------------------------------------------------------------


def tells(fake: type[FakeRun], *facts: Fact, writes: str = "") -> None:
    """What a minification tells, and what it has written into its output by then."""
    fake.facts, fake.writes = facts, writes


PROGRESS = MinifyProgress(12, 14, 5, 1.5)


def written(reproduces: bool = True) -> ReproWritten:
    return ReproWritten("repro.py", 1, 14, 9, 0, 3.14, reproduces)


@pytest.mark.parametrize(
    ("reproduces", "end"), [(True, "still fails when run"), (False, "does not fail when run by itself")]
)
def test_minify_writes_a_repro_and_says_so(
    fake: type[FakeRun], folder: Path, reproduces: bool, end: str
) -> None:
    tells(fake, PROGRESS, written(reproduces), writes="# a repro\n")
    result = fullgraph("minify", "a.py")
    assert result.exit_code == 0
    assert result.stdout == f"repro.py: 1 of 14 nodes, 9 queries, 3.1 s; {end}\n"
    assert "Before you share repro.py, check what it contains: inputs, perhaps weights." in result.stderr
    ((settings, request),) = fake.asked
    assert request == MinifyRequest(
        1,
        Script(str(folder / "a.py")),
        str(folder / "repro.py"),
        str(folder / ".fullgraph" / "cache"),
        patience=20,
        workspace=str(folder),
    )
    assert settings.timeout is None, "it can be stopped at any time"
    assert (folder / ".fullgraph" / ".gitignore").read_text() == "*\n"


def test_what_minify_is_asked_for(fake: type[FakeRun], folder: Path) -> None:
    words = ("--failure", "3", "-o", "out/r.py", "--level", "dynamo", "--memory", "2", "--python", "/py")
    (folder / "out").mkdir()
    fullgraph("minify", "a.py", "--timeout", "9", *words)
    ((settings, request),) = fake.asked
    assert request.patience == 9
    assert (request.failure, request.level, request.output) == (3, "dynamo", str(folder / "out" / "r.py"))
    assert (settings.memory, settings.python) == (2 << 30, "/py")


def test_a_call_that_fails_to_be_captured_has_no_nodes(fake: type[FakeRun]) -> None:
    call = ReproWritten("repro.py", 0, 0, 0, 0, 3.14, True, (StackFrame("a.py", 1, "f"),))
    tells(fake, call, writes="# a repro\n")
    stdout = fullgraph("minify", "a.py").stdout
    assert stdout == "repro.py: the call that goes wrong in Dynamo, in `f`; still fails when run\n"


def test_an_earlier_repro_stays_unless_it_is_named(fake: type[FakeRun], folder: Path) -> None:
    (folder / "repro.py").write_text("# an old one\n")
    tells(fake, PROGRESS, written(), writes="# a repro\n")
    assert fullgraph("minify", "a.py").stdout.startswith("repro-2.py: ")
    assert (folder / "repro.py").read_text() == "# an old one\n"
    assert fullgraph("minify", "a.py", "-o", "repro.py").stdout.startswith("repro.py: ")
    assert (folder / "repro.py").read_text() == "# a repro\n"


def test_where_nothing_fails_there_is_no_repro(fake: type[FakeRun], folder: Path) -> None:
    (folder / "repro.py").write_text("# an old one\n")
    tells(fake, TargetProblem("error", "Nothing fails: every graph compiles."))
    result = fullgraph("minify", "a.py")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Nothing fails: every graph compiles." in result.stderr
    assert (folder / "repro.py").read_text() == "# an old one\n"


def test_a_target_that_cannot_be_run(fake: type[FakeRun]) -> None:
    tells(fake, TargetProblem("error", "There is no torch."))
    fake.status = "not-started"
    result = fullgraph("minify", "a.py")
    assert (result.exit_code, "There is no torch." in result.stderr) == (2, True)


def test_a_signal_keeps_the_best_repro_so_far(fake: type[FakeRun], folder: Path) -> None:
    tells(fake, PROGRESS, writes="# a repro\n")
    fake.on_execute = lambda: os.kill(os.getpid(), signal.SIGINT)
    result = fullgraph("minify", "a.py")
    assert result.exit_code == 128 + signal.SIGINT
    assert result.stdout == (
        "Stopped: repro.py is the smallest repro so far: 12 of 14 nodes, 5 queries, 1.5 s\n"
    )
    assert (folder / "repro.py").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("minify",), "Usage"),
        (("minify", "gone.py"), "gone.py does not exist"),
        (("minify", "a.py", "--failure", "0"), "--failure"),
        (("minify", "a.py", "--level", "deep"), "--level"),
        (("minify", "a.py", "-o", "no/such/folder/repro.py"), "no/such/folder"),
        (("stages", "a.py", "--format", "sarif"), "--format"),
        (("recipes", "a.py", "--format", "sarif"), "--format"),
    ],
)
def test_wrong_usage_gives_2_and_says_what_to_do(
    fake: type[FakeRun], words: tuple[str, ...], message: str
) -> None:
    result = fullgraph(*words)
    assert result.exit_code == 2
    assert message in result.output
    assert fake.asked == []
