"""The documents of reports: their names, and what they were in the run before."""

from __future__ import annotations

from pathlib import Path

from fullgraph_compiler.facts import Artifact, CodeGenerated, Fact, FrameStarted, GraphCaptured, Kernel
from fullgraph_server.engine.artifacts import documents_of
from fullgraph_server.engine.fold import fold
from fullgraph_server.engine.report import Report
from fullgraph_server.features.artifacts import ArtifactDocuments
from fullgraph_server.workspace.workspace import Workspace

WORKSPACE = Workspace(Path("/w"), lambda _: None)
STARTED = FrameStarted("0/0", "f", "/w/model.py", 1)


def code(text: str) -> CodeGenerated:
    return CodeGenerated("0/0", "forward", "/tmp/c.py", text, (Kernel("cpp_fused_0", "cpp", source=text),))


def report(generation: int, *facts: Fact) -> Report:
    return fold("model.py", generation, "2.13.0", (STARTED, *facts), WORKSPACE)


def test_a_graph_becomes_code_in_order_pass_by_pass() -> None:
    facts = (
        GraphCaptured("0/0", (), "captured"),
        Artifact("0/0", None, "joint_graph", "joint"),
        Artifact("0/0", "backward", "backward_graph", "backward"),
        Artifact("0/0", "forward", "ir_pre_fusion", "loops"),
        code("code"),
        Artifact("0/0", "backward", "ir_pre_fusion", "loops back"),
    )
    assert [document.name for document in documents_of(report(1, *facts))] == [
        "0_0/captured_graph.py",
        "0_0/joint_graph.py",
        "0_0/backward_graph.py",
        "0_0_backward/ir_pre_fusion.txt",
        "0_0_forward/ir_pre_fusion.txt",
        "0_0_forward/output_code.py",
        "0_0_forward/cpp_fused_0.cpp",
    ]


def test_the_parts_of_a_split_graph_have_names_of_their_own() -> None:
    names = [document.name for document in documents_of(report(1, code("one"), code("two")))]
    assert names == [
        "0_0_forward/output_code.py",
        "0_0_forward/cpp_fused_0.cpp",
        "0_0_forward/output_code_2.py",
        "0_0_forward/cpp_fused_0_2.cpp",
    ]


def test_a_document_knows_what_it_was_in_the_run_before() -> None:
    documents = ArtifactDocuments()

    def shown(generation: int, *facts: Fact) -> dict[str, tuple[str, str | None]]:
        found = documents.of_report(report(generation, *facts))
        return {item.document.name: (item.uri, item.previous) for item in found}

    name = "0_0_forward/output_code.py"
    first, previous = shown(1, code("one"))[name]
    assert previous is None
    assert shown(2) == {}, "the next run is on, and has told nothing yet"
    second, previous = shown(2, code("two"))[name]
    assert previous == first
    assert shown(3, code("two"))[name] == (second, None), "a run that changes nothing"
    assert shown(4) == {}, "a run that fails ahead of it"
    assert shown(5, code("three"))[name][1] == second
    assert documents.text(first) == "one"
