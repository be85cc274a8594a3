"""A unified diff, as an agent writes it, applied to the texts of files.

The numbers of its hunks are a hint only, since those who write diffs by hand miscount: a hunk belongs where
its old lines stand, and of several such places to the nearest.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..fixes.model import Edit
from ..workspace.positions import Span
from ..workspace.source import SourceFile

_HUNK = re.compile(r"@@(?: -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*)?")
_NONE = "/dev/null"


class PatchError(Exception):
    """The reason why a diff cannot be applied, as a sentence."""


@dataclass
class Hunk:
    """Lines that take the place of others; ``row`` is where the diff says that they begin, if it does."""

    row: int | None
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


def parse(diff: str) -> dict[str, list[Hunk]]:
    """Return the hunks of each file, by the path that the diff gives it. Raises :class:`PatchError`."""
    files: dict[str, list[Hunk]] = {}
    hunks: list[Hunk] | None = None
    before, blank = "", 0
    for line in diff.splitlines():
        if before.startswith("--- ") and line.startswith("+++ "):
            hunks = files.setdefault(_path(before, line), [])
        elif hunks is not None and (header := _HUNK.fullmatch(line)):
            hunks.append(Hunk(int(header[1]) if header[1] else None))
        elif hunks and not line:
            blank += 1  # a line of the file, unless it stands between hunks
            continue
        elif hunks and line[0] in " +-" and not line.startswith("--- "):
            for text in (*[" "] * blank, line):
                _take(hunks[-1], text)
        before, blank = line, 0
    if not any(files.values()):
        raise PatchError(
            "This is no unified diff: write --- a/FILE and +++ b/FILE, then hunks that begin with @@."
        )
    return files


def edits(source: SourceFile, path: str, hunks: Sequence[Hunk]) -> tuple[Edit, ...]:
    """Return what hunks change in a file. Raises :class:`PatchError` for one that does not apply."""
    before = list(source.lines[:-1] if not source.lines[-1] else source.lines)
    lines = list(before)
    for hunk in hunks:
        places = _places(lines, hunk)
        start = next((line for line in (*hunk.old, *hunk.new) if line.strip()), "").strip()
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
        first = min(places, key=lambda index: abs(index + 1 - (hunk.row or 0)))
        lines[first : first + len(hunk.old)] = hunk.new
    changed = tuple(_changes(source, _ended(before, source), _ended(lines, source)))
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


def _take(hunk: Hunk, line: str) -> None:
    if not line.startswith("+"):
        hunk.old.append(line[1:])
    if not line.startswith("-"):
        hunk.new.append(line[1:])


def _places(lines: Sequence[str], hunk: Hunk) -> list[int]:
    """Return the indices at which the old lines of a hunk stand; trailing blanks do not count."""
    old, text = ([line.rstrip() for line in some] for some in (hunk.old, lines))
    if not old and hunk.row is not None:
        return [min(hunk.row, len(lines))]
    return [index for index in range(len(text) - len(old) + 1) if text[index : index + len(old)] == old]


def _ended(lines: Sequence[str], source: SourceFile) -> list[str]:
    """Return lines with their ends, which the last one of the file may lack."""
    ended = [f"{line}\n" for line in lines]
    if lines and lines[-1] == source.lines[-1]:
        ended[-1] = lines[-1]
    return ended


def _changes(source: SourceFile, before: Sequence[str], after: Sequence[str]) -> Iterator[Edit]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind != "equal":
            yield Edit(Span(source.filename, first + 1, 1, last + 1, 1), "".join(after[start:end]))
