"""Graphs: the names of their operators, their sizes, and the operators as they run.

Each entry says where torch keeps it and in which of the supported versions (2.11 to 2.15) it was read.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch


def failing_node(exception: BaseException) -> Any | None:
    """Find the ``torch.fx.Node`` that a backend worked on when it raised, if it kept one at hand.

    Compilers walk graphs node by node: the innermost call of the traceback with a node among its
    locals was busy with it.
    """
    calls = []
    trace = exception.__traceback__
    while trace is not None:
        calls.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(calls):
        for value in frame.f_locals.values():
            if isinstance(value, torch.fx.Node) and value.meta.get("stack_trace"):
                return value
    return None


def operator_mode(run: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> Any:
    """Make a mode in which each operator is called by way of ``run(operator, args, kwargs)``.

    ``TorchDispatchMode`` (``torch/utils/_python_dispatch.py``): 2.11 to 2.15.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    class OperatorMode(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, operator: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            return run(operator, args, kwargs or {})

    return OperatorMode()


def without_regions(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Return a graph in which nested compile regions are plain calls, if it has any.

    Without a compiler, ``invoke_subgraph`` raises in a backward pass
    (``torch/_higher_order_ops/invoke_subgraph.py``: 2.11 to 2.15).
    """
    if not any(node.target is torch.ops.higher_order.invoke_subgraph for node in module.graph.nodes):
        return module
    plain = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
    for node in plain.graph.find_nodes(op="call_function", target=torch.ops.higher_order.invoke_subgraph):
        region, _, *operands = node.args  # and torch's own name for it
        plain.add_submodule(region.target, without_regions(getattr(module, region.target)))
        node.op, node.target, node.args = "call_module", region.target, tuple(operands)
    plain.recompile()
    return plain


def qualified_name(function: Any) -> str:
    """Name a function that a graph calls as Python does: ``torch.relu``, ``torch.ops.aten.relu.default``.

    ``_get_qualified_name`` (``torch/fx/node.py``): 2.11 to 2.15.
    """
    from torch.fx.node import _get_qualified_name

    return str(_get_qualified_name(function))


def size_hint(size: Any) -> Any:
    """Return the number behind a symbolic one, as it was when it was traced; 1 where nobody knows it.

    ``SymNode.hint`` (``torch/fx/experimental/sym_node.py``): 2.11 to 2.15.
    """
    if not isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return size
    hint = size.node.hint
    return 1 if hint is None else hint
