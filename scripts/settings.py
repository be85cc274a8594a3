"""Writer of the settings for VS Code and the docs.

The settings are those of ``fullgraph_server.workspace.settings_schema``. Run ``python scripts/settings.py``
after a change of the schema. It writes ``contributes.configuration`` in package.json, its texts in
package.nls.json, and the tables of docs/configuration.md. A test compares them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fullgraph_server.workspace.setting_types import ChoiceType, Setting
from fullgraph_server.workspace.settings_schema import EDITOR, PROGRAMS, PROJECT, SWITCHES, TARGET

ROOT = Path(__file__).parent.parent
MANIFEST = ROOT / "package.json"
TEXTS = ROOT / "package.nls.json"
PAGE = ROOT / "docs" / "configuration.md"

_PREFIX = "configuration."
_VSCODE = tuple(setting for setting in EDITOR if setting.scope is not None)


def written() -> dict[Path, str]:
    """Return the text that each file should have, made from its text now."""
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    manifest["contributes"]["configuration"]["properties"] = {
        f"fullgraph.{setting.key}": _property(setting, order) for order, setting in enumerate(_VSCODE, 1)
    }
    texts = json.loads(TEXTS.read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8")
    page = _between_markers(page, "vscode", _table(_VSCODE, "fullgraph."))
    page = _between_markers(page, "pyproject", _pyproject_tables())
    return {MANIFEST: _json(manifest), TEXTS: _json(_with_texts(texts)), PAGE: page}


def _property(setting: Setting, order: int) -> dict[str, Any]:
    """Return a property of ``contributes.configuration``, in VS Code's format.

    VS Code's page about contribution points describes the format.
    """
    json_type = dict(setting.type.json)
    text = f"{_PREFIX}{setting.key}"
    enum = json_type.get("enum", [])
    descriptions = [f"%{text}.{value}%" for value in enum]
    if setting.default is None:
        json_type["type"] = [json_type["type"], "null"]
        if enum:
            json_type["enum"] = [None, *enum]
            descriptions.insert(0, f"%{text}.default%")
    return {
        **json_type,
        **({"markdownEnumDescriptions": descriptions} if descriptions else {}),
        "default": setting.default,
        "scope": setting.scope,
        "order": order,
        "markdownDescription": f"%{text}%",
    }


def _with_texts(texts: dict[str, str]) -> dict[str, str]:
    """Replace the texts of the settings, at the place where the first of these is now."""
    first = next(index for index, key in enumerate(texts) if key.startswith(_PREFIX))
    others = [(key, text) for key, text in texts.items() if not key.startswith(_PREFIX)]
    return dict([*others[:first], *_texts(), *others[first:]])


def _texts() -> Iterator[tuple[str, str]]:
    for setting in _VSCODE:
        key = f"{_PREFIX}{setting.key}"
        options = setting.type.options if isinstance(setting.type, ChoiceType) else ()
        without = f" Left empty: {setting.unset}." if setting.unset and not options else ""
        yield key, setting.description + without
        if options and setting.unset:
            yield f"{key}.default", f"{setting.unset}."
        for option in options:
            yield f"{key}.{option.value}", option.description


def _pyproject_tables() -> str:
    return "\n".join(
        [
            "In `[tool.fullgraph]`:\n",
            _table(PROJECT),
            f"In each of `[[tool.fullgraph.targets]]`, with exactly one of {_listed(PROGRAMS)}:\n",
            _table(TARGET),
            "Switches, in `[tool.fullgraph]` for all targets, or in one of them:\n",
            _table(SWITCHES),
        ]
    )


def _table(settings: Iterable[Setting], prefix: str = "") -> str:
    rows = ["| key | value | if not set | |", "|---|---|---|---|"]
    for setting in settings:
        kind, lines = setting.type, [setting.description]
        value = kind.name or kind.wanted
        if isinstance(kind, ChoiceType):
            value = _listed(_value(option.value) for option in kind.options)
            lines += [f"`{_value(option.value)}`: {option.description}" for option in kind.options]
        unset = f"`{_value(setting.default)}`" if setting.default not in (None, "", {}) else setting.unset
        cells = (f"`{prefix}{setting.key}`", value, unset, "<br>".join(lines))
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join([*rows, ""])


def _value(value: object) -> str:
    """Write a value as TOML and JSON do."""
    return json.dumps(value)


def _listed(values: Iterable[str]) -> str:
    *most, last = (f"`{value}`" for value in values)
    return f"{', '.join(most)} or {last}"


def _between_markers(page: str, name: str, text: str) -> str:
    """Replace the text between the markers ``name`` of a page.

    The markers are ``<!-- settings: name -->`` and ``<!-- /settings -->``. Raises ``ValueError`` unless the
    page has exactly one such pair.
    """
    pattern = re.compile(rf"(<!-- settings: {name} -->\n).*?(<!-- /settings -->)", re.DOTALL)
    changed, count = pattern.subn(lambda match: f"{match[1]}\n{text}\n{match[2]}", page)
    if count != 1:
        raise ValueError(f"{PAGE.name} needs one pair of markers for the settings of {name}")
    return changed


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
