"""The pytest plugin in suites that compile: verdicts, summary, pytest-xdist, and an environment of a user."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import textwrap
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.xdist_group("pytest_plugin")  # they share a run

ROOT = Path(__file__).parents[3]
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
ALONE = {**CLEAN, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Environments without what this pytest has set; in the second, pytest has no plugins that are not named."""
MODEL = """
    import torch

    def clean(x):
        return (x * 2).relu()

    def broken(x):
        x = x * 2
        print("woo")
        return x.sum()

    def sized(x):
        return x + 1

    @torch.compile(backend="eager")
    def shared(x):
        return x - 1
"""
SUITE = """
    import unittest, pytest, torch
    from model import broken, clean, shared, sized

    def run(function, *sizes):
        compiled = torch.compile(function, backend="eager")
        for size in sizes:
            compiled(torch.ones(size))

    @pytest.fixture
    def fresh():
        torch.compiler.reset()

    @pytest.fixture
    def warm(fresh):
        shared(torch.ones(3))

    def test_unmarked():
        run(broken, 3)

    @pytest.mark.fullgraph(graphs=1)
    def test_clean(fresh):
        run(clean, 3)

    @pytest.mark.fullgraph
    def test_broken(fresh):
        run(broken, 3)

    @pytest.mark.fullgraph(breaks=1, graphs=2)
    def test_broken_as_is_known(fresh):
        run(broken, 3)

    @pytest.mark.fullgraph
    def test_sized(fresh):
        run(sized, 3, 4)

    @pytest.mark.fullgraph(graphs=1)
    def test_what_another_test_compiled_is_no_recompilation(fresh):
        run(sized, 5)

    @pytest.mark.fullgraph(graphs=1)
    def test_nothing(warm):
        shared(torch.ones(3))

    @pytest.mark.fullgraph(brakes=0)
    def test_wrong_marker():
        pass

    @pytest.mark.fullgraph
    def test_fails_by_itself():
        run(broken, 3)
        assert "this" == "that"

    @pytest.mark.fullgraph
    def test_skipped():
        pytest.skip("not today")

    @pytest.mark.xfail(reason="it prints")
    @pytest.mark.fullgraph
    def test_expected(fresh):
        run(broken, 3)

    def test_part(fresh, fullgraph):
        run(broken, 3)
        with fullgraph(graphs=1):
            run(clean, 3)
        run(sized, 3)
        with fullgraph(recompiles=1):
            run(sized, 4)
        with pytest.raises(AssertionError, match="1 graph break, where breaks=0 is allowed"):
            with fullgraph():
                torch.compiler.reset()
                run(broken, 3)

    def test_part_fails(fresh, fullgraph):
        with fullgraph():
            run(broken, 3)

    @pytest.mark.fullgraph
    class TestOld(unittest.TestCase):
        def test_method(self):
            torch.compiler.reset()
            run(broken, 3)
"""
FOLLOWER = """
    import contextlib, json, os, sys
    import pytest

    def pytest_runtest_logreport(report):
        if os.environ.get("REPORTS") and "PYTEST_XDIST_WORKER" not in os.environ:
            crash = getattr(report.longrepr, "reprcrash", None)
            place = [crash.path, crash.lineno, crash.message] if crash else None
            with open(os.environ["REPORTS"], "a") as out:
                said = [report.longreprtext, *(text for name, text in report.sections if name == "fullgraph")]
                reason = getattr(report, "wasxfail", "")
                line = [report.nodeid, report.when, report.outcome, place, said, reason]
                print(json.dumps(line), file=out)

    if "fullgraph_pytest" not in sys.modules:
        @pytest.fixture
        def fullgraph():
            return lambda **_: contextlib.nullcontext()

    def pytest_sessionfinish():
        if os.environ.get("COUNTERS"):
            from torch._dynamo.utils import counters
            with open(os.environ["COUNTERS"], "w") as out:
                json.dump({name: dict(counts) for name, counts in counters.items()}, out)
"""

Reports = dict[str, dict[str, Any]]


def write_suite(folder: Path) -> None:
    for name, text in (("model", MODEL), ("test_suite", SUITE), ("conftest", FOLLOWER)):
        (folder / f"{name}.py").write_text(textwrap.dedent(text))


