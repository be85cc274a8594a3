"""Calls of a program, observed: what functions get, give back and change, and what is no operator."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CallPlace,
    CallsRequest,
    CallsSeen,
    ProgramRaised,
    Script,
    StatementsTried,
    Trial,
    TrialRequest,
    as_object,
    from_json,
)
from fullgraph_compiler.verify.observing import observe_calls
from fullgraph_compiler.verify.trials import try_statements
from in_child import in_child

CALLEE = """\
import torch, random


COUNTS = []
CACHE = {{}}


class Config:
    pass


def f({arguments}):
{function}


def main():
    {call}


main()
"""


def seen(path: Path, text: str, *, gradients: bool = False) -> CallsSeen:
    """What is told of the call of `f` in a program."""
    path.write_text(text)
    (place,) = [
        CallPlace(
            1,
            str(path),
            node.lineno,
            node.col_offset + 1,
            node.end_lineno or 0,
            (node.end_col_offset or 0) + 1,
            gradients,
        )
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "f"
    ]

    def work() -> list[str]:
        lines: list[str] = []
        request = CallsRequest(1, Script(str(path)), (place,))
        observe_calls(request, lambda facts: lines.append(json.dumps(facts, default=as_object)))
        return lines

    facts = [fact for line in in_child(work) for fact in from_json(json.loads(line))]
    (told,) = [fact for fact in facts if isinstance(fact, CallsSeen)]
    assert told.problem.startswith("raises") or not any(isinstance(fact, ProgramRaised) for fact in facts)
    return told


def program(function: str, call: str, arguments: str = "x") -> str:
    lines = "\n".join(f"    {line}" for line in function.splitlines())
    return CALLEE.format(function=lines, call=call, arguments=arguments)


def test_a_call_is_seen_as_it_is_and_with_other_sizes(tmp_path: Path) -> None:
    text = program("return x[:k] * 2, x", "return f(torch.ones(4, 3), k=int('2'))", "x, k")
    found = seen(tmp_path / "program.py", text)
    first, *made = found.calls
    assert not found.problem
    assert found.is_python
    assert [value.kind for value in first.arguments] == ["tensor", "int"]
    assert first.arguments[0].tensors[0].shape == (4, 3)
    assert first.arguments[1].numbers == (2,)
    assert [item.shape for item in first.result.tensors] == [(2, 3), (4, 3)]
    assert [item.aliases for item in first.result.tensors] == [False, True]
    assert first.result.is_tuple
    assert all(call.made for call in made)
    sizes = {call.arguments[0].tensors[0].shape for call in made}
    assert {(5, 3), (4, 4), (6, 3), (4, 5)} <= sizes
    assert {call.arguments[1].numbers[0] for call in made} >= {1, 3, 5}
    assert {call.arguments[0].tensors[0].dtype for call in made} == {"float32", "float64"}
    assert any(call.result.tensors[0].requires_grad for call in made)


def test_the_program_gets_what_it_gets_unobserved(tmp_path: Path) -> None:
    call = "torch.manual_seed(3); x = torch.zeros(2); f(x, torch.ones(2)); assert x.tolist() == [1, 1], x; "
    call += "drawn = torch.rand(1); torch.manual_seed(3); assert drawn == torch.rand(1)"
    found = seen(tmp_path / "program.py", program("x.add_(y)\nreturn x.sum()", call, "x, y"))
    assert found.calls[0].arguments[0].tensors[0].changed
    assert not found.calls[0].arguments[1].tensors[0].changed


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (
            "Config.n = getattr(Config, 'n', 0) + 1\nreturn x + Config.n",
            "returns another result each time",
        ),
        ("raise KeyError(x)", "raises KeyError"),
        ("COUNTS.append(1)\nreturn x + 1", "changes a variable of its module"),
    ],
)
def test_what_an_operator_must_not_do_is_told(function: str, problem: str, tmp_path: Path) -> None:
    assert seen(tmp_path / "program.py", program(function, "f(torch.ones(3))")).problem.startswith(problem)


def test_random_numbers_and_arrays_are_told(tmp_path: Path) -> None:
    text = program("import numpy\nreturn numpy.random.rand(len(x), 2)", "f(torch.ones(3))")
    first, *_ = seen(tmp_path / "program.py", text).calls
    assert (first.draws, first.result.kind) == (True, "array")
    assert [(item.dtype, item.shape) for item in first.result.tensors] == [("float64", (3, 2))]


def test_a_cache_is_no_state(tmp_path: Path) -> None:
    text = program("CACHE[len(x)] = len(x)\nreturn x * CACHE[len(x)]", "f(torch.ones(3))")
    assert not seen(tmp_path / "program.py", text).problem


def test_sizes_that_end_the_process_are_left_out(tmp_path: Path) -> None:
    text = program("import os\nlen(x) == 3 or os._exit(3)\nreturn x * 2", "f(torch.ones(3))")
    found = seen(tmp_path / "program.py", text)
    assert [call.made for call in found.calls] == [False]


def test_what_is_not_come_to_is_not_seen(tmp_path: Path) -> None:
    found = seen(tmp_path / "program.py", program("return x", "return 1 or f(2)"))
    assert (found.calls, found.problem) == ((), "")


def test_kinds_of_arguments(tmp_path: Path) -> None:
    call = "f([torch.ones(2)], (1, 2), 1.5, True, 'a', torch.float32, None, Config(), torch.ones(2).shape)"
    found = seen(tmp_path / "program.py", program("return x[0]", call, "x, *rest"))
    kinds = [value.kind for value in found.calls[0].arguments]
    assert kinds == ["tensors", "ints", "float", "bool", "str", "dtype", "none", "other", "ints"]
    assert found.calls[0].arguments[-2].text == "Config"


OPERATOR = """\
import torch


