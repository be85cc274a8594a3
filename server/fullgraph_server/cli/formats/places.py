"""Places in files as people count them: in notebooks, by row of a code cell."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ...report.model import Finding
from ...workspace.notebooks.file import NOTEBOOK
from ...workspace.source import SourceFile, read_source
from .checked import shown_path


def shown_row(filename: str, row: int) -> str:
    """Write ``train.py:41``, or ``model.ipynb:cell 3:2``."""
    notebook = _notebook(filename)
    return f"{shown_path(filename)}:{notebook.place(row) if notebook else row}"


def shown_place(finding: Finding) -> str:
    """Write where a finding is: ``train.py:41:5``."""
    span = finding.span
    return f"{shown_row(span.filename, span.row)}:{span.column}"


def cell_of(filename: str, row: int) -> tuple[int, int]:
    """Return the code cell of a row, and the row in this cell; cell 0 for other files."""
    notebook = _notebook(filename)
    return notebook.cell(row) if notebook else (0, row)


def in_cells(value: Any) -> Any:
    """Return a JSON value with each row in a notebook counted within its cell.

    The number of the cell is added as ``cell``.
    """
    if isinstance(value, list):
        return [in_cells(item) for item in value]
    if not isinstance(value, dict):
        return value
    filename = value.get("filename") or value.get("file")
    row = value.get("row") or (value.get("location") or {}).get("row")
    if not isinstance(filename, str) or not isinstance(row, int) or not _notebook(filename):
        return {key: in_cells(item) for key, item in value.items()}
    cell, in_cell = cell_of(filename, row)
    return {"cell": cell, **{key: _moved(key, item, in_cell - row) for key, item in value.items()}}


def _moved(key: str, value: Any, rows: int) -> Any:
    if key in ("row", "end_row"):
        return value + rows
    if key in ("location", "end_location"):
        return {**value, "row": value["row"] + rows}
    return in_cells(value)


@lru_cache
def _notebook(filename: str) -> SourceFile | None:
    # Read once: places are those of the text that ran.
    return read_source(filename) if filename.endswith(NOTEBOOK) else None
