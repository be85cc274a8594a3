"""Read a TORCH_TRACE log, plain or gzip, one record at a time."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from .record import TraceRecord, from_metadata, parse_header


def read_log(path: Path) -> Iterator[TraceRecord]:
    """The records of a log file, in order. Lines that are not torch's are passed over.

    Raises ``OSError`` when the file cannot be read.
    """
    with _open(path) as stream:
        yield from read_records(stream)


def read_records(lines: Iterable[str]) -> Iterator[TraceRecord]:
    """The records of a log's lines."""
    metadata: Mapping[str, Any] | None = None
    payload: list[str] = []
    # What is not a payload line ends the record before it, and so does the end of the log.
    for line in itertools.chain(lines, [""]):
        if line.startswith("\t"):
            payload.append(line[1:])
            continue
        record = from_metadata(metadata, "".join(payload).removesuffix("\n")) if metadata else None
        if record is not None:
            yield record
        metadata = parse_header(line)
        payload.clear()


def _open(path: Path) -> IO[str]:
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    if packed:
        return gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="\n")
    return path.open(encoding="utf-8", errors="replace", newline="\n")
