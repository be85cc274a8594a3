"""The code action that puts the calls that a run or a trace saw compiled above their functions."""

from __future__ import annotations

import pytest
from fullgraph_server.client.documents import ClientDocuments
from fullgraph_server.features.seen_calls import SeenCallActions
from fullgraph_server.report.model import Report, SeenCall
from lsprotocol import types
from pygls import uris
from pygls.workspace import Workspace

pytestmark = pytest.mark.portable

URI = "file:///w/model.py"
FILE = uris.to_fs_path(URI)
TEXT = """\
import torch

@torch.compile
@other
def f(
    x,
):
    y = x + 1
    return y

if True:
    class Net(Module):
        def forward(self, x):
            return x

# fullgraph: g(f32[9])
def g(x): return x
def plain(x): return x
"""
CALLS = (
    SeenCall("f", FILE, 5, "f(f32[10])", True),
    SeenCall("f", FILE, 5, "f(f32[12])", True),
    SeenCall("Net", FILE, 12, "Net()(f32[2])", True),
    SeenCall("g", FILE, 17, "g(f32[2])", True),
)


class Client:
    """Stands in for the server: has one open document."""

    def __init__(self, text: str = TEXT) -> None:
        self.workspace = Workspace("file:///w")
        item = types.TextDocumentItem(URI, types.LanguageKind.Python, 1, text)
        self.workspace.put_text_document(item)


def actions(
    row: int, *, text: str = TEXT, source: str = "", reports: tuple[Report, ...] = ()
) -> list[types.CodeAction]:
    """What is offered at a row, counted from 1; beside a diagnostic of a ``source``, if there is one."""
    place = types.Position(row - 1, 4)
    found = [types.Diagnostic(types.Range(place, place), "x", source=source)] if source else []
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(URI), types.Range(place, place), types.CodeActionContext(found)
    )
    told = reports or (Report("log", 1, calls=CALLS),)
    return list(SeenCallActions(ClientDocuments(Client(text)), lambda: told).actions(params))


def edited(action: types.CodeAction, text: str = TEXT) -> str:
    (edit,) = action.edit.changes[URI]
    lines = text.splitlines(keepends=True)
    assert edit.range.start == edit.range.end
    lines.insert(edit.range.start.line, edit.new_text)
    return "".join(lines)


@pytest.mark.parametrize("row", [3, 4, 5, 6, 7])
def test_calls_are_put_above_the_decorators_from_anywhere_in_the_header(row: int) -> None:
    (action,) = actions(row)
    assert (action.title, action.kind) == (
        "Add example calls from the last run",
        types.CodeActionKind.Refactor,
    )
    comments = "# fullgraph: f(f32[10])\n# fullgraph: f(f32[12])\n"
    assert edited(action) == TEXT.replace("@torch.compile\n", f"{comments}@torch.compile\n")


@pytest.mark.parametrize("row", [12, 13])
def test_those_of_a_module_stand_above_the_class_as_far_in_as_it_is(row: int) -> None:
    (action,) = actions(row)
    assert edited(action) == TEXT.replace("    class", "    # fullgraph: Net()(f32[2])\n    class")


@pytest.mark.parametrize("row", [1, 8, 14, 17, 18])
def test_nothing_is_offered_in_a_body_or_where_there_are_examples_or_no_calls(row: int) -> None:
    assert actions(row) == []


@pytest.mark.parametrize("row", [5, 8, 9])
def test_a_finding_offers_them_for_the_function_around_it(row: int) -> None:
    (action,) = actions(row, source="fullgraph")
    assert action.kind == types.CodeActionKind.QuickFix
    assert [item.source for item in action.diagnostics] == ["fullgraph"]
    assert "# fullgraph: f(f32[10])" in edited(action)
    assert actions(9, source="ruff") == []


def test_a_text_that_has_changed_gets_them_where_the_function_is_now() -> None:
    text = f"import os\n\n\n{TEXT}"
    (action,) = actions(8, text=text)
    assert edited(action, text) == text.replace(
        "@torch.compile\n", "# fullgraph: f(f32[10])\n# fullgraph: f(f32[12])\n@torch.compile\n"
    )
    assert actions(5, text=TEXT.replace("def f(", "def other(")) == []
    assert actions(5, text=TEXT.replace("import torch", "import (")) == []


def test_calls_of_a_trace_are_said_to_be_of_the_trace() -> None:
    (action,) = actions(5, reports=(Report("trace:/logs/job.log", 1, calls=CALLS),))
    assert action.title == "Add example calls from the trace"


def test_the_newest_report_that_knows_the_function_counts() -> None:
    reports = (
        Report("old", 1, calls=CALLS),
        Report("new", 3, calls=(SeenCall("f", FILE, 5, "f(f32[99])", True),)),
        Report("newest", 4),
    )
    (action,) = actions(5, reports=reports)
    assert action.edit.changes[URI][0].new_text == "# fullgraph: f(f32[99])\n"
    (action,) = actions(12, reports=reports)
    assert "Net()(f32[2])" in action.edit.changes[URI][0].new_text
