"""Reductions that keep the operations: plain dtypes and data, no settings, round numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace

from ..cases.case import Case, Code, Input, Operation, TensorSpec, Value
from .reduction_everywhere import constants, rewritten
from .reduction_graph import filled
from .reduction_sizes import contiguous

_REDUCED = ("float16", "bfloat16")


# -- how a case is compiled --------------------------------------------------------------------


def setting_positions(case: Case) -> range:
    """Return the positions of the settings."""
    return range(len(case.settings))


def without_settings(case: Case, positions: Collection[int]) -> Case:
    """Return a case without some settings."""
    return replace(case, settings=_others(case.settings, positions))


def preamble_positions(case: Case) -> range:
    """Return the positions of the statements of the preamble."""
    return range(len(case.preamble))


def without_preamble(case: Case, positions: Collection[int]) -> Case:
    """Return a case without some statements of the preamble."""
    return replace(case, preamble=_others(case.preamble, positions))


def dynamic(case: Case) -> list[str]:
    """Return one item if the case is compiled for dynamic shapes, else none."""
    return ["dynamic"] if case.dynamic else []


def without_dynamic(case: Case, _: Collection[str]) -> Case:
    """Return a case that is compiled for static shapes."""
    return replace(case, dynamic=False)


def _others(lines: tuple[str, ...], positions: Collection[int]) -> tuple[str, ...]:
    return tuple(line for i, line in enumerate(lines) if i not in positions)


# -- inputs ------------------------------------------------------------------------------------


def recorded_inputs(case: Case) -> list[str]:
    """Return the names of the inputs with recorded values or distributions."""
    return [given.name for given in case.inputs if given.spec and given.value != filled(given.spec)]


def without_records(case: Case, names: Collection[str]) -> Case:
    """Return a case with default random values for some inputs."""
    return _with_inputs(case, names, lambda given, spec: replace(given, value=filled(spec)))


def inputs_with_gradient(case: Case) -> list[str]:
    """Return the names of the inputs that require a gradient."""
    return [given.name for given in case.inputs if given.spec is not None and given.spec.requires_grad]


def without_gradient(case: Case, names: Collection[str]) -> Case:
    """Return a case in which some inputs require no gradient."""
    return _with_inputs(
        case, names, lambda given, spec: replace(given, spec=replace(spec, requires_grad=False))
    )


def strided_inputs(case: Case) -> list[str]:
    """Return the names of the inputs that are not contiguous."""
    return [
        given.name
        for given in case.inputs
        if given.spec is not None and given.spec.stride != contiguous(given.spec.shape)
    ]


def without_strides(case: Case, names: Collection[str]) -> Case:
    """Return a case in which some inputs are contiguous."""
    return _with_inputs(
        case, names, lambda given, spec: replace(given, spec=replace(spec, stride=contiguous(spec.shape)))
    )


def _with_inputs(case: Case, names: Collection[str], change: Callable[[Input, TensorSpec], Input]) -> Case:
    inputs = tuple(
        change(given, given.spec) if given.name in names and given.spec is not None else given
        for given in case.inputs
    )
    return replace(case, inputs=inputs)


# -- types and devices -------------------------------------------------------------------------


def reduced_dtypes(case: Case) -> list[str]:
    """Return the dtypes of low precision that occur in a case."""
    used = {given.spec.dtype for given in case.inputs if given.spec is not None}
    used |= {code.text.removeprefix("torch.") for code in constants(case.graph) if isinstance(code, Code)}
    return [dtype for dtype in _REDUCED if dtype in used]


def with_float32_instead(case: Case, dtypes: Collection[str]) -> Case:
    """Return a case with some dtypes replaced by ``float32``."""
    texts = {f"torch.{dtype}" for dtype in dtypes}
    return rewritten(
        case,
        lambda leaf: Code("torch.float32") if isinstance(leaf, Code) and leaf.text in texts else leaf,
        lambda spec: replace(spec, dtype="float32") if spec.dtype in dtypes else spec,
    )


def accelerators(case: Case) -> list[str]:
    """Return one item if any part of the case is not on the CPU, else none."""
    is_on_one = case.on_accelerator or any(_on_cpu(leaf) != leaf for leaf in constants(case.graph))
    return ["accelerator"] if is_on_one else []


def with_cpu_instead(case: Case, _: Collection[str]) -> Case:
    """Return a case with everything on the CPU."""
    return rewritten(case, _on_cpu, lambda spec: replace(spec, device="cpu"))


def _on_cpu(leaf: Value) -> Value:
    if isinstance(leaf, Code):
        device = r"torch\.device\([^)]*(cuda|xpu|mps)[^)]*\)"
        return Code(re.sub(device, "torch.device('cpu')", leaf.text))
    return "cpu" if isinstance(leaf, str) and re.fullmatch(r"(cuda|xpu|mps)(:\d+)?", leaf) else leaf


# -- arguments ---------------------------------------------------------------------------------


def keywords(case: Case) -> list[tuple[str, str]]:
    """Return the keyword arguments as pairs of the operation's and the argument's name."""
    return [(operation.name, key) for operation in case.graph.operations for key, _ in operation.kwargs]


def without_keywords(case: Case, places: Collection[tuple[str, str]]) -> Case:
    """Return a case without some keyword arguments."""

    def change(operation: Operation) -> Operation:
        kwargs = tuple(item for item in operation.kwargs if (operation.name, item[0]) not in places)
        return replace(operation, kwargs=kwargs)

    return _with_operations(case, change)


def numbers(case: Case) -> list[tuple[str, int]]:
    """Return the constants that could be simpler, as pairs of the operation's name and the position."""
    return [
        (operation.name, i)
        for operation in case.graph.operations
        for i, value in enumerate(operation.args)
        if (type(value) is float and value not in (0.0, 1.0)) or (type(value) is int and abs(value) > 2)
    ]


def with_ones_instead(case: Case, places: Collection[tuple[str, int]]) -> Case:
    """Return a case with some constants replaced by 1."""

    def change(operation: Operation) -> Operation:
        args = tuple(
            type(value)(1) if (operation.name, i) in places else value
            for i, value in enumerate(operation.args)
        )
        return replace(operation, args=args)

    return _with_operations(case, change)


def _with_operations(case: Case, change: Callable[[Operation], Operation]) -> Case:
    operations = tuple(change(operation) for operation in case.graph.operations)
    return replace(case, graph=replace(case.graph, operations=operations))
