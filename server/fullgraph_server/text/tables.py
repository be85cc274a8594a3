"""Tables and paragraphs of plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], alignment: str) -> list[str]:
    """Return a line for each row of a table, with aligned columns.

    ``alignment`` has ``<`` (left) or ``>`` (right) for each column.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, alignment, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def wrapped(line: str, indent: int, width: int | None) -> Sequence[str]:
    """Wrap a line of a note that will be indented by ``indent`` columns.

    The line is not wrapped if ``width`` is ``None`` or leaves fewer than 30 columns.
    """
    if width is None or width - indent < 30:
        return [line]
    lines = textwrap.wrap(line, width - indent, break_long_words=False, break_on_hyphens=False)
    return lines or [""]
