"""What each format writes for a report made by hand."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import FilesDiscarded
from fullgraph_server.cli.formats import FORMATS, CheckedReport
from fullgraph_server.cli.formats.checked import BaselineMatch
from fullgraph_server.cli.formats.text import sums
from fullgraph_server.report.model import Finding, FrameReport, Guard, Report
from fullgraph_server.text.devices import files_words
from fullgraph_server.workspace.positions import Span, StackCall
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

TOY = """\
def toy(a, b):
\tx = "ü界" + f(a)
    y = g(
        a,
    )
    if b.sum() < 0: pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(
    folder: Path, *findings: Finding, frames: tuple[FrameReport, ...] = (), **fields: object
) -> CheckedReport:
    filename = str(folder / "toy.py")
    report = Report(filename, 1, "2.13.0", "finished", 0.61, findings, frames)
    for name, value in fields.items():
        object.__setattr__(report, name, value)
    workspace = Workspace(folder, {filename: SourceFile(filename, TOY)}.get)
    return CheckedReport(script_target(filename, folder), report, workspace)


def frame(folder: Path, graphs: int = 1) -> FrameReport:
    guard = Guard(
        "L['a']", "TENSOR_MATCH", "words", "check(a)", "0/0", Span(str(folder / "toy.py"), 2, 1, 2, 2), 1
    )
    unplaced = Guard("", "GLOBAL_STATE", "", "check()", "0/0", None)
    return FrameReport(
        "toy", "toy", str(folder / "toy.py"), 1, ("0/0",), graphs, 5, 1, (guard, unplaced), 0, 0.25
    )


def graph_break(folder: Path, span: tuple[int, int, int, int] = (6, 8, 6, 19), **fields: object) -> Finding:
    filename = str(folder / "toy.py")
    values: dict[str, object] = {
        "kind": "graph-break",
        "code": "GB0170",
        "severity": "warning",
        "message": "data-dependent branching",
        "explanation": "It depends.",
        "hints": ("Use `torch.cond`.",),
        "url": "https://example.org/gb0170.html",
        "stack": (StackCall(filename, 9, "<module>"), StackCall(filename, span[0], "toy")),
    }
    return Finding(span=Span(filename, *span), **(values | fields))  # type: ignore[arg-type]


def written(name: str, *reports: CheckedReport) -> str:
    out = io.StringIO()
    FORMATS[name](iter(reports), len(reports), out)
    return out.getvalue()


def test_text_shows_the_code_under_the_finding(folder: Path) -> None:
    report = checked(folder, graph_break(folder, count=2), frames=(frame(folder, 2),))
    assert written("text", report) == (
        "toy.py:6:8 warning GB0170 data-dependent branching\n"
        "   |\n"
        " 5 |     )\n"
        " 6 |     if b.sum() < 0: pass\n"
        "   |        ^^^^^^^^^^^ graph break in 2 compilations\n"
        "   |\n"
        "   = note: It depends.\n"
        "   = help: Use `torch.cond`.\n"
        "   = docs: https://example.org/gb0170.html\n"
        "\n"
        "1 graph break in 1 function (2 graphs, ran 0.6 s) - torch 2.13.0\n"
    )


def excerpt(text: str) -> list[str]:
    return [line for line in text.splitlines() if " |" in line]


def test_text_underlines_what_is_wide_or_indented_by_tabs(folder: Path) -> None:
    column = TOY.splitlines()[1].index("f(a)") + 1
    finding = graph_break(folder, (2, column, 2, column + 4), explanation="", hints=(), url="")
    assert excerpt(written("text", checked(folder, finding))) == [
        "   |",
        " 1 | def toy(a, b):",
        ' 2 |     x = "ü界" + f(a)',
        "   |                 ^^^^ graph break",
    ]


def test_text_underlines_every_row_of_a_range(folder: Path) -> None:
    finding = graph_break(folder, (3, 9, 5, 6), explanation="", hints=(), url="")
    assert excerpt(written("text", checked(folder, finding)))[2:] == [
        " 3 |     y = g(",
        "   |         ^^",
        " 4 |         a,",
        "   |         ^^",
        " 5 |     )",
        "   |     ^ graph break",
    ]


def test_text_tells_the_calls_only_where_they_add_something(folder: Path) -> None:
    stack = (
        StackCall(str(folder / "train.py"), 3, "main"),
        StackCall(str(folder / "toy.py"), 6, "toy"),
        StackCall("/lib/a.py", 1, "f"),
    )
    text = written("text", checked(folder, graph_break(folder, stack=stack)))
    assert "   = called from: train.py:3 in main\n   = docs:" in text
    assert "called from" not in written("text", checked(folder, graph_break(folder)))


