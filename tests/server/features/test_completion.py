"""Completion inside ``# fullgraph`` comments."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from fullgraph_server.client.documents import ClientDocuments
from fullgraph_server.features import completion
from fullgraph_server.features.seen_calls import SeenCallActions
from fullgraph_server.report.model import Report, SeenCall
from lsprotocol import types
from pygls import uris
from pygls.workspace import Workspace

URI = "file:///w/model.py"
FILE = uris.to_fs_path(URI)
NET = """
import torch
from torch import nn
SIZE = 8

{comment}
@torch.compile
class Net(nn.Module):
    def __init__(self, width, depth=2, *, heads):
        super().__init__()

    def forward(self, x, mask=None):
        return x
"""


class Client:
    """Stands in for the server: keeps the handler, and has one open document."""

    def __init__(self, text: str, *, snippets: bool) -> None:
        self.workspace = Workspace("file:///w")
        self.workspace.put_text_document(types.TextDocumentItem(URI, types.LanguageKind.Python, 1, text))
        item = types.ClientCompletionItemOptions(snippet_support=snippets)
        self.client_capabilities = types.ClientCapabilities(
            text_document=types.TextDocumentClientCapabilities(
                completion=types.CompletionClientCapabilities(completion_item=item)
            )
        )
        self.handler: Any = None

    def feature(self, _name: str, _options: Any) -> Callable[[Any], Any]:
        def keep(handler: Any) -> Any:
            self.handler = handler
            return handler

        return keep


async def completed(
    text: str, *, calls: tuple[SeenCall, ...] = (), codes: tuple[str, ...] = (), snippets: bool = True
) -> dict[str, types.CompletionItem]:
    """What is offered at ``|``, by label."""
    text = textwrap.dedent(text).lstrip("\n")
    before = text.partition("|")[0]
    client = Client(text.replace("|", ""), snippets=snippets)
    documents = ClientDocuments(client)
    seen = SeenCallActions(documents, lambda: [Report("train.py", 1, calls=calls)])
    context: Any = SimpleNamespace(server=client, documents=documents)
    completion.register(context, seen, lambda _, row: codes if row == before.count("\n") + 1 else ())
    place = types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)
    params = types.CompletionParams(types.TextDocumentIdentifier(URI), place)
    return {item.label: item for item in await client.handler(params)}


@pytest.mark.parametrize(
    "comment", ["# full|", "#fullgraph|", "# fullgraph:|", "# fullgraph: |", "# fullgraph: Ne|"]
)
async def test_a_call_to_fill_in_names_what_has_no_default(comment: str) -> None:
    item = (await completed(NET.format(comment=comment)))["example call of Net"]
    assert item.detail == "values to fill in"
    assert item.insert_text_format is types.InsertTextFormat.Snippet
    typed = comment.removesuffix("|")
    text = item.text_edit.new_text
    start = item.text_edit.range.start.character
    assert typed[:start] + text == "# fullgraph: Net(${1:width}, heads=${2:heads})(${3:x})"


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("# f|\ndef f(a, b=1, *, c, d=2): ...\n", "f(${1:a}, c=${2:c})"),
        ("class Net(Base):\n    # f|\n    def step(self, x): ...\n", "Net($1).step(${2:x})"),
        ("class Net:\n    # f|\n    @staticmethod\n    def step(x): ...\n", "Net.step(${1:x})"),
        ("class Net:\n    # f|\n    @classmethod\n    def step(cls, x): ...\n", "Net.step(${1:x})"),
        ("# f|\nclass Net(Base): ...\n", "Net($1)($2)"),
        ("# f|\nclass Plain:\n    def __init__(self, n): ...\n", "Plain(${1:n})"),
    ],
)
async def test_each_kind_of_definition_is_called_in_its_own_way(text: str, call: str) -> None:
    (item,) = (await completed(text)).values()
    assert item.text_edit.new_text == f"# fullgraph: {call}"


async def test_calls_that_were_seen_come_in_the_place_of_one_to_fill_in() -> None:
    calls = (SeenCall("Net", FILE, 7, "Net(8, heads=2)(f32[2, 8])", True),)
    offered = await completed(NET.format(comment="# fullgraph|"), calls=calls)
    assert list(offered) == ["Net(8, heads=2)(f32[2, 8])"]
    item = offered["Net(8, heads=2)(f32[2, 8])"]
    assert (item.detail, item.text_edit.new_text) == (
        "seen in the last run",
        "# fullgraph: Net(8, heads=2)(f32[2, 8])",
    )


async def test_a_client_without_snippets_gets_no_call_to_fill_in() -> None:
    assert await completed(NET.format(comment="# fullgraph|"), snippets=False) == {}


@pytest.mark.parametrize(
    "text", ["# f|\n\ndef f(x): ...\n", "# |\ndef f(x): ...\n", "# fast|\ndef f(x): ...\n"]
)
async def test_other_comments_are_left_alone(text: str) -> None:
    assert await completed(text) == {}


async def test_within_a_call_there_are_dtypes_names_of_the_file_and_parameters() -> None:
    offered = await completed(NET.format(comment="# fullgraph: Net(SIZE, heads=2)(|"))
    assert offered["f32"].detail == "a tensor of torch.float32: f32[2, 3]"
    assert {"bf16", "torch", "nn", "SIZE", "Net", "width=", "heads=", "x=", "mask="} <= offered.keys()
    assert "self=" not in offered
    assert "example call of Net" not in offered


@pytest.mark.parametrize(
    ("call", "offered"),
    [
        ("f(f32[8]) |", ["where"]),
        ("f(f32[8]) wh|", ["where"]),
        ("f(f32[8]) where |", ["item@", "nonzero@", "masked_select@"]),
        ("f(f32[8]) where item@3 = 1, n|", ["item@", "nonzero@", "masked_select@"]),
        ("f(torch.|", []),
    ],
)
async def test_what_can_follow_is_offered_alone(call: str, offered: list[str]) -> None:
    assert list(await completed(f"# fullgraph: {call}\ndef f(x): ...\n")) == offered


async def test_codes_that_are_found_in_a_line_can_be_ignored_there() -> None:
    codes = ("GB0059", "recompile")
    assert list(await completed("x = 1\ny = x  # fullgraph: ignore[|", codes=codes)) == [
        "GB0059",
        "recompile",
    ]
    assert list(await completed("y = x  # fullgraph: ignore[GB0059, |]", codes=codes)) == ["recompile"]
    assert list(await completed("y = x  # fullgraph: |", codes=codes)) == ["ignore[GB0059, recompile]"]
    assert await completed("y = x  # fullgraph: |") == {}


async def test_a_file_that_does_not_parse_still_has_dtypes() -> None:
    assert "f32" in await completed("# fullgraph: f(|\ndef f(x): (\n")
