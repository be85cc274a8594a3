"""Findings of exports: on which lines, in which words, and what to do."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler import facts as f
from fullgraph_server.cli.formats.text import exported, summary
from fullgraph_server.report.artifacts import documents_of, marks_of
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.source import SourceReader
from fullgraph_server.workspace.workspace import Workspace
from traces import RECORDED, places, read

VERSIONS = ("2.13", "2.15")

BRANCH = """\
import torch


class Block(torch.nn.Module):
    def forward(self, x):
        n = x.sum().item()
        if n > 3:
            return x + 1
        return x - 1 if x.sum() > 2 else x[: x.sum().item()]
"""


def of_log(kind: str, version: str, tmp_path: Path) -> Report:
    shutil.copy(RECORDED / "exports.py", tmp_path)
    return read(RECORDED / f"{kind}-{version}.log.gz", tmp_path, "code")


def folded(tmp_path: Path, *facts: f.Fact) -> Report:
    (tmp_path / "block.py").write_text(BRANCH)
    return fold("block.py", 1, "2.13", facts, Workspace(tmp_path, SourceReader()))


def frame(tmp_path: Path, row: int, text: str) -> f.StackFrame:
    column = BRANCH.splitlines()[row - 1].index(text)
    return f.StackFrame(str(tmp_path / "block.py"), row, "forward", column, row, column + len(text))


@pytest.mark.parametrize("version", VERSIONS)
def test_each_failure_of_a_log_stands_on_its_line(version: str, tmp_path: Path) -> None:
    report = of_log("export", version, tmp_path)
    assert places(report) == [
        ("data-dependent", "exports.py", 47),
        ("size-constraint", "exports.py", 54),
        ("size-constraint", "exports.py", 61),
        ("size-constraint", "exports.py", 61),
        ("export-error", "exports.py", 69),
    ]
    assert {finding.severity for finding in report.findings} == {"error"}
    assert report.findings[0].message == "export cannot decide `n > 3`: `n` depends on data"
    assert "torch._check(n > 3)" in report.findings[0].hints[0]
    assert "torch._check(n <= 3)" in report.findings[0].hints[0]
    assert report.findings[1].message == "a failing export assumes `x.shape[0] == 4` here"


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_draft_assumed_is_no_error(version: str, tmp_path: Path) -> None:
    report = of_log("draft", version, tmp_path)
    assert [(item.code, item.severity, item.span.row) for item in report.findings] == [
        ("missing-fake-kernel", "warning", 74),
        ("mismatched-fake-kernel", "warning", 75),
        ("data-dependent", "warning", 77),
        ("size-constraint", "information", 79),
    ]
    assert report.findings[2].message.startswith("draft_export assumes that `n > 3` is true here")
    assert 'register_fake("shop::twice")' in report.findings[0].hints[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_program_is_a_document_with_its_ranges_and_its_code_has_kernels_both_ways(
    version: str, tmp_path: Path
) -> None:
    report = of_log("export", version, tmp_path)
    (program,) = report.exports
    assert exported(program) == "exported Block.forward: 5 operations, for 2 <= x.shape[0] <= 64"
    documents = {document.name: document for document in documents_of(report)}
    assert "Range constraints: {s77: VR[2, 64]}" in documents["export_0/exported_program.txt"].text
    code = documents["export_0_inference/output_code.cpp"]
    rows = {mark.span.row: mark.rows for mark in marks_of(code, report)}
    assert {40, 41} <= rows.keys()
    lines = code.text.splitlines()
    assert "cpp_fused" in lines[rows[41][0] - 1]
    (kernel,) = (document for document in documents.values() if document.name.endswith("_0.cpp"))
    assert kernel.text.startswith('extern "C"')


def test_the_summary_of_a_log_of_exports_claims_no_time_and_no_compilation(tmp_path: Path) -> None:
    report = of_log("draft", "2.13", tmp_path)
    words = summary(replace(report, target="trace:draft.log"))
    assert words == "4 export problems in 1 function (1 graph)"


def test_a_condition_on_a_tensor_needs_both_branches(tmp_path: Path) -> None:
    here = (frame(tmp_path, 9, "x.sum() > 2"),)
    symbols = (f.DataSymbol("u0", here),)
    problem = f.ExportProblem("export/0", "data-dependent", "Eq(u0, 1)", symbols=symbols, stack=here)
    (finding,) = folded(tmp_path, problem, f.ExportFailed("export/0", "E", "m", cause="Eq(u0, 1)")).findings
    assert finding.message == "export cannot decide `x.sum() > 2`: it depends on data"
    assert "torch.where" in finding.hints[0]
    assert "torch._check" not in finding.hints[0]


def test_a_size_that_depends_on_data_is_told_by_its_tensor(tmp_path: Path) -> None:
    path = tmp_path / "block.py"
    path.write_text("def forward(self, x, keep):\n    x = x[keep]\n    n = x.shape[0]\n    if n == 0: pass\n")
    read, here = (
        f.StackFrame(str(path), 2, "forward", 8, 2, 15),
        f.StackFrame(str(path), 4, "forward", 7, 4, 13),
    )
    problem = f.ExportProblem(
        "export/0", "data-dependent", "Eq(u0, 0)", symbols=(f.DataSymbol("u0", (read,)),), stack=(here,)
    )
    report = fold("block.py", 1, "2.13", (problem,), Workspace(tmp_path, SourceReader()))
    assert report.findings[0].message.endswith("`n == 0`: it depends on data, through `x`")


TESTED = [
    (
        "assert (x > 0).all()",
        "assert (x > 0).all()",
        "Eq(u0, 1)",
        "torch._check(((x > 0).all() != 0).item())",
    ),
    ("if not x.any(): pass", "x.any()", "Eq(u0, 1)", "torch.cond(x.any() == 0, ...)"),
    ("if f and x.any(): pass", "x.any()", "Eq(u0, 1)", "torch.logical_and"),
    ("b = bool(x.any())", "bool(x.any())", "Eq(u0, 1)", "torch.cond` for code"),
    ("while x.sum() < 9: pass", "x.sum() < 9", "Eq(u0, 1)", "torch.while_loop"),
    ("while n > 0: pass", "n > 0", "u0 > 0", "torch.while_loop"),
    ("if 0 < n < 5: pass", "0 < n < 5", "u0 > 0", "torch._check(n > 0)"),
    ("if n in (1, 2): pass", "n in (1, 2)", "Eq(u0, 1)", "torch._check(n == 1)"),
    ("if n: pass", "n", "Ne(u0, 0)", "torch._check(n != 0)"),
    ("if not n: pass", "n", "Ne(u0, 0)", "torch._check(n == 0)"),
]
"""A statement, what of it torch cannot decide, torch's condition, and the advice, which exports."""


