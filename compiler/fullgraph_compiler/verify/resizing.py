"""The sizes in the arguments of calls, and copies of arguments with other sizes."""

from __future__ import annotations

import contextlib
import copy
import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from ..compat import dynamo_compat
from .calls import CompiledCall
from .snapshots import is_plain
from .state import TorchSettings

_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
_MOST_DEPTH = 8
_MOST_ELEMENTS = 1 << 27


class ArgumentSizeError(Exception):
    """Arguments cannot be made with a requested size; the message says why."""


class SizeSlot(NamedTuple):
    """A size in a call: a dimension of a tensor, or an integer.

    The slot is dimension ``dim`` of the tensor at ``place``, or the integer at ``place`` if ``dim`` is
    ``None``.
    """

    place: str
    dim: int | None

    @property
    def words(self) -> str:
        """The slot as written after ``--sizes``, such as ``x.0``."""
        return self.place if self.dim is None else f"{self.place}.{self.dim}"


Change = Mapping[SizeSlot, int]
"""The new values of slots."""


@dataclass
class CallForm:
    """The calls of one function with arguments of the same types.

    ``call`` is the last call; ``sizes`` are the sizes of all calls.
    """

    call: CompiledCall
    given: dict[str, Any]
    last: dict[SizeSlot, int] = field(default_factory=dict)
    sizes: dict[tuple[int, ...], dict[SizeSlot, int]] = field(default_factory=dict)

    def add(self, call: CompiledCall, given: dict[str, Any]) -> None:
        """Record another call."""
        self.call, self.given = call, given
        self.last = dict(sizes_of(given))
        self.sizes.setdefault(tuple(self.last.values()), self.last)

    def seen(self, slot: SizeSlot) -> list[int]:
        """Return the distinct sizes of a slot, in the order of the calls."""
        return list(dict.fromkeys(item[slot] for item in self.sizes.values() if slot in item))

    def varies(self, slot: SizeSlot) -> bool:
        """Return whether a slot had more than one size."""
        return len(self.seen(slot)) > 1

    def has(self, slot: SizeSlot) -> bool:
        """Return whether the slot is a dimension that the last call has."""
        return slot.dim is not None and slot in self.last

    def together(self, slot: SizeSlot) -> list[SizeSlot]:
        """Return ``slot``, then the slots that had the same size as ``slot`` in all calls."""
        others = (item for item in self.last if item != slot and self._is_number_in_use(item))
        return [slot, *(item for item in others if self._line(slot, item) == (1, 0))]

    def related(self, slot: SizeSlot, new: int) -> dict[SizeSlot, int]:
        """Return the sizes that follow from the size ``new`` of ``slot``.

        The result has ``slot`` itself, and every slot that was a linear function of ``slot`` in all calls.
        """
        found = {slot: new}
        for other in self.last:
            line = self._line(slot, other) if other != slot and self.varies(other) else None
            if line is not None:
                value = line[0] * new + line[1]
                if value < 0 or value != int(value):
                    continue
                found[other] = int(value)
        return found

    def _is_number_in_use(self, slot: SizeSlot) -> bool:
        """Return whether a slot is a dimension, or an integer that changed.

        An integer that did not change may be an arbitrary constant.
        """
        return slot.dim is not None or self.varies(slot)

    def _line(self, slot: SizeSlot, other: SizeSlot) -> tuple[float, float] | None:
        """Return factor and offset if ``other`` was always a linear function of ``slot``.

        Return ``None`` if it was not.
        """
        pairs = list(
            dict.fromkeys(
                (item[slot], item[other]) for item in self.sizes.values() if {slot, other} <= {*item}
            )
        )
        if all(first == second for first, second in pairs):
            return 1, 0
        (x, y), *rest = pairs
        if not rest or rest[0][0] == x:
            return None
        factor = (rest[0][1] - y) / (rest[0][0] - x)
        offset = y - factor * x
        return (factor, offset) if all(second == factor * first + offset for first, second in pairs) else None


