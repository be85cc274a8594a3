"""A file of the workspace as it was when it ran elsewhere, as far as a log tells.

The log quotes lines; the file here may be another version. Lines that both have are paired, in order. A
quoted line that is not here any more is put where it must have been, so that the text is one from which a
:class:`~..workspace.drift.Drift` leads to the file here.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..workspace.drift import in_order
from ..workspace.source import SourceFile


@dataclass(frozen=True)
class RanFile:
    """The text; where rows of the file elsewhere are in it; and its rows that the file here has not."""

    source: SourceFile
    changed: frozenset[int]
    _rows: Sequence[int]
    _places: Sequence[int]

    def row(self, row: int) -> int:
        """The row of the text for a row elsewhere: one that is not quoted goes with the nearest that is."""
        index = bisect_right(self._rows, row)
        above = (self._rows[index - 1], self._places[index - 1]) if index else (0, 0)
        within = index < len(self._rows)
        end = (sys.maxsize, len(self.source.lines) + 1)
        below = (self._rows[index], self._places[index]) if within else end
        near = below if within and (below[0] - row < row - above[0] or not index) else above
        return max(min(near[1] + row - near[0], below[1] - 1), above[1], 1)


def as_it_ran(here: SourceFile, quoted: Mapping[int, str]) -> RanFile:
    """The file with the lines that a log quotes, by the row that they had; without indentation."""
    rows = sorted(quoted)
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
    return RanFile(source, frozenset(changed), rows, [places[row] for row in rows])


def _paired(lines: Sequence[str], rows: Sequence[int], quoted: Mapping[int, str]) -> list[tuple[int, int]]:
    """Rows elsewhere and here of the same lines, both growing."""
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
        {text: found[0] for text, found in here.items() if len(found) == 1},
    )
    return list(_filled(anchors, rows, quoted, here))


def _filled(
    anchors: Sequence[tuple[int, int]],
    rows: Sequence[int],
    quoted: Mapping[int, str],
    here: Mapping[str, Sequence[int]],
) -> Iterator[tuple[int, int]]:
    """The pairs, with those between them of lines that occur more than once: each nearest to its place."""
    row = place = 0
    for pair in (*anchors, None):
        end = bisect_left(rows, pair[0]) if pair else len(rows)
        for other in rows[bisect_right(rows, row) : end]:
            found = here.get(quoted[other], ())
            last = bisect_left(found, pair[1]) if pair else len(found)
            if same := found[bisect_right(found, place) : last]:
                shift = other - row
                place = min(same, key=lambda at: abs(at - place - shift))
                row = other
                yield row, place
        if pair:
            row, place = pair
            yield pair
