"""Backends that fail on purpose, to test the diagnosis of failures.

torch has the same four backends for its own tests (``*_TESTING_ONLY`` in
``torch/_dynamo/backends/debugging.py``), but torch's support only ``torch.relu`` called as a function. The
backends here support each form of relu.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch


class InjectedError(RuntimeError):
    """The error that a faulty backend raises."""


def relu_compile_error(graph: torch.fx.GraphModule, _: Sequence[Any], **__: Any) -> Callable[..., Any]:
    """Fail to compile if the graph contains a relu."""
    for _, node in _relus(graph):
        raise InjectedError(f"relu: compile error, injected at {node.name}")
    return _forward(graph)


def relu_runtime_error(graph: torch.fx.GraphModule, _: Sequence[Any], **__: Any) -> Callable[..., Any]:
    """Return a function that runs the graph and fails when a relu runs."""
    for module, node in _relus(graph):
        _call_after(module, node, _fail, f"relu: runtime error, injected at {node.name}")
    return _forward(graph)


def relu_accuracy_error(graph: torch.fx.GraphModule, _: Sequence[Any], **__: Any) -> Callable[..., Any]:
    """Return a function that runs the graph and computes relu wrongly."""
    for module, node in _relus(graph):
        is_in_place = node.kwargs.get("inplace") is True or _name(node, module).endswith("_")
        _call_after(module, node, _spoil, is_in_place)
    return _forward(graph)


def non_leaf_compile_error(
    graph: torch.fx.GraphModule, inputs: Sequence[Any], **_: Any
) -> Callable[..., Any]:
    """Fail to compile if the graph has an operation and an input that is not a leaf."""
    does_something = any(node.op.startswith("call_") for node in graph.graph.nodes)
    if does_something and any(isinstance(item, torch.Tensor) and not item.is_leaf for item in inputs):
        raise InjectedError("compile error, injected: the graph has a non-leaf input")
    return _forward(graph)


def _relus(graph: torch.fx.GraphModule) -> Iterator[tuple[torch.fx.GraphModule, torch.fx.Node]]:
    """Yield each relu and its graph module, which the caller may change meanwhile."""
    for module in [item for item in graph.modules() if isinstance(item, torch.fx.GraphModule)]:
        for node in list(module.graph.nodes):
            if node.op.startswith("call_") and _name(node, module) in ("relu", "relu_"):
                yield module, node


def _name(node: torch.fx.Node, module: torch.fx.GraphModule) -> str:
    """Return the short name of a call's target: ``relu_`` for ``aten.relu_.default``."""
    if node.op == "call_module":
        return type(module.get_submodule(str(node.target))).__name__.lower()
    return str(getattr(node.target, "__name__", node.target)).partition(".")[0]


def _call_after(
    module: torch.fx.GraphModule, node: torch.fx.Node, change: Callable[..., Any], argument: object
) -> None:
    with node.graph.inserting_after(node):
        changed = node.graph.call_function(change, (node, argument))
        node.replace_all_uses_with(changed, delete_user_cb=lambda user: user is not changed)
    module.recompile()


def _forward(graph: torch.fx.GraphModule) -> Callable[..., Any]:
    run: Callable[..., Any] = graph.forward
    return run


def _fail(_: Any, message: str) -> Any:
    raise InjectedError(message)


def _spoil(value: torch.Tensor, is_in_place: bool) -> torch.Tensor:
    if not is_in_place:
        return value + 1
    # Other operations use the changed tensor, not the result. ``data`` hides the change from autograd.
    value.data.add_(1)
    return value
