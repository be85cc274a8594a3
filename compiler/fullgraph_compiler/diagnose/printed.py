"""Record the lines that a program prints, to compare its runs."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from ..compat import dynamo_compat

_MOST_BYTES = 1_000_000
_LONGEST = 200
"""The maximum number of characters that are quoted from a line."""
_VARIABLE = re.compile(
    r"""
    0x[0-9a-fA-F]+                                                # an address
    | -?(?<!\d)\d+(?:\.\d*(?:[eE][-+]?\d+)?|[eE][-+]?\d+) | -?\.\d+(?:[eE][-+]?\d+)?   # that may be rounded
    | \s+
    """,
    re.VERBOSE,
)


class PrintedLines:
    """A recorder of up to a million bytes that this process writes to ``sys.stdout``."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._stdout: io.TextIOWrapper | None = None

    def install(self) -> None:
        """Start to record, if ``sys.stdout`` is a text file."""
        file = sys.stdout
        if not isinstance(file, io.TextIOWrapper):
            return
        for method in (_TeeFile.write, _TeeFile.flush, _TeeFile.writable, _TeeFile.fileno, _TeeFile.isatty):
            dynamo_compat.leave_alone(method)
        # Dynamo may trace a call of ``sys.stdout.write``, so this remains Python's own class.
        self._stdout = io.TextIOWrapper(
            _TeeFile(file.buffer, self._kept),
            encoding=file.encoding,
            errors=file.errors,
            line_buffering=file.line_buffering,
            write_through=file.write_through,
        )
        sys.stdout = self._stdout

    def save(self, path: Path) -> None:
        """Write the recorded text to a file for :func:`load`."""
        if self._stdout is not None:
            with contextlib.suppress(ValueError):  # it is closed or detached
                self._stdout.flush()
        path.write_bytes(self._kept)


class _TeeFile(io.BufferedIOBase):
    """A binary file that passes writes on to ``stream``, and copies them to ``kept``."""

    def __init__(self, stream: BinaryIO, kept: bytearray) -> None:
        self._stream = stream
        self._kept = kept

    @property
    def name(self) -> Any:
        return self._stream.name

    def write(self, data: Any) -> int:
        self._kept += bytes(data)[: max(_MOST_BYTES - len(self._kept), 0)]
        return self._stream.write(data)

    def flush(self) -> None:
        self._stream.flush()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()


def load(path: Path) -> list[str]:
    """Return the lines that :meth:`PrintedLines.save` wrote."""
    return path.read_text("utf-8", "replace").splitlines()


def difference(uncompiled: Sequence[str], captured: Sequence[str], compiled: Sequence[str]) -> str:
    """Describe the first line that a program prints only uncompiled or only compiled.

    Return an empty string if no line differs. The three runs are of the same program: uncompiled,
    with Dynamo alone (``captured``), and compiled. Addresses, numbers with a decimal point and the order of
    lines are ignored. If all three runs differ, for example in a printed time, the result is empty, too.
    """
    plain, alone, whole = (Counter(map(_normal, lines)) for lines in (uncompiled, captured, compiled))
    missing, added = differing(uncompiled, compiled)
    if alone not in (plain, whole) or not (missing or added):
        return ""
    as_alone = ", as under Dynamo alone" if alone == whole else ""
    if not missing:
        return f"it prints `{quoted(added[0])}`{as_alone}, but not uncompiled"
    if not added:
        return f"it does not print `{quoted(missing[0])}`{as_alone}, but does uncompiled"
    return f"it prints `{quoted(added[0])}`{as_alone}, but `{quoted(missing[0])}` uncompiled"


def differing(before: Sequence[str], now: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines that only ``before`` has, and the lines that only ``now`` has."""
    was, now_is = Counter(map(_normal, before)), Counter(map(_normal, now))
    return (
        [line for line in before if _normal(line) in was - now_is],
        [line for line in now if _normal(line) in now_is - was],
    )


def quoted(line: str) -> str:
    """Return the start of a line, short enough for a quotation."""
    return line[:_LONGEST]


def _normal(line: str) -> str:
    """Return a line without the parts that may differ between equal runs.

    These parts are addresses, decimal numbers and spaces.
    """
    return _VARIABLE.sub(lambda found: "" if found[0].isspace() else "#", line)
