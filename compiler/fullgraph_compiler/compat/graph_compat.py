"""Graphs: the names of their operators, their sizes, and the operators as they run.

Each entry says where torch keeps it and in which of the supported versions (2.11 to 2.15) it was read.
"""

from __future__ import annotations

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
