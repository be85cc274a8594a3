"""Graphs: operator names, sizes, execution of operators, and functions in graphs.

Each docstring says where torch keeps a name, and in which of the supported versions (2.11 to 2.15) that was
checked.
"""

from __future__ import annotations

import copy
import dis
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any, Literal

import torch

from . import torch_compat

_REFUSES = "check_aliasing_and_input_mutation"
"""torch's function that rejects the result of a whole traced function (``variables/higher_order_ops.py``):
2.13, 2.15."""
_TRACES = ("speculate_subgraph", "speculate_subgraph_with_auto_output_flattening")
"""torch's functions that trace a function, their local variable ``f`` (``variables/higher_order_ops.py``):
2.13, 2.15."""
_OF_AN_OUTPUT = re.compile(r"\b(\w+_fn)_output\b")
"""The name of the local variable with the function whose results do not match those of another function."""
_RUNS_KERNELS = ("_dispatch_impl", "meta_kernel")
_MOST_WRAPPED = 5
"""The most exceptions to follow from each exception to its cause or context."""
_FLAT = "flat_"
"""The name prefix of torch's wrappers of user functions (``_higher_order_ops/while_loop.py``): 2.13, 2.15."""


def failing_node(exception: BaseException) -> Any | None:
    """Return the ``torch.fx.Node`` that a backend processed when it raised.

    Compilers walk graphs node by node: the node is a local variable of the innermost call in the traceback
    that has a node. Return ``None`` if no call has one.
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
    """Return a mode that calls ``run(operator, args, kwargs)`` for each operator.

    The mode returns the result of ``run``. ``TorchDispatchMode`` (``torch/utils/_python_dispatch.py``): 2.11
    to 2.15.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    class OperatorMode(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, operator: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            return run(operator, args, kwargs or {})

    return OperatorMode()


def without_regions(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Return a graph with nested compile regions replaced by ordinary calls.

    A graph without regions is returned unchanged. In a backward pass without a compiler, ``invoke_subgraph``
    raises (``torch/_higher_order_ops/invoke_subgraph.py``: 2.13, 2.15).
    """
    if not any(node.target is torch.ops.higher_order.invoke_subgraph for node in module.graph.nodes):
        return module
    plain = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
    for node in plain.graph.find_nodes(op="call_function", target=torch.ops.higher_order.invoke_subgraph):
        region, _, *operands = node.args  # the second is torch's own name for the region
        plain.add_submodule(region.target, without_regions(getattr(module, region.target)))
        node.op, node.target, node.args = "call_module", region.target, tuple(operands)
    plain.recompile()
    return plain


def qualified_name(function: Any) -> str:
    """Return the Python name of a function in a graph.

    Examples are ``torch.relu`` and ``torch.ops.aten.relu.default``. ``_get_qualified_name``
    (``torch/fx/node.py``) (torch 2.11 to 2.15).
    """
    from torch.fx.node import _get_qualified_name

    return str(_get_qualified_name(function))


def size_hint(size: Any) -> Any:
    """Return the value that a symbolic number had while tracing; 1 if unknown.

    Other numbers are returned unchanged. ``SymNode.hint`` (``torch/fx/experimental/sym_node.py``): 2.11 to
    2.15.
    """
    if not isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return size
    hint = size.node.hint
    return 1 if hint is None else hint


def refused_result(exception: BaseException) -> tuple[CodeType, Any] | None:
    """Return the function whose result an operator rejects, and the result's position.

    The second item is the ``positions`` of the function's last returned value. Return ``None`` for any other
    exception, and for functions without Python code.
    """
    variable, tracer = _refused(exception) or (None, None)
    code = _code(variable)
    if code is not None and code.co_name.startswith(_FLAT):
        code = _code(_held(tracer, code.co_name.removeprefix(_FLAT)))
    place = _result(code) if code is not None else None
    return (code, place) if code is not None and place is not None else None


@dataclass(frozen=True, slots=True)
class FakeKernel:
    """A Python function that failed while torch ran an operator with fake tensors.

    ``trace`` is the part of the traceback that starts in the function.
    """

    operator: str
    kind: Literal["fake", "real", "composite"]
    error: BaseException
    trace: TracebackType


def failing_kernel(exception: BaseException) -> FakeKernel | None:
    """Return the function that raised while an operator ran with fake tensors.

    This is the innermost such function outside torch. ``_get_fake_value_impl`` (``torch/_dynamo/utils.py``)
    raises an error of its own, with the original error as cause or context (torch 2.11 to 2.15).
    """
    error: BaseException | None = exception
    for _ in range(_MOST_WRAPPED):
        if error is None:
            break
        if found := _kernel_in(error):
            return found
        error = error.__cause__ or error.__context__
    return None


def _kernel_in(error: BaseException) -> FakeKernel | None:
    """Return the innermost function in a traceback that torch called for an operator.

    ``FakeTensorMode._dispatch_impl`` (``torch/_subclasses/fake_tensor.py``) has the operator as ``func``,
    ``meta_kernel`` (``torch/_library/fake_impl.py``) has its name as ``qualname`` (torch 2.11 to 2.15).
    """
    operator, kernel = "", None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        is_of_torch = code.co_filename.startswith(torch_compat.folders())
        if is_of_torch and code.co_name in _RUNS_KERNELS:
            operator = _operator_run_by(trace.tb_frame) or operator
        elif operator and not is_of_torch:
            kernel, operator = FakeKernel(operator, _kind(operator), error, trace), ""
        trace = trace.tb_next
    return kernel


def _operator_run_by(frame: FrameType) -> str:
    if frame.f_code.co_name == "meta_kernel":
        return str(frame.f_locals.get("qualname", ""))
    operator = frame.f_locals.get("func")
    return operator.name() if isinstance(operator, torch._ops.OpOverload) else ""


def _kind(operator: str) -> Literal["fake", "real", "composite"]:
    """Return which implementation of an operator torch runs with fake tensors.

    The dispatcher is queried as in ``torch/csrc/Module.cpp``.
    """
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    if has_kernel(operator, "Meta"):
        return "fake"
    return "composite" if has_kernel(operator, "CompositeImplicitAutograd") else "real"


def _refused(exception: BaseException) -> tuple[Any, Any] | None:
    """Return Dynamo's variable of the function whose result is rejected, and a tracer.

    The tracer is that of the frame that calls the operator.
    """
    frames = [frame for error in _causes(exception) for frame, _ in traceback.walk_tb(error.__traceback__)]
    said = str(exception)
    if "-to-output aliasing" in said and any(frame.f_code.co_name == _REFUSES for frame in frames):
        tracing = [frame for frame in frames if frame.f_code.co_name in _TRACES]
        return next(_with_function(tracing, "f"), None)
    named = _OF_AN_OUTPUT.search(said)
    return next(_with_function(frames, named[1]), None) if named else None


def _with_function(frames: list[FrameType], name: str) -> Iterator[tuple[Any, Any]]:
    for frame in reversed(frames):
        if name in frame.f_locals and "tx" in frame.f_locals:
            yield frame.f_locals[name], frame.f_locals["tx"]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _code(variable: Any) -> CodeType | None:
    """Return the code of the function that a Dynamo variable represents, or ``None``.

    ``get_code`` (``variables/functions.py``) (torch 2.13, 2.15).
    """
    code = variable.get_code() if hasattr(variable, "get_code") else None
    return code if isinstance(code, CodeType) else None


def _held(tracer: Any, name: str) -> Any:
    """Return the Dynamo variable with a name that a traced frame shares with closures.

    ``symbolic_locals`` (``symbolic_convert.py``) has a ``CellVariable``, whose content ``load_cell``
    (``side_effects.py``) returns (torch 2.13, 2.15).
    """
    cell = tracer.symbolic_locals.get(name)
    return tracer.output.side_effects.load_cell(cell) if cell is not None else None


def _result(code: CodeType) -> Any:
    """Return the ``positions`` of a function's last returned value.

    Return ``None`` before Python 3.11.
    """
    instructions = list(dis.get_instructions(code))
    returned = [at for at, item in enumerate(instructions) if item.opname == "RETURN_VALUE" and at]
    return getattr(instructions[returned[-1] - 1], "positions", None) if returned else None
