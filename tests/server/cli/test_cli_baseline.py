"""``fullgraph check --baseline`` as its caller sees it. Runs are faked."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from click.testing import Result
from faked_run import FakeRun, enter_project, fake_runs, fullgraph
from fullgraph_compiler.facts import (
    CompileFailure,
    GraphBreak,
    GuardFailure,
    ModulesLoaded,
    Recompile,
    StackFrame,
    TargetProblem,
)

PROGRAM = 'print("one")\nprint("two")\nx = 1\n'


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeRun]:
    return fake_runs(monkeypatch)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enter_project(monkeypatch, tmp_path, PROGRAM)


def check(*words: str) -> Result:
    return fullgraph("check", "a.py", "--baseline", "known.json", *words)


def stack(folder: Path, row: int) -> tuple[StackFrame, ...]:
    return (StackFrame(str(folder / "a.py"), row, "f"),)


def broke(folder: Path, row: int) -> GraphBreak:
    return GraphBreak("0/0", "GB0059", "broke", "", (), "", "", stack(folder, row), False, "")


def loaded(folder: Path) -> ModulesLoaded:
    return ModulesLoaded((str(folder / "a.py"),), ())


def entries(folder: Path) -> list[str]:
    return [entry["line"] for entry in json.loads((folder / "known.json").read_text())["findings"]]


def test_from_the_first_baseline_to_a_new_break_and_one_that_is_gone(
    fake: type[FakeRun], folder: Path
) -> None:
    fake.facts = (broke(folder, 1), broke(folder, 2), loaded(folder))
    missing = check()
    assert (missing.exit_code, fake.asked) == (2, [])
    assert "known.json does not exist: write it with --update-baseline" in missing.stderr

    written = check("--update-baseline")
    assert written.exit_code == 0
    assert "a.py:1:1 warning GB0059" in written.stdout
    assert "known.json: 2 known findings (2 new, 0 gone)" in written.stderr
    assert entries(folder) == ['print("one")', 'print("two")']

    known = check()
    assert (known.exit_code, known.stderr) == (0, "")
    assert "2 findings are in the baseline known.json\n" in known.stdout
    assert "GB0059" not in known.stdout

    # The first line is mended, the second has moved, the third is new.
    (folder / "a.py").write_text('\n\nprint("two")\nprint("three")\n')
    fake.facts = (broke(folder, 3), broke(folder, 4), loaded(folder))
    new = check()
    assert new.exit_code == 1
    assert "a.py:4:1 warning GB0059" in new.stdout
    assert "a.py:3:1 warning GB0059" not in new.stdout
    assert new.stderr == "Gone since known.json was written: 1 finding. Take it out with --update-baseline.\n"

    updated = check("--update-baseline")
    assert updated.exit_code == 0
    assert "known.json: 2 known findings (1 new, 1 gone)" in updated.stderr
    assert entries(folder) == ['print("three")', 'print("two")']
    assert check().exit_code == 0


def test_the_baseline_of_the_project_needs_no_option(fake: type[FakeRun], folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.fullgraph]\nbaseline = "ci/known.json"\n')
    (folder / "ci").mkdir()
    fake.facts = (broke(folder, 1), loaded(folder))
    missing = fullgraph("check", "a.py")
    assert missing.exit_code == 2
    assert f"{Path('ci/known.json')} does not exist: write it with --update-baseline" in missing.stderr
    assert fullgraph("check", "a.py", "--update-baseline").exit_code == 0
    assert (folder / "ci" / "known.json").exists()
    assert fullgraph("check", "a.py").exit_code == 0
    fake.facts = (broke(folder, 1), broke(folder, 2), loaded(folder))
    new = fullgraph("check", "a.py")
    assert new.exit_code == 1, "with a baseline, a new break fails"
    assert "1 finding is in the baseline" in new.stdout
    assert fullgraph("check", "a.py", "--baseline", "own.json", "--update-baseline").exit_code == 0
    assert (folder / "own.json").exists()


def test_gone_alone_does_not_fail(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = (broke(folder, 1), loaded(folder))
    check("--update-baseline")
    fake.facts = (loaded(folder),)
    result = check()
    assert result.exit_code == 0
    assert "1 finding" in result.stderr


def test_nothing_is_gone_from_a_file_that_was_not_run(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = (broke(folder, 1), loaded(folder))
    check("--update-baseline")
    (folder / "b.py").write_text("")
    fake.facts = (ModulesLoaded((str(folder / "b.py"),), ()),)
    words = ("check", "b.py", "--baseline", "known.json")
    assert fullgraph(*words).stderr == ""
    (folder / "a.py").unlink()
    assert "Gone since known.json" in fullgraph(*words).stderr


@pytest.mark.parametrize("status", ["raised", "timeout", "crashed"])
def test_nothing_is_gone_that_a_run_may_not_have_reached(
    fake: type[FakeRun], folder: Path, status: str
) -> None:
    fake.facts = (broke(folder, 1), loaded(folder))
    check("--update-baseline")
    fake.facts, fake.status = (loaded(folder),), status
    assert "Gone" not in check().stderr


def test_a_new_break_fails_by_default_and_a_new_recompilation_if_asked(
    fake: type[FakeRun], folder: Path
) -> None:
    check("--update-baseline")
    recompiled = Recompile("0/1", (GuardFailure("0/0", "", "", "changed", stack=stack(folder, 1)),))
    for fact, codes in (
        (broke(folder, 1), {(): 1, ("--fail-on", "failure"): 0, ("--fail-on", "never"): 0}),
        (recompiled, {(): 0, ("--fail-on", "recompile"): 1}),
        (CompileFailure("0/0", "backend", "E", "failed", stack(folder, 1)), {(): 1}),
    ):
        fake.facts = (fact,)
        assert {words: check(*words).exit_code for words in codes} == codes


def test_a_known_failure_does_not_fail(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = (CompileFailure("0/0", "backend", "E", "failed", stack(folder, 1)),)
    assert check("--update-baseline").exit_code == 0
    assert check().exit_code == 0


def test_several_targets_make_one_baseline(fake: type[FakeRun], folder: Path) -> None:
    (folder / "b.py").write_text("import a\n")
    fake.facts = (broke(folder, 1), loaded(folder))
    assert check("b.py", "--update-baseline").exit_code == 0
    assert entries(folder) == ['print("one")']
    assert check("b.py").exit_code == 0


def test_an_update_keeps_what_is_known_of_files_that_were_not_run_to_the_end(
    fake: type[FakeRun], folder: Path
) -> None:
    fake.facts = (broke(folder, 1), loaded(folder))
    check("--update-baseline")
    fake.facts, fake.status = (broke(folder, 2), loaded(folder)), "raised"
    assert "(1 new, 0 gone)" in check("--update-baseline").stderr
    (folder / "b.py").write_text("")
    fake.facts, fake.status = (ModulesLoaded((str(folder / "b.py"),), ()),), "finished"
    update = ("check", "b.py", "--baseline", "known.json", "--update-baseline")
    assert "(0 new, 0 gone)" in fullgraph(*update).stderr
    assert entries(folder) == ['print("one")', 'print("two")']
    (folder / "a.py").unlink()
    assert "(0 new, 2 gone)" in fullgraph(*update).stderr


def test_a_target_that_could_not_be_started_leaves_the_file_as_it_was(
    fake: type[FakeRun], folder: Path
) -> None:
    check("--update-baseline")
    before = (folder / "known.json").read_text()
    fake.facts, fake.status = (TargetProblem("error", "no torch here"),), "not-started"
    result = check("--update-baseline")
    assert result.exit_code == 2
    assert "known.json was not written: not every target could be run" in result.stderr
    assert (folder / "known.json").read_text() == before


def test_a_signal_leaves_the_file_as_it_was(fake: type[FakeRun], folder: Path) -> None:
    fake.on_execute = lambda: signal.raise_signal(signal.SIGINT)
    assert check("--update-baseline").exit_code == 130
    assert not (folder / "known.json").exists()


def test_what_is_no_baseline_is_not_written_over(fake: type[FakeRun], folder: Path) -> None:
    (folder / "known.json").write_text('{"name": "package"}')
    for words in ((), ("--update-baseline",)):
        result = check(*words)
        assert result.exit_code == 2
        assert "known.json is not a Fullgraph baseline: delete it" in result.stderr
    assert fake.asked == []


def test_an_update_needs_a_file() -> None:
    result = fullgraph("check", "a.py", "--update-baseline")
    assert result.exit_code == 2
    assert "--update-baseline needs --baseline FILE" in result.stderr


def test_a_file_that_cannot_be_written_gives_2() -> None:
    result = fullgraph("check", "a.py", "--baseline", "no/known.json", "--update-baseline")
    assert result.exit_code == 2
    assert "no/known.json cannot be written: No such file or directory" in result.stderr


@pytest.mark.parametrize("output", ["json", "sarif", "github"])
def test_what_is_told_of_a_baseline_is_not_in_the_output_of_tools(
    fake: type[FakeRun], folder: Path, output: str
) -> None:
    fake.facts = (broke(folder, 1), loaded(folder))
    check("--update-baseline")
    fake.facts = (loaded(folder),)
    result = check("--format", output)
    assert "Gone" in result.stderr
    assert "Gone" not in result.stdout
