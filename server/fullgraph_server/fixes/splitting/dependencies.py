"""What statements read, bind and change, and which of them can change places.

All is judged by the syntax: a method changes its object if its name says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ...workspace.syntax import (
    COMPREHENSIONS,
    SCOPES,
    blocks,
    bound,
    called,
    dotted,
    names,
    nodes_of,
    parameters,
    stored,
)
from ..rules.expressions import RANDOM, is_changing, is_pure

_READING = frozenset(
    {"item", "tolist", "numpy", "cpu", "append", "extend", "add", "info", "debug", "warning"}
)
"""Methods that do not change their arguments."""
_GRADIENTS = "the gradients"
_OF_GRADIENTS = ("backward", "zero_grad", "step")
"""Methods that change the gradients of parameters, or read them."""
_PARAMETERS = "the parameters"
_OF_PARAMETERS = ("parameters", "named_parameters", "state_dict", "buffers", "named_buffers")
"""Methods that return the parameters and buffers of modules, which an optimizer's step changes."""
_MODULES = ("torch", "F", "torch.nn.functional", "random")
_OPERATIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)
_JUMPS = (ast.Break, ast.Continue)


def operations(statement: ast.stmt) -> int:
    """Count the calls and operators in a statement."""
    return sum(isinstance(node, _OPERATIONS) for node in ast.walk(statement))


def reads(node: ast.AST) -> set[str]:
    """Return the variables whose values a node reads, also in functions and comprehensions inside it."""
    return set(_reads(node, frozenset()))


def _reads(node: ast.AST, hidden: frozenset[str]) -> Iterator[str]:
    """Yield the variables that a node reads; ``hidden`` are those of the functions around the node."""
    if isinstance(node, COMPREHENSIONS):
        own = hidden | {name for item in node.generators for name in names(item.target)}
        yield from _reads(node.generators[0].iter, hidden)
        first = node.generators[0]
        parts = [
            part for item in node.generators for part in (*item.ifs, *([] if item is first else [item.iter]))
        ]
        yield from (name for part in parts for name in _reads(part, own))
        results = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        yield from (name for part in results for name in _reads(part, own))
        return
    if isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        own = (
            hidden
            | {item.arg for item in parameters(node)}
            | {name for item in body for name in stored(item)}
        )
        yield from (
            name
            for part in (*node.args.defaults, *filter(None, node.args.kw_defaults))
            for name in _reads(part, hidden)
        )
        yield from (name for part in body for name in _reads(part, own))
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id not in hidden:
        yield node.target.id
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in hidden:
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _reads(child, hidden)


def binds(statement: ast.stmt, *, surely: bool = False) -> set[str]:
    """Return the variables that a statement binds, or may bind; variables of comprehensions do not count."""
    found = {name for _, _, name in bindings(statement)}
    return found & bound(statement) if surely else found


