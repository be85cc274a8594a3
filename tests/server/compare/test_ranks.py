"""Reports of several ranks as one, and what differs between them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    Collective,
    Fact,
    FrameCompiled,
    FrameStarted,
    GraphBreak,
    GraphTraced,
    GuardFailure,
    Recompile,
    RunFinished,
    StackFrame,
    Status,
)
from fullgraph_server.compare.ranks import RankReport, merged, rank_words, usual_rank
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

PROGRAM = "def f(x):\n    y = x + 1\n    print(y)\n    return y\n\n\ndef g(x):\n    return x\n"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return str(path)


def compiled(
    file: str,
    compile_id: str = "0/0",
    function: str = "f",
    tensor: str = "f32[4]",
    calls: tuple[str, ...] = (),
) -> list[Fact]:
    row = 1 if function == "f" else 7
    line = StackFrame(file, row + 1, function)
    collectives = tuple(Collective(0, name, ("'sum'", "'0'")) for name in calls)
    return [
        FrameStarted(compile_id, function, file, row),
        GraphTraced(compile_id, ("L_x_: f32[4]",), (f"y: {tensor}",), (line,), collectives),
        FrameCompiled(compile_id, function, file, row, 1, 1, 4, 0.5),
    ]


def again(file: str, compile_id: str, size: int) -> list[Fact]:
    failure = GuardFailure(
        compile_id="0/0",
        source="L['x']",
        kind="TENSOR_MATCH",
        reason="tensor 'x' size mismatch",
        changed="size",
        expected="4",
        actual=str(size),
        dimension=0,
        stack=(StackFrame(file, 2, "f"),),
    )
    return [Recompile(compile_id, (failure,)), *compiled(file, compile_id)]


def broken(file: str) -> GraphBreak:
    stack = (StackFrame(file, 3, "f"),)
    return GraphBreak("0/0", "GB0059", "print", "", (), "", "", stack, False, "")


def rank(number: int, file: str, *facts: Fact, status: Status = "finished") -> RankReport:
    told = (*facts, RunFinished(status, 1.0 + number))
    return RankReport(number, fold(file, 1, "2.13.0", told, Workspace(Path(file).parent), file))


def differences(report: Report) -> list[Finding]:
    return [item for item in report.findings if item.kind == "rank-difference"]


def test_ranks_that_are_alike_are_told_once(file: str) -> None:
    report = merged([rank(number, file, *compiled(file), broken(file)) for number in range(8)])
    assert [(item.code, item.ranks) for item in report.findings] == [("GB0059", ())]
    assert "rank" not in report.findings[0].message
    assert not any(item.differs for item in report.ranks)
    assert [item.rank for item in report.ranks] == [*range(8)]
    assert (report.seconds, report.status) == (8.0, "finished")


def test_one_rank_alone_is_as_it_is(file: str) -> None:
    alone = rank(3, file, *compiled(file), broken(file))
    assert merged([alone]) is alone.report


def elsewhere(number: int, file: str, *facts: Fact) -> RankReport:
    """A rank whose files are not in the workspace."""
    workspace = Workspace(Path(__file__).parent)
    return RankReport(
        number, fold(file, 1, "2.13.0", [*facts, RunFinished("finished", 1.0)], workspace, file)
    )


def test_files_that_are_elsewhere_on_each_rank_are_the_same() -> None:
    homes = [f"/home/user{number}/train.py" for number in range(3)]
    alike = merged([elsewhere(number, home, *compiled(home)) for number, home in enumerate(homes)])
    assert not differences(alike)
    assert [frame.filename for frame in alike.frames] == [homes[0]]
    facts = (*compiled(homes[2]), *again(homes[2], "0/1", 5))
    reports = [elsewhere(number, home, *compiled(home)) for number, home in enumerate(homes[:2])]
    (found,) = differences(merged([*reports, elsewhere(2, homes[2], *facts)]))
    assert found.message == "`f` is compiled twice on rank 2, and is compiled once on the 2 others"


def test_files_with_other_functions_or_on_one_rank_are_not_the_same() -> None:
    one, other = "/job/a/train.py", "/job/b/train.py"
    first = elsewhere(0, one, *compiled(one))
    assert len(differences(merged([first, elsewhere(1, other, *compiled(other, function="g"))]))) == 2
    both = (*compiled(one), *compiled(other, "1/0"))
    assert len(differences(merged([first, elsewhere(1, one, *both)]))) == 1


def test_a_rank_that_recompiles_alone_is_named_with_the_cause(file: str) -> None:
    reports = [rank(number, file, *compiled(file)) for number in range(64)]
    reports[37] = rank(37, file, *compiled(file), *again(file, "0/1", 5))
    report = merged(reports)
    (difference,) = differences(report)
    assert difference.message == "`f` is compiled twice on rank 37, and is compiled once on the 63 others"
    assert (difference.severity, difference.ranks, difference.span.row) == ("warning", (37,), 1)
    assert difference.hints == ("On rank 37: recompiled: size of `x` at dimension 0 was 4, is now 5.",)
    (recompile,) = [item for item in report.findings if item.kind == "recompile"]
    assert recompile.message.endswith("(on rank 37 only)")
    assert [item.rank for item in report.ranks if item.differs] == [37]
    assert usual_rank(reports) == 0


def test_guards_that_fail_in_other_ways_are_one_finding_with_all_ways(file: str) -> None:
    sizes = (5, 5, 7)
    reports = [
        rank(number, file, *compiled(file), *again(file, "0/1", size)) for number, size in enumerate(sizes)
    ]
    report = merged(reports)
    (recompile,) = [item for item in report.findings if item.kind == "recompile"]
    assert recompile.message == "recompiled: size of `x` at dimension 0 was 4, is now 5"
    assert "On rank 2: recompiled: size of `x` at dimension 0 was 4, is now 7." in recompile.hints
    assert not differences(report)


def test_a_break_on_some_ranks_names_them(file: str) -> None:
    reports = [
        rank(n, file, *compiled(file), *([broken(file)] if n in (0, 1, 2, 6) else ())) for n in range(8)
    ]
    (found,) = [item for item in merged(reports).findings if item.kind == "graph-break"]
    assert found.message == "print (on ranks 0-2 and 6 only)"
    assert found.ranks == (0, 1, 2, 6)


def test_collective_operations_in_another_order_come_first(file: str) -> None:
    orders = [("all_reduce", "all_gather"), ("all_reduce", "all_gather"), ("all_gather", "all_reduce")]
    reports = [
        rank(n, file, *compiled(file, tensor=f"f32[{n}]", calls=order)) for n, order in enumerate(orders)
    ]
    first, *_ = differences(merged(reports))
    assert first.message == (
        "`f` calls `all_gather('sum')` in group `0` as collective operation 1 on rank 2, "
        "and calls `all_reduce('sum')` in group `0` as collective operation 1 on the 2 others"
    )
    assert "the job hangs" in first.explanation


def test_graphs_of_other_sizes_are_a_note(file: str) -> None:
    reports = [rank(n, file, *compiled(file, tensor="f32[5]" if n == 1 else "f32[4]")) for n in range(3)]
    (difference,) = differences(merged(reports))
    assert (difference.severity, difference.ranks, difference.span.row) == ("information", (1,), 2)
    assert difference.message == (
        "`f` computes `f32[5]` as `y` on rank 1, and computes `f32[4]` as `y` on the 2 others"
    )


def test_a_function_that_one_rank_compiles_alone(file: str) -> None:
    reports = [rank(0, file, *compiled(file)), rank(1, file, *compiled(file), *compiled(file, "1/0", "g"))]
    report = merged(reports)
    (difference,) = differences(report)
    assert difference.message == "`g` is compiled once on rank 1, and is not compiled on rank 0"
    assert difference.span.row == 7
    assert {frame.function for frame in report.frames} == {"f", "g"}
    assert all(item.differs for item in report.ranks), "of two, nobody knows which is right"


@pytest.mark.parametrize("status", ["exited", "raised", "crashed", "timeout", "not-started", "cancelled"])
def test_the_end_is_the_worst_and_ranks_that_ended_early_do_not_differ(file: str, status: Status) -> None:
    report = merged([rank(0, file, *compiled(file)), rank(1, file, status=status)])
    assert report.status == status
    assert not differences(report)


def test_while_ranks_run_nothing_differs(file: str) -> None:
    running = RankReport(1, fold(file, 1, "", (), Workspace(Path(file).parent), file))
    report = merged([rank(0, file, *compiled(file)), running])
    assert report.status is None
    assert not differences(report)


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ([3], "rank 3"),
        ([0, 1], "ranks 0-1"),
        ([5, 0, 2, 1], "ranks 0-2 and 5"),
        ([0, 2, 4], "ranks 0, 2 and 4"),
        ([*range(64)], "ranks 0-63"),
    ],
)
def test_ranks_in_words(ranks: list[int], words: str) -> None:
    assert rank_words(ranks) == words


def test_a_graph_that_is_compiled_again_does_not_change_which_operations_are_compared(file: str) -> None:
    """The same operations, but one rank repeats the first graph, the other the second."""
    one, two = ("all_reduce",), ("all_reduce", "all_gather")

    def job(number: int, *calls: tuple[str, ...]) -> RankReport:
        graphs = [compiled(file, f"0/{index}", calls=names) for index, names in enumerate(calls)]
        return rank(number, file, *(fact for graph in graphs for fact in graph))

    (difference,) = differences(merged([job(0, one, two, two), job(1, one, one, two)]))
    assert "`f` calls only 4 collective operations with tensors of equal size on rank 1" in difference.message


def test_functions_that_are_first_called_in_another_order(file: str) -> None:
    usual = [*compiled(file, "0/0", "f"), *compiled(file, "1/0", "g")]
    other = [*compiled(file, "0/0", "g"), *compiled(file, "1/0", "f")]
    report = merged([rank(number, file, *(other if number == 2 else usual)) for number in range(4)])
    (finding,) = [item for item in report.findings if item.kind == "rank-difference"]
    told = "function 1 to be compiled is `g` (line 7) on rank 2, and `f` (line 1) on the 3 others"
    assert (finding.message, finding.severity, finding.ranks) == (told, "warning", (2,))


def test_functions_of_only_some_ranks_do_not_change_the_order(file: str) -> None:
    both = [*compiled(file, "0/0", "g"), *compiled(file, "1/0", "f")]
    report = merged([rank(0, file, *both), rank(1, file, *compiled(file, "0/0", "f"))])
    messages = [item.message for item in report.findings if item.kind == "rank-difference"]
    assert messages
    assert not any("function 1" in message for message in messages)