@torch.library.custom_op("own::f", mutates_args=())
def f(x: torch.Tensor) -> torch.Tensor:
    return x.repeat(2)


@f.register_fake
def _(x):
    return x.new_empty(({size},))


def main():
    f(torch.ones(3))


main()
"""


def test_an_operator_is_checked(tmp_path: Path) -> None:
    found = seen(tmp_path / "right.py", OPERATOR.format(size="2 * x.shape[0]"))
    assert (found.checked, found.failure) == (1, "")
    found = seen(tmp_path / "wrong.py", OPERATOR.format(size="x.shape[0]"))
    assert found.checked == 1
    assert found.failure.startswith("test_faketensor: ")


def test_the_gradient_of_an_operator_is_checked(tmp_path: Path) -> None:
    found = seen(tmp_path / "none.py", OPERATOR.format(size="2 * x.shape[0]"), gradients=True)
    assert found.failure.startswith("test_aot_dispatch_dynamic: ")


def test_new_statements_may_use_what_is_defined_for_them(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import torch\n\n\ndef f(x):\n    return x * 2\n\n\nf(torch.ones(3))\n")
    texts = "    return twice(x)\n", "    return thrice(x)\n"
    trials = (
        Trial(1, str(path), 5, 5, texts[0], defines="def twice(x):\n    return x * 2\n"),
        Trial(2, str(path), 5, 5, texts[1], defines="def thrice(x):\n    return x * 3\n"),
        Trial(3, str(path), 5, 5, texts[0], defines="twice = nothing\n"),
    )

    def work() -> list[str]:
        lines: list[str] = []
        request = TrialRequest(1, Script(str(path)), trials)
        try_statements(request, lambda facts: lines.append(json.dumps(facts, default=as_object)))
        return lines

    facts = [fact for line in in_child(work) for fact in from_json(json.loads(line))]
    same, other, undefined = [fact for fact in facts if isinstance(fact, StatementsTried)]
    assert (same.difference, same.problem) == ("", "")
    assert same.cases > 1
    assert other.difference
    assert "cannot be defined (NameError" in undefined.problem
