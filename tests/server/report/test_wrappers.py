"""Breaks of torch's own wrappers, told apart from the user's."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import Fact, FrameStarted, GraphBreak, GraphPart, StackFrame
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

SITE = "/usr/lib/python3/site-packages"
DDP = f"{SITE}/torch/nn/parallel/distributed.py"
FSDP = f"{SITE}/torch/distributed/fsdp/_fully_shard/_fsdp_common.py"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text("def forward(x):\n    return x\n\n\nmodel(x)\n")
    return str(path)


def findings(file: str, *facts: Fact) -> tuple[Finding, ...]:
    return fold(file, 1, "2.13.0", facts, Workspace(Path(file).parent), file).findings


def broken(*stack: StackFrame, skips_frame: bool = False) -> GraphBreak:
    url = "https://example.org/gb0007.html"
    return GraphBreak("0/0", "GB0007", "Skipped", "Why", ("What to do",), "", url, stack, skips_frame, "")


@pytest.mark.parametrize(
    ("inner", "name"),
    [
        ((StackFrame(DDP, 1757, "_pre_forward"),), "DistributedDataParallel"),
        (
            (StackFrame(DDP, 9, "run"), StackFrame("/usr/lib/python3.11/contextlib.py", 1, "f")),
            "DistributedDataParallel",
        ),
        ((StackFrame(FSDP, 30, "wrapper"),), "FSDP"),
        ((StackFrame(f"{SITE}/torch/optim/optimizer.py", 79, "_use_grad"),), "torch.optim"),
    ],
)
def test_a_break_in_a_wrapper_is_not_the_users(file: str, inner: tuple[StackFrame, ...], name: str) -> None:
    (found,) = findings(file, broken(StackFrame(file, 5, "main"), *inner))
    assert found.message.startswith(f"{name} breaks the graph by itself: Skipped")
    assert (found.severity, found.code, found.span.row) == ("information", "GB0007", 5)
    assert "What to do" not in found.hints, "the advice of torch is for code that one can change"


def test_a_break_of_the_users_below_a_wrapper_is_the_users(file: str) -> None:
    stack = (StackFrame(file, 5, "main"), StackFrame(DDP, 9, "forward"), StackFrame(file, 2, "forward"))
    (found,) = findings(file, broken(*stack))
    assert (found.message, found.severity, found.span.row) == ("Skipped", "warning", 2)
    assert found.hints == ("What to do",)


def test_a_frame_that_a_wrapper_makes_run_eagerly_still_warns(file: str) -> None:
    stack = (StackFrame(file, 5, "main"), StackFrame(FSDP, 30, "wrapper"))
    (found,) = findings(file, broken(*stack, skips_frame=True))
    assert found.severity == "warning"


def test_a_graph_that_is_cut_at_buckets_says_into_how_many(file: str) -> None:
    parts = [GraphPart("0/0", f"submod_{number % 3}") for number in range(6)]
    (found,) = findings(file, FrameStarted("0/0", "forward", file, 1), *parts)
    assert found.message == "DistributedDataParallel cuts this graph into 3, one for each bucket of gradients"
    assert (found.kind, found.severity, found.span.row) == ("perf-hint", "information", 1)
