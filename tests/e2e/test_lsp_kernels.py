"""The server over real stdio, with a real worker: from a line to its kernels, and back."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
import pytest_lsp
from lsp_session import CONFIG, Editor
from lsprotocol import types

PROGRAM = """\
import torch

# fullgraph: step(f32[8, 16].requires_grad_(), f32[16, 8]).sum().backward()
def step(x, w):
    y = x @ w
    z = torch.relu(y) + 1
    return z.exp()
"""
MATMUL, RELU, EXP = 4, 5, 6
COMPILE_SECONDS = 120
"""The first time, TorchInductor finds out which vector instructions there are."""

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def session(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    file = tmp_path_factory.mktemp("kernels") / "model.py"
    file.write_text(PROGRAM)
    lsp_client.set_configuration({"fullgraph": {"activeInterpreter": sys.executable}})
    await lsp_client.open_folder(file.parent)
    lsp_client.file, lsp_client.uri, lsp_client.target = file, lsp_client.open(file), f"{file}::step"
    await asyncio.wait_for(lsp_client.begin("fullgraph.kernels", lsp_client.target), COMPILE_SECONDS)
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="module")
async def editor(session: Editor) -> AsyncIterator[Editor]:
    yield session


async def implementations(editor: Editor, line: int) -> list[types.LocationLink]:
    document = types.TextDocumentIdentifier(editor.uri)
    params = types.ImplementationParams(document, types.Position(line, 8))
    found = await editor.text_document_implementation_async(params)
    return [link for link in found or [] if isinstance(link, types.LocationLink)]


async def text_of(editor: Editor, uri: str) -> str:
    return (await editor.workspace_text_document_content_async(types.TextDocumentContentParams(uri))).text


def names(links: list[types.LocationLink]) -> list[str]:
    return [link.target_uri.rpartition("/")[2] for link in links]


async def test_a_line_leads_to_its_kernels_forward_and_backward(editor: Editor) -> None:
    links = await implementations(editor, RELU)
    forward, backward = names(links)
    assert re.fullmatch(r"cpp_fused_add_exp_relu\w*\.cpp", forward)
    assert re.fullmatch(r"cpp_fused\w*\.cpp", backward)
    assert ["0_0_forward" in link.target_uri for link in links] == [True, False]
    assert 'extern "C"' in await text_of(editor, links[0].target_uri)
    assert [link.origin_selection_range.start.line for link in links] == [RELU, RELU]


async def test_a_library_function_is_shown_where_the_code_calls_it(editor: Editor) -> None:
    link, *_ = await implementations(editor, MATMUL)
    assert names([link]) == ["0_0_forward.py"]
    lines = (await text_of(editor, link.target_uri)).splitlines()
    assert "extern_kernels.mm(" in lines[link.target_range.start.line]


async def test_a_line_without_operations_has_no_kernels(editor: Editor) -> None:
    assert await implementations(editor, 0) == []


async def test_a_kernel_leads_back_to_its_lines(editor: Editor) -> None:
    uri = (await implementations(editor, EXP))[0].target_uri
    lenses = await editor.lenses(uri)
    assert [title for _, title, _ in lenses] == [
        "model.py:6 z = torch.relu(y) + 1",
        "model.py:7 return z.exp()",
    ]
    assert {command for _, _, command in lenses} == {"fullgraph.showSource"}
    params = types.DefinitionParams(types.TextDocumentIdentifier(uri), types.Position(0, 0))
    found = await editor.text_document_definition_async(params)
    assert [location.range.start.line for location in found] == [RELU, EXP]


async def test_whole_code_leads_back_from_each_launch(editor: Editor) -> None:
    link, *_ = await implementations(editor, MATMUL)
    lenses = await editor.lenses(link.target_uri)
    assert (link.target_range.start.line, "model.py:5 y = x @ w") in [lens[:2] for lens in lenses]
    at_launch = types.DefinitionParams(types.TextDocumentIdentifier(link.target_uri), link.target_range.start)
    found = await editor.text_document_definition_async(at_launch)
    assert [location.range.start.line for location in found] == [MATMUL]


async def test_the_lens_of_a_function_counts_its_kernels(editor: Editor) -> None:
    titles = [title for _, title, _ in await editor.lenses(editor.uri)]
    assert any("· 4 kernels ·" in title for title in titles), titles


async def test_a_line_tells_its_kernels_on_hover(editor: Editor) -> None:
    text = (await editor.hover(editor.uri, EXP, 4)).contents.value
    assert re.search(r"- forward: `cpp_fused_add_exp_relu\w*` \(.*exp.*\)\n- backward: `cpp_fused", text)
    assert "Kernels" not in (await editor.hover(editor.uri, 3, 4)).contents.value


async def test_the_report_lists_all_code(editor: Editor) -> None:
    report = await editor.ask("fullgraph/report", target=editor.target)
    graphs = {item["graph"] for item in report["kernels"]}
    assert graphs == {"0/0 forward", "0/0 backward"}
    kernel = next(item for item in report["kernels"] if item["uri"].endswith(".cpp"))
    assert {"relu", "add", "exp"} <= set(kernel["operators"].split(", "))
    assert [location["range"]["start"]["line"] for location in kernel["locations"]] == [RELU, EXP]


async def test_later_runs_show_kernels_and_old_tabs_stay(editor: Editor) -> None:
    (before, *_) = await implementations(editor, EXP)
    old = await text_of(editor, before.target_uri)
    editor.edit(editor.uri, PROGRAM.replace("torch.relu(y) + 1", "torch.relu(y) + 2"))
    await asyncio.wait_for(editor.begin("fullgraph.run", editor.target), COMPILE_SECONDS)
    (after, *_) = await implementations(editor, EXP)
    assert after.target_uri != before.target_uri
    assert await text_of(editor, before.target_uri) == old
    assert await text_of(editor, after.target_uri) != old


async def test_a_kernel_that_nobody_knows_says_so(editor: Editor) -> None:
    assert "earlier session" in await text_of(editor, "fullgraph-kernel:/0123/gone.cpp")
