"""The registry of analyses, and what is written of it for VS Code and the README."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from fullgraph_server.analyses.analysis import Analysis
from fullgraph_server.analyses.registry import analyses

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ["package.json", "package.nls.json", "README.md"])
def test_what_is_written_of_the_analyses_is_up_to_date(name: str) -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "analyses.py"))["written"]()
    assert (ROOT / name).read_text(encoding="utf-8") == written[ROOT / name], (
        "run `python scripts/analyses.py`"
    )


@pytest.mark.parametrize("analysis", analyses().values(), ids=lambda analysis: analysis.id)
def test_an_analysis_has_the_name_of_its_module(analysis: Analysis) -> None:
    module = analysis.id.replace("-", "_")
    assert (ROOT / "server" / "fullgraph_server" / "analyses" / f"{module}.py").exists()
    assert "{target}" in analysis.doing
