"""What makes a finding the same in another run, and baselines, on reports folded from facts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CompileFailure,
    Fact,
    FrameStarted,
    GraphBreak,
    GuardFailure,
    Recompile,
    RecompileLimit,
    StackFrame,
)
from fullgraph_server.compare.baseline import (
    Baseline,
    BaselineError,
    baseline_of,
    read_baseline,
    without_known,
    write_baseline,
)
from fullgraph_server.compare.fingerprint import Fingerprint, FingerprintedFinding, fingerprinted
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

TOY = 'def toy(a, b):\n    x = a + b\n    print("woo")\n    return x\n'
FILE = "/w/sub/toy.py"


def found(
    *facts: Fact, text: str = TOY, root: str = "/w", torch: str = "2.13.0"
) -> tuple[FingerprintedFinding, ...]:
    filename = FILE.replace("/w", root, 1)
    workspace = Workspace(Path(root), {filename: SourceFile(filename, text)}.get)
    return fingerprinted(fold("sub/toy.py", 1, torch, facts, workspace), Path(root))


def started(root: str = "/w") -> FrameStarted:
    return FrameStarted("0/0", "toy", FILE.replace("/w", root, 1), 1, ())


def broke(row: int = 3, root: str = "/w", reason: str = "print called", code: str = "GB0059") -> GraphBreak:
    stack = (StackFrame(FILE.replace("/w", root, 1), row, "toy"),)
    return GraphBreak("0/0", code, reason, "why", (), "", "", stack, False, "")


def failed(message: str) -> CompileFailure:
    return CompileFailure("0/0", "backend", "RuntimeError", message, (StackFrame(FILE, 2, "toy"),))


def changed(expected: int, actual: int, compile_id: str = "0/1", dimension: int = 0) -> Recompile:
    failure = GuardFailure(
        "0/0",
        "L['a']",
        "TENSOR_MATCH",
        "",
        str(expected),
        str(actual),
        dimension,
        (StackFrame(FILE, 2, "toy"),),
        "size",
    )
    return Recompile(compile_id, (failure,))


def fingerprints(*facts: Fact) -> list[Fingerprint]:
    return [item.fingerprint for item in found(*facts)]


def test_the_identity_of_a_break_is_its_file_line_and_id() -> None:
    assert fingerprints(started(), broke()) == [
        Fingerprint("sub/toy.py", 'print("woo")', "GB0059", "graph-break", "")
    ]


@pytest.mark.parametrize(
    ("row", "text", "root", "reason"),
    [
        (5, "import torch\n\n" + TOY, "/w", "print called"),
        (3, TOY.replace('    print("woo")', '\tprint("woo")  '), "/w", "print called"),
        (3, TOY, "/home/ci/build", "print called"),
        (3, TOY, "/w", "Failed to trace builtin operator `print`"),
    ],
    ids=["a line that moved", "other blanks", "another folder", "torch's wording"],
)
def test_what_does_not_make_a_break_another_one(row: int, text: str, root: str, reason: str) -> None:
    later = found(started(root), broke(row, root, reason), text=text, root=root, torch="2.15.0")
    assert [item.fingerprint for item in later] == fingerprints(started(), broke())


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (broke(), TOY.replace("woo", "zoo")),
        (broke(code="GB0170"), TOY),
        (broke(2), TOY),
    ],
    ids=["an edited line", "another id", "another line"],
)
def test_what_makes_a_break_another_one(fact: GraphBreak, text: str) -> None:
    assert [item.fingerprint for item in found(started(), fact, text=text)] != fingerprints(
        started(), broke()
    )


def test_a_break_without_torchs_id_is_told_by_its_message() -> None:
    one, other = (fingerprints(started(), broke(code="", reason=reason)) for reason in ("print", "input"))
    assert one != other
    assert one[0].code == "graph-break"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("no file /tmp/a1/cabc.py", "no file /home/me/x/cxyz.py"),
        ("object at 0x7f12 has size 12", "object at 0x7faa has size 3.5e-2"),
        ("s77 > 4 in [0/1]", "s12 > 9 in [2/0]"),
    ],
)
def test_what_varies_in_a_message_does_not_count(one: str, other: str) -> None:
    assert fingerprints(started(), failed(one)) == fingerprints(started(), failed(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("expected float32", "expected float16"), ("no lowering of conv2d", "no lowering of conv3d")],
)
def test_numbers_in_names_count(one: str, other: str) -> None:
    assert fingerprints(started(), failed(one)) != fingerprints(started(), failed(other))


def test_a_recompilation_is_told_by_what_changed_not_by_its_values() -> None:
    once = fingerprints(started(), changed(10, 12))
    again = fingerprints(started(), changed(3, 4), changed(3, 5, "0/2"))
    assert once == again
    assert once[0].message == "size of `a` at dimension 0"
    assert fingerprints(started(), changed(10, 12, dimension=1)) != once


def test_the_number_of_a_limit_does_not_count() -> None:
    one, other = (
        fingerprints(started(), RecompileLimit("0/8", "toy", FILE, 1, limit, "recompile_limit", fatal=False))
        for limit in (8, 16)
    )
    assert one == other


# -- baselines ---------------------------------------------------------------------------------

TWICE = 'def toy(a, b):\n    print("woo")\n    x = a + b\n    print("woo")\n    return x\n'


def test_a_baseline_knows_its_findings_and_no_others() -> None:
    before = found(started(), broke())
    baseline = baseline_of([before])
    now = found(started(), broke(), failed("boom"))
    assert baseline.known(now) == {item.finding for item in now if item.finding.code == "GB0059"}


def test_of_more_equal_findings_the_last_is_new() -> None:
    baseline = baseline_of([found(started(), broke(2), text=TWICE)])
    both = found(started(), broke(2), broke(4), text=TWICE)
    assert both[0].fingerprint == both[1].fingerprint
    assert baseline.known(both) == {both[0].finding}
    assert baseline_of([both]).known(both) == {item.finding for item in both}


def test_what_two_targets_run_into_is_one_finding() -> None:
    once = found(started(), broke())
    baseline = baseline_of([once, once])
    assert baseline.total == 1
    assert baseline.missing(baseline_of([])) == 1
    assert baseline.missing(baseline_of([once])) == 0
    assert baseline.within({"other.py"}) == Baseline({})


def test_the_file_is_sorted_and_holds_nothing_that_changes_by_itself(tmp_path: Path) -> None:
    items = found(started(), broke(4), broke(2), changed(1, 2), text=TWICE)
    path, again = tmp_path / "a.json", tmp_path / "b.json"
    write_baseline(path, baseline_of([items]))
    write_baseline(again, baseline_of([tuple(reversed(items))]))
    assert path.read_bytes() == again.read_bytes()
    assert read_baseline(path) == baseline_of([items])
    assert json.loads(path.read_text()) == {
        "version": 1,
        "findings": [
            {
                "path": "sub/toy.py",
                "line": 'print("woo")',
                "code": "GB0059",
                "kind": "graph-break",
                "count": 2,
            },
            {
                "path": "sub/toy.py",
                "line": 'print("woo")',
                "code": "recompile",
                "kind": "recompile",
                "message": "size of `a` at dimension 0",
            },
        ],
    }


def test_a_file_whose_text_is_unknown_has_no_line(tmp_path: Path) -> None:
    report = fold("sub/toy.py", 1, "", (started(), broke()), Workspace(Path("/w"), {}.get))
    items = fingerprinted(replace(report, files={}), Path("/w"))
    assert items[0].fingerprint.line == ""
    write_baseline(tmp_path / "a.json", baseline_of([items]))
    assert read_baseline(tmp_path / "a.json") == baseline_of([items])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "does not exist: write it with --update-baseline"),
        ("<<<<<<<", "is not valid JSON"),
        ("[]", "is not a Fullgraph baseline: delete it"),
        ('{"version": 1}', "is not a Fullgraph baseline"),
        ('{"version": 9, "findings": []}', "is a baseline of version 9, and this Fullgraph reads version 1"),
        ('{"version": 1, "findings": [{"path": "a.py"}]}', 'is not a finding ({"path": "a.py"})'),
        ('{"version": 1, "findings": [3]}', "is not a finding (3)"),
        (
            '{"version": 1, "findings": [{"path": "a", "code": "b", "kind": "c", "count": "2"}]}',
            "is not a finding",
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_refused_in_one_sentence(
    tmp_path: Path, text: str | None, words: str
) -> None:
    path = tmp_path / "b.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BaselineError) as caught:
        read_baseline(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_half_a_character_is_written_and_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    fingerprint = Fingerprint("a\udcff.py", "x = '\ud800ü'", "GB1", "graph-break", "m")
    write_baseline(path, Baseline({fingerprint: 1}))
    assert read_baseline(path).counts == {fingerprint: 1}
    assert "ü" in path.read_text("utf-8")


# -- in an editor --------------------------------------------------------------------------------


def shown(report: Report) -> tuple[list[int], list[int]]:
    return [item.span.row for item in report.findings], [item.span.row for item in report.known]


def test_an_editor_leaves_out_what_is_known_and_counts_it() -> None:
    text = TOY.replace("x = a + b", 'print("woo")')
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    report = fold("sub/toy.py", 1, "2.13.0", (broke(2), broke(3), broke(4)), workspace)
    first, _, last = (item.fingerprint for item in fingerprinted(report, Path("/w")))
    one = Baseline().accepting(first)
    told = without_known(report, one, Path("/w"))
    assert shown(told) == ([3, 4], [2])
    assert told.hidden == 1
    # Of equal lines, it knows how many there are, also of a report that was compared before.
    assert shown(without_known(told, one, Path("/w"))) == ([3, 4], [2])
    assert shown(without_known(told, one.accepting(first), Path("/w"))) == ([4], [2, 3])
    assert shown(without_known(told, Baseline().accepting(last), Path("/w"))) == ([2, 3], [4])
    assert without_known(told, Baseline(), Path("/w")) == report


def test_an_editor_shows_what_stops_the_program_though_it_is_known() -> None:
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, TOY)}.get)
    report = fold("sub/toy.py", 1, "2.13.0", (started(), failed("boom")), workspace)
    everything = baseline_of([fingerprinted(report, Path("/w"))])
    assert everything.total == 1
    assert without_known(report, everything, Path("/w")) == report
