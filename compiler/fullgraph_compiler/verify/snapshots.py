"""Snapshots: values as data that can be saved and compared later.

A snapshot is a tree of tuples, lists, dictionaries, numbers, strings and tensors, which ``torch.load`` reads
without running code. The tree has the structure of the values, and shows where the same object or memory
occurs again.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator
from typing import Any, TypeAlias

import torch

from ..compat import dynamo_compat, torch_compat

MOST_ELEMENTS = 1 << 20
"""The most elements of a tensor to keep; of a larger tensor, keep evenly spaced elements and two sums."""
_MOST_NODES = 10_000
_MOST_DEPTH = 12

Node: TypeAlias = tuple[Any, ...]
"""A snapshot of a value: ``("value", type, value)``, ``("tensor", properties, elements, sums, memory)``,
``("items", type, [(key, node)])``, ``("seen", place)``, or ``("opaque", type)``. ``memory`` is the place of
an earlier tensor in the same memory (or empty), ``place`` is where the same object occurred before."""


class ValueSnapshots:
    """A taker of snapshots that recognizes objects and memory which values share.

    A tensor's snapshot has at most ``elements`` elements. ``incomplete`` says that something was left out:
    the elements of tensors after ``budget`` elements in all, or parts of a value with too many parts. With
    ``packages``, the snapshot of an object of any other package is only its type.
    """

    def __init__(
        self, elements: int = MOST_ELEMENTS, budget: int = 1 << 26, packages: frozenset[str] | None = None
    ) -> None:
        self.incomplete = False
        self.kept = 0
        self.elements, self._budget, self._packages = elements, budget, packages
        self._nodes = 0
        self._places: dict[int, str] = {}
        self._memory: dict[int, str] = {}
        self._held: list[Any] = []  # ids are unique only among living objects

    def take(self, place: str, value: Any, depth: int = 0) -> Node:
        """Return the snapshot of the value called ``place``."""
        if value is None or type(value) in (bool, int, float, str):
            return ("value", type(value).__name__, _storable(value))
        if type(value) in (complex, bytes, torch.dtype, torch.device, torch.Size, range, slice):
            return ("value", type(value).__name__, repr(value))
        is_foreign = self._packages is not None and _package(value) not in self._packages
        if is_foreign or isinstance(value, _OPAQUE):
            return ("opaque", _type_name(value))
        self._nodes += 1
        if self._nodes > _MOST_NODES or depth > _MOST_DEPTH:
            self.incomplete = True
            return ("opaque", _type_name(value))
        if id(value) in self._places:
            return ("seen", self._places[id(value)])
        self._held.append(value)
        if not isinstance(value, tuple):  # equal constant tuples may be one object or several
            self._places[id(value)] = place
        try:
            if isinstance(value, torch.Tensor):
                return self._tensor(place, value)
            children = [(key, self.take(f"{place}{key}", item, depth + 1)) for key, item in _children(value)]
        except Exception:  # a tensor of a transform, or an object whose attributes raise: ignore the error
            self.incomplete = True
            return ("opaque", _type_name(value))
        return ("items", _type_name(value), children)

    def _tensor(self, place: str, tensor: torch.Tensor) -> Node:
        properties = {
            "type": _type_name(tensor),
            "dtype": str(tensor.dtype),
            "shape": [] if tensor.is_nested else [int(size) for size in tensor.shape],
            "device": tensor.device.type,
            "requires_grad": tensor.requires_grad,
            "strides": _strides(tensor) if is_plain(tensor) else [],
            "attributes": sorted(name for name in vars(tensor) if not name.startswith("_")),
            "leaf": tensor.requires_grad and tensor.is_leaf,
        }
        if not is_plain(tensor):
            self.incomplete = True
            return ("tensor", properties, None, [], "")
        with torch.no_grad(), torch_compat.without_subclasses():
            memory = self._memory_of(place, tensor)
            if tensor.is_leaf and tensor.grad is not None and is_plain(tensor.grad):
                self._memory_of(f"{place}.grad", tensor.grad)
            flat = tensor.detach().as_subclass(torch.Tensor)
            sums: list[float] = []
            if flat.numel() > self.elements:
                wide = torch.complex128 if flat.is_complex() else torch.float64
                whole = flat.to(wide)
                sums = [float(whole.sum().real), float(whole.abs().sum())]
                flat = flat.flatten()[:: flat.numel() // self.elements + 1]
            if self.kept + flat.numel() > self._budget:
                self.incomplete = True
                return ("tensor", properties, None, sums, memory)
            self.kept += flat.numel()
            elements = flat.resolve_conj().resolve_neg().cpu().clone(memory_format=torch.contiguous_format)
            return ("tensor", properties, elements, sums, memory)

    def _memory_of(self, place: str, tensor: torch.Tensor) -> str:
        start = tensor.untyped_storage().data_ptr() if tensor.numel() else 0
        first = self._memory.setdefault(start, place) if start else place
        return "" if first == place else first


def _strides(tensor: torch.Tensor) -> list[int]:
    """Return the strides that matter for the layout.

    Strides of dimensions of size one are left out.
    """
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return [int(stride) for size, stride in sizes if size > 1] if tensor.numel() > 1 else []


def is_plain(tensor: torch.Tensor) -> bool:
    """Return whether this process can read a tensor's elements."""
    return (
        tensor.layout is torch.strided
        and not tensor.is_nested
        and tensor.device.type != "meta"
        and type(tensor).__name__ not in ("DTensor", "FakeTensor", "FunctionalTensor")
    )


