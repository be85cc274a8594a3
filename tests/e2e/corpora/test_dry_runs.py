"""Programs that run without data: the same is compiled, and a model may be of any size."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from expectations import parse_expectations
from forked import observe
from fullgraph_compiler.facts import Depth, Script, Switches
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.workspace import Workspace
from test_cases import found_in

CASES = sorted((Path(__file__).parents[2] / "cases" / "graph_breaks").glob("*.py"))

OTHERWISE = {
    "gb0016_nested_tensor": "nothing is known of nested tensors without data",
    "gb0064_quantized": "a quantized tensor without data is none",
    "gb0163_subclass_base": "a tensor without data cannot become one of another class",
    "gb0164_subclass_attribute": "a tensor without data cannot become one of another class",
    "gb0250_astype_object": "there is no NumPy array of what is not there",
}
"""Programs whose breaks are others in a dry run, and why."""

LARGE = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(1_000_000, 1_000_000), nn.Linear(1_000_000, 1_000_000)

    def forward(self, x):
        x = self.up(x).relu()
        torch._dynamo.graph_break()
        return self.down(x)


model = Model()
optimizer = torch.optim.AdamW(model.parameters())
compiled = torch.compile(model)
for size in (8, 12):
    compiled(torch.randn(size, 1_000_000)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""

NEEDS_DATA = """\
import torch


@torch.compile
def clip(x):
    y = x * 2
    if y.sum() > 0:
        y = y - 1
    return y


clip(torch.randn(4))
print("not to be seen")
"""


def run(path: Path, tmp_path: Path, *, dry: bool = True, depth: Depth = "graph") -> Report:
    facts = observe(Script(str(path)), tmp_path, depth=depth, switches=Switches(dry_run=dry))
    return fold(str(path), 1, torch.__version__, facts, Workspace(path.parent))


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "program.py"
    path.write_text(text)
    return path


def breaks(report: Report) -> set[tuple[str, int]]:
    return {(item.code, item.span.row) for item in report.findings if item.kind == "graph-break"}


@pytest.mark.corpus
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_what_breaks_a_graph_does_so_in_a_dry_run(
    path: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    # The program's own errors aside: a dry run can end where a value is needed.
    told = {(item.row, item.code) for item in found_in(run(path, tmp_path), path, ("error", "warning"))}
    wanted = {(item.row, item.code) for item in parse_expectations(path, torch.__version__)}
    same = {item for item in told ^ wanted if item[1] != "target-error"} == set()
    record_property("ratio: programs whose breaks are the same in a dry run", (int(same), 1))
    assert same is (path.stem not in OTHERWISE)


def test_a_model_of_eight_terabytes_trains(tmp_path: Path) -> None:
    report = run(written(tmp_path, LARGE), tmp_path)
    assert report.status == "finished"
    assert breaks(report) == {("GB0025", 12)}
    assert [(item.span.row, item.count) for item in report.findings if item.kind == "recompile"] != []
    (frame,) = [frame for frame in report.frames if frame.function == "forward"]
    assert any("shape [1000000, 1000000]" in guard.expected for guard in frame.guards)


def test_its_kernels_are_written_too(tmp_path: Path) -> None:
    path = written(tmp_path, LARGE)
    for _ in range(2):  # nothing of the first run may come from a cache in the second: it would be run
        report = run(path, tmp_path, depth="kernels")
        assert report.status == "finished"
        assert Counter(code.phase for code in report.codes) == {"forward": 4, "backward": 4}


def test_where_a_value_is_needed_the_run_ends_and_says_so(tmp_path: Path) -> None:
    report = run(written(tmp_path, NEEDS_DATA), tmp_path)
    assert report.status == "exited"
    assert breaks(report) == {("GB0170", 7)}
    (end,) = [item for item in report.findings if item.kind == "target-error"]
    assert end.message == (
        "the dry run ends here: the program needs the value of a tensor (`item()`, `if`, `float()`), "
        "and there is no data"
    )
    assert (end.severity, end.span.row) == ("warning", 7)


def test_what_a_program_raises_by_itself_is_told_as_ever(tmp_path: Path) -> None:
    report = run(written(tmp_path, "import torch\ntorch.ones(2) @ torch.ones(3)\n"), tmp_path)
    assert report.status == "raised"
    (finding,) = report.findings
    assert (finding.severity, finding.span.row) == ("error", 2)


def test_several_ranks_have_nothing_to_exchange(tmp_path: Path) -> None:
    path = written(tmp_path, "import torch\n")
    code = "from fullgraph_server.cli import main; main()"
    command = [sys.executable, "-c", code, "check", "--dry-run", "--ranks", "2", str(path)]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 2
    assert "A dry run has no data that ranks could exchange" in ended.stdout


@pytest.mark.preview
def test_tensors_on_a_gpu_that_is_not_there_have_gradients(tmp_path: Path) -> None:
    text = "import torch\nm = torch.compile(torch.nn.Linear(4, 4)).to('cuda')\n"
    text += "m(torch.ones(2, 4).cuda()).sum().backward()\nassert m.weight.grad.shape == (4, 4)\n"
    assert run(written(tmp_path, text), tmp_path).status == "finished"


@pytest.mark.preview
def test_where_the_driver_is_needed_the_run_ends_and_says_so(tmp_path: Path) -> None:
    report = run(written(tmp_path, "import torch\ntorch.cuda.Stream()\n"), tmp_path)
    assert report.status == "exited"
    (end,) = report.findings
    assert "the program needs a real GPU" in end.message
    assert (end.severity, end.span.row) == ("warning", 2)
