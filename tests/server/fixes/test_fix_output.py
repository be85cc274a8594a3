"""Edits that only print or log at another time: a class of their own beside safe and unsafe ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixing import FILE, fixes
from fullgraph_server.cli.fix import FixOptions
from fullgraph_server.cli.formats.fixes import TargetFixes, summary
from fullgraph_server.fixes.experiments import ExperimentState
from fullgraph_server.fixes.model import SAFETY, Fix, RunCounts, Safety, Verdict
from fullgraph_server.fixes.plans import FixPlan
from fullgraph_server.fixes.search import CandidateVerdict, FindingTries
from fullgraph_server.fixes.words import safety_words
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace

HEAD = "import logging\n\nimport torch\n\nlogger = logging.getLogger(__name__)\n\n\n"
COUNTS = RunCounts(1, 2, 0), RunCounts(0, 1, 0)


def split_of(statement: str) -> Fix:
    """The fix that moves a statement out of the middle of a function."""
    lines = ["def step(x, w):", "y = torch.relu(x @ w)", statement, "return torch.sin(y) @ w\n"]
    text = f"{HEAD}@torch.compile\n" + "\n    ".join(lines)
    _, found = fixes(text, statement.split("\n")[0], "GB0059")
    return next(item for item in found if item.rule == "split-function")


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ('print("half way", x.shape)', 12),
        ('logger.info("half way: %s", y.sum().item())', 12),
        ('if w is not None:\n        print("half way")', 13),
    ],
)
def test_a_statement_that_only_prints_only_moves_output(statement: str, row: int) -> None:
    fix = split_of(statement)
    assert fix.safety == "moves-output"
    sentence = (
        f" Only output moves: line 11 prints after line {row}, or not at all if an error is raised there."
    )
    assert fix.change.endswith(sentence)


@pytest.mark.parametrize(
    ("printed", "last", "safety"),
    [
        ("x.shape, 1", "return self.head(y)", "moves-output"),
        ("y.sum().item()", "return self.head(y)", "moves-output"),
        ("self.scale", "return self.head(y)", "unsafe"),
        ("y", "z = y.view(-1)\n        z.mul_(2)\n        return y.sin() + z", "unsafe"),
        ("y", "return torch.sin(y) * 2", "moves-output"),
        ("y", "return torch.relu(y, inplace=True)", "unsafe"),
        ("y", "return self.act(y)", "unsafe"),
    ],
)
def test_what_may_print_something_else_later_is_unsafe(printed: str, last: str, safety: Safety) -> None:
    lines = [
        "    def forward(self, x):",
        "y = torch.relu(x).exp().sum(0) + 1",
        f"print({printed})",
        f"{last}\n",
    ]
    text = f"{HEAD}class Net:\n    @torch.compile\n" + "\n        ".join(lines)
    _, found = fixes(text, f"print({printed})", "GB0059")
    assert next(item for item in found if item.rule == "split-function").safety == safety


@pytest.mark.parametrize(
    "statement", ["print(torch.rand(2))", "print(next(iter([1])))", "torch._dynamo.graph_break()"]
)
def test_a_statement_that_does_more_is_unsafe_to_move(statement: str) -> None:
    assert split_of(statement).safety == "unsafe"


def test_a_method_that_is_compiled_elsewhere_is_unsafe_to_split() -> None:
    text = f"{HEAD}def step(x, w):\n    y = torch.relu(x @ w)\n    print(1)\n    return torch.sin(y)\n\n\n"
    _, found = fixes(f"{text}fast = torch.compile(step)\nstep(1, 2)\n", "print(1)", "GB0059")
    split = [item.safety for item in found if item.rule == "split-function"]
    assert "moves-output" not in split


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        (FixOptions(), ("safe",)),
        (FixOptions(moves_output=True), ("safe", "moves-output")),
        (FixOptions(unsafe=True), SAFETY),
        (FixOptions(moves_output=True, unsafe=True), SAFETY),
    ],
)
def test_the_options_say_what_is_applied(options: FixOptions, allowed: tuple[Safety, ...]) -> None:
    assert options.safety == allowed


def tried(row: int, *levels: Safety) -> FindingTries:
    finding = Finding("graph-break", "GB0059", "warning", "breaks", Span(FILE, row, 1, row, 2))
    verdict = Verdict(True, "", *COUNTS)
    return FindingTries(
        finding, tuple(CandidateVerdict(Fix(level, "", "", level), verdict) for level in levels)
    )


def test_an_edit_that_only_moves_output_ranks_between_safe_and_unsafe_ones() -> None:
    best = tried(1, "unsafe", "moves-output").best()
    assert best is not None
    assert best.fix.safety == "moves-output"
    assert safety_words(best.fix) == "moves output"
    assert tried(1, "moves-output").best(["safe"]) is None
    assert tried(1, "unsafe", "moves-output", "safe").best() == tried(1, "safe").best()


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ((), "nothing is left"),
        ((tried(1),), "1 finding is left"),
        ((tried(1, "moves-output"),), "1 finding is left (there are verified edits: --moves-output for 1)"),
        (
            (tried(1, "moves-output"), tried(2, "unsafe"), tried(3, "unsafe"), tried(4)),
            "4 findings are left (there are verified edits: --moves-output for 1 and --unsafe for 2)",
        ),
    ],
)
def test_the_summary_names_the_options_that_apply_more(left: tuple[FindingTries, ...], words: str) -> None:
    state = ExperimentState({}, Report(FILE, 1, status="finished"), "", Path())
    step = (tried(9).finding, tried(9, "safe").tries[0])
    plan = FixPlan(state, state, (step,), left)
    fixed = TargetFixes(
        script_target(FILE, Path("/w")), Workspace(Path("/w")), state, "", (*left, tried(9)), plan
    )
    assert summary(fixed) == f"1 edit together:  - {words} - write with --apply"