@pytest.mark.parametrize(("statement", "text", "condition", "advice"), TESTED)
def test_no_advice_asks_for_the_truth_of_a_symbol_or_names_torchs_own(
    tmp_path: Path, statement: str, text: str, condition: str, advice: str
) -> None:
    path = tmp_path / "block.py"
    path.write_text(f"def forward(self, x, f):\n    n = x.sum().item()\n    {statement}\n")
    column = 4 + statement.index(text)
    here = f.StackFrame(str(path), 3, "forward", column, 3, column + len(text))
    read_at = (
        here if "x." in statement or "(x" in statement else f.StackFrame(str(path), 2, "forward", 8, 2, 22)
    )
    symbols = (f.DataSymbol("u0", (read_at,)),)
    problem = f.ExportProblem("export/0", "data-dependent", condition, symbols=symbols, stack=(here,))
    (finding,) = fold("block.py", 1, "2.13", [problem], Workspace(tmp_path, SourceReader())).findings
    assert advice in finding.hints[0]
    assert "u0" not in finding.message + " ".join(finding.hints)


def test_a_number_without_a_variable_gets_one_first(tmp_path: Path) -> None:
    here = (frame(tmp_path, 9, "x[: x.sum().item()]"),)
    symbols = (f.DataSymbol("u0", here),)
    problem = f.ExportProblem("export/0", "data-dependent", "u0 > 5", symbols=symbols, stack=here)
    (finding,) = folded(tmp_path, problem, f.ExportFailed("export/0", "E", "m", cause="u0 > 5")).findings
    assert finding.hints[0].startswith("Assign the number that torch calls `u0` to a variable first")
    assert not any("torch.cond" in hint for hint in finding.hints)


