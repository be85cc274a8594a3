"""The server over real stdio: dry runs and previews, asked for one at a time. The worker plays them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import pytest_lsp
from lsp_session import CAPABILITIES, CONFIG, Editor, uri_of
from lsprotocol import types
from pygls.exceptions import JsonRpcException

FAKE = Path(__file__).parents[2] / "server" / "support" / "fake_worker.py"
PROGRAM = """\
def f(x):
    return x.relu()
"""
COMMANDS = ["fullgraph.showSource", "fullgraph.openArtifact"]
"""What the client can do."""
PREVIEW = {
    "label": "preview for h100",
    "sentence": "preview for NVIDIA H100 80GB HBM3: nothing ran on a GPU",
    "unknown": ["Nobody knows."],
}


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    folder = tmp_path / "workspace"
    folder.mkdir()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nshift; exec "{sys.executable}" "{FAKE}" "$@"\n')
    python.chmod(0o755)
    lsp_client.program = folder / "program.py"
    lsp_client.program.write_text(PROGRAM)
    (folder / "pyproject.toml").write_text(
        "[[tool.fullgraph.targets]]\n"
        f'name = "large"\nscript = "program.py"\nargs = ["too-large", "{lsp_client.program}"]\n'
    )
    # The worker plays no proofs.
    lsp_client.set_configuration({"fullgraph": {"interpreter": str(python), "tryFixes": "asked"}})
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=attrs.evolve(CAPABILITIES, experimental={"commands": {"commands": COMMANDS}}),
            workspace_folders=[types.WorkspaceFolder(uri_of(folder), folder.name)],
        )
    )
    yield
    await lsp_client.shutdown_session()


async def fixes(editor: Editor) -> dict[str, types.Command]:
    """The quick fixes on the first finding in the program."""
    uri = uri_of(editor.program)
    (diagnostic,) = editor.shown(uri).diagnostics
    context = types.CodeActionContext([diagnostic])
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), diagnostic.range, context)
    actions = await editor.text_document_code_action_async(params) or []
    return {action.title: action.command for action in actions}


async def report(editor: Editor) -> dict[str, Any]:
    found: dict[str, Any] = await editor.ask("fullgraph/report", target="large")
    return found


async def test_a_run_that_takes_too_much_memory_offers_a_dry_one(editor: Editor) -> None:
    editor.open(editor.program)
    assert (await editor.command("fullgraph.run", "large"))["status"] == "memory"
    fix = (await fixes(editor))["Dry Run"]
    assert fix.command == "fullgraph.run"
    assert fix.arguments is not None
    summary = await editor.command(fix.command, *fix.arguments)
    ran = {"target": "large", "status": "finished", "findings": 0, "compiled": False}
    assert summary == {**ran, "layer": "dry-run"}
    # It stands beside what the program does as it is.
    assert "dry" not in await report(editor)
    assert len(editor.shown(uri_of(editor.program)).diagnostics) == 1
    (layer,) = await editor.ask("fullgraph/layers", target="large")
    assert (layer["label"], layer["state"], layer["stale"]) == ("Dry run", "finished", False)
    assert layer["report"]["dry"]["label"] == "dry run"


async def test_a_preview_beside_an_ordinary_result_is_asked_for_by_name(editor: Editor) -> None:
    editor.open(editor.program)
    assert (await editor.command("fullgraph.run", "large"))["status"] == "memory"
    summary = await editor.command("fullgraph.kernels", "large", {"device": "h100"})
    assert summary["layer"] == "preview"
    ask = {"target": "large", "layer": "preview"}
    found = await editor.ask("fullgraph/report", **ask)
    assert found["dry"] == PREVIEW
    assert [item["name"] for item in found["kernels"]] == ["Output code", "triton_poi_0"]
    assert (await report(editor))["kernels"] == []
    told = await editor.ask("fullgraph/performance", **ask)
    assert (told["label"], told["layer"]) == ("large: Preview for h100", "preview")
    (diagnostic,) = editor.shown(uri_of(editor.program)).diagnostics
    assert diagnostic.data["kind"] == "target-error", "that of the ordinary run"

    params = types.ImplementationParams(
        types.TextDocumentIdentifier(uri_of(editor.program)), types.Position(1, 12)
    )
    (link,) = await editor.text_document_implementation_async(params) or []
    assert isinstance(link, types.LocationLink)
    assert link.target_uri == found["kernels"][1]["uri"]
    with pytest.raises(JsonRpcException, match="no layer 'x'"):
        await editor.ask("fullgraph/report", target="large", layer="x")


async def test_a_preview_shows_kernels_and_what_they_were_compiled_to(editor: Editor) -> None:
    editor.open(editor.program)
    devices = await editor.ask("fullgraph/devices")
    h100 = next(item for item in devices if item["name"] == "h100")
    assert h100 == {
        "name": "h100",
        "gpu": "NVIDIA H100 80GB HBM3",
        "description": "compute capability 9.0, 132 SMs, 80 GiB at 3.35 TB/s",
    }
    summary = await editor.command("fullgraph.kernels", "large", {"device": h100["name"]})
    assert summary["status"] == "finished"
    found = await report(editor)
    assert found["dry"] == PREVIEW
    assert [item["kind"] for item in found["findings"]] == ["compile-error"]
    assert "minify" not in found["findings"][0], "what fails for a GPU does not fail here"
    names = [item["name"] for item in found["artifacts"]]
    assert names == ["Output code", "triton_poi_0", "triton_poi_0, TTIR", "triton_poi_0, PTX"]

    told = await editor.ask("fullgraph/performance", target="large")
    assert told["dry"] == PREVIEW
    (row,) = told["kernels"]
    assert (row["registers"], row["shared"]) == (12, 2048)
    assert row["config"] == "XBLOCK: 256: one of 2 settings that autotuning would try"

    position = types.Position(1, 12)
    params = types.ImplementationParams(types.TextDocumentIdentifier(uri_of(editor.program)), position)
    (link,) = await editor.text_document_implementation_async(params) or []
    assert isinstance(link, types.LocationLink)
    assert link.target_uri == found["kernels"][1]["uri"]
    content = types.TextDocumentContentParams(link.target_uri)
    text = (await editor.workspace_text_document_content_async(content)).text
    assert text.startswith(f"# {PREVIEW['sentence']}\n")
    titles = [(title, command) for _, title, command in await editor.lenses(link.target_uri)]
    assert titles == [
        ("TTIR", "fullgraph.openArtifact"),
        ("PTX", "fullgraph.openArtifact"),
        ("program.py:2 return x.relu()", "fullgraph.showSource"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"device": "h1000"},), "Kernels cannot be previewed for 'h1000': choose one of a100, l4, "),
        (({"device": ["h100"]},), "Kernels cannot be previewed for"),
        (
            ({"dryRun": "yes"},),
            "fullgraph.run takes a target, and optionally {dryRun: boolean, device: string}.",
        ),
        (({}, {}), "fullgraph.run takes a target, and optionally {dryRun: boolean, device: string}."),
    ],
)
async def test_wrong_options_are_refused(editor: Editor, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(JsonRpcException) as refused:
        await editor.command("fullgraph.run", "large", *arguments)
    assert refused.value.message.startswith(message)
