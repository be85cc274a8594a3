"""Discarding of a run's file changes: by a namespace, or by guards if there is none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias

from ..facts import (
    CallsRequest,
    CompareRequest,
    FilesDiscarded,
    MinifyRequest,
    RunRequest,
    TrialRequest,
)
from .mounts import is_within
from .namespace import NamespaceError, cover_files, join, own_namespace

_LIBRARY_CACHES = ("XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "TORCH_EXTENSIONS_DIR")
"""Environment variables for the folders in which libraries keep downloads and builds."""

_WEAKER = "FULLGRAPH_FILE_PROTECTION"
"""The environment variable that selects ``landlock`` or ``python`` instead of namespaces, for tests."""
_MEETING_SECONDS = 30.0
"""The time that a rank waits for the first rank, which covers the files of all."""
_protected = False

Request: TypeAlias = RunRequest | MinifyRequest | CompareRequest | TrialRequest | CallsRequest


def is_protected() -> bool:
    """Tell whether the file changes of this process are discarded already."""
    return _protected


def is_wanted(request: Request) -> bool:
    """Tell whether a request asks to discard the file changes of the run."""
    if isinstance(request, CompareRequest):
        return False  # it runs no program
    if isinstance(request, (TrialRequest, CallsRequest)):
        return True
    if isinstance(request, MinifyRequest):
        return request.discards_files
    return request.switches.discards_files


def discard_files(request: Request, folder: Path) -> FilesDiscarded:
    """Discard the file changes of this process from here on; it reads its own writes.

    They go to ``folder``, that of the run. Writes to the compiler's caches are kept.
    """
    global _protected
    passing = [path for path in _passing(request, folder) if path.exists()]
    scratch = folder / "files"
    scratch.mkdir()
    weaker = os.environ.get(_WEAKER, "")
    try:
        if weaker:
            raise NamespaceError(f"{_WEAKER} is {weaker}")
        cover = partial(cover_files, scratch, passing)
        if isinstance(request, RunRequest) and request.meeting:
            cover = partial(_cover_together, Path(request.meeting), cover)
        discarded = FilesDiscarded("namespace", read_only=cover())
    except NamespaceError as error:
        from .guards import guard_files

        restricted = guard_files(scratch, passing, kernel=weaker != "python")
        discarded = FilesDiscarded("landlock" if restricted else "python", str(error))
    _protected = True
    return discarded


def _cover_together(meeting: Path, cover: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """Share the covered files among the processes of one program: the first covers, the others join it."""
    announcement = meeting / "namespace"
    try:
        (meeting / "first").touch(exist_ok=False)
    except FileExistsError:
        deadline = time.monotonic() + _MEETING_SECONDS
        while not announcement.exists():
            if time.monotonic() > deadline:
                raise NamespaceError(
                    f"the first rank did not start within {_MEETING_SECONDS:.0f} s"
                ) from None
            time.sleep(0.002)
        if namespace := announcement.read_text():
            join(namespace)
            return ()
        raise NamespaceError("the first rank has no namespace") from None
    namespace = ""
    try:
        read_only = cover()
        namespace = own_namespace()
    finally:
        part = meeting / "part"
        part.write_text(namespace)
        part.rename(announcement)
    return read_only


def _passing(request: Request, folder: Path) -> Iterator[Path]:
    yield folder
    if isinstance(request, RunRequest) and request.meeting:
        yield Path(request.meeting)
    if isinstance(request, RunRequest) and request.record:
        Path(request.record).touch()
        yield Path(request.record)
    if isinstance(request, (RunRequest, MinifyRequest)) and request.cache:
        os.makedirs(request.cache, exist_ok=True)
        yield Path(request.cache)
    if isinstance(request, MinifyRequest):
        Path(request.output).touch()
        yield Path(request.output)
    elif not (isinstance(request, RunRequest) and request.switches.without_data):
        # Downloads are kept for the next run. A dry run downloads nothing.
        named = [os.environ[name] for name in _LIBRARY_CACHES if name in os.environ]
        for cache in (*named, os.path.expanduser("~/.cache")):
            if not is_within(os.path.abspath(cache), os.getcwd()):
                yield Path(cache)
