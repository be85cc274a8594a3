"""The first difference between two snapshots, as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from .snapshots import Node

LADDER = 1e-4, 1e-7, 4.0
"""The tolerances for compiled code, as used for the compiler stages (``cases/checking.py``): for float32, for
float64, and for other types in units of their last place."""
ROUNDING = 3e-6, 1e-14, 0.5
"""The tolerances for uncompiled code, in which only the order of operations may differ."""

EXACT = 0.0, 0.0, 0.0
"""The tolerances if every difference counts."""

ROUGH = 1e-4, 1e-7, 64.0
"""The tolerances for a precision that the program does not use: overflow is a difference, rounding is not."""


@dataclass(frozen=True)
class DifferenceRules:
    """The rules for what counts as a difference.

    If an old value shares memory with an earlier value, but the new value does not, ``lost_memory`` is called
    with both values' places and returns a description, which is empty if the rules allow the difference, and
    whether the difference is mild. If only the new value shares memory, that is always a difference. With
    ``strides``, other strides are a difference, too.
    """

    tolerances: tuple[float, float, float]
    requires_grad: bool = True
    strides: bool = False
    lost_memory: Callable[[str, str], tuple[str, bool]] | None = None


class SnapshotDifference(NamedTuple):
    """A difference between two values: where it is, and its description.

    With ``of_form`` only the type, shape or identity differs: all numbers that can be compared are equal. A
    difference is ``mild`` if the new value is a tensor without gradient with the number that the old value
    was, has another layout, or no longer shares memory: code that only computes with the value does not
    notice. ``of_number`` says that two Python numbers differ. ``gap`` is the largest difference between two
    finite floating-point numbers, and ``size`` the largest old number; both are 0 if anything else differs.
    """

    place: str
    words: str
    of_form: bool = False
    mild: bool = False
    of_number: bool = False
    gap: float = 0.0
    size: float = 0.0


class SnapshotComparison:
    """A comparison of snapshots that were taken together, in the order taken."""

    def __init__(self, rules: DifferenceRules) -> None:
        self._rules = rules
        self._old: dict[str, Node] = {}
        self._new: dict[str, Node] = {}

    def between(self, place: str, old: Node, new: Node) -> Iterator[SnapshotDifference]:
        """Yield the differences between two snapshots of the value called ``place``."""
        self._index(self._old, place, old)
        self._index(self._new, place, new)
        yield from self._between(place, old, new)

    def know(self, place: str, old: Node, new: Node | None) -> None:
        """Record a value without comparing it.

        Values that are compared later may be part of the recorded value, or share its memory.
        """
        self._index(self._old, place, old)
        if new is not None:
            self._index(self._new, place, new)

    def _between(self, place: str, old: Node, new: Node) -> Iterator[SnapshotDifference]:
        yield from self._memory(place, old, new)
        if old[0] == "seen" and new[0] == "seen" and old[1] == new[1]:
            return
        old, new = self._followed(self._old, old), self._followed(self._new, new)
        if old[0] != new[0] or (old[0] != "tensor" and old[1] != new[1]):
            types = old[0] == new[0] == "value"
            kinds = (f"{_kind(node)} ({node[1]})" if types else _kind(node) for node in (new, old))
            is_equal = not self._numbers(old, new)
            is_mild = is_equal and _is_number(old, new)
            yield SnapshotDifference(place, ", before ".join(kinds), is_equal, is_mild)
        elif old[0] == "value":
            if not _same_value(old[2], new[2], self._rules.tolerances[0]):
                words = f"{_short(new[2])}, before {_short(old[2])}"
                gap = abs(new[2] - old[2]) if type(old[2]) is float else math.inf
                gap, size = (gap, abs(old[2])) if math.isfinite(gap) else (0.0, 0.0)
                is_number = type(old[2]) in (int, float)
                yield SnapshotDifference(place, words, of_number=is_number, gap=gap, size=size)
        elif old[0] == "tensor":
            name, difference = self._properties(old, new)
            if difference and name != "strides":
                yield SnapshotDifference(place, difference, not self._numbers(old, new))
            elif elements := self._elements(old, new):
                yield SnapshotDifference(place, elements.words, gap=elements.gap, size=elements.size)
            elif difference:
                yield SnapshotDifference(place, difference, of_form=True, mild=True)
        elif old[0] == "items":
            before, after = dict(old[2]), dict(new[2])
            if list(before) != list(after):
                missing = [key for key in before if key not in after]
                added = [key for key in after if key not in before]
                if missing or added:
                    where = f"{place}{(missing or added)[0]}"
                    yield SnapshotDifference(where, "missing" if missing else "not there before")
                elif old[1] in ("dict", "collections.OrderedDict"):
                    yield SnapshotDifference(place, "another order of keys")
            for key, child in before.items():
                if key in after:
                    yield from self._between(f"{place}{key}", child, after[key])

    def _memory(self, place: str, old: Node, new: Node) -> Iterator[SnapshotDifference]:
        before, after = _shared(old), _shared(new)
        if after and not before:
            what = "the same object as" if new[0] == "seen" else "in the memory of"
            yield SnapshotDifference(place, f"{what} {after}, before not", old[0] == "value")
        elif before and before != after and self._rules.lost_memory:
            difference, is_mild = self._rules.lost_memory(place, before)
            if difference:
                yield SnapshotDifference(place, difference, mild=is_mild)

    def _properties(self, old: Node, new: Node) -> tuple[str, str]:
        """Return the first property that differs, and how; empty if none does.

        Strides come last: a difference in strides alone is mild.
        """
        for name, value in sorted(old[1].items(), key=lambda item: item[0] == "strides"):
            other = new[1][name]
            if value != other and getattr(self._rules, name, True):
                return name, f"{_property(name, other)}, before {_property(name, value)}"
        return "", ""

    def _elements(self, old: Node, new: Node) -> NumberDifference | None:
        if old[2] is None or new[2] is None:
            return None
        if old[3]:
            wide = torch.tensor([old[3], new[3]], dtype=torch.float64)
            limit = self._rules.tolerances[0] * abs(float(wide[0, 1])) + 1e-6
            # This may miss NaN and infinite sums, but the elements below show them.
            if bool(((wide[0] - wide[1]).abs() > limit).any()):
                gap = float((wide[0, 0] - wide[1, 0]).abs())
                words = f"sum {new[3][0]:.6g}, before {old[3][0]:.6g}"
                return (
                    NumberDifference(words, gap, float(wide[0, 1]))
                    if math.isfinite(gap)
                    else NumberDifference(words)
                )
        return number_difference(old[2], new[2], self._rules.tolerances)

    def _numbers(self, old: Node, new: Node) -> bool:
        """Return whether two values' numbers differ, compared in the less exact dtype."""
        before, after = _as_numbers(old), _as_numbers(new)
        if before is None or after is None or before.numel() != after.numel():
            return False
        kinds = [numbers.dtype for numbers in (before, after) if numbers.is_floating_point()]
        kind = max(kinds, key=lambda dtype: torch.finfo(dtype).eps) if kinds else torch.int64
        return bool(numbers_differ(before.to(kind), after.to(kind), self._rules.tolerances))

    def _index(self, nodes: dict[str, Node], place: str, node: Node) -> None:
        if node[0] != "seen":
            nodes.setdefault(place, node)
        if node[0] == "items":
            for key, child in node[2]:
                self._index(nodes, f"{place}{key}", child)

    def _followed(self, nodes: dict[str, Node], node: Node) -> Node:
        while node[0] == "seen" and node[1] in nodes:
            node = nodes[node[1]]
        return node


