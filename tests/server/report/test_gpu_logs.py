"""Logs that were recorded on a GPU, as a report: what ran where is not at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import Recompile
from fullgraph_compiler.trace import TraceInterpreter, read_log
from fullgraph_server.report.fold import fold
from fullgraph_server.workspace.workspace import Workspace

LOGS = Path(__file__).parents[2] / "compiler" / "traces"
PROJECT = Path("/home/user/project")


@pytest.mark.parametrize("name", ["torch-2.11-gpu-toy", "torch-2.11-gpu-train"])
def test_each_recompilation_has_a_line_and_a_cause(name: str) -> None:
    interpreter = TraceInterpreter()
    facts = [fact for record in read_log(LOGS / f"{name}.log.gz") for fact in interpreter.feed(record)]
    facts += interpreter.finish()
    report = fold("make_traces.py", 1, "2.11.0", facts, Workspace(PROJECT, lambda _: None))
    found = [finding for finding in report.findings if finding.kind == "recompile"]
    recompiled = {fact.compile_id for fact in facts if isinstance(fact, Recompile)}
    assert recompiled
    assert recompiled <= {compile_id for finding in found for compile_id in finding.compile_ids}
    for finding in found:
        print(f"{Path(finding.span.filename).name}:{finding.span.row} {finding.message}")
        assert finding.span.filename.startswith(str(PROJECT))
        assert finding.span.row > 1
        assert " was " in finding.message or " is " in finding.message
