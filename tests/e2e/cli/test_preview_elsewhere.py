"""A CPU build of torch previews kernels with another interpreter: graphs go over, the program does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CPU_BUILD = Path(__file__).parents[3] / ".venv" / "bin" / "python"

PROGRAM = """\
import torch
from torch import nn

import only_here  # the preview environment has no such module


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(64, 256)

    def forward(self, x):
        x = self.up(x)
        torch._dynamo.graph_break()
        return x.softmax(-1)


model = torch.compile(Model())
for rows in (8, 16):
    model(torch.randn(rows, 64)).sum().backward()
"""


def preview(path: Path, *options: str, python: Path = CPU_BUILD) -> subprocess.CompletedProcess[str]:
    code = "from fullgraph_server.cli import main; main()"
    command = [sys.executable, "-c", code, "kernels", "--device", "h100", "--python", str(python)]
    return subprocess.run(
        [*command, *options, str(path)], cwd=path.parent, capture_output=True, text=True, env=os.environ
    )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "only_here.py").write_text("")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.preview
def test_graphs_are_compiled_elsewhere_and_told_on_the_lines_here(program: Path) -> None:
    ended = preview(program, "--preview-python", sys.executable)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "preview for NVIDIA H100" in ended.stdout
    titles = [line for line in ended.stdout.splitlines() if line.startswith("Graph ")]
    assert {title.split(",")[0] for title in titles} == {"Graph 0/0", "Graph 1/0", "Graph 0/1", "Graph 1/1"}
    assert {title.rpartition(", ")[2] for title in titles} == {"forward", "backward"}
    assert "program.py:13  extern_kernels.addmm" in ended.stdout
    assert "program.py:15  triton_" in ended.stdout
    assert "compiled to TTIR, TTGIR, LLVM IR, PTX" in ended.stdout
    assert "The kernels are those of torch" in ended.stdout


@pytest.mark.preview
def test_without_a_preview_environment_it_is_said_how_to_make_one(program: Path) -> None:
    ended = preview(program)
    assert ended.returncode == 1
    assert "is built without CUDA, and there is no preview environment" in ended.stdout
    assert "pip install torch==" in ended.stdout


@pytest.mark.preview
def test_a_preview_environment_without_torch_is_told(program: Path) -> None:
    ended = preview(program, "--preview-python", str(program.parent / "nowhere"))
    assert ended.returncode != 0
    assert "nowhere" in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
