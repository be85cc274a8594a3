"""Variations: changes of single values, and changed copies of a call's arguments; what is never changed."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import torch

_MOST_SIZES = 6
_MOST_ALONE = 12
_MOST_ELEMENTS = 1 << 22
"""The most elements of a resized tensor."""


Change: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True)
class CallArguments:
    """The arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def values(self) -> list[Any]:
        """Return the arguments in the order of the call."""
        return [*self.args, *self.kwargs.values()]

    def mapped(self, change: Callable[[int, Any], Any]) -> CallArguments:
        """Return the arguments changed by ``change(index, value)``."""
        first = len(self.args)
        return CallArguments(
            tuple(change(index, item) for index, item in enumerate(self.args)),
            {name: change(first + index, item) for index, (name, item) in enumerate(self.kwargs.items())},
        )


def copied(given: CallArguments) -> CallArguments:
    """Return copies of arguments; arguments that share a tensor share its copy."""
    return _with_tensors(given, lambda tensor: tensor.detach().clone(), _as_before)


def requiring_gradients(given: CallArguments) -> CallArguments:
    """Return copies of arguments; all floating point tensors require gradients."""
    return _with_tensors(given, lambda tensor: tensor.detach().clone(), lambda _, made: _requiring(made))


def variations(given: CallArguments, fixed: frozenset[int]) -> Iterator[CallArguments]:
    """Yield arguments with other sizes, numbers, types or values.

    Arguments with an index in ``fixed`` do not change. The function may reject some of the results, since
    sizes that must be equal can differ.
    """
    tensors = _tensors(given)
    sizes = list(dict.fromkeys(size for tensor in tensors for size in tensor.shape))
    for size in sizes[:_MOST_SIZES]:
        for other in (size + 1, 2 * size + 3, 1):
            resized = _sized(given, partial(_of_size, size, other))
            yield resized
            yield resized.mapped(partial(_of_number, size, other, fixed))
    places = [(index, dim) for index, tensor in enumerate(tensors) for dim in range(tensor.dim())]
    for place in places[:_MOST_ALONE]:
        yield _sized(given, partial(_of_place, place))
    for index, value in enumerate(given.values()):
        for instead in _others(value) if index not in fixed else ():
            yield given.mapped(partial(_in_place_of, index, instead))
    yield _with_tensors(given, _other_type)
    yield _with_tensors(given, torch.Tensor.zero_)
    yield _with_tensors(given, _reversed)


def _of_size(size: int, other: int, _: tuple[int, int], own: int) -> int:
    return other if own == size else own


def _of_place(place: tuple[int, int], here: tuple[int, int], own: int) -> int:
    return own + 2 if here == place else own


def _of_number(size: int, other: int, fixed: frozenset[int], index: int, value: Any) -> Any:
    return other if type(value) is int and value == size and index not in fixed else value


def _in_place_of(place: int, instead: Any, index: int, value: Any) -> Any:
    return instead if index == place else value


