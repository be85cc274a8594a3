"""The server over real stdio, with the real compiler: TorchInductor runs by itself once nothing else does."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import lsp_session
import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor
from lsprotocol import types

PROGRAM = """\
from pathlib import Path
import torch
from torch._inductor.lowering import lowerings

def fails(*_):
    raise RuntimeError("no sin today")

lowerings[torch.ops.aten.sin.default] = fails

@torch.compile
def f(x):
    return x.sin()

Path(__file__).with_name("written").write_text("by a run")
f(torch.ones(3))
"""
SIN = 11


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first time, TorchInductor finds out which vector instructions there are."""
    monkeypatch.setattr(lsp_session, "WAIT_SECONDS", 120)


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    settings = {"activeInterpreter": sys.executable, "runInductor": "idle", "files": "keep"}
    lsp_client.set_configuration({"fullgraph": settings})
    await lsp_client.open_folder(tmp_path)
    lsp_client.file = tmp_path / "model.py"
    lsp_client.file.write_text(PROGRAM)
    yield
    await lsp_client.shutdown_session()


def errors(editor: Editor, uri: str) -> list[tuple[int, str]]:
    shown = editor.shown(uri)
    found = shown.diagnostics if shown else []
    return [(item.range.start.line, item.message) for item in found if item.severity == 1]


def ended(editor: Editor) -> int:
    """How many runs have shown their progress to the end."""
    told = editor.progress_reports.values()
    return sum(isinstance(report, types.WorkDoneProgressEnd) for reports in told for report in reports)


async def test_what_torchinductor_cannot_compile_is_told_without_being_asked(editor: Editor) -> None:
    uri, target = editor.open(editor.file), str(editor.file)
    summary = await editor.command("fullgraph.run", target)
    assert (summary["status"], summary["findings"]) == ("finished", 0)
    written = editor.file.with_name("written")
    assert written.read_text() == "by a run"
    written.write_text("mine")
    await editor.until(lambda: errors(editor, uri))
    ((line, message),) = errors(editor, uri)
    assert line == SIN
    assert message.startswith("TorchInductor failed: LoweringException: RuntimeError: no sin today")
    assert written.read_text() == "mine", "what starts by itself changes no file"
    (layer,) = await editor.ask("fullgraph/layers", target=target)
    assert (layer["layer"], layer["label"]) == ("inductor", "TorchInductor")
    assert "no sin today" in layer["verdict"]
    await editor.until(lambda: ended(editor) == 2)
    titles = [reports[0].message for reports in editor.progress_reports.values()]
    assert titles == ["running model.py", "running TorchInductor on model.py"]

    editor.set_configuration({"fullgraph": {"activeInterpreter": sys.executable, "runInductor": "idle"}})
    editor.file.write_text(PROGRAM.replace("x.sin()", "x.cos()"))
    editor.edit(uri, editor.file.read_text())
    editor.save(uri)
    await editor.until(lambda: ended(editor) == 4)
    (layer,) = await editor.ask("fullgraph/layers", target=target)
    assert layer["verdict"] == "TorchInductor wrote code for 1 graph"
    assert errors(editor, uri) == []
    assert "leftOut" not in await editor.ask("fullgraph/report", target=target)
    lenses = [command for _, _, command in await editor.lenses(uri)]
    assert "fullgraph.kernels" not in lenses
