"""What kernels became is told by the name that the code has for them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("each run is forked, on Linux only", allow_module_level=True)

from fullgraph_compiler.capture.run import run
from fullgraph_compiler.compat import kernel_compat
from fullgraph_compiler.facts import CodeGenerated, Fact, KernelCompiled, RunFinished, RunRequest, Script
from fullgraph_compiler.processes.children import run_child

pytestmark = pytest.mark.xdist_group("binaries")  # the header of all kernels is compiled once

_SECONDS = 300
_PROGRAM = """
import torch

@torch.compile
def f(x):
    return x.sin().sum()

@torch.compile
def g(x):
    return (x.cos() + 1).sum()

for function in (f, g):
    function(torch.ones(300, 300, device="{device}", requires_grad=True)).backward()
"""
_ONCE_MORE = """
torch.compiler.reset()
f(torch.ones(300, 300, device="{device}"))
f(torch.ones(300, 300, device="{device}", requires_grad=True))
"""


def _run(folder: Path, program: str, prepare: Callable[[], None] | None = None) -> list[Fact]:
    path = folder / "program.py"
    path.write_text(program)

    def work() -> list[Fact]:
        os.chdir(folder)
        facts: list[Fact] = []
        run(RunRequest(1, Script(str(path)), "build", cache=str(folder)), facts.extend, prepare)
        return facts

    ended = run_child(work, _SECONDS)
    assert ended.answered, ended
    facts: list[Fact] = ended.answer
    assert isinstance(facts[-1], RunFinished)
    assert facts[-1].status == "finished"
    return facts


def _generated(facts: list[Fact], language: str) -> set[tuple[str, str]]:
    return {
        (fact.filename, kernel.name)
        for fact in facts
        if isinstance(fact, CodeGenerated)
        for kernel in fact.kernels
        if kernel.language == language
    }


def _compiled(facts: list[Fact]) -> list[KernelCompiled]:
    return [fact for fact in facts if isinstance(fact, KernelCompiled)]


def _names(kernels: list[KernelCompiled]) -> list[tuple[str, str]]:
    return sorted((kernel.filename, kernel.name) for kernel in kernels)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder, so that the header of all kernels is compiled once."""
    return tmp_path_factory.mktemp("binaries")


@pytest.mark.slow
def test_each_kernel_is_told_once_with_its_machine_code(folder: Path) -> None:
    facts = _run(folder, (_PROGRAM + _ONCE_MORE).format(device="cpu"))
    kernels = _compiled(facts)
    assert _names(kernels) == sorted(_generated(facts, "cpp"))
    assert len(kernels) >= 4  # forward and backward of two functions
    for kernel in kernels:
        ((language, text),) = kernel.texts
        assert language == "asm"
        assert "<kernel>:" in text
        assert "PyInit" not in text
        assert "Disassembly" not in text
        assert (kernel.config, kernel.registers, kernel.spills, kernel.shared) == ("", None, None, None)


@pytest.mark.slow
def test_the_loops_of_threads_are_part_of_a_kernel(folder: Path) -> None:
    program = "import torch\ntorch.set_num_threads(2)" + _PROGRAM.format(device="cpu")
    for kernel in _compiled(_run(folder, program)):
        assert "omp" in kernel.texts[0][1]


@pytest.mark.slow
def test_without_a_disassembler_a_kernel_has_no_text(folder: Path) -> None:
    which = shutil.which

    def hide() -> None:
        shutil.which = lambda name, *args, **kwargs: (  # type: ignore[assignment]
            None if name == "objdump" else which(name, *args, **kwargs)
        )

    facts = _run(folder, _PROGRAM.format(device="cpu"), hide)
    assert _generated(facts, "cpp")
    assert {fact.texts for fact in _compiled(facts)} == {()}


@pytest.mark.slow
def test_a_kernel_that_cannot_be_read_is_passed_over(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    read = kernel_compat.cpp_library
    failed: list[object] = []

    def fail_once(value: object) -> str | None:
        found = read(value)
        if found and not failed:
            failed.append(value)
            raise RuntimeError("not this one")
        return found

    def break_reading() -> None:
        kernel_compat.cpp_library = fail_once

    facts = _run(folder, _PROGRAM.format(device="cpu"), break_reading)
    assert len(_compiled(facts)) == len(_generated(facts, "cpp")) - 1
    assert "not this one" in capfd.readouterr().err


@pytest.mark.gpu
def test_a_triton_kernel_tells_all_its_forms(folder: Path) -> None:
    facts = _run(folder, (_PROGRAM + _ONCE_MORE).format(device="cuda"))
    kernels = _compiled(facts)
    assert _names(kernels) == sorted(_generated(facts, "triton"))
    assert kernels
    for kernel in kernels:
        texts = dict(kernel.texts)
        assert list(texts) == ["ttir", "ttgir", "llir", "ptx", "sass"]
        assert "tt.func" in texts["ttir"]
        assert "#ttg" in texts["ttgir"] or "triton_gpu" in texts["ttgir"]
        assert "define" in texts["llir"]
        assert ".visible .entry" in texts["ptx"]
        assert texts["sass"].startswith("Function:")
        assert "num_warps: " in kernel.config
        assert kernel.registers
        assert kernel.spills is not None
        assert kernel.shared is not None
