"""Differences between ranks, planted in real logs: the first one, its ranks and its line."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fullgraph_server.compare.ranks import RankReport, merged
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.traces.reading import ReadOptions
from fullgraph_server.traces.trace import read_trace
from rank_logs import PROGRAM, Edit, again, both, graph_lines, replaced, row, with_json, without, write
from traces import read

MATMUL, REDUCE, TWICE, GATHER, SECOND, SUM = map(
    row, ("x @ w)", "all_reduce(h)", "h * 2", "all_gather_tensor(", "all_reduce(z)", "z.sum()")
)
STEP, SCALE, SIN, LOSS, COS, ABS = map(
    row, ("def step", "def scale", "x.sin()", "def loss", "x.cos()", "(y - 1)")
)
SCHEDULE = "inductor_collective_schedule"
META = "inductor_runtime_and_tensor_meta"


def swapped(lines: list[str]) -> list[str]:
    """The lines of a graph with the two collective operations before the sum in another order."""
    gather = next(index for index, line in enumerate(lines) if "all_gather_into_tensor(y" in line)
    second = next(index for index, line in enumerate(lines) if "all_reduce(res" in line)
    lines[gather], lines[second] = lines[second], lines[gather]
    return lines


def last_first(names: list[str]) -> list[str]:
    """A schedule with the last operation, and the wait for it, after the first."""
    return [*names[:2], *names[4:], *names[2:4]]


def graph(compile_id: str, old: str, new: str) -> Edit:
    return replaced("dynamo_output_graph", compile_id, old, new)


def no_second(lines: list[str]) -> list[str]:
    return [line for line in lines if "all_reduce(res" not in line]


def one_more(lines: list[str]) -> list[str]:
    """The lines of a graph with one operation more."""
    twice = next(index for index, line in enumerate(lines) if '" = h * 2' in line)
    return [*lines[: twice + 1], lines[twice].replace("y:", "y_1:"), *lines[twice + 1 :]]


def times(factor: float) -> Edit:
    """Estimates that are all so many microseconds, one for each kernel."""

    def change(meta: Any) -> Any:
        for kernel in meta["ops"]:
            kernel["estimated_runtime_ns"] = 1000 * factor
        return meta

    return with_json(META, "1/0", change)


def order(change: Any) -> Edit:
    def edit(execution: Any) -> Any:
        change(execution["graph_execution_order"])
        return execution

    return with_json("graph_execution", "", edit)


def other_graph(at: int, compile_id: str) -> Edit:
    return order(lambda ran: ran.__setitem__(at, {"compile_id": compile_id}))


def exchange(ran: list[Any]) -> None:
    ran[0], ran[1] = ran[1], ran[0]


def cut_in(compile_id: str) -> Edit:
    """The log up to the first graph of a compilation."""
    frame = compile_id.partition("/")[0].encode()

    def edit(log: list[bytes]) -> list[bytes]:
        start = next(
            index
            for index, item in enumerate(log)
            if b'{"dynamo_output_graph"' in item and b'"frame_id": %b,' % frame in item
        )
        return log[: start + 1]

    return edit


@dataclass(frozen=True)
class Case:
    """Edits of some ranks, and what is told first: words, severity, line, ranks that differ."""

    edits: Sequence[tuple[Sequence[int], Edit]]
    words: str = ""
    severity: str = ""
    line: int = 0
    ranks: Sequence[int] = ()
    tlparse: dict[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    """The groups that tlparse makes of the ranks, by what differs; of orders it has none."""
    false_alarm: bool = False
    """Whether it tells a difference where there is none that counts."""


ONE, HALF, THIRDS = [3], [4, 5, 6, 7], ([2, 5], [6, 7])
BUT_ONE = [0, 1, 2, 4, 5, 6, 7]
FIRST_HALF = [0, 1, 2, 3]
CASES = {
    "collective-missing": Case(
        [(ONE, both(graph_lines("1/0", no_second), with_json(SCHEDULE, "1/0", lambda names: names[:4])))],
        "calls only 2 collective operations on rank 3",
        "warning",
        SECOND,
        ONE,
        {"collective": [ONE, BUT_ONE]},
    ),
    "collectives-in-another-order": Case(
        [(ONE, both(graph_lines("1/0", swapped), with_json(SCHEDULE, "1/0", last_first)))],
        "calls `all_reduce('sum')` in group `0` as collective operation 2 on rank 3",
        "warning",
        GATHER,
        ONE,
        {"collective": [ONE, BUT_ONE]},
    ),
    "another-group": Case(
        [(ONE, graph("1/0", "all_reduce(h, 'sum', '0')", "all_reduce(h, 'sum', '5')"))],
        "calls `all_reduce('sum')` in group `5` as collective operation 1 on rank 3",
        "warning",
        REDUCE,
        ONE,
    ),
    "another-reduction": Case(
        [(HALF, graph("1/0", "all_reduce(res, 'sum'", "all_reduce(res, 'avg'"))],
        "calls `all_reduce('avg')` in group `0` as collective operation 3 on ranks 4-7",
        "warning",
        SECOND,
        HALF,
    ),
    "collective-of-another-size": Case(
        [
            (
                ONE,
                graph("1/0",
                    'tensor_1: "f32[16, 4][4, 1]cpu"',
                    'tensor_1: "f32[12, 4][4, 1]cpu"',
                ),
            )
        ],
        "gets `f32[12, 4]` from `all_gather_into_tensor` on rank 3",
        "warning",
        GATHER,
        ONE,
    ),
    "schedule-in-another-order": Case(
        [(ONE, with_json(SCHEDULE, "1/0", lambda names: [*names[2:4], *names[:2], *names[4:]]))],
        "runs `all_gather_into_tensor` as collective operation 1 of its code on rank 3",
        "warning",
        GATHER,
        ONE,
        {"collective": [ONE, BUT_ONE]},
    ),
    "schedule-missing": Case(
        [(HALF, without(SCHEDULE))],
        "runs no collective operation in its code on ranks 4-7",
        "warning",
        STEP,
        HALF,
        {"collective": [FIRST_HALF, HALF]},
    ),
    "tensor-of-another-shape": Case(
        [(ONE, graph("0/0", '"f32[8, 16][16, 1]cpu"', '"f32[4, 16][16, 1]cpu"'))],
        "`scale` computes `f32[4, 16][16, 1]cpu` as `sin` on rank 3",
        "information",
        SIN,
        ONE,
    ),
    "tensor-of-another-dtype": Case(
        [(HALF, graph("1/0", 'y: "f32[8, 4][4, 1]cpu"', 'y: "bf16[8, 4][4, 1]cpu"'))],
        "`step` computes `bf16[8, 4][4, 1]cpu` as `y` on ranks 4-7",
        "information",
        TWICE,
        HALF,
    ),
    "tensor-of-other-strides": Case(
        [(ONE, graph("3/0", "abs_1: \"f32[8, 4][4, 1]", "abs_1: \"f32[8, 4][1, 8]"))],
        "`loss` computes `f32[8, 4][1, 8]cpu` as `abs_1` on rank 3",
        "information",
        ABS,
        ONE,
    ),
    "tensor-on-another-device": Case(
        [(ONE, graph("2/0", "[4, 1]cpu", "[4, 1]cuda:3"))],
        "`loss` computes `f32[8, 4][4, 1]cuda` as `y` on rank 3",
        "information",
        COS,
        ONE,
    ),
    "each-its-own-gpu": Case(
        [([rank], graph("0/0", "cpu", f"cuda:{rank}")) for rank in range(8)]
    ),
    "another-operation": Case(
        [(ONE, graph("0/0", "sin: ", "tan: "))],
        "`scale` computes `f32[8, 16][16, 1]cpu` as `tan` on rank 3",
        "information",
        SIN,
        ONE,
    ),
    "one-operation-more": Case(
        [(ONE, graph_lines("1/0", one_more))],
        "`step` computes `f32[8, 4][4, 1]cpu` as `y_1` on rank 3, and computes `f32[16, 4][4, 1]cpu`",
        "information",
        TWICE,
        ONE,
    ),
    "input-of-other-strides": Case(
        [(ONE, graph("1/0", 'L_w_: "f32[16, 4][4, 1]', 'L_w_: "f32[16, 4][1, 16]'))],
        "`step` takes `f32[16, 4][1, 16]cpu` as `L_w_` on rank 3",
        "information",
        STEP,
        ONE,
    ),
    "buffer-of-another-shape": Case(
        [(ONE, replaced(META, "0/0", "\t8,\n", "\t4,\n"))],
        "`scale` computes `op0: float32[4, 16][16, 1]` in its code on rank 3",
        "information",
        SCALE,
        ONE,
        {"tensor": [ONE, BUT_ONE]},
    ),
    "slower": Case(
        [(BUT_ONE, times(1)), (ONE, times(1.5))],
        "`step` is estimated to run about",
        "information",
        STEP,
        ONE,
        {"tensor": [ONE, BUT_ONE]},
    ),
    "hardly-slower": Case(
        [(BUT_ONE, times(1)), (ONE, times(1.05))], tlparse={"tensor": [ONE, BUT_ONE]}, false_alarm=True
    ),
    "three-speeds": Case(
        [([0, 1, 2, 4], times(1)), ([3, 5], times(2)), ([6, 7], times(3))],
        "on ranks 3 and 5, is estimated to run about",
        "information",
        STEP,
        [3, 5, 6, 7],
        {"tensor": [[0, 1, 2, 4], [3, 5], [6, 7]]},
    ),
    "graphs-in-another-order": Case(
        [(ONE, order(exchange))],
        f"`scale` (line {SIN}) is graph 1 to run on the 7 others, but `step` (line {MATMUL}) on rank 3",
        "warning",
        SIN,
        ONE,
        {"order": []},
    ),
    "another-graph-runs": Case(
        [(HALF, other_graph(7, "2/0"))],
        f"`step` (line {MATMUL}) is graph 8 to run on ranks 0-3, but `loss` (line {COS}) on ranks 4-7",
        "warning",
        MATMUL,
        HALF,
        {"order": []},
    ),
    "another-part-of-a-function-runs": Case(
        [(ONE, other_graph(9, "2/0"))],
        f"`loss` (line {ABS}) is graph 10 to run on the 7 others, but `loss` (line {COS}) on rank 3",
        "warning",
        ABS,
        ONE,
        {"order": []},
    ),
    "one-graph-more-runs": Case(
        [(ONE, order(lambda ran: ran.append({"compile_id": "0/0"})))],
        f"`scale` (line {SIN}) is graph 13 to run on rank 3, but none on ranks 0-2 and 4-7",
        "warning",
        SIN,
        ONE,
    ),
    "one-graph-fewer-runs": Case(
        [(ONE, order(list.pop))],
        f"`loss` (line {COS}) is graph 12 to run on the 7 others, but none on rank 3",
        "warning",
        COS,
        ONE,
    ),
    "graphs-from-a-cache-have-no-name": Case(
        [(ONE, order(lambda ran: ran.__setitem__(slice(None), [{"compile_id": None}] * 12)))]
    ),
    "three-groups": Case(
        [
            (ranks, graph("0/0", "[8, 16]", f"[{size}, 16]"))
            for ranks, size in zip(THIRDS, (2, 4), strict=True)
        ],
        "as `sin` on ranks 2 and 5, computes `f32[4, 16][16, 1]cpu` as `sin` on ranks 6-7",
        "information",
        SIN,
        [2, 5, 6, 7],
    ),
    "all-differ": Case(
        [
            ([rank], graph("0/0", "[8, 16]", f"[{100 + rank}, 16]"))
            for rank in range(8)
        ],
        "on rank 3, in other ways on 4 more ranks, and computes `f32[100, 16][16, 1]cpu` as `sin`",
        "information",
        SIN,
        range(1, 8),
    ),
    "without-any-graph": Case(
        [(ONE, lambda log: log[:3])],
        "`step` is not compiled on rank 3",
        "warning",
        STEP,
        ONE,
        {"collective": [ONE, BUT_ONE]},
    ),
    "one-graph-more": Case(
        [(ONE, again("0/0", "0/1"))],
        "`scale` is compiled twice on rank 3, and is compiled once on the 7 others",
        "warning",
        SCALE,
        ONE,
        {"tensor": [ONE, BUT_ONE]},
    ),
    "log-that-ends-in-a-compilation": Case(
        [(ONE, cut_in("1/0"))],
        "`step` is being compiled at the end of the log of rank 3",
        "information",
        STEP,
        ONE,
        {"collective": [ONE, BUT_ONE], "tensor": [ONE, BUT_ONE]},
    ),
    "difference-before-the-end-of-a-log": Case(
        [
            (
                ONE,
                both(
                    cut_in("2/0"),
                    graph("1/0", 'y: "f32[8, 4]', 'y: "f32[4, 4]'),
                ),
            )
        ],
        "`step` computes `f32[4, 4][4, 1]cpu` as `y` on rank 3",
        "information",
        TWICE,
        ONE,
        {"tensor": [ONE, BUT_ONE]},
    ),
    "groups-of-their-own": Case(
        [(HALF, graph("1/0", "'0')", "'2')")),
         (FIRST_HALF, graph("1/0", "'0')", "'1')"))]
    ),
    "from-a-cache": Case(
        [
            (
                ONE,
                both(
                    replaced(META, "1/0", META, "fx_graph_cache_hit"),
                    without(SCHEDULE),
                ),
            )
        ],
        "`step` has 1 cache hit on rank 3",
        "information",
        STEP,
        ONE,
        tlparse={"collective": [ONE, BUT_ONE], "tensor": [ONE, BUT_ONE]},
        false_alarm=True,
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path


def differences(report: Report) -> list[Finding]:
    return [item for item in report.findings if item.kind == "rank-difference"]


@pytest.mark.parametrize("name", CASES)
def test_the_first_difference_its_ranks_and_its_line(folder: Path, name: str) -> None:
    case = CASES[name]
    report = read(write(folder / "traces", 8, case.edits), folder)
    found = differences(report)
    if not case.words:
        assert found == []
        return
    matching = [item for item in found if case.words in item.message]
    assert len(matching) == 1, [item.message for item in found]
    (difference,) = matching
    assert (difference.severity, Path(difference.span.filename).name) == (case.severity, "train.py")
    assert (difference.span.row, list(difference.ranks)) == (case.line, list(case.ranks))
    assert {rank for item in found for rank in item.ranks} == {*case.ranks}, "no other rank is named"


def groups_of_tlparse(folder: Path) -> dict[str, list[list[int]]]:
    """The groups that tlparse makes of the ranks, and "order" if it says that graphs run in another order."""
    tool, output = Path(sys.executable).with_name("tlparse"), folder / "output"
    command = [tool, folder / "traces", "--all-ranks-html", "--no-browser", "-o", output]
    subprocess.run([*map(str, command)], check=True, capture_output=True)
    page = (output / "index.html").read_text()
    told = {name: re.search(rf"{title}.*?<ul>(.*?)</ul>", page, re.DOTALL) for name, title in TITLES.items()}
    groups = {
        name: sorted(
            [int(rank) for rank in ranks.split(", ")] for ranks in re.findall("Ranks: (.*)<", found[1])
        )
        for name, found in told.items()
        if found
    }
    return groups | ({"order": []} if "Graph execution order differs" in page else {})


def one_estimate(log: list[bytes]) -> list[bytes]:
    """The first estimate of each graph: of several, tlparse takes any."""
    seen: set[bytes] = set()
    kept = []
    for item in log:
        graph = item.partition(b'"frame_id"')[2].partition(b'"attempt"')[0]
        if META.encode() not in item or graph not in seen:
            kept.append(item)
        seen |= {graph} if META.encode() in item else set()
    return kept


TITLES = {
    "collective": "Collective operation sequence groups:",
    "tensor": "Groups with identical signatures:",
}


@pytest.mark.parametrize("name", CASES)
def test_tlparse_tells_the_same_ranks_where_it_tells_any(folder: Path, name: str) -> None:
    case = CASES[name]
    write(folder / "traces", 8, case.edits, one_estimate)
    theirs = groups_of_tlparse(folder)
    assert theirs == {what: sorted(map(sorted, groups)) for what, groups in case.tlparse.items()}
    for groups in filter(None, theirs.values()):
        usual = max(groups, key=len)
        odd = sorted(rank for group in groups if group is not usual for rank in group)
        assert odd == [*case.ranks] or case.false_alarm


def test_a_damaged_log_is_not_compared_and_says_so(folder: Path) -> None:
    damaged = graph("0/0", '"dynamo_output_graph": {', '"dynamo_output_graph": {{')
    traces = write(folder / "traces", 8, [(ONE, damaged)])
    report = read_trace(traces, ReadOptions(folder), f"trace:{traces}")
    assert differences(report) == []
    (problem,) = [item for item in report.findings if item.kind == "target-error"]
    assert (problem.ranks, problem.hints[-1]) == (
        (3,),
        "Such a rank is not compared with the others.",
    )
    assert not any(item.differs for item in report.ranks)
    assert [item.group for item in report.ranks] == [0, 0, 0, 1, 0, 0, 0, 0]


def test_a_thousand_ranks_take_as_many_words_as_two(folder: Path) -> None:
    edits = [(HALF, graph("1/0", 'y: "f32[8, 4]', 'y: "bf16[8, 4]')), (ONE, again("0/0", "0/1"))]
    write(folder / "traces", 8, edits)
    kinds = [
        read(folder / "traces" / f"dedicated_log_torch_trace_rank_{rank}_abc.log", folder)
        for rank in (0, 4, 3)
    ]
    few = [RankReport(rank, kinds[rank]) for rank in range(3)]
    many = [RankReport(rank, kinds[2 if rank == 1023 else rank % 2]) for rank in range(1024)]
    for reports in (few, many):
        found = [item.message for item in differences(merged(reports))]
        assert len(found) == 2
        assert max(map(len, found)) < 220
    groups = Counter(item.group for item in merged(many).ranks)
    assert sorted(groups.values()) == [1, 511, 512]
