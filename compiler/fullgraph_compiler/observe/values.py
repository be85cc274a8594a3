"""Write values of the program as short texts, without running the program's code."""

from __future__ import annotations

from enum import Enum
from types import NoneType
from typing import Any, Final

import torch

_LONGEST: Final = 80
_PLAIN: Final = (bool, int, float, complex, str, bytes, NoneType, torch.dtype, torch.device, torch.layout)
"""Types whose ``repr`` runs no code of the program."""


def written_value(value: Any, *, is_metadata: bool) -> str:
    """Return the text of an enum member, such as ``Phase.DECODE``.

    With ``is_metadata``, also return the text of plain values. Empty for all other values, and if the text is
    too long.
    """
    text = _member(value) or (_written(value) if is_metadata else "")
    return text if len(text) <= _LONGEST else ""


def _member(value: Any) -> str:
    if not isinstance(value, Enum):
        return ""
    name = value._name_  # a member that combines several flags may have none
    return f"{type(value).__qualname__}.{name}" if isinstance(name, str) else ""


def _written(value: Any) -> str:
    """Return the text of a plain value, or of a container of plain values.

    Empty for anything else.
    """
    if type(value) in _PLAIN:
        return repr(value)
    if member := _member(value):
        return member
    if type(value) is dict:
        pairs = [(_written(key), _written(item)) for key, item in value.items()]
        return f"{{{', '.join(map(': '.join, pairs))}}}" if all(map(all, pairs)) else ""
    if type(value) in (tuple, list):
        items = [_written(item) for item in value]
        inside = ", ".join(items)
        if not all(items):
            return ""
        if type(value) is list:
            return f"[{inside}]"
        return f"({inside},)" if len(items) == 1 else f"({inside})"
    return ""
