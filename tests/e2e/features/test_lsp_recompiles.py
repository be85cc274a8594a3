"""The server over real stdio, with the real compiler: the profile of recompilations."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio(loop_scope="module")

STEP = """\
import torch

# fullgraph: step(f32[2], True)
# fullgraph: step(f32[2], False)
# fullgraph: step(f32[2], True)
# fullgraph: step(f32[2], False)
def step(x, flag):
    y = x.sin() if flag else x.cos()
    print("woo")
    return y + 1
"""
"""A function for two flags in turn: two compilations, if both are kept."""
LENS = (6, "Profile recompilations", "fullgraph.recompiles")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    await lsp_client.analyze_step(tmp_path_factory.mktemp("recompiles") / "step.py", STEP)
    yield
    await lsp_client.shutdown_session()


async def page(editor: Editor, uri: str) -> str:
    params = types.TextDocumentContentParams(uri)
    return (await editor.workspace_text_document_content_async(params)).text


def told(editor: Editor) -> str:
    """What the editor shows of recompilations."""
    shown = editor.shown(editor.uri)
    assert shown is not None
    (message,) = (item.message for item in shown.diagnostics if item.code == "recompile")
    return message.partition("\nhelp: ")[0]


async def test_a_function_that_was_compiled_again_has_a_lens_for_it(editor: Editor) -> None:
    assert LENS in await editor.lenses(editor.uri)
    assert told(editor) == "recompiled: `flag` was True, is now False"


async def test_the_command_runs_the_worst_case_and_names_its_page(editor: Editor) -> None:
    summary = await editor.command("fullgraph.recompiles", editor.target)
    assert (summary["status"], summary["findings"]) == ("finished", 2)
    assert told(editor) == "recompiled: `flag` was True, is now False", "of the ordinary run"
    (layer,) = await editor.ask("fullgraph/layers", target=editor.target)
    assert layer["label"] == "Recompilation profile"
    assert layer["verdict"].startswith("3 recompilations of 1 function took ")
    lines = (await page(editor, summary["document"])).splitlines()
    sections = [line for line in lines if line.startswith("#")]
    assert sections == [
        "# Recompilations of step.py::step",
        f"## `step`, [step.py:7]({editor.uri}#L7)",
        "### What to do",
        "### Graph breaks",
        "### Each recompilation",
    ]
    assert any(line.startswith("3 recompilations of 1 function took ") for line in lines)
    assert any(line.endswith(" a recompile_limit of 2 would hold all variants.") for line in lines)
    assert f"| 3 | [step.py:8]({editor.uri}#L8) | `flag` was True, then False and True |" in lines
    again = [line.split(" | ")[:3] for line in lines if line.startswith("| 0/")]
    assert again == [
        ["| 0/1", f"[step.py:4]({editor.uri}#L4)", "`flag` was True, is now False"],
        ["| 0/2", f"[step.py:5]({editor.uri}#L5)", "`flag` was False, is now True"],
        ["| 0/3", f"[step.py:6]({editor.uri}#L6)", "`flag` was True, is now False"],
    ]
    assert [lens for lens in await editor.lenses(editor.uri) if lens[2] == LENS[2]] == [LENS]


async def test_the_profile_stays_beside_the_next_ordinary_run(editor: Editor) -> None:
    first = await editor.command("fullgraph.recompiles", editor.target)
    await editor.command("fullgraph.run", editor.target)
    assert told(editor) == "recompiled: `flag` was True, is now False"
    assert "### Each recompilation" in await page(editor, first["document"])
    second = await editor.command("fullgraph.recompiles", editor.target)
    assert second["document"] != first["document"], "an editor would show the text that it has kept"
    assert await page(editor, first["document"]) == await page(editor, second["document"])
    with pytest.raises(JsonRpcException, match="is not a Fullgraph document"):
        await page(editor, "fullgraph-profile:/x.md?nonsense")
