"""The map between lines of the text that ran and lines of the current text.

A report has rows of the text that ran, while a client shows rows of its current text. Therefore every place
that is shown between two runs is translated here.
"""

from __future__ import annotations

import operator
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, count
from typing import Literal, TypeAlias

from .positions import Span
from .ranges import line_span
from .source import SourceFile

Change: TypeAlias = Literal["same", "edited", "deleted"]

_Pair: TypeAlias = tuple[int, int]
"""The index of a line in one text, and of the equal line in the other text."""
_Block: TypeAlias = tuple[int, int, int]
"""A block of lines that two texts have in common: the index of the first line in each text, and the number of
lines."""
_Gap: TypeAlias = tuple[range, range]
"""Lines of one text, and the lines of the other text that replaced them."""


@dataclass(frozen=True, slots=True)
class MovedSpan:
    """The current span of an old span, and the change of its text.

    The current span covers the same text, an edited line, or the place of a deleted line.
    """

    span: Span
    change: Change


class TextDrift:
    """The differences between two texts; spaces at the ends of lines do not count."""

    def __init__(self, before: SourceFile | None, after: SourceFile | None) -> None:
        self.after = after
        # If one of the texts is missing, all lines count as unmoved.
        self._same: list[_Block] = [(1, 1, sys.maxsize)]
        self._changed: Mapping[int, tuple[int, Change]] = {}
        if before is not None and after is not None and before.text != after.text:
            self._same, self._changed = _compared(before.lines, after.lines)
        self._rows = [one for one, _, _ in self._same]
        self._rows_now = [other for _, other, _ in self._same]

    def line(self, row: int) -> tuple[int, Change]:
        """Return the current row of a line, and the line's change.

        For a deleted line, the row is the place where it was deleted.
        """
        one, other, length = self._same[max(bisect_right(self._rows, row) - 1, 0)]
        if 0 <= row - one < length:
            return row - one + other, "same"
        return self._changed.get(row, (row, "same"))

    def span(self, span: Span) -> MovedSpan:
        """Return the current span of an old span.

        Several lines count as the same only if they are still adjacent.
        """
        if _is_whole_file(span):
            return MovedSpan(span, "same")
        lines = [self.line(row) for row in range(span.row, span.end_row + 1)]
        first, last = lines[0][0], lines[-1][0]
        if all(change == "same" for _, change in lines) and last - first == span.end_row - span.row:
            return MovedSpan(replace(span, row=first, end_row=last), "same")
        left = next((row for row, change in lines if change != "deleted"), None)
        if left is None or self.after is None:
            return MovedSpan(Span(span.filename, first, 1, first, 1), "deleted")
        return MovedSpan(line_span(self.after, left), "edited")

    def shift(self, first: int, last: int) -> int | None:
        """Return by how many rows a block has moved.

        Return ``None`` if a line of the block changed, or if its lines moved apart.
        """
        one, other, length = self._same[max(bisect_right(self._rows, first) - 1, 0)]
        return other - one if one <= first and last < one + length else None

    def earlier(self, row: int) -> int | None:
        """Return the old row of an unchanged line; ``None`` for a new or edited line."""
        one, other, length = self._same[max(bisect_right(self._rows_now, row) - 1, 0)]
        return row - other + one if 0 <= row - other < length else None

    def replaced(self, row: int) -> range:
        """Return the old rows of a line: its own row, or those that a block of new lines replaced."""
        index = max(bisect_right(self._rows_now, row) - 1, 0)
        one, other, length = self._same[index]
        if row - other < length:
            return range(row - other + one, row - other + one + 1)
        following = self._same[index + 1 : index + 2]
        return range(one + length, following[0][0] if following else 0)


def with_text(source: SourceFile, text: str) -> SourceFile:
    """Return a file with an edited text; the cells of a notebook move with their rows."""
    after = SourceFile(source.filename, text)
    if not source.cells:
        return after
    drift = TextDrift(source, after)
    return replace(after, cells=tuple(drift.line(row)[0] for row in source.cells))


def _is_whole_file(span: Span) -> bool:
    """Tell whether a span stands for the whole target: the start of the file."""
    return (span.row, span.column, span.end_row, span.end_column) == (1, 1, 1, 1)