_OPAQUE = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    types.CodeType,
    types.FrameType,
    types.GeneratorType,
    torch.Generator,
)
_OF_MODULES = frozenset(vars(torch.nn.Module())) | dynamo_compat.MARKS_OF_MODULES
"""The attributes of every module, including ``training``, and those that ``torch.compile`` sets."""


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{_key(index, key)}]", item) for index, (key, item) in enumerate(value.items()))
    elif isinstance(value, (set, frozenset)):
        yield from ((f"{{{item}}}", None) for item in sorted(map(repr, value)))
    elif isinstance(value, tuple) and (names := getattr(value, "_fields", ())):
        yield from ((f".{key}", item) for key, item in zip(names, value, strict=False))
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{index}]", item) for index, item in enumerate(value))
    elif isinstance(value, torch.nn.Module) and "_parameters" in vars(value):
        yield ".training", value.training
        yield ".state_dict()", sorted(set(value._buffers) - value._non_persistent_buffers_set)
        for named in (value.named_parameters(recurse=False), value.named_buffers(recurse=False)):
            yield from ((f".{key}", item) for key, item in named)
        yield from ((f".{key}", item) for key, item in value.named_children())
        yield from ((f".{key}", item) for key, item in vars(value).items() if key not in _OF_MODULES)
    elif type(value).__module__ == "numpy":
        yield ".dtype", str(getattr(value, "dtype", ""))
        yield "", _as_tensor(value)
    elif dataclasses.is_dataclass(value):
        yield from ((f".{item.name}", getattr(value, item.name, None)) for item in dataclasses.fields(value))
    elif hasattr(value, "__iter__") and hasattr(value, "maxlen"):
        yield from ((f"[{index}]", item) for index, item in enumerate(value))  # a deque
    if isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, torch.nn.Module):
        fields = {item.name for item in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else ()
        yield from ((f".{key}", item) for key, item in vars(value).items() if key not in fields)


def _key(index: int, key: Any) -> str:
    """Return the name of a dictionary's key; that of a tensor does not depend on its elements."""
    return f"{_type_name(key)} {index}" if isinstance(key, torch.Tensor) else repr(key)


def _as_tensor(value: Any) -> Any:
    try:
        return torch.as_tensor(value.copy() if hasattr(value, "copy") else value)
    except (TypeError, ValueError, RuntimeError):
        return str(value)


def _package(value: Any) -> str:
    return str(type(value).__module__).partition(".")[0]


def _storable(value: Any) -> Any:
    """Return a number or string in a form that ``torch.load`` reads.

    Integers of more than 63 bits become strings.
    """
    return repr(value) if isinstance(value, int) and value.bit_length() > 63 else value


def _type_name(value: Any) -> str:
    cls = value if isinstance(value, type) else type(value)
    module = cls.__module__
    return cls.__qualname__ if module in ("builtins", "__main__") else f"{module}.{cls.__qualname__}"
