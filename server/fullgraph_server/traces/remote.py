"""Logs of other places than this machine's disk, by their URLs: whatever fsspec opens.

fsspec is optional. Each of its file systems has exceptions of its own: all become a ``NoTraceError``.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from .logs import MOST_DEPTH, NoTraceError

_PATIENCE: Final = 30.0
"""Seconds to wait for the first answer; file systems try again for minutes."""
_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {"s3": {"max_concurrency": 1}}
"""Options of file systems: s3fs begins to read a large file before it reads it in parts."""
_INSTALL: Final = "pip install 'fullgraph[remote]'"
_Answer = TypeVar("_Answer")


def is_url(place: str) -> bool:
    """Tell whether a text is a URL, and no path."""
    return "://" in place


def files_at(url: str, recursive: bool) -> dict[str, tuple[int, int]]:
    """Find a file, or those of a folder; return size and time of change, in nanoseconds, by URL.

    Raises ``NoTraceError``.
    """
    with _told(url):
        system, root = _opened(url)

        def find() -> Mapping[str, Mapping[str, Any]]:
            if recursive:
                found: Mapping[str, Mapping[str, Any]] = system.find(root, MOST_DEPTH + 1, detail=True)
                if not found:
                    system.ls(root)  # which raises what `find` does not
                return found
            return {root: system.info(root)}

        found = _in_time(find)
        return {
            system.unstrip_protocol(name): (int(info.get("size") or 0), _modified(info))
            for name, info in found.items()
        }


def bring(url: str, path: Path) -> None:
    """Copy a file to this machine. Raises ``NoTraceError``."""
    with _told(url):
        system, root = _opened(url)
        system.get_file(root, str(path))


def _opened(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError as error:
        raise NoTraceError(f"{url} needs fsspec and what it opens such places with: {_INSTALL}") from error
    opened: tuple[Any, str] = url_to_fs(url, **_OPTIONS.get(url.partition("://")[0], {}))
    return opened


def _modified(info: Mapping[str, Any]) -> int:
    """Return the time of change, which each file system names in its own way; 0 if it has none."""
    times = (info.get(name) for name in ("LastModified", "mtime", "last_modified", "updated", "created"))
    time = next(filter(None, times), 0)
    if isinstance(time, datetime):
        time = time.timestamp()
    return int(time * 1e9) if isinstance(time, (int, float)) else 0


def _in_time(call: Callable[[], _Answer]) -> _Answer:
    """Return what a call returns, if it does so in time; else leave it alone."""
    answers: queue.SimpleQueue[tuple[_Answer | None, Exception | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((call(), None))
        except Exception as error:  # raised again in the thread that waits
            answers.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        answer, error = answers.get(timeout=_PATIENCE)
    except queue.Empty:
        raise TimeoutError(f"no answer in {_PATIENCE:.0f} seconds") from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]


@contextmanager
def _told(url: str) -> Iterator[None]:
    """Make a sentence of whatever a file system raises."""
    try:
        yield
    except NoTraceError:
        raise
    except ImportError as error:
        install = _INSTALL if url.startswith("s3") else ""
        raise NoTraceError(f"{url} cannot be opened: {install or error}") from error
    except FileNotFoundError as error:
        # Over HTTP, it stands for whatever has gone wrong.
        if url.startswith("http") and error.__cause__ and not isinstance(error.__cause__, FileNotFoundError):
            raise NoTraceError(f"{url} cannot be read: {_reason(error.__cause__)}.") from error
        raise NoTraceError(f"{url} does not exist.") from error
    except Exception as error:
        raise NoTraceError(f"{url} cannot be read: {_reason(error)}.") from error


def _reason(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
