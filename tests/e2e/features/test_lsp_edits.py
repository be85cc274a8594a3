"""The server over real stdio, with the real compiler: what is shown follows the edits of the text."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
import pytest_lsp
from lsp_session import CONFIG, STEP, Editor
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

PRINT = '    print("woo")\n'
EDITED = STEP.replace('"woo"', '"wow"')


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def session(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    await lsp_client.analyze_step(tmp_path_factory.mktemp("edits") / "model.py", STEP)
    lsp_client.ran = found(lsp_client)
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="module")
async def editor(session: Editor) -> AsyncIterator[Editor]:
    """The session with the text that ran, before and after."""
    yield session
    session.edit(session.uri, STEP)
    await session.until(lambda: found(session) == session.ran)


def found(editor: Editor) -> list[tuple[str, int]]:
    """The code and line of each finding that is shown, and whether it is said to be edited."""
    shown = editor.shown(editor.uri)
    assert shown is not None
    return sorted(
        (f"{item.code}{'~' * is_edited(item)}", item.range.start.line) for item in shown.diagnostics
    )


def is_edited(item: types.Diagnostic) -> bool:
    return "(edited since the run)" in item.message


def moved(editor: Editor, lines: int) -> list[tuple[str, int]]:
    return [(code, line + lines) for code, line in editor.ran]


async def summaries(editor: Editor) -> list[int]:
    """The lines of the lenses that sum a function up."""
    return [line for line, _, command in await editor.lenses(editor.uri) if command == "fullgraph.showTarget"]


async def text_at(editor: Editor, line: int, character: int) -> str:
    hover = await editor.hover(editor.uri, line, character)
    return hover.contents.value if hover else ""


async def test_everything_moves_with_a_line_that_is_inserted_above(editor: Editor) -> None:
    assert ("GB0059", 6) in editor.ran
    version = editor.edit(editor.uri, "# one\n# two\n" + STEP)
    await editor.until(lambda: found(editor) == moved(editor, 2))
    assert editor.shown(editor.uri).version == version
    assert (await text_at(editor, 8, 6)).startswith("[Full explanation](command:")
    assert "**`x`**: " in await text_at(editor, 7, 8)
    assert f"first used at [line 8]({editor.uri}#L8))" in await text_at(editor, 7, 8)
    assert "**`step`**: 4 graphs" in await text_at(editor, 6, 5)
    assert await summaries(editor) == [6]

    report = await editor.ask("fullgraph/report", target=editor.target)
    (frame,) = report["frames"]
    assert frame["location"]["range"]["start"]["line"] == 6
    lines = [item["location"]["range"]["start"]["line"] for item in report["findings"]]
    assert sorted(lines) == [line for _, line in sorted(moved(editor, 2), key=lambda item: item[1])]
    assert frame["graphs"][0]["location"]["range"]["start"]["line"] == 7
    ask = {"target": editor.target, "generation": report["generation"], "frame": 0}
    guards = await editor.ask("fullgraph/guards", **ask)
    assert guards[0]["location"]["range"]["start"]["line"] in (7, 9)


async def test_the_explanation_links_to_the_line_and_shows_it_as_it_ran(editor: Editor) -> None:
    editor.edit(editor.uri, "\n" + EDITED)
    await editor.until(lambda: ("GB0059~", 7) in found(editor))
    item = next(item for item in editor.shown(editor.uri).diagnostics if item.code == "GB0059")
    params = types.TextDocumentContentParams(item.data["explanation"])
    text = (await editor.workspace_text_document_content_async(params)).text
    assert f'[model.py:8]({editor.uri}#L8) in `step`: `print("woo")`' in text


async def test_an_edited_line_keeps_its_findings_as_edited_until_the_edit_is_undone(editor: Editor) -> None:
    editor.edit(editor.uri, EDITED)
    stale = [(f"{code}~" if line == 6 else code, line) for code, line in editor.ran]
    await editor.until(lambda: found(editor) == stale)
    (item,) = [item for item in editor.shown(editor.uri).diagnostics if is_edited(item)]
    assert item.severity == types.DiagnosticSeverity.Hint
    assert item.range == types.Range(types.Position(6, 4), types.Position(6, 16))
    assert "(edited since the run)" in item.message

    editor.edit(editor.uri, STEP)
    await editor.until(lambda: found(editor) == editor.ran)
    assert not any(map(is_edited, editor.shown(editor.uri).diagnostics))


async def test_names_on_an_edited_line_have_no_guards(editor: Editor) -> None:
    assert "**`x`**: " in await text_at(editor, 7, 15)
    editor.edit(editor.uri, STEP.replace("y * x", "y + x"))
    assert "**`x`**: " not in await text_at(editor, 7, 15)
    assert "**`x`**: " in await text_at(editor, 5, 8)


async def test_findings_of_a_deleted_line_come_back_with_it(editor: Editor) -> None:
    editor.edit(editor.uri, STEP.replace(PRINT, ""))
    left = [(code, line - (line > 6)) for code, line in editor.ran if line != 6]
    await editor.until(lambda: found(editor) == left)
    editor.edit(editor.uri, STEP)
    await editor.until(lambda: found(editor) == editor.ran)


async def test_a_lens_stays_near_its_function_while_the_definition_is_edited(editor: Editor) -> None:
    editor.edit(editor.uri, "\n" + STEP.replace("def step(x):", "def step(x, y=1):"))
    assert await summaries(editor) == [5]


async def test_closing_without_a_save_brings_the_file_back(editor: Editor) -> None:
    editor.edit(editor.uri, "\n" + STEP)
    await editor.until(lambda: found(editor) == moved(editor, 1))
    document = types.TextDocumentIdentifier(editor.uri)
    editor.text_document_did_close(types.DidCloseTextDocumentParams(document))
    await editor.until(lambda: found(editor) == editor.ran)
    editor.open(editor.file)


async def test_a_run_of_the_edited_text_replaces_what_was_edited(session: Editor) -> None:
    text = "# note\n" + EDITED
    session.edit(session.uri, text)
    await session.until(lambda: ("GB0059~", 7) in found(session))
    session.file.write_text(text)
    await session.command("fullgraph.run", session.target)
    assert found(session) == moved(session, 1)
    session.edit(session.uri, STEP)
    await session.until(lambda: ("GB0059~", 6) in found(session))
