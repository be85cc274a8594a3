"""What ``fullgraph fix --unsafe`` leaves of the findings of programs as users write them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parents[2] / "cases" / "fixes"
CLI = "from fullgraph_server.cli import main; main()"
LEFT = {
    "actor_critic": (0, 0),
    "beam_search": (0, 1),
    "gan": (0, 1),
    "language_model": (1, 1),
    "neural_ode": (0, 1),
    "recommender": (0, 7),
    "trainer": (0, 2),
}
"""The most graph breaks and recompilations that may be left."""
FEW = {"trainer"}
"""The programs that run each time; the others are slow."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FEW else pytest.mark.slow) for name in LEFT]
)
def test_what_is_left(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.py"
    path.write_text((CASES / path.name).read_text())
    words = [sys.executable, "-c", CLI, "fix", path.name, "--unsafe", "--format", "json"]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=590, check=False)
    told = json.loads(run.stdout)
    assert (told["after"]["breaks"], told["after"]["recompiles"]) <= LEFT[name], told["left"]
    assert told["before"]["breaks"] > 0


def test_every_program_has_an_expectation() -> None:
    assert {path.stem for path in CASES.glob("*.py")} == LEFT.keys()
