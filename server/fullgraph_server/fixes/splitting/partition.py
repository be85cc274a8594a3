"""The statements of a function that run before, inside and after its compiled part."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...workspace.syntax import COMPOUND, SCOPES, called, dotted, nodes_of, own_statements, positional
from ..rules.expressions import is_pure
from ..rules.printing import prints_only
from ..rules.syntax import Function, ParsedFile, parameters, unused
from .dependencies import (
    binds,
    calls_before,
    conflict,
    first_reads,
    has_effects,
    in_order,
    is_unknown,
    jumps,
    leaves,
    may_change,
    may_change_in_place,
    needs,
    operations,
    reads,
    returns,
    writes,
)
from .values import MovedValue, conversions, elements_of, is_always, name_of, variable_of

_BARRED = ("locals", "vars", "is_compiling", "is_dynamo_compiling")
"""Functions whose results differ between a function and its part."""
_TURNS = 4
"""How often a loop is assumed to run."""
_OF_UNKNOWN = 5
"""How many operations a function is assumed to have whose source is not in the file, such as a module."""


@dataclass(frozen=True)
class FunctionParts:
    """A block of a function: the statements before, inside and after its compiled part.

    The block is the function's body without its docstring, or the body of a loop or a context manager.
    ``given`` are the variables that the part reads, ``results`` those that it returns in addition to its own
    result. ``values`` has the values that the part computes for statements after it. ``crossed`` are the
    statements of the part that now run before a statement of ``tail`` that they followed, or after a
    statement of ``head`` that they preceded.
    """

    function: Function
    block: tuple[ast.stmt, ...]
    head: tuple[ast.stmt, ...]
    inner: tuple[ast.stmt, ...]
    tail: tuple[ast.stmt, ...]
    given: tuple[str, ...]
    results: tuple[str, ...]
    values: Mapping[ast.stmt, tuple[MovedValue, ...]] = field(default_factory=dict)
    crossed: tuple[ast.stmt, ...] = ()
    leaves_little: bool = False
    """Whether less than half of what the function computes is in its compiled part, by the text."""


def body_of(function: Function) -> list[ast.stmt]:
    """Return the statements of a function without its docstring."""
    has_docstring = ast.get_docstring(function) is not None
    return function.body[has_docstring:]


def divisions(
    code: ParsedFile,
    function: Function,
    wanted: ast.stmt,
    breaks: Iterable[ast.stmt],
    computing: Iterable[ast.stmt],
) -> list[FunctionParts]:
    """Divide a function so that a statement is outside of its compiled part, in all possible ways.

    The part is made of the body of the function, or of a loop or context manager around the statement. The
    first way leaves most of the computation compiled. The other statements ``breaks`` are moved, too, if
    possible. ``computing`` are the simple statements that compute on tensors in a graph.
    """
    if not _can_be_divided(code, function):
        return []
    given = code, function, wanted, frozenset(breaks), frozenset(computing)
    partitions = [_Partition(*given, tuple(block)) for block in _blocks_around(code, function, wanted)]
    found = [(item.operations_of(parts), parts) for item in partitions if (parts := item.parts()) is not None]
    return [parts for _, parts in sorted(found, key=lambda item: -item[0])]


def _blocks_around(code: ParsedFile, function: Function, wanted: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the blocks around a statement that may have a compiled part, the outermost first."""
    around: list[list[ast.stmt]] = []
    for item in code.around(wanted):
        if item is function:
            break
        if isinstance(item, ast.Try) or (isinstance(item, ast.With) and not _is_of_torch(code, item)):
            around.clear()  # it may catch an error, with which the variables of the part would be lost
        elif isinstance(item, (ast.For, ast.While, ast.With)):
            around.append(item.body)
    yield body_of(function)
    yield from reversed(around)


