"""Convert an fx graph and its inputs to plain data (:mod:`.case`)."""

from __future__ import annotations

import enum
import keyword
import re
import types
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from ..compat import graph_compat, inductor_compat
from ..compat.fake_compat import has_data
from ..facts import Stack
from ..trace.messages import parse_frames
from .case import (
    CaseGraph,
    CaseInput,
    CaseOperation,
    ConstantCode,
    ExactValues,
    IntegerValues,
    NormalValues,
    ResultRef,
    TensorSpec,
    Value,
)
from .statements import NAMESPACES_OF_TORCH

_MOST_EXACT = 1024
"""The maximum number of elements of a tensor whose exact values are saved, not only their distribution."""


class UnreadableError(Exception):
    """The error that a repro cannot express something; the message says what."""


@dataclass(frozen=True, slots=True)
class GraphReading:
    """A graph, its constant tensors, and the names that the graph needs.

    The constant tensors belong to the last parameters of the graph. ``wanted`` contains the names of the
    program's functions and operators (``mylib::op``).
    """

    graph: CaseGraph
    constants: tuple[torch.Tensor, ...]
    wanted: frozenset[str]


def read_graph(module: torch.fx.GraphModule) -> GraphReading:
    """Convert a graph of Dynamo or of AOTAutograd.

    Raises :class:`UnreadableError`.
    """
    reader = _GraphReader(module)
    graph = reader.read()
    return GraphReading(graph, tuple(reader.constants), frozenset(reader.wanted))


def read_input(name: str, value: Any) -> CaseInput:
    """Convert an input to a description from which a repro can create the input again.

    Raises :class:`UnreadableError`.
    """
    if isinstance(value, (bool, int, float)):
        return CaseInput(name, None, value)
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return CaseInput(name, None, graph_compat.size_hint(value))
    spec = _tensor_spec(value)
    if spec is None:
        raise UnreadableError(f"the input {name} is a {type(value).__name__}, which a repro cannot create")
    return CaseInput(name, replace(spec, leaf=value.is_leaf), _filling(value.detach()))


def without_gradient(item: CaseInput) -> CaseInput:
    """Return an input with ``requires_grad`` set to false."""
    return replace(item, spec=replace(item.spec, requires_grad=False, leaf=True)) if item.spec else item


