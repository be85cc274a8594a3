"""The server over real stdio, with the real compiler: runs of unsaved texts, and which targets run again."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor, uri_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODEL = """\
import torch
from helper import scale

# fullgraph: step(f32[10])
def step(x):
    return scale(x) + 1
"""
OTHER = """\
import torch

# fullgraph: alone(f32[10])
def alone(x):
    print("alone")
    return x + 1
"""
HELPER = """\
def scale(x):
    return x * 2
"""
BREAKING = """\
def scale(x):
    print("scaled")
    return x * 2
"""


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    folder = tmp_path_factory.mktemp("unsaved")
    for name, text in (("model.py", MODEL), ("other.py", OTHER), ("helper.py", HELPER)):
        (folder / name).write_text(text)
    lsp_client.folder = folder
    configure(lsp_client, "type")
    await lsp_client.open_folder(folder)
    lsp_client.helper = lsp_client.open(folder / "helper.py")
    for name in ("model.py", "other.py"):
        await lsp_client.command("fullgraph.run", uri_of(folder / name))
    yield
    await lsp_client.shutdown_session()


def configure(editor: Editor, run_on: str) -> None:
    editor.set_configuration({"fullgraph": {"activeInterpreter": sys.executable, "runOn": run_on}})


def found(editor: Editor) -> list[tuple[str | int | None, int]]:
    """The code and line of what is found in the helper."""
    shown = editor.shown(editor.helper)
    return [(item.code, item.range.start.line) for item in shown.diagnostics] if shown else []


async def targets(editor: Editor) -> dict[str, Any]:
    return {Path(item["id"]).name: item for item in await editor.ask("fullgraph/targets")}


async def generations(editor: Editor) -> dict[str, int]:
    """How often each target has run, in the order of their generations."""
    last = {params.target: params.generation for params in editor.statuses}
    return {Path(target).name: generation for target, generation in last.items()}


async def test_a_pause_in_typing_runs_the_text_as_it_is(editor: Editor) -> None:
    before = await generations(editor)
    editor.edit(editor.helper, BREAKING)
    await editor.until(lambda: found(editor) == [("GB0059", 1)])
    assert (editor.folder / "helper.py").read_text() == HELPER
    after = await generations(editor)
    assert after["model.py"] > before["model.py"]
    assert after["other.py"] == before["other.py"], "only what imported the file runs again"


async def test_what_does_not_parse_is_not_run(editor: Editor) -> None:
    editor.edit(editor.helper, BREAKING)
    await editor.until(lambda: found(editor) == [("GB0059", 1)])
    editor.edit(editor.helper, BREAKING + "\ndef unfinished(\n")
    editor.edit(editor.helper, "\n" + BREAKING)
    await editor.until(lambda: found(editor) == [("GB0059", 2)])
    codes = {item.code for params in editor.published for item in params.diagnostics}
    assert "target-error" not in codes


async def test_a_command_runs_the_text_of_the_editor_too(editor: Editor) -> None:
    configure(editor, "manual")
    editor.edit(editor.helper, HELPER)
    await editor.command("fullgraph.run", uri_of(editor.folder / "model.py"))
    assert found(editor) == []
    editor.edit(editor.helper, "# one line more\n" + BREAKING)
    editor.save(editor.helper)  # the text on disk is still another one
    await editor.command("fullgraph.run", uri_of(editor.folder / "model.py"))
    assert found(editor) == [("GB0059", 2)]