def test_text_without_a_source_has_no_excerpt(folder: Path) -> None:
    finding = graph_break(folder, message="broken\x1b[31m")
    elsewhere = CheckedReport(
        script_target("/x/a.py", folder), Report("x", 1, findings=(finding,)), Workspace(folder, {}.get)
    )
    text = written("text", elsewhere)
    assert text.startswith("toy.py:6:8 warning GB0170 broken\\x1b[31m\n   = note: It depends.\n")
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "nothing was compiled (ran 0.6 s) - torch 2.13.0"),
        ({"torch": ""}, "nothing was compiled (ran 0.6 s)"),
        ({"target": "trace:/job"}, "nothing was compiled - torch 2.13.0"),
        (
            {"target": "trace:/job", "frames": 1},
            "no graph breaks, no recompilations in 1 function (1 graph, compiled in 0.6 s) - torch 2.13.0",
        ),
        (
            {"left_out": ("AOTAutograd", "TorchInductor")},
            (
                "nothing was compiled (ran 0.6 s) - torch 2.13.0 - AOTAutograd and TorchInductor not run "
                "(fullgraph kernels runs them)"
            ),
        ),
        ({"status": "crashed"}, "crashed: nothing was compiled (ran 0.6 s) - torch 2.13.0"),
        (
            {"frames": 1},
            (
                "no graph breaks, no recompilations in 1 function (1 graph, ran 0.6 s) - torch 2.13.0 - "
                "results not compared (fullgraph stages does)"
            ),
        ),
        (
            {"frames": 2},
            (
                "no graph breaks, no recompilations in 2 functions (2 graphs, ran 0.6 s) - torch 2.13.0 - "
                "results not compared (fullgraph stages does)"
            ),
        ),
    ],
)
def test_text_sums_up(folder: Path, fields: dict[str, object], expected: str) -> None:
    if "frames" in fields:
        fields = {**fields, "frames": (frame(folder),) * int(str(fields["frames"]))}
    assert written("text", checked(folder, **fields)) == expected + "\n"  # type: ignore[arg-type]


def test_text_of_several_targets_names_each_and_sums_up(folder: Path) -> None:
    text = written("text", checked(folder), checked(folder, torch="", status="raised"))
    assert (
        text == "toy.py: nothing was compiled (ran 0.6 s) - torch 2.13.0\n\n"
        "toy.py: raised an exception: nothing was compiled (ran 0.6 s)\n\n"
        "2 targets, 1 raised an exception: no findings (0 graphs, ran 1.2 s)\n"
    )


def test_sums_are_of_all_findings_and_of_what_ran(folder: Path) -> None:
    broken = checked(folder, graph_break(folder), graph_break(folder), frames=(frame(folder),)).report
    assert sums([broken, broken], 3) == "2 of 3 targets: 4 graph breaks (2 graphs, ran 1.2 s)"


def test_json_has_the_documented_shape(folder: Path) -> None:
    filename = str(folder / "toy.py")
    assert json.loads(written("json", checked(folder, graph_break(folder), frames=(frame(folder),)))) == {
        "version": 1,
        "torch": "2.13.0",
        "target": filename,
        "status": "finished",
        "seconds": 0.61,
        "findings": [
            {
                "kind": "graph-break",
                "code": "GB0170",
                "severity": "warning",
                "message": "data-dependent branching",
                "filename": filename,
                "location": {"row": 6, "column": 8},
                "end_location": {"row": 6, "column": 19},
                "url": "https://example.org/gb0170.html",
                "explanation": "It depends.",
                "hints": ["Use `torch.cond`."],
                "stack": [
                    {"filename": filename, "row": 9, "function": "<module>"},
                    {"filename": filename, "row": 6, "function": "toy"},
                ],
                "count": 1,
                "compile_ids": [],
                "fault": 0,
                "ranks": [],
                "of_run": False,
                "survived": False,
                "also_from": [],
                "baseline": False,
            }
        ],
        "exports": [],
        "frames": [
            {
                "function": "toy",
                "qualname": "toy",
                "filename": filename,
                "row": 1,
                "compile_ids": ["0/0"],
                "graphs": 1,
                "ops": 5,
                "breaks": 1,
                "guards": [
                    {
                        "source": "L['a']",
                        "kind": "TENSOR_MATCH",
                        "expected": "words",
                        "code": "check(a)",
                        "row": 2,
                        "filename": filename,
                        "failures": 1,
                    },
                    {
                        "source": "",
                        "kind": "GLOBAL_STATE",
                        "expected": "",
                        "code": "check()",
                        "row": None,
                        "filename": None,
                        "failures": 0,
                    },
                ],
                "recompiles": 0,
                "versions": 0,
                "seconds": 0.25,
            }
        ],
        "compilations": [],
        "stages": [],
        "unchecked": [],
        "conclusion": "",
        "recipes": [],
        "caches": {"warm": False, "counts": {}, "graphs": [], "sizes": []},
        "ranks": [],
        "vllm": [],
        "dry": None,
        "ignored": [],
        "left_out": [],
        "discarded": None,
    }


