"""JSON as VS Code reads it: with comments and trailing commas."""

from __future__ import annotations

import json
import re
from typing import Any

_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[}\]])', re.DOTALL)
_SHOWN = re.compile(r"[^\n]")


def read_jsonc(text: str) -> Any:
    """Return the value of a text in JSON with comments.

    Raises ``ValueError`` or ``RecursionError`` if it is not JSON.
    """
    return json.loads(without_comments(text))


def without_comments(text: str) -> str:
    """Return the text as JSON: blanks instead of comments and trailing commas.

    All positions stay the same.
    """
    return _COMMA.sub(_blank, _COMMENT.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[1] is not None else _SHOWN.sub(" ", match[0])
