"""A case: a graph, its inputs and its compile options as plain data.

A case contains everything that a repro needs. Operations are stored by name, and the names are resolved only
when a repro runs. So a case can be reduced without the user's custom operators and without a GPU, and it can
be sent to another process or saved to a file.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ..facts import Level, Stack


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """The metadata of a tensor.

    ``dtype`` is written like ``float32``, ``device`` like ``cpu`` or ``cuda:0``. ``leaf`` is ``is_leaf`` of
    autograd: false for a tensor that requires a gradient and was computed from another tensor.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    device: str
    requires_grad: bool = False
    leaf: bool = True


@dataclass(frozen=True, slots=True)
class NormalValues:
    """Random numbers of about this mean and standard deviation, equal in every run."""

    mean: float = 0.0
    std: float = 1.0


@dataclass(frozen=True, slots=True)
class IntegerValues:
    """Random integers from ``low`` to ``high``, both included; booleans are 0 and 1."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class ExactValues:
    """The exact values of a tensor: its bytes, contiguous, in native byte order."""

    data: bytes


@dataclass(frozen=True, slots=True)
class CaseInput:
    """An input of a graph: a tensor and its values, or a plain Python number.

    ``spec`` is ``None`` for a number.
    """

    name: str
    spec: TensorSpec | None
    value: NormalValues | IntegerValues | ExactValues | bool | int | float


@dataclass(frozen=True, slots=True)
class ResultRef:
    """A reference, by name, to an input or to the result of an earlier operation."""

    name: str


@dataclass(frozen=True, slots=True)
class ConstantCode:
    """A constant, as a Python expression: ``torch.float16``, ``torch.device('cpu')``."""

    text: str


Value: TypeAlias = Any
"""A value in the arguments of an operation.

``ResultRef``, ``ConstantCode``, ``None``, a number, a string, ``...``, or a tuple, list, dict or slice of
these.
"""


@dataclass(frozen=True, slots=True)
class CaseOperation:
    """One operation of a graph.

    ``kind`` is the ``op`` of an fx node:

    - ``call_function``: ``target`` is the qualified name of the function (``torch.relu``,
      ``torch.ops.aten.relu.default``)
    - ``call_method``: ``target`` is the name of the method; the first argument is the object
    - ``get_attr``: ``target`` is the name of a subgraph

    ``spec`` describes the result: a ``TensorSpec``, a number, or a tuple of these; ``None`` if the result is
    unknown. ``calls`` is the user stack.
    """

    name: str
    kind: str
    target: str
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...] = ()
    spec: Any = None
    calls: Stack = ()


@dataclass(frozen=True, slots=True)
class CaseGraph:
    """Operations in order, outputs, and subgraphs of higher-order operators by name.

    ``parameters`` are the names of the inputs. A ``bare`` graph returns its only output without a tuple; some
    higher-order operators require such graphs.
    """

    parameters: tuple[str, ...]
    operations: tuple[CaseOperation, ...]
    outputs: tuple[Value, ...]
    subgraphs: tuple[tuple[str, CaseGraph], ...] = ()
    bare: bool = False


@dataclass(frozen=True, slots=True)
class FailureCase:
    """A graph with one input for each parameter, and the options of its compilation.

    ``backend`` is a name for ``torch.compile(backend=...)`` or, with ``backend_is_code``, a Python
    expression; at level ``aot`` it is ``inductor``. ``preamble`` contains statements, and ``settings``
    assignments to torch's configuration; both must run before the graph is compiled. With ``dynamic`` the
    graph is compiled for symbolic sizes; ``static`` lists, for each input, the dimensions that still are not
    symbolic. With ``fullgraph`` a failure of the backend cannot become a graph break. ``compile_id`` is that
    of the original compilation.
    """

    level: Level
    backend: str
    graph: CaseGraph
    inputs: tuple[CaseInput, ...]
    preamble: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    backend_is_code: bool = False
    dynamic: bool = False
    fullgraph: bool = False
    compile_id: str = ""
    static: tuple[tuple[int, ...], ...] = ()

    @property
    def nodes(self) -> int:
        """The number of operations that compute something, without ``getitem`` operations."""
        computing = (item for item in all_operations(self.graph) if item.kind != "get_attr")
        return sum(not takes_item(item) for item in computing)

    @property
    def on_accelerator(self) -> bool:
        """Whether an input is on a device other than the CPU."""
        return any(item.spec is not None and item.spec.device != "cpu" for item in self.inputs)


def all_operations(graph: CaseGraph) -> Iterator[CaseOperation]:
    """Yield the operations of the graph's subgraphs, then the operations of the graph."""
    for _, subgraph in graph.subgraphs:
        yield from all_operations(subgraph)
    yield from graph.operations


def takes_item(operation: CaseOperation) -> bool:
    """Return whether an operation is a ``getitem`` of a tensor or of a tuple."""
    return operation.target in ("operator.getitem", "_operator.getitem")


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor with this shape."""
    return tuple(math.prod(max(length, 1) for length in shape[place + 1 :]) for place in range(len(shape)))


def leaves(value: Value) -> Iterator[Value]:
    """Yield the constants and ``ResultRef``s in a nested value."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(tuple(value.values()))
    elif isinstance(value, slice):
        yield from leaves((value.start, value.stop, value.step))
    else:
        yield value


def mapped(value: Value, change: Callable[[Value], Value]) -> Value:
    """Return a copy of a nested value with ``change`` applied to each leaf."""
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(item, change) for item in value)
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*(mapped(part, change) for part in (value.start, value.stop, value.step)))
    return change(value)


def references(value: Value) -> Iterator[str]:
    """Yield the names of inputs and operations that a value refers to."""
    return (leaf.name for leaf in leaves(value) if isinstance(leaf, ResultRef))


def uses(operation: CaseOperation) -> Iterator[str]:
    """Yield the names of inputs and operations that an operation's arguments refer to."""
    yield from references(operation.args)
    for _, value in operation.kwargs:
        yield from references(value)


def substitute(value: Value, replacements: dict[str, Value]) -> Value:
    """Return a copy of a nested value in which references are replaced.

    ``replacements`` has the new values by the names of the references; other references stay.
    """
    return mapped(
        value, lambda leaf: replacements.get(leaf.name, leaf) if isinstance(leaf, ResultRef) else leaf
    )


def save(case: FailureCase, path: Path) -> None:
    """Write a case to a file."""
    path.write_bytes(pickle.dumps(case))


def load(path: Path) -> FailureCase:
    """Read a case from a file that :func:`save` wrote."""
    case = pickle.loads(path.read_bytes())
    assert isinstance(case, FailureCase)
    return case
