"""Discard the file changes of a run: with a namespace, or else with guards."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..facts import CallsRequest, CompareRequest, FilesDiscarded, MinifyRequest, RunRequest, TrialRequest
from .covering import NamespaceError
from .descriptors import open_files
from .mounts import is_within
from .namespace import cover_files, join, own_namespace
from .passing import Request, passing_paths

_WEAKER = "FULLGRAPH_FILE_PROTECTION"
"""The environment variable with which tests select ``landlock`` or ``python`` instead of namespaces."""
_MEETING_SECONDS = 30.0
"""The seconds that a rank waits for the first rank, which covers the files for all ranks."""
_FAILED_CALLS = {
    "unshare": "this system does not allow new namespaces",
    "mount": "this system does not allow mounts in a namespace",
    "setns": "this system does not allow a process to join the namespace of the first rank",
    "cap": "this system does not allow a process to drop capabilities",
    "the user id": "this system does not allow user namespaces",
    "the folders": "this system cannot cover all folders in a namespace",
    "the namespace": "this process cannot join the namespace of the first rank",
}
"""The reasons why the run got no namespace, by the start of the error message of the failed step."""
_protected = False


def is_protected() -> bool:
    """Return whether the file changes of this process are already being discarded."""
    return _protected


def is_wanted(request: Request) -> bool:
    """Return whether a request asks to discard the file changes of the run."""
    if isinstance(request, CompareRequest):
        return False  # it runs no program
    if isinstance(request, (TrialRequest, CallsRequest)):
        return True
    if isinstance(request, MinifyRequest):
        return request.discards_files
    return request.switches.discards_files


def discard_files(request: Request, folder: Path) -> FilesDiscarded:
    """Discard the file changes of this process from now on.

    The process still reads its own writes, which go to ``folder``, the folder of the run. Writes to the
    compiler's caches are not discarded.
    """
    global _protected
    passing = passing_paths(request, folder)
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

        for file in open_files():
            if not any(is_within(file.path, str(path)) for path in (folder, *passing)):
                file.reopen_to_read()
        guarded = guard_files(scratch, passing, kernel=weaker != "python")
        discarded = replace(
            guarded, reason=", and ".join(filter(None, (_reason(str(error)), guarded.reason)))
        )
    _protected = True
    return discarded


def _reason(error: str) -> str:
    """Return why the run has no namespace, in words for the user.

    The result does not name the failed system call.
    """
    call, _, cause = error.partition(": ")
    for start, words in _FAILED_CALLS.items():
        if call.startswith(start) and cause:
            return words
    return error


def _cover_together(meeting: Path, cover: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """Share covers: the first rank covers the files, other ranks join its namespace."""
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
