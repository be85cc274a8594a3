"""The server over real stdio, with the real compiler: which graph each line is in."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

LAYERS = """\
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        y = self.linear(x)
        return y.sigmoid() * x
"""
MODEL = """\
import torch
from layers import Gate

gate = Gate()


def gated(x):
    return gate(x)


@torch.compile
def step(x):
    x = gated(
        x.sin(),
    )
    print("half way")
    return gated(x)


@torch.compile
def skipped(rows):
    total = rows[0]
    for row in rows:
        print("a row")
        total = total + row
    return total


for batch in (4, 6):
    step(torch.ones(batch, 8))
skipped(torch.ones(2, 8))
"""
EXPECTED = {8: "12", 13: "1", 14: "1", 15: "1", 16: "e", 17: "2", **dict.fromkeys(range(22, 27), "e")}


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    folder = tmp_path_factory.mktemp("graphs")
    lsp_client.file, lsp_client.layers = folder / "model.py", folder / "layers.py"
    await asyncio.to_thread(lsp_client.layers.write_text, LAYERS)
    await asyncio.to_thread(lsp_client.file.write_text, MODEL)
    lsp_client.set_configuration({"fullgraph": {"activeInterpreter": sys.executable}})
    await lsp_client.open_folder(folder)
    lsp_client.uri = lsp_client.open(lsp_client.file)
    await lsp_client.command("fullgraph.run", str(lsp_client.file))
    yield
    await lsp_client.shutdown_session()


async def items(editor: Editor, uri: str) -> list[dict[str, Any]]:
    return await editor.ask("fullgraph/graphLines", textDocument={"uri": uri})


async def lines(editor: Editor, uri: str) -> dict[int, str]:
    """By line, counted from 1, the numbers of its graphs, and ``e`` for one that ran eagerly."""
    return {
        line + 1: "".join(map(str, item["graphs"])) + "e" * item["eager"]
        for item in await items(editor, uri)
        for line in range(item["startLine"], item["endLine"] + 1)
    }


async def test_lines_of_each_graph_and_those_that_run_eagerly(editor: Editor) -> None:
    assert await lines(editor, editor.uri) == EXPECTED
    by_line = {item["startLine"] + 1: item for item in await items(editor, editor.uri)}
    assert by_line[8]["label"].splitlines() == [
        "graph 1 of 2 · compilations 0/0, 0/1 · `step`",
        "graph 2 of 2 · compilations 1/0, 1/1 · `step`",
    ]
    assert by_line[16]["reason"].startswith("runs eagerly, since the graph breaks here: ")
    assert by_line[22]["reason"].startswith("the whole of `skipped` runs eagerly: ")


async def test_a_file_that_was_only_imported_has_its_lines_too(editor: Editor) -> None:
    uri = editor.open(editor.layers)
    assert await lines(editor, uri) == {10: "12", 11: "12"}


async def test_lines_are_where_the_text_is_now(editor: Editor) -> None:
    editor.edit(editor.uri, f"# new\n{MODEL}")
    assert await lines(editor, editor.uri) == {line + 1: marks for line, marks in EXPECTED.items()}
    editor.edit(editor.uri, MODEL.replace("half way", "there"))
    assert await lines(editor, editor.uri) == {line: marks for line, marks in EXPECTED.items() if line != 16}
    editor.edit(editor.uri, MODEL)
    assert await lines(editor, editor.uri) == EXPECTED


async def test_what_is_no_file_has_no_lines(editor: Editor) -> None:
    item = types.TextDocumentItem("untitled:Untitled-1", types.LanguageKind.Python, 1, MODEL)
    editor.text_document_did_open(types.DidOpenTextDocumentParams(item))
    assert await items(editor, item.uri) == []


async def test_a_target_that_was_cleared_has_none_any_more(editor: Editor) -> None:
    await editor.command("fullgraph.clear")
    assert await items(editor, editor.uri) == []
