"""A program is timed with empty caches, then with what that run left in them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("each run is forked, on Linux only", allow_module_level=True)

from fullgraph_compiler.facts import (
    CacheLookup,
    CodeGenerated,
    Fact,
    FrameCompiled,
    RunFinished,
    RunRequest,
    Script,
    TargetProblem,
    TimesMeasured,
)
from fullgraph_compiler.processes.children import run_child
from worker_client import run_worker

_SECONDS = 300
_COMPILING = """
import json
import torch
from torch._dynamo.utils import counters

@torch.compile
def f(x):
    return x.sin().sum()

f(torch.ones(300, 300, device="{device}"))
with open("counters", "a") as file:
    print(json.dumps([counters["aot_autograd"], torch._inductor.config.compile_threads]), file=file)
"""
_FAILING = """
import faulthandler, os, signal, sys
import torch

def backend(graph, inputs):
    if sys.argv[1] == "crash":
        faulthandler.disable()  # else pytest's dumps the stack into the output of the tests
        os.kill(os.getpid(), signal.SIGSEGV)
    while sys.argv[1] == "hang":
        signal.pause()
    raise ValueError("no")

torch.compile(torch.sin, backend=backend)(torch.ones(3))
"""


@pytest.mark.parametrize(
    "device",
    [pytest.param("cpu", marks=pytest.mark.slow), pytest.param("cuda", marks=pytest.mark.gpu)],
)
def test_the_second_run_finds_the_graphs_of_the_first(tmp_path: Path, device: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(_COMPILING.format(device=device))
    result = run_worker(Script(str(path)), tmp_path, depth="times")
    (cold, cold_threads), (warm, warm_threads) = map(
        json.loads, (tmp_path / "counters").read_text().splitlines()
    )
    assert (cold["autograd_cache_miss"], cold.get("autograd_cache_hit", 0)) == (1, 0)
    assert (warm["autograd_cache_hit"], warm.get("autograd_cache_miss", 0)) == (1, 0)
    assert cold_threads == warm_threads >= 1
    measured = result.of(TimesMeasured)
    assert [(times.cache, times.failure) for times in measured] == [("cold", None), ("warm", None)]
    assert all(0 < times.compiling <= times.seconds for times in measured)
    found = [(lookup.cache, lookup.state, lookup.warm) for lookup in result.of(CacheLookup)]
    assert found == [
        ("aot-autograd", "miss", False),
        ("fx-graph", "miss", False),
        ("fx-graph", "hit", True),
        ("aot-autograd", "hit", True),
    ]
    # Of the second run no other facts, and one end.
    assert len(result.of(FrameCompiled)) == 1
    assert not result.of(CodeGenerated)  # nobody has asked what is behind its kernels
    assert [fact for fact in result.facts if isinstance(fact, RunFinished)] == [result.facts[-1]]
    assert result.facts[-1].status == "finished"


@pytest.mark.parametrize(
    ("argument", "error", "told"),
    [
        ("raise", "BackendCompilerFailed", []),
        ("crash", "SIGSEGV", [r"The program crashes: the process is ended by SIGSEGV\."]),
        ("hang", "Hang", [r"The program hangs: it takes longer than \d+ s\."]),  # 5, or until it has ended
    ],
)
def test_a_program_that_fails_is_timed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, error: str, told: list[str]
) -> None:
    from fullgraph_compiler.analyses.times import measure_times
    from fullgraph_compiler.compat import inductor_compat

    monkeypatch.setattr(inductor_compat, "warm_up_cpp", lambda: None)  # there is nothing to build
    path = tmp_path / "program.py"
    path.write_text(_FAILING)

    def work() -> list[Fact]:
        facts: list[Fact] = []
        request = RunRequest(1, Script(str(path), (argument,)), "times", patience=5.0)
        measure_times(request, facts.extend, lambda: None)
        return facts

    ended = run_child(work, _SECONDS)
    assert ended.answered, ended
    (measured,) = (fact for fact in ended.answer if isinstance(fact, TimesMeasured))
    assert (measured.cache, measured.failure.error) == ("cold", error)
    messages = [fact.message for fact in ended.answer if isinstance(fact, TargetProblem)]
    assert len(messages) == len(told)
    assert all(map(re.fullmatch, told, messages)), messages
    assert isinstance(ended.answer[-1], RunFinished)
