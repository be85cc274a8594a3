"""The server over real stdio, with a real worker: from a line to its kernels, and back."""

from __future__ import annotations

import asyncio
import re
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
    await lsp_client.open_program(tmp_path_factory.mktemp("kernels") / "model.py", PROGRAM)
    lsp_client.target = f"{lsp_client.file}::step"
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


def shown(editor: Editor, location: types.Location) -> str:
    """The text of the program at a place."""
    start, end = location.range.start, location.range.end
    assert (location.uri, start.line) == (editor.uri, end.line)
    return PROGRAM.splitlines()[start.line][start.character : end.character]


async def counterparts(editor: Editor, uri: str, line: int, character: int, among: str) -> list[types.Range]:
    found = await editor.ask(
        "fullgraph/counterparts",
        textDocument={"uri": uri},
        position={"line": line, "character": character},
        among=[among],
    )
    assert {item["uri"] for item in found} <= {among}
    points = [[types.Position(**item["range"][end]) for end in ("start", "end")] for item in found]
    return [types.Range(*pair) for pair in points]


async def lines_with(editor: Editor, uri: str, words: str) -> list[int]:
    lines = (await text_of(editor, uri)).splitlines()
    return [number for number, line in enumerate(lines) if words in line]


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


async def test_what_is_known_of_a_line_has_its_kernels_and_leads_to_them(editor: Editor) -> None:
    document = {"uri": editor.uri}
    item = await editor.ask(
        "fullgraph/atLine", textDocument=document, position={"line": RELU, "character": 0}
    )
    [kernels] = [section["entries"] for section in item["sections"] if section["kind"] == "kernels"]
    links = await implementations(editor, RELU)
    assert kernels
    assert {entry["location"]["uri"] for entry in kernels} == {link.target_uri for link in links}
    assert any("relu" in entry["description"] for entry in kernels)


async def test_a_library_function_is_shown_where_the_code_calls_it(editor: Editor) -> None:
    link, *_ = await implementations(editor, MATMUL)
    assert names([link]) == ["output_code.py"]
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
    assert [shown(editor, location) for location in found] == [
        "torch.relu(y) + 1",
        "torch.relu(y)",
        "z.exp()",
    ]


async def test_a_line_of_a_kernel_leads_to_the_expression_that_it_computes(editor: Editor) -> None:
    uri = (await implementations(editor, EXP))[0].target_uri
    exp, *_ = await lines_with(editor, uri, ".exp()")
    assert [
        PROGRAM.splitlines()[at.start.line][at.start.character :]
        for at in await counterparts(editor, uri, exp, 0, editor.uri)
    ] == ["z.exp()"]
    text = (await editor.hover(uri, exp, 4)).contents.value
    assert re.fullmatch(r"- `aten\.exp`, \[model\.py:7\]\(.*#L7\): `return z\.exp\(\)`", text)


async def test_an_expression_leads_to_the_lines_of_the_kernel_that_compute_it(editor: Editor) -> None:
    uri = (await implementations(editor, EXP))[0].target_uri
    column = PROGRAM.splitlines()[RELU].index("torch.relu")
    found = await counterparts(editor, editor.uri, RELU, column + 8, uri)
    lines = (await text_of(editor, uri)).splitlines()
    assert found
    assert all(" + " not in lines[at.start.line] for at in found)
    plus = await counterparts(editor, editor.uri, RELU, PROGRAM.splitlines()[RELU].index("+"), uri)
    assert plus
    assert all(" + " in lines[at.start.line] for at in plus)


