"""Reductions of the graph: fewer outputs and inputs, and no unused parts."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from ..cases.case import (
    CaseOperation,
    FailureCase,
    IntegerValues,
    NormalValues,
    ResultRef,
    TensorSpec,
    Value,
    leaves,
    references,
    substitute,
    uses,
)

_PURE_PREFIXES = ("operator.", "_operator.", "math.", "builtins.", "torch.sym_", "torch.ops.aten.sym_")
_PURE_METHODS = ("size", "stride", "numel", "dim", "item")
_TORCH_NAMESPACES = ("aten", "prims", "prim")
_WRITING_OPERATORS = re.compile(
    r"(setitem|delitem|i(add|and|floordiv|lshift|matmul|mod|mul|or|pow|rshift|sub|truediv|xor))"
)


def filled(spec: TensorSpec) -> NormalValues | IntegerValues:
    """Return default values for a tensor whose real values do not matter."""
    # Integers are mostly indices: 0 and 1 are valid nearly everywhere.
    return IntegerValues(0, 1) if spec.dtype == "bool" or "int" in spec.dtype else NormalValues()


def without_outputs(case: FailureCase, positions: Collection[int]) -> FailureCase | None:
    """Return a case without some outputs."""
    outputs = tuple(output for i, output in enumerate(case.graph.outputs) if i not in positions)
    return sensible(tidy(replace(case, graph=replace(case.graph, outputs=outputs))))


def inputs_like_others(case: FailureCase) -> list[str]:
    """Return the names of inputs that an earlier input with the same spec can replace."""
    return [name for name, first in _first_alike(case).items() if first != name]


def with_inputs_merged(case: FailureCase, names: Collection[str]) -> FailureCase | None:
    """Return a case with some inputs replaced by earlier inputs with the same spec."""
    first = _first_alike(case)
    return _with_values(case, {name: ResultRef(first[name]) for name in names})


def number_inputs(case: FailureCase) -> list[str]:
    """Return the names of the inputs that are plain numbers."""
    return [given.name for given in case.inputs if given.spec is None]


def with_numbers_inlined(case: FailureCase, names: Collection[str]) -> FailureCase | None:
    """Return a case with some number inputs turned into constants of the graph."""
    return _with_values(case, {given.name: given.value for given in case.inputs if given.name in names})


def tidy(case: FailureCase) -> FailureCase:
    """Return a case without unused operations, inputs and subgraphs."""
    needed = set(references(case.graph.outputs))
    kept: list[CaseOperation] = []
    for operation in reversed(case.graph.operations):
        if operation.name in needed or _has_effect(operation):
            kept.append(operation)
            needed.update(uses(operation))
    if len(kept) < len(case.graph.operations):
        case = replace(case, graph=replace(case.graph, operations=tuple(reversed(kept))))
    graphs = {operation.target for operation in kept if operation.kind == "get_attr"}
    return replace(
        case,
        graph=replace(
            case.graph,
            parameters=tuple(name for name in case.graph.parameters if name in needed),
            subgraphs=tuple((name, graph) for name, graph in case.graph.subgraphs if name in graphs),
        ),
        inputs=tuple(given for given in case.inputs if given.name in needed),
    )


def with_all_results(case: FailureCase) -> FailureCase:
    """Return a case with all unused results as outputs: no operation is unused then."""
    used = {name for operation in case.graph.operations for name in uses(operation)}
    used.update(references(case.graph.outputs))
    results = [
        ResultRef(operation.name)
        for operation in case.graph.operations
        if operation.name not in used and operation.spec is not None
    ]
    return tidy(replace(case, graph=replace(case.graph, outputs=(*case.graph.outputs, *results))))


# -- operations --------------------------------------------------------------------------------


def writes(operation: CaseOperation) -> bool:
    """Return whether an operation changes its first argument.

    The operation's name or ``inplace=True`` shows this.
    """
    parts = operation.target.split(".")
    if parts[0] in ("operator", "_operator"):
        return _WRITING_OPERATORS.fullmatch(parts[1]) is not None
    name = parts[3] if operation.target.startswith("torch.ops.") else parts[-1]
    return (name.endswith("_") and not name.endswith("__")) or ("inplace", True) in operation.kwargs


def _has_effect(operation: CaseOperation) -> bool:
    """Return whether an operation may have an effect besides its result."""
    if operation.kind == "get_attr":
        return False
    if operation.spec is None or writes(operation):
        return True
    parts = operation.target.split(".")
    if operation.target.startswith("torch.ops.") and parts[2] not in _TORCH_NAMESPACES:
        return True
    # ``inplace=True``, or a batch norm that updates statistics.
    flags = (*operation.args, *(value for _, value in operation.kwargs))
    if operation.target.startswith("torch.nn.functional.") and any(flag is True for flag in flags):
        return True
    if any(key == "out" for key, _ in operation.kwargs):
        return True
    makes_tensors = any(isinstance(spec, TensorSpec) for spec in leaves(operation.spec))
    pure = operation.target.startswith(_PURE_PREFIXES) or (
        operation.kind == "call_method" and operation.target in _PURE_METHODS
    )
    return not makes_tensors and not pure


def substituted(operation: CaseOperation, values: dict[str, Value]) -> CaseOperation:
    """Return an operation with references replaced by values.

    If nothing changes, return the same object.
    """
    if values.keys().isdisjoint(uses(operation)):
        return operation
    kwargs = tuple((key, substitute(value, values)) for key, value in operation.kwargs)
    return replace(operation, args=substitute(operation.args, values), kwargs=kwargs)


# -- cases -------------------------------------------------------------------------------------


def _first_alike(case: FailureCase) -> dict[str, str]:
    """Return, for the name of each tensor input, the first input with the same spec."""
    firsts: dict[TensorSpec, str] = {}
    return {
        given.name: firsts.setdefault(given.spec, given.name)
        for given in case.inputs
        if given.spec is not None
    }


def _with_values(case: FailureCase, values: dict[str, Value]) -> FailureCase | None:
    """Return a case with some inputs replaced by values.

    ``None`` if the remaining case would make no sense.
    """
    graph = case.graph
    operations = tuple(substituted(operation, values) for operation in graph.operations)
    outputs = substitute(graph.outputs, values)
    return sensible(tidy(replace(case, graph=replace(graph, operations=operations, outputs=outputs))))


def sensible(case: FailureCase) -> FailureCase | None:
    """Return ``case``, or ``None`` if the case computes nothing or returns nothing."""
    computes = any(operation.kind != "get_attr" for operation in case.graph.operations)
    return case if computes and any(references(case.graph.outputs)) else None
