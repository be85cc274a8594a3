"""Programs with one planted cause each: that is what `fullgraph speed` names first, with its line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CLI = "from fullgraph_server.cli import main; main()"
CASES = Path(__file__).parents[2] / "cases"
_SLOWEST = re.compile(r"# slowest: (\w+)")


def cases(folder: str) -> list[Path]:
    """Return the programs of a folder."""
    return sorted((CASES / folder).glob("*.py"))


ANYWHERE = [path for path in cases("speed") if "sys.argv" in path.read_text("utf-8")]
"""Programs that take the name of a device."""


@pytest.mark.slow
@pytest.mark.xdist_group("speed")
@pytest.mark.parametrize("program", cases("speed"), ids=lambda path: path.stem)
def test_cause_is_named_first(program: Path) -> None:
    """On a CPU."""
    check(program)


@pytest.mark.gpu
@pytest.mark.parametrize("program", [*cases("speed_gpu"), *ANYWHERE], ids=lambda path: path.stem)
def test_cause_is_named_first_on_a_gpu(program: Path) -> None:
    """On a GPU."""
    check(program, "cuda")


def check(program: Path, *arguments: str) -> None:
    """Measure a program, and compare what is named first with what is planted."""
    planted = {
        (found[1], row)
        for row, line in enumerate(program.read_text("utf-8").splitlines(), 1)
        if (found := _SLOWEST.search(line))
    }
    told = measured(program, *arguments)
    held = [row for row, line in enumerate(program.read_text("utf-8").splitlines(), 1) if "# held" in line]
    assert [item["line"] for item in (told["memory"] or {"held": []})["held"][:1] if held] == held
    parts = sum(part["seconds"] for part in told["parts"])
    assert parts == pytest.approx(told["compiled"], rel=0.05)
    first = told["first"]
    if not planted:
        assert held  # it is a case of memory alone
    elif {kind for kind, _ in planted} == {"nothing"}:
        assert first is None, told["verdict"]
    else:
        assert first is not None, told["verdict"]
        assert (first["kind"], first["line"]) in planted, told["verdict"]


def measured(program: Path, *arguments: str) -> Any:
    """Return what ``fullgraph speed`` tells of a program with these arguments."""
    command = [sys.executable, "-c", CLI, "speed", str(program), "--format", "json", "--", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert run.stdout, run.stderr
    return json.loads(run.stdout)
