"""JSON as VS Code reads it: with comments and trailing commas."""

from __future__ import annotations

import json
import re
from typing import Any

_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[}\]])', re.DOTALL)
_SHOWN = re.compile(r"[^\n]")


def read_jsonc(text: str) -> Any:
    """Parse JSON with comments and return its value.

    Raises ``ValueError`` or ``RecursionError`` if the text is not valid.
    """
    return json.loads(without_comments(text))


def without_comments(text: str) -> str:
    """Return a text as JSON, with spaces for comments and trailing commas.

    The positions of all other characters are preserved.
    """
    return _COMMA.sub(_blank, _COMMENT.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[1] is not None else _SHOWN.sub(" ", match[0])
