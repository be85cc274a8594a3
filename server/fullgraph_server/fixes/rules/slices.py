"""Fixes for slices whose bounds come from tensor data, such as random masks and random crops."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ...workspace.syntax import called, dotted, names, nodes_of
from ..model import Edit, Fix
from .arms import SIGNS
from .expressions import assigned_once, beside, is_pure, plain
from .offering import node_rule
from .syntax import ParsedFile, unused
from .values import MATH, is_integer

_POSITIONS = Fix(
    "slice-positions",
    "Compare positions with the bounds instead of slicing",
    "The bounds stay tensors; all elements are computed, and their positions select among them.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.arange.html",
)
_OF_DIMENSIONS: Final = " The tensor must have as many dimensions as in this run."
_OF_ENDS: Final = " A slice that reaches beyond the end raises an error instead of being shorter."
_OF_VALUES: Final = " The written value has to fit the whole tensor, not only the slice."
_OF_NEGATIVE: Final = " A negative bound no longer counts from the end."
_OF_DEVICES: Final = " The bounds have to be on the device of the tensor."
_OF_PRECISION: Final = " The bounds are computed in the precision of the tensors, not in that of Python."
_CREATING: Final = frozenset({"randint", "rand", "randn"})
"""Functions whose result has no dimensions if no size is given, on the CPU by default."""
_STEMS: Final = (("positions",), ("rows", "columns"), ("planes", "rows", "columns"))
"""The variables for positions, by the number of dimensions with bounds."""
_LOOSE: Final = (ast.IfExp, ast.BoolOp, ast.Compare, ast.Lambda, ast.NamedExpr)
"""Expressions that would need parentheses as operands of a comparison."""
_LARGE: Final = 6e4
"""About the largest number of half precision: ``masked_fill_`` refuses a larger one."""
_MOST_TRAILING: Final = 2
"""The most dimensions of a tensor behind those that a slice names."""
_LIMITS: Final[Mapping[str, str]] = {"max": "min", "min": "max"}
"""By function of Python: the parameter of ``clamp`` that does the same."""


@node_rule(ast.Call, is_value=True)
def sliced(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Keep a number that bounds slices as a tensor, and select by position instead of slicing.

    ``x[..., a:b] = 0`` becomes ``masked_fill_``, and ``x[:, a : a + 8]`` becomes ``index_select``.
    """
    yield from list(_by_chain(code, node)) or _by_position(code, node)


