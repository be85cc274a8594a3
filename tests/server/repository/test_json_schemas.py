"""The published JSON Schemas: those of the shapes, and those of what commands write."""

from __future__ import annotations

import io
import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.facts import Depth, Fact, RunFinished
from fullgraph_server.cli.exports.page import TRACE_ITEM, _PageEdge
from fullgraph_server.cli.formats.checked import CheckedReport
from fullgraph_server.cli.formats.json import write
from fullgraph_server.commands.performance import PERFORMANCE_ITEM
from fullgraph_server.commands.report import LAYER
from fullgraph_server.features.artifacts import ArtifactDocuments
from fullgraph_server.protocol.wire import camel_case
from fullgraph_server.report.fold import fold
from fullgraph_server.shapes.shape import JsonShape, members, replaced
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace
from hostile import facts
from json_schemas import check_schema
from lsprotocol.types import Location
from pydantic import ConfigDict, TypeAdapter

ROOT = Path(__file__).parents[3]
FILE = "/w/model.py"
ANY = ConfigDict(arbitrary_types_allowed=True)


def test_the_schemas_are_those_of_the_shapes() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "json_schema.py"))
    for path, text in script["schemas"]().items():
        assert path.read_text(encoding="utf-8") == text, "run `python scripts/json_schema.py`"


def reported(depth: Depth, *, has_run: bool) -> CheckedReport:
    source = SourceFile(FILE, "import torch\nx = y\n")
    workspace = Workspace(Path("/w"), {FILE: source}.get)
    told: list[Fact] = []
    if has_run:
        told = [item for item in facts("x", FILE, "0/0", "0/1") if not isinstance(item, RunFinished)]
        told.append(RunFinished("finished", 1.0))
    report = fold(FILE, 1, "2.13.0", told, workspace, FILE, depth)
    return CheckedReport(script_target(FILE, Path("/w")), report, workspace)


@pytest.mark.parametrize(
    ("depth", "schema"), [("graph", "report"), ("stages", "report"), ("times", "times"), ("speed", "speed")]
)
@pytest.mark.parametrize("has_run", [True, False])
def test_a_report_is_as_its_schema_says(depth: Depth, schema: str, has_run: bool) -> None:
    out = io.StringIO()
    write([reported(depth, has_run=has_run)], 1, out)
    check_schema(schema, json.loads(out.getvalue()))


@pytest.mark.parametrize("shape", [TRACE_ITEM, PERFORMANCE_ITEM, LAYER], ids=lambda shape: shape.name)
@pytest.mark.parametrize("has_run", [True, False])
def test_the_client_gets_what_its_types_say(shape: JsonShape, has_run: bool) -> None:
    checked = reported("speed", has_run=has_run)
    edge = _PageEdge(checked.report, ArtifactDocuments(), checked.workspace)
    check_types(shape, shape.object(checked.report, edge))


def check_types(shape: JsonShape, told: dict[str, Any]) -> None:
    for key in shape.keys:
        of, value = shape.annotation(key), told.get(camel_case(key.name))
        if value is None:
            assert type(None) in members(of), (shape.name, key.name)
        elif key.shape is None:
            adapter = TypeAdapter(replaced(of, lambda item: Location if item is Span else item), config=ANY)
            adapter.validate_python(value, strict=True)
        else:
            for item in value if isinstance(value, list) else [value]:
                check_types(key.shape, item)