def test_json_of_several_targets_is_one_object_a_line(folder: Path) -> None:
    lines = written("json", checked(folder), checked(folder, graph_break(folder))).splitlines()
    assert [len(json.loads(line)["findings"]) for line in lines] == [0, 1]


def test_a_limit_is_hit_by_calls_that_compile_nothing(folder: Path) -> None:
    limit = graph_break(folder, kind="recompile-limit", code="recompile-limit", count=4)
    assert "^^^^^^^^^^^ in 4 calls\n" in written("text", checked(folder, limit))


def test_github_commands_are_escaped(folder: Path) -> None:
    finding = graph_break(folder, message="50% of\nit", code="a,b:c")
    assert written("github", checked(folder, finding)) == (
        "::warning file=toy.py,line=6,col=8,endLine=6,endColumn=19,title=fullgraph a%2Cb%3Ac::"
        "50%25 of%0Ait%0AIt depends.%0AUse `torch.cond`.%0Ahttps://example.org/gb0170.html\n"
    )


def test_github_takes_no_columns_over_several_lines(folder: Path) -> None:
    finding = graph_break(folder, (3, 9, 5, 6), severity="information")
    line = written("github", checked(folder, finding))
    assert line.startswith("::notice file=toy.py,line=3,endLine=5,title=fullgraph GB0170::")


def test_sarif_has_one_run_with_its_rules_and_results(folder: Path) -> None:
    limit = graph_break(
        folder, kind="recompile-limit", code="recompile-limit", severity="error", url="", stack=()
    )
    log = json.loads(written("sarif", checked(folder, limit), checked(folder, graph_break(folder, count=3))))
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert [(rule["id"], rule.get("helpUri")) for rule in run["tool"]["driver"]["rules"]] == [
        ("GB0170", "https://example.org/gb0170.html"),
        ("recompile-limit", None),
    ]
    first, second = run["results"]
    assert (first["ruleId"], first["ruleIndex"], first["level"], "stacks" in first) == (
        "recompile-limit",
        1,
        "error",
        False,
    )
    assert (second["ruleId"], second["ruleIndex"], second["level"], second["occurrenceCount"]) == (
        "GB0170",
        0,
        "warning",
        3,
    )
    assert second["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "toy.py", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 6, "startColumn": 8, "endLine": 6, "endColumn": 19},
    }
    frames = second["stacks"][0]["frames"]
    assert [item["location"]["message"]["text"] for item in frames] == ["toy", "<module>"]


def of_run(folder: Path) -> Finding:
    finding = graph_break(folder, (1, 1, 1, 1), kind="target-error", code="target-error", severity="error")
    return replace(finding, message="no Python here", explanation="", url="", stack=(), of_run=True)


def test_what_is_wrong_with_a_run_is_told_without_a_line(folder: Path) -> None:
    report = checked(folder, of_run(folder), status="not-started")
    assert written("text", report).startswith(
        "error: no Python here\n   = help: Use `torch.cond`.\n\ncould not start"
    )
    assert written("github", report) == (
        "::error title=fullgraph target-error::no Python here%0AUse `torch.cond`.\n"
    )
    (finding,) = json.loads(written("json", report))["findings"]
    assert (finding["of_run"], finding["filename"], finding["location"]["row"]) == (
        True,
        str(folder / "toy.py"),
        1,
    ), "keys stay"


