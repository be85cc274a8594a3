"""Previews, on whatever torch is built for CUDA: what is patched, and what of it the user's process sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from forked import observe
from fullgraph_compiler.compat.patches import Patch
from fullgraph_compiler.compat.previews import preview_compat
from fullgraph_compiler.facts import (
    DEVICES,
    CodeGenerated,
    Depth,
    Fact,
    KernelCompiled,
    RanDry,
    RunFinished,
    Script,
    Switches,
)

# By path: importing this program would use a GPU that is there, and then no child could.
SELF_TEST = Path(preview_compat.__file__).parents[2] / "preview" / "self_test.py"
_FEW = ("h200", "mi300x")
"""The devices of each test run, one of each maker; the others are slow."""
CAPABILITIES = (
    "pointwise_and_reduction",
    "backward",
    "dynamic_sizes",
    "attention",
    "matrix_product_templates",
)

ON_CPU = """\
import torch


@torch.compile
def layer(x, weight, bias):
    y = torch.nn.functional.layer_norm(x, (64,), weight, bias)
    return y.to("cpu", torch.float64).float()


inputs = [torch.randn(8, 64), torch.ones(64), torch.zeros(64)]
out = layer(*(tensor.requires_grad_() for tensor in inputs))
assert out.device.type == "cpu"
out.sum().backward()
assert inputs[1].grad.shape == (64,)
"""


def previewed(text: str, tmp_path: Path, device: str = "h100", depth: Depth = "kernels") -> tuple[Fact, ...]:
    path = tmp_path / "program.py"
    path.write_text(text)
    return observe(Script(str(path)), tmp_path, depth=depth, switches=Switches(device=device))


def status(facts: tuple[Fact, ...]) -> str:
    return next(fact.status for fact in facts if isinstance(fact, RunFinished))


@pytest.mark.preview
def test_what_this_torch_can_be_previewed_in(tmp_path: Path) -> None:
    facts = previewed(SELF_TEST.read_text(), tmp_path)
    assert status(facts) == "finished"
    assert next(fact.unknown for fact in facts if isinstance(fact, RanDry)) == ()
    codes = [fact for fact in facts if isinstance(fact, CodeGenerated)]
    assert len({code.compile_id for code in codes}) == len(CAPABILITIES)
    assert "backward" in {code.phase for code in codes}
    built = [fact for fact in facts if isinstance(fact, KernelCompiled)]
    assert {kernel.problem for kernel in built} == {""}
    assert {tuple(dict(kernel.texts)) for kernel in built} == {("ttir", "ttgir", "llir", "ptx")}
    assert all(kernel.registers and kernel.spills is not None for kernel in built)


@pytest.mark.preview
@pytest.mark.parametrize(
    "device",
    [pytest.param(name, marks=() if name in _FEW else pytest.mark.slow) for name in DEVICES],
)
def test_machine_code_is_for_the_gpu_that_is_asked_for(device: str, tmp_path: Path) -> None:
    facts = previewed(ON_CPU, tmp_path, device)
    major, minor = DEVICES[device].capability
    amd = DEVICES[device].architecture
    form, target = ("amdgcn", amd) if amd else ("ptx", f".target sm_{major}{minor}")
    built = [fact for fact in facts if isinstance(fact, KernelCompiled)]
    assert built
    assert all(target in dict(kernel.texts)[form] and kernel.registers for kernel in built)


@pytest.mark.preview
def test_a_program_that_stays_on_the_cpu_is_compiled_for_the_gpu_and_goes_on(tmp_path: Path) -> None:
    facts = previewed(ON_CPU, tmp_path)
    assert status(facts) == "finished"
    kernels = [kernel for fact in facts if isinstance(fact, CodeGenerated) for kernel in fact.kernels]
    assert {kernel.language for kernel in kernels} == {"triton"}
    assert {fact.phase for fact in facts if isinstance(fact, CodeGenerated)} == {"forward", "backward"}


@pytest.mark.preview
def test_a_patch_that_does_not_fit_is_told_and_the_rest_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise AttributeError("another torch")

    broken = Patch("some name", "to see", "attention", "2.11 to 2.15", fail)
    patches = (broken if patch.needed_for == "attention" else patch for patch in preview_compat.PATCHES)
    monkeypatch.setattr(preview_compat, "PATCHES", [*patches])
    facts = previewed(ON_CPU, tmp_path)
    told = [fact.unknown for fact in facts if isinstance(fact, RanDry)]
    assert told[0] == ("This torch cannot preview attention: some name differs from supported versions.",)
    assert any(isinstance(fact, KernelCompiled) and fact.texts for fact in facts)


@pytest.mark.preview
def test_this_process_stays_as_it_was(tmp_path: Path) -> None:
    previewed(ON_CPU, tmp_path)
    assert not torch.cuda.is_available()
    with pytest.raises(RuntimeError, match="driver"):
        torch.ones(2, device="cuda")


@pytest.mark.preview
def test_breaks_and_guards_alone_are_for_the_gpu_too(tmp_path: Path) -> None:
    text = "import torch\nassert torch.cuda.get_device_name() == 'NVIDIA H200'\n"
    text += "f = torch.compile(lambda x: x + 1)\nassert f(torch.ones(3, device='cuda')).is_cuda\n"
    facts = previewed(text, tmp_path, "h200", "graph")
    assert status(facts) == "finished"


def test_every_patch_says_what_and_why() -> None:
    patches = preview_compat.PATCHES
    assert all(patch.replaces and patch.why and patch.needed_for and patch.versions for patch in patches)


def test_a_build_without_cuda_says_so_and_writes_its_graphs(tmp_path: Path) -> None:
    code = "import torch, sys; torch.backends.cuda.is_built = lambda: False\n" + _OBSERVE
    path = tmp_path / "program.py"
    path.write_text(ON_CPU)
    command = [sys.executable, "-c", code, str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    output = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    ).stdout
    told = json.loads(output.splitlines()[-1])
    assert "is built without CUDA" in told["reason"]
    (graph,) = told["graphs"]
    assert "torch.nn.functional.layer_norm" in graph["text"]
    assert {row for _, row in graph["places"]} == {6, 7}
    compile(graph["text"], "graph.py", "exec")


_OBSERVE = """\
import json
from pathlib import Path
from forked import observe
from fullgraph_compiler.facts import PreviewDeferred, Script, Switches

facts = observe(Script(sys.argv[1]), Path(), depth="kernels", switches=Switches(device="h100"))
(deferred,) = (fact for fact in facts if isinstance(fact, PreviewDeferred))
graphs = [
    {"text": graph.text, "places": [(row, calls[-1].row) for row, calls in graph.places]}
    for graph in deferred.graphs
]
print(json.dumps({"reason": deferred.reason, "graphs": graphs}))
"""
