"""Trials of statements: right replacements are equal, wrong ones are told."""

from __future__ import annotations

import functools
import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from fullgraph_compiler.facts import (
    Script,
    StatementsTried,
    Trial,
    TrialRequest,
    as_object,
    from_json,
)
from fullgraph_compiler.verify.trials import try_statements
from in_child import in_child
from replacements import CORPUS, Replacement

Told: TypeAlias = Callable[[str], dict[str, StatementsTried]]
"""What is told of each of the new statements of a replacement, by its name."""

FEW = {"two arms", "a clone", "a mask as index", "a caught exception", "a module in the other mode"}
"""The replacements of each test run; the others are slow."""
REFUSED = {
    "a generator": ("def f():\n    yield 1\nlist(f())", 2, "    yield 2\n", "`yield` cannot be tried"),
    "not reached": ("def f():\n    return 1", 2, "    return 2\n", "does not reach line 2"),
    "not in a function": ("x = 1", 1, "x = 2\n", "no whole statements of one block of a function"),
    "part of a statement": ("def f():\n    x = [\n    ]\nf()", 2, "    x = []\n", "no whole statements"),
    "no Python": ("def f():\n    return 1\nf()", 2, "    return (\n", "are not valid Python"),
    "no copies": (
        "def f(x):\n    return next(x)\nf(iter(open(__file__)))",
        2,
        "    return 2\n",
        "cannot be copied",
    ),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    items = {item.name: item for item in CORPUS}

    @functools.cache
    def told(name: str) -> dict[str, StatementsTried]:
        return _tried(items[name], tmp_path_factory.mktemp("trials") / "program.py")

    return told


def _tried(item: Replacement, path: Path) -> dict[str, StatementsTried]:
    indent = " " * (8 if item.before.endswith(":") else 4)
    text = f"import torch\n{item.setup}\ndef function({item.arguments}):\n"
    text += textwrap.indent(item.before, "    ") + "\n"
    first = text.count("\n") + 1
    text += textwrap.indent(item.old, indent) + "\n"
    last = text.count("\n")
    text += f"{textwrap.indent(item.after, '    ')}\nfunction({item.call})\n"
    path.write_text(text)
    texts = (*item.right, *item.wrong)
    trials = (
        Trial(number, str(path), first, last, textwrap.indent(new, indent) + "\n")
        for number, new in enumerate(texts)
    )
    return dict(zip(texts, tried(TrialRequest(1, Script(str(path)), tuple(trials))), strict=True))


def replacements(*items: Replacement) -> pytest.MarkDecorator:
    """Parameters for replacements; all but a few are slow."""
    parameters = [
        pytest.param(
            item,
            id=item.name,
            marks=(
                pytest.mark.xdist_group(f"trials of {item.name}"),
                *(() if item.name in FEW else (pytest.mark.slow,)),
            ),
        )
        for item in items
    ]
    return pytest.mark.parametrize("item", parameters)


def tried(request: TrialRequest) -> list[StatementsTried]:
    """What trials in a child of this process tell, in order."""

    def work() -> list[str]:
        lines: list[str] = []
        try_statements(request, lambda facts: lines.append(json.dumps(facts, default=as_object)))
        return lines

    facts = [fact for line in in_child(work, 290) for fact in from_json(json.loads(line))]
    return [fact for fact in facts if isinstance(fact, StatementsTried)]


def test_the_corpus_is_large_enough() -> None:
    assert sum(len(item.right) for item in CORPUS) >= 25
    assert sum(len(item.wrong) for item in CORPUS) >= 60


@replacements(*(item for item in CORPUS if item.right))
def test_right_statements_are_equal_in_every_branch(item: Replacement, told: Told) -> None:
    for text in item.right:
        found = told(item.name)[text]
        assert (found.difference, found.problem, found.untaken) == ("", "", ()), text
        assert found.cases > 1


@replacements(*CORPUS)
def test_wrong_statements_are_told(item: Replacement, told: Told) -> None:
    for text in item.wrong:
        found = told(item.name)[text]
        assert found.difference or found.untaken, text
        assert not found.problem


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param(*case, marks=pytest.mark.xdist_group(f"trials of {case[0]}"))
        for case in [
            ("the number is read later", "s = x.sum().detach()", True),
            ("the number is read later", "s = int(x.sum().item())", False),
            ("a loop over elements", "y = (x > 0).sum()", True),
            ("a loop over elements", "y = float(len(x))", False),
            ("what follows hides it", "s = x.abs().sum() + 1", False),
            ("another type, and what follows hides more", "s = x.abs().sum().detach() + 1", False),
            ("a number that goes back", "s = x.max().detach()\ny = x / (s + 1)", False),
            ("a returned arm", "return None", False),
        ]
    ],
)
def test_only_the_form_of_a_variable_depends_on_its_use(
    name: str, text: str, expected: bool, told: Told
) -> None:
    assert told(name)[text].depends_on_use is expected


