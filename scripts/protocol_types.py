"""Writer of ``extension/src/protocol.ts``: the server's messages for TypeScript.

It also writes the kinds of findings. Run ``python scripts/protocol_types.py`` after a change of
``fullgraph_server.protocol`` or ``kinds``. A test compares the two.
"""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import attrs
from fullgraph_server.analyses.registry import analyses
from fullgraph_server.cli.exports.page import TRACE_ITEM
from fullgraph_server.commands.performance import PERFORMANCE_ITEM
from fullgraph_server.commands.report import GUARD, LAYER, REPORT_ITEM
from fullgraph_server.kinds import KINDS, Kind
from fullgraph_server.protocol import names
from fullgraph_server.protocol.wire import MESSAGES, camel_case
from fullgraph_server.shapes.shape import JsonKey, JsonShape, members, replaced
from fullgraph_server.text.messages import ENDINGS
from fullgraph_server.workspace.positions import Span
from lsprotocol import types as lsp

OUTPUT = Path(__file__).parent.parent / "extension" / "src" / "protocol.ts"

_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Any: "unknown"}

_COLUMNS = ("one", "many", "summary", "sums_compilations")
"""The part of the table of kinds that the client needs."""


def typescript() -> str:
    """Return the text of the TypeScript module."""
    interfaces = list(_interfaces())
    used = sorted({name for *_, fields in interfaces for _, of, _ in fields for name in _lsp_names(of)})
    parts = [
        "// Written by scripts/protocol_types.py from protocol/ and kinds.py: change it there.\n",
        f'import type {{ {", ".join(used)} }} from "vscode-languageclient";\n',
        "\n".join(
            f"export const {name} = {_quoted(value)};"
            for name, value in vars(names).items()
            if name.isupper() and isinstance(value, str)
        )
        + "\n",
    ]
    parts += [_interface(*item) for item in interfaces]
    return "\n".join([*parts, _kinds(), _endings(), _analyses()])


def _endings() -> str:
    """Return the words for how a run ended."""
    table = f"export const ENDINGS: Readonly<Record<string, string>> = {json.dumps(ENDINGS)};"
    return "\n".join(["/** How a run ended, of a program. */", table, ""])


def _analyses() -> str:
    """Return the registry of analyses, those that editors offer."""
    shown = [(item.id, item.in_editor) for item in analyses().values() if item.in_editor is not None]
    rows = [
        {
            "id": name,
            "command": editor.command,
            "client": f"fullgraph.{editor.client}",
            "title": editor.title,
            "question": editor.question,
            "group": editor.group,
            "opens": editor.opens,
        }
        for name, editor in shown
    ]
    lines = [
        "/** An analysis: the command of the server, and that of the client. */",
        "export interface Analysis {",
    ]
    lines += [f"  {name}: string;" for name in rows[0]]
    lines += ["}", "", '/** The analyses of fullgraph_server/analyses, in the order of "Analyze…". */']
    lines += ["export const ANALYSES: readonly Analysis[] = ["]
    lines += [f"  {json.dumps(row, ensure_ascii=False)}," for row in rows]
    return "\n".join([*lines, "];", ""])


def _interfaces() -> Iterator[tuple[str, str, list[tuple[str, Any, bool]]]]:
    """Yield name, description, and fields of each interface.

    A field has a name, a type, and whether it may be absent.
    """
    for cls in MESSAGES:
        attrs.resolve_types(cls)
        fields = [(item.name, item.type, item.default is None) for item in attrs.fields(cls)]
        yield cls.__name__, inspect.getdoc(cls) or "", fields
    for shape in _shapes(REPORT_ITEM, LAYER, GUARD, PERFORMANCE_ITEM, TRACE_ITEM):
        types = [(key.name, _client_type(shape, key)) for key in shape.keys]
        about, _, _ = (inspect.getdoc(shape.of) or "").partition("\n\n")
        yield shape.name, about, [(name, of, type(None) in members(of)) for name, of in types]


def _shapes(*roots: JsonShape) -> dict[JsonShape, None]:
    """Return shapes after those that they hold."""
    found: dict[JsonShape, None] = {}
    for root in roots:
        found.update(_shapes(*(key.shape for key in root.keys if key.shape is not None)))
        found[root] = None
    return found


def _client_type(shape: JsonShape, key: JsonKey) -> Any:
    """Return the type of a key's value at the client."""

    def put(of: Any) -> Any:
        if key.shape is not None and of is key.shape.of:
            return typing.NewType(key.shape.name, object)
        return lsp.Location if of is Span else of

    return replaced(shape.annotation(key), put)


def _interface(name: str, about: str, fields: list[tuple[str, Any, bool]]) -> str:
    lines = [f"/** {about} */", f"export interface {name} {{"]
    for field, annotation, optional in fields:
        union = [item for item in members(annotation) if not (optional and item is type(None))]
        types_ = " | ".join(_typescript(item) for item in union)
        lines.append(f"  {camel_case(field)}{'?' if optional else ''}: {types_};")
    return "\n".join([*lines, "}", ""])


def _kinds() -> str:
    """Return the table of kinds."""
    types_ = typing.get_type_hints(Kind)
    row = "; ".join(f"{camel_case(column)}: {_typescript(types_[column])}" for column in _COLUMNS)
    lines = [
        "/** The kinds of findings, in the order in which summaries name them. */",
        f'export const KINDS: Readonly<Record<FindingItem["kind"], {{ {row} }}>> = {{',
    ]
    for name, kind in KINDS.items():
        values = {camel_case(column): getattr(kind, column) for column in _COLUMNS}
        lines.append(f"  {_quoted(name)}: {json.dumps(values)},")
    return "\n".join([*lines, "};", ""])


def _typescript(annotation: Any) -> str:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin = typing.get_origin(annotation)
    if origin is Literal:
        return " | ".join(_quoted(value) for value in typing.get_args(annotation))
    if origin is list:
        return f"{_typescript(typing.get_args(annotation)[0])}[]"
    if origin is dict:
        key, value = (_typescript(item) for item in typing.get_args(annotation))
        return f"Record<{key}, {value}>"
    return str(annotation.__name__)


def _lsp_names(annotation: Any) -> set[str]:
    if getattr(annotation, "__module__", "") == lsp.__name__:
        return {annotation.__name__}
    return {name for item in typing.get_args(annotation) for name in _lsp_names(item)}


def _quoted(value: str) -> str:
    return f'"{value}"'


if __name__ == "__main__":
    OUTPUT.write_text(typescript(), encoding="utf-8")
