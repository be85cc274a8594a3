"""Every text that a log holds can be read, also what nothing else is made of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fullgraph_compiler.facts import RecordText, RunFinished
from fullgraph_compiler.trace import read_log
from fullgraph_server.report.artifacts import documents_of
from fullgraph_server.report.fold import fold
from fullgraph_server.workspace.workspace import Workspace
from hostile_logs import finished, record, started, strings
from traces import RECORDED, read


@pytest.mark.parametrize("name", ["torch-2.11-gpu-train", "torch-2.11-gpu-toy", "torch-2.13", "torch-2.15"])
def test_each_payload_is_a_document(name: str) -> None:
    log = RECORDED / f"{name}.log.gz"
    shown = {document.text.rstrip("\n") for document in documents_of(read(log, RECORDED, "code"))}
    texts = {item.payload.rstrip("\n"): item.name for item in read_log(log) if item.name != "chromium_event"}
    texts.pop('{"version": 2.0}', None)  # a mapping of no nodes
    assert len(texts) > 10
    assert not [name for text, name in texts.items() if text and text not in shown]


def documents(path: Path, *log: str) -> dict[str, str]:
    (path / "job.log").write_text("".join(log))
    return {item.name: item.text for item in documents_of(read(path / "job.log", path, "code"))}


def test_records_that_nobody_knows_are_listed_by_their_names(tmp_path: Path) -> None:
    found = documents(
        tmp_path,
        strings(),
        started(),
        record("@f_ORIGINAL_BYTECODE", payload="RESUME"),
        record("@a_cache", payload='{"key": 1}'),
        record("@a_cache", payload='{"key": 2}'),
        record("new_in_torch_3", payload="x"),
        record("link", {"name": "a page", "url": "https://x"}),
        record("dump_file", {"name": "<eval_with_key>.3"}, payload="code"),
        record("unknown_values", {"a": 1}),
        finished(),
    )
    metrics = json.loads(found.pop("0_0/records/compilation_metrics.json"))
    assert metrics["co_name"] == "toy"
    assert found == {
        "0_0/records/f_ORIGINAL_BYTECODE.txt": "RESUME",
        "0_0/records/a_cache.json": '{"key": 1}',
        "0_0/records/a_cache_2.json": '{"key": 2}',
        "0_0/records/new_in_torch_3.txt": "x",
        "0_0/records/link_a_page.json": '{\n  "name": "a page",\n  "url": "https://x"\n}',
        "0_0/records/dump_file__eval_with_key_.3.txt": "code",
    }


def test_outside_of_compilations_and_of_compiled_autograd(tmp_path: Path) -> None:
    ids = {"frame_id": None, "frame_compile_id": None}
    found = documents(
        tmp_path,
        record("@a", payload="1", **ids),
        record("compiled_autograd_graph", payload="2", **ids, compiled_autograd_id=0),
    )
    assert found == {"outside/records/a.txt": "1", "!0/records/compiled_autograd_graph.txt": "2"}


def test_forms_of_a_graph_whose_compilation_is_not_in_the_log(tmp_path: Path) -> None:
    found = documents(tmp_path, record("aot_inference_graph", payload="class A"))
    assert found == {"0_0/records/aot_inference_graph.txt": "class A"}


@pytest.mark.parametrize("name", ["../../etc/x", "/etc/x", "..", "a\\..\\b", "a\nb", "\0", "λ" * 500, ""])
def test_a_name_stays_within_its_folder(name: str) -> None:
    facts = (RecordText("", name, "x"), RunFinished("finished", 1.0))
    [document] = documents_of(fold("t", 1, "", facts, Workspace(Path("/w")), "t"))
    folder, *_, last = Path(document.name).parts
    assert (folder, len(Path(document.name).parts)) == ("outside", 3)
    assert last.isascii()
    assert last.isprintable()


def test_without_code_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(record("@a", payload="1"))
    assert read(tmp_path / "job.log", tmp_path, "graphs").records == ()
