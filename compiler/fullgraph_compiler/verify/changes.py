"""Changes of values: the numbers, precisions, layouts and orders to try in the place of a run's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

Change: TypeAlias = Callable[[Any], Any]


def always(value: Any) -> Change:
    """Put another value in the place of any."""
    return lambda _: value


def in_mode(training: bool) -> Change:
    """Put a module into training mode, or out of it."""
    return lambda module: module.train(training)


def filled(number: float) -> Change:
    """Fill a tensor with a number."""
    return lambda tensor: torch.full_like(tensor, number)


def impulse(number: float) -> Change:
    """Make the first element a number, and the others zeros."""

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        made = torch.zeros_like(tensor, memory_format=torch.contiguous_format)
        made.view(-1)[:1] = number
        return made

    return changed


def drawn(size: float, shift: float) -> Change:
    """Draw random numbers of a size around a shift."""
    return lambda tensor: (torch.randn_like(tensor) + 2 * shift) * size


def one(number: float) -> Change:
    """Make the last element a number."""

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        made = tensor.contiguous().clone()
        made.view(-1)[-1:] = number
        return made

    return changed


FLOATS: tuple[tuple[str, Change], ...] = (
    ("negated", lambda tensor: -tensor),
    ("all zeros", torch.zeros_like),
    ("with other random numbers", lambda tensor: torch.randn_like(tensor)),
    ("with one NaN", one(math.nan)),
    ("all ones", torch.ones_like),
    ("all NaN", filled(math.nan)),
    ("with one infinity", one(math.inf)),
    ("with ties", lambda tensor: (tensor * 1.5).round() if not tensor.is_complex() else tensor),
    ("with one negative infinity", one(-math.inf)),
    ("1000 times as large", lambda tensor: tensor * 1000),
    ("1000 times as small", lambda tensor: tensor / 1000),
    ("positive", lambda tensor: torch.rand_like(tensor) + 0.5),
    ("negative", lambda tensor: -torch.rand_like(tensor) - 0.5),
    ("all minus one", filled(-1)),
    ("all infinity", filled(math.inf)),
    ("1000 times as large with one infinity", lambda tensor: one(math.inf)(tensor * 1000)),
)
BOOLEANS: tuple[tuple[str, Change], ...] = (
    ("inverted", torch.logical_not),
    ("all true", torch.ones_like),
    ("all false", torch.zeros_like),
    ("with one true", impulse(1)),
)
INTEGERS: tuple[tuple[str, Change], ...] = (
    ("all zeros", torch.zeros_like),
    ("all ones", torch.ones_like),
    ("in reverse", lambda tensor: tensor.flatten().flip(0).reshape(tensor.shape)),
    ("negated", lambda tensor: -tensor),
    ("with one 1 and zeros", impulse(1)),
    ("10 times as large", lambda tensor: tensor * 10),
)


def _of_type(find: Callable[[torch.finfo], float]) -> Change:
    return lambda tensor: torch.full_like(tensor, find(torch.finfo(tensor.dtype)))


def _as_type(dtype: torch.dtype, factor: float = 1.0) -> Change:
    """Return a change to another precision, in which the sum of large values overflows."""

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        made = tensor.to(dtype)
        return torch.full_like(made, torch.finfo(dtype).max * factor) if factor != 1.0 else made

    return changed


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.mT.contiguous().mT


def _expanded(tensor: torch.Tensor) -> torch.Tensor:
    return tensor[..., :1].expand_as(tensor)


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    return torch.stack([tensor, tensor], -1)[..., 0]


EXTREMES: tuple[tuple[str, Change], ...] = (
    ("all at the largest of their type", _of_type(lambda info: info.max)),
    ("all at half of the largest of their type", _of_type(lambda info: info.max / 2)),
    ("all at the smallest of their type", _of_type(lambda info: info.tiny)),
    ("all subnormal", _of_type(lambda info: info.tiny / 4)),
    ("all negative zero", filled(-0.0)),
)
TYPES: tuple[tuple[str, Change], ...] = (
    ("as float64", _as_type(torch.float64)),
    ("as float16", _as_type(torch.float16)),
    ("as float16, at half of the largest", _as_type(torch.float16, 0.5)),
    ("as bfloat16", _as_type(torch.bfloat16)),
)
LAYOUTS: tuple[tuple[str, Change], ...] = (
    ("transposed in memory", _transposed),
    ("not contiguous", _strided),
    ("expanded", _expanded),
)
WHOLE_EXTREMES: tuple[tuple[str, Change], ...] = (
    (
        "all at the largest of their type",
        lambda tensor: torch.full_like(tensor, torch.iinfo(tensor.dtype).max),
    ),
    (
        "all at the smallest of their type",
        lambda tensor: torch.full_like(tensor, torch.iinfo(tensor.dtype).min),
    ),
)


def resized(size: int, other: int) -> Change:
    """Repeat or leave out parts along the dimensions of one size, which become another."""

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        for dimension, length in enumerate(tensor.shape):
            if length == size:
                tensor = tensor.index_select(dimension, torch.arange(other, device=tensor.device) % size)
        return tensor

    return changed


def reordered(value: dict[Any, Any]) -> dict[Any, Any]:
    """Return a dictionary whose items came in another order."""
    items = list(reversed(value.items()))
    value.clear()
    value.update(items)
    return value