def bindings(node: ast.AST) -> Iterator[tuple[int, int, str]]:
    """Yield the places where a node binds variables, each with the variable."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.lineno, node.col_offset, node.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.lineno, node.col_offset, node.name
    elif isinstance(node, ast.alias):
        yield node.lineno, node.col_offset, node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.lineno, node.col_offset, node.name
    if not isinstance(node, (*SCOPES, *COMPREHENSIONS)):
        for child in ast.iter_child_nodes(node):
            yield from bindings(child)


def first_reads(statements: Iterable[ast.stmt], known: Iterable[str] = ()) -> list[str]:
    """Return the variables that statements may read before they bind them, in this order.

    ``known`` are the variables that are bound already.
    """
    found: dict[str, None] = {}
    own = set(known)
    for statement in statements:
        inner = list(blocks(statement))
        if inner and not isinstance(statement, SCOPES):
            parts = [item for item in ast.iter_child_nodes(statement) if not isinstance(item, ast.stmt)]
            handlers = [item for item in parts if isinstance(item, (ast.ExceptHandler, ast.match_case))]
            headers = [item for item in parts if item not in handlers]
            found |= dict.fromkeys(name for item in headers for name in _new_reads(item, own))
            bound_here = {name for item in headers for _, _, name in bindings(item)}
            bound_here |= {
                item.name for item in handlers if isinstance(item, ast.ExceptHandler) and item.name
            }
            for block in inner:
                found |= dict.fromkeys(first_reads(block, own | bound_here))
        else:
            found |= dict.fromkeys(_new_reads(statement, own))
        own |= binds(statement, surely=True)
    return list(found)


def _new_reads(node: ast.AST, known: set[str]) -> list[str]:
    return sorted(reads(node) - known)


def needs(later: ast.stmt, earlier: ast.stmt) -> bool:
    """Tell whether a statement reads what an earlier statement binds or changes."""
    return bool(reads(later) & binds(earlier)) or _overlap(_mentioned(later), _written(earlier))


def conflict(first: ast.stmt, second: ast.stmt, *, names: bool = True) -> bool:
    """Tell whether two statements cannot change places."""
    of_names = bool(
        reads(first) & binds(second) or reads(second) & binds(first) or binds(first) & binds(second)
    )
    return (
        (names and of_names)
        or (draws(first) and draws(second))
        or (_overlap(_mentioned(first), _written(second)) or _overlap(_mentioned(second), _written(first)))
    )


def may_change(earlier: ast.stmt, value: ast.expr) -> bool:
    """Tell whether a statement may change what an expression reads.

    A call of an unknown function may change anything: its arguments, views of them, attributes.
    """
    changes = reads(value) & binds(earlier) or _overlap(_mentioned(value), _written(earlier))
    return bool(changes) or any(not _is_known(node) for node in nodes_of(ast.Call, earlier))


def calls_before(statement: ast.stmt, value: ast.expr) -> Iterator[ast.Call]:
    """Yield the calls in a statement that are over before an expression in it is evaluated."""
    begin = value.lineno, value.col_offset
    return (
        node
        for node in nodes_of(ast.Call, statement)
        if (node.end_lineno or 0, node.end_col_offset or 0) <= begin
    )


def may_change_in_place(later: ast.stmt, value: ast.expr) -> bool:
    """Tell whether a statement may change the object of a variable, and not only bind the variable anew."""
    own = reads(value)
    is_augmented = isinstance(later, ast.AugAssign) and bool(names(later.target) & own)
    return is_augmented or _overlap(_mentioned(value), _written(later))


def _is_known(call: ast.Call) -> bool:
    """Tell whether a call certainly changes no tensor and no attribute."""
    return called(call) in _READING or not _does_something(call)


def is_unknown(call: ast.Call) -> bool:
    """Tell whether it is not known what a call does."""
    return not (_is_known(call) or is_changing(call))


def _does_something(call: ast.Call) -> bool:
    """Tell whether a call may do more than return a value."""
    return dotted(call.func) != "str" and not is_pure(ast.Call(call.func, [], call.keywords))


def _written(statement: ast.stmt) -> set[str]:
    """Return the variables and attributes whose objects a statement may change, as dotted names."""
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            owner = node if isinstance(node, ast.Attribute) else node.value
            found.add(_path(owner))
        elif isinstance(node, ast.Call):
            found.update(_path(word.value) for word in node.keywords if word.arg == "out")
            if called(node) in _OF_GRADIENTS:
                found.add(_GRADIENTS)
            if called(node) == "step":
                found.add(_PARAMETERS)
            if is_changing(node) and called(node) != "backward":
                found.add(_owner(node))
                found.update(_path(item) for item in node.args if _owner(node) in _MODULES)
    return found - {""}


def _owner(call: ast.Call) -> str:
    """Return the object of a method, also behind views of it: ``y`` for ``y.view(-1).zero_()``."""
    node: ast.expr = call.func.value if isinstance(call.func, ast.Attribute) else ast.Constant("")
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return _path(node)


def _mentioned(statement: ast.AST) -> set[str]:
    found = {_path(node) for node in ast.walk(statement) if isinstance(node, (ast.Name, ast.Attribute))}
    calls = [*nodes_of(ast.Call, statement)]
    if any(name.endswith(".grad") for name in found) or any(called(one) in _OF_GRADIENTS for one in calls):
        found.add(_GRADIENTS)
    if any(called(one) in _OF_PARAMETERS or is_unknown(one) for one in calls):
        found.add(_PARAMETERS)  # an unknown function may be a module
    return found - {""}


def _path(node: ast.expr) -> str:
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return dotted(node)


def _overlap(mentioned: set[str], written: set[str]) -> bool:
    """Tell whether a written object may be one of the mentioned ones: ``a.b`` for ``a.b.c`` and ``a.b``."""
    return any(one == other or one.startswith(f"{other}.") for one in mentioned for other in written)


def writes(statement: ast.stmt) -> bool:
    """Tell whether a statement itself writes into a tensor or an object, perhaps through a view."""
    places = (ast.Attribute, ast.Subscript)
    return any(
        (isinstance(node, places) and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Call) and called(node).endswith("_") and not called(node).endswith("__"))
        for node in ast.walk(statement)
    )


def has_effects(statement: ast.stmt) -> bool:
    """Tell whether a statement may do more than bind variables, such as change a buffer or an argument."""
    calls = nodes_of(ast.Call, statement)
    return (
        bool(_written(statement)) or isinstance(statement, ast.AugAssign) or any(map(_does_something, calls))
    )


def draws(statement: ast.stmt) -> bool:
    """Tell whether a statement draws random numbers, by the names of the functions that it calls."""
    return any(called(node) in RANDOM for node in nodes_of(ast.Call, statement))


def leaves(statement: ast.stmt) -> bool:
    """Tell whether a statement may end its function or the loop around it."""
    return jumps(statement) or any(
        isinstance(node, (ast.Return, ast.Raise, ast.Assert)) for node in ast.walk(statement)
    )


def jumps(statement: ast.AST) -> bool:
    """Tell whether a statement may end the loop around it, or its turn."""
    if isinstance(statement, (*_JUMPS, *SCOPES)):
        return isinstance(statement, _JUMPS)
    if isinstance(statement, (ast.For, ast.While)):
        return any(map(jumps, statement.orelse))
    return any(map(jumps, ast.iter_child_nodes(statement)))


def returns(statements: Iterable[ast.stmt]) -> bool:
    """Tell whether any of some statements may return from the function."""
    return any(isinstance(node, ast.Return) for item in statements for node in ast.walk(item))


def in_order(wanted: Iterable[str], statements: Sequence[ast.stmt]) -> list[str]:
    """Return variables in the order in which statements first bind them."""
    own = set(wanted)
    places = sorted(place for item in statements for place in bindings(item))
    return list(dict.fromkeys(name for _, _, name in places if name in own))
