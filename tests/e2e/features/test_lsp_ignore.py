"""The server over real stdio: a quick fix ignores a finding, and the next run leaves it out."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_lsp
from lsp_session import CONFIG, STEP, Editor
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("ignore")
    await lsp_client.analyze_step(folder / "step.py", STEP)
    yield
    await lsp_client.shutdown_session()


async def test_the_fix_writes_a_comment_and_the_next_run_heeds_it(editor: Editor) -> None:
    shown = editor.shown(editor.uri).diagnostics
    (found,) = [item for item in shown if item.code == "GB0059"]
    document = types.TextDocumentIdentifier(editor.uri)
    context = types.CodeActionContext([found])
    actions = await editor.text_document_code_action_async(
        types.CodeActionParams(document, found.range, context)
    )
    (fix,) = [action for action in actions if action.title == "Ignore GB0059 on this line"]
    (edit,) = fix.edit.changes[editor.uri]
    assert edit.range.start == edit.range.end
    lines = STEP.splitlines()
    place = edit.range.start
    assert (place.line, place.character) == (6, len(lines[6]))
    lines[6] += edit.new_text
    assert lines[6] == '    print("woo")  # fullgraph: ignore[GB0059]'
    editor.edit(editor.uri, "\n".join(lines) + "\n")
    told = await editor.command("fullgraph.run", editor.target)
    assert told["ignored"] == 1
    report = await editor.ask("fullgraph/report", target=editor.target)
    assert report["ignored"] == 1
    assert "GB0059" not in [item.code for item in editor.shown(editor.uri).diagnostics]
