"""The published JSON Schemas: those of the shapes, and those of what commands write."""

from __future__ import annotations

import io
import json
import runpy
from pathlib import Path

import pytest
from fullgraph_compiler.facts import Depth, Fact, RunFinished
from fullgraph_server.cli.formats.checked import Checked
from fullgraph_server.cli.formats.json import write
from fullgraph_server.report.fold import fold
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace
from hostile import facts
from json_schemas import check_schema

ROOT = Path(__file__).parents[3]
FILE = "/w/model.py"


def test_the_schemas_are_those_of_the_shapes() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "json_schema.py"))
    for path, text in script["schemas"]().items():
        assert path.read_text(encoding="utf-8") == text, "run `python scripts/json_schema.py`"


@pytest.mark.parametrize(
    ("depth", "schema"), [("graph", "report"), ("stages", "report"), ("times", "times"), ("speed", "speed")]
)
@pytest.mark.parametrize("has_run", [True, False])
def test_a_report_is_as_its_schema_says(depth: Depth, schema: str, has_run: bool) -> None:
    source = SourceFile(FILE, "import torch\nx = y\n")
    workspace = Workspace(Path("/w"), {FILE: source}.get)
    told: list[Fact] = []
    if has_run:
        told = [item for item in facts("x", FILE, "0/0", "0/1") if not isinstance(item, RunFinished)]
        told.append(RunFinished("finished", 1.0))
    report = fold(FILE, 1, "2.13.0", told, workspace, FILE, depth)
    out = io.StringIO()
    write([Checked(script_target(FILE, Path("/w")), report, workspace)], 1, out)
    check_schema(schema, json.loads(out.getvalue()))