async def test_a_graph_leads_to_its_lines_too(editor: Editor) -> None:
    report = await editor.ask("fullgraph/report", target=editor.target)
    graph = next(
        item["uri"] for item in report["artifacts"] if item["file"] == "0_0_forward/fx_graph_transformed.py"
    )
    (row,) = await lines_with(editor, graph, "torch.ops.aten.mm.default(")
    assert [at.start.line for at in await counterparts(editor, graph, row, 0, editor.uri)] == [MATMUL]
    assert row in [at.start.line for at in await counterparts(editor, editor.uri, MATMUL, 8, graph)]
    code = (await implementations(editor, MATMUL))[0]
    launch = code.target_range.start.line
    assert launch in [at.start.line for at in await counterparts(editor, graph, row, 0, code.target_uri)]


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
    assert {location["range"]["start"]["line"] for location in kernel["locations"]} == {RELU, EXP}


async def test_every_form_of_a_graph_is_a_document(editor: Editor) -> None:
    report = await editor.ask("fullgraph/report", target=editor.target)
    files = [item["file"] for item in report["artifacts"]]
    forward = [
        "fx_graph_runnable.py",
        "fx_graph_readable.py",
        "fx_graph_transformed.py",
        "ir_pre_fusion.txt",
        "ir_post_fusion.txt",
        "inductor_provenance_tracking_node_mappings.json",
        "output_code.py",
    ]
    start = files.index("0_0_forward/fx_graph_runnable.py")
    assert files[start : start + len(forward)] == [f"0_0_forward/{name}" for name in forward]
    assert {"0_0/captured_graph.py", "0_0/joint_graph.py", "0_0/backward_graph.py"} < set(files)
    texts = [await text_of(editor, item["uri"]) for item in report["artifacts"]]
    assert all(texts)


async def test_the_performance_of_a_run_adds_up(editor: Editor) -> None:
    found = await editor.ask("fullgraph/performance", target=editor.target)
    assert found["complete"] is False
    (compilation,) = found["compilations"]
    assert (compilation["function"], compilation["reason"]) == ("step", "")
    outermost = [phase for phase in found["phases"] if phase["depth"] == 0]
    assert {phase["name"] for phase in outermost} >= {"dynamo", "entire_backward_compile"}
    for phase in found["phases"]:
        around = [one for one in outermost if one["start"] <= phase["start"] <= one["start"] + one["seconds"]]
        assert around, phase
    matmul = next(row for row in found["kernels"] if row["name"] == "extern_kernels.mm")
    floats = {"x": 8 * 16, "w": 16 * 8, "y": 8 * 8}
    assert matmul["read"] == 4 * (floats["x"] + floats["w"])
    assert (matmul["written"], matmul["flops"]) == (4 * floats["y"], 2 * 8 * 16 * 8)
    forward, backward = found["pictures"]
    assert (forward["name"], backward["name"]) == ("0/0 forward", "0/0 backward")
    operators = {item["name"]: item for item in forward["operations"]}
    relu = next(item for item in operators.values() if item["operator"] == "aten.relu")
    (before,) = relu["inputs"]
    assert operators[before]["operator"] == "aten.mm"
    assert forward["kernels"][relu["kernel"]].startswith("cpp_fused_add_exp_relu")


async def test_later_runs_show_kernels_and_old_tabs_stay(editor: Editor) -> None:
    (before, *_) = await implementations(editor, EXP)
    old = await text_of(editor, before.target_uri)
    editor.edit(editor.uri, PROGRAM.replace("torch.relu(y) + 1", "torch.relu(y) + 2"))
    await asyncio.wait_for(editor.begin("fullgraph.run", editor.target), COMPILE_SECONDS)
    (after, *_) = await implementations(editor, EXP)
    assert after.target_uri != before.target_uri
    assert await text_of(editor, before.target_uri) == old
    report = await editor.ask("fullgraph/report", target=editor.target)
    item = next(item for item in report["artifacts"] if item["uri"] == after.target_uri)
    assert item["previous"] == before.target_uri
    assert await text_of(editor, after.target_uri) != old


async def test_a_kernel_that_nobody_knows_says_so(editor: Editor) -> None:
    assert "earlier session" in await text_of(editor, "fullgraph-kernel:/0123/gone.cpp")
