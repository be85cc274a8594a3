"""The logs of a trace: one of each process, named by torch after its rank.

Names: ``dedicated_log_torch_trace_rank_3_xyz.log`` (``torch/_logging/_internal.py``, ``LazyTraceHandler``),
without a rank where there is only one process. A renamed log gets its rank from its records. Logs may be
packed with gzip.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fullgraph_compiler.trace import read_head

_RANK: Final = re.compile(r"(?:^|[_.-])rank[_-]?(\d{1,9})(?:[_.-]|$)", re.IGNORECASE)
_NAMES: Final = (".log", ".log.gz")
_MOST_LOGS: Final = 10_000
_MOST_DEPTH: Final = 4


class NoTraceError(Exception):
    """Error for a path without a trace; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log. ``rank`` is ``None`` if neither name nor records have one; ``modified`` in nanoseconds."""

    path: Path
    rank: int | None
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class TraceLogs:
    """The logs of one job, by rank; ``older`` is the number of other logs in the same folder."""

    logs: tuple[LogFile, ...]
    older: int

    @property
    def largest(self) -> int:
        """The bytes of the largest log on disk."""
        return max(log.size for log in self.logs)


def find_logs(path: Path) -> TraceLogs:
    """Find the logs of a file or folder: the newest of each rank, or of a program without ranks.

    Each run of a program adds a log. Raises ``NoTraceError``.
    """
    if not path.exists():
        raise NoTraceError(f"{path} does not exist.")
    candidates = _candidates(path) if path.is_dir() else [path]
    logs = [log for log in map(_log, candidates) if log is not None]
    if not logs:
        if path.is_dir():
            raise NoTraceError(f"{path} holds no trace: nothing was compiled, or it was not recorded there.")
        raise NoTraceError(f"{path} is no trace: make one with TORCH_TRACE=FOLDER python PROGRAM.")
    newest = {log.rank: log for log in sorted(logs, key=lambda log: (log.modified, log.path))}
    ranked = [newest[rank] for rank in sorted(rank for rank in newest if rank is not None)]
    # Among logs with ranks, one without a rank is not of a rank of the job.
    shown = tuple(ranked or newest.values())
    return TraceLogs(shown, len(logs) - len(shown))


def stamp(path: Path) -> Hashable:
    """Return a value that changes once a log is written to, or another log is added."""
    try:
        paths = _candidates(path) if path.is_dir() else [path]
        found = ((item, item.stat()) for item in paths)
        return tuple((item, status.st_size, status.st_mtime_ns) for item, status in found)
    except (OSError, NoTraceError):
        return None


def _candidates(folder: Path) -> list[Path]:
    found: list[Path] = []
    for path, folders, names in os.walk(folder):
        if len(Path(path).relative_to(folder).parts) >= _MOST_DEPTH:
            folders.clear()
        folders.sort()
        found += (Path(path, name) for name in sorted(names) if name.endswith(_NAMES))
        if len(found) > _MOST_LOGS:
            raise NoTraceError(f"{folder} holds more than {_MOST_LOGS:,} logs: open a folder of one job.")
    return found


def _log(path: Path) -> LogFile | None:
    """Describe a file if it is a readable log; devices and pipes are not opened."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None
        head = read_head(path)
    except OSError:
        return None
    if head is None:
        return None
    named = _RANK.search(path.name)
    return LogFile(path, int(named[1]) if named else head.rank, status.st_size, status.st_mtime_ns)
