"""JSON as VS Code reads it: with comments, and with commas behind the last element."""

from __future__ import annotations

import json
import re
from typing import Any

_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[}\]])', re.DOTALL)
_SHOWN = re.compile(r"[^\n]")


def read_jsonc(text: str) -> Any:
    """Return the value of a text. Raises ``ValueError`` or ``RecursionError`` for another text."""
    return json.loads(without_comments(text))


def without_comments(text: str) -> str:
    """Make JSON of the text, in which all the rest stays where it is."""
    return _COMMA.sub(_blank, _COMMENT.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[1] is not None else _SHOWN.sub(" ", match[0])
