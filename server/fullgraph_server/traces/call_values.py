"""Arguments of a call from a trace: tensors, numbers, constants, containers.

A trace contains each value that a frame used, under torch's expression for the value: ``L['x'][0]``,
``L['config'].scale``. The compilation does not depend on any other value.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from typing import TypeAlias

from fullgraph_compiler.facts import FrameInputs, GuardInstalled, InputTensor
from fullgraph_compiler.facts.dtypes import DTYPES
from fullgraph_compiler.trace.decoding import parse_expression

Fields: TypeAlias = Callable[[str], list[tuple[str, bool]] | None]
"""A function from the name of a class to its fields: pairs of a name and whether the field has a default.

The function returns ``None`` for a class whose constructor does not take its attributes by keyword.
"""

_Step: TypeAlias = tuple[str, str | int]
"""A step from a value to a part of it: ``[]`` and a key, or ``.`` and an attribute."""

_TYPE = "type "
"""The prefix of the expected value of a guard on a type."""
_LENGTH = "length "
"""The prefix of the expected value of a guard on a length."""
_CONSTANTS = frozenset(
    ("EQUALS_MATCH", "CONSTANT_MATCH", "NONE_MATCH", "TRUE_MATCH", "FALSE_MATCH", "BOOL_MATCH")
)
_ALIASES = ("OBJECT_ALIASING", "LAMBDA_GUARD")
_TELLING = frozenset((*_CONSTANTS, "TYPE_MATCH", "LENGTH_CHECK", "SEQUENCE_LENGTH", "DICT_LENGTH"))
"""The kinds of guards that show a constant, or the type or the length of a value."""
_NAMED_CONSTANT = re.compile(r"torch\.\w+")
_LONGEST = 500
"""The limit on characters of a constant or an expression, and on elements of a sequence."""
_DEEPEST = 20


@dataclass
class CallValue:
    """What a trace shows of a value; ``type`` is the type's name in guards.

    Several names can share one value.
    """

    constant: ast.expr | None = None
    tensor: InputTensor | None = None
    type: str = ""
    length: int | None = None
    parts: dict[_Step, CallValue] = field(default_factory=dict)
    name: str = ""
    """The variable for the value in an example call, if the call uses the value twice."""


def read_values(inputs: Iterable[FrameInputs], guards: Iterable[GuardInstalled]) -> dict[str, CallValue]:
    """Collect the local variables of a frame at its start.

    If several inputs or guards describe a value, the first one counts.
    """
    root = CallValue()
    same: list[tuple[Sequence[_Step], Sequence[_Step]]] = []
    for frame in inputs:
        for tensor in frame.tensors:
            value = _at(root, _path(tensor.source))
            if value is not None:
                value.tensor = value.tensor or tensor
        for source, number in frame.numbers:
            value = _at(root, _path(source))
            if value is not None:
                value.constant = value.constant or _constant(repr(number))
    for guard in guards:
        if guard.kind in _ALIASES and (pair := _same(guard)):
            same.append(pair)
        elif guard.kind in _TELLING and (value := _at(root, _path(guard.source))) is not None:
            _read_guard(value, guard)
    for one, other in same:
        _join(root, one, other)
    return {str(name): value for (_, name), value in root.parts.items()}


def _read_guard(value: CallValue, guard: GuardInstalled) -> None:
    if guard.kind in _CONSTANTS:
        value.constant = value.constant or _constant(guard.expected.removeprefix("is "))
    elif guard.expected.startswith(_TYPE):
        value.type = value.type or guard.expected.removeprefix(_TYPE)
    elif guard.expected.startswith(_LENGTH) and guard.expected[len(_LENGTH) :].isdecimal():
        value.length = int(guard.expected[len(_LENGTH) :])


def _constant(text: str) -> ast.expr | None:
    """Parse the constant of a guard.

    Return ``None`` if ``text`` is neither a literal nor ``torch.NAME``.
    """
    if len(text) > _LONGEST:
        return None
    tree = parse_expression(text)
    if tree is None or _NAMED_CONSTANT.fullmatch(text):
        return tree
    try:
        ast.literal_eval(tree)
    except (ValueError, TypeError):
        return None
    return tree


# -- places ------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _path(source: str) -> Sequence[_Step]:
    """Return the steps from the local variables to an expression's value.

    Return no steps for an expression that does not lead from a local variable to an argument.
    """
    # Modules have thousands of parts, none of which is an argument.
    if not source.startswith("L[") or source.startswith("L['self'].") or len(source) > _LONGEST:
        return ()
    tree = parse_expression(source)
    return () if tree is None else _steps(tree)


def _steps(node: ast.expr) -> Sequence[_Step]:
    steps: list[_Step] = []
    while not isinstance(node, ast.Name):
        if len(steps) > _DEEPEST:
            return ()
        if isinstance(node, ast.Attribute):
            steps.append((".", node.attr))
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            key = node.slice.value
            if not isinstance(key, (str, int)):
                return ()
            steps.append(("[]", key))
        else:
            return ()
        node = node.value
    return steps[::-1]


def _at(root: CallValue, path: Sequence[_Step]) -> CallValue | None:
    if not path:
        return None
    value = root
    for step in path:
        value = value.parts.setdefault(step, CallValue())
    return value


def _same(guard: GuardInstalled) -> tuple[Sequence[_Step], Sequence[_Step]] | None:
    """Return the paths of two values that a guard requires to be the same object.

    An example of such a guard is ``L['b'] is L['a']``. Return ``None`` for other guards.
    """
    one, word, other = guard.code.partition(" is ")
    paths = _path(one), _path(other)
    return paths if word and all(paths) else None


def _join(root: CallValue, one: Sequence[_Step], other: Sequence[_Step]) -> None:
    values = [value for path in (one, other) if (value := _at(root, path)) is not None]
    shared = next((value for value in values if value.tensor or value.constant or value.parts), None)
    name = str(other[0][1])
    if shared is None or shared.constant or not name.isidentifier() or "self" in (one[0][1], name):
        return
    shared.name = shared.name or name
    for path in (one, other):
        holder = _at(root, path[:-1]) or root
        holder.parts[path[-1]] = shared


# -- expressions -------------------------------------------------------------------------------


class ValueWriter:
    """A writer of expressions that build values; unknown parts become ``...``."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._names: dict[int, str] = {}

    def expression(self, value: CallValue, name: str = "") -> ast.expr:
        """Return an expression that builds a value.

        The expression also assigns a value that the call needs again to ``name``.
        """
        if not value.name:
            return self._made(value)
        if id(value) in self._names:
            return ast.Name(self._names[id(value)])
        self._names[id(value)] = name or value.name
        return ast.NamedExpr(ast.Name(name or value.name), self._made(value))

    def _made(self, value: CallValue) -> ast.expr:
        if value.tensor:
            return _tensor(value.tensor)
        if value.constant:
            return value.constant
        kind = value.type
        if not kind and value.parts:
            keys = [key for step, key in value.parts if step == "[]"]
            kind = "" if len(keys) < len(value.parts) else "list" if 0 in keys else "dict"
        if kind == "dict":
            items = [(key, part) for (step, key), part in value.parts.items() if step == "[]"]
            return ast.Dict(
                [ast.Constant(key) for key, _ in items], [self.expression(part) for _, part in items]
            )
        if kind in ("list", "tuple"):
            elements = self.elements(value)
            return ast.List(elements) if kind == "list" else ast.Tuple(elements)
        return self._record(value, kind.rpartition(".")[2])

    def elements(self, value: CallValue) -> list[ast.expr]:
        """Return expressions for the elements of a sequence.

        The expression is ``None`` for an element that is missing in the trace.
        """
        indices = [key for step, key in value.parts if step == "[]" and isinstance(key, int)]
        length = value.length if value.length is not None else max(indices, default=-1) + 1
        if length > _LONGEST:
            return [ast.Constant(...)]
        parts = (value.parts.get(("[]", index)) for index in range(length))
        return [self.expression(part) if part else ast.Constant(None) for part in parts]

    def _record(self, value: CallValue, name: str) -> ast.expr:
        fields = self._fields(name) if name else None
        if fields is None:
            return ast.Constant(...)
        given = {str(key): part for (step, key), part in value.parts.items() if step == "."}
        names = dict.fromkeys((*(name for name, optional in fields if not optional), *given))
        keywords = [
            ast.keyword(key, self.expression(given[key]) if key in given else ast.Constant(None))
            for key in names
        ]
        return ast.Call(ast.Name(name), [], keywords)


