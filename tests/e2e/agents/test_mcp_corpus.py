"""An agent at programs of the corpus, as docs/agents.md says: from a finding to a proven edit."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from mcp_client import answer, connected

CASES = Path(__file__).parents[2] / "cases"
PROGRAMS = (
    "graph_breaks/gb0005_str",
    "graph_breaks/gb0008_skipped_library_function",
    "graph_breaks/gb0013_removable_handle",
    "graph_breaks/gb0025_with",
    "graph_breaks/gb0033_torch_equal",
    "graph_breaks/gb0036_count",
    "graph_breaks/gb0036_repeat_interleave",
    "graph_breaks/gb0099_disabled_method",
    "graph_breaks/gb0105_numpy_off",
    "graph_breaks/gb0116_typing",
    "graph_breaks/gb0124_item_in_loop",
    "graph_breaks/gb0144_jvp",
    "graph_breaks/gb0170_branch",
    "graph_breaks/gb0181_gradient_dtype",
    "graph_breaks/gb0206_set_requires_grad",
    "graph_breaks/gb0221_contextmanager",
    "graph_breaks/gb0226_parameter_empty",
    "graph_breaks/gb0262_redirect_stdout",
    "graph_breaks/gb0290_ufunc_method",
    "recompiles/size",
)


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_from_finding_to_proven_edit(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    async with connected(tmp_path) as client:
        for program in PROGRAMS:
            target, text = _copied(program, tmp_path)
            checked = await answer(client, "check_target", target=target)
            finding = next(item["finding"] for item in checked["findings"] if item["fixable"])
            explained = await answer(client, "explain_finding", target=target, finding=finding)
            assert explained["message"], program
            fixes = await answer(client, "list_fixes", target=target, finding=finding)
            (fixed,) = fixes["fixes"]
            assert fixed["verified"], (program, fixed["verdict"])
            tried = await answer(client, "try_edit", target=target, diff=fixed["diff"], finding=finding)
            assert tried["verified"], (program, tried["verdict"])
            _apply(fixed["diff"], tmp_path / target, text)
            compared = await answer(client, "compare_runs", before=target)
            assert not compared["worse"], program
            assert finding in [item["finding"] for item in compared["gone"]], program


def _copied(program: str, folder: Path) -> tuple[str, str]:
    """Copy a program into a folder; return its name and text."""
    path = Path(shutil.copy((CASES / program).with_suffix(".py"), folder))
    return path.name, path.read_text()


def _apply(diff: str, path: Path, text: str) -> None:
    """Apply a diff to a file that nobody has written to."""
    assert path.read_text() == text
    subprocess.run(["git", "apply", "-"], cwd=path.parent, input=diff, text=True, check=True)
