"""Calls of a program, made again with sizes that it does not have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from fullgraph_compiler.facts import (
    AddedSizes,
    Fact,
    RunRequest,
    Script,
    SizeTried,
    TargetProblem,
    as_object,
    from_json,
)
from fullgraph_compiler.verify.calls import CompiledCall
from fullgraph_compiler.verify.resizing import ArgumentMaker, ArgumentSizeError, CallForm, SizeSlot, arguments
from fullgraph_compiler.verify.running import run_recorded
from fullgraph_compiler.verify.state import CallState
from in_child import in_child

HEAD = "import os, torch\n\n"


def facts_of(tmp_path: Path, text: str, *added: AddedSizes) -> tuple[Fact, ...]:
    path = tmp_path / "program.py"
    path.write_text(HEAD + text)

    def work() -> list[str]:
        lines: list[str] = []
        request = RunRequest(1, Script(str(path)), record=str(tmp_path / "record"), added=added)
        run_recorded(request, lambda facts: lines.append(json.dumps(facts, default=as_object)))
        return lines

    return tuple(fact for line in in_child(work) for fact in from_json(json.loads(line)))


def tried(tmp_path: Path, text: str, *added: AddedSizes) -> list[SizeTried]:
    facts = facts_of(tmp_path, text, *added)
    assert [fact for fact in facts if isinstance(fact, TargetProblem)] == []
    return [fact for fact in facts if isinstance(fact, SizeTried)]


def outcomes(found: list[SizeTried]) -> dict[str, str]:
    return {f"{item.place}={item.size}": item.outcome for item in found}


def test_what_is_compiled_serves_sizes_or_says_that_it_does_not(tmp_path: Path) -> None:
    found = tried(
        tmp_path, "f = torch.compile(lambda x: x * 2, dynamic=True)\nf(torch.ones(8))\nf(torch.ones(12))"
    )
    assert outcomes(found) == {
        "x.0=1": "compiles-again", "x.0=2": "equal", "x.0=3": "equal", "x.0=7": "equal", "x.0=49": "equal",
    }  # fmt: skip
    assert "2 <= x.size()[0]" in found[0].words
    assert not any(item.asked for item in found)


def test_a_size_that_is_asked_for_is_compiled_and_is_not_unseen_then(tmp_path: Path) -> None:
    text = "@torch.compile\ndef f(x): return x * 2\nf(torch.ones(8))"
    found = tried(tmp_path, text, AddedSizes("x", 0, (3, 5, 1)))
    assert [(item.size, item.outcome) for item in found if item.asked] == [
        (3, "equal"),
        (5, "equal"),
        (1, "equal"),
    ]
    assert [item.size for item in found if not item.asked] == [2, 7, 33]
    assert {item.outcome for item in found} == {"equal"}


def test_with_dynamic_true_all_sizes_are_tried_that_the_program_takes(tmp_path: Path) -> None:
    text = "torch.compile(lambda x, w: (x + 1) @ w, dynamic=True)(torch.ones(5, 3), torch.ones(3, 2))"
    found = outcomes(tried(tmp_path, text))
    assert {name.partition("=")[0] for name in found} == {"x.0", "x.1", "w.1"}
    assert {found["x.0=7"], found["x.1=7"], found["w.1=7"]} == {"equal"}


BRANCH = """\
@torch.compile(dynamic=True, options={"guard_filter_fn": lambda guards: [False for _ in guards]})
def f(x):
    return x * 2 if x.shape[0] < 40 else x - 1

f(torch.ones(8)), f(torch.ones(12))
"""
BACKWARD = """\
class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.small = not torch.compiler.is_compiling() and x.shape[0] < 4
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad if ctx.small else grad * 2

@torch.compile(dynamic=True)
def f(x):
    return Half.apply(x)

for n in (8, 12):
    f(torch.ones(n, requires_grad=True)).sum().backward()
"""
INPUT = """\
@torch.compile(dynamic=True)
def f(x):
    x[:4 if torch.compiler.is_compiling() else None].add_(1)

f(torch.ones(3)), f(torch.ones(4))
"""


@pytest.mark.parametrize(
    ("text", "size", "words"),
    [
        (BRANCH, 49, "result: by up to"),
        (BACKWARD, 3, "gradient of input[0]"),
        (INPUT, 7, "input[0]: by up to"),
    ],
    ids=["result", "gradient", "input"],
)
def test_a_wrong_graph_differs(tmp_path: Path, text: str, size: int, words: str) -> None:
    [found] = [item for item in tried(tmp_path, text) if item.size == size]
    assert found.outcome == "differs"
    assert words in found.words


def test_equal_sizes_change_together_and_others_follow(tmp_path: Path) -> None:
    text = """\
@torch.compile(dynamic=True)
def f(x, same, more, half):
    return (x + same + more[1:]).view(half, 2)

for n in (8, 12):
    f(torch.ones(n), torch.ones(n), torch.ones(n + 1), n // 2)
"""
    found = {item.size: item for item in tried(tmp_path, text) if item.place == "x.0"}
    assert (found[49].outcome, found[7].outcome) == ("refused", "refused")
    assert (found[20].outcome, found[20].along) == ("equal", ("same.0", "more.0", "half"))
    assert len({item.place for item in found.values()}) == 1


def test_indices_are_scaled_with_what_they_are_of(tmp_path: Path) -> None:
    text = """\
@torch.compile(dynamic=True)
def f(x, index):
    return x[index]

for n in (8, 12):
    f(torch.arange(float(n)), torch.tensor([0, n - 1, 5]))
"""
    found = outcomes(tried(tmp_path, text))
    assert found["x.0=3"] == "equal"


STATE = """\
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)
        self.seen = []
        self.cache = None

    def forward(self, x):
        self.cache = x if self.cache is None else self.cache
        self.seen.append(1)
        return self.norm(x) + len(self.seen)

