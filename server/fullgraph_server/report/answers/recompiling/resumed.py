"""Values that are passed over a graph break: their names, and the break.

Dynamo compiles the rest of a function after a graph break as a resume function. Values on the interpreter's
stack, such as the result of the call that broke the graph, become parameters of the resume function:
``___stack0`` and so on.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import Final

from fullgraph_compiler.facts import GraphBreak, GuardFailure, StackFrame

from ....workspace.definitions import definitions
from ....workspace.ranges import node_at
from ....workspace.source import SourceFile
from ....workspace.syntax import covers, own_nodes
from ...facts_by_type import FactsByType
from ...source_locator import FactLocator, UserFunction
from ..words import row_of

_STACK_VALUE: Final = re.compile(r"L\['___stack(?P<index>\d{1,4})'\](?P<rest>.*)", re.DOTALL)
_ITEM: Final = re.compile(r"\[(\d{1,4})\]")
_ITEMS: Final = "number of items"
_LONGEST: Final = 40
_LOOPS: Final = (ast.For, ast.AsyncFor)
_WITH: Final = (ast.With, ast.AsyncWith)


@dataclass(frozen=True, slots=True)
class _ResumingBreak:
    """A graph break: the frame of the function that resumes, and the innermost frame.

    Both are frames of the user's code.
    """

    frame: StackFrame
    innermost: StackFrame


class ResumeBreaks:
    """The graph breaks after which resume functions continue."""

    def __init__(self, facts: FactsByType, places: FactLocator) -> None:
        self._places = places
        self._workspace = places.workspace
        self._breaks: dict[tuple[str, str, int], _ResumingBreak] = {}
        for fact in facts.of(GraphBreak):
            traced = places.traced_stack(fact.stack, fact.compile_id)
            own = places.own(traced)
            if own and own[0] == traced[0]:
                key = (own[0].filename, own[0].function, own[0].row)
                self._breaks.setdefault(key, _ResumingBreak(own[0], own[-1]))

    def named(self, failure: GuardFailure) -> GuardFailure:
        """Return a failure with torch's name for a stack value replaced by the user's.

        A failure about another value, or a value without a name, is returned unchanged.
        """
        value, found = _STACK_VALUE.fullmatch(failure.source), self._of(failure.compile_id)
        function = self._places.functions.get(failure.compile_id)
        source = self._workspace.source(function.filename) if function else None
        if value is None or found is None or function is None or source is None:
            return failure
        index, rest = int(value["index"]), value["rest"]
        loops = _loops_around(source, function, found.frame.row)
        if loops is None:
            return failure
        if index < len(loops):
            over = ast.unparse(loops[index].iter)
            if rest or failure.changed != _ITEMS or len(over) > _LONGEST:
                return failure
            return replace(failure, source=over, changed=f"{_ITEMS} left")
        name = self._assigned(source, found.frame, rest) if index == len(loops) else ""
        return replace(failure, source=name) if name else failure

    def behind(self, failure: GuardFailure) -> str:
        """Name the line of the graph break from which a failure's stack value comes.

        Return an empty string for a failure about another value.
        """
        found = self._of(failure.compile_id) if _STACK_VALUE.fullmatch(failure.source) else None
        source = self._workspace.source(found.innermost.filename) if found else None
        if found is None or source is None:
            return ""
        return row_of(source, found.innermost.row, found.frame.filename)

    def _of(self, compile_id: str) -> _ResumingBreak | None:
        """Return the graph break after which a resume function continues."""
        function, row = self._places.functions.get(compile_id), self._places.resumes_at(compile_id)
        if function is None or row is None:
            return None
        return self._breaks.get((function.filename, function.name, row))

    def _assigned(self, source: SourceFile, frame: StackFrame, rest: str) -> str:
        """Return the variable to which the result of the breaking call is assigned.

        ``rest`` selects an item of the result. Return an empty string if there is no such variable.
        """
        cls = next((item for item in source.nodes_at(frame.row) if isinstance(item, ast.ClassDef)), None)
        if cls is not None:
            return cls.name + rest
        node = node_at(source, self._places.span(frame))
        statement = next(
            (
                item
                for item in source.nodes_at(frame.row)
                if isinstance(item, (ast.Assign, ast.AnnAssign)) and item.value is node
            ),
            None,
        )
        if statement is None or node is None:
            return ""
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        target: ast.expr = targets[-1]
        item = _ITEM.match(rest)
        if isinstance(target, (ast.Tuple, ast.List)):
            if item is None or int(item[1]) >= len(target.elts):
                return ""
            target, rest = target.elts[int(item[1])], rest[item.end() :]
        return f"{ast.unparse(target)}{rest}" if isinstance(target, (ast.Name, ast.Attribute)) else ""


def _loops_around(
    source: SourceFile, function: UserFunction, row: int
) -> list[ast.For | ast.AsyncFor] | None:
    """List a function's loops whose iterators are on the stack, outermost first.

    Return ``None`` if the row is in a ``with``, which also puts values on the stack.
    """
    scope = definitions(source).function_at(row)
    if scope is None or getattr(scope, "name", "") != function.name:
        return None
    around = [
        node
        for node in own_nodes(scope)
        if isinstance(node, (*_LOOPS, *_WITH)) and any(covers(item, row) for item in node.body)
    ]
    loops = [node for node in around if isinstance(node, _LOOPS)]
    return loops if len(loops) == len(around) else None
