"""What a program prints because ``torch.compile`` wraps its modules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("the stages of a program are forked, on Linux only", allow_module_level=True)

from fullgraph_compiler.analyses.stages import run_stages
from fullgraph_compiler.diagnose.wrappers import knows_wrapper, printed_otherwise
from fullgraph_compiler.facts import Fact, FaultLocated, RunRequest, Script, SourceText
from fullgraph_compiler.processes.children import run_child

CASES = Path(__file__).parents[2] / "cases" / "failures"


@pytest.mark.parametrize(
    ("itself", "wrapped", "words"),
    [
        (["2 known"], ["0 known"], "it prints `0 known`, but `2 known` without the wrapper"),
        (["a"], ["a", "no w"], "it prints `no w`, but not without the wrapper"),
        (["a", "b"], ["a"], "it does not print `b`, but does without the wrapper"),
        (["a"], ["a"], ""),
        (["Linear(2, 2)"], ["OptimizedModule(", "  (_orig_mod): Linear(2, 2)", ")"], ""),
        (["weight"], ["_orig_mod.weight"], ""),
    ],
)
def test_what_is_printed_otherwise(itself: list[str], wrapped: list[str], words: str) -> None:
    assert printed_otherwise(itself, wrapped, wrapped) == words


def test_what_differs_in_all_runs_is_not_of_the_wrapper() -> None:
    assert printed_otherwise(["took 1 s"], ["took 2 s"], ["took 3 s"]) == ""


def test_a_program_that_knows_the_wrapper(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("model = getattr(model, '_orig_mod', model)\n", "utf-8")
    request = RunRequest(1, Script(str(script)), "stages")
    edited = RunRequest(1, Script(str(script)), "stages", (SourceText(str(script), "model = model\n"),))
    assert knows_wrapper(request, [str(script)])
    assert not knows_wrapper(edited, [str(script)])


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("case", "kind", "row"), [("wrapped_class.py", "error", 22), ("wrapped_names.py", "accuracy", 10)]
)
def test_the_stages_blame_the_wrapper(case: str, kind: str, row: int) -> None:
    facts: list[Fact] = []

    def work() -> list[Fact]:
        run_stages(RunRequest(1, Script(str(CASES / case)), "stages"), facts.extend, lambda: None)
        return facts

    found = run_child(work, 280).answer
    (fault,) = (fact for fact in found if isinstance(fact, FaultLocated))
    assert fault.cause is not None
    assert (fault.cause.kind, fault.stage, fault.passes) == ("wrapped", "uncompiled", "unwrapped")
    assert (fault.failure.kind, fault.stack[-1].row) == (kind, row)