def _tensor(tensor: InputTensor) -> ast.expr:
    if tensor.dtype not in DTYPES:
        return ast.Constant(...)
    # An expanded dimension is stored once.
    strides = zip_longest(tensor.size, tensor.stride[: len(tensor.size)], fillvalue=1)
    stored = [1 if stride == 0 else size for size, stride in strides]
    order = _order(stored, tensor.stride)
    sizes: list[ast.expr] = [ast.Constant(stored[dimension]) for dimension in order]
    made: ast.expr = ast.Subscript(ast.Name(tensor.dtype), sizes[0] if len(sizes) == 1 else ast.Tuple(sizes))
    if order == [1, 0]:
        made = _method(made, "t")
    elif order != sorted(order):
        made = _method(made, "permute", *(order.index(dimension) for dimension in range(len(order))))
    if tuple(stored) != tensor.size:
        made = _method(made, "expand", *tensor.size)
    if tensor.is_parameter:
        keywords = [] if tensor.requires_grad else [ast.keyword("requires_grad", ast.Constant(False))]
        return ast.Call(parsed("torch.nn.Parameter"), [made], keywords)
    return _method(made, "requires_grad_") if tensor.requires_grad else made


def _order(size: Sequence[int], stride: Sequence[int]) -> list[int]:
    """Return a tensor's dimensions in memory order, the outermost first.

    Return them in their original order if the tensor is not dense.
    """
    order = list(range(len(size)))
    if len(stride) != len(order) or 0 in size:
        return order
    # The stride of a dimension of size 1 does not matter.
    moved = [dimension for dimension in order if size[dimension] > 1]
    by_stride = iter(sorted(moved, key=lambda dimension: -stride[dimension]))
    stored = [next(by_stride) if size[dimension] > 1 else dimension for dimension in order]
    step = 1
    for dimension in reversed(stored):
        if size[dimension] > 1 and stride[dimension] != step:
            return order
        step *= size[dimension]
    return stored


def _method(value: ast.expr, name: str, *arguments: int) -> ast.expr:
    return ast.Call(ast.Attribute(value, name), [ast.Constant(item) for item in arguments], [])


def parsed(expression: str) -> ast.expr:
    """Return the syntax tree of an expression."""
    return ast.parse(expression, mode="eval").body
