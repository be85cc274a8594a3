"""Readers of TORCH_TRACE logs: one pass finds the records.

The pass stores the offset of each record; records are decoded on demand. A log can be larger than memory,
cut off anywhere, still being written, or not a log at all. Every readable record is read, and only errors of
accessing the file are raised.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import threading
import zlib
from array import array
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from .record import TraceRecord, from_metadata, parse_header

_CHUNK: Final = 1 << 20
_LONGEST_HEADER: Final = 1 << 24
_LONGEST_PAYLOAD: Final = 1 << 26
"""Limits in bytes: a longer record is not written by torch, but a sign of a damaged log."""
_MOST_NAMES: Final = 10_000
"""The most record names that the index distinguishes: torch has some hundreds."""
_OTHER: Final = 0
_UNREADABLE: Final = 0xFFFFFFFF
"""The index's numbers for all further names, and for damaged records."""
_HEAD: Final = 2048
"""The number of bytes at the start of a record in which its name must be."""
_NAME: Final = re.compile(rb'^V\d{4} [^\n]*?\] \{"(\w+)": (?:\{"name": "([^"\\]*)")?', re.MULTILINE)
_BEGAN: Final = re.compile(rb"V(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)")
_LINES: Final = re.compile(rb"^V\d{4} [^\n]*", re.MULTILINE)
_END: Final = re.compile(rb"\n(?!\t)")
_RANK: Final = b'"rank": '
_NUMBER: Final = re.compile(rb"\d{1,9}(?!\d)")
_LEAP_YEAR: Final = 2000
_PEEK: Final = 1 << 18
_UNPACKED_SHARE: Final = 100
_LEAST_UNPACKED: Final = 1 << 26
"""The limit on the unpacked size of a log: a multiple of its packed size, but never less than this many
bytes. gzip makes torch's logs 10 to 30 times smaller."""
_GZIP: Final = b"\x1f\x8b"
_WITH_HEADER: Final = zlib.MAX_WBITS | 16


@dataclass(frozen=True, slots=True)
class LoggedRecord:
    """A record, with the metadata of its line in the log.

    ``origin`` says when, in which thread and where torch wrote the line:
    ``V1122 13:00:00.000000 140 torch/x.py:1``. ``metadata`` is the JSON after ``origin``.
    """

    origin: str
    metadata: Mapping[str, Any]
    record: TraceRecord


