"""Each benchmark runs on its smallest input, and prints what it is to be compared with. No time counts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="they look at processes under /proc")

FOLDER = Path(__file__).parents[3] / "benchmarks"
MARKS = {"library_fixes": [pytest.mark.slow, pytest.mark.timeout(900)], "preview": [pytest.mark.preview]}
TARGET = r"\d.*\btarget\b.*\d"
PRINTED = {"library_fixes": r"[1-9]\d* of \d+ breaks removed", "preview": r"\b[1-9]\d* kernels previewed"}
"""What those print that have no target."""


def benchmarks() -> list[object]:
    """Every file of the folder: a new one is run without an edit here."""
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    return [pytest.param(name, marks=MARKS.get(name, ())) for name in names]


@pytest.mark.parametrize("name", benchmarks())
def test_a_benchmark_runs_on_a_small_input(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--small"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(PRINTED.get(name, TARGET), ended.stdout), ended.stdout
    assert not re.search(r"\b(nan|inf)\b", ended.stdout), ended.stdout


def test_every_benchmark_with_a_mark_exists() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} >= {*MARKS, *PRINTED}
