"""Titles and advice for errors with which ``torch.export`` rejects dynamic shapes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ...text import exports

_CONFLICTS: Final = "Found the following conflicts between user-specified ranges and inferred ranges"
"""The text before the conflicts (``make_constraints`` in ``_export/non_strict_utils.py``, 2.11 to 2.15)."""
_CONSTANT: Final = re.compile(
    r"Dim\.DYNAMIC\([^)\n]{0,80}\), but (?:export 0/1 specialized due to hint of (?P<example>\d{1,20})"
    r"|tracing inferred a static shape of (?P<inferred>\d{1,20})) for dimension (?P<size>[^\n]{1,300})\.$"
)
_RANGE: Final = re.compile(
    r"user-specified min/max range of \[(?P<marked>[^\]\n]{1,60})\], conflicting with the inferred min/max "
    r"range of \[(?P<inferred>[^\]\n]{1,60})\], for (?P<size>[^\n]{1,300})\.$"
)
_KEYS: Final = re.compile(
    r"its top-level keys must be the arg names (?P<arguments>\[[^\]\n]{0,500}\]) of `inputs`, but here they "
    r"are (?P<keys>\[[^\]\n]{0,500}\])"
)
"""``_combine_args`` and ``_check_dynamic_shapes`` in ``torch/export/dynamic_shapes.py`` (2.11 to 2.15)."""
_INPUT: Final = re.compile(r"^inputs\['(\w+)'\]")


@dataclass(frozen=True, slots=True)
class RefusedShapes:
    """A problem with ``dynamic_shapes``.

    ``about_sizes`` says that the code contradicts a size that ``dynamic_shapes`` marks.
    """

    title: str
    hints: tuple[str, ...]
    about_sizes: bool


def refusals(message: str) -> Iterator[RefusedShapes]:
    """Yield the problems with ``dynamic_shapes`` that an error's message reports.

    Messages of other errors yield nothing.
    """
    if found := _KEYS.search(message):
        arguments, keys = _names(found["arguments"]), _names(found["keys"])
        if arguments and keys:
            title, hints = exports.wrong_keys(arguments, keys)
            yield RefusedShapes(title, hints, about_sizes=False)
    if not message.startswith(_CONFLICTS):
        return
    for line in message.splitlines()[1:]:
        if found := _CONSTANT.search(line):
            value = found["example"] or found["inferred"]
            title = exports.specialized(_written(found["size"]), value, "")
            yield RefusedShapes(title, exports.size_hints(value, ()), about_sizes=True)
        elif found := _RANGE.search(line):
            size = _written(found["size"])
            title = exports.other_range(size, _bounds(found["marked"]), _bounds(found["inferred"]))
            yield RefusedShapes(title, exports.size_hints("", ()), about_sizes=True)


def _written(size: str) -> str:
    """Return a size as in the program: ``x.shape[0]`` for ``inputs['x'].shape[0]``."""
    return _INPUT.sub(r"\1", size)


def _bounds(text: str) -> tuple[str, str]:
    """Split a range into lower and upper bound; a missing bound is empty."""
    low, high = (part.strip() for part in text.partition(",")[::2])
    return ("" if low == "None" else low, "" if high in ("None", "int_oo") else high)


def _names(text: str) -> list[str]:
    try:
        names = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return []
    return [name for name in names if isinstance(name, str)]
