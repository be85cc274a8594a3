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


def broken(code: str, *hints: str) -> GraphBreak:
    return GraphBreak("0/0", code, "it breaks", "", hints, "", "", (), skips_frame=False, text="")
