"""Exports in a run: what they raise stands on its line, and what is advised makes them succeed."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from fullgraph_compiler import facts as f
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.source import SourceReader
from fullgraph_server.workspace.workspace import Workspace
from worker_client import Forks, Result

pytestmark = pytest.mark.xdist_group("worker")

IMPORTS = """\
import torch
from torch.export import Dim, draft_export, export

@torch.library.custom_op("shop::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2

"""

# The statements of a forward, how it is exported, and the line, code and message of the finding.
FAILURES = {
    "a-number": (
        ("n = x.sum().to(torch.int64).item()", "if n > 3:", "    return x + 1", "return x - 1"),
        "(torch.ones(4),)",
        ("if n > 3:", "data-dependent", "export cannot decide `n > 3`: `n` depends on data"),
    ),
    "an-integer": (
        ("n = int(x.to(torch.int64).sum())", "return x[:n]"),
        "(torch.ones(4),)",
        (
            "n = int(x.to(torch.int64).sum())",
            "data-dependent",
            "export needs a concrete value for `int(x.to(torch.int64).sum())`, which depends on data",
        ),
    ),
    "a-tensor": (
        ("if x.sum() > 3:", "    return x + 1", "return x - 1"),
        "(torch.ones(4),)",
        ("if x.sum() > 3:", "data-dependent", "export cannot decide `x.sum() > 3`: it depends on data"),
    ),
    "a-size": (
        ("if x.shape[0] == 4:", "    return x + 1", "return x - 1"),
        "(torch.ones(4),), dynamic_shapes={'x': {0: Dim('batch')}}",
        ("if x.shape[0] == 4:", "size-constraint", "`x.shape[0]` becomes 4 here, though `batch` is dynamic"),
    ),
    "a-range": (
        ("if x.shape[0] > 3:", "    return x + 1", "return x - 1"),
        "(torch.ones(8),), dynamic_shapes={'x': {0: Dim('batch')}}",
        (
            "if x.shape[0] > 3:",
            "size-constraint",
            "export requires `4 <= x.shape[0]` here, which not all sizes of `batch` satisfy",
        ),
    ),
    "an-operator": (
        ("y = twice(x)", "return y + 1"),
        "(torch.ones(8),)",
        (
            "y = twice(x)",
            "missing-fake-kernel",
            "`shop::twice` has no fake kernel, which says what its result looks like",
        ),
    ),
}
NUMBER = "n = x.sum().to(torch.int64).item()"
BRANCHES = "if x.sum() > 3:\n            return x + 1\n        return x - 1"
FAKE = "@torch.library.register_fake('shop::twice')\ndef _(x):\n    return torch.empty_like(x)\n\n"
ADVISED = [
    ("a-number", NUMBER, f"{NUMBER}\n        torch._check(n > 3)"),
    ("a-number", NUMBER, f"{NUMBER}\n        torch._check(n <= 3)"),
    ("a-tensor", BRANCHES, "return torch.where(x.sum() > 3, x + 1, x - 1)"),
    ("a-tensor", BRANCHES, "return torch.cond(x.sum() > 3, lambda x: x + 1, lambda x: x - 1, (x,))"),
    ("an-integer", "int(x.to(torch.int64).sum())", "x.to(torch.int64).sum().item()"),
    ("a-size", "{'x': {0: Dim('batch')}}", "None"),
    ("a-size", "Dim('batch')", "Dim.AUTO"),
    ("a-range", "Dim('batch')", "Dim('batch', min=4)"),
    ("a-range", "Dim('batch')", "Dim.AUTO"),
    ("an-operator", "class M", f"{FAKE}class M"),
]
"""What the hints of each failure say, done: a text of the program, and what stands there then."""


BROKEN = ("a-tensor", ", strict=True")
"""A graph break for Dynamo, which has an id of its own."""
TRACED = ("an-integer", ", strict=True")
"""Dynamo makes a symbol of it."""


def program(kind: str, function: str = "export", more: str = "") -> str:
    body, arguments, _ = FAILURES[kind]
    statements = textwrap.indent("\n".join(body), " " * 8)
    module = f"class M(torch.nn.Module):\n    def forward(self, x):\n{statements}\n"
    return f"{IMPORTS}{module}\n{function}(M(), {arguments}{more})\n"


def run(forks: Forks, tmp_path: Path, text: str) -> tuple[Result, Report]:
    path = tmp_path / "program.py"
    path.write_text(text)
    result = forks.run(f.Script(str(path)))
    return result, fold(str(path), 1, "", result.facts, Workspace(tmp_path, SourceReader()))


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (kind, more)
        for kind in FAILURES
        for more in ("", ", strict=True")
        if (kind, more) not in (BROKEN, TRACED)
    ],
)
def test_an_export_that_raises_has_one_finding_on_its_line(
    forks: Forks, tmp_path: Path, kind: str, more: str
) -> None:
    text = program(kind, more=more)
    result, report = run(forks, tmp_path, text)
    assert result.of(f.RunFinished)[0].status == "raised"
    (finding,) = report.findings
    line, code, message = FAILURES[kind][2]
    assert text.splitlines()[finding.span.row - 1].strip() == line
    assert (finding.kind, finding.code, finding.severity) == ("export-error", code, "error")
    if kind == "a-size" and more:
        message = "`batch` becomes 4 here, though it is marked dynamic"  # Dynamo knows the inputs by numbers
    assert finding.message == message
    assert finding.span.column > 9 or kind == "an-operator"


@pytest.mark.parametrize(("kind", "old", "new"), ADVISED)
def test_what_is_advised_makes_it_succeed(
    forks: Forks, tmp_path: Path, kind: str, old: str, new: str
) -> None:
    text = program(kind)
    assert old in text
    text = text.replace(old, new)
    result, report = run(forks, tmp_path, text)
    assert (result.of(f.RunFinished)[0].status, report.findings) == ("finished", ())
    assert len(report.exports) == 1


def test_what_dynamo_breaks_at_has_its_id(forks: Forks, tmp_path: Path) -> None:
    _, report = run(forks, tmp_path, program(BROKEN[0], more=BROKEN[1]))
    assert [(item.kind, item.code) for item in report.findings] == [("capture-error", "GB0170")]


@pytest.mark.parametrize(("kind", "code"), [("a-number", "data-dependent"), ("a-range", "size-constraint")])
def test_a_draft_warns_and_keeps_its_own_report(forks: Forks, tmp_path: Path, kind: str, code: str) -> None:
    text = program(kind, "program = draft_export") + "print(len(program._report.failures), 'failures')\n"
    result, report = run(forks, tmp_path, text)
    assert [(item.code, item.severity) for item in report.findings] == [(code, "warning")]
    assert "\n1 failures" in f"\n{result.output}"
    assert result.of(f.RunFinished)[0].status == "finished"


def test_an_exception_that_is_caught_is_told_and_so_is_the_next(forks: Forks, tmp_path: Path) -> None:
    text = program("a-number").replace("\nexport(", "\ntry:\n    export(")
    text += "except Exception:\n    pass\nraise RuntimeError('later')\n"
    _, report = run(forks, tmp_path, text)
    assert [(item.kind, item.code) for item in report.findings] == [
        ("export-error", "data-dependent"),
        ("target-error", "target-error"),
    ]


def test_an_example_call_asks_for_an_export(forks: Forks, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    functions = "def f(a, b):\n    return a * b\n"
    module = "class M(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"
    path.write_text(f"{IMPORTS}{functions}\n{module}")
    examples = (
        f.Example("f", (f.ExampleCall("f(f32[8], b=f32[8])", 1, export=True),)),
        f.Example("M", (f.ExampleCall("M()(f32[8], dynamic_shapes=({0: Dim('n')},))", 1, export=True),)),
    )
    result = forks.run(f.Examples(str(path), examples))
    assert result.of(f.RunFinished)[0].status == "finished"
    started = [(fact.function, fact.row) for fact in result.of(f.FrameStarted)]
    assert started == [("f", 8), ("forward", 12)]
    assert [fact.nodes[0].frame.row for fact in result.of(f.GraphCaptured)] == [9, 13]
    assert [len(fact.ranges) for fact in result.of(f.ProgramExported)] == [0, 1]


@pytest.mark.slow
def test_code_that_is_compiled_ahead_of_time_belongs_to_its_program(forks: Forks, tmp_path: Path) -> None:
    package = tmp_path / "model.pt2"
    text = f"""\
import torch

class M(torch.nn.Module):
    def forward(self, x):
        return x.sin() + 1

class N(torch.nn.Module):
    def forward(self, x):
        return x.cos() * 2

programs = [torch.export.export(cls(), (torch.ones(8),)) for cls in (M, N)]
for program in programs:
    torch._inductor.aoti_compile_and_package(program, package_path={str(package)!r})
"""
    path = tmp_path / "program.py"
    path.write_text(text)
    result = forks.ask("run", f.RunRequest(7, f.Script(str(path)), "kernels"))
    report = fold(str(path), 1, "", result.facts, Workspace(tmp_path, SourceReader()))
    assert package.is_file()
    launches = [(code, launch) for code in report.codes for launch in code.launches]
    found = {(code.compile_id, span.row) for code, launch in launches for span in launch.spans}
    assert found == {("export/0", 5), ("export/1", 9)}


def test_an_attribute_that_is_assigned_while_exporting_is_told(forks: Forks, tmp_path: Path) -> None:
    module = (
        "class M(torch.nn.Module):\n    def forward(self, x):\n        self.last = x + 1\n        return x\n"
    )
    _, report = run(forks, tmp_path, f"{IMPORTS}{module}\nexport(M(), (torch.ones(4),))\n")
    (finding,) = report.findings
    assert (finding.code, finding.severity) == ("assigned-attribute", "warning")
    assert finding.message == "the exported program omits the assignment of `self.last` in `forward`"


def test_a_buffer_that_an_export_leaves_without_data_is_told(forks: Forks, tmp_path: Path) -> None:
    module = (
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('last', None)\n"
        "    def forward(self, x):\n        self.last = x + 1\n        return x\n"
    )
    _, report = run(forks, tmp_path, f"{IMPORTS}{module}\nexport(M(), (torch.ones(4),))\n")
    (finding,) = report.findings
    assert (finding.code, finding.span.row) == ("assigned-attribute", finding.span.end_row)
    assert (
        finding.message
        == "the export leaves `self.last`, which `forward` assigns, as a fake tensor without data"
    )
