"""Writer of the analyses of ``fullgraph_server.analyses`` for VS Code and README.

Run ``python scripts/analyses.py`` after a change of the registry. It writes their commands and menus in
package.json, the titles in package.nls.json, and the table of the README; ``scripts/protocol_types.py``
writes them for the client. A test compares them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from fullgraph_server.analyses.analysis import Analysis, EditorAnalysis
from fullgraph_server.analyses.registry import analyses

ROOT = Path(__file__).parent.parent
MANIFEST = ROOT / "package.json"
TEXTS = ROOT / "package.nls.json"
PAGE = ROOT / "README.md"

_IDLE = r"view == fullgraph.targets && viewItem =~ /^target\.idle/"
_IDLE_IN_ONE_PROCESS = r"view == fullgraph.targets && viewItem =~ /^target\.idle\.\w+\.\w+$/"


def written() -> dict[Path, str]:
    """Return the text that each file should have, made from its text now."""
    shown = [(item, item.in_editor) for item in analyses().values() if item.in_editor is not None]
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    texts = json.loads(TEXTS.read_text(encoding="utf-8"))
    contributed = manifest["contributes"]
    _add(contributed["commands"], [_command(editor) for _, editor in shown])
    hidden = [{"command": _id(editor), "when": "false"} for _, editor in shown if not editor.in_palette]
    _add(contributed["menus"]["commandPalette"], hidden)
    for menu in ("analyses", "kernels"):
        entries = [(item, editor) for item, editor in shown if editor.menu == menu]
        others = contributed["menus"][f"fullgraph.{menu}"]
        contributed["menus"][f"fullgraph.{menu}"] = [
            *(
                _menu_entry(item, editor, f"1_{menu}@{place}")
                for place, (item, editor) in enumerate(entries, 1)
            ),
            *(entry for entry in others if entry["command"] not in {_id(editor) for _, editor in shown}),
        ]
    texts.update((f"command.{editor.client}", editor.title) for _, editor in shown)
    return {MANIFEST: _json(manifest), TEXTS: _json(texts), PAGE: _page()}


def _id(editor: EditorAnalysis) -> str:
    return f"fullgraph.{editor.client}"


def _command(editor: EditorAnalysis) -> dict[str, str]:
    return {"command": _id(editor), "title": f"%command.{editor.client}%", "category": "%category%"}


def _menu_entry(analysis: Analysis, editor: EditorAnalysis, group: str) -> dict[str, str]:
    when = _IDLE_IN_ONE_PROCESS if analysis.in_one_process else _IDLE
    return {"command": _id(editor), "when": when, "group": group}


def _add(entries: list[dict[str, Any]], wanted: list[dict[str, str]]) -> None:
    """Update the entries of commands in place, so that icons stay; append new ones."""
    of_command = {entry["command"]: entry for entry in entries}
    for entry in wanted:
        if entry["command"] in of_command:
            of_command[entry["command"]].update(entry)
        else:
            entries.append(entry)


def _page() -> str:
    """Return the README with the table of analyses between its markers."""
    rows = ["| command | in VS Code | what it answers |", "|---|---|---|"]
    for analysis in analyses().values():
        words, editor = analysis.on_command_line, analysis.in_editor
        if words is not None:
            link = f" [More]({words.page})" if words.page else ""
            title = editor.title if editor else ""
            rows.append(f"| `fullgraph {words.name} train.py` | {title} | {words.answer}{link} |")
    pattern = re.compile(r"(<!-- analyses -->\n).*?(<!-- /analyses -->)", re.DOTALL)
    table = "\n".join(rows)
    page, count = pattern.subn(
        lambda match: f"{match[1]}\n{table}\n\n{match[2]}", PAGE.read_text(encoding="utf-8")
    )
    if count != 1:
        raise ValueError(f"{PAGE.name} needs one pair of markers for the analyses")
    return page


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
