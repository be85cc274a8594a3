"""What the stages compare of whole programs, without running one."""

from __future__ import annotations

import os
import sys

import pytest
import torch

if sys.platform != "linux":
    pytest.skip("the stages of a program are forked, on Linux only", allow_module_level=True)

from fullgraph_compiler.diagnose.results import ResultRecorder
from fullgraph_compiler.processes.children import run_child


@pytest.mark.parametrize("compiled", [False, True])
def test_processes_that_an_uncompiled_program_starts_compile_nothing(compiled: bool) -> None:
    def look() -> tuple[str | None, int]:
        recorder = ResultRecorder(compiled=compiled)
        recorder.install()
        torch.compile(torch.sin, backend="eager")(torch.ones(2))
        return os.environ.get("TORCHDYNAMO_DISABLE"), recorder.calls

    variable = None if compiled else "1"
    assert run_child(look).answer == (variable, 1), "what this process compiles is still recorded"
