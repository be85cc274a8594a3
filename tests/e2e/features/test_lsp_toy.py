"""The server over real stdio, with the real compiler, on the program of the troubleshooting guide."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOY = """\
import torch

@torch.compile
def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    print("woo")
    if b.sum() < 0:
        b = b * -1
    return x * b

if __name__ == "__main__":
    toy_example(torch.ones(10), torch.ones(10))
    toy_example(torch.ones(12), torch.ones(12))
"""

EMOJI = """\
import torch

@torch.compile
def grüße(täst):
    label = "😀é"; torch._dynamo.graph_break()
    return "😀", täst + 1

grüße(torch.ones(3))
"""


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    folder = tmp_path_factory.mktemp("workspace with späces")
    (folder / "toy.py").write_text(TOY, "utf-8")
    (folder / "emoji.py").write_text(EMOJI, "utf-8")
    await lsp_client.open_folder(folder)
    lsp_client.folder = folder
    yield
    await lsp_client.shutdown_session()


@dataclass
class Ran:
    """The toy program after its run."""

    uri: str
    filename: str
    summary: Any
    editor: Editor

    @property
    def diagnostics(self) -> dict[str, types.Diagnostic]:
        last = [params for params in self.editor.published if params.uri == self.uri][-1]
        return {f"{item.code} {item.range.start.line + 1}": item for item in last.diagnostics}


@pytest.fixture(scope="module")
def toys() -> dict[str, Ran]:
    return {}


async def ran(editor: Editor, toys: dict[str, Ran], name: str) -> Ran:
    """The program, run once for all tests."""
    if name not in toys:
        file: Path = editor.folder / name
        uri = editor.open(file, version=7)
        summary = await editor.command("fullgraph.run", uri)
        toys[name] = Ran(uri, str(file), summary, editor)
    return toys[name]


def span(item: types.Diagnostic) -> tuple[int, int, int, int]:
    start, end = item.range.start, item.range.end
    return start.line, start.character, end.line, end.character


async def test_run_answers_when_it_is_over(editor: Editor, toys: dict[str, Ran]) -> None:
    toy = await ran(editor, toys, "toy.py")
    assert toy.summary == {
        "target": toy.filename,
        "status": "finished",
        "findings": 3,
        "compiled": True,
    }


async def test_findings_are_on_their_ranges(editor: Editor, toys: dict[str, Ran]) -> None:
    toy = await ran(editor, toys, "toy.py")
    found = toy.diagnostics
    assert {key: span(item) for key, item in found.items()} == {
        "recompile 5": (4, 8, 4, 9),
        "GB0059 6": (5, 4, 5, 16),
        "GB0170 7": (6, 7, 6, 18),
    }
    assert editor.published[-1].version == 7
    assert {item.source for item in found.values()} == {"fullgraph"}
    assert found["GB0059 6"].severity == types.DiagnosticSeverity.Warning
    title, reason, help_ = found["GB0059 6"].message.split("\n")
    assert (title, "`print`" in reason) == ("`print` breaks the graph (2 times)", True)
    assert help_.startswith("help: Avoid calling builtin `print`")
    assert found["recompile 5"].severity == types.DiagnosticSeverity.Information


async def test_a_break_links_to_its_page_and_tells_where_it_was_called(
    editor: Editor, toys: dict[str, Ran]
) -> None:
    found = (await ran(editor, toys, "toy.py")).diagnostics["GB0059 6"]
    assert found.code_description is not None
    assert found.code_description.href.endswith("gb0059.html")
    assert found.related_information is not None
    assert [(item.location.range.start.line, item.message) for item in found.related_information] == [
        (11, "in <module>")
    ]
    assert found.data["kind"] == "graph-break"
    assert found.data["target"].endswith("toy.py")
    assert "reorderable_logging_functions" in found.data["rendered"]


async def test_recompile_names_what_changed(editor: Editor, toys: dict[str, Ran]) -> None:
    message = (await ran(editor, toys, "toy.py")).diagnostics["recompile 5"].message
    assert "`a`" in message
    assert "dimension 0" in message
    assert "10" in message
    assert "12" in message


def text(hover: types.Hover | None) -> str:
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.kind == types.MarkupKind.Markdown
    return hover.contents.value


async def test_hover_on_a_name_shows_its_guards(editor: Editor, toys: dict[str, Ran]) -> None:
    toy = await ran(editor, toys, "toy.py")
    hover = await editor.hover(toy.uri, 4, 8)
    finding, _, guards = text(hover).partition("\n\n---\n\n")
    assert guards.startswith("**`a`**: ")
    assert "- torch.float32, shape \\[10\\], device cpu, requires_grad=False" in guards
    assert f"**failed 1 time** (first used at [line 5]({toy.uri}#L5))" in guards
    assert "check_tensor" not in guards, "that is for the targets view"
    assert "Likewise" not in finding  # the diagnostic has it
    assert hover is not None
    assert hover.range == types.Range(types.Position(4, 8), types.Position(4, 9))


async def test_hover_on_an_attribute_and_on_what_it_belongs_to(editor: Editor, toys: dict[str, Ran]) -> None:
    toy = await ran(editor, toys, "toy.py")
    assert text(await editor.hover(toy.uri, 4, 20)).startswith("**`torch.abs`**: ")
    assert text(await editor.hover(toy.uri, 4, 15)).startswith("**`torch`**: ")
    # `b.sum` has no guard of its own.
    assert "\n\n**`b`**: " in text(await editor.hover(toy.uri, 6, 10))


async def test_hover_on_a_definition_sums_up(editor: Editor, toys: dict[str, Ran]) -> None:
    toy = await ran(editor, toys, "toy.py")
    for line, character in ((2, 3), (3, 6)):
        summary = text(await editor.hover(toy.uri, line, character))
        assert "**`toy_example`**: 6 graphs · 12 ops · 2 graph breaks · " in summary
        assert "3 recompilations" in summary
        assert "**Compilations**" in summary
        assert ": size of `a` at dimension 0 was 10, is now 12" in summary
    # A parameter is a name as well.
    both = text(await editor.hover(toy.uri, 3, 16))
    assert both.startswith("**`a`**: ")
    assert "**`toy_example`**: " in both


async def test_hover_on_a_finding_leads_on_and_repeats_nothing_of_the_diagnostic(
    editor: Editor, toys: dict[str, Ran]
) -> None:
    toy = await ran(editor, toys, "toy.py")
    explained = text(await editor.hover(toy.uri, 5, 14))
    assert explained.startswith("[Full explanation](command:fullgraph.showExplanation?")
    assert "breaks the graph" not in explained
    assert "Avoid calling" not in explained


async def test_no_hover_where_nothing_is_known(editor: Editor, toys: dict[str, Ran]) -> None:
    toy = await ran(editor, toys, "toy.py")
    assert await editor.hover(toy.uri, 0, 0) is None
    assert await editor.hover(toy.uri, 400, 3) is None
    assert await editor.hover("untitled:Untitled-1", 0, 0) is None
    assert await editor.hover("file:///no/such/file.py", 0, 0) is None


async def test_columns_are_utf16(editor: Editor, toys: dict[str, Ran]) -> None:
    emoji = await ran(editor, toys, "emoji.py")
    (found,) = [item for item in emoji.diagnostics.values() if str(item.code).startswith("GB")]
    line = EMOJI.splitlines()[4]
    start = line.index("torch") + 1  # the emoji takes two units
    assert span(found) == (4, start, 4, start + len("torch._dynamo.graph_break()"))
    column = EMOJI.splitlines()[5].index("täst") + 1
    hover = await editor.hover(emoji.uri, 5, column + 4)
    assert text(hover).startswith("**`täst`**: ")
    assert hover is not None
    assert hover.range == types.Range(types.Position(5, column), types.Position(5, column + 4))


async def test_targets(editor: Editor, toys: dict[str, Ran]) -> None:
    toy = await ran(editor, toys, "toy.py")
    answer = await editor.protocol.send_request_async("fullgraph/targets", {})
    (item,) = [item for item in answer if item["label"] == "toy.py"]
    assert item == {
        "id": toy.filename,
        "label": "toy.py",
        "kind": "script",
        "uri": toy.uri,
        "folder": toy.uri.removesuffix("/toy.py"),
        "configured": False,
        "stale": False,
        "runOnSave": True,
        "range": {"start": {"line": 10, "character": 0}, "end": {"line": 12, "character": 47}},
        "selectionRange": {"start": {"line": 10, "character": 0}, "end": {"line": 10, "character": 26}},
        "state": "finished",
    }


async def test_clear_takes_everything_away(editor: Editor, toys: dict[str, Ran]) -> None:
    toy = await ran(editor, toys, "toy.py")
    await editor.command("fullgraph.clear", toy.uri)
    assert toy.diagnostics == {}
    assert await editor.hover(toy.uri, 4, 8) is None
    del toys["toy.py"]
