"""The tools for agents over LSP, as VS Code offers them to language models: on the text that it shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_lsp
from hanging import hanging
from lsp_session import CONFIG, Editor
from lsprotocol import types
from processes import dies
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio(loop_scope="module")

SAVED = """\
import torch


@torch.compile
def f(x):
    return torch.where(x.sum() > 0, x * 2, x - 1)


f(torch.ones(3))
"""
WHERE = "    return torch.where(x.sum() > 0, x * 2, x - 1)\n"
BRANCH = "    if x.sum() > 0:\n        return x * 2\n    return x - 1\n"


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    folder = tmp_path_factory.mktemp("tools")
    await lsp_client.open_program(folder / "model.py", SAVED)
    lsp_client.edit(lsp_client.uri, SAVED.replace(WHERE, BRANCH))
    yield
    await lsp_client.shutdown_session()


async def call(editor: Editor, name: str, **arguments: Any) -> Any:
    return await editor.ask("fullgraph/tool", name=name, arguments=arguments)


async def test_a_tool_sees_what_the_editor_shows(editor: Editor) -> None:
    checked = await call(editor, "check_target", target="model.py")
    (finding,) = (item["finding"] for item in checked["findings"])
    assert finding.startswith("model.py:6:8:GB")
    removed = "".join(f"-{line}\n" for line in BRANCH.splitlines())
    diff = f"--- a/model.py\n+++ b/model.py\n@@\n{removed}+{WHERE}"
    tried = await call(editor, "try_edit", target="model.py", diff=diff)
    assert (tried["verified"], tried["gone"]) == (True, [finding])


async def test_a_cancelled_request_ends_its_program(editor: Editor) -> None:
    started = hanging(editor.file.parent)
    params = {"name": "check_target", "arguments": {"target": "hanging.py"}}
    editor.protocol.send_request("fullgraph/tool", params, msg_id="hanging")
    program = await asyncio.to_thread(started)
    editor.cancel_request(types.CancelParams("hanging"))
    assert await asyncio.to_thread(dies, program)


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("check_target", {"target": "/etc/passwd"}, "/etc/passwd is outside of the workspace"),
        ("check_target", {"target": "none.py"}, "There is no target none.py"),
        ("check_target", {"file": "model.py"}, "check_target does not take these arguments"),
        ("run", {}, "There is no tool run"),
    ],
)
async def test_a_refusal_is_a_sentence(editor: Editor, name: str, arguments: Any, why: str) -> None:
    with pytest.raises(JsonRpcException, match=why):
        await call(editor, name, **arguments)
