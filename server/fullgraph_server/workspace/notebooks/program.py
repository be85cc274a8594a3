"""The program of a notebook: its code cells, one after the other.

Lines that only IPython understands become comments of the same length, so that rows and columns stay valid.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

MOST_PARSED = 1_000_000
"""The limit in characters of a text that Fullgraph parses: nobody writes longer texts by hand."""

_PYTHON = ("python", "ipython")
_CELL_MAGIC = "%%"
_AROUND = ("%%time", "%%capture")
"""Cell magics that do not change how the remaining lines of the cell run."""
_MAGIC = re.compile(
    r"""^(?: [%!?]                      # %time f(x), !ls, ?f
           | [^#'"=]* = [ ]* [%!]       # files = !ls
           | [^#'"?]* \?{1,2} $ )       # f?, f??""",
    re.VERBOSE,
)
_STATEMENT = "..."
"""The statement that, with a comment, replaces an indented magic: the block may contain no other
statement."""
_LEFT_OUT = "#%"
"""The beginning of each line of a cell that is left out: a line that begins like this is never an example
call."""


class NotebookError(ValueError):
    """Raised if a notebook cannot be read as a Python program.

    The exception's text is part of a sentence for the user.
    """


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """A code cell of a notebook."""

    language: str
    text: str


def program(cells: Sequence[NotebookCell]) -> tuple[str, tuple[int, ...]]:
    """Return the program of code cells, and the first row of each cell.

    Raises :class:`NotebookError`.
    """
    if not cells:
        raise NotebookError("it is a notebook without code cells")
    if sum(len(cell.text) for cell in cells) > MOST_PARSED:
        raise NotebookError(f"its code is longer than {MOST_PARSED:,} characters")
    foreign = {
        number: cell.language
        for number, cell in enumerate(cells, 1)
        if cell.language not in _PYTHON and not _is_left_out(cell.text)
    }
    if len(foreign) == len(cells):
        raise NotebookError(f"it is a notebook in {foreign[1]}, and only Python can be run")
    if foreign:
        number, language = next(iter(foreign.items()))
        raise NotebookError(f"its code cell {number} is in {language}, and only Python can be run")
    texts = [as_python(cell.text) for cell in cells]
    rows = [1]
    for text in texts[:-1]:
        rows.append(rows[-1] + text.count("\n") + 1)
    return "\n".join(texts), tuple(rows)


@lru_cache(maxsize=4096)
def as_python(text: str) -> str:
    """Return the text of a cell as Python, with the same number and lengths of lines.

    A cell that begins with a ``%%`` magic is not ordinary Python. The whole cell becomes a comment, unless
    the magic is ``%%time`` or ``%%capture``.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if _is_left_out(text):
        return "\n".join((_LEFT_OUT + line[len(_LEFT_OUT) :])[: len(line)] for line in lines)
    may_fail = any(map(_is_magic, lines))
    while may_fail:
        index = _failing_line(lines)
        # In a continued line, `%` is an operator: a line is a magic only where Python fails to parse it.
        may_fail = index is not None and _is_magic(lines[index])
        while may_fail and index is not None and index < len(lines) and _is_magic(lines[index]):
            index = _comment_out(lines, index)
    return "\n".join(lines)


def _is_left_out(text: str) -> bool:
    magic = text.split(maxsplit=1)[:1]
    return text.lstrip().startswith(_CELL_MAGIC) and not any(word in _AROUND for word in magic)


def _is_magic(line: str) -> bool:
    return _MAGIC.match(line.strip()) is not None


def _failing_line(lines: Sequence[str]) -> int | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except SyntaxError as error:
        return min(error.lineno or 1, len(lines)) - 1
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _comment_out(lines: list[str], index: int) -> int:
    """Comment out a magic and its continuation lines; return the next line's index."""
    is_first = True
    while True:
        line = lines[index]
        code = line.lstrip()
        indent = line[: len(line) - len(code)]
        if is_first and indent and len(code) >= len(_STATEMENT):
            rest = code[len(_STATEMENT) :]
            lines[index] = indent + _STATEMENT + ("#" + rest[1:] if rest else "")
        elif code:
            lines[index] = f"{indent}#{code[1:]}"
        is_first, index = False, index + 1
        if not line.endswith("\\") or index == len(lines):
            return index
