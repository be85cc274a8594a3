"""Access to logs on this machine, in archives, and at URLs.

Logs in archives and at URLs are copied into a private folder, which is deleted when they have been read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from fullgraph_compiler.trace import read_head

from ..text.urls import Url
from .archives import ArchiveError, is_archive, unpack
from .logs import MOST_LOGS, LogFile, NoTraceError, TraceLogs, find_logs, is_log, newest, rank_of, too_many
from .remote import RemoteFile, bring, files_at

_PREFIX: Final = "fullgraph-trace-"


@contextmanager
def logs_of(place: Path | Url, folder: Path | None = None) -> Iterator[TraceLogs]:
    """Find the logs at a path or a URL; copies of logs exist until the context ends.

    ``folder`` is the folder for copies, by default the system's temporary folder. Raises ``NoTraceError``,
    and ``OSError`` if the disk fails.
    """
    if isinstance(place, Path) and not (is_archive(place.name) and place.is_file()):
        yield find_logs(place)
        return
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=folder, ignore_cleanup_errors=True) as name:
        copies = Path(name)
        yield _unpacked(place, copies, str(place)) if isinstance(place, Path) else _at_url(place, copies)


@contextmanager
def at_hand(log: LogFile, keep: bool) -> Iterator[LogFile]:
    """Yield a log on this machine, a copy if ``log`` is remote.

    The copy is deleted when the context ends, unless ``keep`` is set. Raises ``NoTraceError``.
    """
    if log.remote is None or log.path.exists():
        yield log
        return
    # A worker on another machine does not have the folder for copies.
    folder = log.path.parent if log.path.parent.is_dir() else None
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=folder, ignore_cleanup_errors=True) as name:
        copy = Path(name, log.path.name)
        bring(log.remote, copy)
        yield replace(log, path=copy.replace(log.path) if keep and folder else copy)


def _unpacked(archive: Path, folder: Path, shown: str) -> TraceLogs:
    logs = folder / "logs"
    logs.mkdir()
    try:
        problems = unpack(archive, logs, is_log, MOST_LOGS)
    except ArchiveError as error:
        raise NoTraceError(f"{shown} cannot be read: {error}.") from error
    return replace(find_logs(logs, shown), problems=problems)


def _at_url(url: Url, folder: Path) -> TraceLogs:
    """Find the logs at a URL; a log is copied when it is read."""
    if is_archive(url.name):
        (file,) = files_at(url, recursive=False)
        archive = folder / url.name[-100:]
        bring(file, archive)
        return _unpacked(archive, folder, str(url))
    files = files_at(url, recursive=not is_log(url.name))
    found = {file: stats for file, stats in files.items() if is_log(file.name) or len(files) == 1}
    if not found:
        raise NoTraceError(f"{url} has no trace: nothing was compiled, or it was not recorded there.")
    if len(found) > MOST_LOGS:
        raise too_many(str(url))
    logs = []
    for number, (file, (size, modified)) in enumerate(found.items()):
        path = folder / f"{number}.log{'.gz' if file.name.endswith('.gz') else ''}"
        log = LogFile(path, rank_of(file.name), size, modified, file.shown, file)
        logs.append(log if log.rank is not None or len(found) == 1 else _brought(file, log))
    return newest(filter(None, logs), {})


def _brought(file: RemoteFile, log: LogFile) -> LogFile | None:
    """Copy a log whose name has no rank, and read the rank from the log's records."""
    bring(file, log.path)
    head = read_head(log.path)
    return replace(log, rank=head.rank, remote=None) if head else None
