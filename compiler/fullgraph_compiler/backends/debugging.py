"""Replacements for backends of torch that cannot be selected by name.

Programs select the replacements by the names in :mod:`.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from ..compat import backend_compat, graph_compat


def ts(graph: torch.fx.GraphModule, _: Sequence[Any], **__: Any) -> Callable[..., Any]:
    """Compile the captured graph with TorchScript."""
    scripted: Callable[..., Any] = torch.jit.script(_plain(graph))
    return scripted


def aot_ts(graph: torch.fx.GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    """Compile the forward and the backward graph with TorchScript."""

    def compile_graph(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        return backend_compat.compile_with_torchscript(_plain(graph), inputs)

    return backend_compat.compile_ahead_of_time(graph, inputs, compile_graph, compile_graph)


def aot_eager_decomp_partition_with_mode(
    graph: torch.fx.GraphModule, inputs: Sequence[Any], **_: Any
) -> Callable[..., Any]:
    """Run decomposed graphs, and check the results for NaNs.

    Raises ``FloatingPointError`` at the first operator that produces a NaN.
    """
    compile_graph = backend_compat.lookup_backend("aot_eager_decomp_partition_with_mode")
    compiled: Callable[..., Any] = compile_graph(
        graph, inputs, mode=graph_compat.operator_mode(_run_without_nan)
    )
    return compiled


def _run_without_nan(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    # Uninitialized memory may contain NaNs.
    is_checked = "empty" not in str(operator) and not _has_nan((args, kwargs))
    result = operator(*args, **kwargs)
    if is_checked and _has_nan(result):
        raise FloatingPointError(f"{operator} produces the first NaN: none of its inputs has one")
    return result


def _has_nan(value: Any) -> bool:
    return any(bool(tensor.isnan().any()) for tensor in _tensors(value))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(tuple(value.values()))


def _plain(graph: torch.fx.GraphModule) -> torch.fx.GraphModule:
    # Dynamo's graph modules generate code lazily, with class methods that TorchScript cannot read.
    return torch.fx.GraphModule(graph, graph.graph)
