"""A console script runs as the command that its package installs."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from forked import observe
from fullgraph_compiler import facts as f

COMMAND = """
import json, sys
class Command:
    @staticmethod
    def main():
        main = sys.modules["__main__"]
        with open("told.json", "w") as file:
            json.dump([sys.argv[1:], main.__name__, main.__spec__, sys.argv[0] == main.__file__], file)
        return "ended"
"""
ENTRIES = "[console_scripts]\nmy-train = my_package.command:Command.main\n"
INSTALLED = "import sys\nfrom my_package.command import Command\nsys.exit(Command.main())\n"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages, with one that has a console script."""
    folder = tmp_path / "site"
    for path, text in {
        "my_package/__init__.py": "",
        "my_package/command.py": COMMAND,
        "my_package-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: my_package\nVersion: 1.0\n",
        "my_package-1.0.dist-info/entry_points.txt": ENTRIES,
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    monkeypatch.syspath_prepend(folder)
    return folder


def test_it_runs_as_the_installed_command_does(environment: Path, tmp_path: Path) -> None:
    installed = tmp_path / "my-train"
    installed.write_text(INSTALLED)
    run = subprocess.run(
        [sys.executable, installed, "a", "b c"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(environment)},
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (1, b"ended\n")
    by_itself = json.loads((tmp_path / "told.json").read_text())
    (tmp_path / "told.json").unlink()

    facts = observe(f.Script("x.py", ("a", "b c"), console_script="my-train"), tmp_path)
    assert json.loads((tmp_path / "told.json").read_text()) == by_itself
    (raised,) = (fact for fact in facts if isinstance(fact, f.ProgramRaised))
    installed_at = str(Path(sysconfig.get_path("scripts")) / "my-train")
    assert (raised.error, raised.message, raised.stack[0].filename) == ("SystemExit", "ended", installed_at)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("my-tran", "there is no console script my-tran", "Similar names: my-train."),
        ("0", "there is no console script 0", f"No package installed for {sys.executable} provides it."),
    ],
)
def test_one_that_is_not_installed_is_told(tmp_path: Path, name: str, message: str, hint: str) -> None:
    facts = observe(f.Script("x.py", console_script=name), tmp_path)
    (problem,) = (fact for fact in facts if isinstance(fact, f.TargetProblem))
    assert (problem.severity, problem.message) == ("error", message)
    assert problem.hints[0].endswith(hint)
    assert facts[-1].status == "not-started"  # type: ignore[union-attr]


def test_a_pinned_one_calls_its_own_file_and_nothing_else(environment: Path, tmp_path: Path) -> None:
    own = str(environment / "my_package" / "command.py")
    facts = observe(f.Script(own, console_script="my-train", pinned=True), tmp_path)
    assert [fact.message for fact in facts if isinstance(fact, f.ProgramRaised)] == ["ended"]
    (tmp_path / "told.json").unlink()
    expected = str(tmp_path / "my_package" / "command.py")
    facts = observe(f.Script(expected, console_script="my-train", pinned=True), tmp_path)
    (problem,) = (fact for fact in facts if isinstance(fact, f.TargetProblem))
    found = environment / "my_package"
    assert (
        problem.message == f"this interpreter imports the module my_package from {found}, not from {expected}"
    )
    assert not (tmp_path / "told.json").exists()
