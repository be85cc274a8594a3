"""The statements of a function that run before, inside and after its compiled part."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...workspace.syntax import bound, called, dotted, free, nodes_of, stored
from ..rules.expressions import is_changing, is_pure
from ..rules.syntax import Function, ParsedFile, unused

_CONVERSIONS = frozenset({"item", "tolist", "cpu", "numpy"})
"""Methods that copy a tensor to Python or to the CPU."""
_BUILTINS = frozenset({"float", "int", "bool"})
_QUIET = frozenset(
    {"len", "float", "int", "bool", "str", "round", "max", "min", "sum", "abs", "print", "range"}
)


@dataclass(frozen=True)
class MovedValue:
    """A value that the compiled part computes for a statement after it.

    ``node`` is the expression in the statement, ``name`` the new variable that holds its value.
    """

    node: ast.expr
    name: str


@dataclass(frozen=True)
class FunctionParts:
    """A function's statements: before, inside and after the compiled part.

    ``values`` has the values that statements after the part need, by statement. ``results`` are the variables
    that the compiled part returns in addition to its own result. ``crossed`` are the statements that now run
    before a statement of ``tail`` that they followed, or after a statement of ``head``.
    """

    function: Function
    head: tuple[ast.stmt, ...]
    inner: tuple[ast.stmt, ...]
    tail: tuple[ast.stmt, ...]
    values: Mapping[ast.stmt, tuple[MovedValue, ...]] = field(default_factory=dict)
    results: tuple[str, ...] = ()
    crossed: tuple[ast.stmt, ...] = ()

    @property
    def given(self) -> list[str]:
        """The variables that the compiled part reads from its caller: parameters, and those of ``head``."""
        arguments = self.function.args
        every = [*arguments.posonlyargs, *arguments.args]
        every += [arguments.vararg] if arguments.vararg else []
        every += arguments.kwonlyargs
        every += [arguments.kwarg] if arguments.kwarg else []
        known = [item.arg for item in every]
        known += [name for item in self.head for name in sorted(bound(item)) if name not in known]
        read = set[str]().union(*(free(item) for item in self.inner))
        read |= {name for values in self.values.values() for value in values for name in free(value.node)}
        read |= set(self.results)
        return [name for name in known if name in read]


def body_of(function: Function) -> list[ast.stmt]:
    """Return the statements of a function without its docstring."""
    has_docstring = ast.get_docstring(function) is not None
    return function.body[has_docstring:]


def parted(
    code: ParsedFile,
    function: Function,
    wanted: ast.stmt,
    breaks: Iterable[ast.stmt],
    computing: Iterable[ast.stmt],
) -> FunctionParts | None:
    """Divide a function so that a statement is outside of its compiled part; ``None`` if impossible.

    The other statements ``breaks`` are moved, too, if possible. ``computing`` are the statements that compute
    on tensors in a graph: most of them stay in the compiled part.
    """
    return _Partition(code, function, wanted, frozenset(breaks), frozenset(computing)).parts()


@dataclass(frozen=True, eq=False)
class _Partition:
    code: ParsedFile
    function: Function
    wanted: ast.stmt
    breaks: frozenset[ast.stmt]
    computing: frozenset[ast.stmt]
    used: list[str] = field(default_factory=list)
    """The names of the values so far."""

    def parts(self) -> FunctionParts | None:
        body = body_of(self.function)
        if not _can_be_divided(self.code, self.function, body):
            return None
        head: set[ast.stmt] = set()
        tail: set[ast.stmt] = set()
        first = [self.wanted] if self.wanted in body else []
        for statement in (*first, *(item for item in body if item in self.breaks)):
            if statement in head | tail:
                continue
            ways = [
                (head | early, tail | late)
                for early, late in self._ways(body, statement, head)
                if not (head | early) & (tail | late)
            ]
            best = max(ways, key=lambda way: self._kept(body, way[0] | way[1]), default=None)
            if best is not None and self._is_worth_it(body, best[0] | best[1]):
                head, tail = best
            elif not head | tail:
                return None  # the wanted statement, which is the first, cannot be moved
        tail = self._closed(body, tail) if tail else tail
        if head & tail:
            return None
        final = body[-1]
        if isinstance(final, ast.Return) and tail and final.value is not None and _only_names(final.value):
            tail.add(final)
        inner = [item for item in body if item not in head and item not in tail]
        return self._finished(body, head, inner, tail)

    def _kept(self, body: list[ast.stmt], moved: set[ast.stmt]) -> int:
        """Return the number of operations that stay in the compiled part."""
        return sum(_operations(item) for item in body if item in self.computing and item not in moved)

    def _is_worth_it(self, body: list[ast.stmt], moved: set[ast.stmt]) -> bool:
        """Tell whether most of the computation stays in the compiled part."""
        lost = sum(_operations(item) for item in self.computing & moved if item not in self.breaks)
        return lost * 2 <= self._kept(body, moved)

    def _ways(
        self, body: list[ast.stmt], statement: ast.stmt, head: set[ast.stmt]
    ) -> Iterator[tuple[set[ast.stmt], set[ast.stmt]]]:
        """Yield the ways to move a statement: the statements that then run before, and those after."""
        nothing: set[ast.stmt] = set()
        before = body[: body.index(statement)]
        early, late = self._early(body, statement, head), self._late(body, statement)
        ways = [(early, nothing), (nothing, late)]
        if any(item in self.computing and item not in self.breaks for item in before):
            ways.reverse()
        yield from ((one, other) for one, other in ways if one is not None and other is not None)
        if not any(isinstance(node, ast.Return) for item in before for node in ast.walk(item)):
            yield nothing, set(body[body.index(statement) :])

    # -- statements before the compiled part -------------------------------------------------------

    def _early(self, body: list[ast.stmt], statement: ast.stmt, head: set[ast.stmt]) -> set[ast.stmt] | None:
        """Return the statements to run first, so that a statement can run before the compiled part."""
        if isinstance(statement, ast.Return):
            return None
        moved = {statement}
        for item in reversed(body[: body.index(statement)]):
            if any(_needs(later, item) for later in moved):
                moved.add(item)
        rest = [item for item in body[: body.index(statement)] if item not in moved and item not in head]
        if any(_conflict(item, other) for item in rest for other in moved):
            return None
        if _leaves(statement) and any(_has_effects(item) for item in rest):
            return None
        if any(isinstance(node, ast.Return) for item in rest for node in ast.walk(item)):
            return None
        return moved

    # -- statements after the compiled part --------------------------------------------------------

    def _late(self, body: list[ast.stmt], statement: ast.stmt) -> set[ast.stmt] | None:
        """Return the statements that must run after the compiled part if a statement does."""
        moved = self._closed(body, {statement})
        first = min(map(body.index, moved))
        stay = [item for item in body[first:] if item not in moved]
        if any(isinstance(node, ast.Return) for item in stay[:-1] for node in ast.walk(item)):
            return None
        if any(isinstance(node, ast.Return) for item in body[:first] for node in ast.walk(item)):
            return None
        if _leaves(statement) and any(_has_effects(item) for item in stay):
            return None
        return moved

    def _closed(self, body: list[ast.stmt], moved: set[ast.stmt]) -> set[ast.stmt]:
        moved = set(moved)
        for item in body[min(map(body.index, moved)) :]:
            earlier = [one for one in moved if body.index(one) < body.index(item)]
            if any(_needs(item, one) for one in earlier):
                moved.add(item)
        return moved

    # -- values ------------------------------------------------------------------------------------

    def _finished(
        self, body: list[ast.stmt], head: set[ast.stmt], inner: list[ast.stmt], tail: set[ast.stmt]
    ) -> FunctionParts | None:
        in_order = [item for item in body if item in tail]
        values: dict[ast.stmt, tuple[MovedValue, ...]] = {}
        needed: dict[str, None] = {}
        crossed: dict[ast.stmt, None] = {}
        of_inner = set[str]().union(*map(stored, inner))
        sure = set[str]().union(*map(bound, inner))
        for item in in_order:
            later = [other for other in inner if body.index(other) > body.index(item)]
            rebound = set[str]().union(*map(stored, later))
            of_tail = {name for one in in_order if body.index(one) < body.index(item) for name in stored(one)}
            moved = tuple(self._values(item, rebound, of_tail, of_inner))
            inside = {node for value in moved for node in ast.walk(value.node)}
            read = {
                node.id
                for node in nodes_of(ast.Name, item)
                if isinstance(node.ctx, ast.Load) and node not in inside
            }
            if (read - of_tail) & rebound or stored(item) & set().union(*map(free, later), rebound):
                return None
            if any(_conflict(other, item, names=False) for other in later):
                return None
            values[item] = moved
            needed |= dict.fromkeys(name for name in sorted(read) if name in of_inner and name not in of_tail)
            crossed |= dict.fromkeys(later)
        for item in head:
            crossed |= dict.fromkeys(other for other in inner if body.index(other) < body.index(item))
        if needed.keys() - sure - _arguments(self.function):
            return None
        results = _ordered(inner, needed)
        results += [value.name for item in in_order for value in values[item]]
        crossing = tuple(item for item in body if item in crossed and not isinstance(item, ast.Return))
        return FunctionParts(
            self.function,
            tuple(item for item in body if item in head),
            tuple(inner),
            tuple(in_order),
            values,
            tuple(dict.fromkeys(results)),
            crossing,
        )

    def _values(
        self, statement: ast.stmt, rebound: set[str], of_tail: set[str], of_inner: set[str]
    ) -> Iterator[MovedValue]:
        """Yield the values of a statement that the compiled part can compute.

        These are tensors that the statement converts to numbers, and conditions on tensors.
        """
        for node in _converted(statement):
            read = free(node)
            is_tensor = read & (of_inner | _arguments(self.function)) or "self" in read
            if read & of_tail or not is_tensor or not is_pure(node):
                continue
            is_plain = isinstance(node, (ast.Name, ast.Attribute))
            if (is_plain or not _is_always(self.code, node, statement)) and not read & rebound:
                continue
            name = unused(_name_of(node), lambda text: self.code.mentions(text) or text in self.used)
            self.used.append(name)
            yield MovedValue(node, name)


def _operations(statement: ast.stmt) -> int:
    """Count the calls and operators in a statement; at least one."""
    kinds = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)
    return sum(isinstance(node, kinds) for node in ast.walk(statement)) or 1


# -- dependencies of statements -------------------------------------------------------------------


def _needs(later: ast.stmt, earlier: ast.stmt) -> bool:
    """Tell whether a statement reads what an earlier statement binds or changes."""
    return bool(free(later) & stored(earlier)) or _overlap(_mentioned(later), _written(earlier))


def _conflict(first: ast.stmt, second: ast.stmt, *, names: bool = True) -> bool:
    """Tell whether two statements cannot change places."""
    of_names = bool(
        free(first) & stored(second) or free(second) & stored(first) or stored(first) & stored(second)
    )
    return (names and of_names) or (
        _overlap(_mentioned(first), _written(second)) or _overlap(_mentioned(second), _written(first))
    )


def _written(statement: ast.stmt) -> set[str]:
    """Return the variables and attributes whose objects a statement may change, as dotted names."""
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            owner = node if isinstance(node, ast.Attribute) else node.value
            found.add(_path(owner))
        elif isinstance(node, ast.Call) and is_changing(node) and called(node) != "backward":
            found.add(_path(node.func.value) if isinstance(node.func, ast.Attribute) else "")
    return found - {""}


def _mentioned(statement: ast.stmt) -> set[str]:
    return {_path(node) for node in ast.walk(statement) if isinstance(node, (ast.Name, ast.Attribute))} - {""}


def _path(node: ast.expr) -> str:
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return dotted(node)


def _overlap(mentioned: set[str], written: set[str]) -> bool:
    """Tell whether a written object may be one of the mentioned ones: ``a.b`` for ``a.b.c`` and ``a.b``."""
    return any(one == other or one.startswith(f"{other}.") for one in mentioned for other in written)


def _has_effects(statement: ast.stmt) -> bool:
    """Tell whether a statement changes more than variables of its function."""
    calls = (node for node in nodes_of(ast.Call, statement))
    return bool(_written(statement)) or any(
        called(node).endswith("_")
        or called(node) == "backward"
        or (isinstance(statement, ast.Expr) and called(node) not in _QUIET)
        for node in calls
    )


def _leaves(statement: ast.stmt) -> bool:
    """Tell whether a statement may end its function."""
    return any(isinstance(node, (ast.Return, ast.Raise, ast.Assert)) for node in ast.walk(statement))


def _can_be_divided(code: ParsedFile, function: Function, body: list[ast.stmt]) -> bool:
    barred = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete)
    if isinstance(function, ast.AsyncFunctionDef) or len(body) < 2:
        return False
    if any(isinstance(node, barred) for item in body for node in ast.walk(item)):
        return False
    return all(map(code.is_alone, body)) and not any(
        called(node) in ("locals", "vars") and not node.args for node in nodes_of(ast.Call, function)
    )


# -- values of statements -------------------------------------------------------------------------


def _converted(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the tensors that a statement converts, and its conditions, the outermost first."""
    found: list[ast.expr] = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _CONVERSIONS:
                found.append(_detached(node.func.value))
            elif isinstance(node.func, ast.Name) and node.func.id in _BUILTINS and len(node.args) == 1:
                found.append(_detached(node.args[0]))
        elif isinstance(node, (ast.If, ast.Assert, ast.While, ast.IfExp)):
            found += [item for item in _leaves_of(node.test) if isinstance(item, ast.Call)]
    inside: set[ast.AST] = set()
    for node in found:
        if node not in inside:
            inside.update(ast.walk(node))
            yield node


