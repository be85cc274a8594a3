"""Conditions that traces assume of symbolic sizes, and the condition behind a failed guard."""

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
from ..workspace.positions import Call
from .facts_by_type import FactsByType
from .model import SizeCondition
from .source_locator import Places


def condition_behind(failure: GuardFailure, guards: Sequence[ShapeGuard]) -> ShapeGuard | None:
    """Find the condition of a trace behind a failed relation of sizes or numbers; ``None`` if none fits.

    Torch simplifies conditions on sizes before it checks them: a bound can be one more than the code says.
    """
    comparison = comparison_of(failure.reason)
    if comparison is None:
        return None
    written = [(guard, comparison_of(written_condition(guard.expression, guard.symbols))) for guard in guards]
    for guard, own in written:
        if own is not None and sides_of(own) == sides_of(comparison):
            return guard
    relation = relation_of(failure.reason)
    if relation is None:
        return None
    sizes, numbers = parts_of(relation)
    near = {number + step for number in numbers for step in (-1, 0, 1)}
    for guard, own in written:
        if own is not None and not isinstance(own.ops[0], (ast.Eq, ast.NotEq)):
            own_sizes, own_numbers = parts_of(own)
            if own_sizes == sizes and near & own_numbers:
                return guard
    return None


def specialization_behind(
    failure: GuardFailure, constants: Iterable[Specialization]
) -> Specialization | None:
    """Find the specialization that made a number of a size that changed."""
    if failure.changed != "size":
        return None
    source = f"{failure.source}.size()[{failure.dimension}]"
    for constant in constants:
        # What the code only compares with a number, as a jump does (``symbolic_convert.py``), is no number.
        calls = [frame.function for frame in constant.torch_stack[-2:]]
        if source in constant.sources and calls != ["inner", "evaluate_expr"]:
            return constant
    return None


def size_conditions(facts: FactsByType, places: Places) -> Iterator[SizeCondition]:
    """Yield the conditions that every compilation assumes, in the order in which they arose."""
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


def _calls(stack: Stack) -> tuple[Call, ...]:
    return tuple(Call(frame.filename, frame.row, frame.function) for frame in stack)
