"""Every program of ``tests/cases/preview``: its kernels are written for a GPU that is not there, down to PTX.

``benchmarks/preview.py`` compares them with those of a device.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from forked import observe
from fullgraph_compiler.compat.inductor_compat import import_inductor
from fullgraph_compiler.facts import (
    CodeGenerated,
    CompileFailure,
    Fact,
    KernelCompiled,
    ProgramRaised,
    RunFinished,
    Script,
    Switches,
    TargetProblem,
)
from preview_cases import Case, cases

CASES = cases()
pytestmark = pytest.mark.preview


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Read all of torch and Triton once, as each child would do to name its kernels by their versions."""
    from triton.runtime.cache import triton_key

    import_inductor()
    torch._inductor.codecache.torch_key()
    triton_key()


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] if number % 12 else [])
        for number, case in enumerate(CASES)
    ],
)
def test_each_kernel_is_compiled(
    case: Case,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    facts = observe(Script(str(case.path)), tmp_path, depth="kernels", switches=Switches(device="h100"))
    assert not problems(facts)
    codes = [fact for fact in facts if isinstance(fact, CodeGenerated)]
    assert ("backward" in {code.phase for code in codes}) is case.backward
    written = {
        (code.filename, kernel.name)
        for code in codes
        for kernel in code.kernels
        if kernel.language == "triton"
    }
    assert bool(written) is case.kernels
    built = [fact for fact in facts if isinstance(fact, KernelCompiled) and "ptx" in dict(fact.texts)]
    record_property("ratio: previewed kernels with PTX", (len(built), len(written)))
    assert {(kernel.filename, kernel.name) for kernel in built} == written


def problems(facts: tuple[Fact, ...]) -> list[Fact]:
    """What went wrong: a program that needs a value comes to its end without that."""
    wrong: list[Fact] = [fact for fact in facts if isinstance(fact, (CompileFailure, ProgramRaised))]
    wrong += [fact for fact in facts if isinstance(fact, TargetProblem) and fact.severity == "error"]
    wrong += [fact for fact in facts if isinstance(fact, KernelCompiled) and fact.problem]
    (finished,) = (fact for fact in facts if isinstance(fact, RunFinished))
    return wrong if finished.status in ("finished", "exited") else [*wrong, finished]


def test_the_corpus_is_large_enough(record_property: Callable[[str, object], None]) -> None:
    backward = sum(case.backward for case in CASES)
    record_property("ratio: previewed programs with a backward graph", (backward, len(CASES)))
    assert len(CASES) >= 60
    assert backward >= 40
    assert sum(bool(case.otherwise) for case in CASES) < 10
