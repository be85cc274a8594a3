"""Records of the compiler's caches become facts, live and from a log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from fullgraph_compiler.facts import CacheKeyPart, CacheLookup, Fact, GraphNode, SizesRemembered, StackFrame
from fullgraph_compiler.trace import TraceInterpreter, TraceRecord

COMPONENTS = [
    "[ha] gm: GraphModule()\n\ndef forward(self, a):\n    relu = torch.ops.aten.relu.default(a)",
    "[hb] example_inputs[0]: TensorMetadata(dtype=torch.float32, shape=torch.Size([8]))",
    "[hc] fx_kwargs[is_backward]: False",
    "[hd] inductor_config[max_fusion_size]: 64",
]
LOWERED = """def forward(self, primals_1: "f32[8]"):
    # File: /p/model.py:12 in forward, code: y = torch.relu(x)
    relu: "f32[8]" = torch.ops.aten.relu.default(primals_1)
"""


def record(name: str, payload: Any, compile_id: str = "0/0") -> TraceRecord:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return TraceRecord(name, {"name": name}, compile_id, 0, text)


def looked_up(state: str, key: str = "fkey", **more: Any) -> TraceRecord:
    body = {"cache_status_detailed": "full_miss", "key": key, "components": COMPONENTS, **more}
    return record(f"fx_graph_cache_{state}", body)


def facts(records: Iterable[TraceRecord], *, findings_only: bool = False) -> list[Fact]:
    interpreter = TraceInterpreter(findings_only=findings_only)
    found = [fact for item in records for fact in interpreter.feed(item)]
    return [*found, *interpreter.finish()]


def lookups(records: Iterable[TraceRecord], *, findings_only: bool = False) -> list[CacheLookup]:
    return [fact for fact in facts(records, findings_only=findings_only) if isinstance(fact, CacheLookup)]


def test_a_miss_has_its_key_and_the_lines_of_its_graph() -> None:
    records = [record("aot_forward_graph", LOWERED), looked_up("miss", time_taken_ns=2_000_000_000)]
    *parts, lookup = (fact for fact in facts(records) if isinstance(fact, (CacheKeyPart, CacheLookup)))
    assert [(part.name, len(part.items)) for part in parts if isinstance(part, CacheKeyPart)] == [
        ("", 1), ("example_inputs", 1), ("fx_kwargs", 1), ("inductor_config", 1)
    ]  # fmt: skip
    assert lookup == CacheLookup(
        "0/0",
        "fx-graph",
        "miss",
        "fkey",
        tuple(part.digest for part in parts if isinstance(part, CacheKeyPart)),
        backward=False,
        seconds=2.0,
        nodes=(GraphNode("relu", "f32[8]", StackFrame("/p/model.py", 12, "forward")),),
    )


def test_a_part_that_keys_share_is_reported_once() -> None:
    other = [*COMPONENTS[:3], "[he] inductor_config[max_fusion_size]: 32"]
    found = facts([looked_up("miss"), looked_up("miss", "other", components=other)])
    parts = [fact for fact in found if isinstance(fact, CacheKeyPart)]
    assert [part.name for part in parts] == [
        "", "example_inputs", "fx_kwargs", "inductor_config", "inductor_config"
    ]  # fmt: skip
    assert parts[-1].items == (("max_fusion_size", "he", "32"),)


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        (
            "aotautograd_cache_bypass",
            {"cache_bypass_reason": "Cannot cache it", "key": None, "components": []},
            CacheLookup("0/0", "aot-autograd", "bypass", reason="Cannot cache it"),
        ),
        (
            "aotautograd_cache_hit",
            {"key": "akey", "time_saved_ms": 1500.0, "components": []},
            CacheLookup("0/0", "aot-autograd", "hit", "akey", seconds=1.5),
        ),
        (
            "aotautograd_cache_pickle_failure",
            {"error": "cannot pickle 'generator'", "field": "x"},
            CacheLookup("0/0", "aot-autograd", "unsaved", reason="cannot pickle 'generator'"),
        ),
        (
            "precompile_cache_bypass",
            {"_reason": "Guard evaluation failed", "traceback": []},
            CacheLookup("0/0", "precompile", "bypass", reason="Guard evaluation failed"),
        ),
        (
            "dynamo_cache_bypass",
            {"entry": {}, "missing_backend": "b1"},
            CacheLookup("0/0", "precompile", "bypass", reason="Backend not found"),
        ),
        (
            "fx_graph_cache_miss",
            {"cache_status_detailed": "guard_miss", "cache_status_guard_expr": "s77 < 9", "key": "fkey"},
            CacheLookup("0/0", "fx-graph", "miss", "fkey", reason="s77 < 9", has_entry=True),
        ),
    ],
)
def test_each_record_says_what_came_of_a_graph(name: str, body: Any, expected: CacheLookup) -> None:
    assert lookups([record(name, body)]) == [expected]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("get_local_code_state", SizesRemembered("read", "local", 2)),
        ("get_extra_remote_code_state", SizesRemembered("read", "remote", 2)),
        ("put_local_code_state", SizesRemembered("written", "local", 2)),
    ],
)
def test_a_profile_of_sizes_has_its_functions(name: str, expected: SizesRemembered) -> None:
    text = "/p/model.py:9:forward:\n  L['x']: tensor size=[?, 8]\n/p/model.py:15:other:\n  L['x']: scalar"
    assert facts([record(name, text)]) == [expected]


def test_findings_need_keys_only_where_some_graphs_were_found() -> None:
    misses = [looked_up("miss"), looked_up("miss", "other")]
    found = lookups(misses, findings_only=True)
    assert [(item.key, item.parts) for item in found] == [("fkey", ()), ("other", ())]
    found = lookups([*misses, looked_up("hit", "third")], findings_only=True)
    assert [len(item.parts) for item in found] == [4, 4, 4]


def test_of_a_damaged_record_the_state_is_known() -> None:
    records = [looked_up("hit"), record("fx_graph_cache_miss", '{"key": ')]
    assert [item.state for item in lookups(records, findings_only=True)] == ["hit", "miss"]
