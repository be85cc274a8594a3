"""Recorded runs, and what is told of two that differ."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from fullgraph_compiler.capture.run import run
from fullgraph_compiler.facts import (
    CompareRequest,
    Fact,
    LeftBehind,
    ResultsCompared,
    RunFinished,
    RunRequest,
    Script,
    SourceText,
    as_object,
    from_json,
)
from fullgraph_compiler.verify.comparing import compare
from fullgraph_compiler.verify.differences import LADDER, numbers_differ
from fullgraph_compiler.verify.running import run_recorded
from in_child import in_child
from worker_client import Forks

CASES = Path(__file__).parents[2] / "cases"

PROGRAM = """
import torch
from dataclasses import dataclass

@dataclass
class Output:
    y: torch.Tensor
    note: str

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.norm = torch.nn.BatchNorm1d(4)
        self.count = 0

    def forward(self, x, seen):
        self.count += 1
        seen.append(x)
        y = torch.nn.functional.dropout(self.norm(self.linear(x)), 0.5, True)
        return Output(y, "as is"), {"x": x}

model = Model()
compiled = torch.compile(model)

@torch.compile
def step(x):
    inner(x)
    x.add_(1)
    if x.shape[0] == 5:
        raise LookupError("five")
    return x[0], x * 2

@torch.compile
def inner(x):
    print("inner")
    return x.relu()

for n in (3, 5):
    output, _ = compiled(torch.randn(n, 4), [])
    (output.y.square().sum()).backward()
    try:
        step(torch.arange(n * 4.0).reshape(n, 4))
    except LookupError:
        pass
raise ValueError("the end")
"""

EDITS = {
    "result": ("x * 2", "x * 3", "result[1] of call 2 of `step`: by up to 1.2e+01"),
    "result type": ("x * 2", "(x * 2).double()", "result[1] of call 2 of `step`: float64, before float32"),
    "text": ('"as is"', '"other"', "result[0].note of call 1 of `Model`: 'other', before 'as is'"),
    "mutated tensor": ("x.add_(1)", "x = x.add(1)", "input[0] of call 2 of `step`: by up to 1.0e+00"),
    "mutated list": ("seen.append(x)", "pass", "input[1][0] of call 1 of `Model`: missing"),
    "attribute": ("count += 1", "count += 2", "`Model`.count of call 1 of `Model`: 2, before 1"),
    "buffer": ("1d(4)", "1d(4, momentum=0.5)", "`Model`.norm.running_mean of call 1 of `Model`: by up to"),
    "gradient": (
        "(self.linear(x))",
        "(self.linear(x).detach())",
        "gradient of `Model`.linear.weight of call 1 of `Model`",
    ),
    "random number": ("self.count += 1", "self.count += 1; x = x + torch.rand(1) * 0", "call 1 of `Model`"),
    "new alias": ("x * 2", "x.mul_(2) if x.shape[0] == 3 else x", "call 2 of `step`"),
    "exception": ('LookupError("five")', 'KeyError("five")', "call 4 of `step`: KeyError: 'five', before"),
    "end": (
        "ValueError(",
        "TypeError(",
        "the program raises TypeError: the end, before it raises ValueError",
    ),
    "calls": ("raise ValueError", "compiled(torch.ones(2, 4), [])\nraise ValueError", "5 calls of compiled"),
}


def observed(path: Path, record: str, text: str = "", *, other_mode: bool = False) -> tuple[Fact, ...]:
    """The facts of a run in a child of this process."""

    def work() -> list[str]:
        os.chdir(path.parent)
        lines: list[str] = []
        texts = (SourceText(str(path), text),) if text else ()
        request = RunRequest(1, Script(str(path)), texts=texts, record=record, other_mode=other_mode)
        (run_recorded if record else run)(
            request, lambda facts: lines.append(json.dumps(facts, default=as_object))
        )
        return lines

    return tuple(fact for line in in_child(work) for fact in from_json(json.loads(line)))


def difference(before: str, after: str, rounded: str = "") -> ResultsCompared:
    """What is told of two recordings."""
    facts: list[Any] = []
    compare(CompareRequest(1, before, after, rounded=rounded), facts.extend)
    assert isinstance(facts[-1], RunFinished)
    return facts[0]  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, and beside it the recording ``before``."""
    path = tmp_path_factory.mktemp("recorded") / "program.py"
    path.write_text(PROGRAM)
    observed(path, str(path.with_name("before")))
    return path