class CallForms(dict[Any, CallForm]):
    """At most ``most`` forms of calls, each with torch's settings at its last call."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self.settings: dict[Any, TorchSettings] = {}

    def keep(self, call: CompiledCall, *more: object) -> None:
        """Record the form of a call, unless its arguments cannot be read.

        Calls with different ``more`` are recorded as different forms.
        """
        with contextlib.suppress(Exception):
            given = arguments(call)
            key = *more, *form_of(call, given)
            if key in self or len(self) < self._most:
                self.settings[key] = TorchSettings(call)
                self.setdefault(key, CallForm(call, given)).add(call, given)


def arguments(call: CompiledCall) -> dict[str, Any]:
    """Return a call's arguments by parameter name, positional arguments first."""
    target = call.owner.forward if call.owner is not None else call.function
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [item.name for item in parameters if item.kind in _POSITIONAL]
    rest = next((item.name for item in parameters if item.kind is inspect.Parameter.VAR_POSITIONAL), "args")
    given: dict[str, Any] = {}
    for index, value in enumerate(call.args):
        given[names[index] if index < len(names) else f"{rest}[{index - len(names)}]"] = value
    return given | call.kwargs


def form_of(call: CompiledCall, given: dict[str, Any]) -> tuple[Any, ...]:
    """Return a key for a call's function and the form of its arguments.

    The form consists of the arguments' names, types, ranks and ``requires_grad``.
    """
    parts = [
        (place, value.dtype, value.dim(), value.requires_grad) if isinstance(value, torch.Tensor)
        else (place, type(value))
        for place, value in _leaves(given)
    ]  # fmt: skip
    return id(call.owner or getattr(call.function, "__code__", call.function)), *parts


def sizes_of(given: Mapping[str, Any]) -> Iterator[tuple[SizeSlot, int]]:
    """Yield all slots of arguments with their sizes; modules have no slots."""
    for place, value in _leaves(given):
        if isinstance(value, torch.Tensor):
            shape = value.shape if is_plain(value) else ()
            yield from ((SizeSlot(place, dim), int(size)) for dim, size in enumerate(shape))
        elif type(value) is int:
            yield SizeSlot(place, None), value


def is_there(place: str, given: Mapping[str, Any]) -> bool:
    """Return whether arguments contain a value called ``place``."""
    return place in given or any(place == name for name, _ in _leaves(given))


def marked(given: Mapping[str, Any]) -> Iterator[SizeSlot]:
    """Yield the dimensions that the program marked as dynamic (``mark_dynamic``)."""
    for place, value in _leaves(given):
        if isinstance(value, torch.Tensor):
            yield from (SizeSlot(place, dim) for dim in dynamo_compat.marked_dimensions(value))


