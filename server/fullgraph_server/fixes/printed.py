"""A program's printed output, without torch's logs and warnings.

Memory addresses, which differ in each process, are left out, too.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from typing import Final

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")
_LOGGED: Final = re.compile(r"[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ ")
"""The prefix of a line that torch logs, with the time of day."""
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

    A warning ends with the line of code that caused it. If AOTAutograd traces in anomaly mode, the traceback
    of the forward call precedes this line.
    """
    is_warning, has_traceback = False, False
    for line in printed.splitlines(keepends=True):
        place, warns, message = line.partition("Warning: ")
        if is_warning and has_traceback:
            has_traceback = "(Triggered internally at " not in line
        elif is_warning:
            is_warning = not line.startswith("  ")
        elif warns and ".py:" in place and f"{os.sep}torch{os.sep}" in place:
            is_warning, has_traceback = True, message.startswith("Error detected in ")
        elif not _LOGGED.match(line):
            yield line