def run_pytest(folder: Path, *options: str, **env: str) -> str:
    """Run pytest with the plugin, and no other but pytest-xdist; return what it prints."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist", *options]
    return subprocess.run(command, cwd=folder, env={**ALONE, **env}, capture_output=True, text=True).stdout


def reports_of(folder: Path, *options: str, **env: str) -> tuple[Reports, str]:
    """Run the suite; return the report that tells most of each test, by its name, and what was printed."""
    path = folder / "reports"
    path.unlink(missing_ok=True)
    printed = run_pytest(folder, "-p", "fullgraph_pytest", *options, REPORTS=str(path), **env)
    reports: Reports = {}
    for line in path.read_text().splitlines():
        node, when, outcome, place, said, reason = json.loads(line)
        if when == "call" or outcome != "passed":
            name = node.rpartition("::")[2]
            reports[name] = {"outcome": outcome, "place": place, "said": said[0], "reason": reason}
            reports[name]["sections"] = said[1:]
    return reports, printed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    write_suite(folder)
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> tuple[Reports, str]:
    options = ["--fullgraph", "--fullgraph-baseline=known.json", "--fullgraph-update-baseline"]
    return reports_of(folder, *options, COUNTERS=str(folder / "counters"))


def test_verdicts(run: tuple[Reports, str]) -> None:
    reports, _ = run
    failed = {name for name, report in reports.items() if report["outcome"] == "failed"}
    assert failed == {
        *("test_broken", "test_sized", "test_nothing", "test_wrong_marker", "test_fails_by_itself"),
        *("test_part_fails", "test_method"),
    }
    skipped = {name for name, report in reports.items() if report["outcome"] == "skipped"}
    assert skipped == {"test_skipped", "test_expected"}
    assert len(reports) == 14


@pytest.mark.parametrize("name", ["test_broken", "test_part_fails", "test_method"])
def test_a_failure_is_on_the_guilty_line_in_the_words_of_check(run: tuple[Reports, str], name: str) -> None:
    report = run[0][name]
    assert report["place"] == ["model.py", 9, "1 graph break, where breaks=0 is allowed."]
    assert report["said"].startswith(
        "1 graph break, where breaks=0 is allowed.\n\n"
        "model.py:9:5 warning GB0059 `print` breaks the graph\n"
        "   |\n"
        " 8 |     x = x * 2\n"
        ' 9 |     print("woo")\n'
        "   |     ^^^^^^^^^^^^ graph break\n"
    )


def test_a_recompilation_is_told_with_its_cause(run: tuple[Reports, str]) -> None:
    report = run[0]["test_sized"]
    assert report["place"] == ["model.py", 13, "1 recompilation, where recompiles=0 is allowed."]
    assert "size of `x` at dimension 0 was 3, is now 4" in report["said"]


def test_bad_input_is_told_in_one_sentence(run: tuple[Reports, str]) -> None:
    reports, _ = run
    assert reports["test_nothing"]["said"].startswith("Nothing was compiled: ")
    row = next(
        row for row, line in enumerate(textwrap.dedent(SUITE).splitlines(), 1) if "def test_nothing" in line
    )
    assert reports["test_nothing"]["place"][:2] == ["test_suite.py", row - 1]  # of its first decorator
    assert reports["test_wrong_marker"]["said"] == (
        "The marker is invalid: fullgraph has no argument 'brakes': it has breaks, recompiles, graphs, "
        "own_code."
    )
    own = reports["test_fails_by_itself"]
    assert "assert 'this' == 'that'" in own["said"]
    assert "GB0059" not in own["said"]
    assert "The test itself failed: its graph breaks and recompilations were not checked." in own["sections"]
    assert reports["test_expected"]["reason"] == "it prints: 1 graph break, where breaks=0 is allowed."


def test_the_logs_of_torch_are_not_captured(run: tuple[Reports, str]) -> None:
    assert "Graph Break Reason" not in run[1]


def test_the_summary_tells_each_finding_once(folder: Path, run: tuple[Reports, str]) -> None:
    _, _, summary = run[1].partition("= torch.compile in all tests =")
    assert summary.count("model.py:9:5 warning GB0059 `print` breaks the graph\n") == 1
    assert summary.count("model.py:13:12 info recompile") == 1
    assert "\nIn test_suite.py::TestOld::test_method and 7 other tests\n" in summary
    assert "1 graph break, 1 recompilation in 12 tests that compiled (" in summary
    assert "known.json: 2 known findings (2 new, 0 gone)" in summary
    known = json.loads((folder / "known.json").read_text())
    assert [entry["code"] for entry in known["findings"]] == ["GB0059", "recompile"]


@pytest.mark.slow
def test_under_xdist_the_verdicts_are_the_same(folder: Path, run: tuple[Reports, str]) -> None:
    reports, printed = reports_of(folder, "-n4", "--fullgraph", "--fullgraph-baseline=known.json")
    for report in (*reports.values(), *run[0].values()):
        # Without the name of the worker, and addresses.
        report["said"] = re.sub(r"^\[gw\d\].*|0x\w+", "", report["said"]).strip()
    assert reports == run[0]
    assert "2 findings are in the baseline\nno new findings in 12 tests that compiled (" in printed


@pytest.mark.slow
@pytest.mark.usefixtures("run")
def test_what_is_compiled_stays_as_it_is(folder: Path) -> None:
    plain = folder / "plain"
    run_pytest(folder, COUNTERS=str(plain))
    counters = json.loads(plain.read_text())
    assert counters["stats"]["unique_graphs"] > 1
    assert counters["graph_break"]
    assert json.loads((folder / "counters").read_text()) == counters


def test_check_tells_the_same_beside_the_plugin(folder: Path, run: tuple[Reports, str]) -> None:
    code = "from fullgraph_server.cli import main; main()"
    env = {**ALONE, "PYTEST_ADDOPTS": "-p xdist -p fullgraph_pytest"}
    command = [sys.executable, "-c", code, "check", "--pytest", "test_suite.py::test_broken"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    _, _, told = run[0]["test_broken"]["said"].partition("\n\n")
    assert done.stdout.startswith(f"{told}\n\n")
    assert "target-error LimitExceededError: 1 graph break, where breaks=0 is allowed\n" in done.stdout


# -- the environment of a user -----------------------------------------------------------------


def libraries(*names: str) -> set[Path]:
    """The files and folders of installed distributions, and of all that they require."""
    found: set[Path] = set()
    names_left, seen = list(names), set()
    while names_left:
        name = re.sub(r"[-_.]+", "-", names_left.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # required elsewhere
        folder = Path(str(distribution.locate_file("")))
        tops = {path.parts[0] for path in distribution.files or () if path.parts[0] != ".."}
        found |= {folder / top for top in tops if top != "__pycache__"}
        names_left += [
            re.split(r"[^\w.-]", wanted)[0]
            for wanted in distribution.requires or ()
            if "extra ==" not in wanted
        ]
    return found


@pytest.mark.slow
def test_in_a_fresh_environment_with_fullgraph_and_torch_alone(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", f"--wheel-dir={wheels}", str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    venv.create(tmp_path / "venv")
    (site,) = (tmp_path / "venv").glob("**/site-packages")
    for library in libraries("torch", "pytest", "click", "lsprotocol", "pygls", "rich"):
        (site / library.name).symlink_to(library)
    (wheel,) = wheels.iterdir()
    zipfile.ZipFile(wheel).extractall(site)
    suite = tmp_path / "suite"
    suite.mkdir()
    write_suite(suite)
    python = next((tmp_path / "venv").glob("*/python"))
    options = ["-p", "no:cacheprovider", "--strict-markers", "--tb=line", "--fullgraph"]
    done = subprocess.run(
        [python, "-m", "pytest", *options], cwd=suite, env=CLEAN, capture_output=True, text=True
    )
    assert "plugins: fullgraph-" in done.stdout
    assert "\nmodel.py:9: 1 graph break, where breaks=0 is allowed.\n" in done.stdout
    assert "1 graph break, 1 recompilation in 12 tests that compiled (" in done.stdout
    assert "6 failed, 5 passed, 1 skipped, 1 xfailed, " in done.stdout