def _by_chain(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    statement = code.parent(node)
    target = (
        statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    )
    if not isinstance(target, ast.Name):
        return
    chain = _chain(code, target.id, node)
    if not chain.slices:
        return
    trailing = range(_MOST_TRAILING + 1) if any(map(_counts_from_left, chain.writes)) else range(1)
    for count in trailing:
        try:
            edits = chain.edits(count)
        except _UnsupportedError:
            return
        changes = _OF_DIMENSIONS * (len(trailing) > 1) + chain.changes
        yield replace(
            _POSITIONS,
            change=_POSITIONS.change + changes,
            safety="unsafe" if changes else "safe",
            edits=(*edits, *code.importing_torch()),
            raises_more=bool(chain.reads),
        )


def _by_position(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Keep a position as a tensor, and write to positions in place of slices that begin there.

    This is the idiom of queues and replay buffers: ``queue[:, ptr : ptr + n] = keys.T``.
    """
    is_item = isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args
    if not is_item and (dotted(node.func) != "int" or len(node.args) != 1):
        return
    inner = node.args[0] if not isinstance(node.func, ast.Attribute) else node.func.value
    name, function = _variable_of(code, node), code.function(node)
    used = [item for item in nodes_of(ast.Slice, function) if name and name in names(item)]
    text = code.operand(inner) + ".long()" * (not is_integer(inner) and not _is_of_integers(code, inner))
    edits = [code.replaced(node, text)]
    for part in used:
        whole, end = code.parent(part), part.upper
        whole = code.parent(whole) if isinstance(whole, ast.Tuple) else whole
        is_written = isinstance(whole, ast.Subscript) and isinstance(code.parent(whole), ast.Assign)
        if not isinstance(whole, ast.Subscript) or not is_written or not isinstance(whole.ctx, ast.Store):
            return
        if not isinstance(end, ast.BinOp) or not isinstance(end.op, ast.Add) or name in names(end.right):
            return
        begin = part.lower or part
        if (
            part.step
            or ast.unparse(begin) != name
            or ast.unparse(end.left) != name
            or not is_pure(whole.value)
        ):
            return
        if any(item is not part and ast.unparse(item) not in (":", "...") for item in _items(whole)):
            return
        positions = f"torch.arange({code.text(end.right)}, device={code.operand(whole.value)}.device)"
        edits.append(code.replaced(part, f"{name} + {code.of_torch(positions)}"))
    if used:
        change = _POSITIONS.change.partition(";")[0] + "." + _OF_NEGATIVE + _OF_ENDS
        edits += code.importing_torch()
        title = "Index by positions instead of slicing"
        fix = replace(_POSITIONS, title=title, change=change, safety="unsafe")
        yield replace(fix, edits=(*edits,), raises_more=True)


def _is_of_integers(code: ParsedFile, node: ast.expr) -> bool:
    """Tell whether an attribute is a buffer that the file registers as whole numbers."""
    name = node.attr if isinstance(node, ast.Attribute) else ""
    buffers = (item.args for item in code.all(ast.Call) if called(item) == "register_buffer")
    tensors = [given[1] for given in buffers if len(given) > 1 and ast.unparse(given[0]) == repr(name)]
    kinds = [{ast.unparse(word.value) for word in getattr(item, "keywords", ())} for item in tensors]
    return bool(kinds) and all(kind & {"torch.long", "torch.int64"} for kind in kinds)


def _variable_of(code: ParsedFile, node: ast.expr) -> str:
    """Return the variable to which an assignment binds a value, perhaps beside others; "" if none."""
    statement = code.statement(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=False))
    return next((dotted(one) for one, other in pairs if other is node and isinstance(one, ast.Name)), "")


class _UnsupportedError(Exception):
    """Raised at a slice that cannot be written by positions."""


@dataclass(frozen=True)
class _NumberChain:
    """The numbers of a function that come from tensors, and the slices that they bound."""

    code: ParsedFile
    numbers: Mapping[str, ast.Assign]
    """The assignments of these numbers, by variable."""
    slices: tuple[ast.Subscript, ...]

    def is_bound(self, node: ast.AST) -> bool:
        """Tell whether an expression depends on one of the numbers."""
        return bool(names(node) & set(self.numbers))

    @property
    def writes(self) -> list[ast.Subscript]:
        """The slices that statements write to."""
        return [item for item in self.slices if isinstance(item.ctx, ast.Store)]

    @property
    def reads(self) -> list[ast.Subscript]:
        """The slices that other statements read."""
        inside = {node for item in self.writes for node in ast.walk(self.code.statement(item) or item)}
        return [item for item in self.slices if item not in inside]

    @property
    def changes(self) -> str:
        """What other code may notice, as sentences; empty if nothing."""
        values = [getattr(self.code.statement(item), "value", None) for item in self.writes]
        bounds = [
            bound
            for item in self.slices
            for part in nodes_of(ast.Slice, item.slice)
            for bound in (part.lower, part.upper)
        ]
        return "".join(
            (
                _OF_NEGATIVE * (not all(bound is None or self._is_positive(bound) for bound in bounds)),
                _OF_ENDS * bool(self.reads),
                _OF_VALUES * any(not _is_number_of_python(value) for value in values),
                _OF_DEVICES * (not self.is_moved),
                _OF_PRECISION * bool(self.floats),
            )
        )

    @property
    def is_moved(self) -> bool:
        """Whether the bounds are moved to the device of the tensor, because they are drawn on another one.

        Compiled code for a GPU cannot use a number there that it draws on the CPU (torch 2.11).
        """
        sources = (item for one in self.numbers.values() for item in _converted_tensors(one.value))
        return any(map(_is_created, sources))

    def _is_positive(self, node: ast.expr) -> bool:
        """Tell whether a number is certainly not negative."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float)) and node.value >= 0
        if isinstance(node, ast.Name) and node.id in self.numbers:
            return self._is_positive(self.numbers[node.id].value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult, ast.FloorDiv)):
            return self._is_positive(node.left) and self._is_positive(node.right)
        if not isinstance(node, ast.Call):
            return False
        name, given = called(node), node.args
        if name in ("int", "float", "item"):
            inner = node.func.value if isinstance(node.func, ast.Attribute) else given[0] if given else None
            return inner is not None and self._is_positive(inner)
        if name == "max" and isinstance(node.func, ast.Name):
            return any(map(self._is_positive, given))
        if name == "min" and isinstance(node.func, ast.Name):
            return all(map(self._is_positive, given))
        if name == "randint":
            return len(given) == 2 or (len(given) > 2 and self._is_positive(given[0]))
        return name in ("argmax", "argmin", "count_nonzero", "rand", "len", "size", "numel")

    @property
    def floats(self) -> set[str]:
        """The numbers that are used as real numbers: they are rounded later, or divided."""
        rounded: set[str] = set()
        for statement in self.numbers.values():
            for node in ast.walk(statement.value):
                is_rounding = isinstance(node, ast.Call) and (
                    called(node) in ("int", "round") or dotted(node.func).startswith("math.")
                )
                if is_rounding or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
                    rounded |= names(node)
        return rounded & set(self.numbers)

    def edits(self, trailing: int) -> Iterator[Edit]:
        """Yield the edits; ``trailing`` is the number of dimensions behind those that slices name.

        Raises :class:`_UnsupportedError`.
        """
        edits = [self._assigned(name, statement) for name, statement in self.numbers.items()]
        edits += [self._written(item, trailing) for item in self.writes]
        edits += [self._read(item) for item in self.reads]
        return filter(None, edits)

    # -- numbers ---------------------------------------------------------------------------------------

    def _assigned(self, name: str, statement: ast.Assign) -> Edit | None:
        text = self._as_tensor(statement.value)
        # Small integer types would overflow: `a - 2` of uint8, for instance.
        is_whole = called(statement.value) == "item" and name not in self.floats
        if is_whole and not is_integer(plain(statement.value)):
            text += ".long()"
        return self.code.replaced(statement.value, text) if text != self.code.text(statement.value) else None

    def _as_tensor(self, node: ast.expr) -> str:
        """Return the text of a number as a tensor."""
        inner = dict(self._conversions(node))
        return inner.get(node) or self.code.text(node, inner)

    def _conversions(self, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
        """Yield the outermost calls in a node that convert numbers, with their texts for tensors."""
        text = self._converted(node) if isinstance(node, ast.Call) else ""
        if text:
            yield node, text
            return
        for child in ast.iter_child_nodes(node):
            yield from self._conversions(child)

    def _converted(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
            return self._of_tensor(node.func.value)
        if not node.args or not (self.is_bound(node) or _is_conversion(node)):
            return ""
        name, first = called(node), self._of_tensor(node.args[0])
        if isinstance(node.func, ast.Name) and len(node.args) == 1:
            whole = first if is_integer(plain(node.args[0])) else f"{first}.long()"
            return {"int": whole, "float": first}.get(name, "")
        if dotted(node.func) == f"math.{name}" and name in MATH and len(node.args) == 1:
            return f"{first}.{name}()"
        if isinstance(node.func, ast.Name) and name in _LIMITS and len(node.args) == 2:
            owner, limit = node.args if self.is_bound(node.args[0]) else reversed(node.args)
            if self.is_bound(limit):
                return ""
            return f"{beside(self._as_tensor(owner))}.clamp({_LIMITS[name]}={self.code.argument(limit)})"
        return ""

    def _of_tensor(self, node: ast.expr) -> str:
        """Return a tensor of one element, without dimensions if it is created here."""
        if isinstance(node, ast.Call) and _is_created(node):
            size = node.args[-1]
            return self.code.text(node, {size: "()"})
        return beside(self._as_tensor(node))

    # -- slices ----------------------------------------------------------------------------------------

    def _written(self, node: ast.Subscript, trailing: int) -> Edit:
        code, statement = self.code, self.code.parent(node)
        is_assigned = isinstance(statement, (ast.Assign, ast.AugAssign))
        if not is_assigned or not is_pure(node.value) or self.is_bound(node.value):
            raise _UnsupportedError
        assert isinstance(statement, (ast.Assign, ast.AugAssign))
        if isinstance(statement, ast.Assign) and len(statement.targets) != 1:
            raise _UnsupportedError
        if not code.is_alone(statement):
            raise _UnsupportedError
        into, items = code.operand(node.value), _items(node)
        bounded = [
            (place, item)
            for place, item in enumerate(items)
            if not _is_ellipsis(item) and ast.unparse(item) != ":"
        ]
        taken = names(code.function(statement) or code.tree) | code.module_names
        if len(bounded) > len(_STEMS):
            raise _UnsupportedError
        stems = _STEMS[len(bounded) - 1]
        lines, masks = list[str](), list[str]()
        ellipsis = next((place for place, item in enumerate(items) if _is_ellipsis(item)), None)
        for (place, item), stem in zip(bounded, stems, strict=True):
            is_after = ellipsis is not None and place > ellipsis
            behind = len(items) - place - 1 + (0 if is_after else trailing)
            if ellipsis is not None and not is_after:
                raise _UnsupportedError
            name = unused(stem, lambda wanted: wanted in taken)
            lines.append(
                f"{name} = torch.arange({into}.size({-behind - 1 if is_after else place}), "
                f"device={into}.device)"
            )
            masks.append(self._mask(item, name, into, behind))
        mask = " & ".join(map(beside, masks)) if len(masks) > 1 else masks[0]
        lines.append(self._filled(statement, node, into, mask))
        indent = code.indentation(statement)
        text = code.of_torch(f"\n{indent}".join(lines))
        return code.replaced(statement, text)

    def _bound(self, node: ast.expr, owner: str) -> str:
        """Return the text of a bound of a slice of ``owner``."""
        text = self._as_tensor(node)
        return f"{beside(text)}.to({owner}.device)" if self.is_moved and self.is_bound(node) else text

    def _mask(self, item: ast.expr, name: str, owner: str, behind: int) -> str:
        if not isinstance(item, ast.Slice) or item.step is not None:
            raise _UnsupportedError
        pairs = ((">=", item.lower), ("<", item.upper))
        if any(isinstance(bound, _LOOSE) for _, bound in pairs):
            raise _UnsupportedError
        tests = [f"{name} {sign} {self._bound(bound, owner)}" for sign, bound in pairs if bound is not None]
        mask = " & ".join(f"({test})" for test in tests) if len(tests) > 1 else tests[0]
        if not behind:
            return mask
        ending = ".unsqueeze(-1)" if behind == 1 else f"[:{', None' * behind}]"
        return f"({mask}){ending}"

    def _filled(
        self, statement: ast.Assign | ast.AugAssign, node: ast.Subscript, into: str, mask: str
    ) -> str:
        """Return the statement that writes a value where the mask holds."""
        code, value = self.code, statement.value
        inside = ast.unparse(node.slice)
        same: dict[ast.AST, str] = {
            item: code.operand(item.value)
            for item in nodes_of(ast.Subscript, value)
            if ast.unparse(item.slice) == inside and not self.is_bound(item.value)
        }
        kept = [item for item in nodes_of(ast.Name, value) if item.id in self.numbers]
        if any(not any(item in ast.walk(whole) for whole in same) for item in kept):
            raise _UnsupportedError
        if same and not (is_pure(value) and _is_by_element(value, set(same))):
            raise _UnsupportedError
        text = code.argument(value, same)
        if isinstance(statement, ast.AugAssign):
            sign = SIGNS.get(type(statement.op))
            if sign is None:
                raise _UnsupportedError
            text = f"{into} {sign} {text if isinstance(value, ast.Constant) else beside(text)}"
        elif _is_number_of_python(value) and abs(ast.literal_eval(value)) < _LARGE:
            return f"{into}.masked_fill_({mask}, {text})"
        elif not isinstance(value, (ast.Constant, ast.UnaryOp)) and not _is_of(value, node.value):
            text = f"{beside(text)}.to({into}.dtype)"  # `torch.where` would make integers floats
        return f"{into}.copy_(torch.where({mask}, {text}, {into}))"

    def _read(self, node: ast.Subscript) -> Edit:
        """Return the edit of a slice ``x[:, a : a + size]``."""
        code, items = self.code, _items(node)
        outer = code.parent(node)
        is_changed = isinstance(outer, ast.Attribute) and outer.attr.endswith("_")
        if (
            is_changed
            or not isinstance(node.ctx, ast.Load)
            or not is_pure(node.value)
            or any(item in nodes_of(ast.Subscript, node.value) for item in self.slices)
        ):
            raise _UnsupportedError
        text = owner = code.operand(node.value)
        for place, item in enumerate(items):
            if not self.is_bound(item):
                if not _is_ellipsis(item) and ast.unparse(item) != ":":
                    raise _UnsupportedError
                continue
            start, size = self._range(item, owner)
            is_after = any(map(_is_ellipsis, items[:place]))
            dimension = place - len(items) if is_after else place
            text += f".index_select({dimension}, {start} + torch.arange({size}, device={owner}.device))"
        return code.replaced(node, code.of_torch(text))

    def _range(self, item: ast.expr, owner: str) -> tuple[str, str]:
        """Return the start and the length of a slice whose length depends on no number."""
        if not isinstance(item, ast.Slice) or item.lower is None or item.step is not None:
            raise _UnsupportedError
        start, end = ast.unparse(item.lower), item.upper
        if not isinstance(end, ast.BinOp) or not isinstance(end.op, ast.Add) or self.is_bound(end.right):
            raise _UnsupportedError
        if ast.unparse(end.left) != start:
            raise _UnsupportedError
        return beside(self._bound(item.lower, owner)), self.code.argument(end.right)


def _chain(code: ParsedFile, name: str, node: ast.Call) -> _NumberChain:
    """Return the numbers that depend on a variable or bound the same slices, with these slices."""
    function = code.function(node)
    once = assigned_once(code, function)
    # Each number, with the numbers that it is computed from; empty for one that a tensor is converted to.
    sources: dict[str, set[str]] = {
        key: set() for key, item in once.items() if any(map(_is_conversion, nodes_of(ast.Call, item.value)))
    }
    while True:
        known = set(sources)
        sources |= {
            key: names(item.value) & known
            for key, item in once.items()
            if key not in known and names(item.value) & known and _is_number(item.value, known)
        }
        if len(known) == len(sources):
            break
    every = [
        (item, names(item.slice))
        for item in nodes_of(ast.Subscript, function)
        if any(names(part) & known for part in nodes_of(ast.Slice, item.slice))
    ]
    found, slices = {name}, list[ast.Subscript]()
    while True:
        slices = [item for item, bounds in every if bounds & found]
        more = {key for key, used in sources.items() if used & found}
        more |= {key for item, bounds in every if item in slices for key in bounds & known}
        more |= {used for key in found & known for used in sources[key]}
        if more <= found:
            break
        found |= more
    slices.sort(key=lambda item: (item.lineno, item.col_offset))
    return _NumberChain(code, {key: item for key, item in once.items() if key in found}, tuple(slices))


def _is_number(node: ast.expr, known: set[str]) -> bool:
    """Tell whether an expression computes a number from numbers: it slices and calls nothing else."""
    calls = (*_LIMITS, "int", "float", "round", "abs")
    if isinstance(node, ast.Subscript):
        return False
    for item in ast.walk(node):
        if isinstance(item, ast.Subscript) and names(item.slice) & known:
            return False
        is_other = called(item) not in calls and not dotted(getattr(item, "func", None)).startswith("math.")
        if isinstance(item, ast.Call) and names(item) & known and is_other:
            return False
    return True


def _is_conversion(node: ast.Call) -> bool:
    """Tell whether a call turns a tensor into a Python number, by its name."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr == "item" and not node.args
    inner = node.args[0] if called(node) in ("int", "float") and len(node.args) == 1 else None
    return (
        isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Attribute)
        and (not dotted(inner.func).startswith("math."))
    )


def _converted_tensors(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the tensors that an expression converts to numbers."""
    for item in nodes_of(ast.Call, node):
        if _is_conversion(item):
            yield plain(item.func.value if isinstance(item.func, ast.Attribute) else item.args[0])


def _is_created(node: ast.expr) -> bool:
    """Tell whether a call creates a tensor of one element, on the default device."""
    return called(node) in _CREATING and _is_single(node)


def _is_single(node: ast.expr) -> bool:
    """Tell whether a call creates a tensor of one element, with its size as the last argument."""
    if not isinstance(node, ast.Call) or node.keywords or not node.args:
        return False
    size, is_drawn = ast.unparse(node.args[-1]), called(node) == "randint"
    is_size = size in ("(1,)", "[1]", "()") or (size == "1" and not is_drawn)
    return is_size and (is_drawn or len(node.args) == 1)


def _is_number_of_python(node: ast.AST | None) -> bool:
    is_signed = isinstance(getattr(node, "op", None), (ast.USub, ast.UAdd))
    inner = node.operand if is_signed and isinstance(node, ast.UnaryOp) else node
    is_number = isinstance(inner, ast.Constant) and isinstance(inner.value, (int, float))
    return is_number and not (is_signed and isinstance(getattr(inner, "value", None), bool))


def _is_by_element(node: ast.expr, slices: set[ast.AST]) -> bool:
    """Tell whether only operators stand between an expression and the slices in it."""
    if node in slices or not slices & set(ast.walk(node)):
        return True
    if isinstance(node, ast.BinOp):
        return _is_by_element(node.left, slices) and _is_by_element(node.right, slices)
    return isinstance(node, ast.UnaryOp) and _is_by_element(node.operand, slices)


def _is_of(node: ast.expr, owner: ast.expr) -> bool:
    """Tell whether an expression only selects from a tensor, so that it has its dtype."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.unparse(node) == ast.unparse(owner)


def _items(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _counts_from_left(node: ast.Subscript) -> bool:
    return not any(map(_is_ellipsis, _items(node)))
