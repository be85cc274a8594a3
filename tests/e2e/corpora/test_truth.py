"""Reports agree with torch's own logs: breaks, recompilations, limits, and what stops the program.

Each program runs twice: as it is, with TorchInductor, and as ``fullgraph check`` runs it.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import torch
from forked import observe
from fullgraph_compiler.facts import GraphBreak, RecompileLimit, Script
from fullgraph_server.report.fold import fold
from fullgraph_server.workspace.workspace import Workspace
from in_child import in_child
from truth import SECONDS, Break, Function, Truth, truth

CASES = Path(__file__).parents[2] / "cases"
_FAILS_IN_INDUCTOR = re.compile(
    r"InductorError: |BackendCompilerFailed: backend='inductor' raised:|AssertionError: expected size "
)
"""TorchInductor's errors, and those of the checks in its code."""
_NEEDS = re.compile(r"^# needs: (.+)$", re.M)


@dataclass(frozen=True, slots=True)
class Told:
    """What our report says of a run; ``errors`` are the messages of its errors.

    ``left_out`` are the parts of the compiler that it says were not run.
    """

    breaks: frozenset[Break]
    recompiles: Counter[Function]
    limits: frozenset[Function]
    errors: Sequence[str]
    left_out: Sequence[str]


def programs() -> Iterator[object]:
    """The corpora, the programs over real libraries, and each function of the tables of small programs."""
    for folder in ("graph_breaks", "recompiles", "findings", "truth"):
        for path in sorted((CASES / folder).glob("*.py")):
            yield pytest.param(Script(str(path)), id=f"{folder}/{path.stem}")
    for path in sorted((CASES / "truth" / "subjects").glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.decorator_list and not node.args.args:
                yield pytest.param(Script(str(path), (node.name,)), id=f"{path.stem}/{node.name}")


@pytest.fixture(autouse=True)
def compiled_before(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Share what TorchInductor has compiled; start no pool of compilers for each program."""
    shared = os.environ.get("TRUTH_CACHE") or str(tmp_path_factory.getbasetemp().parent / "inductor")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", shared)
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 240)
@pytest.mark.parametrize("script", [*programs()])
def test_truth(script: Script, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    for library in _needed(script):
        if problem := _import_problem(library):
            pytest.skip(f"{library}: {problem}")
    true = truth(script, tmp_path, tmp_path / "torch.log")
    told = tell(script, tmp_path, true)
    if _FAILS_IN_INDUCTOR.match(true.error):
        # How it would have gone on is told, and that TorchInductor was not run.
        record_property("ratio: programs that TorchInductor fails at, told as not run", (1, 1))
        assert "TorchInductor" in told.left_out
        return
    breaks = true.breaks | told.breaks
    record_property("ratio: graph breaks with line and id", (len(true.breaks & told.breaks), len(breaks)))
    functions = true.recompiles.keys() | told.recompiles.keys()
    equal = [name for name in functions if true.recompiles[name] == told.recompiles[name]]
    record_property("ratio: functions with torch's number of recompilations", (len(equal), len(functions)))
    limits = true.limits | told.limits
    record_property("ratio: recompile limits", (len(true.limits & told.limits), len(limits)))
    if true.error:
        record_property("ratio: programs that stop, with an error", (bool(told.errors), 1))
    found = list(differences(true, told))
    for difference in found:
        record_property("difference", difference)
    assert found == []


def tell(script: Script, cwd: Path, true: Truth) -> Told:
    """Run it as ``fullgraph check`` does; where torch's log has no id of a break, ours may be any."""
    facts = observe(script, cwd)
    report = fold(script.filename, 1, torch.__version__, facts, Workspace(Path(script.filename).parent))
    recompiles: Counter[Function] = Counter()
    for frame in report.frames:
        if frame.recompiles:
            recompiles[frame.filename, frame.function.rpartition(".")[2]] += frame.recompiles
    places = [
        (fact.stack[-1].filename, fact.stack[-1].row, fact.code) if fact.stack else ("", 0, fact.code)
        for fact in facts
        if isinstance(fact, GraphBreak)
    ]
    return Told(
        frozenset((*place, "" if (*place, "") in true.breaks else code) for *place, code in places),
        recompiles,
        frozenset(
            (fact.filename, fact.function.rpartition(".")[2])
            for fact in facts
            if isinstance(fact, RecompileLimit)
        ),
        [finding.message for finding in report.findings if finding.severity == "error"],
        report.left_out,
    )


def differences(true: Truth, told: Told) -> Iterator[str]:
    """Say what our report says otherwise than torch."""
    for file, row, code in sorted(true.breaks - told.breaks):
        yield f"break {code} at {Path(file).name}:{row} is not told"
    for file, row, code in sorted(told.breaks - true.breaks):
        yield f"break {code} at {Path(file).name}:{row} is told, torch has none"
    for file, name in sorted(true.recompiles.keys() | told.recompiles.keys()):
        torchs, ours = true.recompiles[file, name], told.recompiles[file, name]
        if torchs != ours:
            yield f"{name} in {Path(file).name}: recompiled {torchs} times, told {ours}"
    for file, name in sorted(true.limits ^ told.limits):
        where = "not told" if (file, name) in true.limits else "told, torch hits none"
        yield f"limit of {name} in {Path(file).name}: {where}"
    if true.error and not told.errors:
        yield f"the program stops with {true.error.splitlines()[0]}, and no error is told"


def _needed(script: Script) -> list[str]:
    found = _NEEDS.search(Path(script.filename).read_text())
    return re.split(r",\s*", found[1]) if found else []


@cache
def _import_problem(library: str) -> str:
    """Why a library cannot be imported: it is not there, or was built for another torch."""

    def problem() -> str:
        try:
            __import__(library)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    return str(in_child(problem))
