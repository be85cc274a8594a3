"""The lines that a program prints, recorded to compare its runs."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..compat import dynamo_compat

_MOST_CHARACTERS = 1_000_000
_VARIABLE = re.compile(
    r"""
    0x[0-9a-fA-F]+                                                # an address
    | -?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)? | -?\d+[eE][-+]?\d+   # a number that may be rounded
    | \s+
    """,
    re.VERBOSE,
)


class PrintedLines:
    """The recorder of what this process writes to ``sys.stdout``, up to a million characters."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._room = _MOST_CHARACTERS

    def install(self) -> None:
        """Record from now on."""
        write = sys.stdout.write

        def write_and_keep(text: Any) -> int:
            if self._room > 0 and isinstance(text, str):
                self._texts.append(text[: self._room])
                self._room -= len(text)
            return write(text)

        dynamo_compat.leave_alone(write_and_keep)
        sys.stdout.write = write_and_keep  # type: ignore[method-assign]

    def save(self, path: Path) -> None:
        """Write the text to a file for :func:`load`."""
        path.write_text("".join(self._texts), "utf-8", "surrogatepass")


def load(path: Path) -> list[str]:
    """Return the lines that a recorder saved."""
    return path.read_text("utf-8", "surrogatepass").splitlines()


def difference(uncompiled: Sequence[str], captured: Sequence[str], compiled: Sequence[str]) -> str:
    """Describe the first line that a program prints only uncompiled or only compiled; empty if none is.

    Each run is one of the same program: uncompiled, with Dynamo alone (``captured``), compiled. Addresses,
    numbers with a decimal point and the order of lines do not count, nor does a line that differs in all
    three runs, such as one with a time.
    """
    plain, alone, whole = (Counter(map(_normal, lines)) for lines in (uncompiled, captured, compiled))
    missing, added = (
        [line for line in lines if _normal(line) in only]
        for lines, only in ((uncompiled, plain - whole), (compiled, whole - plain))
    )
    if alone not in (plain, whole) or not (missing or added):
        return ""
    as_alone = ", as under Dynamo alone" if alone == whole else ""
    if not missing:
        return f"it prints `{added[0]}`{as_alone}, uncompiled not"
    if not added:
        return f"it does not print `{missing[0]}`{as_alone}, uncompiled it does"
    return f"it prints `{added[0]}`{as_alone}, uncompiled `{missing[0]}`"


def _normal(line: str) -> str:
    """Return a line without what may differ between two runs of the same code."""
    return _VARIABLE.sub(lambda found: "" if found[0].isspace() else "#", line)
