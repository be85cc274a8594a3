"""Parts of the time of calls, from events with times that are easy to add."""

from __future__ import annotations

import pytest
from fullgraph_compiler.facts import TimePart
from fullgraph_compiler.measure.profiling import with_guards
from fullgraph_compiler.measure.sampling import compare, ratio_of
from fullgraph_compiler.measure.timeline import (
    Event,
    EventCost,
    Key,
    parts_of,
    without_overhead,
)

CODE = "/cache/code.py"
CALL = [
    Event("call", 0, 100),
    Event("guards", 5, 15),
    Event("region", 20, 95, "0/0"),
    Event("entry", 25, 70),
    Event("graph", 30, 65, CODE),
    Event("kernel", 35, 45, "cpp_fused_0"),
    Event("operator", 50, 60, "aten::mm"),
    Event("operator", 52, 58, "aten::copy_"),
    Event("release", 96, 99),
]


def times(*device: Event, events: list[Event] = CALL) -> dict[Key, float]:
    return {key: share.time for key, share in parts_of([*events, *device]).items() if share.time}


def test_the_innermost_event_counts_and_all_parts_are_the_whole() -> None:
    found = times()
    assert found == {
        Key("guards", "0/0"): 10,
        Key("frame", "0/0"): 5 + 25,
        Key("entry", "0/0"): 5 + 5,
        Key("launch", "0/0", CODE): 5 + 5 + 5,
        Key("kernel", "0/0", CODE, "cpp_fused_0"): 10,
        Key("kernel", "0/0", CODE, "aten::mm"): 10,
        Key("release"): 3,
        Key("frame"): 5 + 5 + 1 + 1,
    }
    assert sum(found.values()) == 100


def test_what_is_outside_of_a_call_does_not_count() -> None:
    assert times(events=[Event("guards", 0, 10), Event("call", 20, 30)]) == {Key("frame"): 10}


def test_what_a_gpu_computes_comes_first() -> None:
    kernel = Event(None, 60, 90, "triton_poi_0", launched=48)
    copy = Event(None, 90, 100, "Memcpy DtoH", launched=80)
    found = times(kernel, copy)
    assert found[Key("kernel", "0/0", CODE, "triton_poi_0")] == 30
    assert found[Key("copy", "0/0", "", "Memcpy DtoH")] == 10
    assert sum(found.values()) == 100
    assert Key("release") not in found


def test_a_kernel_of_a_library_has_the_name_of_its_operator() -> None:
    found = times(Event(None, 70, 80, "ampere_sgemm_128x64", launched=55))
    assert found[Key("kernel", "0/0", CODE, "aten::mm")] == 10 + 10


def test_overlapping_kernels_count_once() -> None:
    streams = [Event(None, 40 + n, 60 + n, f"triton_{n}", launched=40) for n in range(5)]
    assert sum(times(*streams).values()) == 100


def test_the_cost_of_recording_is_taken_off_where_it_arises() -> None:
    shares = parts_of([Event("call", 0, 40), Event("region", 10, 30, "0/0")])
    found = without_overhead(shares, EventCost(within=4, around=6), total=30)
    assert found == {Key("frame"): pytest.approx(14), Key("frame", "0/0"): pytest.approx(16)}


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
