"""Keep what a run writes to the run: by a namespace, or by guards where there is none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from ..facts import FilesDiscarded, MinifyRequest, RunRequest
from .mounts import is_within
from .namespace import NamespaceError, cover_files, join, own_namespace

_LIBRARY_CACHES = ("XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "TORCH_EXTENSIONS_DIR")
"""Environment variables that name where libraries keep what they have downloaded and built."""

_WEAKER = "FULLGRAPH_FILE_PROTECTION"
"""The environment variable that asks for ``landlock`` or ``python`` where there are namespaces: for tests."""
_MEETING_SECONDS = 30.0
"""How long a rank waits for the one that covers the files of all."""
_protected = False


def is_protected() -> bool:
    """Whether this process changes no file any more."""
    return _protected


def is_wanted(request: RunRequest | MinifyRequest) -> bool:
    """Whether a run must leave no file changed."""
    if isinstance(request, MinifyRequest):
        return request.discards_files
    return request.switches.discards_files


def discard_files(request: RunRequest | MinifyRequest, folder: Path) -> FilesDiscarded:
    """Let this process change no file from here on, whatever it does; it reads what it has written.

    What it writes goes to ``folder``, the run's own. The compiler's caches are written as ever.
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
    """Have the processes of one program share what they write: the first one covers the files of all."""
    told = meeting / "namespace"
    try:
        (meeting / "first").touch(exist_ok=False)
    except FileExistsError:
        deadline = time.monotonic() + _MEETING_SECONDS
        while not told.exists():
            if time.monotonic() > deadline:
                raise NamespaceError("the first rank did not come") from None
            time.sleep(0.002)
        if namespace := told.read_text():
            join(namespace)
            return ()
        raise NamespaceError("the first rank has none") from None
    namespace = ""
    try:
        read_only = cover()
        namespace = own_namespace()
    finally:
        part = meeting / "part"
        part.write_text(namespace)
        part.rename(told)
    return read_only


def _passing(request: RunRequest | MinifyRequest, folder: Path) -> Iterator[Path]:
    yield folder
    if isinstance(request, RunRequest) and request.meeting:
        yield Path(request.meeting)
    if request.cache:
        os.makedirs(request.cache, exist_ok=True)
        yield Path(request.cache)
    if isinstance(request, MinifyRequest):
        Path(request.output).touch()
        yield Path(request.output)
    elif not request.switches.without_data:
        # What a library downloads is there for the next run. A dry run loads nothing.
        named = [os.environ[name] for name in _LIBRARY_CACHES if name in os.environ]
        for cache in (*named, os.path.expanduser("~/.cache")):
            if not is_within(os.path.abspath(cache), os.getcwd()):
                yield Path(cache)