@dataclass(frozen=True, eq=False)
class _Partition:
    """A block of a function, and the statements in the function that break graphs or compute in graphs."""

    code: ParsedFile
    function: Function
    wanted: ast.stmt
    breaks: frozenset[ast.stmt]
    computing: frozenset[ast.stmt]
    block: tuple[ast.stmt, ...]
    used: list[str] = field(default_factory=list)
    """The names of the values so far."""

    def parts(self) -> FunctionParts | None:
        block = self.block
        if not all(map(self.code.is_alone, block)) or not self._can_stand_alone():
            return None
        head: set[ast.stmt] = set()
        tail: set[ast.stmt] = set()
        first = [item for item in block if self._within(self.wanted, item)]
        own = [item for item in block if any(self._within(one, item) for one in self.breaks)]
        for statement in dict.fromkeys([*first, *own]):
            if statement in head | tail:
                continue
            ways = [
                (head | early, tail | late)
                for early, late in self._ways(statement, head)
                if not (head | early) & (tail | late)
            ]
            best = max(ways, key=lambda way: self._kept(way[0] | way[1]), default=None)
            if best is not None and self._is_worth_it(best[0] | best[1]):
                head, tail = best
            elif statement in first:
                return None
        tail = self._with_dependents(tail) if tail else tail
        final = block[-1]
        value = final.value if isinstance(final, ast.Return) else None
        elements = elements_of(final)
        if tail and value is not None and (_only_names(value) or (elements and all(map(is_pure, elements)))):
            tail.add(final)
        if head or tail:
            head, tail = self._with_counters(head, tail)
        if tail:
            tail |= self._containers(head | tail)
        inner = [item for item in block if item not in head and item not in tail]
        if head & tail or not self._is_worth_it(head | tail) or any(map(jumps, inner)):
            return None
        is_loop = isinstance(self.code.parent(block[0]), (ast.For, ast.While))
        if (tail or not self._is_whole) and returns(inner if is_loop else _inside(inner)):
            return None
        if is_loop and any(isinstance(node, SCOPES) for item in inner for node in ast.walk(item)):
            return None  # a function of an earlier turn would read the variables of that turn
        parts = self._parts_with(head, inner, tail)
        return parts and replace(parts, leaves_little=self._leaves_little(head | tail))

    def _leaves_little(self, moved: set[ast.stmt]) -> bool:
        """Tell whether less than half of the operations stay, also of lines that are in no graph so far."""
        simple = (item for item in own_statements(self.function) if not isinstance(item, COMPOUND))
        weights = {item: self._weight(item, _TURNS) for item in simple if item not in self.breaks}
        kept = sum(weight for item, weight in weights.items() if self._owner(item) not in (None, *moved))
        return 2 * kept < sum(weights.values())

    @property
    def _is_whole(self) -> bool:
        """Whether the block is the body of the function."""
        return self.block[-1] is self.function.body[-1]

    def operations_of(self, parts: FunctionParts) -> int:
        """Return the number of operations that stay compiled."""
        return self._kept({*parts.head, *parts.tail})

    def _within(self, inner: ast.stmt, outer: ast.stmt) -> bool:
        return any(item is outer for item in self.code.around(inner))

    def _can_stand_alone(self) -> bool:
        """Tell whether the body of a loop can become a function: its strings keep their indentation."""
        strings = (node for item in self.block for node in nodes_of(ast.Constant, item))
        return self._is_whole or not any(
            isinstance(node.value, str) and "\n" in node.value for node in strings
        )

    def _kept(self, moved: set[ast.stmt], turns: int = _TURNS) -> int:
        """Return the number of operations that stay in the compiled part; each loop has some turns."""
        kept = (
            item for item in self.computing if self._owner(item) not in (None, *moved) or elements_of(item)
        )
        return sum(self._weight(item, turns) for item in kept)

    def _weight(self, statement: ast.stmt, turns: int) -> int:
        """Return the number of operations of a statement, and of the functions that it calls."""
        loops = (item for item in self.code.around(statement) if isinstance(item, (ast.For, ast.While)))
        depth = sum(self._within(item, self.function) for item in loops)
        inside = sum(map(self._weight_of_call, nodes_of(ast.Call, statement)))
        return (operations(statement) + inside) * int(turns**depth)

    def _weight_of_call(self, call: ast.Call) -> int:
        """Return the number of operations of a function that is not one of torch or Python."""
        callees = [item for item in self.code.functions() if item.name == called(call) != self.function.name]
        callees = callees or list(self._forwards(dotted(call.func)))
        if callees:
            return max(sum(map(operations, item.body)) for item in callees)
        return _OF_UNKNOWN if is_unknown(call) else 0

    def _forwards(self, name: str) -> Iterator[Function]:
        """Yield the ``forward`` of the classes of the file of which an attribute is an instance."""
        values = (x.value for x in self.code.all(ast.Assign) if name in map(dotted, x.targets) and name)
        made = {called(value) for value in values}
        for owner in (item for item in self.code.all(ast.ClassDef) if item.name in made):
            yield from (item for item in owner.body if isinstance(item, Function) and item.name == "forward")

    def _is_worth_it(self, moved: set[ast.stmt]) -> bool:
        """Tell whether most of the computation stays in the compiled part, by the text or in a run."""
        for turns in (1, _TURNS):
            kept = self._kept(moved, turns)
            every = sum(self._weight(item, turns) for item in self.computing if item not in self.breaks)
            if kept > 0 and (every - kept) * 2 <= kept:
                return True
        return False

    def _owner(self, inner: ast.stmt) -> ast.stmt | None:
        """Return the statement of the block that contains a statement."""
        return next((item for item in self.block if self._within(inner, item)), None)

    def _ways(
        self, statement: ast.stmt, head: set[ast.stmt]
    ) -> Iterator[tuple[set[ast.stmt], set[ast.stmt]]]:
        """Yield the ways to move a statement: the statements that then run before, and those after."""
        nothing: set[ast.stmt] = set()
        before = self.block[: self.block.index(statement)]
        early, late = self._early(statement, head), self._late(statement)
        ways = [(early, nothing), (nothing, late)]
        if any(self._owner(item) in before for item in self.computing - self.breaks):
            ways.reverse()
        yield from ((one, other) for one, other in ways if one is not None and other is not None)
        if not returns(before) and not any(map(jumps, before)):
            yield nothing, set(self.block[self.block.index(statement) :])

    def _with_counters(self, head: set[ast.stmt], tail: set[ast.stmt]) -> tuple[set[ast.stmt], set[ast.stmt]]:
        """Move the counters (``step += 1``), too: inside the part, each new number may compile it again.

        A counter moves to the side with fewer statements between, none of which may read it.
        """
        for item in filter(self._is_counter, self.block):
            index = self.block.index(item)
            before = [other for other in self.block[:index] if other not in head]
            after = [other for other in self.block[index + 1 :] if other not in head | tail]
            ways = [(before, head), (after, tail)]
            for between, side in sorted(ways, key=lambda way: len(way[0])) if item not in head | tail else ():
                if not any(self._may_read(other, item) for other in between):
                    side.add(item)
                    break
        return head, tail

    def _containers(self, moved: set[ast.stmt]) -> set[ast.stmt]:
        """Return the assignments such as ``found = []`` that no statement of the part reads or repeats."""
        inner = [item for item in self.block if item not in moved]
        return {
            item
            for item in filter(_is_empty, inner)
            if not any(binds(item) & (reads(other) | binds(other)) for other in inner if other is not item)
        }

    def _may_read(self, statement: ast.stmt, counter: ast.stmt) -> bool:
        """Tell whether a statement and a counter cannot change places."""
        is_attribute = isinstance(counter, ast.AugAssign) and isinstance(counter.target, ast.Attribute)
        calls = nodes_of(ast.Call, statement) if is_attribute else ()
        return conflict(statement, counter) or any(map(is_unknown, calls))

    def _is_counter(self, item: ast.stmt) -> bool:
        """Tell whether a statement adds an integer to an attribute, or to a variable that begins as one."""
        if not isinstance(item, ast.AugAssign) or not isinstance(item.op, (ast.Add, ast.Sub)):
            return False
        if not isinstance(item.value, ast.Constant) or type(item.value.value) is not int:
            return False
        return isinstance(item.target, ast.Attribute) or any(
            isinstance(one.value, ast.Constant)
            and type(one.value.value) is int
            and [dotted(target) for target in one.targets] == [dotted(item.target)]
            for one in nodes_of(ast.Assign, self.function)
        )

    # -- statements before the compiled part -------------------------------------------------------

    def _early(self, statement: ast.stmt, head: set[ast.stmt]) -> set[ast.stmt] | None:
        """Return the statements to run first, so that a statement can run before the compiled part."""
        if isinstance(statement, ast.Return):
            return None
        before = self.block[: self.block.index(statement)]
        moved = {statement}
        for item in reversed(before):
            if any(needs(later, item) for later in moved):
                moved.add(item)
        rest = [item for item in before if item not in moved and item not in head]
        if any(conflict(item, other) for item in rest for other in moved):
            return None
        if any(map(leaves, moved)) and (any(map(has_effects, rest)) or (rest and any(map(jumps, moved)))):
            return None
        return None if returns(rest) or any(map(jumps, rest)) else moved

    # -- statements after the compiled part --------------------------------------------------------

    def _late(self, statement: ast.stmt) -> set[ast.stmt] | None:
        """Return the statements that must run after the compiled part if a statement does."""
        moved = self._with_dependents({statement})
        first = min(map(self.block.index, moved))
        stay = [item for item in self.block[first:] if item not in moved]
        if (
            returns(_inside(stay))
            or returns(self.block[:first])
            or any(map(jumps, [*stay, *self.block[:first]]))
        ):
            return None
        if any(map(leaves, moved)) and (any(map(has_effects, stay)) or (stay and any(map(jumps, moved)))):
            return None
        return moved

    def _with_dependents(self, moved: set[ast.stmt]) -> set[ast.stmt]:
        """Return statements with those after them that need what they bind or change."""
        block = self.block
        moved = set(moved)
        for item in block[min(map(block.index, moved)) :]:
            earlier = [one for one in moved if block.index(one) < block.index(item)]
            if any(needs(item, one) for one in earlier):
                moved.add(item)
        return moved

    # -- variables and values ----------------------------------------------------------------------

    def _parts_with(
        self, head: set[ast.stmt], inner: list[ast.stmt], tail: set[ast.stmt]
    ) -> FunctionParts | None:
        block = self.block
        values: dict[ast.stmt, tuple[MovedValue, ...]] = {}
        needed: set[str] = set()
        crossed: dict[ast.stmt, None] = {}
        of_inner = set[str]().union(*map(binds, inner))
        after = [item for item in block if item in tail]
        for item in after:
            later = [other for other in inner if block.index(other) > block.index(item)]
            rebound = set[str]().union(*map(binds, later))
            between = after[: after.index(item)]
            values[item] = tuple(self._values(item, later, between, of_inner))
            read = self._read(item, values[item])
            if read & rebound or binds(item) & set().union(*map(reads, later), rebound):
                return None
            if any(conflict(other, item, names=False) for other in later):
                return None
            needed |= read & of_inner
            crossed |= dict.fromkeys(() if _is_empty(item) else later)
        for item in head:
            crossed |= dict.fromkeys(other for other in inner if block.index(other) < block.index(item))
        new = [value for item in after for value in values[item]]
        if not (inner and isinstance(inner[-1], ast.Return)):
            needed |= self._read_elsewhere(inner, after) & of_inner
        local = {*parameters(self.function), *set[str]().union(*map(binds, self.function.body))}
        sure = set[str]().union(*(binds(item, surely=True) for item in inner))
        own = {name for value in new for name in reads(value.node)} | needed
        given = {*first_reads(inner), *(own - sure)} & local
        if any(not self._is_bound(name, head) for name in given):
            return None
        results = [*in_order(needed, inner), *(value.name for value in new)]
        if after and isinstance(after[-1], ast.Return):
            results = _as_returned(results, after[-1], values[after[-1]])
        return FunctionParts(
            self.function,
            block,
            tuple(item for item in block if item in head),
            tuple(inner),
            tuple(after),
            tuple(self._sorted(given)),
            tuple(dict.fromkeys(results)),
            values,
            tuple(item for item in block if item in crossed and _does_something(item)),
        )

    def _is_free(self, name: str, statement: ast.stmt) -> bool:
        """Tell whether a variable has no value yet when a statement binds it."""
        rows = [node.lineno for node in nodes_of(ast.Name, self.function) if node.id == name]
        is_first = min(rows) >= statement.lineno and name not in parameters(self.function)
        return is_first and name not in self.used

    def _read(self, statement: ast.stmt, values: Sequence[MovedValue]) -> set[str]:
        """Return the variables that a statement reads, except in values that the part computes for it."""
        inside = {node for value in values for node in ast.walk(value.node)}
        names = {node.id for node in nodes_of(ast.Name, statement) if node not in inside}
        return reads(statement) & names

    def _read_elsewhere(self, inner: Sequence[ast.stmt], after: Sequence[ast.stmt]) -> set[str]:
        """Return the variables that the function reads outside of a loop's body, or in its next turn."""
        if self._is_whole:
            return set()
        own = {node for item in (*inner, *after) for node in ast.walk(item)}
        outside = {
            node.id
            for node in nodes_of(ast.Name, self.function)
            if node not in own
            and (isinstance(node.ctx, ast.Load) or isinstance(self.code.parent(node), ast.AugAssign))
        }
        around = [item for item in self.code.around(self.block[0]) if isinstance(item, (ast.For, ast.While))]
        is_loop = any(self._within(item, self.function) for item in around)
        return outside | (set(first_reads(self.block)) if is_loop else set())

    def _is_bound(self, name: str, head: set[ast.stmt]) -> bool:
        """Tell whether a variable certainly has a value when the compiled part begins."""
        if name in parameters(self.function) or any(name in binds(item, surely=True) for item in head):
            return True
        return self.code.is_bound_before(self.block[0], name)

    def _sorted(self, names: Iterable[str]) -> list[str]:
        """Return names in the order of the parameters, then in that of the function."""
        own = parameters(self.function)
        known = [*own, *in_order(names, self.function.body)]
        return [name for name in dict.fromkeys(known) if name in set(names)]

    def _values(
        self, statement: ast.stmt, later: Sequence[ast.stmt], after: Sequence[ast.stmt], of_inner: set[str]
    ) -> Iterator[MovedValue]:
        """Yield the values of a statement that the compiled part can compute.

        These are tensors that the statement converts to numbers, conditions on tensors, and what it returns
        beside them. ``later`` are the statements of the part that follow, ``after`` those that now run
        between the part and the statement.
        """
        rebound = set[str]().union(*map(binds, later))
        for node in conversions(statement):
            is_tensor = reads(node) & {*of_inner, *parameters(self.function)}
            between = [*after, *(ast.Expr(call) for call in calls_before(statement, node))]
            is_free = not any(leaves(item) or may_change(item, node) for item in between)
            if not is_tensor or not is_free or not is_pure(node) or not is_always(self.code, node, statement):
                continue
            is_plain = isinstance(node, (ast.Name, ast.Attribute))
            if is_plain and (
                not reads(node) & rebound or any(may_change_in_place(item, node) for item in later)
            ):
                continue
            wanted = variable_of(statement, node)
            if not wanted or not self._is_free(wanted, statement):
                wanted = unused(name_of(node), lambda text: self.code.mentions(text) or text in self.used)
            name = wanted
            self.used.append(name)
            yield MovedValue(node, name)
        for node in elements_of(statement):
            between = [*after, *(ast.Expr(call) for call in calls_before(statement, node))]
            is_still = is_pure(node) and not any(map(writes, after))
            if is_still and not any(
                leaves(item) or may_change(item, node) for item in between if not prints_only(item)
            ):
                name = unused("result", lambda text: self.code.mentions(text) or text in self.used)
                self.used.append(name)
                yield MovedValue(node, name)


