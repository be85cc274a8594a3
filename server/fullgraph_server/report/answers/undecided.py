"""Answers to branches on tensor data that end the compilation with an error."""

from __future__ import annotations

import ast
import re
from typing import Final

from fullgraph_compiler.facts import CompileFailure, ExportProblem

from ...text.exports import undecided_hints
from ...text.markdown import code_span
from ...workspace.definitions import definitions
from ...workspace.source import SourceFile
from ...workspace.syntax import nodes_of
from ..exports.conditions import condition_of
from ..source_locator import FactLocator
from .marks import MarkUses, dotted
from .words import FindingAnswer, line_of, row_of

_LONGEST: Final = 90
_NO_VALUES: Final = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.Lambda)
"""Expressions whose values ``torch.where`` does not accept."""
_EXPRESSION: Final = re.compile(
    r"Could not guard on data-dependent expression (?P<expression>[^\n]{1,300}?) \(unhinted: "
)
"""From ``_make_data_dependent_error`` in ``torch/fx/experimental/symbolic_shapes.py`` (2.11 to 2.15)."""


def undecided_answer(failure: CompileFailure, places: FactLocator, marks: MarkUses) -> FindingAnswer:
    """Name the condition that depends on data, with hints.

    Return an empty answer if the condition is in a library, or for other failures.
    """
    found = _EXPRESSION.search(failure.message)
    place = places.place(failure.stack, failure.compile_id)
    source = places.workspace.source(place.span.filename)
    if found is None or place.library is not None or source is None:
        return FindingAnswer()
    problem = ExportProblem(failure.compile_id, "data-dependent", found["expression"], stack=failure.stack)
    condition = condition_of(problem, place.span, places)
    if condition.kind not in ("branch", "loop"):
        return FindingAnswer()
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
    if condition.kind == "branch":
        hints = _as_tensor(source, place.span.row) or hints
    compiled = marks.all("compile")
    if len(compiled) == 1 and compiled[0].is_on("fullgraph"):
        where = line_of(compiled[0], place.span.filename)
        hints = (*hints, f"Or leave `fullgraph=True` ({where}) out: then this breaks the graph.")
    return FindingAnswer(
        f"torch calls it {code_span(found['expression'])}, a condition that is unknown while tracing.",
        hints,
        replaced=failure.explanation,
        instead=True,
        title=f"Dynamo cannot decide {code_span(condition.text)}: it depends on data",
    )


def _as_tensor(source: SourceFile, row: int) -> tuple[str, ...]:
    """Advise to drop an ``.item()`` whose number only the branch at a row uses."""
    branch = next((node for node in source.nodes_at(row) if isinstance(node, ast.If)), None)
    function = definitions(source).function_at(row)
    test = branch.test if branch else None
    if branch is None or function is None or not isinstance(test, ast.Compare) or len(test.ops) > 1:
        return ()
    inside = {id(node) for node in ast.walk(branch)}
    computing = [item for item in ast.walk(branch) if isinstance(item, (ast.BinOp, ast.UnaryOp, ast.Compare))]
    operands = {child for item in computing for child in ast.iter_child_nodes(item)}
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        read = node.value.func if isinstance(node.value, ast.Call) else None
        if not isinstance(read, ast.Attribute) or read.attr != "item":
            continue
        name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
        uses = [item for item in nodes_of(ast.Name, function) if item.id == name]
        elsewhere = [item for item in uses if id(item) not in inside and item is not node.targets[0]]
        if not name or elsewhere or name not in map(dotted, (test.left, *test.comparators)):
            continue
        # An operand can be a tensor instead of a number.
        if not all(item in operands for item in uses if item is not node.targets[0]):
            continue
        where = row_of(source, node.lineno, source.filename)
        leave = f"Leave {code_span(name)} a tensor, without `.item()` ({where}), and "
        if chosen := _where(branch):
            return (f"{leave}write {code_span(chosen)}.",)
        decided = code_span(f"torch.cond({ast.unparse(test)}, ...)")
        return (
            f"{leave}make both branches part of the program: `torch.where` for values, {decided} for code.",
        )
    return ()


def _where(branch: ast.If) -> str:
    """Rewrite a branch that only assigns one variable as a ``torch.where``.

    Return an empty string for other branches.
    """
    arms = [arm[0] for arm in (branch.body, branch.orelse) if len(arm) == 1]
    assigned = [arm for arm in arms if isinstance(arm, ast.Assign) and len(arm.targets) == 1]
    names = {dotted(arm.targets[0]) for arm in assigned}
    if len(branch.body) != 1 or len(branch.orelse) > 1 or len(arms) != len(assigned) or len(names) != 1:
        return ""
    if any(isinstance(arm.value, _NO_VALUES) for arm in assigned):
        return ""
    constants = [arm.value.value for arm in assigned if isinstance(arm.value, ast.Constant)]
    if not all(isinstance(value, (bool, int, float)) for value in constants):
        return ""
    name = names.pop()
    values = [ast.unparse(arm.value) for arm in assigned]
    text = f"{name} = torch.where({ast.unparse(branch.test)}, {values[0]}, {(*values, name)[1]})"
    return text if name and len(text) <= _LONGEST else ""
