"""Answers to branches that only data decide, where ``fullgraph=True`` or the like makes errors of them."""

from __future__ import annotations

import ast
import re
from typing import Final

from fullgraph_compiler.facts import CompileFailure, ExportProblem

from ...text.exports import undecided_hints
from ...text.markdown import code_span
from ...workspace.workspace import Workspace
from ..exports.conditions import condition_of
from ..source_locator import Places
from .marks import Marks
from .words import Answer, line_of

_EXPRESSION: Final = re.compile(
    r"Could not guard on data-dependent expression (?P<expression>[^\n]{1,300}?) \(unhinted: "
)
"""``_make_data_dependent_error`` in ``torch/fx/experimental/symbolic_shapes.py`` (2.11 to 2.15)."""


def undecided_answer(failure: CompileFailure, places: Places, workspace: Workspace, marks: Marks) -> Answer:
    """Tell which condition of the program depends on data, and what to write; nothing if a library asks."""
    found = _EXPRESSION.search(failure.message)
    place = places.place(failure.stack, failure.compile_id)
    source = workspace.source(place.span.filename)
    if found is None or place.library is not None or source is None:
        return Answer()
    problem = ExportProblem(failure.compile_id, "data-dependent", found["expression"], stack=failure.stack)
    condition = condition_of(problem, place.span, places, workspace)
    if condition.kind not in ("branch", "loop"):
        return Answer()
    asserts = any(isinstance(node, ast.Assert) for node in source.nodes_at(place.span.row))
    hints = undecided_hints(
        condition.text,
        condition.opposite,
        "",
        kind=condition.kind,
        value="" if asserts else condition.value,
        unnamed=(),
        in_library=False,
    )
    compiled = marks.all("compile")
    if len(compiled) == 1 and compiled[0].is_on("fullgraph"):
        where = line_of(compiled[0], place.span.filename)
        hints = (*hints, f"Or leave `fullgraph=True` ({where}) out: then this breaks the graph.")
    return Answer(
        f"torch calls it {code_span(found['expression'])}, a condition that is not known while tracing.",
        hints,
        replaced=failure.explanation,
        instead=True,
        title=f"Dynamo cannot decide {code_span(condition.text)}: it depends on data",
    )
