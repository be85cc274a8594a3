"""What the rest of a function says of new statements, where these cannot be judged by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.facts import StatementsTried
from fullgraph_server.fixes.editing import replaced
from fullgraph_server.fixes.model import Fix
from fullgraph_server.fixes.proof import Prover, State, _of_trials
from fullgraph_server.report.model import Report

EQUAL = StatementsTried(1, 9)
VALUE = StatementsTried(1, 9, difference="`s`: by up to 1.0e+00")
TYPE = StatementsTried(1, 9, difference="`s`: a tensor, before 1", depends_on_use=True)
ALONE = StatementsTried(1, 0, problem="They need what is elsewhere.")
UNTAKEN = StatementsTried(1, 9, untaken=("line 7: `x > 0` was never true",))
NOTHING = StatementsTried(1, 0)
FIX = Fix("rule", "", "", "safe", "", ())
STATE = State({}, Report("", 1), "", Path())


@pytest.mark.parametrize(
    ("narrow", "wide", "expected"),
    [
        ([EQUAL], [VALUE], [EQUAL]),
        ([], [VALUE], []),
        ([VALUE], [EQUAL], [VALUE]),
        ([UNTAKEN], [EQUAL], [UNTAKEN]),
        ([TYPE, VALUE], [EQUAL], [TYPE, VALUE]),
        ([TYPE], [EQUAL], [EQUAL]),
        ([ALONE], [EQUAL], [EQUAL]),
        ([NOTHING], [EQUAL], [EQUAL]),
        ([EQUAL, TYPE], [UNTAKEN], [UNTAKEN]),
        ([TYPE], [VALUE], [VALUE]),
        ([TYPE], [ALONE], [TYPE]),
        ([TYPE], [], [TYPE]),
    ],
)
async def test_the_rest_of_a_function_decides_only_where_values_do_not(
    narrow: list[StatementsTried],
    wide: list[StatementsTried],
    expected: list[StatementsTried],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def tried(_: Prover, __: State, ___: Fix, parts: Any) -> list[StatementsTried]:
        return narrow if parts is replaced else wide

    monkeypatch.setattr(Prover, "_tried_of", tried)
    prover = Prover(None, None, Path())  # type: ignore[arg-type]
    assert await prover._try(STATE, FIX) == expected


def test_what_was_never_tried_is_not_equal() -> None:
    assert _of_trials([EQUAL]) == ""
    assert "There are no values for them" in _of_trials([EQUAL, NOTHING])
