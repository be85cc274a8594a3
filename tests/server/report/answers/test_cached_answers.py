"""A cached function whose operations are in a graph is told on its call, with what to do."""

from __future__ import annotations

from pathlib import Path

from fullgraph_compiler.facts import Fact, FrameStarted, GraphCaptured, GraphNode, StackFrame
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
TEXT = """\
import functools
from functools import cache

@functools.lru_cache(None)
def table(n):
    return torch.linspace(0, 1, n).cos()

class Position:
    @cache
    def angles(self, n):
        return torch.arange(n).sin()

    def forward(self, x):
        return x + table(64) + self.angles(x.size(0))

def plain(x):
    return x.sin()
"""
STARTED = FrameStarted("0/0", "forward", FILE, 13)
TABLE = StackFrame(FILE, 6, "table", 11, 6, 39)
ANGLES = StackFrame(FILE, 11, "angles", 15, 11, 36)
ADD = StackFrame(FILE, 14, "forward", 15, 14, 53)
CALLS = (StackFrame(FILE, 14, "forward"),)


def told(
    *frames: StackFrame, started: Fact = STARTED, calls: tuple[StackFrame, ...] = CALLS
) -> list[Finding]:
    nodes = tuple(GraphNode(f"n{row}", "f32[64]", frame) for row, frame in enumerate(frames))
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, TEXT)}.get)
    facts = (started, GraphCaptured("0/0", nodes, "", calls))
    return list(fold("program.py", 1, "2.13.0", facts, workspace).findings)


def test_a_cached_function_is_told_on_its_call_with_its_share_of_the_graph() -> None:
    (found,) = told(TABLE, TABLE, ADD)
    assert (found.kind, found.severity) == ("perf-hint", "information")
    assert (found.span.row, found.span.column, found.span.end_column) == (14, 20, 29)
    assert found.message == (
        "Dynamo ignores the cache of `table`: 2 of the 3 operations in this graph come from it"
    )
    assert "`@functools.lru_cache` (line 4)" in found.explanation
    assert found.hints == ("Compute it once, outside of compiled code, and use the result: `table(64)`.",)


def test_a_cached_method_that_gets_what_varies_is_called_outside() -> None:
    (found,) = told(ANGLES, ADD)
    assert "`@cache` (line 9)" in found.explanation
    assert found.hints == (
        "Call `angles` outside of compiled code, where its cache works, and pass the result.",
    )


def test_without_calls_as_in_a_log_it_stands_in_the_function() -> None:
    (found,) = told(TABLE, ADD, calls=())
    assert found.span.row == 6


def test_the_cache_around_compiled_code_works() -> None:
    assert not told(TABLE, started=FrameStarted("0/0", "table", FILE, 4), calls=())


def test_other_functions_have_no_cache() -> None:
    assert not told(StackFrame(FILE, 17, "plain"), ADD)