@dataclass(slots=True)
class _GraphReader:
    module: torch.fx.GraphModule
    constants: list[torch.Tensor] = field(default_factory=list)
    wanted: set[str] = field(default_factory=set)
    _parameters: list[str] = field(default_factory=list)
    _subgraphs: dict[str, CaseGraph] = field(default_factory=dict)
    _lifted: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)
    """The shortened names of inputs, by their names in the fx graph."""

    def read(self) -> CaseGraph:
        operations: list[CaseOperation] = []
        outputs: tuple[Value, ...] = ()
        bare = False
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                self._parameters.append(self._rename(node.name))
            elif node.op == "output":
                result = self._value(node.args[0])
                bare = not isinstance(result, (tuple, list))
                outputs = (result,) if bare else tuple(result)
            elif node.op != "get_attr" or not self._lift(node):
                operations.append(self._operation(node))
        parameters = (*self._parameters, *self._lifted)
        return CaseGraph(parameters, tuple(operations), outputs, tuple(self._subgraphs.items()), bare)

    def _rename(self, name: str) -> str:
        """Shorten an input's name.

        For example, ``l_self_modules_fc_parameters_weight_`` becomes ``fc_weight``.
        """
        words = re.sub(r"^l_(.*)_$", r"\1", name)
        words = re.sub(r"_?(modules|parameters|buffers)_", "_", words).removeprefix("self_")
        taken = {node.name for node in self.module.graph.nodes} | {*self._names.values(), *keyword.kwlist}
        self._names[name] = words if words.isidentifier() and words not in taken else name
        return self._names[name]

    def _lift(self, node: torch.fx.Node) -> bool:
        """Turn a constant tensor of the module into an input.

        Return false if the attribute is not a tensor.
        """
        held = _attribute(self.module, str(node.target))
        if not isinstance(held, torch.Tensor):
            return False
        self._lifted.append(node.name)
        self.constants.append(held)
        return True

    def _operation(self, node: torch.fx.Node) -> CaseOperation:
        target = str(node.target)
        kwargs = dict(node.kwargs)
        if node.op == "get_attr":
            self._read_subgraph(target)
        elif node.op == "call_function":
            target = self._function(node.target)
            if "triton_kernel_wrapper" in target:
                kwargs = self._triton_call(kwargs)
        elif node.op == "call_module":
            raise UnreadableError(f"the graph calls a module ({target}), which a repro cannot contain")
        return CaseOperation(
            name=node.name,
            kind=node.op,
            target=target,
            args=self._value(tuple(node.args)),
            kwargs=tuple((name, self._value(value)) for name, value in kwargs.items()),
            spec=_spec(node.meta.get("example_value", node.meta.get("val"))),
            calls=_calls(node),
        )

    def _read_subgraph(self, name: str) -> None:
        held = _attribute(self.module, name)
        if not isinstance(held, torch.fx.GraphModule):
            raise UnreadableError(
                f"the graph contains a {type(held).__name__} ({name}), which a repro cannot create"
            )
        reader = _GraphReader(held, self.constants, self.wanted)
        self._subgraphs[name] = reader.read()
        if reader._lifted:
            raise UnreadableError(f"the subgraph {name} contains constant tensors")

    def _function(self, target: Any) -> str:
        name = graph_compat.qualified_name(target)
        if name.startswith("torch.ops."):
            namespace, operator = name.split(".")[2:4]
            if namespace not in NAMESPACES_OF_TORCH:
                self.wanted.add(f"{namespace}::{operator}")
        elif not name.startswith(("torch.", "_operator.", "math.", "builtins.")):
            # A function that the program passed to allow_in_graph; a repro defines it at top level.
            name = str(target.__qualname__)
            self.wanted.add(name)
        return name.replace("_operator.", "operator.", 1) if name.startswith("_operator.") else name

    def _triton_call(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call of a Triton kernel of the user.

        The kernel and the constant arguments, which torch's call contains as numbers of tables, are resolved.
        """
        name, constants = inductor_compat.triton_kernel(kwargs["kernel_idx"], kwargs["constant_args_idx"])
        self.wanted.add(name)
        grid = kwargs["grid"][0] if kwargs["grid"] else (1,)
        return {
            "kernel": ConstantCode(name),
            "grid": tuple(grid),
            "kwargs": {**kwargs["kwargs"], **constants},
        }

    def _value(self, value: Any) -> Value:
        if isinstance(value, torch.fx.Node):
            return ResultRef(self._names.get(value.name, value.name))
        if isinstance(value, ConstantCode) or value is None or value is Ellipsis:
            return value
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return graph_compat.size_hint(value)
        if isinstance(value, enum.Enum):
            return ConstantCode(f"{type(value).__module__}.{value}")
        if isinstance(value, (bool, int, float, complex, str)):
            return value
        if isinstance(value, (tuple, list)):
            # fx keeps its own immutable lists, and torch.Size is a tuple.
            kind = tuple if isinstance(value, tuple) else list
            return kind(self._value(item) for item in value)
        if isinstance(value, dict):
            return {key: self._value(item) for key, item in value.items()}
        if isinstance(value, slice):
            return slice(*(self._value(item) for item in (value.start, value.stop, value.step)))
        if isinstance(value, torch.device):
            return ConstantCode(f"torch.device({str(value)!r})")
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return ConstantCode(str(value))
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
            return ConstantCode(self._function(value))
        raise UnreadableError(f"the graph contains a {type(value).__name__}, which a repro cannot create")


def _attribute(module: torch.nn.Module, name: str) -> Any:
    held: Any = module
    for part in name.split("."):
        held = getattr(held, part)
    return held


def _calls(node: torch.fx.Node) -> Stack:
    trace = node.meta.get("stack_trace")
    return parse_frames(trace.splitlines()) if trace else ()


def _spec(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _tensor_spec(value)
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return graph_compat.size_hint(value)
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(map(_spec, value))
    return None


def _tensor_spec(value: Any) -> TensorSpec | None:
    """Return the metadata of a strided tensor.

    ``None`` for sparse or nested tensors and for objects that are not tensors. ``None`` also for a tensor
    subclass that wraps other tensors (``DTensor``), because AOTAutograd compiles the inner tensors.
    """
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided or value.is_nested:
        return None
    if hasattr(value, "__tensor_flatten__"):
        return None
    return TensorSpec(
        shape=tuple(map(graph_compat.size_hint, value.shape)),
        stride=tuple(map(graph_compat.size_hint, value.stride())),
        dtype=str(value.dtype).removeprefix("torch."),
        device=str(value.device),
        requires_grad=value.requires_grad,
    )


def _filling(tensor: torch.Tensor) -> NormalValues | IntegerValues | ExactValues:
    if not has_data(tensor):
        return IntegerValues(0, 1) if tensor.dtype in _WHOLE else NormalValues()
    if tensor.numel() <= _MOST_EXACT:
        return ExactValues(_bytes(tensor))
    if tensor.dtype in _WHOLE:
        low, high = (int(value) for value in (tensor.min(), tensor.max()))
        return IntegerValues(low, high)
    if tensor.is_complex():
        return NormalValues()
    numbers = tensor.float()
    finite = numbers[numbers.isfinite()]
    if not len(finite):
        return NormalValues()
    return NormalValues(float(f"{finite.mean().item():.3g}"), float(f"{finite.std().item():.3g}"))


_WHOLE = frozenset({torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64})


def _bytes(tensor: torch.Tensor) -> bytes:
    tensor = tensor.contiguous().cpu()
    if not tensor.numel():
        return b""
    return bytes(tensor.reshape(-1).view(torch.uint8).tolist())
