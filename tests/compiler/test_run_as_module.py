"""A module runs as with ``python -m``, and a script in a package that fails without is told how."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from forked import observe
from fullgraph_compiler import facts as f
from worker_client import run_worker

TELL = """
import json, sys
from . import other
main = sys.modules["__main__"]
told = [sys.argv, sys.path[0], __name__, __package__, __spec__.name, __file__, main.__dict__ is globals()]
with open("told.json", "w") as file:
    json.dump(told, file)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    package = tmp_path / "package"
    package.mkdir()
    for name, text in {
        "__init__": "",
        "__main__": TELL,
        "train": TELL,
        "other": "",
        "relative": "from .other import x\n",
        "absolute": "import package.other\n",
        "missing": "import not_there\n",
        "wrong": "x =\n",
    }.items():
        (package / f"{name}.py").write_text(text)
    (tmp_path / "space").mkdir()
    (tmp_path / "space" / "in_space.py").write_text("from . import other\n")
    return tmp_path


@pytest.mark.parametrize("module", ["package.train", "package"])
def test_a_module_runs_as_python_runs_it(project: Path, module: str) -> None:
    subprocess.run([sys.executable, "-m", module, "a", "b c"], cwd=project, check=True)
    by_python = json.loads((project / "told.json").read_text())
    (project / "told.json").unlink()
    result = run_worker(f.Script("elsewhere.py", ("a", "b c"), module), project)
    assert result.facts[-1].status == "finished", result.output  # type: ignore[union-attr]
    assert json.loads((project / "told.json").read_text()) == by_python
    ran = str(project / "package" / f"{'train' if '.' in module else '__main__'}.py")
    assert ran in {name for fact in result.of(f.ModulesLoaded) for name in fact.filenames}


def test_a_module_is_found_as_an_editor_has_it(project: Path) -> None:
    file = str(project / "package" / "train.py")
    text = f.SourceText(file, "import package.relative\n")
    (raised,) = told(f.Script(file, (), "package.train"), project, text)
    assert (raised.error, raised.stack[0].filename, raised.hints) == ("ImportError", file, ())


def told(script: f.Script, folder: Path, *texts: f.SourceText) -> list[f.ProgramRaised]:
    return [fact for fact in observe(script, folder, texts) if isinstance(fact, f.ProgramRaised)]


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("nothing", "there is no module nothing"),
        ("package.nothing", "there is no module package.nothing"),
        ("package.other.deeper", "there is no module package.other.deeper"),
        ("space", "space is a package without a file __main__.py, and so cannot run itself"),
        ("sys", "the module sys is part of Python itself, and no file that can run"),
        ("package.wrong", "SyntaxError: invalid syntax"),
    ],
)
def test_what_is_no_module_is_told_in_a_sentence(project: Path, module: str, message: str) -> None:
    facts = observe(f.Script("x.py", (), module), project)
    (problem,) = (fact for fact in facts if isinstance(fact, f.TargetProblem))
    assert (problem.severity, problem.message) == ("error", message)
    assert (facts[-1].status, told(f.Script("x.py", (), module), project)) == ("not-started", [])  # type: ignore[union-attr]


def test_what_a_module_lacks_is_its_own_error(project: Path) -> None:
    (raised,) = told(f.Script("x.py", (), "package.missing"), project)
    assert (raised.error, raised.stack[-1].row) == ("ModuleNotFoundError", 1)


@pytest.mark.parametrize(
    ("script", "folder", "hint"),
    [
        ("package/relative.py", ".", "`fullgraph check -m package.relative`"),
        ("package/absolute.py", ".", "`fullgraph check -m package.absolute`"),
        ("package/relative.py", "package", "`cd {root} && fullgraph check -m package.relative`"),
        ("package/__main__.py", ".", "`fullgraph check -m package`"),
        ("space/in_space.py", ".", "`fullgraph check -m space.in_space`"),
        ("space/in_space.py", "space", "`cd {root} && fullgraph check -m space.in_space`"),
        ("package/missing.py", ".", None),
    ],
)
def test_a_script_of_a_package_is_told_its_name(
    project: Path, script: str, folder: str, hint: str | None
) -> None:
    (raised,) = told(f.Script(str(project / script)), project / folder)
    if hint is None:
        assert raised.hints == ()
    else:
        (found,) = raised.hints
        package = script.partition("/")[0]
        start = f"The file belongs to the package {package}: run it as a module, "
        assert found.startswith(start + hint.format(root=project))