@pytest.mark.parametrize(
    ("old", "new"),
    [("s = x[0].item()", "s = x[0]"), ("s = 2", "pass"), ("s = 2", "s = TWO"), ("s = x[:2]", "s = x[:3]")],
    ids=["its memory", "no value", "no such name", "another shape"],
)
def test_what_depends_on_its_use(old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(f"import torch\ndef f(x):\n    {old}\n    return x.sum() + s\nf(torch.ones(4))\n")
    (found,) = tried(TrialRequest(1, Script(str(path)), (Trial(1, str(path), 3, 3, f"    {new}\n"),)))
    assert found.difference
    assert found.depends_on_use


@pytest.mark.xdist_group("trials of a caught exception")
def test_a_branch_that_no_value_takes_is_named(told: Told) -> None:
    found = told("a caught exception")["y = x * values['a']"]
    assert [item.partition(": ")[2] for item in found.untaken] == ["`except KeyError` never caught anything"]


@pytest.mark.xdist_group("trials of two arms")
def test_a_difference_says_in_which_case(told: Told) -> None:
    found = told("two arms")["y = torch.where(x.mean() >= 0.5, x * 2, x - 1)"]
    assert found.difference == "with `x` all 0.5, `y`: by up to 1.5e+00"


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_tried_says_why(name: str, tmp_path: Path) -> None:
    text, row, new, why = REFUSED[name]
    path = tmp_path / "program.py"
    path.write_text(text + "\n")
    (found,) = tried(TrialRequest(1, Script(str(path)), (Trial(1, str(path), row, row, new),)))
    assert why in found.problem


TOLD = {
    "a mean that is a sum in half precision": (
        "x, mask",
        "torch.randn(6), torch.arange(6) > 2",
        "y = x[mask].mean()",
        "y = torch.where(mask, x, 0).sum() / mask.sum()",
        "as float16, at half of the largest",
    ),
    "a product of two int32": (
        "x",
        "torch.tensor([3, 4], dtype=torch.int32)",
        "y = x[0].item() * x[1].item()",
        "y = x[0] * x[1]",
        "all at the largest of their type",
    ),
    "a sum of int8": (
        "x",
        "torch.tensor([3, 4], dtype=torch.int8)",
        "y = x.amax().item() + 20",
        "y = x.amax() + 20",
        "all at the largest of their type",
    ),
    "a difference that infinity hides": (
        "x",
        "torch.rand(3)",
        "y = x / 2 + x / 2",
        "y = (x + x) / 2",
        "all at the largest of their type",
    ),
    "a sign of zero": (
        "x",
        "torch.rand(3)",
        "y = 1 / x",
        "y = 1 / (x + 0.0)",
        "all negative zero",
    ),
    "a type that only one precision has": (
        "x",
        "torch.rand(3)",
        "y = x * 2",
        "y = (x * 2).float()",
        "as float64",
    ),
    "a layout": (
        "x",
        "torch.rand(3, 4)",
        "return x * 2",
        "return (x * 2).contiguous()",
        "transposed in memory",
    ),
    "a copy of what is changed in place": (
        "x",
        "torch.rand(3, 4)",
        "x.mT.mul_(2)",
        "x.mT.reshape(-1).mul_(2)",
        "the values of the run",
    ),
    "each row instead of all": (
        "x",
        "torch.rand(1, 4)",
        "y = x * x.argmax().item()",
        "y = x * x.argmax(-1, keepdim=True)",
        "three rows instead of one",
    ),
    "an order of keys": (
        "x",
        "{'a': torch.rand(2), 'b': torch.rand(2)}",
        "y = torch.cat([x[name] for name in sorted(x)])",
        "y = torch.cat([*x.values()])",
        "`x` in another order",
    ),
    "the last of several": (
        "x",
        "torch.tensor([0.1, 2.6, 1.2])",
        "y = torch.tensor(x.tolist().index(max(x.tolist())))",
        "y = len(x) - 1 - x.flip(0).argmax()",
        "`x` all",
    ),
    "a copy in one layout only": (
        "x",
        "torch.rand(3, 4)",
        "x.mul_(2)",
        "x.contiguous().mul_(2)",
        "transposed in memory",
    ),
}


MILD = ("a layout", "a mean that is a sum in half precision", "a type that only one precision has")
"""What only code that looks at the layout, or another precision, notices."""


@pytest.fixture(scope="module")
def on_extremes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StatementsTried]:
    """What is told of replacements that are right on ordinary values of the program's types."""
    path = tmp_path_factory.mktemp("extremes") / "program.py"
    text, trials = "import torch\n", []
    for number, (arguments, call, old, new, _) in enumerate(TOLD.values()):
        text += f"def f{number}({arguments}):\n    {old}\n"
        trials.append(Trial(number, str(path), text.count("\n"), text.count("\n"), f"    {new}\n"))
        text += f"    return {'y' if old.startswith('y') else 'x'}\nf{number}({call})\n"
    path.write_text(text)
    return dict(zip(TOLD, tried(TrialRequest(1, Script(str(path)), tuple(trials))), strict=True))


