"""Move graphs from the CPU to the GPU, for programs that run on the CPU.

A program that asks for a GPU gets tensors on the GPU, and its graphs stay unchanged. The graphs of all other
programs, such as an example call (``f32[8]``), would be compiled for the CPU; so they are moved as a whole,
before AOTAutograd.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.fx import GraphModule
from torch.fx.node import map_aggregate

from ..compat.previews import preview_compat
from . import attention

_GPU = torch.device("cuda", 0)


def for_gpu(graph: GraphModule, inputs: Sequence[Any]) -> tuple[GraphModule, list[Any]]:
    """Return a copy of a graph of Dynamo and its inputs, to compile for the GPU.

    Both are on the GPU. If the graph already has a tensor on a GPU, all devices stay unchanged.
    """
    tensors = [*_constants(graph).values(), *(item for item in inputs if isinstance(item, torch.Tensor))]
    copied = copy.deepcopy(graph, {id(tensor): tensor for tensor in tensors})
    attention.choose(copied)
    if not tensors or any(not preview_compat.is_plain(tensor) or tensor.is_cuda for tensor in tensors):
        return copied, [*inputs]
    mode = preview_compat.tracing_mode()
    for name, tensor in _constants(copied).items():
        owner, _, attribute = name.rpartition(".")
        delattr(copied.get_submodule(owner), attribute)
        copied.get_submodule(owner).register_buffer(attribute, _moved(tensor, mode), persistent=False)
    for module in _modules(copied):
        for node in module.graph.nodes:
            node.args, node.kwargs = map_aggregate(node.args, _to_gpu), map_aggregate(node.kwargs, _to_gpu)
        module.recompile()
    # Dynamo's own values of its inputs have symbolic sizes, which the real inputs do not have.
    traced = [node.meta.get("example_value") for node in graph.graph.nodes if node.op == "placeholder"]
    return copied, [_input(value, given, mode) for value, given in zip(traced, inputs, strict=True)]


def _input(traced: Any, given: Any, mode: Any) -> Any:
    if isinstance(given, torch.Tensor):
        return _moved(traced if isinstance(traced, torch.Tensor) else given, mode)
    return given if traced is None else traced


def _moved(tensor: torch.Tensor, mode: Any) -> torch.Tensor:
    """Return a tensor without data on the GPU, with the metadata of the given tensor."""
    with mode:
        moved = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=_GPU)
    return moved.requires_grad_(tensor.requires_grad)


def _to_gpu(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "cpu":
        return _GPU
    return "cuda" if value == "cpu" and isinstance(value, str) else value


def _modules(graph: GraphModule) -> Iterator[GraphModule]:
    """Return the graph and its subgraphs (of checkpoints, branches, score functions)."""
    return (module for module in graph.modules() if isinstance(module, GraphModule))


def _constants(graph: GraphModule) -> dict[str, torch.Tensor]:
    """Return the parameters and buffers of a graph by name."""
    return {**dict(graph.named_parameters()), **dict(graph.named_buffers())}
