"""The text of a workspace file that ran elsewhere, as far as a log quotes it.

The local file may be a different version. Lines that are in both versions are paired, in order. A quoted
line that is not in the local file is inserted at its probable row, so that a
:class:`~..workspace.drift.TextDrift` can compare the text that ran with the local file.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..workspace.drift import in_order
from ..workspace.source import SourceFile


@dataclass(frozen=True)
class ExecutedFile:
    """The text of a file when it ran, with a map from remote rows to its rows.

    ``changed`` are the rows of the text whose lines are not in the local file.
    """

    source: SourceFile
    changed: frozenset[int]
    _rows: Sequence[int]
    _places: Sequence[int]

    def row(self, row: int) -> int:
        """Return the row of the text for a remote row.

        A remote row that is not quoted keeps its distance from the nearest quoted row.
        """
        index = bisect_right(self._rows, row)
        above = (self._rows[index - 1], self._places[index - 1]) if index else (0, 0)
        within = index < len(self._rows)
        end = (sys.maxsize, len(self.source.lines) + 1)
        below = (self._rows[index], self._places[index]) if within else end
        near = below if within and (below[0] - row < row - above[0] or not index) else above
        return max(min(near[1] + row - near[0], below[1] - 1), above[1], 1)


def as_it_ran(here: SourceFile, quoted: Mapping[int, str]) -> ExecutedFile:
    """Insert the lines that a log quotes into the text of a local file.

    ``quoted`` maps remote rows to lines without indentation.
    """
    return _as_it_ran(here, tuple(sorted(quoted.items())))


@lru_cache(maxsize=256)
def _as_it_ran(here: SourceFile, sorted_quotes: tuple[tuple[int, str], ...]) -> ExecutedFile:
    """Insert the quoted lines; cached, since most ranks quote the same lines."""
    quoted = dict(sorted_quotes)
    rows = list(quoted)
    pairs = _paired(here.lines, rows, quoted)
    lines: list[str] = []
    places: dict[int, int] = {}
    changed: set[int] = set()
    end = (max(rows, default=0) + 1, len(here.lines) + 1)
    row = place = 0
    for pair in (*pairs, end):
        next_row, next_place = pair
        between = list(here.lines[place : next_place - 1])
        for other in rows[bisect_right(rows, row) : bisect_left(rows, next_row)]:
            index = min(other - row - 1, len(between))
            old = between[index] if index < len(between) else (lines or [""])[-1]
            between[index : index + 1] = [old[: len(old) - len(old.lstrip())] + quoted[other]]
            places[other] = len(lines) + index + 1
            changed.add(places[other])
        lines += between
        if pair is not end:
            lines.append(here.lines[next_place - 1])
            places[next_row] = len(lines)
        row, place = next_row, next_place
    source = SourceFile(here.filename, "\n".join(lines)) if changed else here
    return ExecutedFile(source, frozenset(changed), rows, [places[row] for row in rows])


def _paired(lines: Sequence[str], rows: Sequence[int], quoted: Mapping[int, str]) -> list[tuple[int, int]]:
    """Return pairs of a remote and a local row with equal lines, both ascending."""
    stripped = [line.strip() for line in lines]
    if all(row <= len(lines) and stripped[row - 1] == quoted[row] for row in rows):
        return [(row, row) for row in rows]
    here: defaultdict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(stripped, 1):
        here[text].append(row)
    times = Counter(quoted.values())
    once = {text: row for row, text in quoted.items() if times[text] == 1}
    anchors = in_order(
        {text: once[text] for text in sorted(once, key=once.__getitem__)},
        {text: places[0] for text, places in here.items() if len(places) == 1},
    )
    return list(_filled(anchors, rows, quoted, here))


def _filled(
    anchors: Sequence[tuple[int, int]],
    rows: Sequence[int],
    quoted: Mapping[int, str],
    here: Mapping[str, Sequence[int]],
) -> Iterator[tuple[int, int]]:
    """Yield ``anchors``, and between them pairs of rows of repeated lines.

    Of several equal local lines, the one nearest to the expected row is paired.
    """
    row = place = 0
    for pair in (*anchors, None):
        end = bisect_left(rows, pair[0]) if pair else len(rows)
        for other in rows[bisect_right(rows, row) : end]:
            places = here.get(quoted[other], ())
            last = bisect_left(places, pair[1]) if pair else len(places)
            if same := places[bisect_right(places, place) : last]:
                shift = other - row
                place = min(same, key=lambda at: abs(at - place - shift))
                row = other
                yield row, place
        if pair:
            row, place = pair
            yield pair
