"""The server over real stdio: what a file means, in a project whose model, training and tests are apart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor, uri_of
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODEL = """\
import torch


class Block(torch.nn.Module):
    def forward(self, x):
        print(end="")
        return x * 2
"""
TRAIN = """\
import sys

import torch

from model import Block

steps = int(sys.argv[1])
block = torch.compile(Block(), backend="eager")
for step in range(steps):
    block(torch.ones(step + 2))
"""
TEST = """\
import torch

import train_helper


def test_block():
    torch.compile(train_helper.Block(), backend="eager")(torch.ones(2))
"""


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    folder = tmp_path_factory.mktemp("meant")
    files = {
        "model.py": MODEL,
        "train.py": TRAIN,
        "train_helper.py": "from model import Block\n",
        "test_model.py": TEST,
        "unused.py": "x = 1\n",
        "script.py": "print(1)\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    await lsp_client.open_folder(folder)
    lsp_client.folder = folder
    yield
    await lsp_client.shutdown_session()


async def suggested(editor: Any, name: str) -> tuple[list[str], bool]:
    document = {"uri": uri_of(editor.folder / name)}
    answer = await editor.ask("fullgraph/suggestedTargets", textDocument=document)
    return [item["label"] for item in answer["targets"]], answer["sure"]


async def test_a_model_suggests_the_programs_that_import_it(editor: Editor) -> None:
    assert await suggested(editor, "model.py") == (["train.py", "test_model.py"], False)
    assert await suggested(editor, "train.py") == (["train.py"], True)
    assert await suggested(editor, "test_model.py") == (["test_model.py"], True)
    assert await suggested(editor, "unused.py") == ([], False)
    assert await suggested(editor, "script.py") == (["script.py"], True)
    assert await suggested(editor, "missing.py") == ([], True)


async def test_a_script_runs_with_arguments_and_its_model_means_that_run(editor: Any) -> None:
    train = f"{editor.folder / 'train.py'} -- 2"
    first = await editor.command("fullgraph.run", train)
    assert (first["status"], first["compiled"]) == ("finished", True)
    assert await suggested(editor, "model.py") == (["train.py 2"], True)
    assert await suggested(editor, "train.py") == (["train.py"], True)  # it compiled nothing of train.py
    again = await editor.command("fullgraph.run", uri_of(editor.folder / "model.py"))
    assert again["target"] == train
    listed = await editor.ask("fullgraph/targets")
    assert "train.py 2" in [item["label"] for item in listed]
    with pytest.raises(JsonRpcException, match="No closing quotation"):
        await editor.command("fullgraph.run", f"{editor.folder / 'train.py'} -- 'a")


async def test_a_target_of_the_configuration_comes_first(editor: Any) -> None:
    settings = '[[tool.fullgraph.targets]]\nname = "three"\nscript = "model.py"\n'
    settings += '[[tool.fullgraph.targets]]\nname = "four"\nscript = "model.py"\n'
    (editor.folder / "pyproject.toml").write_text(settings)
    assert await suggested(editor, "model.py") == (["three", "four"], False)
    (editor.folder / "pyproject.toml").write_text(settings.rpartition("[[tool")[0])
    assert await suggested(editor, "model.py") == (["three"], True)


async def test_launch_configurations_are_offered_for_their_program(editor: Editor) -> None:
    await asyncio.to_thread(_write_launch, editor.folder)
    assert await suggested(editor, "script.py") == (["Script with arguments", "script.py"], False)
    listed = {item["id"]: item for item in await editor.ask("fullgraph/targets")}
    target = listed["launch:Script with arguments"]
    assert (target["uri"], target["configured"]) == (uri_of(editor.folder / "script.py"), False)
    assert (await editor.command("fullgraph.run", target["id"]))["status"] == "exited"


def _write_launch(folder: Path) -> None:
    (folder / "script.py").write_text(
        "import sys\nif __name__ == '__main__':\n    sys.exit(len(sys.argv) - 1)\n"
    )
    (folder / ".vscode").mkdir()
    configuration = {"name": "Script with arguments", "type": "debugpy", "request": "launch"}
    configuration |= {"program": "${workspaceFolder}/script.py", "args": ["a", "b"]}
    text = json.dumps({"configurations": [configuration]}, indent=2)
    (folder / ".vscode" / "launch.json").write_text(f"// mine\n{text}")
