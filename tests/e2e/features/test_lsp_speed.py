"""The server over real stdio: the speed of compiled calls, as a report and on the lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor
from lsprotocol import types

# Small tensors and a graph break: the calls take longer than what they compute.
PROGRAM = """\
import torch


@torch.compile
def step(x, w):
    y = torch.relu(x @ w)
    largest = max(y.sum(dim=1).tolist())
    return (y / largest).exp() + 1


open("written.txt", "w").close()
x, w = torch.randn(16, 8), torch.randn(8, 16)
for _ in range(3):
    step(x, w)
"""
RUN_SECONDS = 300


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    folder = tmp_path / "my models"  # TorchInductor can compile nothing below a folder with a blank
    folder.mkdir()
    await lsp_client.open_program(folder / "model.py", PROGRAM)
    yield
    await lsp_client.shutdown_session()


async def hints(editor: Editor, uri: str) -> dict[int, str]:
    """The costs of lines, by row, without the types of tensors."""
    whole = types.Range(types.Position(0, 0), types.Position(30, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), whole)
    found = await editor.text_document_inlay_hint_async(params) or []
    return {hint.position.line + 1: str(hint.label) for hint in found if hint.kind is None}


@pytest.mark.slow
async def test_the_time_of_a_call_is_told_and_shown_on_lines(editor: Editor) -> None:
    uri = editor.uri
    summary = await asyncio.wait_for(editor.begin("fullgraph.speed", uri), RUN_SECONDS)
    assert (summary["status"], summary["layer"]) == ("finished", "speed")
    assert not (editor.file.parent / "written.txt").exists()

    found = await editor.ask("fullgraph/performance", target=summary["target"], layer="speed")
    speed = found["speed"]
    assert speed["verdict"] in [message.message for message in editor.messages]
    assert sum(part["seconds"] for part in speed["parts"]) == pytest.approx(speed["compiled"])
    assert "between" in {part["kind"] for part in speed["parts"]}
    (at_break,) = (cause for cause in speed["causes"] if "graph break" in cause["message"])
    place = at_break["location"]
    assert (place["uri"], place["range"]["start"]["line"]) == (uri, 6)

    shown = await hints(editor, uri)
    assert shown[7].endswith(" % outside of graphs")
    editor.edit(uri, PROGRAM.replace("dim=1", "dim=0"))
    assert 7 not in await hints(editor, uri)
    editor.edit(uri, "\n" + PROGRAM)
    assert (await hints(editor, uri))[8] == shown[7]
