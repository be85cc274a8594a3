"""Breaks for which torch has no hint have one by their id."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import torch
from fullgraph_compiler.facts import GraphBreak
from fullgraph_server.report.answers.coded import _HINTS, coded_answer

REGISTRY = Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json"


@pytest.mark.parametrize("code", _HINTS)
def test_torch_has_no_hint_of_its_own(code: str) -> None:
    known = json.loads(REGISTRY.read_text())
    if code in known:  # not every version has each
        assert known[code][0]["Hints"] == []
    hint = _HINTS[code]
    for text in hint.split("`")[1::2]:
        ast.parse(text.removeprefix("@"))


def test_a_hint_of_torch_stays_alone() -> None:
    assert coded_answer(broken("GB0125", "Do this.")).hints == ()
    assert coded_answer(broken("GB0125")).hints == (_HINTS["GB0125"],)
    assert coded_answer(broken("GB9999")).hints == ()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("TypeError <built-in function sdpa>: 'is_causal' must be bool", "'is_causal' must be bool"),
        ("call_method UserDefined strange", "call_method UserDefined strange"),
    ],
)
def test_what_torch_explains_to_its_developers_alone_is_told(said: str, told: str) -> None:
    text = f"TypeError when making fake tensor call\n  Explanation: \n\n  Developer debug context: {said}\n"
    assert coded_answer(broken("GB0112", "Do this.", text=text)).note == told
    assert coded_answer(broken("GB0112", "Do this.", text=text, explanation="Why.")).note == ""


def test_optimizers_stay_out_of_graphs() -> None:
    said = "the function `Optimizer.zero_grad` should not be traced."
    answer = coded_answer(broken("GB0008", "Apply `@torch._dynamo.dont_skip_tracing`.", explanation=said))
    assert answer.instead
    assert "Compile the function that computes the loss" in answer.hints[0]


def broken(code: str, *hints: str, text: str = "", explanation: str = "") -> GraphBreak:
    return GraphBreak("0/0", code, "it breaks", explanation, hints, "", "", (), skips_frame=False, text=text)
