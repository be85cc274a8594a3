"""The server over real stdio, with the real compiler: everything that is known of a line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import pytest_lsp
from lsp_session import CONFIG, Editor

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = """\
import torch

# fullgraph: Scaled()(f32[10])
# fullgraph: Scaled()(f32[12])
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 3.0

    def forward(self, x):
        y = x.sin() * self.scale
        print("woo")
        return y + x
"""
DEF, SIN, PRINT = 9, 10, 11


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def session(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    await lsp_client.open_program(tmp_path_factory.mktemp("line") / "model.py", PROGRAM)
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="module")
async def editor(session: Editor) -> AsyncIterator[Editor]:
    yield session


async def asked(editor: Editor, line: int) -> dict[str, Any]:
    position = {"line": line, "character": 0}
    return await editor.ask("fullgraph/atLine", textDocument={"uri": editor.uri}, position=position)


def told(item: dict[str, Any], kind: str) -> list[tuple[str, str]]:
    """The labels and descriptions of a section."""
    sections = [section for section in item["sections"] if section["kind"] == kind]
    return [(entry["label"], entry["description"]) for section in sections for entry in section["entries"]]


async def test_everything_that_a_run_told_of_a_line(editor: Editor) -> None:
    before = await asked(editor, SIN)
    assert before["sections"] == []
    assert "no run has imported this file" in before["nothing"]

    await editor.command("fullgraph.run", f"{editor.file}::Scaled")
    item = await asked(editor, SIN)
    assert "nothing" not in item
    assert told(item, "graphs") == [("Graph 1 of 2", "compilations 0/0, 0/1 · `Scaled.forward`")]
    assert told(item, "shapes") == [("y", "f32[s77]")]
    guards = told(item, "guards")
    assert guards[0][0] == "x"
    assert guards[0][1].startswith("failed 2 times · torch.float32, shape [10]")
    assert ("self.scale", "is 3.0") in guards
    [recompiled] = told(item, "findings")
    assert "size of `x` at dimension 0 was 10, is now 12" in recompiled[0]
    history = dict(told(item, "compilations"))
    assert history["Compilation 0/1"].startswith("size of `x` at dimension 0 was 10, is now 12 · ")

    item = await asked(editor, PRINT)
    assert told(item, "findings") == [("`print` breaks the graph", "GB0059 ×2")]
    [finding] = item["sections"][0]["entries"]
    assert "`print`" in finding["notes"][0]
    assert finding["severity"] == "warning"
    assert finding["location"]["uri"] == editor.uri
    assert finding["location"]["range"]["start"]["line"] == PRINT
    [(eager, _)] = told(item, "graphs")
    assert eager.startswith("Runs eagerly, since the graph breaks here: ")

    assert [section["kind"] for section in (await asked(editor, DEF))["sections"]][-1] == "compilations"
    assert "compiled nothing here" in (await asked(editor, 0))["nothing"]


async def test_an_edited_line_says_so(editor: Editor) -> None:
    editor.edit(editor.uri, PROGRAM.replace("import torch", "import torch  # new"))
    assert "edited since the run" in (await asked(editor, 0))["nothing"]
