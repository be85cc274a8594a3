"""Plain text in Markdown."""

from __future__ import annotations

import re
import textwrap

_SPECIAL = re.compile(r"([\\*_\[\]<>#|~])")
_FENCE = re.compile(r"`{3,}")


def escaped(text: str) -> str:
    """Text that is not Markdown, except that what stands in backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", text).replace("`", "\\`")
    return "`".join(part if index % 2 else _SPECIAL.sub(r"\\\1", part) for index, part in enumerate(parts))


def fenced(language: str, text: str) -> str:
    """A block of code, whatever backticks are in it."""
    longest = max((len(found) for found in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def paragraphs(text: str) -> str:
    """Text as paragraphs: what torch has indented is code of its own."""
    blocks = (block for block in text.split("\n\n") if block.strip())
    return "\n\n".join(
        fenced("text", textwrap.dedent(block)) if block.startswith(" ") else escaped(block)
        for block in blocks
    )
