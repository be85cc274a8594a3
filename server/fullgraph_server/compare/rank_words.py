"""Texts that name ranks, as short for a thousand ranks as for two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_MOST_RANGES: Final = 6
_FIRST: Final = 3


def rank_words(ranks: Sequence[int]) -> str:
    """Write ``rank 3`` or ``ranks 0-3 and 7``.

    For many ranges, only the number of ranks and the first ranges are written.
    """
    ranges: list[list[int]] = []
    for rank in sorted(ranks):
        if ranges and ranges[-1][-1] == rank - 1:
            ranges[-1][1:] = [rank]
        else:
            ranges.append([rank])
    words = ["-".join(map(str, part)) for part in ranges]
    if len(words) > _MOST_RANGES:
        return f"{len(ranks):,} ranks ({', '.join(words[:_FIRST])}, ...)"
    listed = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    return f"rank {listed}" if len(ranks) == 1 else f"ranks {listed}"


def rest_words(ranks: Sequence[int], total: int, told: int) -> str:
    """Write ``the 63 others`` for ``ranks``, or list them.

    The ranks are listed unless they are most of ``total``, and all but the ``told`` ranks already named.
    """
    most = len(ranks) > total / 2 and len(ranks) > 1
    return f"the {len(ranks):,} others" if most and len(ranks) + told == total else rank_words(ranks)


def group_words(parts: Sequence[tuple[str, Sequence[int]]]) -> list[str]:
    """Describe what each group of ranks does.

    If there are many groups, only the first groups are described; the ranks of the rest are counted.
    """
    words = [f"{does} on {rank_words(ranks)}" for does, ranks in parts[:_FIRST]]
    more = sum(len(ranks) for _, ranks in parts[_FIRST:])
    return [*words, f"in other ways on {more:,} more {'rank' if more == 1 else 'ranks'}"] if more else words
