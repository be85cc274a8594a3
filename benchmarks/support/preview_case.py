"""A process of ``preview.py``: ``python preview_case.py STEP FILE DEVICE FOLDER``.

``preview`` writes the kernels of a program without the GPU, ``device`` runs it on the GPU, uncompiled and
compiled, and ``loaded`` runs it on the GPU with the kernels that the preview built. Each step writes
``FOLDER/STEP.json``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import runpy
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "compiler"))
from fullgraph_compiler.capture.run import run
from fullgraph_compiler.compat import kernel_compat
from fullgraph_compiler.facts import (
    CodeGenerated,
    CompileFailure,
    Fact,
    KernelCompiled,
    ProgramRaised,
    RunRequest,
    Script,
    Switches,
)
from fullgraph_compiler.files.protection import discard_files

_DEBUG_INFORMATION = re.compile(r"^\s*(\.loc|\.file|//).*\n|//.*$|^\s*\.section\s+\.debug.*", re.M)
Tensors = dict[str, torch.Tensor]


def preview(path: str, device: str, folder: Path) -> dict[str, Any]:
    """The kernels of a program, without the GPU."""
    request = RunRequest(
        1, Script(path), "kernels", cache=str(folder / "preview"), switches=Switches(device=device)
    )
    facts: list[Fact] = []
    discard_files(request, folder)  # but for what goes into the cache
    run(request, facts.extend)
    return told(facts)


def on_device(path: str, folder: Path) -> dict[str, Any]:
    """The kernels of a program that runs on the GPU; keeps what it computes there."""
    with torch.compiler.set_stance("force_eager"):
        eager = tensors_of(runpy.run_path(path, run_name="__main__"))
    torch._dynamo.reset()
    facts: list[Fact] = []
    run(RunRequest(1, Script(path), "build", cache=str(folder / "device")), facts.extend)
    torch.save((eager, tensors_of(vars(sys.modules["__main__"]))), folder / "results.pt")
    return told(facts)


def loaded(path: str, folder: Path) -> dict[str, Any]:
    """Run a program on the GPU with the binaries of its preview.

    The result compares this run with those of the ``device`` step: compiled for the GPU, and uncompiled.
    Triton finds the binaries in its cache, by the kernel's source and the GPU that it is compiled for. Of the
    configurations that TorchInductor would try, only the previewed ones are left.
    """
    source = folder / "preview" / "triton"
    source.mkdir(parents=True, exist_ok=True)  # where the preview has no kernel there is none
    shutil.copytree(source, folder / "loaded" / "triton", dirs_exist_ok=True)
    previewed = {entry.name for entry in source.iterdir()}
    modules = []

    def prepare() -> None:
        keep_only(previewed)
        modules.append(kernel_compat.keep_loaded())

    facts: list[Fact] = []
    run(RunRequest(1, Script(path), "build", cache=str(folder / "loaded")), facts.extend, prepare)
    binaries = {
        (module.__file__, name): Path(binary.folder).name
        for module in modules[0]
        for name, value in vars(module).items()
        if (binary := kernel_compat.triton_binary(value))
    }
    eager, own = torch.load(folder / "results.pt")
    (folder / "results.pt").unlink()
    ours = tensors_of(vars(sys.modules["__main__"]))
    return {
        "problems": told(facts)["problems"],
        "kernels": len(binaries),
        "previewed": sum(binary in previewed for binary in binaries.values()),
        "same_bits": ours.keys() == own.keys() and all(same_bits(ours[name], own[name]) for name in own),
        "difference": difference(ours, own),
        "to_eager": difference(ours, eager),
        "own_to_eager": difference(own, eager),
    }


def keep_only(binaries: set[str]) -> None:
    """Leave kernels of TorchInductor only the configurations that have a binary.

    A kernel without any binary is unchanged.
    """
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    precompile = CachingAutotuner.precompile

    def precompile_and_choose(self: Any, *args: Any, **kwargs: Any) -> None:
        precompile(self, *args, **kwargs)
        if kept := [launcher for launcher in self.launchers if launcher.cache_hash in binaries]:
            self.launchers = kept

    CachingAutotuner.precompile = precompile_and_choose


def told(facts: list[Fact]) -> dict[str, Any]:
    """The kernels of each graph, as they were written and as they were built."""
    built = {(fact.filename, fact.name): fact for fact in facts if isinstance(fact, KernelCompiled)}
    graphs = [
        {
            "graph": f"{fact.compile_id} {fact.phase}",
            "kernels": [
                {
                    "name": kernel.name,
                    "language": kernel.language,
                    "source": kernel.source,
                    **as_built(built.get((fact.filename, kernel.name))),
                }
                for kernel in fact.kernels
            ],
        }
        for fact in facts
        if isinstance(fact, CodeGenerated)
    ]
    raised = [fact for fact in facts if isinstance(fact, (CompileFailure, ProgramRaised))]
    problems = [f"{fact.error}: {fact.message}".partition("\n")[0] for fact in raised]
    return {
        "graphs": graphs,
        "problems": problems + [kernel.problem for kernel in built.values() if kernel.problem],
    }


def as_built(kernel: KernelCompiled | None) -> dict[str, str]:
    """Return a kernel's configuration, and a digest of its PTX without debug names.

    These are the names of files and lines.
    """
    ptx = dict(kernel.texts).get("ptx", "") if kernel else ""
    if not kernel or not ptx:
        return {"config": kernel.config if kernel else "", "ptx": ""}
    code = _DEBUG_INFORMATION.sub("", ptx.partition(".section\t.debug")[0])
    return {"config": kernel.config, "ptx": hashlib.sha256(code.encode()).hexdigest()}


def tensors_of(names: Mapping[str, object]) -> Tensors:
    """The tensors that a program leaves in its names, with their gradients."""
    return {place: tensor for name, value in names.items() for place, tensor in _tensors(name, value)}


def _tensors(place: str, value: object) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield place, value.detach().cpu().clone()
        if value.is_leaf and value.grad is not None:
            yield f"{place}.grad", value.grad.cpu().clone()
    elif isinstance(value, torch.nn.Module):
        yield from _tensors(place, dict(value.named_parameters()))
        yield from _tensors(place, dict(value.named_buffers()))
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _tensors(f"{place}[{number}]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _tensors(f"{place}.{key}", item)


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors hold the same numbers, NaN where the other has it."""
    return one.shape == other.shape and bool((_numbers(one) == _numbers(other)).all())


