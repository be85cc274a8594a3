"""The view of targets in a folder with files that cannot be read."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor
from lsprotocol import types
from odd_files import DEEP, ODD
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has no pipes among its files")


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor) -> AsyncIterator[None]:
    yield
    await lsp_client.shutdown_session()


async def test_odd_files_leave_the_view_of_targets_as_it_is(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("# fullgraph: g(1)\ndef g(x): ...\n")
    for number, make in enumerate((*ODD.values(), *DEEP.values())):
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder)
    os.mkdir(os.fsencode(tmp_path) + b"/odd\xff")
    (tmp_path / os.fsdecode(b"odd\xff") / "inside.py").write_text("# fullgraph: h(1)\ndef h(x): ...\n")
    await editor.open_folder(tmp_path)
    items = await editor.ask("fullgraph/targets")
    assert f"{tmp_path / 'good.py'}::g" in [item["id"] for item in items]
    with pytest.raises(JsonRpcException, match=r"odd\.py cannot be read: it is not a regular file\."):
        await editor.command("fullgraph.run", str(tmp_path / "1" / "odd.py"))


async def test_a_document_of_9_mb_is_told_once_and_not_parsed(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text("# fullgraph: f(1)\ndef f(x):\n    return x\n" * 200_000)
    await editor.open_folder(tmp_path)
    uri = editor.open(file)
    await editor.until(lambda: editor.shown(uri))
    for _ in range(2):
        assert await editor.lenses(uri) == []
        assert await editor.hover(uri, 1, 4) is None
        editor.edit(uri, file.read_text() + "\n")
    (told,) = editor.published
    (diagnostic,) = told.diagnostics
    assert diagnostic.message.startswith("The file is longer than 1,000,000 characters")
    assert diagnostic.severity == types.DiagnosticSeverity.Information
