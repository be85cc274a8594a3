"""A program's printed output, without torch's logs and warnings.

Memory addresses, which differ in each process, are left out, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")
_LOGGED: Final = re.compile(r"[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ ")
"""The prefix of a line that torch logs, with the time of day."""


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