class ArgumentMaker:
    """A maker of new arguments for a call, with changed sizes.

    Arguments that share a tensor also share the new tensor. With ``scaled``, integers that may be indices are
    scaled to the first changed size.
    """

    def __init__(self, form: CallForm, change: Change, *, scaled: bool = False) -> None:
        self._form, self._change = form, change
        self._factor = self._scale() if scaled else None
        self._made: dict[int, Any] = {}

    def make(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and the named arguments."""
        made = {name: self._value(name, value) for name, value in self._form.given.items()}
        number = len(self._form.call.args)
        return tuple(made.values())[:number], dict(tuple(made.items())[number:])

    def _scale(self) -> tuple[int, int] | None:
        slot, new = next(iter(self._change.items()))
        old = self._form.last[slot]
        return (old, new) if old else None

    def _value(self, place: str, value: Any, depth: int = 0) -> Any:
        if isinstance(value, torch.nn.Parameter) or depth > _MOST_DEPTH:
            return value
        if isinstance(value, torch.Tensor):
            if id(value) not in self._made:
                self._made[id(value)] = self._tensor(place, value)
            return self._made[id(value)]
        if type(value) is int:
            return self._change.get(SizeSlot(place, None), value)
        if isinstance(value, dict):
            items = {key: self._value(f"{place}[{key!r}]", item, depth + 1) for key, item in value.items()}
            return items if type(value) is dict else _filled(value, items)
        if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
            parts = [self._value(f"{place}[{index}]", item, depth + 1) for index, item in enumerate(value)]
            if hasattr(value, "_fields"):
                return type(value)(*parts)
            return type(value)(parts) if type(value) in (list, tuple) else value
        return value

    def _tensor(self, place: str, tensor: torch.Tensor) -> torch.Tensor:
        if not is_plain(tensor) or type(tensor) is not torch.Tensor:
            if any(slot.place == place for slot in self._change):
                raise ArgumentSizeError(f"`{place}` is not a plain tensor")
            return tensor
        shape = [self._change.get(SizeSlot(place, dim), size) for dim, size in enumerate(tensor.shape)]
        if math.prod(shape) > max(_MOST_ELEMENTS, tensor.numel()):
            raise ArgumentSizeError(f"`{place}` would have {math.prod(shape)} elements")
        with torch.no_grad():
            plain = tensor.detach()
            made = plain.clone() if shape == list(plain.shape) else _like(plain, shape)
            if self._factor is not None:
                made = _scaled(made, *self._factor)
        made.requires_grad_(tensor.requires_grad)
        dynamo_compat.copy_marks(tensor, made)
        return made


def _leaves(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the values in nested containers, each with its place."""
    for name, value in given.items():
        yield from _leaves_in(name, value)


def _leaves_in(place: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and depth < _MOST_DEPTH:
        for key, item in value.items():
            yield from _leaves_in(f"{place}[{key!r}]", item, depth + 1)
    elif isinstance(value, (list, tuple)) and not isinstance(value, torch.Size) and depth < _MOST_DEPTH:
        for index, item in enumerate(value):
            yield from _leaves_in(f"{place}[{index}]", item, depth + 1)
    else:
        yield place, value


def _filled(value: dict[Any, Any], items: dict[Any, Any]) -> dict[Any, Any]:
    made = copy.copy(value)
    for key, item in items.items():
        made[key] = item
    return made


def _like(tensor: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """Return a tensor of another shape with random values in the same range.

    The order of the strides is that of the original.
    """
    order = sorted(range(tensor.dim()), key=lambda dim: (-tensor.stride(dim), dim))
    made = torch.empty([shape[dim] for dim in order], dtype=tensor.dtype, device=tensor.device)
    made = made.permute([order.index(dim) for dim in range(tensor.dim())])
    if not tensor.numel() or not made.numel():
        return made.zero_()
    if tensor.dtype is torch.bool or tensor.is_complex():
        for dim, size in enumerate(shape):
            tensor = tensor.index_select(dim, torch.arange(size, device=tensor.device) % tensor.shape[dim])
        return made.copy_(tensor)
    wide = tensor.double()
    wide = wide[wide.isfinite()]
    low, high = (float(wide.min()), float(wide.max())) if wide.numel() else (0.0, 0.0)
    chosen = torch.rand(made.shape, dtype=torch.float64)
    if tensor.is_floating_point():
        return made.copy_(low + chosen * ((high - low) or 1.0))
    chosen = low + (chosen * (high - low + 1)).floor()
    if tensor.dim() == 1 and bool((tensor[1:] >= tensor[:-1]).all()):  # such as offsets
        chosen = chosen.sort().values
        chosen[0], chosen[-1] = low, high
    return made.copy_(chosen)


def _scaled(tensor: torch.Tensor, old: int, new: int) -> torch.Tensor:
    """Scale integers to a dimension's new size if they may be indices or offsets."""
    is_index = tensor.dtype in (torch.int32, torch.int64) and tensor.numel() > 0
    if is_index and int(tensor.min()) >= 0 and int(tensor.max()) <= old:
        return tensor * new // old
    return tensor
