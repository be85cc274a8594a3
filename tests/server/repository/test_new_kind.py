"""A new kind of findings takes a row, the code that makes it, and its page (CONTRIBUTING.md)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("new_kind")

ROOT = Path(__file__).parents[3]
COPIED = (
    "compiler/fullgraph_compiler",
    "server/fullgraph_server",
    "docs/findings.md",
    "scripts/protocol_types.py",
    "extension/src/protocol.ts",
    "tests/server/repository/test_docs.py",
)
KINDS = "server/fullgraph_server/kinds.py"
ROW = '"wide-graph": Kind("wide graph", "wide graphs", "a graph is wide", is_about_speed=True),'
FOLD = """
import io
import json
from pathlib import Path
from fullgraph_compiler.facts import GraphCaptured, RunFinished, StackFrame
from fullgraph_server.analyses.registry import analyses
from fullgraph_server.cli.formats import FORMATS, CheckedReport
from fullgraph_server.cli.formats.analysed import formats_of
from fullgraph_server.report.fold import fold
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace

name, workspace = str(Path("a.py").resolve()), Workspace(Path.cwd())
stack = (StackFrame(name, 1, "f", 1, 1, 2),)
facts = (GraphCaptured("0/0", (), "", stack), RunFinished("finished", 0.5, 0))
checked = CheckedReport(script_target(name, Path.cwd()), fold(name, 1, "", facts, workspace, name), workspace)
outs = {"json": io.StringIO(), "text": io.StringIO(), "times": io.StringIO()}
formats = {**FORMATS, "times": formats_of(analyses()["times"])["text"]}
for name, out in outs.items():
    formats[name](iter([checked]), 1, out)
print(json.dumps({name: out.getvalue() for name, out in outs.items()}))
"""
"""Print what commands write about a run with a graph."""
CHECK_PAGE = "import test_docs; test_docs.test_every_kind_of_finding_is_described()"
EXPLAIN = ("-c", "from fullgraph_server.cli import main; main()", "explain", "wide-graph")


def add(path: Path, before: str, text: str) -> None:
    """Write a text ahead of another one that the file has once."""
    old = path.read_text(encoding="utf-8")
    assert old.count(before) == 1
    path.write_text(old.replace(before, text + before), encoding="utf-8")


@pytest.fixture(scope="module")
def without_row(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what a contributor changes; add a kind, the code that makes it, and its page."""
    copy = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("page"))
        else:
            shutil.copy(ROOT / name, copy / name)
    (copy / "a.py").write_text("pass\n")
    add(copy / KINDS, '    "cudagraph-skip",\n', '    "wide-graph",\n')
    add(
        copy / "server/fullgraph_server/report/speed.py",
        "        elif isinstance(fact, CudagraphSkip):\n",
        "        elif isinstance(fact, GraphCaptured):\n"
        '            yield places.finding("wide-graph", "warning", "wide", fact.calls, fact.compile_id)\n',
    )
    page = copy / "docs/findings.md"
    add(page, "| `cudagraph-skip` |", "| `wide-graph` | `wide-graph` | warning | a graph is wide |\n")
    add(page, "### `cudagraph-skip`\n", "### `wide-graph`\n\nWide.\n\n")
    return copy


@pytest.fixture(scope="module")
def changed(without_row: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Add the row, and write it for the client."""
    copy = tmp_path_factory.mktemp("changed") / "copy"
    shutil.copytree(without_row, copy)
    add(copy / KINDS, '    "cudagraph-skip": Kind(\n', f"    {ROW}\n")
    run(copy, "scripts/protocol_types.py")
    return copy


def run(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the packages of a copy."""
    paths = os.pathsep.join(str(copy / part) for part in ("server", "compiler", "tests/server/repository"))
    return subprocess.run(
        [sys.executable, *words],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_a_new_kind_is_explained(changed: Path) -> None:
    got = run(changed, *EXPLAIN)
    assert got.stdout.startswith("wide-graph\n  A graph is wide.\n"), got.stderr


def test_a_new_kind_is_in_json_and_text(changed: Path) -> None:
    got = json.loads(run(changed, "-c", FOLD).stdout)
    assert "wide-graph" in [finding["kind"] for finding in json.loads(got["json"])["findings"]]
    assert "1 wide graph" in got["text"]
    assert "warning wide-graph wide" in got["times"]


def test_pages_and_client_know_a_new_kind(changed: Path) -> None:
    assert run(changed, "-c", CHECK_PAGE).returncode == 0
    written = (changed / "extension/src/protocol.ts").read_text(encoding="utf-8")
    assert '"wide-graph": {"one": "wide graph", "many": "wide graphs"' in written


def test_a_kind_needs_its_row(without_row: Path) -> None:
    assert "KeyError: 'wide-graph'" in run(without_row, "-c", FOLD).stderr
    assert "AssertionError" in run(without_row, "-c", CHECK_PAGE).stderr
