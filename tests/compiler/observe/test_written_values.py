"""Values of guards as short texts, made without code of the program's own."""

from __future__ import annotations

import enum

import pytest
import torch
from fullgraph_compiler.facts.seen import read_seen, with_seen
from fullgraph_compiler.observe.values import written_value
from fullgraph_compiler.trace.guards import METADATA, METADATA_OF, parse_tree, with_value


class Phase(enum.Enum):
    PREFILL = 0
    DECODE = 1


class Own:
    def __repr__(self) -> str:
        raise AssertionError("code of the program's own runs")


class OwnInt(int):
    def __repr__(self) -> str:
        raise AssertionError("code of the program's own runs")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Phase.DECODE, "Phase.DECODE"),
        (
            {"scale": 2, "like": (torch.float16, Phase.PREFILL)},
            "{'scale': 2, 'like': (torch.float16, Phase.PREFILL)}",
        ),
        (("cpu",), "('cpu',)"),
        (None, "None"),
        ("x" * 90, ""),
    ],
)
def test_plain_values_and_members_of_enums_are_written(value: object, text: str) -> None:
    assert written_value(value, is_metadata=True) == text


def test_no_code_of_the_programs_own_runs() -> None:
    for value in (Own(), [1, Own()], {Own(): 1}, OwnInt(3)):
        assert written_value(value, is_metadata=True) == ""


def test_of_other_guards_only_members_of_enums_are_written() -> None:
    assert written_value(3, is_metadata=False) == ""
    assert written_value(Phase.PREFILL, is_metadata=False) == "Phase.PREFILL"


def test_a_guard_gets_the_value_that_was_seen_in_the_process_or_in_its_log() -> None:
    tree = (
        "+- RootGuardManager\n"
        "| +- GuardManager: source=L['p'], accessed_by=X, type=<enum 'Phase'>\n"
        "| | +- ID_MATCH: ___check_obj_id(L['p'], 7), type=<class '__main__.Phase'>\n"
        "| +- GuardManager: source=L['x'], accessed_by=X, type=<class '__main__.Scaled'>\n"
        "| | +- LAMBDA_GUARD: ___check_metadata_14_c0/0\n"
    )
    values = {"L['p']": "Phase.DECODE", METADATA_OF.format("L['x']"): "2"}
    seen = read_seen(with_seen({}, {"guard_values": values}))["guard_values"]
    found = [with_value(leaf, seen) for leaf in parse_tree(tree)]
    assert [(leaf.kind, leaf.expected) for leaf in found] == [("ID_MATCH", "Phase.DECODE"), (METADATA, "2")]
    unseen = [with_value(leaf, {}) for leaf in parse_tree(tree)]
    assert [leaf.expected for leaf in unseen] == ["the same object (__main__.Phase)", ""]