def test_what_a_draft_took_for_false_is_asserted_as_its_opposite(tmp_path: Path) -> None:
    read_at, here = frame(tmp_path, 6, "x.sum().item()"), frame(tmp_path, 7, "n > 3")
    symbols = (f.DataSymbol("u0", (read_at,)),)
    problem = f.ExportProblem("export/0", "data-dependent", "u0 > 3", "False", symbols, (here,))
    (finding,) = folded(tmp_path, problem, f.ProgramExported("export/0")).findings
    assert (finding.severity, finding.span.row) == ("warning", 7)
    assert "torch._check(n <= 3)" in finding.hints[0]


def test_a_dimension_is_told_by_its_name_and_with_torchs_suggestion(tmp_path: Path) -> None:
    here = (frame(tmp_path, 7, "n > 3"),)
    symbol = f.Symbol("s77", "L['x'].size()[0]", 8)
    guard = f.ShapeGuard("export/0", "s77 > 3", (symbol,), here)
    constant = f.Specialization("export/0", "s5", ("L['x'].size()[1]",), "5", "", here)
    at_least = "4 <= L['x'].size()[0] and L['x'].size()[0] <= IntInfinity()"
    violations = (
        f.SizeViolation("batch", "L['x'].size()[0]", at_least),
        f.SizeViolation("width", value="5"),
    )
    suggestions = ("batch = Dim('batch', min=4)", "width = 5")
    failed = f.ExportFailed("export/0", "UserError", "m", (), violations, suggestions)
    report = folded(tmp_path, guard, constant, failed)
    assert {finding.message for finding in report.findings} == {
        "export requires `4 <= x.shape[0]` here, which not all sizes of `batch` satisfy",
        "`x.shape[1]` becomes 5 here, though `width` is dynamic",
    }
    assert all(finding.span.row == 7 for finding in report.findings)
    assert {finding.hints[0] for finding in report.findings} == {
        "torch suggests `batch = Dim('batch', min=4)`.",
        "torch suggests `width = 5`.",
    }


def test_a_draft_that_goes_on_with_other_sizes_warns(tmp_path: Path) -> None:
    violation = f.SizeViolation("width", value="5")
    failed = f.ExportFailed("export/0", "UserError", "m", (), (violation,), retried=True)
    (finding,) = folded(tmp_path, failed, f.ProgramExported("export/1")).findings
    assert finding.severity == "warning"


def test_any_other_exception_of_an_export_is_told_as_it_is(tmp_path: Path) -> None:
    failed = f.ExportFailed("export/0", "ValueError", "no\nmore", (frame(tmp_path, 6, "x.sum()"),))
    (finding,) = folded(tmp_path, failed).findings
    assert (finding.message, finding.span.row) == ("torch.export fails: ValueError: no", 6)


CONFLICTS = (
    "Found the following conflicts between user-specified ranges and inferred ranges from model tracing:"
)


@pytest.mark.parametrize(
    ("line", "title", "hint"),
    [
        (
            "but export 0/1 specialized due to hint of 1 for dimension inputs['x'].shape[0].",
            "`x.shape[0]` becomes 1 here, though it is marked dynamic",
            "an example that has size 2 or more",
        ),
        (
            "but tracing inferred a static shape of 6 for dimension inputs['x'][0].shape[1].",
            "`x[0].shape[1]` becomes 6 here, though it is marked dynamic",
            "If it is always 6",
        ),
    ],
)
def test_a_size_that_is_constant_in_the_example_is_told(
    line: str, title: str, hint: str, tmp_path: Path
) -> None:
    message = f"{CONFLICTS}\n- Received user-specified dim hint Dim.DYNAMIC(min=2, max=None), {line}"
    failed = f.ExportFailed("export/0", "ValueError", message, (frame(tmp_path, 6, "x.sum()"),))
    (finding,) = folded(tmp_path, failed).findings
    assert (finding.message, finding.code) == (title, "size-constraint")
    assert hint in finding.hints[0]


