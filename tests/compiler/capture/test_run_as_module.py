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
        ("space", "the package space has no file __main__.py, so it cannot run"),
        ("sys", "the module sys is built into Python: there is no file to run"),
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


# -- modules that have to be in a certain file -------------------------------------------------

WRITE = "import sys\nopen('ran', 'a').write(sys.modules[__name__].__file__)\n"


def pinned(module: str, file: str, folder: Path) -> tuple[str, str]:
    """How a run of a pinned module ends, and which code has run."""
    facts = observe(f.Script(str(folder / file), ("-n1", "open('ran', 'w')"), module, pinned=True), folder)
    problems = [fact for fact in facts if isinstance(fact, f.TargetProblem) and fact.severity == "error"]
    ran = folder / "ran"
    return "".join(problem.message for problem in problems), ran.read_text() if ran.exists() else ""


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("timeit", "timeit.py"),  # a loaded module of Python itself has this name
        ("train", "train.py"),
        ("train", "train/__main__.py"),
        ("package.sub.train", "package/sub/train.py"),
        ("space.train", "space/train.py"),
        ("linked", "linked.py"),
    ],
)
def test_a_pinned_module_of_the_folder_is_the_one_that_runs(module: str, file: str, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(WRITE)
    if file.startswith("package/"):
        (tmp_path / "package" / "__init__.py").touch()
    assert pinned(module, file, tmp_path) == ("", str(tmp_path / file))


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("timeit", "src/timeit.py"),  # not installed: the interpreter finds Python's own
        ("http.server", "http/server.py"),  # a folder without __init__.py loses to any package
        ("json.tool", "json/tool.py"),  # a package that is loaded already
        ("sys", "sys.py"),
        ("pkg.train", "pkg/train.py"),  # another package of this name comes first
        ("spaced.sub.train", "spaced/sub/train.py"),  # a part of a namespace has the package elsewhere
        ("pytest", "pytest/__main__.py"),
    ],
)
def test_nothing_else_of_the_name_of_a_pinned_module_runs_or_is_imported(
    module: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for path in (folder / file, outside / "pkg/__init__.py", outside / "spaced/sub/__init__.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(WRITE)
    if module.startswith(("json", "pytest")):
        (folder / file).with_name("__init__.py").write_text(WRITE)
    monkeypatch.syspath_prepend(outside)
    problem, ran = pinned(module, file, folder)
    assert problem.startswith(f"this interpreter imports the module {module.partition('.')[0]}")
    assert problem.endswith(f"not from {folder / file}")
    assert ran == ""