def _others(value: Any) -> list[Any]:
    """Return other values to try for a number; an empty list for any other argument."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value + 3, *([value - 1] if value > 1 else [])]
    return [value * 2, value / 2] if isinstance(value, float) else []


def _sized(given: CallArguments, size: Callable[[tuple[int, int], int], int]) -> CallArguments:
    """Return arguments with other sizes.

    ``size((tensor index, dimension), old size)`` returns the new size.
    """
    numbers = {id(tensor): index for index, tensor in reversed(list(enumerate(_tensors(given))))}

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        index = numbers[id(tensor)]
        return _resized(tensor, [size((index, dim), own) for dim, own in enumerate(tensor.shape)])

    return _with_tensors(given, changed, own_tensors=True)


def _resized(tensor: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """Return a tensor of another shape that repeats the values of ``tensor``."""
    elements = torch.Size(shape).numel()
    if elements > _MOST_ELEMENTS:
        return tensor.detach().clone()
    flat = tensor.detach().flatten()
    if not flat.numel():
        return tensor.new_zeros(shape)
    return flat[torch.arange(elements, device=flat.device) % flat.numel()].reshape(shape)


def _other_type(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_floating_point():
        return tensor
    return tensor.to(torch.float32 if tensor.dtype == torch.float64 else torch.float64)


def _reversed(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.dim():
        return tensor
    turned = tensor.flip(0)
    return -turned if tensor.is_floating_point() else turned


def _as_before(original: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
    if not original.requires_grad:
        return made
    return made.requires_grad_() if original.is_leaf else _requiring(made)


def _requiring(made: torch.Tensor) -> torch.Tensor:
    """Return a tensor that requires a gradient, and can be changed in place.

    It can be changed in place because it is not a leaf.
    """
    if not (made.is_floating_point() or made.is_complex()):
        return made
    with torch.enable_grad():
        return made.requires_grad_().clone()


def _with_tensors(
    given: CallArguments,
    change: Callable[[torch.Tensor], torch.Tensor],
    finish: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda _, made: made,
    *,
    own_tensors: bool = False,
) -> CallArguments:
    """Return arguments with changed copies of their tensors.

    ``change`` gets a copy of each tensor; with ``own_tensors``, it gets the tensor itself and must copy it.
    """
    made: dict[int, torch.Tensor] = {}

    def changed(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in made:
                start = value if own_tensors else value.detach().clone()
                made[id(value)] = finish(value, change(start))
            return made[id(value)]
        if type(value) in (list, tuple):
            return type(value)(changed(item) for item in value)
        return value

    return given.mapped(lambda _, item: changed(item))


def _tensors(given: CallArguments) -> list[torch.Tensor]:
    found = []
    for value in given.values():
        parts = value if type(value) in (list, tuple) else [value]
        found += [item for item in parts if isinstance(item, torch.Tensor)]
    return found


# -- changes of one value -----------------------------------------------------------------------


def always(value: Any) -> Change:
    """Return a change that replaces any value by ``value``."""
    return lambda _: value


def in_mode(training: bool) -> Change:
    """Return a change that puts a module into training or evaluation mode."""
    return lambda module: module.train(training)


def filled(number: float) -> Change:
    """Return a change that fills a tensor with a number."""
    return lambda tensor: torch.full_like(tensor, number)


def impulse(number: float) -> Change:
    """Return a change that sets the first element to a number and all others to zero."""

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        made = torch.zeros_like(tensor, memory_format=torch.contiguous_format)
        made.view(-1)[:1] = number
        return made

    return changed


def drawn(size: float, shift: float) -> Change:
    """Return a change to normal random numbers with mean ``2 * shift * size``.

    ``size`` is the standard deviation.
    """
    return lambda tensor: (torch.randn_like(tensor) + 2 * shift) * size


def drawn_truth(shift: float) -> Change:
    """Return a change to random booleans; a larger shift makes more of them true."""
    return lambda tensor: torch.rand(tensor.shape, device=tensor.device) < 0.5 + shift / 4


def drawn_below(tensor: torch.Tensor) -> Change:
    """Return a change to random integers from zero to the largest of a tensor."""
    end = max(int(tensor.max()), 1) + 1
    return lambda tensor: torch.randint(0, end, tensor.shape, device=tensor.device).to(tensor.dtype)


def below(end: int) -> Change:
    """Return a change to integers that count down from ``end - 1`` to 0, repeatedly."""

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        counted = torch.arange(tensor.numel(), device=tensor.device)
        return (end - 1 - counted % end).reshape(tensor.shape).to(tensor.dtype)

    return changed


def one(number: float) -> Change:
    """Return a change that sets the last element to a number."""

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
    """Return a function that converts a tensor to another dtype.

    If ``factor`` is not 1, all elements become ``factor`` times the dtype's maximum, so that sums overflow.
    """

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        made = tensor.to(dtype)
        return torch.full_like(made, torch.finfo(dtype).max * factor) if factor != 1.0 else made

    return changed


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
    ("transposed in memory", lambda tensor: tensor.mT.contiguous().mT),
    ("not contiguous", lambda tensor: torch.stack([tensor, tensor], -1)[..., 0]),
    ("expanded", lambda tensor: tensor[..., :1].expand_as(tensor)),
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
    """Return a change that gives dimensions of one size another size.

    The change repeats or drops elements along these dimensions.
    """

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        for dimension, length in enumerate(tensor.shape):
            if length == size:
                tensor = tensor.index_select(dimension, torch.arange(other, device=tensor.device) % size)
        return tensor

    return changed


def reordered(value: dict[Any, Any]) -> dict[Any, Any]:
    """Reverse the order of a dictionary's items in place; return the dictionary."""
    items = list(reversed(value.items()))
    value.clear()
    value.update(items)
    return value


def in_one_dimension(tensor: torch.Tensor) -> torch.Tensor:
    """Return a zero-dimensional tensor as a tensor with one dimension."""
    return tensor.reshape(1)


def several_rows(tensor: torch.Tensor) -> torch.Tensor:
    """Return three rows made from one row, each rolled by a different distance."""
    return torch.cat([tensor.roll(row, -1) for row in range(3)])


# -- values that a program never changes -------------------------------------------------------


def constants(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module binds once, at the top level, to literals."""
    times = Counter(name for node in ast.walk(tree) for name in _bound_by(node))
    literal = (ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
    for item in tree.body:
        value = item.value if isinstance(item, (ast.Assign, ast.AnnAssign)) else None
        if value is not None and all(isinstance(node, literal) for node in ast.walk(value)):
            yield from (name for node in ast.walk(item) for name in _bound_by(node) if times[name] == 1)


def settled(tree: ast.Module) -> set[str]:
    """Return the attributes that the constructors of a module's classes assign, and no other code in it."""
    inits = [item for item in ast.walk(tree) if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    nested = {
        node
        for init in inits
        for item in ast.walk(init)
        if isinstance(item, functions) and item is not init
        for node in ast.walk(item)
    }
    inside = {node for item in inits for node in ast.walk(item)} - nested
    stores = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    ]
    others = {node.attr for node in stores if node not in inside}
    return {node.attr for node in stores if node in inside} - others


def _bound_by(node: ast.AST) -> list[str]:
    """Return the names that a node itself binds."""
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return node.names
    name = getattr(node, "rest", None) if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
    return [name] if isinstance(name, str) else []
