"""The promises that the layout makes (docs/architecture.md), checked on the source itself."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import fullgraph_compiler
import pytest
from fullgraph_compiler.facts import Script
from worker_client import run_worker

COMPILER = Path(fullgraph_compiler.__file__).parent
SERVER = Path(__file__).parents[2] / "server" / "fullgraph_server"
SHARED = ("fullgraph_compiler.facts", "fullgraph_compiler.trace")


def imports(path: Path) -> list[str]:
    """The absolute names of the modules that a file imports anywhere in it."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


@pytest.mark.parametrize("path", sorted(COMPILER.rglob("*.py")), ids=lambda p: str(p.relative_to(COMPILER)))
def test_compiler_imports_the_standard_library_and_torch_only(path: Path) -> None:
    # pytest is imported for a pytest target, and is then the user's own; Triton comes with torch.
    allowed = {"torch", "triton", "fullgraph_compiler", "pytest", *sys.stdlib_module_names}
    assert {name.partition(".")[0] for name in imports(path)} <= allowed


@pytest.mark.parametrize("path", sorted(COMPILER.rglob("*.py")), ids=lambda p: str(p.relative_to(COMPILER)))
def test_private_names_of_torch_stay_in_their_modules(path: Path) -> None:
    if path.name.endswith("_compat.py"):
        return
    private = [name for name in imports(path) if name.startswith("torch.") and "._" in f".{name}"]
    private += [
        ast.unparse(node)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("torch._")
    ]
    assert private == []


@pytest.mark.parametrize("path", sorted(SERVER.rglob("*.py")), ids=lambda p: str(p.relative_to(SERVER)))
def test_server_reaches_only_the_vocabulary(path: Path) -> None:
    for name in imports(path):
        assert name.partition(".")[0] != "torch"
        if name.startswith("fullgraph_compiler"):
            assert name.startswith(SHARED), name


@pytest.mark.parametrize("path", sorted(SERVER.rglob("*.py")), ids=lambda p: str(p.relative_to(SERVER)))
def test_server_runs_no_user_code(path: Path) -> None:
    called = {
        ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
    }
    assert called.isdisjoint({"exec", "eval", "compile", "__import__", "importlib.import_module"})
    assert "runpy" not in imports(path)


def test_server_works_where_there_is_no_torch() -> None:
    modules = [
        ".".join(("fullgraph_server", *path.relative_to(SERVER).with_suffix("").parts)).removesuffix(
            ".__init__"
        )
        for path in SERVER.rglob("*.py")
        if path.name != "__main__.py"
    ]
    program = f"""
        import importlib, json, sys
        sys.modules["torch"] = None
        for name in {modules!r}:
            importlib.import_module(name)
        print(json.dumps([name for name in sys.modules if name.startswith("fullgraph_compiler.")]))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(name.startswith(SHARED) for name in json.loads(done.stdout))


def test_nothing_of_ours_is_on_the_users_path(tmp_path: Path) -> None:
    # The workers of an installed Fullgraph have their package beside pygls and all: it must not show.
    program = tmp_path / "program.py"
    program.write_text("import json, sys\nprint('path', json.dumps(sys.path[1:]))\n")
    observed = run_worker(Script(str(program)), tmp_path).output
    plain = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True).stdout
    assert observed.splitlines()[-1] == plain.splitlines()[-1]
