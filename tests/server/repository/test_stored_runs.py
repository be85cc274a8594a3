"""The choice of programs of the corpora, and their stored runs (``tests/stored_runs.py``)."""

from __future__ import annotations

from pathlib import Path

import pytest
import stored_runs

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


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytester: pytest.Pytester) -> Path:
    """The folder of stored runs of a project with a hundred programs."""
    monkeypatch.setattr(stored_runs, "FOLDER", tmp_path / "stored")
    monkeypatch.setattr(stored_runs, "SHARE", 4)
    ini = "[pytest]\nmarkers = corpus: a program\nasyncio_default_fixture_loop_scope = function\n"
    pytester.makeini(ini)
    write(pytester, TESTS)
    return tmp_path / "stored"


def write(pytester: pytest.Pytester, text: str, seconds: float = 1.5) -> None:
    pytester.makepyfile(test_programs=text.replace("SECONDS", str(seconds)))


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "stored_runs", "-p", "no:cacheprovider", *options)


def test_a_day_draws_some_programs_without_stored_runs(pytester: pytest.Pytester, folder: Path) -> None:
    first = run(pytester)
    drawn = len(list(folder.iterdir()))
    assert 0 < drawn < 100
    first.assert_outcomes(passed=drawn + 1, deselected=100 - drawn)
    first.stdout.fnmatch_lines([f"programs of the corpora: 0 with stored runs * {drawn} new, *"])
    again = run(pytester)
    again.assert_outcomes(passed=drawn + 1, deselected=100 - drawn)
    again.stdout.fnmatch_lines([f"programs of the corpora: {drawn} with stored runs (* 0 new, *"])


def test_all_programs_run_on_request_and_some_are_compared(pytester: pytest.Pytester) -> None:
    run(pytester, "--corpora=all").assert_outcomes(passed=101)
    write(pytester, TESTS, seconds=2.5)
    stored = run(pytester)
    stored.assert_outcomes(passed=101)
    stored.stdout.fnmatch_lines(["programs of the corpora: 100 with stored runs (20 of them compared *"])
    anew = run(pytester, "--corpora=anew")
    anew.stdout.fnmatch_lines(["programs of the corpora: 0 with stored runs * 100 new, 0 left out *"])


def test_a_comparison_with_other_facts_fails(pytester: pytest.Pytester) -> None:
    run(pytester, "--corpora=all")
    write(pytester, TESTS.replace('"finished"', '"raised"'))
    other = run(pytester)
    other.assert_outcomes(passed=81, failed=20)
    other.stdout.fnmatch_lines(["*other runs are stored in *"])


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
    changed.stdout.fnmatch_lines(["programs of the corpora: 0 with stored runs * 100 new, *"])
    assert len(list(folder.iterdir())) == 100
