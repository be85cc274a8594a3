"""Patches of TorchInductor for an absent GPU.

The patches replace code that would run on the GPU while graphs compile.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from ..patches import AbsentGpu, Patch, patch_into

PATCHES: Final[list[Patch]] = []
"""The patches of this module, in the order in which they are applied."""
_patch = partial(patch_into, PATCHES)


@_patch(
    "compile_fx (torch/_inductor/compile_fx.py)",
    why="each graph is compiled for the device, forward and backward, but runs uncompiled",
    needed_for="kernels",
)
def _compile_fx(pretence: AbsentGpu) -> None:
    from torch._inductor import compile_fx

    compile_graph = compile_fx.compile_fx
    functional = torch.nn.functional
    attend_by_torch = functional.scaled_dot_product_attention
    inside = False

    def compile_for_gpu(graph: torch.fx.GraphModule, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal inside
        if inside:  # compile_fx calls itself, with the program's settings in force
            return compile_graph(graph, inputs, *args, **kwargs)
        inside = True
        functional.scaled_dot_product_attention = (
            pretence.attend
        )  # for code that calls it while the graph compiles; Dynamo must not see it
        try:
            compile_graph(*pretence.for_gpu(graph, inputs), *args, **kwargs)
        finally:
            functional.scaled_dot_product_attention = attend_by_torch
            inside = False
        return graph.forward

    compile_fx.compile_fx = compile_for_gpu


@_patch(
    "_scaled_dot_product_attention (torch/_inductor/fx_passes/fuse_attention.py)",
    why="it asks the driver which attention kernel to choose, and chooses the slowest without a driver. "
    "This concerns attention that TorchInductor recognizes; direct calls change as their graph compiles",
    needed_for="attention",
)
def _fused_attention(pretence: AbsentGpu) -> None:
    from torch._inductor.fx_passes import fuse_attention

    fuse_attention._scaled_dot_product_attention = pretence.attend


@_patch(
    "_init_group of torch's optimizers",
    why="if step() is compiled, Dynamo creates the state with data even for parameters without data",
    needed_for="optimizers",
)
def _init_group_of_optimizers(_: AbsentGpu) -> None:
    for name in torch.optim.__all__:
        optimizer = getattr(torch.optim, name)
        if "_init_group" in vars(optimizer):
            optimizer._init_group = _init_group_without_data(optimizer._init_group)


def _init_group_without_data(make: Callable[..., Any]) -> Callable[..., Any]:
    from torch._subclasses.fake_tensor import FakeTensor

    @functools.wraps(make)
    def make_without_data(self: Any, group: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        modes = (tensor.fake_mode for tensor in group["params"] if isinstance(tensor, FakeTensor))
        with next(modes, contextlib.nullcontext()):
            return make(self, group, *args, **kwargs)

    return make_without_data


class _CpuMode(TorchDispatchMode):  # type: ignore[misc]
    """A dispatch mode that creates tensors on the CPU instead of the GPU."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = pytree.tree_map(_cpu_for_gpu, (args, kwargs or {}))
        return func(*args, **kwargs)


def _cpu_for_gpu(value: Any) -> Any:
    return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value


@_patch(
    "UniformValueConstantFolder.run (torch/_inductor/fx_passes/joint_graph.py)",
    why="it computes small constants on the device that the graph names",
    needed_for="kernels",
)
def _uniform_value_constant_folder(_: AbsentGpu) -> None:
    from torch._inductor.fx_passes.joint_graph import UniformValueConstantFolder

    run = UniformValueConstantFolder.run

    def run_on_cpu(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _CpuMode():
            return run(self, *args, **kwargs)

    UniformValueConstantFolder.run = run_on_cpu


@_patch(
    "unset_fake_temporarily (torch/fx/experimental/proxy_tensor.py)",
    why="make_fx computes tensors of one element, such as torch.tensor([1.0], device='cuda')",
    needed_for="kernels",
)
def _unset_fake_temporarily(_: AbsentGpu) -> None:
    from torch.fx.experimental import proxy_tensor

    unset = proxy_tensor.unset_fake_temporarily

    @contextlib.contextmanager
    def unset_on_cpu(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with unset(*args, **kwargs) as modes, _CpuMode():
            yield modes

    proxy_tensor.unset_fake_temporarily = unset_on_cpu


@_patch(
    "AlgorithmSelectorCache.do_autotuning and make_precompile_fn (torch/_inductor/select_algorithm.py), "
    "TritonScheduling.benchmark_codegened_module (torch/_inductor/codegen/triton.py)",
    why="TorchInductor measures which template to use and whether to fuse; here it uses the first template",
    needed_for="max-autotune",
)
def _autotuning(_: AbsentGpu) -> None:
    from torch._inductor import select_algorithm
    from torch._inductor.codegen.triton import TritonScheduling

    def choose(*arguments: Any, **_: Any) -> Any:
        _cache, name, _nodes, _layout, _make, _key, choices, *_rest = arguments
        ranked = sorted(choices, key=lambda choice: isinstance(choice, select_algorithm.ExternKernelCaller))
        unmeasured.append(f"which of {len(ranked)} kernels for {name} is the fastest")
        return {choice: float(place) for place, choice in enumerate(ranked, 1)}

    select_algorithm.AlgorithmSelectorCache.do_autotuning = choose
    select_algorithm.AlgorithmSelectorCache.make_precompile_fn = lambda *_, **__: lambda *_, **__: {}
    TritonScheduling.benchmark_codegened_module = lambda _, module, *__, **___: (1.0, str(module.__file__))


@_patch(
    "_should_pad (torch/_inductor/fx_passes/pad_mm.py)",
    why="TorchInductor measures whether a matrix product is faster with padding; here it does not pad",
    needed_for="matrix products with sizes that are not multiples of eight",
)
def _should_pad(_: AbsentGpu) -> None:
    from torch._inductor.fx_passes import pad_mm

    def not_padded(*_: Any, **__: Any) -> bool:
        unmeasured.append("whether a matrix product is faster with padding")
        return False

    pad_mm._should_pad = not_padded


unmeasured: Final[list[str]] = []
"""What TorchInductor would have measured on a GPU, as clauses."""


@_patch(
    "use_static_cuda_launcher (torch/_inductor/config.py)",
    why="a static launcher loads the kernel onto the device, and does not keep its PTX",
    needed_for="PTX",
)
def _static_cuda_launcher(_: AbsentGpu) -> None:
    import torch._inductor.config as config

    config.use_static_cuda_launcher = False


@_patch(
    "force_non_lazy_backward_lowering (torch/_functorch/config.py)",
    why="else a backward graph with dynamic shapes is compiled at its first run, and here it runs uncompiled",
    needed_for="backward passes",
)
def _lazy_backward_lowering(_: AbsentGpu) -> None:
    import torch._functorch.config as config

    config.force_non_lazy_backward_lowering = True
