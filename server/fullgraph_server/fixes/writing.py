"""Proven edits, written into the user's files: into all of them, or into none."""

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
    """Raised if a file cannot be written; its text is a sentence for the user."""


def write_texts(texts: Mapping[str, tuple[str, str]]) -> None:
    """Write files: ``texts`` has the old and the new text of each file, by file name.

    The line ends, byte order mark and encoding of each file are preserved. If a file's content is no longer
    the old text, no file is written. Raises :class:`UnwritableError`.
    """
    contents = {name: _prepared(Path(name), before, after) for name, (before, after) in texts.items()}
    for name, data in contents.items():
        _replace(Path(os.path.realpath(name)), data)  # a symbolic link stays a link


def _prepared(path: Path, before: str, after: str) -> bytes:
    """Return the new content of a file. Raises :class:`UnwritableError`."""
    source = read_source(str(path))
    if source is not None and source.cells and source.text.startswith(before):
        # The run may have ended before the last cell of the notebook: the later cells are unchanged.
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
    """Return the new text with the line ends that the file uses.

    New lines get the file's most frequent line end.
    """
    was = io.StringIO(raw, newline="").readlines()
    ends = Counter(line[len(line.rstrip("\r\n")) :] for line in was)
    usual = max((end for end in ends if end), key=lambda end: ends[end], default="\n")
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(old) != len(was):  # the text has characters that only ``str.splitlines`` treats as line ends
        return after.replace("\n", usual)
    lines: list[str] = []
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += was[first:last]
        else:
            lines += [line[:-1] + usual if line.endswith("\n") else line for line in new[start:end]]
    return "".join(lines)


def _replace(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
            stream.write(data)
        os.chmod(stream.name, path.stat().st_mode)
        os.replace(stream.name, path)
    except OSError as error:
        raise UnwritableError(f"{path} cannot be written: {error}.") from error
