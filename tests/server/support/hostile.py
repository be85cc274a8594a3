"""Texts in logs or file names that do harm where they are shown, and such facts.

The facts are full of these texts.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from fullgraph_compiler.facts import Fact, StackFrame
from fullgraph_compiler.facts.registry import CLASSES

COMMAND = "[x](command:workbench.action.quit) ![](https://evil/x.png)"

MARKDOWN = (
    COMMAND,
    f"``` {COMMAND}",
    f"`` ` `` {COMMAND} `",
    f"` {COMMAND}",
    f"a`` {COMMAND} ``b` {COMMAND}",
    "a](command:workbench.action.quit) b",
    "https://pytorch.org/gb0059.html) [x](command:workbench.action.quit",
    "<img src=https://evil/x.png onerror=alert(1)> <https://evil> <b>",
    "\n# INJECTED\n\n[x]: command:quit\n[x]\n",
    "\r\r# INJECTED\r\r- [x](command:quit)",
    "\n```\n\n" + COMMAND + "\n~~~\n",
    "\n\n===\n---\n> " + COMMAND,
    "a \\\\| `` | `b\\\\| " + COMMAND + " | c`",
    "\\" + COMMAND + "\\",
    "\udcff\ud800 \u202e \u2028# INJECTED\x1b[31m &lt;img&gt;",
)
"""What Markdown would take for links, images, HTML, headings and ends of code."""

TERMINAL = (
    "\x1b[2J\x1b]0;title\x07",
    "\x9b31m\x85\x90",
    "\u202e\u2066\u200f\u061c\u2028\x00\x7f",
    "\n::error::x",
    "::error::x",
    "\r\n  ::add-mask::e",
    "##[error]x",
    "##vso[task.complete]",
    "\n##[group]x\n##vso[x]\n",
    "\udcff\ud800",
    "a\x0b::error::x\x0c::stop-commands::x",
)
"""What a terminal would obey, or a CI system that reads a log."""


def facts(text: str, filename: str, *compile_ids: str) -> Iterator[Fact]:
    """Yield every kind of fact for each compilation, with ``text`` in all text fields."""
    for compile_id in compile_ids:
        for cls in CLASSES.values():
            if issubclass(cls, Fact):
                yield _made(cls, text, filename, (compile_id, compile_ids[0]))


def _made(kind: Any, text: str, filename: str, compile_ids: tuple[str, str], name: str = "") -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is StackFrame:
        return StackFrame(filename, 3, text, 4, 3, 9)
    if dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        within = compile_ids if name == "" else (compile_ids[1], compile_ids[1])
        return kind(
            **{item: _made(hint, text, filename, within, item or "-") for item, hint in hints.items()}
        )
    if origin is Literal:
        return arguments[0]
    if origin in (types.UnionType, typing.Union):
        return _made(arguments[0], text, filename, compile_ids, name)
    if origin is tuple:
        items = arguments[:1] if arguments[-1] is Ellipsis else arguments
        return tuple(_made(item, text, filename, compile_ids, name) for item in items)
    values: dict[Any, Any] = {int: 3, float: 0.25, bool: False}
    if kind is not str:
        return values[kind]
    return {"filename": filename, "filenames": filename, "compile_id": compile_ids[0]}.get(name, text)


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)
