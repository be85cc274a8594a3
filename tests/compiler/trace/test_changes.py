"""What changes together: guards of a compilation that would fail after the one that fails."""

from __future__ import annotations

import pytest
from fullgraph_compiler.facts import GuardFailure, GuardInstalled
from fullgraph_compiler.trace.changes import changed_with

CACHE, INDEX = "L['cache']", "L['self'].index"
FAILED = GuardFailure("0/0", CACHE, "LENGTH_CHECK", "len(cache) == 1", "1", "2", changed="length")


def guard(source: str, kind: str, expected: str, code: str = "") -> GuardInstalled:
    return GuardInstalled("0/0", source, kind, expected, code or f"{source} == {expected}", ())


def together(
    *pairs: tuple[GuardInstalled, GuardInstalled], follows: bool = True
) -> list[tuple[str, str, str]]:
    before, after = zip(*pairs, strict=True)
    found = changed_with(FAILED, before, after, follows=follows)
    return [(item.source, item.expected, item.actual) for item in found]


def test_a_number_that_changes_with_a_length_is_told() -> None:
    lengths = (guard(CACHE, "LENGTH_CHECK", "length 1"), guard(CACHE, "LENGTH_CHECK", "length 2"))
    indices = (guard(INDEX, "EQUALS_MATCH", "0"), guard(INDEX, "EQUALS_MATCH", "1"))
    same = (guard("L['n']", "EQUALS_MATCH", "3"), guard("L['n']", "EQUALS_MATCH", "3"))
    assert together(lengths, indices, same) == [(INDEX, "0", "1")]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (("TRUE_MATCH", "True"), ("FALSE_MATCH", "False"), ("True", "False")),
        (("LENGTH_CHECK", "length 1"), ("LENGTH_CHECK", "length 2"), ("1", "2")),
        (("ID_MATCH", "Phase.PREFILL"), ("ID_MATCH", "Phase.DECODE"), ("Phase.PREFILL", "Phase.DECODE")),
        (("NONE_MATCH", "is None"), ("TENSOR_MATCH", "torch.float32"), ("None", "a tensor")),
        (("ID_MATCH", "the same object (Own)"), ("ID_MATCH", "the same object (Own)"), None),
        (("TYPE_MATCH", "type int"), ("EQUALS_MATCH", "3"), None),
        (("EQUALS_MATCH", "2"), ("EQUALS_MATCH", "2"), None),
    ],
)
def test_guards_that_say_their_values_are_compared(
    before: tuple[str, str], after: tuple[str, str], told: tuple[str, str] | None
) -> None:
    found = together((guard("L['n']", *before), guard("L['n']", *after)))
    assert found == ([("L['n']", *told)] if told else [])


def test_a_number_that_became_dynamic_changed_only_if_no_compilation_is_between() -> None:
    pair = (guard("L['n']", "EQUALS_MATCH", "2"), guard("L['n']", "TYPE_MATCH", "type int"))
    assert together(pair) == [("L['n']", "2", "any int")]
    assert together(pair, follows=False) == []


def test_parts_of_what_changed_are_not_told_again() -> None:
    pairs = [
        (guard(source, "EQUALS_MATCH", "1"), guard(source, "EQUALS_MATCH", "2"))
        for source in (f"{CACHE}[0]", "L['n']", "L['n'].real", "L['name']")
    ]
    assert [source for source, _, _ in together(*pairs)] == ["L['n']", "L['name']"]