def difference(ours: Tensors, theirs: Tensors) -> float:
    """Return the largest difference of two numbers, relative to a tensor's largest.

    The tensor is the one that has these numbers.
    """
    return max((_difference(ours[name], theirs[name]) for name in theirs), default=0.0)


def _difference(one: torch.Tensor, other: torch.Tensor) -> float:
    one, other = _numbers(one), _numbers(other)
    if not one.numel():
        return 0.0
    apart = torch.where(one == other, 0.0, (one - other).abs())
    return float(apart.max() / other.abs().max().clamp(min=1e-30))


def _numbers(tensor: torch.Tensor) -> torch.Tensor:
    """Return all numbers as ``float64``, with an unused number instead of NaN.

    So two NaN are equal.
    """
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    if tensor.dtype.itemsize == 1:  # eight bits of floating point
        tensor = tensor.float()
    return tensor.double().nan_to_num(nan=-1.23e300)


if __name__ == "__main__":
    step, file, gpu, results = sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])
    steps = {
        "preview": lambda: preview(file, gpu, results),
        "device": lambda: on_device(file, results),
        "loaded": lambda: loaded(file, results),
    }
    # Opened first: a preview discards the files that it writes.
    with (results / f"{step}.json").open("w") as output:
        json.dump(steps[step](), output)
    sys.stdout.flush()
    os._exit(0)  # what a preview has replaced in torch does not outlive it