def test_a_range_that_the_program_does_not_allow_is_told(tmp_path: Path) -> None:
    said = "- Received user-specified min/max range of [None, 4], conflicting with the inferred min/max range"
    failed = f.ExportFailed(
        "export/0", "ValueError", f"{CONFLICTS}\n{said} of [6, int_oo], for inputs['x'].shape[0]."
    )
    (finding,) = folded(tmp_path, failed).findings
    assert finding.message == "`x.shape[0]` is marked to 4, but the program needs it from 6"


@pytest.mark.parametrize(
    ("arguments", "keys", "hint"),
    [
        (["start", "end"], ["end"], "here `start` is missing"),
        (["x"], ["x", "z"], "Remove `z`"),
        (["x", "kwargs"], ["x", "z"], "whose `forward` has a parameter `z`"),
    ],
)
def test_keys_that_are_no_arguments_are_told(
    arguments: list[str], keys: list[str], hint: str, tmp_path: Path
) -> None:
    message = (
        "When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names "
        f"{arguments} of `inputs`, but here they are {keys}."
    )
    (finding,) = folded(tmp_path, f.ExportFailed("export/0", "UserError", message)).findings
    assert finding.message.startswith("the keys of `dynamic_shapes` are")
    assert hint in finding.hints[0]


def test_a_program_that_only_exports_is_not_told_that_it_compiles_nothing(tmp_path: Path) -> None:
    nothing = f.CallsWithoutGraph("", "", 1, 0)
    ended = f.RunFinished("finished", 1.0)
    assert folded(tmp_path, f.ProgramExported("export/0"), nothing, ended).findings == ()


def test_what_a_draft_met_is_no_error_when_something_else_ends_it(tmp_path: Path) -> None:
    here = (frame(tmp_path, 6, "x.sum()"),)
    problem = f.ExportProblem(
        "export/0", "mismatched-fake-kernel", "shop::twice", "Dtypes differ", stack=here
    )
    failed = f.ExportFailed("export/0", "RuntimeError", "unknown type in output", here)
    found = [(item.code, item.severity) for item in folded(tmp_path, problem, failed).findings]
    assert found == [("export-error", "error"), ("mismatched-fake-kernel", "warning")]


def test_sizes_in_a_condition_have_their_names(tmp_path: Path) -> None:
    here = (frame(tmp_path, 9, "x[: x.sum().item()]"),)
    read_at = (frame(tmp_path, 6, "x.sum().item()"),)
    sizes = (f.Symbol("s7", "L['x'].size()[0]", 8),)
    symbols = (f.DataSymbol("u0", read_at),)
    problem = f.ExportProblem("export/0", "data-dependent", "Ne(8*u0, s7)", "False", symbols, here, sizes)
    (finding,) = folded(tmp_path, problem, f.ProgramExported("export/0")).findings
    assert finding.message.startswith("draft_export assumes that `8 * n != x.shape[0]` is false here")
    assert "torch._check(8 * n == x.shape[0])" in finding.hints[0]


def test_an_attribute_that_is_assigned_is_a_warning_on_the_assignment(tmp_path: Path) -> None:
    text = BRANCH.replace("n = x.sum().item()", "n = self.last = x.sum()")
    (tmp_path / "block.py").write_text(text)
    here = f.StackFrame(str(tmp_path / "block.py"), 6, "forward")
    facts = (
        f.ExportProblem("export/0", "assigned-attribute", "self.block.last"),
        f.ExportProblem("export/0", "assigned-attribute", "self.other"),
        f.GraphCaptured("export/0", (f.GraphNode("sum_1", "f32[] cpu", here),)),
        f.ProgramExported("export/0"),
    )
    report = fold("block.py", 1, "2.13", facts, Workspace(tmp_path, SourceReader()))
    other, last = report.findings
    assert (last.code, last.severity, last.span.row) == ("assigned-attribute", "warning", 6)
    assert last.message == ("the exported program omits the assignment of `self.block.last` in `forward`")
    column = last.span.column - 1
    assert text.splitlines()[5][column : last.span.end_column - 1] == "self.last"
    assert 'self.register_buffer("last", ...)' in last.hints[0]
    assert other.message == "the exported program omits the assignment of `self.other`"
