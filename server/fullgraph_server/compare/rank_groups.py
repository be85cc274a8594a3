"""Groups of ranks whose sequences are equal up to the first part that differs."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

_MOST_DIFFERENCES: Final = 3
"""The most positions of one sequence at which differences are reported."""
_END: Final = object()
"""Stands for the missing part after the end of a sequence."""
_NOWHERE: Final = sys.maxsize


@dataclass(frozen=True, slots=True)
class RankGroups:
    """Ranks grouped by their part at an index, the largest group first.

    The sequences of all these ranks are equal up to the index. ``later`` are ranks of the largest group that
    differ from the rest of the group at a later index; their differences are not reported in detail.
    """

    index: int
    ranks: tuple[tuple[int, ...], ...]
    later: tuple[tuple[int, ...], ...] = ()

    @property
    def different(self) -> tuple[int, ...]:
        """The ranks that are not in the largest group."""
        return tuple(rank for ranks in self.ranks[1:] for rank in ranks)


def groups(
    values: Mapping[int, tuple[Hashable, ...]], behind: Set[int], *, counts: bool = False
) -> Iterator[RankGroups]:
    """Yield the groups at each index where ranks differ.

    After each difference, only the largest group is compared further. For ranks that are ``behind``, nothing
    is known after the end of their sequence. With ``counts``, parts are numbers, and the number of a rank
    that is behind is only a lower bound.
    """
    alike: dict[_RankSequence, list[int]] = defaultdict(list)
    for rank, items in values.items():
        alike[_RankSequence(items, rank not in behind)].append(rank)
    for number in range(1, _MOST_DIFFERENCES + 1 if alike else 0):
        usual = max(alike, key=lambda item: (item.complete, len(alike[item]) if item.complete else item.size))
        index = min((usual.differs_at(item, counts) for item in alike), default=None)
        if index is None or index == _NOWHERE:
            return
        by_part: dict[Hashable, list[_RankSequence]] = defaultdict(list)
        for item in alike:
            if item.tells(index, counts, usual):
                by_part[item.part(index)].append(item)
        ranks = {
            part: sorted(rank for item in same for rank in alike[item]) for part, same in by_part.items()
        }
        order = sorted(ranks, key=lambda part: (-len(ranks[part]), ranks[part][0]))
        alike = {item: alike[item] for item in by_part[order[0]]}
        later = sorted(alike.values(), key=len)[:-1] if number == _MOST_DIFFERENCES else []
        yield RankGroups(index, tuple(tuple(ranks[part]) for part in order), tuple(map(tuple, later)))


@dataclass(frozen=True, slots=True)
class _RankSequence:
    """A sequence that some ranks share: the complete sequence, or only its beginning."""

    items: tuple[Hashable, ...]
    complete: bool

    @property
    def size(self) -> int:
        return len(self.items)

    def part(self, index: int) -> Hashable:
        return self.items[index] if index < self.size else _END

    def tells(self, index: int, counts: bool, usual: _RankSequence) -> bool:
        """Tell whether the part at an index is known."""
        if self.complete:
            return True
        return index < self.size and not (counts and self.items[index] < usual.items[index])  # type: ignore[operator]

    def differs_at(self, other: _RankSequence, counts: bool) -> int:
        """Return the first index at which the sequences are known to differ."""
        pairs = enumerate(zip(self.items, other.items, strict=False))
        index = next((index for index, (a, b) in pairs if a != b), min(self.size, other.size))
        known = self.tells(index, counts, other) and other.tells(index, counts, self)
        return index if known and self.part(index) != other.part(index) else _NOWHERE


def by_signature(
    differences: Collection[RankGroups], ranks: Sequence[int], unknown: Set[int] = frozenset()
) -> dict[int, int]:
    """Return the group number of each rank.

    Ranks that are in the same group in all differences have the same number. The largest such group has
    number 0. Each ``unknown`` rank is a group of its own.
    """
    signatures: dict[int, list[tuple[int, int]]] = {
        rank: [(-1, rank)] if rank in unknown else [] for rank in ranks
    }
    for number, difference in enumerate(differences):
        for group, members in enumerate((*difference.ranks[1:], *difference.later)):
            for rank in members:
                signatures[rank].append((number, group))
    alike: dict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
    for rank, signature in signatures.items():
        alike[tuple(signature)].append(rank)
    largest = sorted(alike.values(), key=lambda members: (-len(members), members[0]))
    return {rank: number for number, members in enumerate(largest) for rank in members}
