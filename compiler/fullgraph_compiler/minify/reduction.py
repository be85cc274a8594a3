"""Reduction of a failing case: delta debugging of its graph, then of the rest.

Every query costs a compilation, so big steps come first: half of the operations, a quarter, and so on down to
single operations. The oracle checks whether a smaller case still fails; this module does not use torch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..cases.case import FailureCase
from . import reduction_graph as graphs
from . import reduction_operations as operations
from . import reduction_sizes as sizes
from . import reduction_values as values


@dataclass(frozen=True, slots=True)
class ReductionPass:
    """A kind of reduction, which removes parts (items) of a case.

    ``items`` lists the items that a case has, ``without`` returns the case without some of them. Items are
    identified by names, or by positions, which stay valid when later items are removed. ``without`` returns
    ``None`` if the remaining case would make no sense.
    """

    items: Callable[[FailureCase], Sequence[Any]]
    without: Callable[[FailureCase, Collection[Any]], FailureCase | None]


def _of_inputs(change: values.InputChange) -> ReductionPass:
    """Return a reduction whose items are the names of inputs that ``change`` alters."""
    return ReductionPass(partial(values.changeable, change), partial(values.with_inputs, change))


def _of_lines(field: str) -> ReductionPass:
    """Return a reduction whose items are the positions of lines in a field of a case."""
    return ReductionPass(lambda case: range(len(getattr(case, field))), partial(values.without_lines, field))


OPERATIONS = (
    ReductionPass(operations.removable, partial(operations.without, near=False)),
    ReductionPass(operations.removable, partial(operations.without, near=True)),
)
"""Two ways to remove operations: new inputs replace their results, or the operations' arguments do."""

FRAME = (
    ReductionPass(lambda case: range(len(case.graph.outputs)), graphs.without_outputs),
    _of_inputs(values.unrecorded),
    _of_inputs(values.without_gradient),
    ReductionPass(lambda case: ["dynamic"] * case.dynamic, lambda case, _: replace(case, dynamic=False)),
    ReductionPass(graphs.number_inputs, graphs.with_numbers_inlined),
    ReductionPass(values.reduced_dtypes, values.with_float32_instead),
    ReductionPass(values.accelerators, values.with_cpu_instead),
)
"""Reductions after which more operations may be removable."""

LOOKS = (
    _of_lines("settings"),
    _of_lines("preamble"),
    _of_inputs(values.without_strides),
    ReductionPass(graphs.inputs_like_others, graphs.with_inputs_merged),
    ReductionPass(values.keywords, values.without_keywords),
    ReductionPass(values.numbers, values.with_ones_instead),
)
"""Reductions that make the repro simpler, but not the graph smaller."""


def reduce(
    case: FailureCase,
    first_failing: Callable[[Iterable[FailureCase]], FailureCase | None],
    progress: Callable[[FailureCase], None],
) -> FailureCase:
    """Return a smaller case that still fails in the same way.

    No single operation of the returned case can be removed. ``first_failing`` takes candidates lazily, the
    preferred candidates first, and returns the earliest candidate that fails. ``progress`` is called with
    each better case.
    """
    search = _ReductionSearch(case, first_failing, progress)
    if graphs.tidy(case) != case:
        search.ask([graphs.tidy(case), graphs.with_all_results(case)])
    search.ask(_cheaper(search.case))
    before = None
    while search.case is not before:
        _drop(search, *OPERATIONS, thorough=before is None)
        before = search.case
        for kind in FRAME:
            _drop(search, kind)
        _shrink(search)
    for kind in LOOKS:
        _drop(search, kind)
    return search.case


class _ReductionSearch:
    """The state of the search: the best case so far, and the cases that passed."""

    def __init__(
        self,
        case: FailureCase,
        first_failing: Callable[[Iterable[FailureCase]], FailureCase | None],
        progress: Callable[[FailureCase], None],
    ) -> None:
        self.case = case
        self._first_failing = first_failing
        self._progress = progress
        self._passing: list[FailureCase] = []

    def ask(self, candidates: Iterable[FailureCase | None]) -> int | None:
        """Make the first failing candidate the best case, and return its position.

        Return ``None`` if all candidates pass.
        """
        asked: list[FailureCase] = []
        positions: list[int] = []

        def unanswered() -> Iterator[FailureCase]:
            for position, candidate in enumerate(candidates):
                if (
                    candidate is None
                    or candidate == self.case
                    or candidate in asked
                    or candidate in self._passing
                ):
                    continue
                asked.append(candidate)
                positions.append(position)
                yield candidate

        failing = self._first_failing(unanswered())
        if failing is None:
            self._passing += asked
            return None
        number = asked.index(failing)
        self._passing += asked[:number]
        self.case = failing
        self._progress(failing)
        return positions[number]


def _cheaper(case: FailureCase) -> Iterator[FailureCase]:
    """Yield variants of a case that run faster.

    They lack recorded data, a backward graph, or both.
    """
    names = [given.name for given in case.inputs]
    without_records = values.with_inputs(values.unrecorded, case, names)
    yield values.with_inputs(values.without_gradient, without_records, names)
    yield without_records
    yield values.with_inputs(values.without_gradient, case, names)


def _drop(search: _ReductionSearch, kind: ReductionPass, *more: ReductionPass, thorough: bool = True) -> None:
    """Remove as many items as possible: first all, then halves, down to single items.

    The reductions in ``more`` are tried if ``kind`` removes nothing, and for single items.
    """
    size = len(kind.items(search.case)) if thorough else 1
    while size:
        for way in (kind, *more):
            if _drop_chunks(search, way, size) and size > 1:
                break
        size //= 2


def _drop_chunks(search: _ReductionSearch, kind: ReductionPass, size: int) -> bool:
    """Remove groups of ``size`` adjacent items, from the last group to the first.

    Return whether any group was removed.
    """
    items = list(kind.items(search.case))
    end = len(items)
    changed = False
    while end > 0:
        case, ends = search.case, range(end, 0, -size)
        index = search.ask(kind.without(case, items[max(0, stop - size) : stop]) for stop in ends)
        if index is None:
            break
        changed = True
        earlier = set(items[: max(0, ends[index] - size)])
        items = [item for item in kind.items(search.case) if item in earlier]
        end = len(items)
    return changed


def _shrink(search: _ReductionSearch) -> None:
    """Make tensors smaller: all sizes at once, then one size after another.

    A size is changed everywhere in the case.
    """
    everywhere = dict.fromkeys(sizes.sizes(search.case), sizes.SMALL)
    search.ask([sizes.resized(search.case, everywhere)])
    for size in sizes.sizes(search.case):
        _shrink_size(search, size)


def _shrink_size(search: _ReductionSearch, size: int) -> None:
    half = size // 2
    if search.ask(sizes.with_smaller(search.case, size, [sizes.SMALL])) is not None or half <= sizes.SMALL:
        return
    # If a size cannot be halved, leave it: further attempts would take many queries.
    if search.ask(sizes.with_smaller(search.case, size, [half])) is not None:
        powers = [2**exponent for exponent in range(2, half.bit_length()) if 2**exponent < half]
        search.ask(sizes.with_smaller(search.case, half, powers))
