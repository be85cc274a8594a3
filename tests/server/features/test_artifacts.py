"""The documents of reports: their names, and what they were in the run before."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    Artifact,
    CodeGenerated,
    Fact,
    FrameStarted,
    GraphCaptured,
    Kernel,
    KernelCompiled,
    KernelNode,
    RanDry,
    StackFrame,
)
from fullgraph_server.features.artifacts import ArtifactDocuments
from fullgraph_server.report.artifacts import documents_of, marks_of
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

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


def test_a_preview_is_compared_with_previews_for_the_same_gpu() -> None:
    documents = ArtifactDocuments()

    def shown(generation: int, text: str, *dry: Fact) -> tuple[str, str | None]:
        found = documents.of_report(report(generation, *dry, code(text)))
        return next(
            (item.uri, item.previous) for item in found if item.document.name.endswith("output_code.py")
        )

    real, _ = shown(1, "one")
    h100, previous = shown(2, "two", RanDry("h100"))
    assert previous is None
    assert shown(3, "three")[1] == real
    assert shown(4, "four", RanDry("l4"))[1] is None
    assert shown(5, "five", RanDry("h100"))[1] == h100


def test_the_rows_of_a_preview_are_those_behind_its_header() -> None:
    frame = StackFrame("/w/model.py", 1, "f")
    source = "def triton_poi_0():\n    tmp1 = tl.maximum(tmp0, 0)"
    node = KernelNode("relu", "aten.relu", frame)
    kernel = Kernel("triton_poi_0", "triton", source=source, nodes=(node,), stacks=((frame,),))
    facts = (
        CodeGenerated("0/0", "inference", "/tmp/c.py", "code", (kernel,)),
        KernelCompiled("/tmp/c.py", "triton_poi_0", (("ptx", ".version 8.7"),)),
    )
    workspace = Workspace(Path("/w"), {"/w/model.py": SourceFile("/w/model.py", "y = x.relu()\n")}.get)

    def documents(*dry: Fact) -> list[tuple[str, list[tuple[int, int]]]]:
        told = fold("model.py", 1, "2.13.0", (*dry, *facts), workspace)
        found = [document for document in documents_of(told) if document.launches]
        return [(document.text, [mark.rows for mark in marks_of(document, told)]) for document in found]

    header = ["preview for NVIDIA H100 80GB HBM3: nothing ran on a GPU", "compiled to PTX"]
    python, ptx = ("".join(f"{begin} {line}\n" for line in header) for begin in ("#", "//"))
    assert documents() == [(f"{source}\n", [(2, 2)]), (".version 8.7", [])]
    assert documents(RanDry("h100")) == [(f"{python}{source}\n", [(4, 4)]), (f"{ptx}.version 8.7", [])]
