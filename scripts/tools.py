"""Writer of the tools of ``fullgraph mcp`` for VS Code.

They go into ``contributes.languageModelTools`` in package.json. Run ``python scripts/tools.py`` after a
change of a tool. A test compares them.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from fullgraph_server.cli.mcp import create_server
from mcp_types import Tool

MANIFEST = Path(__file__).parent.parent / "package.json"


def written() -> str:
    """Return the text that package.json should have, made from its text now."""
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    tools = asyncio.run(create_server(None).list_tools())
    manifest["contributes"]["languageModelTools"] = [_contribution(tool) for tool in tools]
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def _contribution(tool: Tool) -> dict[str, Any]:
    first, *rest = tool.name.split("_")
    name = first + "".join(part.title() for part in rest)
    return {
        "name": f"fullgraph_{tool.name}",
        "displayName": f"%tool.{name}%",
        "modelDescription": " ".join((tool.description or "").split()),
        "toolReferenceName": f"fullgraph{name[0].upper()}{name[1:]}",
        "canBeReferencedInPrompt": True,
        "icon": "$(symbol-event)",
        "when": "isWorkspaceTrusted",
        "inputSchema": _without_titles(tool.input_schema),
    }


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Leave out what pydantic adds: titles that repeat the names."""
    properties = {
        name: {key: value for key, value in item.items() if key != "title"}
        for name, item in schema["properties"].items()
    }
    return {"type": "object", "properties": properties, "required": schema["required"]}


if __name__ == "__main__":
    MANIFEST.write_text(written(), encoding="utf-8")
