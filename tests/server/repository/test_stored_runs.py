"""The choice of programs of the corpora, and their stored runs (``tests/stored_runs.py``)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import stored_runs
from code_hash import code_hash
from fullgraph_compiler import facts
from stored_runs import COMPARED_FACTS, ROOT, steady, with_paths, without_paths

pytest_plugins = ["pytester"]

TESTS = """\
import pytest
from stored_runs import current_store


@pytest.mark.corpus
@pytest.mark.parametrize("name", range(100))
def test_program(name):
    store = current_store()
    if store.get("run") is None:
        fact = {"type": "RunFinished", "status": "finished", "seconds": SECONDS}
        store.made["run"] = {"facts": [fact]}


def test_of_no_program():
    assert current_store() is None
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytester: pytest.Pytester) -> Path:
    """The folder of stored runs of a project with a hundred programs."""
    monkeypatch.setattr(stored_runs, "FOLDER", tmp_path / "stored")
    monkeypatch.setattr(stored_runs, "SHARE", {"facts": 4, "verdicts": 4})
    monkeypatch.setattr(stored_runs, "_code", lambda kind: kind)
    for name in [name for name in os.environ if name.startswith("PYTEST_XDIST_")]:
        monkeypatch.delenv(name)
    ini = "[pytest]\nmarkers = corpus: a program\nasyncio_default_fixture_loop_scope = function\n"
    pytester.makeini(ini)
    write(pytester, TESTS)
    return tmp_path / "stored"


def write(pytester: pytest.Pytester, text: str, seconds: float = 1.5) -> None:
    pytester.makepyfile(test_hundred_programs=text.replace("SECONDS", str(seconds)))


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "stored_runs", "-p", "no:cacheprovider", *options)


def test_a_day_draws_some_programs_without_stored_runs(pytester: pytest.Pytester, folder: Path) -> None:
    first = run(pytester)
    drawn = len(list(folder.iterdir()))
    assert 0 < drawn < 100
    first.assert_outcomes(passed=drawn + 1, deselected=100 - drawn)
    first.stdout.fnmatch_lines(
        [
            f"programs of the corpora: 0 with stored runs * {drawn} without, {100 - drawn} left out",
            "*--corpora=all runs them, too",
        ]
    )
    again = run(pytester)
    again.assert_outcomes(passed=drawn + 1, deselected=100 - drawn)
    again.stdout.fnmatch_lines([f"programs of the corpora: {drawn} with stored runs (* 0 without, *"])


@pytest.mark.usefixtures("folder")
def test_all_programs_run_on_request_and_some_are_compared(pytester: pytest.Pytester) -> None:
    run(pytester, "--corpora=all").assert_outcomes(passed=101)
    write(pytester, TESTS, seconds=2.5)
    stored = run(pytester)
    stored.assert_outcomes(passed=101)
    stored.stdout.fnmatch_lines(["programs of the corpora: 100 with stored runs (20 of them compared *"])
    stored.stdout.no_fnmatch_line("*--corpora=all*")
    anew = run(pytester, "--corpora=anew")
    anew.stdout.fnmatch_lines(["programs of the corpora: 0 with stored runs * 100 without, 0 left out"])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("selection", [["-k", "1 and 2"], ["test_hundred_programs.py::test_program[33]"]])
def test_programs_that_are_selected_by_name_all_run(pytester: pytest.Pytester, selection: list[str]) -> None:
    selected = run(pytester, *selection)
    assert selected.ret == pytest.ExitCode.OK
    selected.stdout.fnmatch_lines(["programs of the corpora: * without, 0 left out"])


@pytest.mark.usefixtures("folder")
def test_a_comparison_with_other_facts_fails(pytester: pytest.Pytester) -> None:
    run(pytester, "--corpora=all")
    write(pytester, TESTS.replace('"finished"', '"raised"'))
    other = run(pytester)
    other.assert_outcomes(passed=81, failed=20)
    other.stdout.fnmatch_lines(["*other runs are stored: *"])


def test_runs_of_a_failed_test_are_not_stored(pytester: pytest.Pytester, folder: Path) -> None:
    write(pytester, TESTS.replace('{"facts": [fact]}', '{"facts": [fact]}\n    assert name'))
    run(pytester, "--corpora=all").assert_outcomes(passed=100, failed=1)
    assert len(list(folder.iterdir())) == 99


def test_stored_runs_belong_to_a_state_of_the_code(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    run(pytester, "--corpora=all")
    monkeypatch.setattr(stored_runs, "_code", lambda kind: f"other {kind}")
    changed = run(pytester, "--corpora=all")
    changed.stdout.fnmatch_lines(["programs of the corpora: 0 with stored runs * 100 without, *"])
    assert len(list(folder.iterdir())) == 100


def test_the_hash_of_code_does_not_depend_on_words(tmp_path: Path) -> None:
    file, cache = tmp_path / "code.py", tmp_path / "cache" / "code.json"

    def hash_of(text: str) -> str:
        file.write_text(text)
        first, again = code_hash([file], cache), code_hash([file], cache)
        assert first == again
        return first

    code = hash_of('"""Words."""\n\n\ndef f(x):\n    """Return it."""\n    return x\n')
    assert code == hash_of('"""Other words."""\n# and more\ndef f(x):\n    return (x)  # as it is\n')
    assert code != hash_of("def f(x):\n    return x + 1\n")
    assert code != hash_of('def f(x):\n    return "x"\n')


def test_paths_of_a_test_run_become_names_and_paths_again(tmp_path: Path) -> None:
    value = {"inner": f"{tmp_path}/a/program.py", "outer": f"in {tmp_path}/b.py", "root": str(ROOT)}
    named = without_paths(value, cwd=tmp_path, folder=tmp_path / "a")
    assert named == {
        "inner": "<path folder>/program.py",
        "outer": "in <path cwd>/b.py",
        "root": "<path root>",
    }
    assert with_paths(named, cwd=tmp_path, folder=tmp_path / "a") == value


@pytest.mark.parametrize("path", [".", "", "a", "/"])
def test_a_short_or_relative_path_stays(path: str) -> None:
    value = {"file": "a/b.py", "seconds": 1.5}
    assert without_paths(value, cwd=Path(path)) == value


def test_a_guards_place_in_torch_is_not_compared() -> None:
    def recompiled(*filenames: str) -> object:
        frames = tuple(facts.StackFrame(filename, 1, "f") for filename in filenames)
        failure = facts.GuardFailure("0/0", "x", "LAMBDA_GUARD", "x == 1", stack=frames)
        return steady({"run": {"facts": facts.to_json([facts.Recompile("0/1", (failure,))])}})

    first = recompiled("/program.py", "(_prims_common/__init__.py")
    assert first == recompiled("/program.py", "(_functorch/_aot_autograd/autograd_cache.py")
    assert first != recompiled("/other.py", "(_prims_common/__init__.py")


def test_compared_facts_exist() -> None:
    assert [name for name in COMPARED_FACTS if not issubclass(getattr(facts, name), facts.Fact)] == []


def test_a_process_that_compiled_before_has_the_same_facts() -> None:
    runs = [
        steady({"run": {"facts": facts.to_json([facts.Recompile(place, ())])}})
        for place in ("0/1", "3/1", "3/2")
    ]
    assert runs[0] == runs[1] != runs[2]