def test_two_runs_of_one_program_are_equal(program: Path, tmp_path: Path) -> None:
    observed(program, str(tmp_path / "again"))
    told = difference(str(program.with_name("before")), str(tmp_path / "again"))
    assert told == ResultsCompared(
        4,
        "",
        ("inputs", "results", "buffers", "gradients", "random numbers", "exceptions"),
        modes=("training",),
        repeated=11,
    )


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_that_changes_what_a_call_does_is_told(edit: str, program: Path, tmp_path: Path) -> None:
    old, new, expected = EDITS[edit]
    assert old in PROGRAM
    observed(program, str(tmp_path / "after"), PROGRAM.replace(old, new))
    told = difference(str(program.with_name("before")), str(tmp_path / "after"))
    assert expected in "\n".join([told.difference, *(f"{item.place}: {item.words}" for item in told.numbers)])


WHOLE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm, self.means = torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), []

    def forward(self, x):
        y = self.norm(self.linear(x))
        self.means.append(y.abs().mean().item())
        return y.sin()

model = torch.compile(Model())

for n in (3, 5):
    model(torch.randn(n, 4)).sum().backward()
"""
SPLIT = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm, self.means = torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), []

    @torch.compile
    def part(self, x):
        y = self.norm(self.linear(x))
        return y.sin(), y.abs().mean()

    def forward(self, x):
        result, mean = self.part(x)
        self.means.append(mean.item())
        return result
    forward = __fullgraph_watch__(forward, part, True)

model = Model()

for n in (3, 5):
    model(torch.randn(n, 4)).sum().backward()
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", ""),
        ("return result", "return result * 2", "result of call 1 of `Model`: by up to"),
        ("append(mean.item())", "append(2 * mean.item())", "`Model`.means[0] of call 1 of `Model`: "),
        (
            "sin(), y",
            "sin().detach(), y",
            "result of call 1 of `Model`: without gradient, before with gradient",
        ),
        ("self.part(x)", "self.part(x.detach())", ""),
    ],
)
def test_a_split_function_is_compared_as_a_whole(old: str, new: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(WHOLE)
    assert old in SPLIT
    observed(path, str(tmp_path / "before"))
    observed(path, str(tmp_path / "after"), SPLIT.replace(old, new) if old else SPLIT)
    compared = difference(str(tmp_path / "before"), str(tmp_path / "after"))
    numbers = (f"{item.place}: {item.words}" for item in compared.numbers)
    words = [compared.difference, compared.again, *numbers]
    assert (expected in "\n".join(words)) if expected else not any(words)
    assert compared.modes == ("training",)
    assert expected or compared.calls == 2


AGAIN = """
import torch

weight, scale = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(3))

@torch.compile
def root(x):
    try:
        print("runs eagerly")
        y = torch.linalg.cholesky(x)
    except RuntimeError:
        y = -x
    return y * scale + weight.detach()

with torch.no_grad():
    root(torch.eye(3))
"""
UNSEEN = {
    "an error leaves its try": (
        'print("runs eagerly")',
        "pass",
        "with zeros: _LinAlgError, before no exception",
    ),
    "an error is caught elsewhere": ("RuntimeError", "ValueError", "with zeros: _LinAlgError"),
    "other results": ("y = -x", "y = x", "a call of `root` with other signs: "),
    "a gradient where there was none": ("weight.detach()", "weight", "gradient of `weight` of a call"),
    "no gradient": ("* scale", "* scale.detach()", "gradient of `scale` of a call of `root` with gradients"),
}


@pytest.mark.parametrize("edit", UNSEEN)
def test_what_a_program_does_not_show_itself_is_told(edit: str, tmp_path: Path) -> None:
    old, new, expected = UNSEEN[edit]
    path = tmp_path / "program.py"
    for name, text in (("before", AGAIN), ("after", AGAIN.replace(old, new))):
        path.write_text(text)
        observed(path, str(tmp_path / name))
    told = difference(str(tmp_path / "before"), str(tmp_path / "after"))
    assert told.difference == ""
    assert expected in told.again


def edited(folder: Path, before: str, after: str) -> ResultsCompared:
    """What differs between the runs of two texts of a program."""
    path = folder / "program.py"
    for name, text in (("before", before), ("after", after)):
        path.write_text(text)
        observed(path, str(folder / name))
    return difference(str(folder / "before"), str(folder / "after"))


def test_what_a_call_changes_before_its_error_is_mild(tmp_path: Path) -> None:
    text = (
        "import torch\n\ncount = torch.zeros(3)\n\n@torch.compile(backend='eager')\ndef root(x, count):\n"
        "    count += 1\n    if x.sum() == 0:\n        raise ValueError('nothing')\n    return x * 2\n\n"
        "root(torch.ones(3), count)\n"
    )
    late = text.replace("    count += 1\n", "").replace("    return", "    count += 1\n    return")
    compared = edited(tmp_path, text, late)
    assert (compared.difference, compared.again) == ("", "")
    assert compared.mild.startswith("after `ValueError`, input[1] of a call of `root` ")


def test_a_repeated_call_that_did_not_compile_is_not_compared(tmp_path: Path) -> None:
    text = (
        "import torch\nfrom torch._dynamo.exc import InternalTorchDynamoError\n\n"
        "@torch.compile(backend='eager')\ndef root(x):\n"
        "    if x.sum() == 0:\n        raise InternalTorchDynamoError('nothing')\n    return x * 2\n\n"
        "root(torch.ones(3))\n"
    )
    compared = edited(tmp_path, text, text.replace("== 0", "== 0.5"))
    assert (compared.difference, compared.again) == ("", "")
    assert any("which did not compile before" in item for item in compared.unseen)


LEFT = """
import os
import torch

