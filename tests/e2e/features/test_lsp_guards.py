"""The server over real stdio, with the real compiler: what is said of guards, and frozen runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODEL = """\
import torch

LIMIT = 3


class Block(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.register_buffer("mask", torch.ones(4))

    def forward(self, x):
        return x * self.scale + self.mask


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(1), Block(2)])

    def forward(self, x, flag=None):
        for block in self.blocks:
            x = block(x)
        if x.shape[0] % 2 == 0 and LIMIT:
            return x.sum()
        return x


if __name__ == "__main__":
    model = torch.compile(Model())
    for size in (4, 6, 3):
        model(torch.ones(size, 4))
"""


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    await lsp_client.open_program(tmp_path_factory.mktemp("guards") / "model.py", MODEL)
    lsp_client.target = str(lsp_client.file)
    await lsp_client.command("fullgraph.run", lsp_client.target)
    yield
    await lsp_client.shutdown_session()


async def hovered(editor: Editor, line: str, name: str) -> str:
    """The hover text on a name in the first line that has this text."""
    lines = MODEL.splitlines()
    row = next(row for row, text in enumerate(lines) if line in text)
    hover = await editor.hover(editor.uri, row, lines[row].index(name) + len(name) - 1)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    return hover.contents.value


async def test_a_name_tells_what_it_is_and_leads_to_where_that_comes_from(editor: Editor) -> None:
    text = await hovered(editor, "if x.shape[0]", "LIMIT")
    assert f"global, from [line 3]({editor.uri}#L3)" in text
    text = await hovered(editor, "for block in", "self.blocks")
    assert f"module, from [line 19]({editor.uri}#L19)" in text


async def test_a_name_in_an_inlined_function_tells_whose_it_is(editor: Editor) -> None:
    text = await hovered(editor, "x * self.scale", "self.scale")
    assert f"`self.blocks[0].scale` in `Model.forward`, attribute, from [line 9]({editor.uri}#L9)" in text
    assert "`self.blocks[1].scale` in `Model.forward`" in text
    assert f"first used at [line 13]({editor.uri}#L13), called from [line 23]({editor.uri}#L23))" in text
    text = await hovered(editor, "x * self.scale", "self.mask")
    assert "buffer, from [line 10]" in text


async def test_a_size_tells_what_is_taken_for_granted_and_where(editor: Editor) -> None:
    text = await hovered(editor, "if x.shape[0]", "if")
    assert "**Size conditions that this line adds**" in text
    assert "- `x.shape[0] % 2 == 0`" in text
    assert "- `x.shape[0] % 2 != 0`" in text
    assert "torch/\\_dynamo/variables/tensor.py" in text
    text = await hovered(editor, "def forward(self, x, flag", "x")
    assert "**Its sizes**" in text
    assert f"at [line 24]({editor.uri}#L24)" in text


async def test_a_function_tells_why_it_was_compiled_each_time(editor: Editor) -> None:
    text = await hovered(editor, "def forward(self, x, flag", "forward")
    history = [line for line in text.splitlines() if line.startswith("- 0/")]
    assert len(history) == 3
    assert all(f"called from [line 32]({editor.uri}#L32)" in line for line in history)
    assert "size of `x` at dimension 0 was 4, is now 6" in history[1]
    assert "grad mode on, autocast off" in text


async def test_guards_of_a_function_tell_their_origin(editor: Editor) -> None:
    report = await editor.ask("fullgraph/report", target=editor.target)
    (frame,) = report["frames"]
    ask = {"target": editor.target, "generation": report["generation"], "frame": 0}
    guards: list[dict[str, Any]] = await editor.ask("fullgraph/guards", **ask)
    assert len(guards) == frame["guards"]
    of_limit = next(guard for guard in guards if guard["name"] == "LIMIT")
    assert (of_limit["origin"], of_limit["originLocation"]["range"]["start"]["line"]) == ("global", 2)
    ambient = [guard["kind"] for guard in guards if guard["ambient"]]
    assert {"GLOBAL_STATE", "TORCH_FUNCTION_MODE_STACK"} <= set(ambient)
    assert all(not guard["name"] for guard in guards if guard["ambient"])


async def test_a_frozen_run_tells_what_is_compiled_after_the_warm_up(editor: Editor) -> None:
    summary = await editor.command("fullgraph.frozen", editor.target)
    assert (summary["status"], summary["findings"]) == ("finished", 1)
    (layer,) = await editor.ask("fullgraph/layers", target=editor.target)
    assert (layer["layer"], layer["label"]) == ("late-compile", "Late compilations")
    (finding,) = layer["report"]["findings"]
    assert finding["message"] == (
        "`Model.forward` is compiled after the warm-up: size of `x` at dimension 0 was 4, then 6 and 3"
    )
    assert (finding["severity"], finding["count"]) == ("error", 2)
    assert finding["location"]["range"]["start"]["line"] == 31
    assert (
        editor.messages[-1].message == layer["verdict"] == "2 compilations after the warm-up, from 1 place."
    )
    # It is on its line, beside what the ordinary run told.
    report = await editor.ask("fullgraph/report", target=editor.target)
    assert {finding["severity"] for finding in report["findings"]} == {"information"}
    kinds = [item.data["kind"] for item in editor.shown(editor.uri).diagnostics]
    assert kinds.count("late-compile") == 1
    assert len(kinds) == len(report["findings"]) + 1
