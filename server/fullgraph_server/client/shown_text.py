"""Escaping of invisible characters in those texts of messages that people read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

import attrs
from cattrs import Converter
from lsprotocol import types

from ..protocol.wire import Unstructure, camel_case, create_converter
from ..text.visible import visible_lines

_OF_LSP: Mapping[type[Any], Collection[str]] = {
    types.ResponseError: ("message",),
    types.MarkupContent: ("value",),
    types.Command: ("title",),
    types.DiagnosticRelatedInformation: ("message",),
    types.Diagnostic: ("message",),
    types.CodeAction: ("title",),
    types.CompletionItem: ("label", "detail"),
    types.InlayHintLabelPart: ("value",),
    types.InlayHint: ("label", "tooltip"),
    types.WorkDoneProgressBegin: ("title", "message"),
    types.WorkDoneProgressReport: ("message",),
    types.WorkDoneProgressEnd: ("message",),
    types.ShowMessageParams: ("message",),
    types.ShowMessageRequestParams: ("message",),
    types.LogMessageParams: ("message",),
}
"""Fields that people read, by class of LSP. A class comes before classes that contain it, since the converter
looks up hooks only once."""
_OWN = frozenset({
    "arguments", "cache", "code", "config", "description", "details", "expected", "function", "grid",
    "hint", "holds", "inputs", "kind_name", "label", "left_out", "message", "name", "notes", "nothing",
    "operator", "operators", "origin", "place", "problem", "rank_groups", "reason", "rendered", "sentence",
    "sentences", "title", "unknown", "verdict",
})  # fmt: skip
"""Fields of Fullgraph's messages that people read; none of them holds a URI, an id, or text for a file."""


def shown(name: str, text: str) -> str:
    """Return the text of a field of Fullgraph's messages, escaped if people read it."""
    return visible_lines(text) if name in _OWN else text


def create_shown_converter() -> Converter:
    """Create the message converter that escapes invisible characters.

    Control characters and characters that change the direction of text are escaped, line ends are not.
    """
    converter = create_converter(_wrapped)
    for cls, fields in _OF_LSP.items():
        hook = converter.get_unstructure_hook(cls)
        converter.register_unstructure_hook(cls, partial(_with_visible, hook, fields))
    return converter


def _wrapped(cls: type[Any], hook: Unstructure) -> Unstructure:
    shown = _OWN.intersection(attrs.fields_dict(cls))
    return partial(_with_visible, hook, tuple(map(camel_case, shown)))


def _with_visible(unstructure: Unstructure, names: Iterable[str], value: Any) -> dict[str, Any]:
    item = dict(unstructure(value))
    for name in names:
        text = item.get(name)
        if isinstance(text, str):
            item[name] = visible_lines(text)
        elif isinstance(text, list) and all(isinstance(line, str) for line in text):
            item[name] = [visible_lines(line) for line in text]
    return item
