"""Make this process use the editor's unsaved texts instead of files.

Imports, scripts, ``inspect`` and tracebacks use these texts. A program that opens a source file as data still
reads the file on disk, as do processes that the program starts.
"""

from __future__ import annotations

import errno
import io
import linecache
import os
import stat
import tokenize
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from ..facts import SourceText

_texts: dict[str, str] = {}
"""The texts by real path, because editor and program may reach a file through different links."""


def install(texts: tuple[SourceText, ...]) -> None:
    """Make this process use ``texts`` until it ends.

    If there are no texts, nothing is patched.
    """
    if not texts:
        return
    _texts.update({_real_path(text.filename): text.text for text in texts})
    _patch_imports()
    _patch_linecache()


def read(filename: str) -> bytes:
    """Return the bytes of a source file, or of its unsaved text.

    Raises ``OSError`` if the file cannot be read or is not a regular file.
    """
    text = _text_of(filename)
    if text is not None:
        return encode(text)
    if not stat.S_ISREG(os.stat(filename).st_mode):
        # A pipe could block the run until its time limit, and a device has no end.
        raise OSError(errno.EINVAL, "it is not a regular file")
    return Path(filename).read_bytes()


def encode(text: str) -> bytes:
    """Encode a source text in the encoding that its first lines declare.

    If this encoding cannot represent the text, encode it in UTF-8, as most editors would.
    """
    data = text.encode("utf-8", "surrogatepass")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        # With a byte order mark, which is part of the text, the codec would write a second one.
        return data if encoding == "utf-8-sig" else text.encode(encoding)
    except (LookupError, SyntaxError, UnicodeError):
        return data


def _patch_imports() -> None:
    get_data, path_stats = SourceFileLoader.get_data, SourceFileLoader.path_stats

    def overlaid_data(self: Any, path: str) -> bytes:
        text = _text_of(path)
        return get_data(self, path) if text is None else encode(text)

    def overlaid_stats(self: Any, path: str) -> Any:
        if _text_of(path) is not None:
            # Then a loader neither reads nor writes bytecode, which belongs to the text on disk.
            raise OSError(f"{path} is not saved")
        return path_stats(self, path)

    SourceFileLoader.get_data = overlaid_data  # type: ignore[method-assign]
    SourceFileLoader.path_stats = overlaid_stats  # type: ignore[method-assign]


def _patch_linecache() -> None:
    updatecache = linecache.updatecache

    def overlaid_lines(filename: str, module_globals: dict[str, Any] | None = None) -> list[str]:
        text = _text_of(filename)
        if text is None:
            return updatecache(filename, module_globals)
        lines = io.StringIO(text, newline=None).readlines()
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        # An entry without a time is never compared with the file on disk.
        linecache.cache[filename] = (len(text), None, lines, filename)
        return lines

    linecache.updatecache = overlaid_lines


def _text_of(path: str) -> str | None:
    try:
        return _texts.get(_real_path(path))
    except (TypeError, ValueError):
        # Not a path: loaders and tracebacks carry all kinds of names.
        return None


def _real_path(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))