def _as_returned(results: Sequence[str], final: ast.Return, values: Sequence[MovedValue]) -> list[str]:
    """Return variables in the order in which a ``return`` mentions them; those that it does not come last."""
    named = {node: value.name for value in values for node in ast.walk(value.node)}
    nodes = sorted(nodes_of(ast.Name, final), key=lambda node: (node.lineno, node.col_offset))
    order = list(dict.fromkeys(named.get(node, node.id) for node in nodes))
    return sorted(results, key=lambda name: order.index(name) if name in order else len(order))


def _inside(statements: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return statements without a ``return`` at their end."""
    return statements[:-1] if statements and isinstance(statements[-1], ast.Return) else statements


def _is_of_torch(code: ParsedFile, context: ast.With) -> bool:
    """Tell whether a context manager is one of torch, such as ``torch.no_grad()``."""
    managers = [item.context_expr for item in context.items]
    return all(
        isinstance(node, ast.Call) and code.meaning(node.func).startswith("torch.") for node in managers
    )


def _does_something(statement: ast.stmt) -> bool:
    """Tell whether a statement computes, has an effect, or reads an attribute that others may change."""
    has_attribute = next(nodes_of(ast.Attribute, statement), None) is not None
    return has_attribute or has_effects(statement) or bool(operations(statement))


def _can_be_divided(code: ParsedFile, function: Function) -> bool:
    barred = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete)
    if isinstance(function, ast.AsyncFunctionDef) or not code.is_first(function):
        return False
    owner = code.parent(function)
    if not isinstance(owner, (ast.Module, ast.ClassDef, Function)):
        return False  # under a condition, a method has no class here
    if isinstance(owner, ast.ClassDef) and not positional(function):
        return False
    return not any(isinstance(node, barred) for node in ast.walk(function)) and not any(
        called(node) in _BARRED and not node.args for node in nodes_of(ast.Call, function)
    )


def _is_empty(statement: ast.stmt) -> bool:
    """Tell whether a statement assigns an empty list or dictionary to variables."""
    if not isinstance(statement, ast.Assign) or not all(isinstance(x, ast.Name) for x in statement.targets):
        return False
    return ast.unparse(statement.value) in ("[]", "{}")


def _only_names(node: ast.expr) -> bool:
    """Tell whether a returned value only collects variables, so that it costs nothing after the part."""
    kinds = (ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Load)
    return all(isinstance(item, kinds) for item in ast.walk(node))
