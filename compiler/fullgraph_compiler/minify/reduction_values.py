"""Reductions that keep the operations: plain data, no settings, simple numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, TypeAlias

from ..cases.case import CaseInput, CaseOperation, ConstantCode, FailureCase, TensorSpec, Value, contiguous
from .reduction_everywhere import constants, rewritten
from .reduction_graph import filled

_REDUCED = ("float16", "bfloat16")


InputChange: TypeAlias = Callable[[CaseInput, TensorSpec], CaseInput]
"""A function that changes a tensor input. Its arguments are the input and the input's spec."""


def without_lines(field: str, case: FailureCase, positions: Collection[int]) -> FailureCase:
    """Return a case without some lines of ``settings`` or of ``preamble``."""
    lines: Any = tuple(line for i, line in enumerate(getattr(case, field)) if i not in positions)
    return replace(case, **{field: lines})


# -- inputs ------------------------------------------------------------------------------------


def changeable(change: InputChange, case: FailureCase) -> list[str]:
    """Return the names of the tensor inputs that a change alters."""
    return [given.name for given in case.inputs if given.spec and change(given, given.spec) != given]


def with_inputs(change: InputChange, case: FailureCase, names: Collection[str]) -> FailureCase:
    """Return a case with some inputs changed."""
    inputs = tuple(
        change(given, given.spec) if given.name in names and given.spec is not None else given
        for given in case.inputs
    )
    return replace(case, inputs=inputs)


def unrecorded(given: CaseInput, spec: TensorSpec) -> CaseInput:
    """Return an input with default random values instead of its recorded values."""
    return replace(given, value=filled(spec))


def without_gradient(given: CaseInput, spec: TensorSpec) -> CaseInput:
    """Return an input that requires no gradient."""
    return replace(given, spec=replace(spec, requires_grad=False))


def without_strides(given: CaseInput, spec: TensorSpec) -> CaseInput:
    """Return an input that is contiguous."""
    return replace(given, spec=replace(spec, stride=contiguous(spec.shape)))


# -- types and devices -------------------------------------------------------------------------


def reduced_dtypes(case: FailureCase) -> list[str]:
    """Return the dtypes of low precision that occur in a case."""
    used = {given.spec.dtype for given in case.inputs if given.spec is not None}
    used |= {
        code.text.removeprefix("torch.") for code in constants(case.graph) if isinstance(code, ConstantCode)
    }
    return [dtype for dtype in _REDUCED if dtype in used]


def with_float32_instead(case: FailureCase, dtypes: Collection[str]) -> FailureCase:
    """Return a case with some dtypes replaced by ``float32``."""
    texts = {f"torch.{dtype}" for dtype in dtypes}
    return rewritten(
        case,
        lambda leaf: (
            ConstantCode("torch.float32") if isinstance(leaf, ConstantCode) and leaf.text in texts else leaf
        ),
        lambda spec: replace(spec, dtype="float32") if spec.dtype in dtypes else spec,
    )


def accelerators(case: FailureCase) -> list[str]:
    """Return one item if any part of the case is not on the CPU, else an empty list."""
    is_on_one = case.on_accelerator or any(_on_cpu(leaf) != leaf for leaf in constants(case.graph))
    return ["accelerator"] if is_on_one else []


def with_cpu_instead(case: FailureCase, _: Collection[str]) -> FailureCase:
    """Return a case with all tensors and device arguments on the CPU."""
    return rewritten(case, _on_cpu, lambda spec: replace(spec, device="cpu"))


def _on_cpu(leaf: Value) -> Value:
    if isinstance(leaf, ConstantCode):
        device = r"torch\.device\([^)]*(cuda|xpu|mps)[^)]*\)"
        return ConstantCode(re.sub(device, "torch.device('cpu')", leaf.text))
    return "cpu" if isinstance(leaf, str) and re.fullmatch(r"(cuda|xpu|mps)(:\d+)?", leaf) else leaf


# -- arguments ---------------------------------------------------------------------------------


def keywords(case: FailureCase) -> list[tuple[str, str]]:
    """Return all keyword arguments, as pairs of operation name and argument name."""
    return [(operation.name, key) for operation in case.graph.operations for key, _ in operation.kwargs]


def without_keywords(case: FailureCase, places: Collection[tuple[str, str]]) -> FailureCase:
    """Return a case without some keyword arguments."""

    def change(operation: CaseOperation) -> CaseOperation:
        kwargs = tuple(item for item in operation.kwargs if (operation.name, item[0]) not in places)
        return replace(operation, kwargs=kwargs)

    return _with_operations(case, change)


def numbers(case: FailureCase) -> list[tuple[str, int]]:
    """Return the number arguments that could be simpler.

    Each is a pair of the operation's name and the position of the argument.
    """
    return [
        (operation.name, i)
        for operation in case.graph.operations
        for i, value in enumerate(operation.args)
        if (type(value) is float and value not in (0.0, 1.0)) or (type(value) is int and abs(value) > 2)
    ]


def with_ones_instead(case: FailureCase, places: Collection[tuple[str, int]]) -> FailureCase:
    """Return a case with some number arguments replaced by 1."""

    def change(operation: CaseOperation) -> CaseOperation:
        args = tuple(
            type(value)(1) if (operation.name, i) in places else value
            for i, value in enumerate(operation.args)
        )
        return replace(operation, args=args)

    return _with_operations(case, change)


def _with_operations(case: FailureCase, change: Callable[[CaseOperation], CaseOperation]) -> FailureCase:
    operations = tuple(change(operation) for operation in case.graph.operations)
    return replace(case, graph=replace(case.graph, operations=operations))