class Meter:
    seen = 0

@torch.compile
def step(x):
    return x + 1

step(torch.ones(2))
seen = []
"""


def test_what_a_program_leaves_behind_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    changes = (
        "Meter.seen += 1", "seen.append(1)", "os.environ['STEP'] = '1'",
        "torch.set_default_dtype(torch.float64)", "open('log.txt', 'w').close()",
    )  # fmt: skip
    for name, text in (("before", LEFT), ("after", LEFT + "\n".join(changes))):
        path.write_text(text)
        observed(path, str(tmp_path / name))
    told = difference(str(tmp_path / "before"), str(tmp_path / "after"))
    assert [item.place for item in told.left] == [
        "torch.get_default_dtype()", "`Meter.seen` of program.py", "`seen` of program.py",
        "environment variable STEP", "file log.txt",
    ]  # fmt: skip
    assert told.difference == ""


TRAINED = """\
import torch

weight = torch.ones(3, requires_grad=True)


@torch.compile(backend="eager")
def loss(x):
    large = torch.ones(1 << 21) * FACTOR
    return (weight * x).sum() * FACTOR, (x * FACTOR).sum().item(), large


loss(torch.arange(3.0))[0].backward()
norm = weight.grad.norm().item()
"""


@pytest.mark.parametrize(
    ("rounded", "factor", "is_rounding"),
    [
        ("1.001", "1.003", True),
        ("1.001", "0.998", True),
        ("1.001", "1.005", False),
        ("1.001", "float('nan')", False),
        ("1.1", "1.05", False),
    ],
    ids=["as much", "less", "more", "no number", "too much"],
)
def test_numbers_may_differ_about_as_much_as_with_another_rounding(
    rounded: str, factor: str, is_rounding: bool, tmp_path: Path
) -> None:
    path = tmp_path / "trained.py"
    path.write_text(TRAINED.replace("FACTOR", "1.0"))
    records = {name: str(tmp_path / name) for name in ("before", "rounded", "after")}
    for name, number in (("before", "1.0"), ("rounded", rounded), ("after", factor)):
        observed(path, records[name], TRAINED.replace("FACTOR", number))
    plain = difference(records["before"], records["after"])
    found = difference(records["before"], records["after"], records["rounded"])
    for one, is_equal in ((plain, False), (found, is_rounding)):
        assert (one.difference == "" and not one.numbers) is is_equal
        assert ("norm" not in str(one.left)) is is_equal


NAMED = """\
import random, torch


model = torch.nn.Linear(2, 2)


class Sampler:
    def __init__(self):
        self.model, self.name = model, random.SystemRandom().random()

    @torch.compile(backend="eager")
    def step(self, x):
        return self.model(x)


