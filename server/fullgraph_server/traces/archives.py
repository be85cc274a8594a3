"""Archives of logs: tarballs and zip files, which are untrusted.

Only logs are unpacked, into one folder and under new names; paths, links and devices in an archive are not
used. One sentence is returned for each reason to leave out logs.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import stat
import tarfile
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from fullgraph_compiler.trace.log import most_unpacked

from ..text.messages import counted
from .memory import at_most

_TARBALLS: Final[Mapping[str, Callable[[Path], Any]]] = {
    ".tar": partial(open, mode="rb"),
    ".tar.gz": gzip.open,
    ".tgz": gzip.open,
    ".tar.bz2": bz2.open,
    ".tbz2": bz2.open,
    ".tar.xz": lzma.open,
    ".txz": lzma.open,
}
_ZIP: Final = ".zip"
_CHUNK: Final = 1 << 13
"""Bytes read at once, and so the most readable bytes that are lost before a damaged part."""
_MEMORY: Final = 200 << 20
"""The limit on memory for unpacking, in bytes: a header of any size is read into memory as a whole."""
_UNSAFE: Final = re.compile(r"[^\w.-]", re.ASCII)
_DAMAGE: Final = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError, OverflowError,
    RuntimeError, MemoryError,
)  # fmt: skip
"""The exceptions that a damaged archive can raise, in addition to an ``OSError`` without ``errno``."""


class ArchiveError(Exception):
    """Error for an archive that cannot be read at all.

    The message is a sentence without a full stop.
    """


class _UnpackLimitError(Exception):
    """Error for an archive whose unpacked size exceeds the limit."""


class _ByteStream(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class _ArchiveMember:
    """A member of an archive.

    ``problem`` says why the member must not be unpacked; empty if it may be unpacked.
    """

    name: str
    modified: float
    stream: _ByteStream | None = None
    problem: str = ""


class _UnpackLimit:
    """A count of the unpacked bytes of an archive, with a limit."""

    def __init__(self, most: int) -> None:
        self.most = self._left = most

    def count(self, number: int) -> None:
        """Add ``number`` unpacked bytes. Raises ``_UnpackLimitError`` beyond the limit."""
        self._left -= number
        if self._left < 0:
            raise _UnpackLimitError


@dataclass(frozen=True)
class _LimitedStream:
    """A stream that counts the bytes read from it towards ``limit``."""

    stream: _ByteStream
    limit: _UnpackLimit

    def read(self, size: int, /) -> bytes:
        data = self.stream.read(size)
        self.limit.count(len(data))
        return data


def is_archive(name: str) -> bool:
    """Return whether the ending of a file's name is that of an archive."""
    return name.lower().endswith((*_TARBALLS, _ZIP))


def unpack(archive: Path, folder: Path, is_log: Callable[[str], bool], most: int) -> tuple[str, ...]:
    """Unpack at most ``most`` logs into a folder; return sentences on problems.

    A problem is damage, an archive that is too large, or logs that are left out. Raises ``ArchiveError`` if
    there are problems and no log was unpacked, and ``OSError`` if the disk fails.
    """
    limit = _UnpackLimit(most_unpacked(archive.stat().st_size))
    problems = []
    left_out: Counter[str] = Counter()
    written = 0
    try:
        with at_most(_MEMORY):
            for member in _members(archive, limit):
                if not is_log(member.name):
                    continue
                problem = member.problem or (f"there are more than {most:,}" if written == most else "")
                if problem or member.stream is None:
                    left_out[problem] += 1
                    continue
                _write(member.stream, folder / f"{written}_{_plain(member.name)}", member.modified)
                written += 1
    except _UnpackLimitError:
        problems.append(
            f"Only the first {limit.most >> 20:,} MB of the archive were read: unpacked, it is far larger"
        )
    except (*_DAMAGE, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        damage = "The archive is damaged, encrypted or truncated"
        if not any(folder.iterdir()):
            raise ArchiveError(damage) from error
        problems.append(f"{damage}: only the part before the damage was read")
    for problem, number in left_out.items():
        problems.append(
            f"{counted(number, 'log')} of the archive {'is' if number == 1 else 'are'} left out: {problem}"
        )
    if problems and not any(folder.iterdir()):
        raise ArchiveError(problems[0])
    return tuple(problems)


def _write(stream: _ByteStream, path: Path, modified: float) -> None:
    with path.open("xb") as output:
        while data := stream.read(_CHUNK):
            output.write(data)
    os.utime(path, (modified, modified))


def _plain(name: str) -> str:
    """Return the last part of a member's path as a safe file name.

    A rank in the name is kept.
    """
    return _UNSAFE.sub("_", re.split(r"[/\\]", name)[-1])[-200:]


def _members(archive: Path, limit: _UnpackLimit) -> Iterator[_ArchiveMember]:
    """Yield the members of an archive in one pass.

    The stream of a member must be read before the next member is requested.
    """
    name = archive.name.lower()
    opened = next((opened for ending, opened in _TARBALLS.items() if name.endswith(ending)), None)
    if opened is None:
        yield from _of_zip(archive, limit)
        return
    with opened(archive) as stream:
        yield from _of_tarball(_LimitedStream(stream, limit))


class _MemberHeader(tarfile.TarInfo):
    """The header of a tarball's member, whose decoding raises ``ReadError`` on damage.

    ``tarfile`` itself would treat a damaged header as the end of the archive.
    """

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> _MemberHeader:
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from error


def _of_tarball(stream: _ByteStream) -> Iterator[_ArchiveMember]:
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_MemberHeader) as tarball:  # type: ignore[call-overload]
        for item in tarball:
            problem = _problem(item.name, item.isreg() and not item.issparse())
            yield _ArchiveMember(
                item.name, item.mtime, None if problem else tarball.extractfile(item), problem
            )


def _of_zip(archive: Path, limit: _UnpackLimit) -> Iterator[_ArchiveMember]:
    with zipfile.ZipFile(archive) as packed:
        for item in packed.infolist():
            modified = time.mktime((*item.date_time, 0, 0, -1))
            # Zip files from Windows do not record the kind of file.
            kind = stat.S_IFMT(item.external_attr >> 16)
            if problem := _problem(item.filename, kind in (0, stat.S_IFREG)):
                yield _ArchiveMember(item.filename, modified, None, problem)
                continue
            with packed.open(item) as stream:
                yield _ArchiveMember(item.filename, modified, _LimitedStream(stream, limit))


def _problem(name: str, plain: bool) -> str:
    """Return why a member is left out; empty if it can be unpacked."""
    parts = re.split(r"[/\\]", name)
    if ".." in parts or not parts[0] or parts[0].endswith(":"):
        return "the path leads out of the archive"
    return "" if plain else "not a regular file, but a link or a device"