def unchanged(before: Sequence[tuple[str, Node]], after: Sequence[tuple[str, Node]]) -> list[str]:
    """Return the places of values that are equal in both lists."""
    between = SnapshotComparison(DifferenceRules(EXACT))
    return [
        place
        for (place, old), (_, new) in zip(before, after, strict=True)
        if next(between.between(place, old, new), None) is None and not _is_unseen(old)
    ]


def _is_unseen(node: Node) -> bool:
    """Return whether elements that a comparison needs are missing in a snapshot."""
    if node[0] == "items":
        return any(_is_unseen(child) for _, child in node[2])
    return node[0] == "tensor" and (node[2] is None or bool(node[3]))


class NumberDifference(NamedTuple):
    """The difference between the numbers of two tensors.

    ``gap`` is the largest difference, ``size`` the largest old number; both are 0 unless all numbers that
    differ are finite floating-point numbers.
    """

    words: str
    gap: float = 0.0
    size: float = 0.0


def numbers_differ(
    old: torch.Tensor, new: torch.Tensor, tolerances: tuple[float, float, float], scale: float = 1.0
) -> str:
    """Describe how two tensors of one type and shape differ; empty if they are equal."""
    found = number_difference(old, new, tolerances, scale)
    return found.words if found else ""


def number_difference(
    old: torch.Tensor, new: torch.Tensor, tolerances: tuple[float, float, float], scale: float = 1.0
) -> NumberDifference | None:
    """Return how two tensors of one type and shape differ; ``None`` if they are equal.

    Differences within the tolerances do not count. ``scale`` is the size of terms that may have cancelled out
    in a sum.
    """
    if not old.numel():
        return None
    if not (old.is_floating_point() or old.is_complex()):
        wrong = old != new
        words = f"{_at(new, wrong)}, before {_at(old, wrong)}" if bool(wrong.any()) else ""
        return NumberDifference(words) if words else None
    kind = old.dtype.to_real()
    relative = {torch.float32: tolerances[0], torch.float64: tolerances[1]}.get(
        kind, tolerances[2] * torch.finfo(kind).eps
    )
    f, p = (
        torch.view_as_real(tensor.to(torch.complex128)) if tensor.is_complex() else tensor.double()
        for tensor in (new, old)
    )
    size = p.abs().where(p.isfinite(), 0)
    limit = relative * (size + size.mean()) + relative * 1e-2 * scale
    gap = (f - p).abs()
    wrong = (f != p) & ~(f.isnan() & p.isnan()) & ~(gap <= limit)
    wrong |= f.isfinite() != p.isfinite()
    if not bool(wrong.any()):
        return None
    gap = gap.where(wrong, 0)
    if not bool(gap.isfinite().all()):
        odd = wrong & ~gap.isfinite()
        return NumberDifference(f"{_at(f, odd)}, before {_at(p, odd)}")
    largest = float(gap.max())
    return NumberDifference(f"by up to {largest:.1e}", largest, float(size.max()))


