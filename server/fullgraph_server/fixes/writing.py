"""Writing of proven texts into the user's files: all of them, or none."""

from __future__ import annotations

import io
import os
import tempfile
import tokenize
from collections import Counter
from collections.abc import Mapping
from difflib import SequenceMatcher
from pathlib import Path

from ..workspace.drift import with_text
from ..workspace.notebooks.file import with_programs
from ..workspace.source import read_source


class UnwritableError(Exception):
    """A file that cannot be written; the text is a sentence for the user."""


def write_texts(texts: Mapping[str, tuple[str, str]]) -> None:
    """Write texts, by file name the text that was proven from and the one that takes its place.

    Line ends, byte order mark and encoding of each file stay. A file that has changed meanwhile is not
    written, nor are the others then. Raises :class:`UnwritableError`.
    """
    contents = {name: _prepared(Path(name), before, after) for name, (before, after) in texts.items()}
    for name, data in contents.items():
        _replace(Path(os.path.realpath(name)), data)  # a link stays one


def _prepared(path: Path, before: str, after: str) -> bytes:
    """Return the content that a file is to have."""
    source = read_source(str(path))
    if source is not None and source.cells and source.text.startswith(before):
        # The run may have ended with an earlier cell: what follows stays.
        before, after = source.text, after + source.text[len(before) :]
    if source is None or source.text != before:
        raise UnwritableError(f"{path} has changed since it was read: nothing was written.")
    if not os.access(path, os.W_OK):
        raise UnwritableError(f"{path} is read-only: nothing was written.")
    data = path.read_bytes()
    if source.cells:
        return with_programs(data, with_text(source, after).by_cell())
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    raw = data.decode(encoding)
    try:
        return _with_line_ends(raw, before, after).encode(encoding)
    except UnicodeEncodeError as error:
        raise UnwritableError(f"{path} is in {encoding}, which lacks a character of the fix.") from error


def _with_line_ends(raw: str, before: str, after: str) -> str:
    """Return the new text with the line ends that the file has, those of new lines as most others."""
    was = io.StringIO(raw, newline="").readlines()
    ends = Counter(line[len(line.rstrip("\r\n")) :] for line in was)
    usual = max((end for end in ends if end), key=lambda end: ends[end], default="\n")
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(old) != len(was):  # it has characters that only some take for the end of a line
        return after.replace("\n", usual)
    lines: list[str] = []
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += was[first:last]
        else:
            lines += [line[:-1] + usual if line.endswith("\n") else line for line in new[start:end]]
    return "".join(lines)


def _replace(path: Path, data: bytes) -> None:
    """Put the new content in the place of the file, whole or not at all."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
            stream.write(data)
        os.chmod(stream.name, path.stat().st_mode)
        os.replace(stream.name, path)
    except OSError as error:
        raise UnwritableError(f"{path} cannot be written: {error}.") from error
