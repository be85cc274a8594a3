"""Calls that construct objects of a file's classes, for use in example calls."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

from .definitions import definitions
from .examples import named_definitions, statements
from .names import stored
from .source import SourceFile
from .syntax import callee, last_name, nodes_of

_RECORDS = ("dataclass", "NamedTuple", "namedtuple")
"""Decorators, base classes and functions that create a class whose constructor takes the class's fields."""
_WITHOUT_ARGUMENTS = ("Module", "object", "ABC")
"""Base classes whose constructors need no arguments."""
_PLAIN_CALLS = ("dict", "list", "tuple", "range", "device")


def construction(source: SourceFile, qualname: str, programs: Iterable[SourceFile]) -> ast.expr:
    """Return a call that constructs a class of ``source``, for use in that module.

    The arguments come from a call in one of ``programs`` or in ``source`` itself. Without such a call, there
    are no arguments if the class needs none; otherwise the only argument is ``...``, for the user to
    complete.
    """
    cls = ast.parse(qualname, mode="eval").body
    for program in dict.fromkeys((*programs, source)):
        for call in _calls_of(program, source, qualname):
            values = _ArgumentCopier(program, call.lineno, source)
            arguments = [values.copy(argument) for argument in call.args]
            keywords = [ast.keyword(item.arg, values.copy(item.value)) for item in call.keywords]
            if values.usable:
                return ast.Call(cls, arguments, keywords)
    complete = _needs_no_arguments(source, qualname.rpartition(".")[2])
    return ast.Call(cls, [] if complete else [ast.Constant(...)], [])


def record_fields(source: SourceFile, name: str) -> list[tuple[str, bool]] | None:
    """Return the fields of a dataclass or named tuple, and whether each has a default.

    Return ``None`` for any other class, and an empty list for a class that a call creates
    (``namedtuple(...)``).
    """
    cls = definitions(source).classes.get(name)
    if cls is None:
        variable = definitions(source).global_variable(name)
        return [] if variable is not None and variable.called.intersection(_RECORDS) else None
    marks = (callee(node) for node in (*cls.decorator_list, *cls.bases))
    if not any(last_name(node) in _RECORDS for node in marks):
        return None
    fields = (node for node in cls.body if isinstance(node, ast.AnnAssign))
    return [(node.target.id, node.value is not None) for node in fields if isinstance(node.target, ast.Name)]


def _needs_no_arguments(source: SourceFile, name: str) -> bool:
    """Tell whether the source shows that a class needs no arguments."""
    classes, seen = definitions(source).classes, set[str]()
    while name not in seen and (cls := classes.get(name)) is not None:
        seen.add(name)
        own = (node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
        if (constructor := next(own, None)) is not None:
            parameters = constructor.args
            needed = len(parameters.posonlyargs) + len(parameters.args) - len(parameters.defaults)
            return needed <= 1 and None not in parameters.kw_defaults
        if not cls.bases:
            return True
        name = last_name(cls.bases[0])
    return name in _WITHOUT_ARGUMENTS


def _calls_of(program: SourceFile, source: SourceFile, qualname: str) -> Iterator[ast.Call]:
    """Yield the calls of a class by its name, or as an attribute of its module.

    Attributes of other objects may be other classes: ``nn.Linear`` need not be the ``Linear`` of this source.
    """
    whole = f".{Path(source.filename).stem}.{qualname}"
    for call in _calls(program).get(qualname.rpartition(".")[2], ()):
        written = ast.unparse(call.func)
        if written == qualname or f".{written}".endswith(whole):
            yield call


@lru_cache(maxsize=256)
def _calls(source: SourceFile) -> Mapping[str, list[ast.Call]]:
    calls: dict[str, list[ast.Call]] = {}
    for node in nodes_of(ast.Call, source.tree):
        calls.setdefault(last_name(node.func), []).append(node)
    return calls


def _variables(nodes: Iterable[ast.AST]) -> dict[str, ast.expr | None]:
    """Map assigned variables to their values; to ``None`` if assigned several times."""
    values: dict[str, ast.expr | None] = {}
    for statement in nodes:
        if isinstance(statement, ast.stmt):
            for target, name, _ in stored(statement):
                if isinstance(target, ast.Name):
                    values[name] = None if name in values else _value(statement, target)
    return values


def _value(statement: ast.stmt, target: ast.expr) -> ast.expr | None:
    if isinstance(statement, ast.Assign):
        return statement.value if statement.targets == [target] else None
    return statement.value if isinstance(statement, ast.AnnAssign) else None


def _local_variables(program: SourceFile, row: int) -> dict[str, ast.expr | None]:
    """Return the values of the variables in the function around a row.

    The value of a parameter is ``None``.
    """
    function = definitions(program).function_at(row)
    if function is None:
        return {}
    nodes = list(ast.walk(function))
    return _variables(nodes) | {node.arg: None for node in nodes if isinstance(node, ast.arg)}


@lru_cache(maxsize=256)
def _module_variables(program: SourceFile) -> Mapping[str, ast.expr | None]:
    """Return the module's variables, also those under ``if __name__ == "__main__"``."""
    return _variables(_outside(program.tree) if program.tree else ())


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            yield child
            yield from _outside(child)


@lru_cache(maxsize=256)
def _imported_names(source: SourceFile) -> frozenset[str]:
    """Return the names that a module has after it is imported."""
    names = {name for name, _ in named_definitions(source)}
    for statement in statements(source.tree.body if source.tree else []):
        names.update(name for target, name, _ in stored(statement) if isinstance(target, ast.Name))
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            names.update(item.asname or item.name.partition(".")[0] for item in statement.names)
    return frozenset(names)


class _ArgumentCopier(ast.NodeTransformer):
    """A copier of a program's arguments into another module.

    ``usable`` says whether the copied arguments mean the same there.
    """

    def __init__(self, program: SourceFile, row: int, module: SourceFile) -> None:
        self._local = _local_variables(program, row)
        self._names = _imported_names(module)
        self._global = dict(_module_variables(program))
        if program is module:
            for name in self._names:
                self._global.pop(name, None)  # the module defines this name itself
        self._within: list[str] = []
        self.usable = True

    def copy(self, argument: ast.expr) -> ast.expr:
        """Copy an argument, with its variables replaced by their values."""
        copied: ast.expr = self.visit(deepcopy(argument))
        return copied

    def visit_Call(self, node: ast.Call) -> ast.AST:
        # Any other function may have side effects: parse arguments, load data.
        name = last_name(node.func)
        self.usable = self.usable and (name[:1].isupper() or name in _PLAIN_CALLS)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        variables = self._local if node.id in self._local else self._global
        if node.id not in variables and (node.id in self._names or hasattr(builtins, node.id)):
            return node
        value = variables.get(node.id)
        if value is None or node.id in self._within:
            self.usable = False
            return node
        self._within.append(node.id)
        copied = self.copy(value)
        self._within.pop()
        return copied

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.Lambda, ast.comprehension, ast.NamedExpr, ast.Await)):
            self.usable = False  # the expression binds its own variables
        return super().generic_visit(node)
