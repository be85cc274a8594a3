"""Plans for the programs under ``tests/cases`` that are compiled again for other sizes, and what sizes show.

With the plan a program is compiled once, or it says itself that no marks do that, and results at sizes that
it has not seen are equal. Where a graph dropped a condition on purpose, a size tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from fullgraph_compiler.facts import AddedSizes
from fullgraph_server.fixes.experiments import ExperimentState
from fullgraph_server.fixes.prover import EditProver
from fullgraph_server.fixes.sizes import SizePlan, find_sizes, times_compiled
from proving import Proving
from test_recompile_cases import Case

CASES = Path(__file__).parents[2] / "cases"
OF_SIZES = re.compile(r"^# cause: .*\bsize of ", re.MULTILINE)
PROGRAMS = [
    *sorted((CASES / "sizes").glob("*.py")),
    *(path for path in sorted((CASES / "recompiles").glob("*.py")) if OF_SIZES.search(path.read_text())),
]
DROPPED = sorted((CASES / "sizes_dropped").glob("*.py"))
FEW = ("size_one", "filtered_branch", "gradient_of_first_size")
"""The programs that run each time."""


def few(paths: list[Path]) -> list[object]:
    return [
        pytest.param(path, marks=() if path.stem in FEW else pytest.mark.corpus, id=path.stem)
        for path in paths
    ]


@pytest.mark.parametrize("path", few(PROGRAMS))
def test_it_is_compiled_once_and_right_at_sizes_that_it_has_not_seen(
    path: Path, proving: Proving, record_property: Callable[[str, object], None]
) -> None:
    found = planned(proving, path)
    tried = found.last.sizes
    assert found.nondeterminism == ""
    assert {item.outcome for item in tried} <= {"equal", "compiles-again", "refused"}, tried
    record_property("ratio: programs that a plan compiles once", (compiled_once(found.last), 1))
    if not compiled_once(found.last):
        assert path.parent.name == "recompiles"
        case = Case.read(path.read_text(), torch.__version__)
        assert case.fixed is None or is_another_text(path, case), found.reasons
        assert found.left
    elif path.parent.name == "sizes":
        assert [item for item in tried if item.outcome == "equal"]


@pytest.mark.slow
def test_sizes_that_are_added_are_compiled_once_too(proving: Proving) -> None:
    path = CASES / "recompiles" / "growing_cache.py"
    found = planned(proving, path, AddedSizes("keys", 1, (1, 9)))
    assert [fix.rule for fix in found.fixes] == ["mark-unbacked"]
    assert compiled_once(found.last)
    assert [(item.size, item.outcome) for item in found.last.sizes if item.asked] == [
        (1, "equal"),
        (9, "equal"),
    ]


@pytest.mark.parametrize("path", few(DROPPED))
def test_a_condition_that_was_dropped_is_caught(path: Path, proving: Proving) -> None:
    async def run(prover: EditProver) -> ExperimentState:
        prover.added = ()
        return await prover.as_it_is()

    state = proving.run(path, run)
    assert state.report.status == "finished"
    assert [item for item in state.sizes if item.outcome == "differs"], state.sizes


def test_there_are_as_many_as_promised() -> None:
    assert len(list((CASES / "sizes").glob("*.py"))) >= 20
    assert len(DROPPED) >= 20


def planned(proving: Proving, path: Path, *added: AddedSizes) -> SizePlan:
    return proving.run(path, lambda prover: find_sizes(prover, added))


def compiled_once(state: ExperimentState) -> bool:
    return max(times_compiled(frame)[0] for frame in state.report.frames) == 1


def is_another_text(path: Path, case: Case) -> bool:
    """Tell whether the program is written otherwise than with marks, or ``dynamic=True``."""
    marks = ("mark_", "dynamic=True", "torch._dynamo.config")
    lines = set((case.fixed or "").splitlines()) - set(path.read_text().splitlines())
    return any(not any(mark in line for mark in marks) for line in lines)