Sampler().step(torch.ones(2))
"""


def test_what_a_call_leaves_alone_is_not_compared_in_the_other_mode_either(tmp_path: Path) -> None:
    path = tmp_path / "named.py"
    path.write_text(NAMED)
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    for record in (first, second):
        observed(path, record, other_mode=True)
    found = difference(first, second)
    assert (found.modes, found.numbers, found.difference) == (("training",), (), "")


def test_rounding_of_gradients_that_cancel_out_is_no_difference() -> None:
    rounded = torch.tensor([0.0, 2e-6])
    assert numbers_differ(torch.zeros(2), rounded, LADDER) == "by up to 2.0e-06"
    assert not numbers_differ(torch.zeros(2), rounded, LADDER, scale=10.0)


@pytest.mark.parametrize(
    "name",
    [
        "graph_breaks/gb0123_backward.py",
        "graph_breaks/gb0124_item_in_loop.py",
        "recompiles/attribute_added.py",
        "findings/twice.py",
    ],
)
def test_recording_changes_nothing_of_what_is_compiled(name: str, tmp_path: Path) -> None:
    path = CASES / name
    plain, recorded = (
        [_without_chance(fact) for fact in observed(path, record)]
        for record in ("", str(tmp_path / "record"))
    )
    assert recorded == plain
    assert any(kind == "FrameStarted" for kind, *_ in plain)


def test_example_calls_and_the_worker_compare(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    with Forks(tmp_path) as forks:
        for name in ("before", "after"):
            request = RunRequest(7, Script(str(path)), record=str(tmp_path / name))
            assert forks.ask("run", request).exit_code == 0
        asked = CompareRequest(7, str(tmp_path / "before"), str(tmp_path / "after"))
        told = forks.ask("compare", asked).of(ResultsCompared)
    assert [(item.calls, item.difference) for item in told] == [(4, "")]


def _without_chance(fact: Fact) -> tuple[Any, ...]:
    """What tells a fact apart, without times, addresses and tracebacks."""
    data = json.loads(json.dumps(fact, default=as_object))
    names = ("compile_id", "function", "row", "code", "reason", "source", "kind", "stack", "status", "key")
    return (
        type(fact).__name__,
        *(
            str(data.get(name))
            for name in names
            if not (name == "code" and "___check" in str(data.get(name)))
        ),
    )


LEAVING = """
import logging
import torch

logger = logging.getLogger("own")

class Ledger:
    def __init__(self):
        self.entries = []

class Config:
    steps = 0

def noted(x, seen=[]):
    seen.append(1)
    return x

compiled = torch.compile(noted, backend="eager")
LEDGER, TABLE, other = Ledger(), torch.zeros(2, 2), torch.ones(2, 2)

@torch.compile(backend="eager")
def f(x):
    return x * 2

def main():
    LEDGER.entries.append(float(f(TABLE).sum()))
    noted(TABLE)
    Config.steps += 1
    other.t().mul_(2)
    logger.debug("its cache is no state of the program")

main()
"""


def _left_in_program(told: ResultsCompared) -> set[str]:
    """Return the variables of the program that differ; the child also has modules of other tests."""
    return {item.place for item in told.left if item.place.endswith(" of program.py")}


def test_what_a_program_leaves_in_its_modules_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    edits = {
        "`LEDGER` of program.py": ("LEDGER.entries.append(float", "print(float"),
        "`Config.steps` of program.py": ("Config.steps += 1", "pass"),
        "`noted.__defaults__` of program.py": ("noted(TABLE)", "pass"),
        "": ('logger.debug("its cache is no state of the program")', "pass"),
        "`other` of program.py": ("other.t().mul_(2)", "other.t().clone().mul_(2)"),
    }
    path.write_text(LEAVING)
    observed(path, str(tmp_path / "before"))
    observed(path, str(tmp_path / "again"))
    assert not _left_in_program(difference(str(tmp_path / "before"), str(tmp_path / "again")))
    text = LEAVING.replace('torch.compile(noted, backend="eager")', "noted")  # it is a function in any case
    for old, new in edits.values():
        text = text.replace(old, new)
    observed(path, str(tmp_path / "after"), text)
    told = difference(str(tmp_path / "before"), str(tmp_path / "after"))
    assert told.difference == ""
    assert _left_in_program(told) == set(edits) - {""}
    assert LeftBehind("`other` of program.py", "by up to 1.0e+00") in told.left


def test_an_error_that_torch_finds_while_it_compiles_a_repeated_call_is_mild(tmp_path: Path) -> None:
    text = (
        "import torch\nfrom torch._dynamo.exc import TorchRuntimeError\n\n"
        "@torch.compile(backend='eager')\ndef root(x):\n"
        "    if x.sum() == 0:\n        raise ValueError('nothing')\n    return x * 2\n\n"
        "root(torch.ones(3))\n"
    )
    compared = edited(tmp_path, text, text.replace("ValueError", "TorchRuntimeError"))
    assert (compared.difference, compared.again) == ("", "")
    assert compared.mild.endswith("TorchRuntimeError, before ValueError")


@pytest.mark.parametrize(
    ("refuse", "is_mild"), [("torch.multinomial(x, 1)", True), ("raise RuntimeError('nothing')", False)]
)
def test_values_that_torch_refused_may_be_accepted(tmp_path: Path, refuse: str, is_mild: bool) -> None:
    text = (
        "import torch\n\n@torch.compile(backend='eager')\ndef root(x):\n"
        f"    if x.sum() == 0:\n        {refuse}\n    return x * 2\n\nroot(torch.ones(3))\n"
    )
    compared = edited(tmp_path, text, text.replace("== 0", "== 0.5"))
    words = "a call of `root` with zeros: no exception, before RuntimeError"
    assert (compared.again, compared.mild) == (("", words) if is_mild else (words, ""))