def _as_numbers(node: Node) -> torch.Tensor | None:
    """Return the flattened numbers of a tensor, a number, or a sequence of these.

    Return ``None`` for any other value, and for tensors whose elements are incomplete or complex.
    """
    if node[0] == "tensor":
        return None if node[2] is None or node[3] or node[2].is_complex() else node[2].flatten()
    if node[0] == "value" and type(node[2]) in (bool, int, float):
        return torch.tensor([node[2]], dtype=torch.float64 if isinstance(node[2], float) else torch.int64)
    if node[0] != "items" or node[1] not in ("list", "tuple"):
        return None
    parts = [numbers for _, child in node[2] if (numbers := _as_numbers(child)) is not None]
    return torch.cat(parts) if parts and len(parts) == len(node[2]) else None


def _same_value(old: Any, new: Any, relative: float) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return not numbers_differ(
            torch.tensor(old, dtype=torch.float64),
            torch.tensor(new, dtype=torch.float64),
            (0.0, relative, 0.0),
        )
    return bool(old == new)


def _is_number(old: Node, new: Node) -> bool:
    """Return whether a number became a tensor of one element, of the same kind and without gradient."""
    if old[0] != "value" or new[0] != "tensor" or new[2] is None:
        return False
    kind = type(new[2].flatten()[0].item()) if new[2].numel() == 1 else None
    return kind is type(old[2]) and kind in (bool, int, float) and not new[1]["requires_grad"]


def _shared(node: Node) -> str:
    if node[0] == "seen":
        return str(node[1])
    return str(node[4]) if node[0] == "tensor" else ""


def _kind(node: Node) -> str:
    if node[0] == "tensor":
        return f"a tensor {node[1]['dtype'].removeprefix('torch.')}{node[1]['shape']}"
    return f"{_short(node[2])}" if node[0] == "value" else f"`{node[1]}`"


def _property(name: str, value: Any) -> str:
    if name == "requires_grad":
        return "with gradient" if value else "without gradient"
    if name == "attributes":
        return f"with attributes {', '.join(value)}" if value else "without attributes of its own"
    if name == "leaf":
        return "a leaf that keeps its gradient" if value else "not a leaf that keeps its gradient"
    if name in ("shape", "strides"):
        return f"{name} {value}"
    return str(value).removeprefix("torch.")


def _at(tensor: torch.Tensor, wrong: torch.Tensor) -> str:
    value = tensor[wrong].flatten()[0].item()
    return _short(value).replace("nan", "NaN")


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