model = Model().eval()
compiled = torch.compile(model, dynamic=True)
with torch.no_grad():
    for n in (8, 12):
        model.seen.clear()
        model.cache = None
        compiled(torch.randn(n, 3))
model.seen.clear()
model.cache = None
model.train()
"""


def test_calls_begin_in_the_state_and_with_the_settings_that_they_had(tmp_path: Path) -> None:
    found = tried(tmp_path, STATE)
    assert outcomes(found)["x.0=7"] == "equal", found
    assert not any(item.backward for item in found)


@pytest.mark.parametrize(
    ("text", "outcome", "words"),
    [
        ("return x * os.urandom(1)[0]", "untried", "two uncompiled calls differ"),
        ("assert x.shape[0] > 7\n    return x", "refused", "AssertionError"),
        ("return x + SCALE", "untried", "unmodified calls are compiled again"),
    ],
)
def test_what_cannot_be_told_is_said(tmp_path: Path, text: str, outcome: str, words: str) -> None:
    function = f"SCALE = 1\n@torch.compile(dynamic=True)\ndef f(x):\n    {text}\n\n"
    found = tried(tmp_path, f"{function}f(torch.ones(8)), f(torch.ones(12))\nSCALE = 2\n")[0]
    assert (found.outcome, words in found.words) == (outcome, True), found


@pytest.mark.parametrize(
    ("backend", "outcome", "words"),
    [
        ("inductor", "equal", ""),
        (
            "aot_eager_decomp_partition",
            "unsteady",
            "it draws random numbers, and compiled code draws different ones",
        ),
    ],
)
def test_random_numbers_are_no_difference(backend: str, outcome: str, words: str, tmp_path: Path) -> None:
    text = "f = torch.compile(lambda x: torch.nn.functional.dropout(x), dynamic=True, "
    text += f"backend={backend!r})\nf(torch.ones(40)), f(torch.ones(50))"
    found = {item.size: item for item in tried(tmp_path, text)}
    assert (found[201].outcome, found[201].words) == (outcome, words)


@pytest.mark.parametrize(
    ("added", "words"),
    [
        (AddedSizes("y", 0, (3,)), "no compiled function has a tensor `y`: there are `x`"),
        (AddedSizes("x", 1, (3,)), "`x` has no dimension 1: it has 1, counted from 0"),
        (AddedSizes("n", 0, (3,)), "`n` is not a tensor whose sizes can be changed"),
    ],
)
def test_sizes_of_nothing_are_refused(tmp_path: Path, added: AddedSizes, words: str) -> None:
    found = tried(tmp_path, "torch.compile(lambda x, n: x * n)(torch.ones(8), 2)", added)
    assert [(item.outcome, item.words) for item in found] == [("unknown", words)]


def takes(a: Any, *rest: Any, **named: Any) -> None:
    """A function that is never called."""


# -- arguments -----------------------------------------------------------------------------------------


def form(function: Any, *args: Any, **kwargs: Any) -> CallForm:
    call = CompiledCall(1, function, args, kwargs, {}, function)
    made = CallForm(call, arguments(call))
    made.add(call, made.given)
    return made


def test_arguments_are_made_anew_as_they_were_given() -> None:
    x = torch.arange(12.0).view(3, 4).t()
    made = form(takes, x, [x, 2], (x[0], None), key={"t": torch.ones(3, dtype=torch.int32)})
    assert list(made.given) == ["a", "rest[0]", "rest[1]", "key"]
    args, kwargs = ArgumentMaker(made, {SizeSlot("a", 0): 6, SizeSlot("key['t']", 0): 5}).make()
    assert (args[0].shape, args[0].stride()) == ((6, 3), (1, 6))
    assert args[1][0] is args[0]
    assert (args[1][1], args[2][1]) == (2, None)
    assert (kwargs["key"]["t"].shape, kwargs["key"]["t"].dtype) == ((5,), torch.int32)
    assert bool((args[0] >= 0).all() & (args[0] <= 11).all())


def test_a_tensor_that_would_be_too_large_is_not_made() -> None:
    with pytest.raises(ArgumentSizeError, match="`a` would have"):
        ArgumentMaker(form(takes, torch.ones(3, 4)), {SizeSlot("a", 0): 1 << 40}).make()


def test_marks_stay() -> None:
    x = torch.ones(4)
    torch._dynamo.mark_dynamic(x, 0)
    (made,), _ = ArgumentMaker(form(takes, x), {SizeSlot("a", 0): 9}).make()
    assert made._dynamo_dynamic_indices == {0}


def test_what_a_call_changes_is_put_back() -> None:
    def work() -> list[Any]:  # in a child: threads of this process would be lost in later forks of it
        module = torch.nn.BatchNorm1d(2)
        module.items = [1]  # type: ignore[assignment]
        kept = CallState(CompiledCall(1, module.forward, (), {}, {}, module.forward))
        before = module.running_mean.clone()  # type: ignore[union-attr]
        module(torch.randn(5, 2))
        module.items.append(2)  # type: ignore[operator, union-attr]
        module.extra = 3  # type: ignore[assignment]
        kept.put_back()
        same = torch.equal(module.running_mean, before)  # type: ignore[arg-type]
        return [same, module.items, hasattr(module, "extra")]

    assert in_child(work) == [True, [1], False]
