"""The server over real stdio, with the real compiler: fixes are tried, offered with a verdict, and made."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from glob import glob
from pathlib import Path
from typing import Any

import attrs
import lsp_session
import pytest
import pytest_lsp
from lsp_session import WAIT_SECONDS, Editor
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig

TOY = """\
import torch

@torch.compile
def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    torch._dynamo.graph_break()
    if b.sum() < 0:
        b = b * -1
    return x * b

if __name__ == "__main__":
    toy_example(torch.ones(10), torch.ones(10))
"""
BROKEN = "    torch._dynamo.graph_break()\n"
LOGGED = """\
import logging
import torch

logger = logging.getLogger(__name__)

def step(x):
    logger.warning("half way")
    return x.relu()

if __name__ == "__main__":
    torch.compile(step)(torch.ones(10))
    torch.compile(step)(torch.ones(10))
"""
WITHOUT_EDIT = """\
import torch

SEEN = []

def step(x):
    if x.sum() > 0:
        SEEN.append(1)
        SEEN.sort()
    return x.relu()

if __name__ == "__main__":
    torch.compile(step)(torch.ones(10))
    torch.compile(step)(torch.ones(10))
"""
NONE_HOLDS = """\
import torch

def step(x):
    name = f"{x.sum().item():.1f}"
    return x * len(name)

if __name__ == "__main__":
    torch.compile(step)(torch.ones(10))
    torch.compile(step)(torch.ones(10))
"""
SIZES = """\
import torch

@torch.compile
def step(x):
    return x.relu()

for size in (3, 5, 7):
    step(torch.ones(size, 2))
