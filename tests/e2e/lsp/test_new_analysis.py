"""A new analysis is two files of code, as CONTRIBUTING.md says: it is everywhere once these are written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lsp_session import STEP, Editor

ROOT = Path(__file__).parents[3]
COPIED = ("server", "compiler", "scripts", "package.json", "package.nls.json", "README.md")

SERVER_HALF = '''\
"""Census: how many functions a program compiles."""

from __future__ import annotations

from ..shapes.report import REPORT
from ..shapes.shape import JsonKey
from .analysis import Analysis, EditorAnalysis, CommandLineAnalysis
from .shown import line


def _verdict(report):
    return f"{len(report.frames)} functions are compiled"


ANALYSIS = Analysis(
    id="census",
    label="census of functions",
    doing="counting the functions of {target}",
    effort="program",
    verdict=_verdict,
    lines=lambda shown: iter([line(_verdict(shown.report), "bold")]),
    shape=lambda _: REPORT.with_keys(
        JsonKey("functions", value=lambda report, _: len(report.frames), type=int)
    ),
    in_editor=EditorAnalysis(
        command="fullgraph.census",
        client="countFunctions",
        title="Count Compiled Functions",
        question="How many functions of the program are compiled",
        group="graph breaks, guards, recompilations",
        announced=True,
    ),
    on_command_line=CommandLineAnalysis(
        name="census", answer="How many functions are compiled?", help="Count the functions of TARGET."
    ),
)
'''
COMPILER_HALF = '''\
"""Census: the program as in an ordinary run."""

from __future__ import annotations

from dataclasses import replace

from ..capture.run import run
from .entry import WorkerEntry

ENTRY = WorkerEntry(run=lambda request, sink, speak: run(replace(request, depth="graph"), sink), forks=False)
'''


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with a new analysis."""
    copy = tmp_path_factory.mktemp("house")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    (copy / "extension" / "src").mkdir(parents=True)
    (copy / "server" / "fullgraph_server" / "analyses" / "census.py").write_text(SERVER_HALF)
    (copy / "compiler" / "fullgraph_compiler" / "analyses" / "census.py").write_text(COMPILER_HALF)
    for script in ("analyses", "protocol_types"):
        _python(copy, str(copy / "scripts" / f"{script}.py"))
    return copy


def _environment(house: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(house / "compiler"), str(house / "server")])}


def _python(house: Path, *words: str) -> str:
    ran = subprocess.run(
        [sys.executable, *words], env=_environment(house), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _fullgraph(house: Path, *words: str) -> str:
    return _python(house, "-c", "from fullgraph_server.cli import main; main()", *words)


def test_it_is_written_for_vscode_and_the_readme(house: Path) -> None:
    contributed = json.loads((house / "package.json").read_text())["contributes"]
    assert "fullgraph.countFunctions" in [entry["command"] for entry in contributed["commands"]]
    texts = json.loads((house / "package.nls.json").read_text())
    assert texts["command.countFunctions"] == "Count Compiled Functions"
    # "Analyze…" and the client's commands are made of this list (commands.ts, analyses.ts).
    assert '"client": "fullgraph.countFunctions"' in (house / "extension" / "src" / "protocol.ts").read_text()
    assert "| `fullgraph census train.py` | Count Compiled Functions |" in (house / "README.md").read_text()


def test_the_command_line_has_it(house: Path, tmp_path: Path) -> None:
    assert "census      Count the functions of TARGET." in _fullgraph(house, "--help")
    program = tmp_path / "step.py"
    program.write_text(STEP)
    assert _fullgraph(house, "census", str(program)) == "1 functions are compiled\n"
    assert json.loads(_fullgraph(house, "census", "--format", "json", str(program)))["functions"] == 1


async def test_an_editor_has_it_as_a_command_and_a_layer(house: Path, tmp_path: Path) -> None:
    editor = Editor()
    main = "from fullgraph_server.server import main; main()"
    await editor.start_io(sys.executable, "-c", main, env=_environment(house))
    await editor.open_program(tmp_path / "step.py", STEP)
    target = f"{editor.file}::step"
    await editor.command("fullgraph.run", target)
    summary = await editor.command("fullgraph.census", target)
    assert (summary["status"], summary["layer"]) == ("finished", "census")
    layers = await editor.ask("fullgraph/layers", target=target)
    assert [(layer["label"], layer["verdict"]) for layer in layers] == [
        ("Census of functions", "1 functions are compiled")
    ]
    assert "1 functions are compiled" in [message.message for message in editor.messages]
    await editor.shutdown_session()
    await editor.stop()