class TraceLog:
    """A log file with an index of its records, and a context that closes the file.

    Raises ``OSError`` if the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._stream, self.is_cut = _opened(path)
        """Whether only the first part of a packed log was unpacked."""
        self._lock = threading.Lock()
        self._starts = array("Q")
        self._names = array("I")
        self._numbers: dict[bytes, int] = {}
        self.size = self._find()
        """The size of the unpacked log, in bytes."""
        self.unread = 0
        """The number of requested records that could not be read."""

    def __enter__(self) -> TraceLog:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def records(self, names: Container[str] | None = None) -> Iterator[TraceRecord]:
        """Yield the records with the given names, or all records, in order.

        Payloads are read on demand.
        """
        return (logged.record for logged in self.logged(names))

    def logged(self, names: Container[str] | None = None) -> Iterator[LoggedRecord]:
        """Yield the records as :meth:`records` does, with origin and metadata."""
        wanted = {
            number
            for name, number in self._numbers.items()
            if names is None or name.decode("utf-8", "replace") in names
        }
        for index, number in enumerate(self._names):
            if number not in wanted and number != _OTHER:
                continue
            logged = self._record(index)
            if logged is None:
                if index + 1 < len(self._names):  # the last record may not be completely written yet
                    self.unread += 1
                    self._names[index] = _UNREADABLE
            elif number != _OTHER or names is None or logged.record.name in names:
                yield logged

    def _record(self, index: int) -> LoggedRecord | None:
        start = self._starts[index]
        end = self._starts[index + 1] if index + 1 < len(self._starts) else self.size
        header = self._line(start, end)
        line = header.decode("utf-8", "replace")
        metadata = parse_header(line)
        if metadata is None:
            return None
        record = from_metadata(metadata, partial(self._payload, start + len(header), end))
        return LoggedRecord(line.partition("] {")[0], metadata, record) if record else None

    def _line(self, start: int, end: int) -> bytes:
        """Return the first line between two offsets, including its line end."""
        length = _HEAD
        while True:
            part = self._read(start, min(start + length, end))
            stop = part.find(b"\n") + 1
            if stop or length >= min(end - start, _LONGEST_HEADER):
                return part[:stop] if stop else part
            length *= 8

    def _payload(self, start: int, end: int) -> str:
        """Return the text of the lines that begin with a tab, without the tabs."""
        part = self._read(start, min(end, start + _LONGEST_PAYLOAD))
        if not part.startswith(b"\t"):
            return ""
        stop = _END.search(part)
        text = part[1 : stop.start() if stop else len(part)]
        text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")  # line ends of Windows
        return text.replace(b"\n\t", b"\n").decode("utf-8", "replace")

    def _read(self, start: int, end: int) -> bytes:
        with self._lock:
            self._stream.seek(start)
            return self._stream.read(end - start)

    def _find(self) -> int:
        """Index the records; return the unpacked size of the log in bytes."""
        position, data = 0, b"\n"  # as if another line came before
        self._stream.seek(0)
        while chunk := self._stream.read(_CHUNK):
            data += chunk
            position += len(chunk)
            data = data[self._note(data, position - len(data), len(data) - _HEAD) :]
        self._note(data, position - len(data), len(data))
        return position

    def _note(self, data: bytes, offset: int, stop: int) -> int:
        """Index the records that begin before ``stop``; return the offset of the rest."""
        place = data.find(b"\nV", 0, max(stop, 0))
        while place >= 0:
            if found := _NAME.match(data, place + 1, place + 1 + _HEAD):
                name = found[2] if found[1] == b"artifact" and found[2] else found[1]
                self._starts.append(offset + place + 1)
                self._names.append(self._number(name))
            place = data.find(b"\nV", place + 1, stop)
        return max(stop - 1, 0)

    def _number(self, name: bytes) -> int:
        if len(self._numbers) >= _MOST_NAMES:
            return self._numbers.get(name, _OTHER)
        return self._numbers.setdefault(name, len(self._numbers) + 1)


def read_log(path: Path) -> Iterator[TraceRecord]:
    """Yield all records of a log file, in order; skip lines that torch did not write.

    Raises ``OSError`` if the file cannot be read.
    """
    with TraceLog(path) as log:
        yield from log.records()


@dataclass(frozen=True, slots=True)
class LogHead:
    """The beginning of a log.

    ``rank`` is the rank of the log's process in a distributed job. ``began`` is the time of the first record,
    according to the machine that wrote the log, in a fixed year, since logs have no years.
    """

    rank: int | None
    began: datetime | None


def read_head(path: Path) -> LogHead | None:
    """Read the beginning of a file; return ``None`` if the file is not a log.

    Raises ``OSError``.
    """
    with path.open("rb") as stream:
        head = stream.read(_PEEK)
    if head.startswith(_GZIP):
        head = _beginning(_unpacked(io.BytesIO(head)))
    records = [line for line in _LINES.findall(head) if _NAME.match(line)]
    if not records:
        return None
    ranks = (_NUMBER.match(line.rpartition(_RANK)[2]) for line in records if _RANK in line)
    return LogHead(next((int(rank[0]) for rank in ranks if rank), None), _began(records[0]))


def most_unpacked(size: int) -> int:
    """Return the most bytes to unpack from packed data of ``size`` bytes."""
    return max(_UNPACKED_SHARE * size, _LEAST_UNPACKED)


def _began(record: bytes) -> datetime | None:
    if not (found := _BEGAN.match(record)):
        return None
    month, day, hour, minute, second = map(int, found.groups())
    with contextlib.suppress(ValueError):
        return datetime(_LEAP_YEAR, month, day, hour, minute, second)
    return None


def _beginning(parts: Iterator[bytes]) -> bytes:
    head = b""
    for part in parts:
        head += part
        if len(head) >= _PEEK:
            break
    return head[:_PEEK]


def _opened(path: Path) -> tuple[IO[bytes], bool]:
    """Open a log; return its stream, and whether the size limit cut off its end.

    A packed log is unpacked to a temporary file, up to the first damage and up to a size limit.
    """
    stream = path.open("rb")
    if stream.read(len(_GZIP)) != _GZIP:
        return stream, False
    with stream:
        left = most_unpacked(stream.seek(0, io.SEEK_END))
        stream.seek(0)
        unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - the log closes it
        for part in _unpacked(stream):
            unpacked.write(part[:left])
            left -= len(part)
            if left < 0:
                break
        return unpacked, left < 0


def _unpacked(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield unpacked parts of a limited size.

    ``gzip.open`` is unsuitable: it returns nothing of a part whose checksum it cannot verify.
    """
    packed = stream.read(_CHUNK)
    while packed:
        engine = zlib.decompressobj(_WITH_HEADER)
        while not engine.eof:
            try:
                part = engine.decompress(packed, _CHUNK)
            except zlib.error:
                return
            yield part
            packed = engine.unconsumed_tail
            if not packed and len(part) < _CHUNK and not engine.eof:
                packed = stream.read(_CHUNK)
                if not packed:
                    return
        packed = engine.unused_data or stream.read(_CHUNK)
