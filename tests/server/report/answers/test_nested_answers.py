"""A compiled function that another compiled function calls loses its options, which is told on the call."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import FrameStarted, GraphCaptured, GraphNode, StackFrame
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
TEXT = """\
import torch

@torch.compile({})
def heavy(x):
    return torch.bmm(x, x)

{}def model(x):
    return heavy(x).relu()
"""
BMM = StackFrame(FILE, 5, "heavy", 11, 5, 26)
RELU = StackFrame(FILE, 9, "model", 11, 9, 26)


def told(
    options: str, *frames: StackFrame, compiled: str = "model", row: int = 8, outer: str = "@torch.compile\n"
) -> list[Finding]:
    nodes = tuple(GraphNode(f"n{row}", "f32[3]", frame) for row, frame in enumerate(frames))
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, TEXT.format(options, outer))}.get)
    facts = (
        FrameStarted("0/0", compiled, FILE, row),
        GraphCaptured("0/0", nodes, "", (StackFrame(FILE, 9, "model"),)),
    )
    return list(fold("program.py", 1, "2.13.0", facts, workspace).findings)


def test_options_that_are_not_used_are_told_on_the_call() -> None:
    (found,) = told('backend=tuned, mode="max-autotune", fullgraph=True', BMM, RELU)
    assert (found.kind, found.severity) == ("perf-hint", "information")
    assert (found.span.row, found.span.column) == (9, 12)
    assert found.message == ("`heavy` is traced into this graph, without its own `backend` and `mode`")
    assert "The options on line 3 apply only where uncompiled code calls `heavy`." in found.explanation


@pytest.mark.parametrize("options", ["", "fullgraph=True", "mode='default', dynamic=None"])
def test_without_options_nothing_is_lost(options: str) -> None:
    assert told(options, BMM, RELU) == []


def test_a_function_that_is_compiled_itself_has_its_options() -> None:
    assert told("backend=tuned", BMM, compiled="heavy", row=4) == []


def test_the_callers_own_options_are_not_lost() -> None:
    outer = "@torch.compile(backend=tuned)\n"
    assert told("backend=tuned", BMM, RELU, outer=outer) == []
    (found,) = told("backend=tuned, dynamic=False", BMM, RELU, outer=outer)
    assert found.message.endswith("without its own `dynamic`")


def test_nothing_is_told_of_a_caller_that_is_compiled_elsewhere() -> None:
    assert told("backend=tuned", BMM, RELU, outer="\n") == []
