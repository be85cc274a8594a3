"""Columns where torch's own stack has none, as before 2.13: from the instruction that was traced."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forked import observe
from fullgraph_compiler.facts import GraphBreak, Script, Stack
from fullgraph_compiler.observe import live

PROGRAM = """
import json
import torch

@torch.compile
def f(x):
    text = json.dumps({"a": object}, default=str) if x.sum() > 0 else ""
    return x + len(text)

f(torch.ones(2))
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 keeps no columns")
def test_columns_come_from_the_traced_instruction(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    script = Script(str(path))
    given = places(script, tmp_path)
    with_columns = live.stack_of_summary

    def without(frames: Iterable[Any]) -> Stack:
        bare = with_columns(frames)
        return tuple(replace(frame, column=None, end_row=None, end_column=None) for frame in bare)

    monkeypatch.setattr(live, "stack_of_summary", without)
    assert places(script, tmp_path) == given
    line = PROGRAM.splitlines()[6]
    assert (7, line.index("x.sum()"), line.index(" else")) in given


def places(script: Script, cwd: Path) -> list[tuple[int, int | None, int | None]]:
    breaks = [fact for fact in observe(script, cwd) if isinstance(fact, GraphBreak)]
    frames = [frame for fact in breaks for frame in fact.stack if frame.filename == script.filename]
    return [(frame.row, frame.column, frame.end_column) for frame in frames if frame.function == "f"]


OPERANDS = """
import torch

@torch.compile
def f(x, mask):
    if mask is not None and torch.all(mask == 1):
        x = x + 1
    while not (x is None or x.sum() > 1e6):
        x = x * 1e6
    return x

f(torch.ones(2), torch.ones(2))
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 keeps no columns")
def test_a_branch_is_at_the_operand_whose_data_it_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(OPERANDS)
    found = places(Script(str(path)), tmp_path)
    lines = OPERANDS.splitlines()
    for row, operand in ((6, "torch.all(mask == 1)"), (8, "x.sum() > 1e6")):
        column = lines[row - 1].index(operand)
        assert (row, column, column + len(operand)) in found
