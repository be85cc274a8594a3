"""Messages with rows of a notebook's program become messages with rows of its cells."""

from __future__ import annotations

from typing import Any

from fullgraph_server.client.notebook_protocol import diagnostics_of_cells, in_cells
from fullgraph_server.client.notebooks import OpenNotebook, ShownCell

URI = "file:///w/model.ipynb"
FIRST, SECOND, LAST = (f"vscode-notebook-cell:/w/model.ipynb#W{number}" for number in range(3))
NOTEBOOK = OpenNotebook(
    URI,
    7,
    (
        ShownCell(FIRST, 1, "python", "a = 1\nb = 2"),
        ShownCell(SECOND, 2, "python", "c = 3\r\nd = '\U0001f600'"),
        ShownCell(LAST, 3, "python", "e = 5"),
    ),
)


def place(line: int, start: int, last: int, end: int) -> dict[str, Any]:
    """A range."""
    return {"start": {"line": line, "character": start}, "end": {"line": last, "character": end}}


def edited(*edits: dict[str, Any]) -> list[Any]:
    """The edits of an action by document; empty if there is no such action."""
    document = {"uri": URI, "version": 7}
    action = {"title": "Fix", "edit": {"documentChanges": [{"textDocument": document, "edits": [*edits]}]}}
    (answer,) = in_cells({"id": 1, "result": [action]}, [NOTEBOOK], FIRST)["result"] or (None,)
    return answer["edit"]["documentChanges"] if answer else []


def test_what_is_in_another_cell_is_left_out() -> None:
    lenses = [{"range": place(line, 0, line, 1), "command": {"arguments": [URI]}} for line in range(5)]
    answer = in_cells({"id": 1, "result": lenses}, [NOTEBOOK], SECOND)
    assert [lens["range"]["start"]["line"] for lens in answer["result"]] == [0, 1]
    hints = [{"position": {"line": line, "character": 3}} for line in range(5)]
    assert in_cells({"id": 1, "result": hints}, [NOTEBOOK], LAST)["result"] == [
        {"position": {"line": 0, "character": 3}}
    ]
    assert in_cells({"id": 1, "result": {"range": place(0, 0, 0, 1)}}, [NOTEBOOK], LAST)["result"] is None
    lines = [{"startLine": 1, "endLine": 3, "graphs": [1]}, {"startLine": 4, "endLine": 4, "graphs": []}]
    assert in_cells({"id": 1, "result": lines}, [NOTEBOOK], SECOND)["result"] == [
        {"startLine": 0, "endLine": 1, "graphs": [1]}
    ]


def test_places_are_in_their_own_documents() -> None:
    other = {"uri": "file:///w/a.py", "range": place(9, 0, 9, 1)}
    own = {"uri": URI, "range": place(3, 0, 3, 1)}
    link = {
        "originSelectionRange": place(4, 0, 4, 1),
        "targetUri": URI,
        "targetRange": place(2, 0, 2, 1),
        "targetSelectionRange": place(2, 0, 2, 1),
    }
    answer = in_cells({"id": 1, "result": [other, own, link]}, [NOTEBOOK], LAST)["result"]
    assert answer[0] == other
    assert answer[1] == {"uri": SECOND, "range": place(1, 0, 1, 1)}
    assert answer[2] == {
        "originSelectionRange": place(0, 0, 0, 1),
        "targetUri": SECOND,
        "targetRange": place(0, 0, 0, 1),
        "targetSelectionRange": place(0, 0, 0, 1),
    }


def test_edits_are_those_of_cells() -> None:
    whole_lines = {"range": place(1, 0, 2, 0), "newText": "b = 3\n"}
    within = {"range": place(2, 0, 3, 0), "newText": ""}
    assert edited(whole_lines, within) == [
        {
            "textDocument": {"uri": FIRST, "version": 1},
            "edits": [{"range": place(1, 0, 1, 5), "newText": "b = 3"}],
        },
        {
            "textDocument": {"uri": SECOND, "version": 2},
            "edits": [{"range": place(0, 0, 1, 0), "newText": ""}],
        },
    ]
    last = {"range": place(3, 0, 4, 0), "newText": "d = 4\n"}
    assert edited(last)[0]["edits"] == [{"range": place(1, 0, 1, 8), "newText": "d = 4"}]


def test_a_text_between_cells_goes_to_the_one_that_it_is_set_off_from() -> None:
    between = place(2, 0, 2, 0)
    (above,) = edited({"range": between, "newText": "\nx = 1\n"})
    assert above["textDocument"]["uri"] == FIRST
    assert above["edits"] == [{"range": place(1, 5, 1, 5), "newText": "\n\nx = 1"}]
    (below,) = edited({"range": between, "newText": "@f\n"})
    assert below["textDocument"]["uri"] == SECOND
    assert below["edits"] == [{"range": place(0, 0, 0, 0), "newText": "@f\n"}]


def test_an_edit_of_two_cells_is_not_offered() -> None:
    assert edited({"range": place(1, 0, 3, 0), "newText": "x\ny\n"}) == []


def test_each_cell_gets_its_diagnostics() -> None:
    found = [{"range": place(line, 0, line, 1), "message": str(line)} for line in (1, 2, 4)]
    params = {"uri": URI, "version": 7, "diagnostics": found}
    told = {each["uri"]: each for each in diagnostics_of_cells(params, [NOTEBOOK])}
    assert {uri: [item["message"] for item in each["diagnostics"]] for uri, each in told.items()} == {
        FIRST: ["1"],
        SECOND: ["2"],
        LAST: ["4"],
    }
    assert (told[LAST]["version"], told[LAST]["diagnostics"][0]["range"]) == (3, place(0, 0, 0, 1))
    assert list(diagnostics_of_cells(params, [])) == []
    other = {"uri": "file:///w/a.py", "diagnostics": found}
    assert list(diagnostics_of_cells(other, [NOTEBOOK])) == list(diagnostics_of_cells(other, [])) == [other]
