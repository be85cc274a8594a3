"""Reductions of tensor sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..cases.case import FailureCase, TensorSpec
from .reduction_everywhere import constants, rewritten

SMALL = 2
"""The size to which dimensions are reduced. It is not 1, for which compilers have special paths."""


def sizes(case: FailureCase) -> list[int]:
    """Return the sizes of inputs that can be reduced, the largest first."""
    shapes = [given.spec.shape for given in case.inputs if given.spec is not None]
    return sorted({size for shape in shapes for size in shape if size > SMALL}, reverse=True)


def with_smaller(case: FailureCase, size: int, smaller: Iterable[int]) -> Iterator[FailureCase]:
    """Yield cases in which a size is replaced everywhere by each smaller size.

    For each smaller size there are two cases: in the first, multiples of the size are scaled as well.
    """
    numbers = {leaf for leaf in constants(case.graph) if type(leaf) is int} | set(sizes(case))
    multiples = [number for number in numbers if number >= size and number % size == 0]
    for new in smaller:
        yield resized(case, {number: number // size * new for number in multiples})
        yield resized(case, {size: new})


def resized(case: FailureCase, smaller: dict[int, int]) -> FailureCase:
    """Return a case with sizes replaced in shapes, and in arguments equal to a size."""
    return rewritten(
        case,
        lambda leaf: smaller.get(leaf, leaf) if type(leaf) is int else leaf,
        lambda spec: _reshaped(spec, tuple(smaller.get(size, size) for size in spec.shape)),
    )


def _reshaped(spec: TensorSpec, shape: tuple[int, ...]) -> TensorSpec:
    """Return a spec with another shape and the same order of dimensions in memory.

    If the tensor has gaps in memory, the strides stay the same.
    """
    if shape == spec.shape:
        return spec
    order = sorted(range(len(shape)), key=lambda i: (spec.stride[i], -i))
    if dense(spec.shape, order) != spec.stride:
        return replace(spec, shape=shape)
    return replace(spec, shape=shape, stride=dense(shape, order))


def dense(shape: tuple[int, ...], order: list[int]) -> tuple[int, ...]:
    """Return the strides of a tensor without gaps.

    ``order`` lists the dimensions, the innermost first.
    """
    strides, step = [0] * len(shape), 1
    for dimension in order:
        strides[dimension] = step
        step *= max(shape[dimension], 1)
    return tuple(strides)
