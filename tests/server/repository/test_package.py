"""The packed extension: what is in it, and that its server runs anywhere without anything else."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import fullgraph_server
import pytest

ROOT = Path(__file__).parents[3]
VSIX = ROOT / "build" / "fullgraph.vsix"

TOP = {
    *("package.json", "package.nls.json", "readme.md", "LICENSE.txt", "changelog.md"),
    *("dist", "extension", "server", "compiler", "bundled"),
}
DIST = {"extension.js", "drawingWorker.js", "report.js", "report.css", "LICENSES.txt"}
LIBRARIES = {"attr", "attrs", "cattr", "cattrs", "exceptiongroup", "lsprotocol", "pygls", "tomli"}


@pytest.fixture(scope="module")
def packed() -> zipfile.ZipFile:
    assert VSIX.exists(), "run `make vsix` first"
    return zipfile.ZipFile(VSIX)


@pytest.fixture(scope="module")
def names(packed: zipfile.ZipFile) -> set[PurePosixPath]:
    """The files of the extension, without the two that every VSIX has beside it."""
    paths = {PurePosixPath(name) for name in packed.namelist()}
    return {path.relative_to("extension") for path in paths if path.parts[0] == "extension"}


@pytest.fixture(scope="module")
def installed(packed: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("Erweiterung λ")
    packed.extractall(folder)
    return folder / "extension"


def _sources(folder: str) -> set[PurePosixPath]:
    files = (path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file())
    return {PurePosixPath(path) for path in files if "__pycache__" not in path.parts}


def test_holds_what_it_needs_and_nothing_else(names: set[PurePosixPath]) -> None:
    assert {path.parts[0] for path in names} == TOP
    under = {top: {path for path in names if path.parts[0] == top} for top in TOP}
    assert {path.name for path in under["dist"]} == DIST
    assert under["extension"] == _sources("extension/media") | _sources("extension/walkthrough")
    cli = PurePosixPath("server/fullgraph_server/cli")
    sources = {path for path in _sources("server/fullgraph_server") if cli not in path.parents}
    assert under["server"] == sources | {PurePosixPath("server/start.py")}
    assert under["compiler"] == _sources("compiler/fullgraph_compiler")


def test_the_licences_of_the_scripts_libraries_are_in_it(packed: zipfile.ZipFile) -> None:
    licences = packed.read("extension/dist/LICENSES.txt").decode()
    for name in ("@viz-js/viz", "d3-flame-graph", "sortable-tablesort", "vscode-languageclient"):
        assert f"\n{name} " in f"\n{licences}"
    assert "Apache License" in licences


def test_bundles_the_libraries_that_it_names(names: set[PurePosixPath]) -> None:
    libraries = {path.parts[2] for path in names if path.parts[0] == "bundled"}
    requirements = (ROOT / "server" / "requirements.txt").read_text().splitlines()
    pins = {
        line.split()[0].replace("==", "-").replace("-extensions", "_extensions")
        for line in requirements
        if "==" in line
    }
    assert libraries == LIBRARIES | {"typing_extensions.py"} | {f"{pin}.dist-info" for pin in pins}


def test_is_universal_and_small(packed: zipfile.ZipFile, names: set[PurePosixPath]) -> None:
    assert VSIX.stat().st_size < 5_000_000
    kinds = {path.suffix for path in names}
    assert not kinds & {".so", ".pyd", ".dll", ".dylib", ".node", ".exe", ".map", ".ts", ".pyc"}
    assert b"TargetPlatform" not in packed.read("extension.vsixmanifest")
    wheels = [path for path in names if path.name == "WHEEL"]
    assert wheels
    assert all(b"Root-Is-Purelib: true" in packed.read(f"extension/{path}") for path in wheels)


def test_the_page_has_pictures_of_one_theme(packed: zipfile.ZipFile) -> None:
    page = packed.read("extension/readme.md").decode()
    assert '<img src="' in page
    assert "<source" not in page, "a marketplace would not find it"


def test_has_the_version_of_the_server(packed: zipfile.ZipFile) -> None:
    assert json.loads(packed.read("extension/package.json"))["version"] == fullgraph_server.__version__


def test_server_starts_in_a_hostile_folder(installed: Path, tmp_path: Path) -> None:
    for module in ("logging", "attrs", "pygls", "fullgraph_server", "sitecustomize"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('the wrong module')\n")
    answers = _talk(
        installed,
        tmp_path,
        [
            {
                "id": 1,
                "method": "initialize",
                "params": {"processId": None, "rootUri": None, "capabilities": {}},
            },
            {"method": "initialized", "params": {}},
            {"id": 2, "method": "shutdown"},
            {"method": "exit"},
        ],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": ""},
    )
    [answer] = [answer for answer in answers if answer.get("id") == 1]
    assert answer["result"]["serverInfo"] == {"name": "fullgraph", "version": fullgraph_server.__version__}


def _talk(
    installed: Path, cwd: Path, messages: list[dict[str, object]], env: dict[str, str]
) -> list[dict[str, object]]:
    """What the server says to some messages, until it ends."""
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    done = subprocess.run(
        [sys.executable, "-I", "-S", installed / "server" / "start.py"],
        input=b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies),
        capture_output=True,
        cwd=cwd,
        env=env,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    answers, rest = [], done.stdout
    while rest:
        header, _, rest = rest.partition(b"\r\n\r\n")
        length = int(header.partition(b"Content-Length: ")[2].split()[0])
        answers.append(json.loads(rest[:length]))
        rest = rest[length:]
    return answers


def test_old_python_is_told_in_one_sentence(installed: Path) -> None:
    start = installed / "server" / "start.py"
    # Old Pythons are not at hand everywhere: this one says that it is one, and the syntax is checked apart.
    ast.parse(start.read_text(), feature_version=(3, 7))
    program = f"import runpy, sys; sys.version_info = (3, 9, 18); runpy.run_path({str(start)!r})"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        f"Fullgraph's server needs Python 3.10 or newer, but {sys.executable} is Python 3.9: "
        "select another interpreter.\n"
    )
