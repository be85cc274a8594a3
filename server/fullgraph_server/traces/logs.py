"""The logs of a trace: one of each process, named by torch after its rank.

Names: ``dedicated_log_torch_trace_rank_3_xyz.log`` (``torch/_logging/_internal.py``, ``LazyTraceHandler``),
without a rank where there is only one process. They may be packed, and renamed: then the records tell.
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
    """There is no trace at a path; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """One log. ``rank`` is ``None`` where nobody says."""

    path: Path
    rank: int | None
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class TraceLogs:
    """The logs of one job, by rank; ``older`` is how many of earlier ones lie in the same folder."""

    logs: tuple[LogFile, ...]
    older: int

    @property
    def largest(self) -> int:
        """Bytes of the largest log, as it lies on disk."""
        return max(log.size for log in self.logs)


def find_logs(path: Path) -> TraceLogs:
    """The logs of a file or folder: of each rank, or of a program without ranks, the one written last.

    Each run of a program adds one. Raises ``NoTraceError``.
    """
    if not path.exists():
        raise NoTraceError(f"{path} does not exist.")
    candidates = _candidates(path) if path.is_dir() else [path]
    logs = [log for log in map(_log, candidates) if log is not None]
    if not logs:
        what = "holds no trace" if path.is_dir() else "is no trace"
        raise NoTraceError(f"{path} {what}: make one with TORCH_TRACE=FOLDER python PROGRAM.")
    newest = {log.rank: log for log in sorted(logs, key=lambda log: (log.modified, log.path))}
    ranked = [newest[rank] for rank in sorted(rank for rank in newest if rank is not None)]
    # A process whose rank nobody knows, among those of a job, is not one of its ranks.
    shown = tuple(ranked or newest.values())
    return TraceLogs(shown, len(logs) - len(shown))


def stamp(path: Path) -> Hashable:
    """Differs once something was written to a log, or another one has come."""
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
    """The file as a log, if it is one that can be read; devices and pipes are not opened."""
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
