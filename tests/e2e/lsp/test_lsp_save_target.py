"""The server over real stdio: a script with arguments becomes a target of pyproject.toml."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

TABLE = """\
[[tool.fullgraph.targets]]
name = "train.py --steps 3"
script = "train.py"
args = ["--steps", "3"]
"""


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> None:
    await lsp_client.open_program(tmp_path_factory.mktemp("saving") / "train.py", "import torch\n")
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def edits(editor: Editor) -> list[types.WorkspaceEdit]:
    """The edits that the server asks for. The editor says that it made them."""
    asked: list[types.WorkspaceEdit] = []
    editor.protocol.fm.features.pop(types.WORKSPACE_APPLY_EDIT, None)

    @editor.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        asked.append(params.edit)
        return types.ApplyWorkspaceEditResult(applied=True)

    return asked


def inserted(edit: types.WorkspaceEdit) -> tuple[str, types.Position]:
    """The text of an edit that inserts into one file, and the place of it."""
    texts = [item for item in edit.document_changes or () if isinstance(item, types.TextDocumentEdit)]
    (change,) = texts[0].edits if texts else next(iter(edit.changes.values()))
    assert change.range.start == change.range.end
    return change.new_text, change.range.start


async def test_the_client_makes_the_edit_and_the_target_is_there_once_it_is_saved(
    editor: Editor, edits: list[types.WorkspaceEdit]
) -> None:
    target = f"{editor.file} -- --steps 3"
    assert await editor.command("fullgraph.saveTarget", target) == "train.py --steps 3"
    assert inserted(edits.pop()) == (TABLE, types.Position(0, 0))
    project = str(editor.file.parent / "pyproject.toml")
    assert not await asyncio.to_thread(os.path.exists, project), "the server writes nothing itself"

    before = "[project]  # mine\nname = 'x'"
    await asyncio.to_thread(Path(project).write_text, before)
    await editor.command("fullgraph.saveTarget", target)
    text, place = inserted(edits.pop())
    assert (text, place) == (f"\n\n{TABLE}", types.Position(1, len("name = 'x'")))
    await asyncio.to_thread(Path(project).write_text, before + text)
    listed = await editor.ask("fullgraph/targets")
    assert next((item["label"], item["configured"]) for item in listed) == ("train.py --steps 3", True)

    with pytest.raises(Exception, match=r"pyproject\.toml has a target train\.py --steps 3 already"):
        await editor.command("fullgraph.saveTarget", target)
    assert edits == []
