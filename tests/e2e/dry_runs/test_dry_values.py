"""Values that example calls give to runs without data."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch
from forked import observe
from fullgraph_compiler.facts import Depth, Examples, Switches
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.workspace.examples import find_examples
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FUNCTION = """\
import torch
torch._dynamo.config.capture_scalar_outputs = {capture}
{call}
def f(x):
    y = x * 2
    n = y.argmax().item()
    z = y + n
    return z * 3
"""
SIZES = """\
import torch
# fullgraph: f(f32[4, 3]) where nonzero@6 = 5, masked_select@8 = 2, nonzero@9 = 4
@torch.compiler.disable
def f(x):
    for check in (True,):
        i = x.nonzero()
    assert i.shape == (5, 2) and i.stride() == (1, 5)
    assert x.masked_select(x > 0).shape == (2,)
    assert x[x > 0].shape == (4,)
    x[x > 0] = 0
"""


def run(text: str, tmp_path: Path, *, dry: bool = True, depth: Depth = "graph") -> Report:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(text))
    found = find_examples(SourceFile(str(path), path.read_text()))
    assert found.problems == ()
    program = Examples(str(path), found.examples)
    facts = observe(program, tmp_path, depth=depth, switches=Switches(dry_run=dry))
    return fold(str(path), 1, torch.__version__, facts, Workspace(tmp_path))


def problems(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.kind == "target-error"]


def breaks(report: Report) -> set[tuple[str, int]]:
    return {(item.code, item.span.row) for item in report.findings if item.kind == "graph-break"}


@pytest.mark.parametrize("depth", ["graph", "kernels"])
@pytest.mark.parametrize("capture", [False, True], ids=["broken", "captured"])
def test_a_given_value_lets_the_run_go_on(capture: bool, depth: Depth, tmp_path: Path) -> None:
    text = FUNCTION.format(call="# fullgraph: f(f32[4]) where item@6 = 3", capture=capture)
    report = run(text, tmp_path, depth=depth)
    assert (report.status, problems(report)) == ("finished", [])
    (frame,) = report.frames
    assert (frame.graphs, breaks(report)) == ((1, set()) if capture else (2, {("GB0124", 6)}))


@pytest.mark.parametrize("capture", [False, True], ids=["broken", "captured"])
def test_where_none_is_given_the_finding_says_how(capture: bool, tmp_path: Path) -> None:
    report = run(FUNCTION.format(call="# fullgraph: f(f32[4])", capture=capture), tmp_path)
    (end,) = problems(report)
    assert (end.severity, end.span.row) == ("warning", 6)
    assert end.hints[-1] == "Or provide the value in the example call: `where item@6 = ...`."


def test_numbers_of_elements_can_be_given(tmp_path: Path) -> None:
    report = run(SIZES, tmp_path)
    assert (report.status, problems(report)) == ("finished", [])


def test_each_call_has_values_of_its_own(tmp_path: Path) -> None:
    calls = "# fullgraph: f(f32[4]) where item@7 = 3\n# fullgraph: f(f32[8])"
    report = run(FUNCTION.format(call=calls, capture=False), tmp_path)
    (end,) = problems(report)
    assert end.span.row == 7
    assert end.hints[-1].endswith("`where item@7 = ...`.")


def test_a_value_that_nothing_needs_is_told(tmp_path: Path) -> None:
    call = "# fullgraph: f(f32[4]) where item@6 = 3, item@7 = 2.5"
    (told,) = problems(run(FUNCTION.format(call=call, capture=False), tmp_path))
    assert told.message == "the value provided for item@7 was not used"
    assert (told.severity, told.span.row) == ("warning", 3)


def test_with_data_given_values_are_not_looked_at(tmp_path: Path) -> None:
    call = "# fullgraph: f(f32[4]) where item@6 = 3, item@7 = 2"
    report = run(FUNCTION.format(call=call, capture=False), tmp_path, dry=False)
    assert (report.status, problems(report)) == ("finished", [])


def test_a_condition_takes_the_branch_of_the_given_value(tmp_path: Path) -> None:
    text = """\
        import torch
        # fullgraph: f(f32[4]) where item@4 = False
        def f(x):
            if x.sum() > 0:
                raise ValueError("the other branch")
            return x + 1
        """
    report = run(text, tmp_path)
    assert (report.status, problems(report)) == ("finished", [])
