"""Random numbers of Python or NumPy that a function draws, moved before the statements that use them.

The compiled part of a function can then begin after the draws. A loop that draws a number in each turn gets
the numbers from a list::

    skips = [np.random.random() < self.rate for _ in self.layers]
    for layer, skip in zip(self.layers, skips):
        if self.training and skip:
            continue

The same numbers are drawn, in the same order.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

from ...workspace.positions import Span
from ...workspace.source import SourceFile
from ...workspace.syntax import dotted, first_row, last_row, names, nodes_of, own_statements
from ..editing import are_apart, edited
from ..model import Edit
from ..rules.syntax import Function, ParsedFile, code_of
from .dependencies import binds, leaves
from .values import is_always

_MODULES = ("random.", "numpy.random.")
_MAKERS = ("random.Random", "numpy.random.default_rng", "numpy.random.RandomState")
"""Functions that create a generator of random numbers."""
_CONVERSIONS = ("int", "float", "bool", "round", "abs", "min", "max")
_TESTS = (ast.Compare, ast.BoolOp, ast.UnaryOp)


@dataclass(frozen=True, eq=False)
class DrawingFunction:
    """A function after its draws moved before the statements that use them.

    It takes the place of ``span`` in the old file. ``rows`` has the new row of each old row, ``draws`` the
    new statement for each old one that draws.
    """

    code: ParsedFile
    function: Function
    span: Span
    rows: Mapping[int, int]
    draws: Mapping[ast.stmt, ast.stmt]

    def moved(self, statement: ast.stmt) -> ast.stmt | None:
        """Return the statement of the new function for one of the old function."""
        row = self.rows[first_row(statement)]
        same = (item for item in own_statements(self.function) if type(item) is type(statement))
        return self.draws.get(statement) or next((item for item in same if first_row(item) == row), None)


@dataclass(frozen=True, eq=False)
class _Draw:
    """A number that a function draws once in each turn of the loop ``outer``, or in the test of this ``if``.

    ``text`` draws it before ``outer``, for the variable ``name``. ``user`` is the statement that draws it
    now. ``edits`` use the variable instead; they remove the nodes ``gone``.
    """

    text: str
    name: str
    user: ast.stmt
    outer: ast.For | ast.If
    edits: tuple[Edit, ...]
    gone: frozenset[ast.AST]


def with_draws_first(code: ParsedFile, function: Function) -> DrawingFunction | None:
    """Return a function whose draws stand before the statements that use them; ``None`` if none can move."""
    draws = [draw for item in function.body if (draw := _draw_in(code, item)) is not None]
    edits = [edit for draw in draws for edit in (*_around(code, draw), *draw.edits)]
    new = code_of(replace(code.source, text=edited(code.source, edits))) if draws else None
    rows = _new_rows(code.source, edits)
    functions = new.functions() if new is not None else ()
    found = next((item for item in functions if item.lineno == rows[function.lineno]), None)
    if new is None or found is None or not are_apart(edits):
        return None
    ended = {last_row(item): item for item in own_statements(found)}
    end = last_row(function), len(code.source.line(last_row(function))) + 1
    span = Span(code.source.filename, first_row(function), 1, *end)
    own = {draw.user: ended[rows[first_row(draw.outer)] - 1] for draw in draws}
    return DrawingFunction(new, found, span, rows, own)


def _new_rows(source: SourceFile, edits: Collection[Edit]) -> dict[int, int]:
    """Return the new row of what follows the white space at the beginning of each row."""
    found = {}
    for row, line in enumerate(source.lines, 1):
        place = row, len(line) - len(line.lstrip()) + 1
        before = [edit for edit in edits if (edit.span.end_row, edit.span.end_column) <= place]
        found[row] = row + sum(edit.text.count("\n") - edit.span.end_row + edit.span.row for edit in before)
    return found


def _around(code: ParsedFile, draw: _Draw) -> Iterator[Edit]:
    """Yield the edits that draw before a statement; a loop then runs over what is drawn."""
    outer, name, text = draw.outer, draw.name, draw.text
    tree = ast.parse(f"({text})", mode="eval")
    text = ast.unparse(tree) if "\n" in text else text
    line = f"{name} = {text}"
    if isinstance(outer, ast.For):
        several = code.new_name(f"{name}s")
        target, turns, own = code.text(outer.target), code.text(outer.iter), names(outer.target)
        line = f"{several} = [{text} for {target if own & names(tree) else '_'} in {turns}]"
        read = {node for item in outer.body for node in nodes_of(ast.Name, item) if node.id in own}
        call = outer.iter if isinstance(outer.iter, ast.Call) else None
        limits = call.args if call is not None and dotted(call.func) == "range" else []
        if limits and read <= draw.gone:
            yield code.replaced(outer.target, name)
            yield code.replaced(outer.iter, several)
        elif len(limits) == 1:
            yield code.replaced(outer.target, f"{target}, {name}")
            yield code.replaced(outer.iter, f"enumerate({several})")
        else:
            is_open = isinstance(outer.target, ast.Tuple) and not target.startswith("(")
            yield code.replaced(outer.target, f"({target}), {name}" if is_open else f"{target}, {name}")
            yield code.replaced(outer.iter, f"zip({turns}, {several})")
    added = code.before(outer, [line])
    if added is not None:
        yield added


def _draw_in(code: ParsedFile, outer: ast.stmt) -> _Draw | None:
    """Return the only draw in a loop, or in the test of an ``if``, if it can move before the statement."""
    calls = [call for call in nodes_of(ast.Call, outer) if _is_draw(code, call)]
    user = code.statement(calls[0]) if len(calls) == 1 else None
    if user is None or not code.is_first(outer) or code.is_elif(outer):
        return None
    changing = frozenset(binds(outer) - names(outer.target)) if isinstance(outer, ast.For) else frozenset()
    value = _value(code, calls[0], changing)
    if names(value) & changing or _sets_attribute(outer, value) or not is_always(code, value, user):
        return None
    if isinstance(outer, ast.If) and user is outer:
        return _in_test(code, value, outer, outer)
    if not isinstance(outer, ast.For) or not _runs_in_each_turn(outer, user):
        return None
    if isinstance(user, ast.If):
        return _in_test(code, value, user, outer)
    target = user.targets[0] if isinstance(user, ast.Assign) and user.value is value else None
    if not isinstance(target, ast.Name):
        return None
    every = nodes_of(ast.Name, code.function(outer))
    used = [node for node in every if node.id == target.id and node is not target]
    test = code.parent(used[0]) if len(used) == 1 else None
    owner = code.statement(test) if isinstance(test, ast.Compare) else None
    removed, gone = code.removed(user), frozenset(ast.walk(user))
    if (
        isinstance(test, ast.Compare)
        and isinstance(owner, ast.If)
        and not names(test) & (changing - {target.id})
    ):
        draw = _in_test(code, test, owner, outer)
        text = code.text(test, {used[0]: code.operand(value)})
        return replace(draw, text=text, user=user, edits=(*draw.edits, removed), gone=draw.gone | gone)
    return _Draw(code.text(value), target.id, user, outer, (removed,), gone)


def _in_test(code: ParsedFile, value: ast.expr, owner: ast.If, outer: ast.For | ast.If) -> _Draw:
    skips = len(owner.body) == 1 and isinstance(owner.body[0], ast.Continue)
    name = code.new_name("number" if not isinstance(value, _TESTS) else "skip" if skips else "coin")
    edits = (code.replaced(value, name),)
    return _Draw(code.text(value), name, owner, outer, edits, frozenset(ast.walk(value)))


def _value(code: ParsedFile, call: ast.Call, changing: Collection[str]) -> ast.expr:
    """Return the largest expression around a draw that is a number or a condition.

    It reads none of the variables ``changing``.
    """
    value: ast.expr = call
    for node in takewhile(lambda item: isinstance(item, ast.expr), code.around(call)):
        assert isinstance(node, ast.expr)
        if not isinstance(node, (ast.Call, ast.BinOp, *_TESTS)) or names(node) & set(changing):
            break
        if isinstance(node, ast.Call) and node is not call and not _converts(code, node):
            break
        if not isinstance(node, ast.BinOp):  # an operand may be a tensor
            value = node
    return value


def _converts(code: ParsedFile, call: ast.Call) -> bool:
    """Tell whether a call returns a number of Python."""
    return dotted(call.func) in _CONVERSIONS or code.meaning(call.func).startswith("math.")


def _runs_in_each_turn(loop: ast.For, statement: ast.stmt) -> bool:
    """Tell whether each turn of a loop, up to the last, begins and reaches a statement of its body."""
    if statement not in loop.body or loop.orelse:
        return False
    before = loop.body[: loop.body.index(statement)]
    ends = (ast.Break, ast.Return, ast.Raise)
    return not any(isinstance(item, ends) for item in ast.walk(loop)) and not any(map(leaves, before))


def _sets_attribute(statement: ast.stmt, value: ast.expr) -> bool:
    """Tell whether a statement sets an attribute that an expression reads."""
    read = {node.attr for node in nodes_of(ast.Attribute, value)}
    stores = (node for node in nodes_of(ast.Attribute, statement) if not isinstance(node.ctx, ast.Load))
    return any(node.attr in read for node in stores)


def _is_draw(code: ParsedFile, call: ast.Call) -> bool:
    """Tell whether a call draws a number of Python or NumPy, also with a generator that the file creates."""
    if code.meaning(call.func).startswith(_MODULES):
        return True
    owner = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    made = (
        (item.value for item in code.all(ast.Assign) if owner in map(dotted, item.targets)) if owner else ()
    )
    return any(isinstance(item, ast.Call) and code.meaning(item.func) in _MAKERS for item in made)
