"""Parts of the time of calls, from events with times that are easy to add."""

from __future__ import annotations

import pytest
from fullgraph_compiler.facts import TimePart
from fullgraph_compiler.measure.profiling import with_guards
from fullgraph_compiler.measure.sampling import compare, ratio_of
from fullgraph_compiler.measure.timeline import (
    EventCost,
    PartKey,
    ProfilerEvent,
    parts_of,
    without_overhead,
)

CODE = "/cache/code.py"
CALL = [
    ProfilerEvent("call", 0, 100),
    ProfilerEvent("guards", 5, 15),
    ProfilerEvent("region", 20, 95, "0/0"),
    ProfilerEvent("entry", 25, 70),
    ProfilerEvent("graph", 30, 65, CODE),
    ProfilerEvent("kernel", 35, 45, "cpp_fused_0"),
    ProfilerEvent("operator", 50, 60, "aten::mm"),
    ProfilerEvent("operator", 52, 58, "aten::copy_"),
    ProfilerEvent("release", 96, 99),
]


def times(*device: ProfilerEvent, events: list[ProfilerEvent] = CALL) -> dict[PartKey, float]:
    return {key: share.time for key, share in parts_of([*events, *device]).items() if share.time}


def test_the_innermost_event_counts_and_all_parts_are_the_whole() -> None:
    found = times()
    assert found == {
        PartKey("guards", "0/0"): 10,
        PartKey("frame", "0/0"): 5 + 25,
        PartKey("entry", "0/0"): 5 + 5,
        PartKey("launch", "0/0", CODE): 5 + 5 + 5,
        PartKey("kernel", "0/0", CODE, "cpp_fused_0"): 10,
        PartKey("kernel", "0/0", CODE, "aten::mm"): 10,
        PartKey("release"): 3,
        PartKey("frame"): 5 + 5 + 1 + 1,
    }
    assert sum(found.values()) == 100


def test_what_is_outside_of_a_call_does_not_count() -> None:
    assert times(events=[ProfilerEvent("guards", 0, 10), ProfilerEvent("call", 20, 30)]) == {
        PartKey("frame"): 10
    }


def test_what_a_gpu_computes_comes_first() -> None:
    kernel = ProfilerEvent(None, 60, 90, "triton_poi_0", launched=48)
    copy = ProfilerEvent(None, 90, 100, "Memcpy DtoH", launched=80)
    found = times(kernel, copy)
    assert found[PartKey("kernel", "0/0", CODE, "triton_poi_0")] == 30
    assert found[PartKey("copy", "0/0", "", "Memcpy DtoH")] == 10
    assert sum(found.values()) == 100
    assert PartKey("release") not in found


def test_a_kernel_of_a_library_has_the_name_of_its_operator() -> None:
    found = times(ProfilerEvent(None, 70, 80, "ampere_sgemm_128x64", launched=55))
    assert found[PartKey("kernel", "0/0", CODE, "aten::mm")] == 10 + 10


def test_overlapping_kernels_count_once() -> None:
    streams = [ProfilerEvent(None, 40 + n, 60 + n, f"triton_{n}", launched=40) for n in range(5)]
    assert sum(times(*streams).values()) == 100


def test_the_cost_of_recording_is_taken_off_where_it_arises() -> None:
    shares = parts_of([ProfilerEvent("call", 0, 40), ProfilerEvent("region", 10, 30, "0/0")])
    found = without_overhead(shares, EventCost(within=4, around=6), total=30)
    assert found == {PartKey("frame"): pytest.approx(14), PartKey("frame", "0/0"): pytest.approx(16)}


def test_parts_add_up_to_what_nobody_observes() -> None:
    found = without_overhead(parts_of(CALL), EventCost(1, 1), total=50)
    assert sum(found.values()) == pytest.approx(50)


def test_guards_take_what_would_go_without_them() -> None:
    parts = [TimePart("guards", 2.0), TimePart("entry", 6.0), TimePart("frame", 1.0), TimePart("kernel", 1.0)]
    more = with_guards(parts, 0.55)
    assert [part.seconds for part in more] == pytest.approx([5.5, 3.0, 0.5, 1.0])
    assert [part.seconds for part in with_guards(parts, 0.95)] == pytest.approx([9.0, 0.0, 0.0, 1.0])
    assert with_guards(parts, 0.1) == tuple(parts)  # the profiler saw more
    assert with_guards(parts[1:], 0.5) == tuple(parts[1:])


def test_the_interval_of_a_ratio_holds_its_median_and_leaves_out_what_is_far() -> None:
    ratio = ratio_of([(2.0, 1.0)] * 40 + [(50.0, 1.0)])
    assert (ratio.low, ratio.ratio, ratio.high) == (2.0, 2.0, 2.0)
    few = ratio_of([(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)])
    assert few.low <= few.ratio <= few.high


def test_both_are_measured_in_turn() -> None:
    order: list[str] = []

    def run(name: str, seconds: float) -> float:
        order.append(name)
        return seconds

    ratio = compare(lambda _: run("first", 0.02), lambda _: run("second", 0.01), budget=0.0)
    assert ratio.ratio == 2.0
    assert order[2:6] == ["first", "second", "second", "first"]
