"""The server over real stdio: a quick fix accepts a finding into the project's baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import pytest_lsp
from lsp_session import CONFIG, STEP, Editor
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("baseline")
    (folder / "pyproject.toml").write_text('[tool.fullgraph]\nbaseline = "known.json"\n')
    await lsp_client.analyze_step(folder / "step.py", STEP)
    yield
    await lsp_client.shutdown_session()


def breaks(editor: Editor) -> list[types.Diagnostic]:
    return [item for item in editor.shown(editor.uri).diagnostics if item.code == "GB0059"]


async def fix(editor: Editor, found: types.Diagnostic) -> types.Command | None:
    document = types.TextDocumentIdentifier(editor.uri)
    context = types.CodeActionContext([found])
    params = types.CodeActionParams(document, found.range, context)
    actions = await editor.text_document_code_action_async(params)
    return next((item.command for item in actions if item.title == "Add to the baseline known.json"), None)


async def test_an_accepted_finding_is_gone_at_once_and_stays_away(editor: Editor) -> None:
    (found,) = breaks(editor)
    command = await fix(editor, found)
    await editor.command(command.command, *command.arguments)
    assert breaks(editor) == [], "without another run"
    file = editor.file.parent / "known.json"
    (entry,) = json.loads(file.read_text())["findings"]
    assert (entry["path"], entry["code"], entry["line"]) == ("step.py", "GB0059", 'print("woo")')
    report = await editor.ask("fullgraph/report", target=editor.target)
    assert report["ignored"] == 1

    told = await editor.command("fullgraph.run", editor.target)
    assert told["ignored"] == 1
    assert breaks(editor) == []


async def test_what_is_no_baseline_is_not_overwritten(editor: Editor) -> None:
    file = editor.file.parent / "known.json"
    file.unlink()
    await editor.command("fullgraph.run", editor.target)
    (found,) = breaks(editor)
    command = await fix(editor, found)
    file.write_text("[]")
    with pytest.raises(Exception, match="is not a Fullgraph baseline"):
        await editor.command(command.command, *command.arguments)
    assert file.read_text() == "[]"
    (editor.file.parent / "pyproject.toml").write_text("")
    assert await fix(editor, found) is None, "no baseline is configured any more"
