"""A case: a graph with its inputs and the way it is compiled. All that a repro needs, as plain data.

Operations are named, not referred to: whoever shrinks a case needs neither the user's custom operators nor a
GPU, and a case can go to another process and to a file. Only a repro that runs turns names into calls.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ..facts import Level, Stack


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """What a tensor is like: ``dtype`` is ``float32``, ``device`` is ``cpu`` or ``cuda:0``.

    One that requires a gradient is a ``leaf`` unless it was computed from another one.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    device: str
    requires_grad: bool = False
    leaf: bool = True


@dataclass(frozen=True, slots=True)
class Normal:
    """Random numbers of about this mean and standard deviation, the same each time."""

    mean: float = 0.0
    std: float = 1.0


@dataclass(frozen=True, slots=True)
class Integers:
    """Random integers from ``low`` to ``high``, both included; booleans are 0 and 1."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Exact:
    """These very numbers: the bytes of the contiguous tensor, in the machine's order."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a graph: a tensor and what fills it, or a plain Python number."""

    name: str
    spec: TensorSpec | None
    value: Normal | Integers | Exact | bool | int | float


@dataclass(frozen=True, slots=True)
class Ref:
    """The result of an earlier operation, or an input, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Code:
    """A constant that is written as Python: ``torch.float16``, ``torch.device('cpu')``."""

    text: str


Value: TypeAlias = Any
"""``Ref``, ``Code``, ``None``, a number, a string, ``...``, or a tuple, list, dict or slice of them."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a graph.

    ``kind`` is that of an fx node: ``call_function`` (``target`` is how Python names the function:
    ``torch.relu``, ``torch.ops.aten.relu.default``), ``call_method`` (a method's name; the first argument is
    its object) or ``get_attr`` (the name of a subgraph). ``spec`` is what it makes: a ``TensorSpec``, a
    number, or a tuple of such; ``None`` if it is not known. ``calls`` is the user's stack.
    """

    name: str
    kind: str
    target: str
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...] = ()
    spec: Any = None
    calls: Stack = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Operations in order, what is returned, and the graphs that higher-order operators call, by name.

    ``parameters`` are the names of the inputs. ``outputs`` is a tuple. A ``bare`` graph, which some
    higher-order operators want, returns its only output by itself.
    """

    parameters: tuple[str, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[Value, ...]
    subgraphs: tuple[tuple[str, Graph], ...] = ()
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A graph with one input for each parameter, and how it is compiled.

    ``backend`` is a name for ``torch.compile(backend=...)`` or, with ``backend_is_code``, a Python
    expression; at level ``aot`` it is ``inductor``. ``preamble`` are the statements, and ``settings`` the
    assignments to torch's configuration, that must come before. ``dynamic`` compiles for any size,
    ``fullgraph`` says that a backend's failure may not become a graph break.
    ``compile_id`` is the compilation that it comes from. ``static`` are the dimensions of each input that
    have one size in a graph that is ``dynamic`` in others.
    """

    level: Level
    backend: str
    graph: Graph
    inputs: tuple[Input, ...]
    preamble: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    backend_is_code: bool = False
    dynamic: bool = False
    fullgraph: bool = False
    compile_id: str = ""
    static: tuple[tuple[int, ...], ...] = ()

    @property
    def nodes(self) -> int:
        """How large it is: the number of operations that compute something."""
        return count_nodes(self.graph)

    @property
    def on_accelerator(self) -> bool:
        """Whether an input is elsewhere than on the CPU."""
        return any(item.spec is not None and item.spec.device != "cpu" for item in self.inputs)


def count_nodes(graph: Graph) -> int:
    """The number of operations, those of subgraphs included; taking an item of a result is none."""
    own = sum(
        operation.kind != "get_attr" and operation.target not in ("operator.getitem", "_operator.getitem")
        for operation in graph.operations
    )
    return own + sum(count_nodes(subgraph) for _, subgraph in graph.subgraphs)


def leaves(value: Value) -> Iterator[Value]:
    """What a value is made of: constants and ``Ref``s."""
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
    """A value with each of its leaves changed."""
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(item, change) for item in value)
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*(mapped(part, change) for part in (value.start, value.stop, value.step)))
    return change(value)


def references(value: Value) -> Iterator[str]:
    """The names that a value refers to."""
    return (leaf.name for leaf in leaves(value) if isinstance(leaf, Ref))


def uses(operation: Operation) -> Iterator[str]:
    """The names that an operation needs."""
    yield from references(operation.args)
    for _, value in operation.kwargs:
        yield from references(value)


def substitute(value: Value, replacements: dict[str, Value]) -> Value:
    """A value with some names replaced by other values."""
    return mapped(value, lambda leaf: replacements.get(leaf.name, leaf) if isinstance(leaf, Ref) else leaf)


def save(case: Case, path: Path) -> None:
    """Write a case to a file."""
    path.write_bytes(pickle.dumps(case))


def load(path: Path) -> Case:
    """Read a case that :func:`save` has written."""
    case = pickle.loads(path.read_bytes())
    assert isinstance(case, Case)
    return case
