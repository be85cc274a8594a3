"""What only the process knows of a record: written into a log, and read from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from forked import observe
from fullgraph_compiler.facts import NamedTensor, Script, StackFrame, Symbol, TargetProblem
from fullgraph_compiler.facts.seen import KEY, read_seen, with_seen
from fullgraph_compiler.trace import from_metadata

OUTER = StackFrame("/w/train.py", 7, "main")
INNER = StackFrame("/w/model.py", 12, "forward", 4, 12, 9)
SEEN: dict[str, Any] = {
    "stack": (OUTER, INNER),
    "calls": (OUTER,),
    "guard_stacks": {"L['x']": (INNER,), "L['y']": (INNER,), "": ()},
    "names": (
        (NamedTensor("x", "f32[s0]", "1", "cpu", INNER, parameter=True),),
        (Symbol("s0", "L['x'].size()[0]", 5), Symbol("u0", "", None)),
    ),
    "nodes": {"kernel:1": ["add", "mul"]},
    "filename": "/w/model.py",
    "operator": "torch.cond",
    "fatal": False,
}


def written(body: Any = None, seen: Any = SEEN) -> Any:
    """The value of an event with all of it, as a log has it."""
    return json.loads(json.dumps(with_seen(body or {}, seen)))


def test_all_of_it_survives_a_log() -> None:
    assert read_seen(written()) == SEEN


def test_the_event_keeps_its_values_first() -> None:
    body = written({"name": "a", "encoding": "json"})
    assert list(body) == ["name", "encoding", KEY], "readers look for the name at the start"
    record = from_metadata({"artifact": body, "frame_id": 0, "frame_compile_id": 1}, "")
    assert record is not None
    assert (record.name, record.compile_id, record.seen) == ("a", "0/1", SEEN)


def test_each_file_and_frame_is_written_once() -> None:
    body = written()[KEY]
    assert len(body["files"]) == len(body["frames"]) == 2
    assert len(body["guard_stacks"]) == 2


@pytest.mark.parametrize("body", [{}, {"sizes": {}}, ["text", 3], "text", None])
def test_other_events_have_nothing(body: Any) -> None:
    assert read_seen(body) == {}
    assert with_seen({"sizes": {}}, {"late": True, "lightning": None}) == {"sizes": {}}


BENT: tuple[Any, ...] = (None, -1, 99, "text", [], [[]], {}, {"a": 1}, True, 1e99)


@pytest.mark.parametrize("part", written()[KEY])
def test_what_is_bent_is_no_record_or_one_with_values_of_the_right_type(part: str) -> None:
    read = []
    for bent in BENT:
        body = written()
        body[KEY][part] = bent
        record = from_metadata({"dynamo_start": body}, "")
        if record is not None:
            read.append(bent)
            assert read_seen(written(seen=record.seen)) == record.seen
    assert len(read) < len(BENT)


def test_what_is_no_object_is_no_record() -> None:
    assert from_metadata({"dynamo_start": {KEY: 3}}, "") is None


RAGGED = """
import torch

@torch.compile(backend="eager")
def f(x):
    return torch.nested.to_padded_tensor(x.sin(), 0.0)

for lengths in ((3, 1), (2, 2), (4, 1)):
    f(torch.nested.nested_tensor([torch.ones(n, 2) for n in lengths], layout=torch.jagged))
"""


def test_sizes_of_ragged_tensors_have_no_value(tmp_path: Path) -> None:
    (tmp_path / "ragged.py").write_text(RAGGED)
    facts = observe(Script(str(tmp_path / "ragged.py")), tmp_path)
    assert not [fact for fact in facts if isinstance(fact, TargetProblem)]