def test_what_is_wrong_with_a_run_is_a_notification_in_sarif(folder: Path) -> None:
    import sarif_pydantic as model

    text = written("sarif", checked(folder, of_run(folder), graph_break(folder), status="not-started"))
    model.Sarif.model_validate_json(text)
    (run,) = json.loads(text)["runs"]
    assert [item["ruleId"] for item in run["results"]] == ["GB0170"], "each has a location"
    assert run["invocations"][0]["toolExecutionNotifications"] == [
        {"level": "error", "message": {"text": "toy.py: no Python here\nUse `torch.cond`."}}
    ]


def test_sarif_is_valid(folder: Path) -> None:
    import sarif_pydantic as model

    outside = graph_break(
        folder, stack=(StackCall("/lib/a b.py", 1, "f"), StackCall(str(folder / "ü.py"), 6, "toy"))
    )
    text = written("sarif", checked(folder, outside))
    assert len(model.Sarif.model_validate_json(text).runs[0].results) == 1
    assert '"file:///lib/a%20b.py"' in text
    assert '"%C3%BC.py"' in text


@pytest.fixture
def half_known(folder: Path) -> CheckedReport:
    """A report with a finding that is in the baseline, and one that is not."""
    known, new = graph_break(folder), graph_break(folder, code="GB0059", hints=(), url="")
    report = checked(folder, known, new, frames=(frame(folder),))
    return replace(report, known=BaselineMatch("ci/known.json", frozenset({known})))


def test_text_counts_what_is_in_the_baseline_and_shows_what_is_new(half_known: CheckedReport) -> None:
    text = written("text", half_known)
    assert "GB0059" in text
    assert "GB0170" not in text
    assert text.endswith(
        "1 finding is in the baseline ci/known.json\n"
        "2 graph breaks in 1 function (1 graph, ran 0.6 s) - torch 2.13.0\n"
    )


def test_text_of_several_targets_says_whose_findings_are_in_the_baseline(half_known: CheckedReport) -> None:
    assert "\ntoy.py: 1 finding is in the baseline" in written("text", half_known, half_known)


def test_json_marks_what_is_in_the_baseline(half_known: CheckedReport) -> None:
    findings = json.loads(written("json", half_known))["findings"]
    assert [(item["code"], item["baseline"]) for item in findings] == [("GB0170", True), ("GB0059", False)]


def test_github_annotates_what_is_new(half_known: CheckedReport) -> None:
    (line,) = written("github", half_known).splitlines()
    assert "title=fullgraph GB0059" in line


def test_sarif_tells_the_state_against_the_baseline(half_known: CheckedReport, folder: Path) -> None:
    import sarif_pydantic as model

    text = written("sarif", half_known)
    results = json.loads(text)["runs"][0]["results"]
    assert [item["baselineState"] for item in results] == ["unchanged", "new"]
    assert len(model.Sarif.model_validate_json(text).runs[0].results or ()) == 2
    without = json.loads(written("sarif", checked(folder, graph_break(folder))))["runs"][0]["results"]
    assert "baselineState" not in without[0]


def test_sarif_lists_what_does_not_count_as_suppressed(half_known: CheckedReport, folder: Path) -> None:
    import sarif_pydantic as model

    ignored = graph_break(folder, (3, 1, 3, 2), code="GB0099")
    text = written("sarif", replace(half_known, report=replace(half_known.report, ignored=(ignored,))))
    results = json.loads(text)["runs"][0]["results"]
    assert [(item["ruleId"], item["suppressions"]) for item in results] == [
        ("GB0170", [{"kind": "external"}]),
        ("GB0059", []),
        ("GB0099", [{"kind": "inSource"}]),
    ]
    assert "baselineState" not in results[2]
    assert len(model.Sarif.model_validate_json(text).runs[0].results or ()) == 3


_REFUSED = "and Landlock blocked those of native code and child processes"
_NOT_WATCHED = "child processes and unknown native code were blocked, and known libraries were not watched"
_NONE = "(no namespace, because this system has none: Python's writes were redirected"


@pytest.mark.parametrize(
    ("discarded", "words"),
    [
        (FilesDiscarded("namespace"), "no file was changed"),
        (FilesDiscarded("namespace", read_only=("/data",)), "no file was changed (read-only: /data)"),
        (
            FilesDiscarded("landlock", "this system has none", ("/dev/shm",)),
            f"no file was changed {_NONE}, {_REFUSED}; read-only: /dev/shm)",
        ),
        (
            FilesDiscarded("python", "this system has none"),
            f"no file was changed by Python code {_NONE}, {_NOT_WATCHED})",
        ),
    ],
)
def test_a_summary_says_which_protection_files_had(discarded: FilesDiscarded, words: str) -> None:
    assert files_words(discarded) == words
