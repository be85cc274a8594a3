"""The server over real stdio: a target that takes long is asked about before a save runs it again."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest
import pytest_lsp
from lsp_session import Editor
from lsprotocol import types
from pytest_lsp import ClientServerConfig

FAKE = Path(__file__).parents[2] / "server" / "support" / "fake_worker.py"
SERVER = """\
from fullgraph_server.runs import saves
from fullgraph_server.server import main
saves._LONG_SECONDS = 0.0
main()
"""
CONFIG = ClientServerConfig(server_command=[sys.executable, "-c", SERVER], client_factory=Editor)


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    folder = tmp_path / "workspace"
    folder.mkdir()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" $2\n')
    python.chmod(0o755)
    lsp_client.program = folder / "program.py"
    lsp_client.program.write_text("text\n")
    (folder / "pyproject.toml").write_text(
        '[[tool.fullgraph.targets]]\nname = "source"\nscript = "program.py"\nargs = ["source"]\n'
    )
    # The worker plays no proofs.
    lsp_client.set_configuration({"fullgraph": {"interpreter": str(python), "tryFixes": "asked"}})
    await lsp_client.open_folder(folder)
    yield
    await lsp_client.shutdown_session()


@pytest.mark.parametrize(("answer", "runs", "on_save"), [("Yes", 3, True), ("No", 1, False), ("", 1, False)])
async def test_what_takes_long_is_asked_about_once(
    editor: Editor, answer: str, runs: int, on_save: bool
) -> None:
    questions: list[types.ShowMessageRequestParams] = []
    answers: asyncio.Queue[str] = asyncio.Queue()

    @editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    async def ask(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        questions.append(params)
        title = await answers.get()
        return types.MessageActionItem(title) if title else None

    def ended() -> int:
        states = [getattr(params, "state", None) for params in editor.statuses]
        return sum(state == "finished" and before == "running" for before, state in pairwise(states))

    uri = editor.open(editor.program)
    await editor.command("fullgraph.run", "source")
    for _ in range(2):
        editor.save(uri)
        await editor.ask("fullgraph/targets")
    assert ended() == 1, "nothing runs while the question is open"
    answers.put_nowait(answer)
    await editor.until(lambda: editor.statuses[-1].runOnSave is on_save and ended() >= min(runs, 2))
    editor.save(uri)
    await editor.ask("fullgraph/targets")
    await editor.until(lambda: ended() == runs)
    (question,) = questions
    assert re.fullmatch(r"source took \d+ s\. Run it again after each save\?", question.message)
    assert [item.title for item in question.actions or []] == ["Yes", "No"]
