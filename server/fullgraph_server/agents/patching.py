"""Unified diffs that agents write, applied to texts of files in linear time.

A hunk applies where the file contains the hunk's old lines. Its line number only chooses the nearest of
several such places, since authors of diffs miscount.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ..fixes.model import Edit
from ..workspace.positions import Span
from ..workspace.source import SourceFile

_Line: TypeAlias = "tuple[int | None, str]"
"""A line of a patched file: its index in the original file (``None`` for a new line), and its text."""
_HUNK = re.compile(r"@@(?: -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*)?")
_NONE = "/dev/null"
_MOST_LINES: Final = 10_000
_MOST_HUNKS: Final = 500
"""The most lines and hunks of a diff: nobody writes a larger diff by hand."""
_MOST_STEPS: Final = 2_000_000
"""The most lines that are searched to place all hunks of a file."""
_MOST_COMPARED: Final = 40_000
"""The most pairs of lines that are compared to find the unchanged lines of a block."""


class PatchError(Exception):
    """The reason why a diff cannot be applied, as a sentence."""


@dataclass
class DiffHunk:
    """A hunk of a diff; ``row`` is the line at which the diff says that it begins."""

    row: int | None
    lines: list[tuple[str, str]] = field(default_factory=list)
    """For each line, the first character (a space, ``+`` or ``-``) and the text after it."""

    @property
    def old(self) -> list[str]:
        """The lines that the hunk replaces."""
        return [text for mark, text in self.lines if mark != "+"]


def parse(diff: str) -> dict[str, list[DiffHunk]]:
    """Return the hunks of each file by its path in the diff.

    Raises :class:`PatchError` if the text is not a unified diff, or is too large.
    """
    if diff.count("\n") > _MOST_LINES:
        raise PatchError(f"The diff has more than {_MOST_LINES:,} lines: try it in parts.")
    files: dict[str, list[DiffHunk]] = {}
    hunks: list[DiffHunk] | None = None
    before, blank = "", 0
    for line in diff.splitlines():
        if before.startswith("--- ") and line.startswith("+++ "):
            hunks = files.setdefault(_path(before, line), [])
        elif hunks is not None and (header := _HUNK.fullmatch(line)):
            hunks.append(DiffHunk(int(header[1]) if header[1] else None))
        elif hunks and not line:
            blank += 1  # a line of the file, unless it stands between hunks
            continue
        elif hunks and line[0] in " +-" and not line.startswith("--- "):
            for text in (*[" "] * blank, line):
                hunks[-1].lines.append((text[0], text[1:]))
        before, blank = line, 0
    if not any(files.values()):
        raise PatchError(
            "Not a unified diff: write --- a/FILE and +++ b/FILE, then hunks that begin with @@."
        )
    if sum(map(len, files.values())) > _MOST_HUNKS:
        raise PatchError(f"The diff has more than {_MOST_HUNKS:,} hunks: try it in parts.")
    return files


def edits(source: SourceFile, path: str, hunks: Sequence[DiffHunk]) -> tuple[Edit, ...]:
    """Return the edits of hunks to a file.

    Raises :class:`PatchError` if a hunk does not apply, if a hunk without a line number fits several
    places, or if nothing changes.
    """
    before = list(source.lines[:-1] if not source.lines[-1] else source.lines)
    if len(hunks) * len(before) > _MOST_STEPS:
        raise PatchError(f"The diff has too many hunks for a file as long as {path}: try it in parts.")
    after: list[_Line] = list(enumerate(before))
    for hunk in hunks:
        places = _places([text for _, text in after], hunk)
        start = next(
            (text for _, text in sorted(hunk.lines, key=lambda line: line[0] == "+") if text.strip()), ""
        ).strip()
        if not places:
            at = f" at line {hunk.row}" if hunk.row else ""
            raise PatchError(
                f"The diff does not apply: {path} has no lines like those of the hunk{at} that begins with "
                f"{start!r}. Read the file and write the diff again."
            )
        if hunk.row is None and len(places) > 1:
            raise PatchError(
                f"The diff does not apply: the hunk that begins with {start!r} fits {len(places)} places of "
                f"{path}. Write more of the lines around it."
            )
        _put(after, _nearest(places, after, hunk.row or 0), hunk)
    changed = tuple(_changes(source, before, after))
    if not changed:
        raise PatchError(f"The diff changes nothing in {path}.")
    return changed


def _path(old: str, new: str) -> str:
    before, after = (line[4:].split("\t")[0].strip() for line in (old, new))
    if _NONE in (before, after):
        raise PatchError(
            "Files cannot be added or removed: try an edit of files that the program imports already."
        )
    return after.removeprefix("b/") if before.startswith("a/") else after


def _places(lines: Sequence[str], hunk: DiffHunk) -> list[int]:
    """Return the indices of lines at which a hunk's old lines begin.

    Blanks at the ends of lines are ignored.
    """
    old, text = ([line.rstrip() for line in some] for some in (hunk.old, lines))
    if not old:
        return [*range(len(lines) + 1)] if hunk.row is None else [min(hunk.row, len(lines))]
    # The prefix function of Knuth, Morris and Pratt, which takes linear time even if lines repeat.
    joined: list[str | None] = [*old, None, *text]
    borders = [0]
    for line in joined[1:]:
        matched = borders[-1]
        while matched and joined[matched] != line:
            matched = borders[matched - 1]
        borders.append(matched + (joined[matched] == line))
    return [index - 2 * len(old) for index, matched in enumerate(borders) if matched == len(old)]


def _nearest(places: Sequence[int], lines: Sequence[_Line], row: int) -> int:
    """Return the one of ``places`` that is nearest to a row of the original file.

    ``lines`` may contain the changes of earlier hunks.
    """
    known = (-1 if index is None else index for index, _ in lines)
    indices = [*itertools.accumulate(known, max), len(lines)]
    return min(places, key=lambda place: abs(indices[place] + 1 - row))


def _put(lines: list[_Line], first: int, hunk: DiffHunk) -> None:
    """Replace the lines at an index by a hunk's lines.

    Context lines keep their original index.
    """
    put: list[_Line] = []
    index = first
    for mark, text in hunk.lines:
        if mark == "+":
            put.append((None, text))
            continue
        if mark == " ":
            put.append(lines[index])
        index += 1
    lines[first:index] = put


def _ended(lines: Sequence[str], source: SourceFile) -> list[str]:
    """Return lines with line ends; the last line of the file may have no line end."""
    ended = [f"{line}\n" for line in lines]
    if lines and lines[-1] == source.lines[-1]:
        ended[-1] = lines[-1]
    return ended


def _changes(source: SourceFile, before: Sequence[str], after: Sequence[_Line]) -> Iterator[Edit]:
    own, texts = _ended(before, source), _ended([text for _, text in after], source)
    row, new = 0, list[str]()
    for index, text in (*zip((index for index, _ in after), texts, strict=True), (len(own), "")):
        if index is None or (index < len(own) and own[index] != text):
            new.append(text)
            continue
        for first, last, start, end in _apart(own[row:index], new):
            span = Span(source.filename, row + first + 1, 1, row + last + 1, 1)
            yield Edit(span, "".join(new[start:end]))
        row, new = index + 1, []


def _apart(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges of old and new lines that differ.

    In large blocks, only equal lines at the beginning and the end are recognized.
    """
    if len(old) * len(new) > _MOST_COMPARED:
        same = _alike(old, new)
        at_end = _alike(old[same:][::-1], new[same:][::-1])
        if same < max(len(old), len(new)):
            yield same, len(old) - at_end, same, len(new) - at_end
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    yield from (places for kind, *places in matcher.get_opcodes() if kind != "equal")  # type: ignore[misc]


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines at the beginning are equal."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
