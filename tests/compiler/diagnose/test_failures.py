"""Every program of ``tests/cases/failures``: the right stage is named, and a repro fails by itself."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from failures import parse_failure

if sys.platform != "linux":
    pytest.skip("the stages of a program are forked, on Linux only", allow_module_level=True)

from fullgraph_compiler.compat import inductor_compat
from fullgraph_compiler.facts import (
    Fact,
    FaultLocated,
    GraphUnchecked,
    MinifyRequest,
    ReproWritten,
    Script,
    StageChecked,
    TargetProblem,
)
from fullgraph_compiler.minify.minifier import minify
from fullgraph_compiler.processes.children import run_child
from fullgraph_compiler.processes.gpu import has_gpu

_FOLDER = Path(__file__).parents[2] / "cases"
_PATIENCE = 120.0
_PATIENCE_WITH_HANGS = {"inductor": 25.0, "my_backend": 10.0}
"""By the stage that hangs: seconds that a healthy stage takes at most, beside other tests."""
_SECONDS = 600

pytestmark = pytest.mark.timeout(_SECONDS + 60)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled kernels, for all cases, whichever process runs them."""
    return tmp_path_factory.getbasetemp().parent / "kernels"


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(_FOLDER.glob("failures/*.py")), ids=lambda path: path.stem)
def test_failure(path: Path, cache: Path, tmp_path: Path) -> None:
    _check(path, cache, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("path", sorted(_FOLDER.glob("failures_gpu/*.py")), ids=lambda path: path.stem)
def test_failure_on_a_gpu(path: Path, cache: Path, tmp_path: Path) -> None:
    _check(path, cache, tmp_path)


def _check(path: Path, cache: Path, tmp_path: Path) -> None:
    expected = parse_failure(path, torch.__version__)
    repro = tmp_path / "repro.py"
    patience = _PATIENCE_WITH_HANGS[expected.stage] if expected.kind == "hang" else _PATIENCE
    request = MinifyRequest(1, Script(str(path)), str(repro), str(cache), patience=patience)
    facts = _minified(request, path.parent)
    located = next((fact for fact in facts if isinstance(fact, FaultLocated)), None)
    if expected.stage == "none":
        assert located is None
        assert any(isinstance(fact, StageChecked) and fact.compile_id for fact in facts)
        assert not any(isinstance(fact, GraphUnchecked) for fact in facts)
        return
    if expected.stage == "unchecked":
        (unchecked,) = (fact for fact in facts if isinstance(fact, GraphUnchecked))
        assert located is None
        assert not any(
            isinstance(fact, StageChecked) and fact.compile_id == unchecked.compile_id for fact in facts
        )
        assert facts[-2] == TargetProblem(
            "error", f"No failure was found, but 1 graph was not checked, because {unchecked.reason}"
        )
        return
    assert located is not None, facts
    failure = located.failure
    assert (located.stage, failure.kind) == (expected.stage, expected.kind)
    assert (failure.error, failure.phase) == (expected.error, expected.phase)
    checked = [fact for fact in facts if isinstance(fact, StageChecked) and fact.stage == located.passes]
    assert any(fact.failure is None for fact in checked) == bool(located.passes)
    if expected.stage in ("uncompiled", "compiled"):
        assert not repro.exists()
        return
    written = next((fact for fact in facts if isinstance(fact, ReproWritten)), None)
    assert written is not None, facts[-2:]
    assert written.nodes <= expected.nodes, repro.read_text()
    assert expected.row in [frame.row for frame in written.stack if frame.filename == str(path)]
    assert written.reproduces, _run(repro)


def _minified(request: MinifyRequest, folder: Path) -> list[Fact]:
    def work() -> list[Fact]:
        os.chdir(folder)
        facts: list[Fact] = []
        minify(request, facts.extend, lambda: None)
        return facts

    inductor_compat.prepare(request.cache)
    _warm_up()
    ended = run_child(work, _SECONDS)
    assert ended.answered, ended
    found: list[Fact] = ended.answer
    return found


@functools.cache
def _warm_up() -> None:
    """Do once what each minification would do for itself."""
    if not has_gpu():
        inductor_compat.warm_up_patterns()
        inductor_compat.warm_up_cpp()


def _run(repro: Path) -> str:
    ended = subprocess.run([sys.executable, str(repro)], capture_output=True, text=True, check=False)
    return f"{repro.read_text()}\n{ended.stdout}{ended.stderr}"
