"""The server over real stdio: a notebook's cells are one program, whose findings are on the cells."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsp_notebook import Notebook
from lsp_session import CONFIG, Editor
from lsprotocol import types
from pygls.exceptions import JsonRpcException

CELLS = (
    "%matplotlib inline\nimport torch",
    """\
@torch.compile
def step(x):
    x = x.sin()
    print("woo")
    return x * 2""",
    "await __import__('asyncio').sleep(0)\nstep(torch.ones(4))",
    "raise SystemExit(3)",
)


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor) -> AsyncIterator[None]:
    yield
    if lsp_client.capabilities is not None:
        await lsp_client.shutdown_session()


async def opened(editor: Editor, folder: Path, *cells: str) -> Notebook:
    """A notebook that the editor shows."""
    editor.set_configuration({"fullgraph": {"activeInterpreter": sys.executable}})
    await editor.open_folder(folder)
    return Notebook(editor, folder / "model.ipynb", *cells)


def edits_of(action: types.CodeAction) -> dict[str, list[Any]]:
    """The edits of an action by document."""
    assert action.edit is not None
    changes = action.edit.document_changes or []
    return {item.text_document.uri: list(item.edits) for item in changes if hasattr(item, "edits")}


async def test_a_notebook_runs_up_to_a_cell(editor: Editor, tmp_path: Path) -> None:
    notebook = await opened(editor, tmp_path, *CELLS)
    answer = await editor.command("fullgraph.run", notebook.cell(2))
    assert (answer["status"], answer["target"]) == ("finished", str(tmp_path / "model.ipynb"))
    assert notebook.places(1) == [("GB0059", 3)]
    assert not notebook.shown(0)
    found = notebook.shown(1)[0]
    assert (found.range.start.character, found.range.end.line) == (4, 3)

    hover = await editor.hover(notebook.cell(1), 3, 6)
    assert hover is not None
    assert hover.range == found.range
    lenses = await editor.lenses(notebook.cell(1))
    assert [line for line, _, _ in lenses] == [1]
    assert await editor.lenses(notebook.cell(0)) == []
    hints = await editor.text_document_inlay_hint_async(
        types.InlayHintParams(
            types.TextDocumentIdentifier(notebook.cell(1)),
            types.Range(types.Position(0, 0), types.Position(5, 0)),
        )
    )
    assert [(hint.position.line, hint.label) for hint in hints or ()] == [(1, ": f32[4]"), (2, ": f32[4]")]
    lines = await editor.ask("fullgraph/graphLines", textDocument={"uri": notebook.cell(1)})
    assert (lines[0]["startLine"], lines[0]["endLine"]) == (2, 2)

    # What a cell further down does is not known, and changes nothing.
    notebook.edit(3, "x = 1")
    notebook.edit(1, CELLS[1].replace("def", "# first\ndef"))
    await editor.until(lambda: notebook.places(1) == [("GB0059", 4)])
    stale = [status.stale for status in editor.statuses]
    assert stale[-1]
    assert stale.count(True) == 1
    assert "(stale)" in (await editor.lenses(notebook.cell(1)))[0][1]
    notebook.edit(1, CELLS[1])
    notebook.edit(2, "step(torch.ones(5))")
    assert "(stale)" not in (await editor.lenses(notebook.cell(1)))[0][1]

    notebook.insert(0, "new", "# above\n\nX = 1")
    await editor.until(lambda: notebook.places(1) == [("GB0059", 3)])
    assert not notebook.shown("new")
    answer = await editor.command("fullgraph.run", notebook.cell(3))
    assert answer["status"] == "finished"
    assert notebook.places(1) == [("GB0059", 3)]
    notebook.close()
    await editor.until(lambda: not notebook.shown(1))


async def test_a_fix_is_an_edit_of_its_cell(editor: Editor, tmp_path: Path) -> None:
    notebook = await opened(editor, tmp_path, *CELLS)
    await editor.command("fullgraph.run", notebook.cell(2))
    await editor.command("fullgraph.tryFixes", str(tmp_path / "model.ipynb"))
    (found,) = notebook.shown(1)
    actions = await editor.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(notebook.cell(1)), found.range, types.CodeActionContext([found])
        )
    )
    by_title = {action.title.partition(" (")[0]: action for action in actions or ()}
    ((cell, edits),) = edits_of(by_title["Fix: Compile only the part of `step` that computes"]).items()
    assert (cell, edits[0].range.start) == (notebook.cell(1), types.Position(1, 0))
    assert edits[0].new_text.startswith("def compiled_step(x):\n    x = x.sin()\n    return x * 2\n")
    assert "".join(edit.new_text for edit in edits).count("print") == 0
    ignored = by_title["Ignore GB0059 on this line"].edit
    assert ignored is not None
    assert ignored.changes is not None
    ((uri, (edit,)),) = ignored.changes.items()
    assert (uri, edit.range.start.line) == (notebook.cell(1), 3)


@pytest.mark.slow
async def test_kernels_are_those_of_cells(editor: Editor, tmp_path: Path) -> None:
    notebook = await opened(editor, tmp_path, *CELLS)
    await editor.command("fullgraph.kernels", notebook.cell(2))
    sine = types.TextDocumentIdentifier(notebook.cell(1)), types.Position(2, 12)
    (link,) = await editor.text_document_implementation_async(types.ImplementationParams(*sine)) or ()
    assert isinstance(link, types.LocationLink)
    assert link.target_uri.startswith("fullgraph-kernel:")
    assert link.origin_selection_range is not None
    assert link.origin_selection_range.start.line == 2
    kernel = {"textDocument": {"uri": link.target_uri}, "position": {"line": 0, "character": 0}}
    kernel["position"]["line"] = link.target_range.start.line
    back = await editor.ask("fullgraph/counterparts", **kernel, among=[notebook.cell(1)])
    assert [(item["uri"], item["range"]["start"]["line"]) for item in back] == [(notebook.cell(1), 2)]


async def test_example_calls_work_in_cells(editor: Editor, tmp_path: Path) -> None:
    example = "# fullgraph: step(f32[8])\ndef step(x):\n    print(1)\n    return x.sin()"
    notebook = await opened(editor, tmp_path, "import torch", example, "raise SystemExit(3)")
    (lens,) = [lens for lens in await editor.lenses(notebook.cell(1)) if lens[2] == "fullgraph.run"]
    assert lens[0] == 1
    answer = await editor.command("fullgraph.run", str(tmp_path / "model.ipynb::step"))
    assert answer["status"] == "finished"
    assert notebook.places(1) == [("GB0059", 2)]


async def test_what_is_no_program_is_refused_in_a_sentence(editor: Editor, tmp_path: Path) -> None:
    notebook = await opened(editor, tmp_path)
    with pytest.raises(JsonRpcException, match="it is a notebook without code cells"):
        await editor.command("fullgraph.run", notebook.uri)
    notebook.insert(0, "new", "import torch")
    answer = await editor.command("fullgraph.run", notebook.cell("new"))
    assert answer["status"] == "finished"
    notebook.insert(1, "foreign", "puts 1", "ruby")
    with pytest.raises(JsonRpcException, match="its code cell 2 is in ruby, and only Python can be run"):
        await editor.command("fullgraph.run", notebook.cell("foreign"))