def _detached(node: ast.expr) -> ast.expr:
    """Return the tensor of a chain such as ``x.detach().cpu()``."""
    while isinstance(node, ast.Call) and called(node) in ("detach", "cpu") and not node.args:
        assert isinstance(node.func, ast.Attribute)
        node = node.func.value
    return node


def _leaves_of(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the operands of ``and``, ``or`` and ``not`` in a condition."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _leaves_of(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _leaves_of(test.operand)
    elif called(test) not in (*_CONVERSIONS, *_BUILTINS, "isinstance", "hasattr", "getattr", "len"):
        yield test


def _is_always(code: ParsedFile, node: ast.expr, statement: ast.stmt) -> bool:
    """Tell whether a statement evaluates an expression exactly once, whatever the values are."""
    inner: ast.AST = node
    for outer in code.around(node):
        if isinstance(outer, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return False
        if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer and inner is not outer.test:
            return False
        if isinstance(outer, ast.BoolOp) and inner is not outer and inner is not outer.values[0]:
            return False
        if isinstance(outer, (ast.For, ast.While, ast.Try)):
            return False
        if outer is statement:
            return True
        inner = outer
    return True


def _name_of(node: ast.expr) -> str:
    """Name a value after its tensor and the functions applied to it: ``loss_mean``, ``grad_isfinite_all``."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Call):
            parts.append(called(node))
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            is_method = owner is not None and dotted(owner) not in ("torch", "F", "torch.nn.functional")
            if is_method and owner is not None:
                node = owner
            elif node.args:
                node = node.args[0]
            else:
                break
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, (ast.BinOp, ast.Compare)):
            node = node.left
        elif isinstance(node, ast.UnaryOp):
            node = node.operand
        else:
            break
    root = dotted(node).rpartition(".")[2] if dotted(node) else ""
    words = [root, *reversed(parts[:3])]
    name = "_".join(
        word.strip("_") for word in words if word.strip("_") not in ("", "item", "float", "detach")
    )
    return name if name.isidentifier() and name != root else f"{root or 'value'}_now"


def _only_names(node: ast.expr) -> bool:
    """Tell whether a returned value only collects variables, so that it costs nothing after the part."""
    kinds = (ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Load)
    return all(isinstance(item, kinds) for item in ast.walk(node))


def _arguments(function: Function) -> set[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {item.arg for item in [*every, *filter(None, [arguments.vararg, arguments.kwarg])]}


def _ordered(inner: Sequence[ast.stmt], needed: Mapping[str, None]) -> list[str]:
    """Return names in the order in which the statements first bind them."""
    nodes = sorted(
        (node.lineno, node.col_offset, node.id)
        for item in inner
        for node in nodes_of(ast.Name, item)
        if isinstance(node.ctx, ast.Store) and node.id in needed
    )
    return list(dict.fromkeys([*(name for _, _, name in nodes), *needed]))
