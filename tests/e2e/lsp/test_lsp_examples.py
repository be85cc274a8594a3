"""Example calls over the protocol: from what a run saw, and while they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor
from lsprotocol import types

PROGRAM = """\
import torch
from torch import nn


@torch.compile(backend="eager")
def scaled(x, factor, *, bias=None):
    return x * factor if bias is None else x * factor + bias


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        print("woo")
        return self.linear(x)


def unused(x):
    return x


if __name__ == "__main__":
    for size in (3, 5):
        scaled(torch.randn(size, 2), 2.0, bias=torch.randn(2))
    torch.compile(Net(8), backend="eager")(torch.randn(2, 8))
"""

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> None:
    file: Path = tmp_path_factory.mktemp("examples") / "program.py"
    await lsp_client.open_program(file, PROGRAM)
    await lsp_client.command("fullgraph.run", str(file))
    yield
    await lsp_client.shutdown_session()


def row_of(text: str, line: str) -> int:
    return text.splitlines().index(line)


async def added(editor: Editor, line: str) -> list[str]:
    place = types.Position(row_of(PROGRAM, line), 4)
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(editor.uri), types.Range(place, place), types.CodeActionContext([])
    )
    actions = await editor.text_document_code_action_async(params)
    own = [item for item in actions or () if item.title == "Add example calls from the last run"]
    return [edit.new_text for action in own for edit in action.edit.changes[editor.uri]]


async def test_calls_that_a_run_saw_are_offered_on_a_header(editor: Editor) -> None:
    assert await added(editor, "def scaled(x, factor, *, bias=None):") == [
        "# fullgraph: scaled(f32[3, 2], 2.0, bias=f32[2])\n# fullgraph: scaled(f32[5, 2], 2.0, bias=f32[2])\n"
    ]
    assert await added(editor, "class Net(nn.Module):") == ["# fullgraph: Net(8)(f32[2, 8])\n"]
    assert await added(editor, "def unused(x):") == []


async def test_they_are_completed_and_mistakes_are_told_while_typing(editor: Editor) -> None:
    line = "# fullgraph: scale(f32[3], 2)"
    text = PROGRAM.replace("@torch.compile", f"{line}\n@torch.compile")
    editor.edit(editor.uri, text)
    message = "`scale` is not defined in this file"
    await editor.until(lambda: message in str(editor.shown(editor.uri)))
    row = row_of(text, line)
    mistake = next(item for item in editor.shown(editor.uri).diagnostics if item.code == "example-call")
    assert mistake.range == types.Range(types.Position(row, 13), types.Position(row, 18))

    place = types.Position(row, len("# fullgraph: sca"))
    params = types.CompletionParams(types.TextDocumentIdentifier(editor.uri), place)
    items = await editor.text_document_completion_async(params)
    labels = [item.label for item in items]
    assert labels[0] == "scaled(f32[3, 2], 2.0, bias=f32[2])"
    assert {"scaled", "Net", "f32"} <= {*labels}

    hover = await editor.hover(editor.uri, row, 5)
    assert "`f32[8, 16]` is a tensor" in hover.contents.value
    editor.edit(editor.uri, PROGRAM)
    await editor.until(lambda: message not in str(editor.shown(editor.uri)))
