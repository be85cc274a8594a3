"""``fullgraph recompiles --try-dynamic`` tells the numbers that torch has with ``dynamic=True`` itself.

Each program calls with new values only: torch, which keeps compilations, then recompiles as often as a run
that keeps one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fullgraph_compiler.facts import Script
from truth import truth

CLI = "from fullgraph_server.cli import main; main()"
PROGRAMS = {
    "sizes": """
def f(x):
    return (x * 2).sum()

CALLS = [(torch.ones(size, 4),) for size in (3, 5, 7, 9)]
""",
    "two_sizes": """
def f(x, y):
    return x.sum() + y.sum()

CALLS = [(torch.ones(3), torch.ones(7)), (torch.ones(5), torch.ones(7)), (torch.ones(6), torch.ones(9))]
""",
    "sizes_and_modes": """
def f(x, mode):
    return x + len(mode)

CALLS = [(torch.ones(size), "m" * size) for size in (3, 5, 7)]
""",
    "loop": """
def f(x):
    for row in range(x.shape[0]):
        x = x + row
    return x

CALLS = [(torch.ones(size),) for size in (3, 5, 7)]
""",
    "number": """
def f(x, factor):
    return x * factor

CALLS = [(torch.ones(3), factor) for factor in (3, 5, 7, 9)]
""",
}
COMPILED = """import torch
{program}
compiled = torch.compile(f, backend="aot_eager"{dynamic})
for call in CALLS:
    compiled(*call)
"""


def torchs_own(path: Path) -> int:
    return truth(Script(str(path)), path.parent, path.with_suffix(".log")).recompiles.total()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("sizes_and_modes", "number") else pytest.mark.slow)
        for name in PROGRAMS
    ],
)
def test_the_numbers_are_torchs_own(name: str, tmp_path: Path) -> None:
    path, dynamic = tmp_path / "program.py", tmp_path / "dynamic.py"
    path.write_text(COMPILED.format(program=PROGRAMS[name], dynamic=""))
    dynamic.write_text(COMPILED.format(program=PROGRAMS[name], dynamic=", dynamic=True"))
    words = ["recompiles", "--try-dynamic", "--format", "json", "--python", sys.executable, path.name]
    command = [sys.executable, "-c", CLI, *words]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    told = json.loads(ended.stdout)["with_dynamic"]
    before, after = torchs_own(path), torchs_own(dynamic)
    assert before > 0
    assert (told["status"], told["instead_of"], told["recompilations"]) == ("finished", before, after)