"""
WHERE = "Fix: Choose with `torch.where` (verified: 2 breaks → 1, 3 graphs → 2, results equal)"
REMOVE = "Fix: Remove the graph break (verified: 2 breaks → 1, 3 graphs → 2, results equal)"
ALL = "Apply all verified fixes (2 findings)"
TRY_ALL = "Try fixes for all 2 findings"
FIX_ALL = "source.fixAll.fullgraph"


TEMPORARY = tempfile.TemporaryDirectory()
"""Where the server makes its folders."""
CONFIG = ClientServerConfig(
    server_command=lsp_session.CONFIG.server_command,
    client_factory=Editor,
    server_env={**os.environ, "TMPDIR": TEMPORARY.name},
)


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor) -> AsyncIterator[None]:
    yield
    if lsp_client.capabilities is not None:
        await lsp_client.shutdown_session()


async def opened(editor: Editor, file: Path, text: str, when: str = "asked") -> None:
    """Open a folder with a program, and run it."""
    await asyncio.to_thread(file.write_text, text)
    editor.set_configuration({"fullgraph": {"activeInterpreter": sys.executable, "tryFixes": when}})
    await editor.open_folder(file.parent)
    editor.file, editor.uri = file, editor.open(file)
    await asyncio.wait_for(editor.begin("fullgraph.run", editor.uri), 2 * WAIT_SECONDS)


async def tried(editor: Editor) -> int:
    return await asyncio.wait_for(editor.begin("fullgraph.tryFixes", str(editor.file)), 4 * WAIT_SECONDS)


def finding(editor: Editor, code: str) -> types.Diagnostic:
    shown = editor.shown(editor.uri)
    assert shown is not None
    (found,) = [item for item in shown.diagnostics if item.code == code]
    return found


async def actions(editor: Editor, *found: types.Diagnostic, **context: Any) -> dict[str, types.CodeAction]:
    """The actions for fixes, by their titles."""
    place = found[0].range if found else types.Range(types.Position(0, 0), types.Position(0, 0))
    answer = await editor.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(editor.uri), place, types.CodeActionContext(list(found), **context)
        )
    )
    titles = "Fix", "Apply all", "Try fixes", "No edit"
    return {item.title: item for item in answer or [] if item.title.startswith(titles)}


def applied(text: str, edit: types.WorkspaceEdit, uri: str) -> str:
    """The text with an edit, as an editor makes it."""
    (change,) = edit.document_changes
    assert change.text_document.uri == uri
    lines = text.split("\n")

    def offset(place: types.Position) -> int:
        return sum(len(line) + 1 for line in lines[: place.line]) + place.character

    for item in reversed(change.edits):
        text = text[: offset(item.range.start)] + item.new_text + text[offset(item.range.end) :]
    return text


async def hover_text(editor: Editor, line: int, character: int) -> str:
    hover = await editor.hover(editor.uri, line, character)
    return hover.contents.value if hover else ""


async def test_fixes_are_tried_when_asked_and_make_what_was_proven(editor: Editor, tmp_path: Path) -> None:
    await opened(editor, tmp_path / "toy.py", TOY)
    branch, asked = finding(editor, "GB0170"), finding(editor, "GB0025")
    offered = await actions(editor, branch)
    assert [*offered] == ["Try fixes", TRY_ALL]
    assert "Fix:" not in await hover_text(editor, 6, 8)
    assert await actions(editor, only=[FIX_ALL]) == {}

    command = offered[TRY_ALL].command
    assert (command.command, [*command.arguments]) == ("fullgraph.tryFixes", [str(editor.file)])
    assert await tried(editor) == 2
    (told,) = [item.message for item in editor.messages if "Verified" in item.message]
    assert told == "Verified fixes for 2 of 2 findings: apply them with the light bulb on each."

    offered = await actions(editor, branch)
    assert [*offered] == [WHERE, ALL]
    assert (offered[WHERE].is_preferred, offered[ALL].is_preferred) == (True, None)
    where = TOY.replace(
        "    if b.sum() < 0:\n        b = b * -1\n", "    b = torch.where(b.sum() < 0, b * -1, b)\n"
    )
    assert applied(TOY, offered[WHERE].edit, editor.uri) == where
    assert [*await actions(editor, asked)] == [REMOVE, ALL]
    assert [*await actions(editor, branch, only=[types.CodeActionKind.Refactor])] == []

    hover = await hover_text(editor, 6, 8)
    assert "**Fix: Choose with `torch.where` (verified: " in hover
    assert "-    if b.sum() < 0:\n-        b = b * -1\n+    b = torch.where(b.sum() < 0, b * -1, b)" in hover
    assert "+++" not in hover

    (everything,) = (await actions(editor, only=[FIX_ALL])).values()
    assert (everything.title, everything.kind) == (ALL, FIX_ALL)
    on_save = types.CodeActionTriggerKind.Automatic
    assert await actions(editor, only=["source.fixAll"], trigger_kind=on_save) == {}
    assert [*await actions(editor, only=[FIX_ALL], trigger_kind=on_save)] == [ALL]

    # An edit makes the proofs those of another text; the text that was proven has them again.
    editor.edit(editor.uri, TOY + "# more\n")
    assert [*await actions(editor, branch)] == ["Try fixes", TRY_ALL]
    assert "Fix:" not in await hover_text(editor, 6, 8)
    assert await actions(editor, only=[FIX_ALL]) == {}
    editor.edit(editor.uri, TOY)
    assert [*await actions(editor, branch)] == [WHERE, ALL]

    line = await editor.ask(
        "fullgraph/atLine",
        textDocument={"uri": editor.uri},
        position={"line": 6, "character": 8},
    )
    (entry,) = line["sections"][0]["entries"]
    assert entry["notes"][-1] == WHERE

    assert editor.file.read_text() == TOY, "nothing is written"
    editor.edit(editor.uri, applied(TOY, everything.edit, editor.uri))
    assert (await editor.command("fullgraph.run", editor.uri))["findings"] == 0
    report = await editor.ask("fullgraph/report", target=str(editor.file))
    assert [len(frame["graphs"]) for frame in report["frames"]] == [1]


async def test_only_the_finding_that_was_asked_about_is_tried(editor: Editor, tmp_path: Path) -> None:
    await opened(editor, tmp_path / "toy.py", TOY)
    reports: list[Any] = []
    editor._keep(types.PROGRESS, reports)
    branch, broken = finding(editor, "GB0170"), finding(editor, "GB0025")
    command = (await actions(editor, branch))["Try fixes"].command
    assert [*command.arguments] == [str(editor.file), branch.data["explanation"]]
    proving = editor.begin("fullgraph.tryFixes", *command.arguments)
    assert await asyncio.wait_for(proving, 4 * WAIT_SECONDS) == 1
    assert editor.messages[-1].message == "A fix is verified: apply it with the light bulb."
    assert any("line 7: Choose with `torch.where`" in str(item) for item in reports)
    assert not any("Remove the graph break" in str(item) for item in reports)
    assert [*await actions(editor, branch)] == [WHERE, TRY_ALL]
    assert [*await actions(editor, broken)] == ["Try fixes", TRY_ALL]

    command = (await actions(editor, broken))["Try fixes"].command
    await asyncio.wait_for(editor.begin("fullgraph.tryFixes", *command.arguments), 4 * WAIT_SECONDS)
    assert REMOVE in await actions(editor, broken)
    assert WHERE in await actions(editor, branch), "what was tried before is kept"

    with pytest.raises(JsonRpcException, match="takes the URI of the explanation of a finding"):
        await editor.command("fullgraph.tryFixes", str(editor.file), "fullgraph-explanation:/x.md?1")


async def test_fixes_of_a_short_program_are_there_unasked(editor: Editor, tmp_path: Path) -> None:
    await opened(editor, tmp_path / "toy.py", TOY, "short")
    # The first run may be a long one, since it imports torch.
    await editor.command("fullgraph.run", editor.uri)
    branch = finding(editor, "GB0170")
    await tried(editor)  # waits for the proofs that are on
    assert WHERE in await actions(editor, branch)

    # A run takes the place of proofs of the text before, and the new text is proven.
    renamed = TOY.replace("toy_example", "example")
    editor.edit(editor.uri, renamed)
    assert (await editor.command("fullgraph.run", editor.uri))["findings"] == 2
    proving = editor.begin("fullgraph.tryFixes", str(editor.file))
    await editor.command("fullgraph.run", editor.uri)
    assert await asyncio.wait_for(proving, WAIT_SECONDS) in (0, 2)
    await tried(editor)
    assert WHERE in await actions(editor, finding(editor, "GB0170"))


async def test_advice_on_a_recompilation_is_tried_unasked(editor: Editor, tmp_path: Path) -> None:
    await opened(editor, tmp_path / "sizes.py", SIZES)
    assert finding(editor, "recompile").message.endswith("to keep one graph for every size. (Not tried.)")
    editor.set_configuration({"fullgraph": {"activeInterpreter": sys.executable, "tryFixes": "short"}})
    await editor.command("fullgraph.run", editor.uri)
    await tried(editor)  # waits for what is tried ahead of time
    assert finding(editor, "recompile").message.endswith(
        "or compile with `dynamic=True`, to keep one graph for every size."
    )


async def test_what_may_end_an_error_is_tried_unasked(editor: Editor, tmp_path: Path) -> None:
    whole = TOY.replace("@torch.compile", "@torch.compile(fullgraph=True)").replace(BROKEN, "")
    await opened(editor, tmp_path / "whole.py", whole, "short")
    # The first run may be a long one, since it imports torch.
    await editor.command("fullgraph.run", editor.uri)
    await tried(editor)  # waits for what is tried ahead of time
    message = finding(editor, "GB0170").message
    assert message.endswith(", the program finishes.")
    assert "Choose with `torch.where`: with `" in message


async def test_what_changes_behaviour_stands_apart_and_is_confirmed(
    editor: Editor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = lsp_session.CAPABILITIES.workspace
    edits = attrs.evolve(
        workspace.workspace_edit, change_annotation_support=types.ChangeAnnotationsSupportOptions()
    )
    workspace = attrs.evolve(workspace, workspace_edit=edits)
    monkeypatch.setattr(
        lsp_session, "CAPABILITIES", attrs.evolve(lsp_session.CAPABILITIES, workspace=workspace)
    )
    await opened(editor, tmp_path / "logged.py", LOGGED)
    await tried(editor)
    (broken,) = [item for item in editor.shown(editor.uri).diagnostics if item.data["kind"] == "graph-break"]
    offered = await actions(editor, broken)
    assert offered
    for title, action in offered.items():
        assert "(changes what the program does: " in title
        assert not action.is_preferred
        (annotation,) = action.edit.change_annotations.values()
        assert annotation.needs_confirmation
        (change,) = action.edit.document_changes
        assert {item.annotation_id for item in change.edits} == {*action.edit.change_annotations}
    assert await actions(editor, only=[FIX_ALL]) == {}, "all that keeps behaviour"


async def test_nobody_is_sent_into_nothing(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[[tool.fullgraph.targets]]\nname = "ranks"\ntorchrun = "toy.py"\nranks = 2\n'
    )
    (tmp_path / "toy.py").write_text(TOY)
    await opened(editor, tmp_path / "odd.py", WITHOUT_EDIT)
    broken = editor.shown(editor.uri).diagnostics
    assert broken
    assert await actions(editor, *broken) == {}
    with pytest.raises(JsonRpcException, match="runs on 2 ranks, but fixes are proven in one process"):
        await editor.command("fullgraph.tryFixes", "ranks")


async def test_what_was_tried_in_vain_is_shown(editor: Editor, tmp_path: Path) -> None:
    await opened(editor, tmp_path / "named.py", NONE_HOLDS)
    (broken,) = [item for item in editor.shown(editor.uri).diagnostics if item.code == "GB0124"]
    assert await tried(editor) == 0
    (shown,) = (await actions(editor, broken)).values()
    assert (shown.title, shown.edit) == ("No edit is verified: show what was tried", None)
    hover = await hover_text(editor, 3, 14)
    assert "**No edit is verified.** " in hover
    assert "- Keep the value a tensor: " in hover
    assert '+    name = f"{x.sum():.1f}"' in hover
    (uri,) = shown.command.arguments
    page = await editor.workspace_text_document_content_async(types.TextDocumentContentParams(uri))
    assert "## Fixes that were tried\n\n**No edit is verified.** " in page.text
    assert "**Let torch capture numbers that depend on data**: not verified: " in page.text
    assert "+torch._dynamo.config.capture_scalar_outputs = True" in page.text


@pytest.mark.parametrize(
    "end", ["stop", *(pytest.param(end, marks=pytest.mark.slow) for end in ("clear", "run", "shutdown"))]
)
async def test_proofs_end_with_nothing_left(editor: Editor, tmp_path: Path, end: str) -> None:
    await opened(editor, tmp_path / "toy.py", TOY)
    reports: list[Any] = []
    editor._keep(types.PROGRESS, reports)
    proving = editor.begin("fullgraph.tryFixes", str(editor.file))
    await editor.until(lambda: any("(1 of 2 findings done)" in str(item) for item in reports))
    if end == "shutdown":
        await editor.shutdown_async(None)
        await asyncio.gather(proving, return_exceptions=True)
    else:
        await asyncio.wait_for(editor.begin(f"fullgraph.{end}", str(editor.file)), 2 * WAIT_SECONDS)
        assert await asyncio.wait_for(proving, WAIT_SECONDS) == 0
        await editor.shutdown_async(None)
    assert not glob(f"{TEMPORARY.name}/fullgraph-*/*.results")
    editor.exit(None)
    await asyncio.wait_for(editor._server.wait(), WAIT_SECONDS)
    editor.capabilities = None  # the session is over already
