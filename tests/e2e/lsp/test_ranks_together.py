"""Scripts on two ranks that speak to each other (gloo), with the real compiler."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor, uri_of
from pygls.exceptions import JsonRpcException

PROGRAM = """\
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 4)

    def forward(self, x):
        x = self.first(x).relu()
        torch._dynamo.graph_break()
        return self.second(x)


def scaled(x, factor):
    return x * factor


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = torch.compile(DistributedDataParallel(Net()))
    model(torch.randn(4, 8)).sum().backward()
    compiled = torch.compile(scaled)
    compiled(torch.ones(4), 2)
    if rank == 1:
        compiled(torch.ones(4, dtype=torch.float64), 2)
    if "fail" in sys.argv and rank == 1:
        raise ValueError("rank 1 is ill")
    dist.barrier()
    print(f"{dist.get_world_size()} were here")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
"""
BREAK = PROGRAM.splitlines().index("        torch._dynamo.graph_break()")
SCALED = PROGRAM.splitlines().index("def scaled(x, factor):")
RAISE = PROGRAM.splitlines().index('        raise ValueError("rank 1 is ill")')
BARRIER = PROGRAM.splitlines().index("    dist.barrier()")


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "pyproject.toml").write_text(
        '[[tool.fullgraph.targets]]\nname = "both"\ntorchrun = "train.py"\n'
    )
    lsp_client.program = tmp_path / "train.py"
    await lsp_client.open_folder(tmp_path)
    yield
    await lsp_client.shutdown_session()


async def test_an_editor_shows_what_all_ranks_told(editor: Editor) -> None:
    items = await editor.protocol.send_request_async("fullgraph/targets", {})
    (item,) = [item for item in items if item["configured"]]
    assert (item["label"], item["kind"]) == ("both", "torchrun")
    for _ in range(2):  # the second time from warm processes
        assert (await editor.command("fullgraph.run", "both"))["status"] == "finished"
        shown = editor.shown(uri_of(editor.program))
        assert shown is not None
        found = {(str(item.code), item.range.start.line) for item in shown.diagnostics}
        assert ("GB0025", BREAK) in found
        assert ("rank-difference", SCALED) in found
        assert ("recompile", SCALED + 1) in found, "of the one rank that compiled again"


@pytest.mark.parametrize("command", ["compileTimes", "speed", "stages", "recipes", "minify"])
async def test_what_needs_one_process_is_refused(editor: Editor, command: str) -> None:
    with pytest.raises(JsonRpcException, match=r"both runs on 2 ranks, but .* name a script for that"):
        await editor.command(f"fullgraph.{command}", "both")


async def test_the_debugger_follows_one_process(editor: Editor) -> None:
    message = "both runs on 2 ranks, but programs are debugged in one process: name a script for that."
    assert await editor.ask("fullgraph/debugConfiguration", target="both") == {"problem": message}


def check(folder: Path, *words: str) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    (folder / "train.py").write_text(PROGRAM)
    fullgraph = Path(sys.executable).with_name("fullgraph")
    command = [fullgraph, "check", "train.py", "--ranks", "2", "--format", "json", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout), done


def test_the_command_line_says_which_rank_printed_what(tmp_path: Path) -> None:
    report, done = check(tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.endswith("were here")]
    assert sorted(lines) == ["[rank 0] 2 were here", "[rank 1] 2 were here"]
    assert BREAK + 1 in [item["location"]["row"] for item in report["findings"] if item["code"] == "GB0025"]


def test_a_rank_that_raises_ends_the_other(tmp_path: Path) -> None:
    report, done = check(tmp_path, "--", "fail")
    assert done.returncode == 1, done.stderr
    (error,) = [item for item in report["findings"] if item["severity"] == "error"]
    assert error["location"]["row"] == RAISE + 1
    assert error["message"] == "ValueError: rank 1 is ill (on rank 1 only)"
    (lost,) = [item for item in report["findings"] if item["location"]["row"] == BARRIER + 1]
    assert lost["severity"] == "information"
    assert lost["message"].startswith("the program ended here, since rank 1 had failed: ")
    assert lost["message"].endswith(" (on rank 0 only)")
    assert "were here" not in done.stderr