@pytest.mark.xdist_group("trials of extremes")
@pytest.mark.parametrize("name", TOLD)
def test_extremes_of_each_type_and_layout_are_tried(
    name: str, on_extremes: dict[str, StatementsTried]
) -> None:
    found = on_extremes[name]
    told = found.mild if name in MILD else found.difference
    assert TOLD[name][-1] in told, found


@pytest.mark.parametrize(
    ("old", "new"),
    [("sum(i for i in range(n))", "sum(range(int(n)))"), ("2 ** max(n.item(), 0)", "pow(2, max(int(n), 0))")],
)
def test_large_numbers_are_no_sizes_or_exponents(old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    text = f"import torch\ndef f(n):\n    y = {old}\n    return y\nf(torch.tensor(3))\n"
    path.write_text(text)
    new = f"    y = {new}\n"
    (found,) = tried(TrialRequest(1, Script(str(path)), (Trial(1, str(path), 3, 3, new),)))
    assert (found.difference, found.problem) == ("", "")


@pytest.mark.parametrize(
    ("before", "after", "is_told"),
    [("y = x[0]", "x.add_(1)", True), ("y = x[0]", "y.add_(1)", True), ("y = x[0] * 2", "x.add_(1)", False)],
)
def test_memory_is_lost_where_a_view_of_it_is_changed_later(
    before: str, after: str, is_told: bool, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    text = f"import torch\ndef f(x):\n    {before}\n    if y.sum() > 0:\n        y = y * 2\n    {after}\n"
    path.write_text(f"{text}    return y\nf(torch.ones(2, 3))\n")
    new = "    y = torch.where(y.sum() > 0, y * 2, y)\n"
    (found,) = tried(TrialRequest(1, Script(str(path)), (Trial(1, str(path), 4, 5, new),)))
    assert ("no longer in the memory" in found.difference) is is_told, found


def test_a_local_that_has_the_name_of_a_global_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import torch\ndef f(x):\n    x = x % 8\n    return x\nx = torch.arange(3)\nx = f(x)\n")
    trial = Trial(1, str(path), 3, 3, "    x = x.clamp(0, 7)\n")
    (found,) = tried(TrialRequest(1, Script(str(path)), (trial,)))
    assert "`x`" in found.difference, found


def test_the_gradient_that_a_parameter_has_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    lines = (
        "import torch",
        "def f(p):",
        "    p.grad.mul_(2)",
        "    kept = p.grad.clone()",
        "    return kept",
    )
    path.write_text(
        "\n".join((*lines, "p = torch.ones(2, requires_grad=True)", "p.sum().backward()", "f(p)\n"))
    )
    trials = (
        Trial(1, str(path), 3, 3, "    p.grad.mul_(3)\n"),
        Trial(2, str(path), 4, 4, "    kept = p.grad.detach()\n"),
        Trial(3, str(path), 4, 4, "    kept = p.grad + 0\n"),
    )
    changed, shared, same = tried(TrialRequest(1, Script(str(path)), trials))
    assert "input `p`.grad" in changed.difference, changed
    assert "in the memory of input `p`.grad" in shared.difference, shared
    assert same.difference == "", same
    assert same.problem == "", same


def test_whole_numbers_are_tried_near_the_ends_of_what_they_index(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    lines = ("import torch", "def f(x, i):", "    i = (i + 1) % 7", "    return x[i]")
    path.write_text("\n".join((*lines, "f(torch.rand(7), torch.tensor([0]))\n")))
    trial = Trial(1, str(path), 3, 3, "    i = i + 1 - 7 * (i + 1 > 7).long()\n")
    (found,) = tried(TrialRequest(1, Script(str(path)), (trial,)))
    assert found.difference == "with `i` below 7, `i`: 7, before 0", found


UNNAMED = {
    "a variable that a function reads": ("weights(x)", "x.abs()"),
    "an attribute that a method reads": ("model.weigh(x)", "x.abs()"),
    "a part of an object": ("x / len(batch)", "x / 3"),
    "a number that has a dimension": ("w.item() * x.sum()", "w * x.sum()"),
    "truth values of any pattern": ("greedy(x, mask)", "x[~mask.triu(1).any(0)]"),
    "elements on both sides of a number": (
        "(x.tanh().softmax(-1).amax(-1) > LIMIT).all() * x",
        "(x.tanh().softmax(-1).amax(-1) > LIMIT)[:, None] * x",
    ),
}
"""Old and new statements that differ only by what they do not name, or for rare values of what they name."""


@pytest.mark.parametrize("case", UNNAMED)
def test_what_statements_do_not_name_is_varied(case: str, tmp_path: Path) -> None:
    old, new = UNNAMED[case]
    setup = """
import torch
KIND, LIMIT = "plain", 0.9
def weights(x):
    return x.abs() if KIND == "plain" else x.sin()
class Model:
    kind = "plain"
    def weigh(self, x):
        return x.abs() if self.kind == "plain" else x.sin()
class Batch:
    def __init__(self, x):
        self.x, self.real = x, torch.ones(len(x), dtype=torch.bool)
    def __len__(self):
        return int(self.real.sum())
def greedy(x, mask):
    keep = torch.ones(3, dtype=torch.bool)
    for i in range(3):
        if keep[i]:
            keep[i + 1:] &= ~mask[i, i + 1:]
    return x[keep]
def f(x, model, batch, w, mask):
"""
    path = tmp_path / "program.py"
    row = setup.count("\n") + 1
    call = "x = torch.tensor([[0.5, 0.75, 0.0], [0.1, 0.5, 0.9], [0.5, 0.2, 0.1]])\n"
    call += (
        "w, mask = torch.tensor(2.0), torch.zeros(3, 3, dtype=torch.bool)\nf(x, Model(), Batch(x), w, mask)\n"
    )
    path.write_text(f"{setup}    return {old}\n{call}")
    trial = Trial(1, str(path), row, row, f"    return {new}\n")
    (found,) = tried(TrialRequest(1, Script(str(path)), (trial,)))
    assert found.problem == ""
    assert found.difference, found


UNSEEN = {
    "a message": ("raise ValueError('a')", "raise ValueError('b')", "raises ValueError with another message"),
    "a print": ("print('a')", "pass", "prints or warns differently"),
    "a warning": ("warnings.warn('a')", "pass", "prints or warns differently"),
    "a caught error": ("torch.ones(2) + x", "pass", "goes on, before raises RuntimeError"),
    "a gradient under no_grad": ("x.mul_(w.item())", "x.mul_(w)", "gradient of `w`"),
}
"""What a branch that the program does not take does: old, new, and what is told."""


def test_what_only_other_values_show_is_told(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    lines = ["import torch, warnings", "w = torch.nn.Parameter(torch.ones(()))", "def f(x):", "    try:"]
    trials = []
    for number, (old, new, _) in enumerate(UNSEEN.values()):
        condition = "        if x.sum() < 0:\n            "
        lines += (condition + old).splitlines()
        trials.append(Trial(number, str(path), len(lines) - 1, len(lines), f"{condition}{new}\n"))
    lines += ["    except (ValueError, RuntimeError):", "        pass", "    return x"]
    lines += ["with torch.no_grad():", "    f(torch.ones(3))"]
    path.write_text("\n".join(lines) + "\n")
    found = tried(TrialRequest(1, Script(str(path)), tuple(trials)))
    for (name, (_, _, expected)), item in zip(UNSEEN.items(), found, strict=True):
        assert expected in item.difference, (name, item)


def _tried_line(path: Path, text: str, new: str) -> StatementsTried:
    """The outcome for a new text of the line that ends with ``# old``."""
    path.write_text(text)
    row = 1 + next(index for index, line in enumerate(text.splitlines()) if line.endswith("# old"))
    (found,) = tried(TrialRequest(1, Script(str(path)), (Trial(1, str(path), row, row, new),)))
    return found


@pytest.mark.parametrize(
    ("limit", "more", "is_equal"),
    [
        ("5", "", True),
        ("9", "", True),
        ("-5", "", False),
        ("5", "LIMIT = 6", False),
        ("5", "def g(LIMIT): ...", False),
    ],
    ids=["a constant", "as large as a dimension", "negative", "set twice", "a parameter elsewhere"],
)
def test_a_positive_constant_of_the_module_stays_positive(
    limit: str, more: str, is_equal: bool, tmp_path: Path
) -> None:
    text = f"""\
import torch

LIMIT, OTHER = {limit}, 2.5
{more}


def f(x):
    return x * LIMIT if LIMIT else x  # old


f(torch.arange(9.0))
"""
    found = _tried_line(tmp_path / "program.py", text, "    return x * abs(LIMIT) if LIMIT else -x\n")
    assert (found.problem, not found.difference) == ("", is_equal), found.difference


@pytest.mark.parametrize(
    ("more", "is_mild"),
    [("", True), ("\n    def grow(self):\n        self.size += 1\n", False)],
    ids=["a configuration", "a count"],
)
def test_an_attribute_that_only_the_constructor_sets_is_a_configuration(
    more: str, is_mild: bool, tmp_path: Path
) -> None:
    text = f"""\
import torch


class Model:
    def __init__(self, size):
        self.size = size
{more}
    def f(self, x):
        return x * self.size if self.size else x  # old


Model(5).f(torch.arange(9.0))
"""
    found = _tried_line(tmp_path / "program.py", text, "        return x * self.size if self.size else -x\n")
    assert (found.problem, not found.difference, bool(found.mild)) == ("", is_mild, is_mild)
    assert "with `self.size` = 0, " in found.mild + found.difference


@pytest.mark.parametrize(
    ("old", "new", "mild"),
    [
        ("return int(x.sum()) * y", "return x.sum().nan_to_num().long() * y", "ValueError for NaN"),
        (
            "m = y[:, 0] > 0\n    y[m] = 1.0\n    return y",
            "m = y[:, :1] > 0\n    return y.copy_(torch.where(m, 1.0, y))",
            "expanded tensor",
        ),
    ],
    ids=["NaN", "expanded"],
)
def test_an_error_of_numbers_or_memory_is_mild_unless_it_is_caught(
    old: str, new: str, mild: str, tmp_path: Path
) -> None:
    rows = len(old.split("\n"))
    path = tmp_path / "program.py"
    head = "import torch\n\ndef f(x, y):\n"
    call = "x = torch.arange(9.0).view(3, 3) - 4\n{}f(x, x.clone())\n"
    path.write_text(f"{head}    {old}\n\n" + call.format(""))
    trial = Trial(1, str(path), 4, 3 + rows, f"    {new}\n")
    (found,) = tried(TrialRequest(1, Script(str(path)), (trial,)))
    assert (found.problem, found.difference) == ("", ""), found
    assert mild in found.mild
    path.write_text(f"{head}    {old}\n\n" + call.format("try:\n    ") + "except Exception:\n    pass\n")
    (found,) = tried(TrialRequest(1, Script(str(path)), (trial,)))
    assert found.difference


@pytest.mark.parametrize(
    ("owned", "raises_more", "expected"),
    [
        ("", False, "input `near`"),
        ("near", False, "with `index` "),
        ("near", True, ""),
    ],
    ids=["in place", "another tensor", "another tensor and an error"],
)
def test_what_an_edit_says_of_itself_is_no_difference(
    owned: str, raises_more: bool, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import torch\n\ndef f(x, index):\n    near = x * 2\n    near += 1.0\n"
        "    return near.sum()\n\nf(torch.arange(4.0), torch.tensor([0, 2]))\n"
    )
    new = "    near = near + 1.0\n    if index.abs().sum() > 9:\n        raise RuntimeError\n"
    trial = Trial(1, str(path), 5, 5, new, owned=owned, raises_more=raises_more)
    (found,) = tried(TrialRequest(1, Script(str(path)), (trial,)))
    assert (expected in found.difference) if expected else not found.difference
    assert bool(found.mild) == (not expected)


@pytest.mark.parametrize(
    ("rest", "depends"),
    [
        ("    return x.sum() * y.detach().sum()\n", True),
        ("    return y\n", True),
        ("    kept.append(y)\n    return x.sum()\n", False),
        ("    f.last = y\n    return x.sum()\n", False),
        ("", False),
    ],
    ids=["detached", "returned later", "in a list", "in an attribute", "returned"],
)
def test_whether_a_gradient_matters_depends_on_the_rest_of_the_function(
    rest: str, depends: bool, tmp_path: Path
) -> None:
    value = "y =" if rest else "return"
    text = f"""\
import torch

kept = []


def f(x):
    {value} x * x  # old
{rest}

f(torch.arange(3.0))
"""
    found = _tried_line(tmp_path / "program.py", text, f"    {value} x * x.detach()\n")
    assert "gradient of `x`" in found.difference
    assert found.depends_on_use is depends
