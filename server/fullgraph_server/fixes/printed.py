"""A program's printed output, without torch's logs and warnings.

Memory addresses, which differ in each process, are left out, too.
"""

from __future__ import annotations

import math
import os
import re
from collections import deque
from collections.abc import Iterator
from typing import Final

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")
_LOGGED: Final = re.compile(r"[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ ")
"""The prefix of a line that torch logs, with the time of day."""
_OF_TORCH: Final = "(Triggered internally at "
"""The end of a warning of torch's C++ code, which Python reports at a line of the program."""
_LONGEST: Final = 8
"""The most lines of a warning's message."""
_NUMBER: Final = re.compile(
    r"(?<![\w.])(-?\d{1,30}\.\d{1,30}(?:e[+-]?\d{1,3})?|-?\d{1,30}e[+-]?\d{1,3})(?![\w.])"
)
"""A printed floating-point number."""
_ROUNDING: Final = 1e-4
"""The largest difference of printed numbers, relative to the larger one: that of results in float32."""


def is_rounded(before: str, after: str) -> bool:
    """Tell whether two outputs differ only in floating-point numbers, and in these only by rounding."""
    parts, others = (_NUMBER.split(text) for text in (before, after))
    if len(parts) != len(others) or parts[::2] != others[::2]:
        return False
    pairs = zip(parts[1::2], others[1::2], strict=True)
    return all(math.isclose(float(one), float(other), rel_tol=_ROUNDING) for one, other in pairs)


def own_text(printed: str) -> str:
    """Return the program's own output, without memory addresses."""
    return _ADDRESS.sub("0x", "".join(_own_lines(printed)))


def _own_lines(printed: str) -> Iterator[str]:
    """Yield the lines that the program printed, without torch's logs and warnings.

    A warning of the program itself comes without its row, which an edit above it changes.
    """
    lines = deque(printed.splitlines(keepends=True))
    while lines:
        line = lines.popleft()
        if head := _place_of_warning(line):
            warning = [line, *_rest_of_warning(line, lines)]
            file = head.rpartition(":")[0]
            if f"{os.sep}torch{os.sep}" not in file and not any(_OF_TORCH in item for item in warning):
                yield from (f"{file}{line[len(head) :]}", *warning[1:])
        elif not _LOGGED.match(line):
            yield line


def _place_of_warning(line: str) -> str:
    """Return the file and the row of a warning's first line; "" for any other line."""
    head, _, kind = line.partition("Warning: ")[0].rpartition(": ")
    file, _, row = head.rpartition(":")
    is_first = "Warning: " in line and file.endswith(".py") and row.isdigit()
    return head if is_first and (not kind or kind.isidentifier()) else ""


def _rest_of_warning(first: str, lines: deque[str]) -> Iterator[str]:
    """Yield the lines of a warning after its first one; remove them from the lines that follow.

    A warning ends with the line of code that caused it. If AOTAutograd traces in anomaly mode, the traceback
    of the forward call precedes this line.
    """
    has_traceback = "Warning: Error detected in " in first
    is_code = [line.startswith("  ") for line in lines]
    begin = next((row for row, line in enumerate(lines) if _OF_TORCH in line), 0) if has_traceback else 0
    if not has_traceback and True not in is_code[:_LONGEST]:
        return
    last = next((row for row in range(begin, len(lines)) if is_code[row]), len(lines) - 1)
    for _ in range(last + 1):
        yield lines.popleft()
