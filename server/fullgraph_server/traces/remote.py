"""Logs at URLs, opened with fsspec.

fsspec is optional. Each of its file systems has its own exceptions; all become a ``NoTraceError``. The remote
server might send nothing, almost nothing, or more than fits on the disk.
"""

from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from ..text.urls import Url, without_secrets
from .logs import MOST_DEPTH, NoTraceError, SilentServerError
from .memory import at_most

_PATIENCE: Final = 30.0
"""Seconds to wait for the first answer of a remote server; fsspec's file systems would retry for minutes."""
_LEAST: Final = 256 << 10
"""The least number of bytes that must arrive in each period of ``_PATIENCE`` until a file is complete."""
_MOST: Final = 16 << 30
"""The limit on the bytes of one remote file, which is a log or an archive of all ranks."""
_MEMORY: Final = 500 << 20
"""The limit on memory for listing a folder, in bytes."""
_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {"s3": {"max_concurrency": 1}}
"""Options of file systems.

Without ``max_concurrency=1``, s3fs starts to read a large file as a whole, then reads it again in parts.
"""
_INSTALL: Final = "pip install 'fullgraph[remote]'"
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file at ``url`` or below; ``shown`` is the file's own URL without secrets.

    ``path`` is the file's name in the URL's file system: over HTTP, a URL that can contain secrets.
    """

    url: Url
    path: str = field(repr=False)
    shown: str

    @property
    def name(self) -> str:
        """The last part of the file's path."""
        return Url(self.shown).name


class _FileSizeError(Exception):
    """Error for a remote file that is larger than the limit."""


def files_at(url: Url, recursive: bool) -> dict[RemoteFile, tuple[int, int]]:
    """Return a file, or the files of a folder, with size and modification time.

    Sizes are in bytes, modification times in nanoseconds. Raises ``NoTraceError``.
    """

    def find() -> dict[RemoteFile, tuple[int, int]]:
        system, root = _opened(url)
        found: Mapping[str, Mapping[str, Any]] = {}
        if not recursive:
            found = {root: system.info(root)}
        elif not (found := system.find(root, MOST_DEPTH + 1, detail=True)):
            system.ls(root)  # raises if the folder does not exist; `find` does not
        return {
            RemoteFile(url, name, _shown(url, system, root, name)): (_size(info), _modified(info))
            for name, info in found.items()
        }

    with _told(url, str(url)), at_most(_MEMORY):
        return _in_time(find)


def bring(file: RemoteFile, path: Path) -> None:
    """Copy a file to this machine. Raises ``NoTraceError``."""
    with _told(file.url, file.shown):
        copy = _LocalCopy(file, path)
        try:
            _in_time(copy.make, copy.check)
        finally:
            copy.is_wanted = False


class _LocalCopy:
    """A copy of a remote file on this machine, complete or in progress."""

    def __init__(self, file: RemoteFile, path: Path) -> None:
        self._file = file
        self._path = path
        free = shutil.disk_usage(path.parent).free
        self._most = min(_MOST, free // 2)
        self._why = "which is half of the free disk" if self._most < _MOST else "or does not end"
        self._told = 0
        self.is_wanted = True
        """Whether a caller waits for the copy; if not, copying stops when the next bytes arrive."""

    def make(self) -> None:
        """Copy the file. Call it in a thread: the remote server might never answer."""
        from fsspec.callbacks import Callback

        def arrived(_size: int | None, value: int, **_: object) -> None:
            if not self.is_wanted:
                raise TimeoutError
            self._told = value
            self.check()

        system, _ = _opened(self._file.url)
        system.get_file(self._file.path, str(self._path), callback=Callback(hooks={"arrived": arrived}))
        self.check()

    def check(self) -> int:
        """Return the number of bytes that have arrived. Raises ``_FileSizeError``."""
        # Some file systems do not report progress, and files are written with a buffer.
        number = max(self._told, self._path.stat().st_size if self._path.exists() else 0)
        if number > self._most:
            raise _FileSizeError(f"it has more than {self._most >> 20:,} MB, {self._why}")
        return number


def _opened(url: Url) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError as error:
        raise NoTraceError(f"{url} needs fsspec and its support for such URLs: {_INSTALL}") from error
    options = {scheme: dict(_OPTIONS[scheme]) for scheme in url.schemes if scheme in _OPTIONS}
    opened: tuple[Any, str] = url_to_fs(url.address, **options)
    return opened


def _shown(url: Url, system: Any, root: str, name: str) -> str:
    """Return the URL, without secrets, of the file ``name`` at or below ``url``.

    The parts of a chained URL that follow ``::`` are kept.
    """
    if name == root:
        return str(url)
    _, joint, rest = str(url).partition("::")
    return f"{Url(system.unstrip_protocol(name))}{joint}{rest}"


def _size(info: Mapping[str, Any]) -> int:
    return int(info.get("size") or 0)


def _modified(info: Mapping[str, Any]) -> int:
    """Return the modification time in nanoseconds; 0 if unknown.

    The key of the time in ``info`` differs by file system.
    """
    times = (info.get(name) for name in ("LastModified", "mtime", "last_modified", "updated", "created"))
    time = next(filter(None, times), 0)
    if isinstance(time, datetime):
        time = time.timestamp()
    return int(time * 1e9) if isinstance(time, (int, float)) else 0


def _in_time(call: Callable[[], _Answer], arrived: Callable[[], int] = lambda: 0) -> _Answer:
    """Return the result of ``call``; raise ``TimeoutError`` if too few bytes arrive.

    ``arrived`` returns the number of bytes so far. After a ``TimeoutError``, the thread that runs ``call`` is
    left running, since a thread cannot be stopped.
    """
    answers: queue.SimpleQueue[tuple[_Answer | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((call(), None))
        except BaseException as error:  # raised again in the thread that waits
            answers.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    before = 0
    while True:
        try:
            answer, error = answers.get(timeout=_PATIENCE)
        except queue.Empty:
            if (now := arrived()) < before + _LEAST:
                came = f"only {now - before:,} more bytes" if now else "no answer"
                raise TimeoutError(f"{came} in {_PATIENCE:g} seconds") from None
            before = now
        else:
            if error is not None:
                raise error
            return answer  # type: ignore[return-value]


@contextmanager
def _told(url: Url, shown: str) -> Iterator[None]:
    """Raise every exception of a file system as a ``NoTraceError`` with a sentence."""
    try:
        yield
    except NoTraceError:
        raise
    except ImportError as error:
        install = _INSTALL if "s3" in url.schemes else ""
        raise NoTraceError(f"{shown} cannot be opened: {install or _reason(url, error)}") from error
    except FileNotFoundError as error:
        # Over HTTP, fsspec raises it for any error.
        cause = error.__cause__
        if url.schemes[0].startswith("http") and cause and not isinstance(cause, FileNotFoundError):
            raise NoTraceError(f"{shown} cannot be read: {_reason(url, cause)}.") from error
        raise NoTraceError(f"{shown} does not exist.") from error
    except Exception as error:
        kind = SilentServerError if isinstance(error, TimeoutError) else NoTraceError
        raise kind(f"{shown} cannot be read: {_reason(url, error)}.") from error


def _reason(url: Url, error: BaseException) -> str:
    """Return the first line of an exception's message, without the URL's secrets."""
    said = (str(error) or type(error).__name__).splitlines()[0]
    return without_secrets(said, [url]).rstrip(".")
