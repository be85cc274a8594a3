"""Untrusted text on one line, with invisible characters escaped.

The text comes from programs, logs and file names.
"""

from __future__ import annotations

import re
from typing import Final

_UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters, those of C1 among them
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the direction of text
    "\u2028\u2029"  # other ends of lines
    "\ud800-\udfff]"  # halves of characters, and bytes of names that are not UTF-8
)


_ADDRESS: Final = re.compile(r"(?: object)? at 0x[0-9a-fA-F]+")


def without_addresses(text: str) -> str:
    """Return a text without memory addresses, which differ in each run.

    Example: ``<Net>`` for ``<Net object at 0x7f>``.
    """
    return _ADDRESS.sub("", text)


def visible(text: str) -> str:
    """Escape each character that moves a cursor, ends a line or cannot be encoded."""
    return _UNSEEN.sub(_escape, text)


def visible_lines(text: str) -> str:
    """Escape a text of several lines except for its line ends."""
    return "\n".join(map(visible, text.split("\n")))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] in "\t\n\r":
        return {"\t": "\t", "\n": "\\n", "\r": "\\r"}[found[0]]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
