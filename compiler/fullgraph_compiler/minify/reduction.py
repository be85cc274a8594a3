"""Make a failing case smaller: delta debugging over its graph, then over all else that a repro shows.

Every question costs a compilation, so big steps come first: half of the operations, a quarter, and so on down
to single ones. Whether a smaller case still fails is for the oracle to say; here is no torch at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..cases.case import Case
from . import reduction_graph as graphs
from . import reduction_operations as operations
from . import reduction_sizes as sizes
from . import reduction_values as values


@dataclass(frozen=True, slots=True)
class Pass:
    """A kind of thing that a case may do without: what there is of it, and a case without some of it.

    Things are named by what stays the same, or by positions, when others that come later are gone.
    ``without`` gives ``None`` where nothing sensible would be left.
    """

    items: Callable[[Case], Sequence[Any]]
    without: Callable[[Case, Collection[Any]], Case | None]


OPERATIONS = (
    Pass(operations.removable, operations.with_inputs_instead),
    Pass(operations.removable, operations.with_arguments_instead),
)
"""Two ways to do without operations: inputs cut off what came before, arguments let neighbours meet."""

FRAME = (
    Pass(graphs.output_positions, graphs.without_outputs),
    Pass(values.recorded_inputs, values.without_records),
    Pass(values.inputs_with_gradient, values.without_gradient),
    Pass(values.dynamic, values.without_dynamic),
    Pass(graphs.number_inputs, graphs.with_numbers_inlined),
    Pass(values.reduced_dtypes, values.with_float32_instead),
    Pass(values.accelerators, values.with_cpu_instead),
)
"""After each of these an operation may have become needless that was not before."""

LOOKS = (
    Pass(values.setting_positions, values.without_settings),
    Pass(values.preamble_positions, values.without_preamble),
    Pass(values.strided_inputs, values.without_strides),
    Pass(graphs.inputs_like_others, graphs.with_inputs_merged),
    Pass(values.keywords, values.without_keywords),
    Pass(values.numbers, values.with_ones_instead),
)
"""These make no graph smaller."""


def reduce(
    case: Case,
    first_failing: Callable[[Iterable[Case]], Case | None],
    progress: Callable[[Case], None],
) -> Case:
    """The smallest case found that still fails in the same way; no single operation of it can go.

    ``first_failing`` takes candidates lazily, the most wanted first, and gives the earliest that fails.
    ``progress`` is told of each better case.
    """
    search = _Search(case, first_failing, progress)
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


class _Search:
    """The best case so far, and what is known not to fail."""

    def __init__(
        self,
        case: Case,
        first_failing: Callable[[Iterable[Case]], Case | None],
        progress: Callable[[Case], None],
    ) -> None:
        self.case = case
        self._first_failing = first_failing
        self._progress = progress
        self._passing: list[Case] = []

    def ask(self, candidates: Iterable[Case | None]) -> int | None:
        """Take over the first candidate that fails, and say which one it is."""
        asked: list[Case] = []
        positions: list[int] = []

        def unknown() -> Iterator[Case]:
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

        found = self._first_failing(unknown())
        if found is None:
            self._passing += asked
            return None
        number = asked.index(found)
        self._passing += asked[:number]
        self.case = found
        self._progress(found)
        return positions[number]


def _cheaper(case: Case) -> Iterator[Case]:
    """Cases that are asked about faster: without much data in the repro, without a backward graph."""
    without_records = values.without_records(case, values.recorded_inputs(case))
    yield values.without_gradient(without_records, values.inputs_with_gradient(case))
    yield without_records
    yield values.without_gradient(case, values.inputs_with_gradient(case))


def _drop(search: _Search, kind: Pass, *more: Pass, thorough: bool = True) -> None:
    """Remove as many things as possible: all, then halves, and so on; single ones last.

    Other ways to remove them come in where the first leads nowhere, and at the end.
    """
    size = len(kind.items(search.case)) if thorough else 1
    while size:
        for way in (kind, *more):
            if _drop_chunks(search, way, size) and size > 1:
                break
        size //= 2


def _drop_chunks(search: _Search, kind: Pass, size: int) -> bool:
    """Remove every run of so many things that can go, from the last to the first; say whether one went."""
    items = list(kind.items(search.case))
    end = len(items)
    changed = False
    while end > 0:
        case, ends = search.case, range(end, 0, -size)
        found = search.ask(kind.without(case, items[max(0, stop - size) : stop]) for stop in ends)
        if found is None:
            break
        changed = True
        earlier = set(items[: max(0, ends[found] - size)])
        items = [item for item in kind.items(search.case) if item in earlier]
        end = len(items)
    return changed


def _shrink(search: _Search) -> None:
    """Make tensors smaller: all sizes at once, else each size everywhere where it occurs."""
    everywhere = dict.fromkeys(sizes.sizes(search.case), sizes.SMALL)
    search.ask([sizes.resized(search.case, everywhere)])
    for size in sizes.sizes(search.case):
        _shrink_size(search, size)


def _shrink_size(search: _Search, size: int) -> None:
    half = size // 2
    if search.ask(sizes.with_smaller(search.case, size, [sizes.SMALL])) is not None or half <= sizes.SMALL:
        return
    # A size that cannot even be halved is left alone: it would take many questions.
    if search.ask(sizes.with_smaller(search.case, size, [half])) is not None:
        powers = [2**exponent for exponent in range(2, half.bit_length()) if 2**exponent < half]
        search.ask(sizes.with_smaller(search.case, half, powers))
