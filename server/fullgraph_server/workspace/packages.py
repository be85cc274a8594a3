"""Installed packages: the package of a file, its version, and its edited files."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackagePath, distributions
from pathlib import Path

_SITES = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    """An installed package: its import name, its parent folder, and its version.

    ``version`` is the version of the distribution; it is empty if no distribution lists the package.
    ``edited`` are the files that differ from the installation's record.
    """

    name: str
    folder: Path
    version: str = ""
    edited: tuple[str, ...] = ()


def package_name(filename: str) -> str:
    """Return the import name of the outermost package or module that contains a file."""
    return os.path.relpath(filename, _folder(os.path.dirname(filename))).split(os.sep)[0].removesuffix(".py")


def installed_package(filename: str, name: str, files: tuple[str, ...]) -> InstalledPackage:
    """Return the package ``name``, which contains the file ``filename``.

    ``files`` are compared with the installation's record; the changed ones become ``edited``.
    """
    folder = _folder(os.path.dirname(filename))
    for distribution in distributions(path=[folder]):
        known = {str(item): item for item in distribution.files or ()}
        if any(path.split("/")[0] in (name, f"{name}.py") for path in known):
            return InstalledPackage(name, Path(folder), distribution.version, _edited(known, folder, files))
    return InstalledPackage(name, Path(folder))


@lru_cache(maxsize=4096)
def is_installed(filename: str) -> bool:
    """Return whether a file belongs to an installed package, not to Python itself."""
    folder = _folder(os.path.dirname(filename))
    return os.path.exists(filename) and next(iter(distributions(path=[folder])), None) is not None


@lru_cache(maxsize=4096)
def _folder(folder: str) -> str:
    """Return the folder to put on ``sys.path`` to import from ``folder``.

    It is the site-packages folder, or else the parent of the outermost package that contains ``folder``.
    """
    parts = folder.split(os.sep)
    for site in _SITES:
        if site in parts:
            return os.sep.join(parts[: len(parts) - parts[::-1].index(site)])
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def _edited(known: Mapping[str, PackagePath], folder: str, files: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        filename
        for filename in files
        if (item := known.get(os.path.relpath(filename, folder).replace(os.sep, "/"))) is not None
        and item.hash is not None
        and item.hash.value != _digest(filename, item.hash.mode)
    )


def _digest(filename: str, mode: str) -> str:
    """Return the hash of a file in the format of a RECORD file.

    See "Recording installed projects" of the PyPA.
    """
    digest = hashlib.new(mode, Path(filename).read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