def _compared(
    before: Sequence[str], after: Sequence[str]
) -> tuple[list[_Block], dict[int, tuple[int, Change]]]:
    """Return blocks of unchanged lines, and the current row and change of other lines."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    first = head + 1
    same = [(1, 1, head)]
    changed: dict[int, tuple[int, Change]] = {}
    # Compared without indentation: a block that moved under a `with` is still the same block.
    blocks = _blocks([line.strip() for line in old], [line.strip() for line in new])
    for one, other, length in blocks:
        if old[one : one + length] == new[other : other + length]:
            same.append((first + one, first + other, length))
            continue
        for a, b in zip(range(one, one + length), range(other, other + length), strict=True):
            if old[a].rstrip() == new[b].rstrip():
                same.append((first + a, first + b, 1))
            else:
                changed[first + a] = (first + b, "edited")
    for one, other, change in _rewritten(old, new, blocks):
        changed[first + one] = (first + other, change)
    same.append((len(before) - tail + 1, len(after) - tail + 1, tail))
    return same, changed


def _rewritten(
    old: Sequence[str], new: Sequence[str], blocks: Iterable[_Block]
) -> Iterator[tuple[int, int, Change]]:
    """Yield the changed lines between the blocks of equal lines.

    Each item is the old index, the new index, and whether the line was edited or deleted.
    """
    for olds, news in _gaps(blocks, range(len(old)), range(len(new))):
        # A blank line is never the edited form of another line.
        lines = (index for index in olds if old[index].strip())
        edited = dict(zip(lines, (index for index in news if new[index].strip()), strict=False))
        nearest = news.start
        for index in olds:
            nearest = edited.get(index, nearest)
            yield index, nearest, "edited" if index in edited else "deleted"


# -- lines that two texts share ----------------------------------------------------------------


def _blocks(old: Sequence[str], new: Sequence[str]) -> list[_Block]:
    """Return the lines that both texts have in the same order, by a patience diff.

    The diff matches common lines at the beginnings and ends, then around each line that occurs only once in
    both texts. difflib would be slow if edits are far apart, or if a name was replaced throughout a file.
    """
    blocks: list[_Block] = []
    stretches: list[_Gap] = [(range(len(old)), range(len(new)))]
    while stretches:
        olds, news = stretches.pop()
        head = _common(_part(old, olds), _part(new, news))
        blocks.append((olds.start, news.start, head))
        olds, news = olds[head:], news[head:]
        tail = _common(_part(old, olds)[::-1], _part(new, news)[::-1])
        olds, news = olds[: len(olds) - tail], news[: len(news) - tail]
        blocks.append((olds.stop, news.stop, tail))
        if runs := _runs(old, new, in_order(_once(old, olds), _once(new, news))):
            blocks += runs
            stretches += (gap for gap in _gaps(runs, olds, news) if all(gap))
    return sorted(block for block in blocks if block[2])


def _runs(old: Sequence[str], new: Sequence[str], anchors: Sequence[_Pair]) -> list[_Block]:
    """Join paired lines into blocks if all lines between the pairs are the same."""
    runs: list[_Block] = []
    for one, other in anchors:
        if runs:
            a, b, length = runs[-1]
            if one - a == other - b and old[a + length : one] == new[b + length : other]:
                runs[-1] = (a, b, one - a + 1)
                continue
        runs.append((one, other, 1))
    return runs


def _once(lines: Sequence[str], indices: range) -> Mapping[str, int]:
    """Return the index of each line that occurs exactly once, in text order."""
    part = _part(lines, indices)
    times = Counter(part)
    return {line: index for line, index in zip(part, indices, strict=True) if times[line] == 1}


def in_order(olds: Mapping[str, int], news: Mapping[str, int]) -> list[_Pair]:
    """Return pairs of indices of common lines: the longest increasing subsequence."""
    pairs = [(index, news[line]) for line, index in olds.items() if line in news]
    others = [other for _, other in pairs]
    if others == sorted(others):
        return pairs
    lowest: list[int] = []  # by length of a run, the lowest last index
    runs: list[_IncreasingRun] = []
    for pair in pairs:
        length = bisect_left(lowest, pair[1])
        lowest[length : length + 1] = [pair[1]]
        runs[length : length + 1] = [_IncreasingRun(pair, runs[length - 1] if length else None)]
    return list(_members(runs[-1]))[::-1]


@dataclass(frozen=True, slots=True)
class _IncreasingRun:
    """The last pair of an increasing run, linked to the run without this pair."""

    pair: _Pair
    before: _IncreasingRun | None


def _members(run: _IncreasingRun | None) -> Iterator[_Pair]:
    while run is not None:
        yield run.pair
        run = run.before


def _gaps(blocks: Iterable[_Block], olds: range, news: range) -> Iterator[_Gap]:
    """Yield the lines between the blocks, before the first block and after the last."""
    one, other = olds.start, news.start
    for next_one, next_other, length in (*blocks, (olds.stop, news.stop, 0)):
        yield range(one, next_one), range(other, next_other)
        one, other = next_one + length, next_other + length


def _part(lines: Sequence[str], indices: range) -> Sequence[str]:
    return lines[indices.start : indices.stop]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the lines that two texts have in common at their beginnings."""
    differ = compress(count(), map(operator.ne, one, other))
    return next(differ, min(len(one), len(other)))
