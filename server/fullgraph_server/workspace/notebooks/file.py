"""The code cells of a notebook file: JSON, in version 4 of Jupyter's format.

https://nbformat.readthedocs.io/en/latest/format_description.html
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from .program import NotebookCell, NotebookError, as_python

NOTEBOOK = ".ipynb"
_FORMAT = 4
_INDENT = re.compile(r"\n([ \t]+)\"")


def read_cells(data: bytes) -> list[NotebookCell]:
    """Return the code cells of a notebook. Raises :class:`NotebookError`."""
    notebook = _notebook(data)
    language = _language(notebook)
    return [_cell(cell, language) for cell in code_cells(notebook)]


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the code cells of a notebook as JSON objects.

    Raises :class:`NotebookError`.
    """
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise NotebookError("it is a damaged notebook without a list of cells")
    return [cell for cell in cells if cell.get("cell_type") == "code"]


def with_programs(data: bytes, programs: Sequence[str]) -> bytes:
    """Return a notebook with new programs in its cells; equal lines are not changed."""
    notebook = _notebook(data)
    for cell, text in zip(code_cells(notebook), programs, strict=True):
        written = _text(cell)
        if as_python(written) != text:
            lines = _restored(written, text).splitlines(keepends=True)
            cell["source"] = lines if isinstance(cell["source"], list) else "".join(lines)
    raw = _decoded(data)
    indent = _INDENT.search(raw)
    text = json.dumps(notebook, ensure_ascii=False, indent=indent[1] if indent else None)
    text += "\n" if raw.endswith("\n") else ""
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return mark + text.replace("\n", "\r\n" if "\r\n" in raw else "\n").encode("utf-8", "surrogatepass")


def _restored(written: str, program: str) -> str:
    """Return a cell's program with its magics restored.

    :func:`as_python` turned the magics into comments.
    """
    original = written.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    old, new = as_python(written).split("\n"), program.split("\n")
    lines: list[str] = []
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        lines += original[first:last] if kind == "equal" else new[start:end]
    return "\n".join(lines)


def _notebook(data: bytes) -> dict[str, Any]:
    try:
        notebook = json.loads(_decoded(data))
    except json.JSONDecodeError as error:
        raise NotebookError(f"it is a damaged notebook: its JSON is invalid in line {error.lineno}") from None
    except UnicodeDecodeError:
        raise NotebookError("it is a damaged notebook: it is not in UTF-8") from None
    except (ValueError, RecursionError):
        raise NotebookError("it is a damaged notebook: it is not JSON") from None
    version = notebook.get("nbformat") if isinstance(notebook, dict) else None
    if not isinstance(version, int):
        raise NotebookError("it is a damaged notebook without a format version")
    if version < _FORMAT:
        raise NotebookError(f"it is a notebook in the old format {version}: save it again in Jupyter")
    if version > _FORMAT:
        raise NotebookError(f"it is a notebook in format {version}, newer than this Fullgraph supports")
    return notebook  # type: ignore[no-any-return]


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "surrogatepass")


def _language(notebook: dict[str, Any]) -> str:
    """Return the language of a notebook; Python if the notebook does not name one."""
    language = _at(notebook, "metadata", "language_info", "name") or _at(
        notebook, "metadata", "kernelspec", "language"
    )
    return language if isinstance(language, str) else "python"


def _cell(cell: dict[str, Any], language: str) -> NotebookCell:
    own = _at(cell, "metadata", "vscode", "languageId")
    return NotebookCell(own if isinstance(own, str) else language, _text(cell))


def _text(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        raise NotebookError("it is a damaged notebook with a cell whose source is not text")
    return "".join(lines)


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
