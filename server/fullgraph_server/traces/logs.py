"""The logs of a trace: one for each process, whose rank is in the log's name.

torch's names are like ``dedicated_log_torch_trace_rank_3_xyz.log`` (``torch/_logging/_internal.py``,
``LazyTraceHandler``), without a rank if there is only one process. The rank of a renamed log comes from its
records. Logs can be compressed with gzip.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fullgraph_compiler.trace import read_head

if TYPE_CHECKING:
    from .remote import RemoteFile

MOST_LOGS: Final = 10_000
MOST_DEPTH: Final = 4
EMPTY: Final = "the log is empty"
NO_TRACE: Final = "the log is not a trace"
UNREADABLE: Final = "the log cannot be read: "
MOST_SILENT: Final = 3
"""Reading stops after this number of consecutive logs whose remote server does not answer."""
_RANK: Final = re.compile(r"(?:^|[_.-])rank[_-]?(\d{1,9})(?:[_.-]|$)", re.IGNORECASE)
_NAMES: Final = (".log", ".log.gz")


class NoTraceError(Exception):
    """Error for a path or URL without a readable trace.

    The message is a sentence for the user.
    """


class SilentServerError(NoTraceError):
    """Error for a remote server that sends (almost) nothing for too long."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """The log of one process.

    ``rank`` is ``None`` if neither the log's name nor its records contain a rank. ``size`` is in bytes;
    ``modified`` is in nanoseconds. ``shown`` is the path or URL that the user knows: of the log, or of the
    archive with the log. A ``remote`` log is copied to ``path`` when it is read.
    """

    path: Path
    rank: int | None
    size: int
    modified: int
    shown: str
    remote: RemoteFile | None = None


@dataclass(frozen=True, slots=True)
class TraceLogs:
    """The logs of one job, by rank.

    ``older`` is the number of older logs in the same folder. ``unread`` maps each rank whose log cannot be
    read to the reason; ``problems`` are sentences about the whole trace.
    """

    logs: tuple[LogFile, ...]
    older: int = 0
    unread: Mapping[int, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def largest(self) -> int:
        """The size of the largest log on disk, in bytes."""
        return max(log.size for log in self.logs)


def find_logs(path: Path, shown: str = "") -> TraceLogs:
    """Find the newest log of each rank, or of a program without ranks.

    ``path`` is a log or a folder, to which each run of the program added a log. ``shown`` is the path or URL
    of the archive that was unpacked into the folder, if any. Raises ``NoTraceError``.
    """
    name = shown or str(path)
    if not path.exists():
        raise NoTraceError(f"{name} does not exist.")
    is_folder = path.is_dir()
    logs: list[LogFile] = []
    unread: dict[int, str] = {}
    for candidate in _candidates(path) if is_folder else [path]:
        log = _log(candidate, shown)
        if isinstance(log, LogFile):
            logs.append(log)
        elif (rank := rank_of(candidate.name)) is not None:
            unread[rank] = log
    if not logs:
        if is_folder or shown:
            raise NoTraceError(f"{name} has no trace: nothing was compiled, or it was not recorded there.")
        raise NoTraceError(f"{name} is not a trace: record one with TORCH_TRACE=FOLDER python PROGRAM.")
    return newest(logs, unread)


def newest(logs: Iterable[LogFile], unread: Mapping[int, str]) -> TraceLogs:
    """Choose the newest log of each rank, or of a program without ranks."""
    ordered = sorted(logs, key=lambda log: (log.modified, log.path))
    by_rank = {log.rank: log for log in ordered}
    ranked = [by_rank[rank] for rank in sorted(rank for rank in by_rank if rank is not None)]
    # Among logs with ranks, a log without a rank does not belong to the job.
    chosen = tuple(ranked or by_rank.values())
    without = {rank: unread[rank] for rank in sorted(unread) if rank not in by_rank}
    return TraceLogs(chosen, len(ordered) - len(chosen), without)


def is_log(name: str) -> bool:
    """Return whether ``name`` has the ending of a log."""
    return name.endswith(_NAMES)


def rank_of(name: str) -> int | None:
    """Return the rank in the name of a log; ``None`` if the name has no rank."""
    found = _RANK.search(name)
    return int(found[1]) if found else None


def stamp(path: Path) -> Hashable:
    """Return a value that changes when a log is written to or added.

    Return ``None`` if ``path`` cannot be read.
    """
    try:
        paths = _candidates(path) if path.is_dir() else [path]
        found = ((item, item.stat()) for item in paths)
        return tuple((item, status.st_size, status.st_mtime_ns) for item, status in found)
    except (OSError, NoTraceError):
        return None


def too_many(place: str) -> NoTraceError:
    """Return the error for a folder with more logs than one job can have."""
    return NoTraceError(f"{place} holds more than {MOST_LOGS:,} logs: open a folder of one job.")


def _candidates(folder: Path) -> list[Path]:
    found: list[Path] = []
    for path, folders, names in os.walk(folder):
        if len(Path(path).relative_to(folder).parts) >= MOST_DEPTH:
            folders.clear()
        folders.sort()
        found += (Path(path, name) for name in sorted(names) if is_log(name))
        if len(found) > MOST_LOGS:
            raise too_many(str(folder))
    return found


def _log(path: Path, shown: str) -> LogFile | str:
    """Return a log, or the reason why the file is not a readable log.

    Devices and pipes are not opened.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return NO_TRACE
        head = read_head(path)
    except OSError as error:
        return f"{UNREADABLE}{error.strerror}"
    if head is None:
        return NO_TRACE if status.st_size else EMPTY
    named = rank_of(path.name)
    rank = head.rank if named is None else named
    return LogFile(path, rank, status.st_size, status.st_mtime_ns, shown or str(path))
