"""All views tell torch's numbers: text, JSON, SARIF, diagnostics, lens, hover, tree, page."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
import torch
from forked import observe
from fullgraph_compiler.facts import Script
from fullgraph_server.cli.formats import json as json_format
from fullgraph_server.cli.formats import sarif
from fullgraph_server.cli.formats.checked import CheckedReport
from fullgraph_server.report.fold import fold
from fullgraph_server.workspace.targets import Target
from fullgraph_server.workspace.workspace import Workspace
from lsp_session import CONFIG, Editor

pytestmark = pytest.mark.asyncio(loop_scope="module")

CALLS = """
for number in range(12):
    scale(torch.ones(3), "a" * number)
"""
BREAK = """\
import torch

def helper(x):
    print("hello")
    return x + 1

@torch.compile
def first(x):
    return helper(x) * 2

"""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and what torch itself says of it (``TORCH_LOGS=recompiles,graph_breaks``)."""

    text: str
    recompilations: int = 0
    limits: int = 0
    breaks: int = 0
    errors: int = 0


def scaling(decorator: str, before: str = "") -> str:
    function = "def scale(x, name):\n    return x * len(name)\n"
    return f"import torch\n{before}\n{decorator}\n{function}{CALLS}"


PROGRAMS = {
    "causes": Program(
        """\
import torch

@torch.compile
def f(x, flag, mode):
    if flag:
        x = x + 1
    return x * len(mode)

@torch.compile
def g(x):
    return x.sin()

for size, flag, mode in [(4, True, "a"), (4, False, "a"), (4, True, "bb"), (4, False, "bb"), (2, False, "a")]:
    f(torch.ones(size, 4), flag, mode)
f(torch.ones(2, 4).double(), True, "a")
g(torch.ones(3))
g(torch.ones(3, 3))
""",
        recompilations=6,
    ),
    "limit": Program(scaling("@torch.compile"), recompilations=7, limits=1),
    "limit_of_fullgraph": Program(
        scaling("@torch.compile(fullgraph=True)"), recompilations=7, limits=1, errors=1
    ),
    "limit_may_not_break": Program(
        scaling("@torch.compile").replace(CALLS, "")
        + "\nwith torch._dynamo.error_on_graph_break(True):\n"
        + "\n".join(f"    {line}" for line in CALLS.strip().splitlines())
        + "\n",
        recompilations=7,
        limits=1,
        errors=1,
    ),
    "breaks": Program(f"{BREAK}first(torch.ones(3))\nfirst(torch.ones(4))\n", recompilations=3, breaks=1),
    "stops": Program(
        f"{BREAK}@torch.compile(fullgraph=True)\ndef second(x):\n    return helper(x) * 3\n\n"
        "first(torch.ones(3))\nsecond(torch.ones(3))\n",
        breaks=1,
        errors=1,
    ),
    "several_breaks": Program(
        """\
import torch

@torch.compile
def f(x):
    print("one")
    x = x + 1
    if x.sum() > 0:
        x = x * 2
    print("two")
    return x.sin()

f(torch.ones(3))
""",
        breaks=3,
    ),
    "sizes": Program(
        """\
import torch

@torch.compile
def f(x):
    return x.sin() + 1

for size in (3, 4, 5):
    f(torch.ones(size))
""",
        recompilations=1,
    ),
    "module": Program(
        """\
import torch

class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.times = 1

    def forward(self, x):
        return self.linear(x) * self.times

model = Scale()
compiled = torch.compile(model)
for times in (1, 2):
    model.times = times
    compiled(torch.ones(2, 4))
""",
        recompilations=1,
    ),
    "clean": Program(
        """\
import torch

@torch.compile
def f(x):
    return x.sin()

@torch.compile
def g(x):
    return x.cos()

f(torch.ones(3))
g(torch.ones(3))
""",
    ),
}
FINE = tuple(name for name, program in PROGRAMS.items() if not program.errors)
"""The programs that end with 0, which one command runs."""
FAILING = [(name, "clean") for name, program in PROGRAMS.items() if program.errors]
_LOGGED = re.compile(r"\[__recompiles\] Recompiling function ")
_SUMMED_UP = {
    "recompilations": re.compile(r"(\d+) recompilation"),
    "limits": re.compile(r"(\d+) recompile limit"),
    "breaks": re.compile(r"(\d+) graph break"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counts")
    for name, program in PROGRAMS.items():
        (folder / f"{name}.py").write_text(program.text)
    return folder


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, folder: Path) -> AsyncIterator[None]:
    lsp_client.set_configuration({"fullgraph": {"activeInterpreter": sys.executable}})
    await lsp_client.open_folder(folder)
    yield
    await lsp_client.shutdown_session()


def total(findings: Iterable[dict[str, Any]], kind: str) -> int:
    return sum(finding["count"] for finding in findings if finding["kind"] == kind)


def number(text: str, what: str) -> int:
    found = _SUMMED_UP[what].search(text.replace("no recompilations", "").replace("no graph breaks", ""))
    return int(found[1]) if found else 0


def again(words: str) -> int:
    return _before("recompilation", words)


def broken(words: str) -> int:
    return _before("graph breaks?", words)


def graphs(words: str) -> int:
    return _before(r"graphs?\b(?! break)", words)


def _before(noun: str, words: str) -> int:
    """The number that stands before a noun (a pattern), in a lens or a hover."""
    found = re.search(rf"(\d+) {noun}", words)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("name", PROGRAMS)
async def test_formats_tell_what_torch_counts(folder: Path, name: str, tmp_path: Path) -> None:
    program, log = PROGRAMS[name], tmp_path / "log"
    script = Script(str(folder / f"{name}.py"))
    facts = observe(script, folder, (), log)
    # Torch logs why it would compile again before it asks for the limit.
    assert len(_LOGGED.findall(log.read_text())) - program.limits == program.recompilations
    workspace = Workspace(folder)
    report = fold(f"{name}.py", 1, torch.__version__, facts, workspace)
    checked = CheckedReport(Target(name, name, "script", script.filename, script, folder), report, workspace)
    told = json_format.report_object(checked)
    findings, kinds = told["findings"], [finding["kind"] for finding in told["findings"]]
    assert total(findings, "recompile") == program.recompilations
    assert sum(frame["recompiles"] for frame in told["frames"]) == program.recompilations
    assert sum(bool(item["reason"]) for item in told["compilations"]) == program.recompilations
    assert (kinds.count("recompile-limit"), kinds.count("graph-break")) == (program.limits, program.breaks)
    assert sum(finding["severity"] == "error" for finding in findings) == program.errors
    results = sarif.log([checked])["runs"][0]["results"]
    again = [item["occurrenceCount"] for item in results if item["ruleId"] == "recompile"]
    assert sum(again) == program.recompilations


@pytest.mark.parametrize(
    "names", [FINE, *(pytest.param(names, marks=pytest.mark.slow) for names in FAILING)], ids=" ".join
)
async def test_the_summary_and_the_exit_code_tell_the_same(folder: Path, names: Sequence[str]) -> None:
    code = "from fullgraph_server.cli import main; main()"
    files = [f"{name}.py" for name in names]
    command = [sys.executable, "-c", code, "check", "--python", sys.executable, *files]
    ended = await asyncio.to_thread(subprocess.run, command, cwd=folder, capture_output=True, text=True)
    for name in names:
        (summary,) = (line for line in ended.stdout.splitlines() if line.startswith(f"{name}.py: "))
        assert {what: number(summary, what) for what in _SUMMED_UP} == {
            what: getattr(PROGRAMS[name], what) for what in _SUMMED_UP
        }
    assert ended.returncode == (0 if names == FINE else 1)


@pytest.mark.parametrize("name", PROGRAMS)
async def test_the_editor_tells_the_same_everywhere(editor: Editor, folder: Path, name: str) -> None:
    program, file = PROGRAMS[name], folder / f"{name}.py"
    target, uri = str(file), editor.open(file)
    await editor.command("fullgraph.run", target)
    report, page = await asyncio.gather(
        editor.ask("fullgraph/report", target=target), editor.ask("fullgraph/performance", target=target)
    )
    findings, frames = report["findings"], report["frames"]
    # The tree: its first line is made of the findings (words.ts), those of the functions of the frames.
    assert total(findings, "recompile") == program.recompilations
    assert sum(frame["recompiles"] for frame in frames) == program.recompilations
    kinds = [finding["kind"] for finding in findings]
    assert (kinds.count("recompile-limit"), kinds.count("graph-break")) == (program.limits, program.breaks)
    assert sum(item["reason"] != "" for item in page["compilations"]) == program.recompilations
    lenses = [title for _, title, command in await editor.lenses(uri) if command == "fullgraph.showTarget"]
    assert sum(map(again, lenses)) == program.recompilations
    breaks = sum(frame["breaks"] for frame in frames)
    captured = sum(len(frame["graphs"]) for frame in frames)
    # A break counts once, and for each function whose compilations it ended.
    assert breaks == sum(kinds[index] == "graph-break" for frame in frames for index in frame["findings"])
    assert (breaks > 0) == (program.breaks > 0)
    assert (sum(map(broken, lenses)), sum(map(graphs, lenses))) == (breaks, captured)
    hovers = [await editor.hover(uri, frame["location"]["range"]["start"]["line"], 0) for frame in frames]
    words = [hover.contents.value for hover in hovers if hover]
    assert sum(map(again, words)) == program.recompilations
    assert (sum(map(broken, words)), sum(map(graphs, words))) == (breaks, captured)
    shown = editor.shown(uri)
    diagnostics = shown.diagnostics if shown else []
    told = [item.data for item in diagnostics if item.code == "recompile"]
    assert sum(data["count"] for data in told) == program.recompilations
    assert sum(item.data["kind"] == "graph-break" for item in diagnostics) == program.breaks
    assert sum(item.data["kind"] == "recompile-limit" for item in diagnostics) == program.limits
    assert sum(item.severity == 1 for item in diagnostics) == program.errors
