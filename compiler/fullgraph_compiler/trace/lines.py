"""The source lines that a log quotes, for runs whose files are not available.

A record's stacks have the lines under ``loc``. Tracebacks have them on the line after ``File "...", line 5,
in f``, graphs after ``# File: ...:5 in f, code:``. Guards have them before ``# ...:5 in f``; lines of guards
are not read, because the names of their files are shortened.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .record import TraceRecord

_TRACEBACK: Final = re.compile(
    r'^[ \t]*File "([^"\n]+)", line (\d+), in [^\n]+\n[ \t]*([^\n]+)', re.MULTILINE
)
_GRAPH: Final = re.compile(
    r"^[ \t]*# (?:Backward of forward node: )?File: ([^\n]+?):(\d+) in \S+, code: ([^\n]*)", re.MULTILINE
)
MOST_ROWS: Final = 10_000_000
"""The most rows of a file: a log that names a larger row is damaged."""
_GRAPHS: Final = ("dynamo_output_graph", "exported_program", "make_fx_fail_partial")
_TEXTS: Final = frozenset(("dynamo_graph_break_reason", "recompile_reasons", "dynamo_error", *_GRAPHS))
LINE_RECORDS: Final = frozenset((*_TEXTS, "str", "dynamo_start"))
"""The records that quote the user's code, and the records needed to read them."""


class LineReader:
    """A collector of lines without indentation, by file and 1-based row.

    If a line is quoted repeatedly, the first quote counts.
    """

    def __init__(self) -> None:
        self.lines: defaultdict[str, dict[int, str]] = defaultdict(dict)
        self._strings: dict[int, str] = {}

    def feed(self, record: TraceRecord) -> None:
        """Read a record."""
        if record.name == "str":
            text, number = record.body
            self._strings[number] = text
        elif record.name == "dynamo_start":
            for filename, row, line in _structured(record.body.get("stack"), self._strings):
                self._note(filename, row, line)
        elif record.name in _TEXTS:
            text = record.payload
            for pattern in (_GRAPH,) if record.name in _GRAPHS else (_TRACEBACK,):
                for filename, row, line in pattern.findall(text):
                    self._note(filename, int(row), line)

    def _note(self, filename: Any, row: Any, line: str) -> None:
        is_place = isinstance(filename, str) and isinstance(row, int) and 0 < row <= MOST_ROWS
        if is_place and (text := line.strip()):
            self.lines[filename].setdefault(row, text)


def _structured(frames: Any, strings: Mapping[int, str]) -> Iterator[tuple[str, int, str]]:
    for frame in frames or ():
        if frame["filename"] in strings and frame.get("loc"):
            yield strings[frame["filename"]], frame["line"], frame["loc"]
