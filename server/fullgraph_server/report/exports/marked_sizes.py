"""Sizes that are marked as dynamic, but that the code restricts or specializes.

The mark is a ``Dim`` for ``torch.export``, or a call of ``mark_dynamic`` for ``torch.compile``. Both raise an
error with the same message (``produce_guards`` in ``torch/fx/experimental/symbolic_shapes.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from string import ascii_letters, digits
from typing import Final, TypeAlias

from fullgraph_compiler.facts import CompileFailure, ShapeGuard, SizeViolation, Specialization

from ...text import exports
from ...text.markdown import code_span
from ...text.size_expressions import (
    comparison_of,
    written_condition,
    written_guard,
    written_size,
)
from ..facts_by_type import FactsByType
from ..finding_builder import FindingBuilder
from ..sizes import place_of
from ..source_locator import FactLocator
from .fixed_sizes import size_code

SizeFact: TypeAlias = ShapeGuard | Specialization
INPUTS: Final = "L['flat_args']"
"""Dynamo's source for the inputs of a strict export."""
_SHAPE: Final = ".shape["
_OF_NAMES: Final = f"{ascii_letters}{digits}_.[]"
"""The characters that torch's expression for a tensor can contain."""


def refused_marks(facts: FactsByType, places: FactLocator) -> Iterator[FindingBuilder]:
    """Build a finding for each rejected ``mark_dynamic``.

    The finding is on the line that restricts or specializes the size.
    """
    sizes = [fact for fact in facts.all if isinstance(fact, (ShapeGuard, Specialization))]
    for fact in facts.of(CompileFailure):
        for violation in fact.violations:
            code = code_behind(violation, [size for size in sizes if size.compile_id == fact.compile_id])
            name, value = written_size(violation.source), violation.value
            stack = violation.stack or (code.stack if code else ())
            written = size_code(stack, value, places)
            condition = code_span(condition_text(violation))
            yield places.finding(
                "capture-error",
                "error",
                exports.specialized(name, value, "")
                if value
                else f"not all sizes marked as dynamic satisfy {condition}, which this code requires",
                stack or fact.stack,
                fact.compile_id,
                code="size-constraint",
                explanation=f"{fact.error}: {violation.text}",
                hints=exports.mark_hints(violation.source, value, call=written.call, alone=written.alone),
                text=fact.text,
            )


def code_behind(violation: SizeViolation, sizes: Sequence[SizeFact]) -> SizeFact | None:
    """Find the guard or specialization that a violation is about; ``None`` if unknown.

    ``sizes`` are the guards and specializations of the compilation.
    """
    of_size = [fact for fact in sizes if _is_of(violation.source, sources_of(fact))]
    if violation.value:
        constants = [fact for fact in sizes if isinstance(fact, Specialization)]
        own = [fact for fact in constants if fact in of_size] or constants
        return next((fact for fact in own if fact.value == violation.value), None)
    if own_condition := comparison_of(_of_any_input(condition_text(violation))):
        texts = [_of_any_input(written(fact)) for fact in of_size]
        is_bound = not isinstance(own_condition.ops[0], (ast.Eq, ast.NotEq))
        if (place := place_of(own_condition, texts, may_be_near=is_bound)) is not None:
            return of_size[place]
    lines = {(fact.stack[-1].filename, fact.stack[-1].row) for fact in of_size if fact.stack}
    return of_size[0] if len(lines) == 1 else None


def sources_of(fact: SizeFact) -> tuple[str, ...]:
    """Return torch's expressions for the sizes in a guard or specialization."""
    if isinstance(fact, Specialization):
        return fact.sources
    return tuple(symbol.source for symbol in fact.symbols if symbol.source)


def source_of(fact: SizeFact) -> str:
    """Return torch's expression for the first size in a guard or specialization.

    Return an empty string if no size has an expression.
    """
    return next(iter(sources_of(fact)), "")


def written(fact: SizeFact) -> str:
    """Return the condition of a guard or specialization, written as in user code."""
    if isinstance(fact, Specialization):
        return f"{written_size(source_of(fact)) or fact.symbol} == {fact.value}"
    return written_condition(fact.expression, fact.symbols)


def _is_of(source: str, others: Sequence[str]) -> bool:
    """Return whether a size is in ``others``, given torch's expressions.

    In a strict export, Dynamo has the same expression for all inputs: there, only dimensions are compared.
    """
    dimension = source.rpartition(".")[2]
    return any(
        other == source or (INPUTS in other and other.rpartition(".")[2] == dimension) for other in others
    )


def _of_any_input(condition: str) -> str:
    *before, last = condition.split(_SHAPE)
    return _SHAPE.join((*(f"{part.rstrip(_OF_NAMES)}x" for part in before), last))


def condition_text(violation: SizeViolation) -> str:
    """Return the condition of a violation, written as in user code."""
    written = written_guard(violation.condition)
    tree = comparison_of(written)
    return ast.unparse(tree) if tree else written
