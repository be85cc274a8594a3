"""The folders and files that a run really changes.

All other file changes of the run are discarded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from ..facts import CallsRequest, CompareRequest, Examples, MinifyRequest, RunRequest, Script, TrialRequest

_LIBRARY_CACHES: Final = ("XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "TORCH_EXTENSIONS_DIR")
"""Environment variables that name folders in which libraries keep downloads and builds."""
_OF_PROJECT: Final = (".git", ".hg", "pyproject.toml", "setup.py")
"""Names of files and folders that only the top folder of a project contains."""

Request: TypeAlias = RunRequest | MinifyRequest | CompareRequest | TrialRequest | CallsRequest
_Identity: TypeAlias = tuple[int, int]


def passing_paths(request: Request, folder: Path) -> list[Path]:
    """Return the paths not to cover: paths of the run, and caches outside of projects."""
    own = [path for path in _own_paths(request, folder) if path.exists()]
    if isinstance(request, RunRequest) and request.switches.without_data:
        return own  # a dry run downloads nothing
    # Downloads remain for the next run.
    named = [os.environ[name] for name in _LIBRARY_CACHES if name in os.environ]
    caches = map(Path, (*named, os.path.expanduser("~/.cache")))
    return [*own, *(cache for cache in caches if cache.is_dir() and not _holds_work(cache, request))]


def _own_paths(request: Request, folder: Path) -> Iterator[Path]:
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


def _holds_work(cache: Path, request: Request) -> bool:
    """Return whether a cache overlaps with a folder in which the user works.

    It does if it is that folder, contains it or is in it. Folders are compared by identity, so that different
    paths to the same folder count as equal.
    """
    home, places = _home(), [*_places(request)]
    within = _identities(cache)
    is_above = _identity(cache) in {identity for place in (home, *places) for identity in _identities(place)}
    return is_above or any(_identity(place) in within for place in places)


def _places(request: Request) -> Iterator[Path]:
    """Yield the folders of workspace and program, and the projects that contain them."""
    folders = [os.getcwd(), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    if not isinstance(request, CompareRequest):
        folders.append(request.workspace or os.getcwd())
        program = request.program
        file = (
            program.filename if isinstance(program, (Script, Examples)) else program.node.partition("::")[0]
        )
        folders.append(os.path.dirname(os.path.abspath(file)))
    home = _home().resolve()
    for folder in map(Path, dict.fromkeys(folders)):
        yield folder
        real = folder.resolve()
        # A home folder under version control is not a project.
        above = (parent for parent in (real, *real.parents) if parent not in (home, *home.parents))
        yield from (parent for parent in above if any((parent / name).exists() for name in _OF_PROJECT))


def _home() -> Path:
    # ``Path.home`` raises an error for a user without an entry in the table of users, as in containers.
    return Path(os.path.expanduser("~"))


def _identities(folder: Path) -> set[_Identity]:
    """Return the identities of a folder and of all folders that contain it."""
    real = folder.resolve()
    return {identity for part in (real, *real.parents) if (identity := _identity(part))}


def _identity(folder: Path) -> _Identity | None:
    """Return an identity of a folder that is equal for all its paths (bind mounts)."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
