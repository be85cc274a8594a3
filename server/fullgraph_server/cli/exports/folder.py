"""The folder of a trace: the page, all documents, and the records of the log."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from fullgraph_compiler.trace import TraceLog

from ..formats.checked import CheckedReport
from ..formats.kernels import INDEX, INDEX_HEAD, write_files
from ..output import write_object
from .page import BUNDLE, HEAD, page

PAGE: Final = "index.html"
_DOCUMENTS: Final = "documents"
_RECORDS: Final = "records.jsonl"
_RECORDS_HEAD: Final = '{"logged": '


def problem_with(folder: Path) -> str:
    """Return why a trace cannot be written into a folder; empty if it can be written."""
    if not BUNDLE.is_dir():
        return f"this installation lacks {BUNDLE}: in a checkout of Fullgraph, `npm run build` makes it"
    if not folder.exists():
        return ""
    if not folder.is_dir():
        return f"{folder} is not a folder"
    if any(folder.iterdir()) and not _begins(folder / PAGE, HEAD):
        return f"{folder} is not empty, and holds no page of a trace: name another folder"
    # A page that was sent to somebody can lie next to an unrelated folder with one of these names.
    for path, (file, head) in {_DOCUMENTS: (INDEX, INDEX_HEAD), _RECORDS: ("", _RECORDS_HEAD)}.items():
        own = folder / path
        if own.exists() and not own.is_symlink() and not _begins(own / file, head):
            return f"{own} does not belong to the page next to it: name another folder"
    return ""


def write_folder(checked: CheckedReport, log: Path, folder: Path) -> None:
    """Write a trace's page, documents and records; replace those of an earlier trace.

    With several ranks, ``log`` is the log of the rank whose graphs are in the report. Raises ``OSError``.
    """
    text = page(checked)
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder / _DOCUMENTS, folder / _RECORDS, folder / PAGE):
        _remove(path)
    # An absolute path means nothing to the recipient of the folder.
    write_files(replace(checked.report, target=checked.target.label), folder / _DOCUMENTS)
    with (folder / _RECORDS).open("w", encoding="ascii") as out:
        for record in _records(log):
            write_object(out, record)
    # No newlines are converted: the page's policy blocks a script with another hash.
    (folder / PAGE).write_text(text, "utf-8", newline="\n")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _begins(path: Path, head: str) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(len(head)) == head
    except OSError:
        return False


def _records(log: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a log as torch wrote them, each with its payload."""
    with TraceLog(log) as records:
        for logged in records.logged():
            text = logged.record.payload
            yield {"logged": logged.origin, **logged.metadata, **({"payload": text} if text else {})}
