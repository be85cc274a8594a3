"""Conditions on symbolic sizes of compilations, and conditions of failed guards."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from fullgraph_compiler.facts import GuardFailure, ShapeGuard, Specialization, Stack, Symbol

from ..text.size_expressions import (
    comparison_of,
    parts_of,
    relation_of,
    sides_of,
    written_condition,
    written_size,
)
from ..workspace.positions import StackCall
from .facts_by_type import FactsByType
from .model import SizeCondition
from .source_locator import FactLocator


def condition_behind(failure: GuardFailure, guards: Sequence[ShapeGuard]) -> ShapeGuard | None:
    """Find the condition whose guard failed, by the comparison in torch's reason.

    Return ``None`` if no condition matches.
    """
    comparison = comparison_of(failure.reason)
    texts = [written_condition(guard.expression, guard.symbols) for guard in guards] if comparison else []
    may_be_near = relation_of(failure.reason) is not None
    place = place_of(comparison, texts, may_be_near=may_be_near) if comparison else None
    return None if place is None else guards[place]


def place_of(condition: ast.Compare, texts: Sequence[str], *, may_be_near: bool) -> int | None:
    """Return the index of the first of ``texts`` that is the same condition.

    With ``may_be_near``, a condition with a bound that differs by one matches, too, unless another is equal:
    torch simplifies conditions on sizes before it checks them, which can shift a bound by one. Return
    ``None`` if no text matches.
    """
    others = [comparison_of(text) for text in texts]
    for index, other in enumerate(others):
        if other is not None and sides_of(other) == sides_of(condition):
            return index
    sizes, numbers = parts_of(condition)
    near = {number + step for number in numbers for step in (-1, 0, 1)}
    for index, other in enumerate(others) if may_be_near else ():
        if other is not None and not isinstance(other.ops[0], (ast.Eq, ast.NotEq)):
            other_sizes, other_numbers = parts_of(other)
            if other_sizes == sizes and near & other_numbers:
                return index
    return None


def specialization_behind(
    failure: GuardFailure, constants: Iterable[Specialization]
) -> Specialization | None:
    """Find the specialization of the size whose change a failed guard reports."""
    if failure.changed != "size":
        return None
    source = f"{failure.source}.size()[{failure.dimension}]"
    for constant in constants:
        # A size that is only compared with a number, as in a jump (``symbolic_convert.py``), stays symbolic.
        calls = [frame.function for frame in constant.torch_stack[-2:]]
        if source in constant.sources and calls != ["inner", "evaluate_expr"]:
            return constant
    return None


def size_conditions(facts: FactsByType, places: FactLocator) -> Iterator[SizeCondition]:
    """Yield the conditions on sizes, in the order in which torch added them."""
    for fact in facts.all:
        if isinstance(fact, ShapeGuard):
            yield SizeCondition(
                fact.compile_id,
                written_condition(fact.expression, fact.symbols),
                fact.expression,
                fact.symbols,
                places.own_span(fact.stack),
                calls=_calls(fact.torch_stack),
                cpp_stack=fact.cpp_stack,
            )
        elif isinstance(fact, Specialization):
            source = fact.sources[0] if fact.sources else ""
            yield SizeCondition(
                fact.compile_id,
                f"{written_size(source) or fact.symbol} == {fact.value}",
                f"{fact.symbol} = {fact.value}",
                (Symbol(fact.symbol, source, None),),
                places.own_span(fact.stack),
                reason=fact.reason,
                calls=_calls(fact.torch_stack),
            )


def _calls(stack: Stack) -> tuple[StackCall, ...]:
    return tuple(StackCall(frame.filename, frame.row, frame.function) for frame in stack)
