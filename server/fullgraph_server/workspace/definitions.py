"""Definitions of names in functions: parameters, outer variables, attributes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from .names import stored
from .positions import Span
from .ranges import header_span, node_span
from .source import SourceFile
from .syntax import AnyFunction, called, covers, nodes_of, parameters, positional

_Scope: TypeAlias = AnyFunction | ast.ClassDef | ast.Module
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_REGISTER = ("register_buffer", "register_parameter", "register_module", "add_module")
"""Methods of ``torch.nn.Module`` that set the attribute that their first argument names."""


@dataclass(frozen=True, eq=False)
class NameDefinition:
    """The place where a name gets its value.

    ``called`` are the names of the functions that are called to compute the value.
    """

    span: Span
    called: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def definitions(source: SourceFile) -> ScopeDefinitions:
    """Return the scopes of a source, with the names that they define."""
    around: dict[_Scope, _Scope] = {}
    if source.tree is not None:
        _nest(source.tree, source.tree, around)
    return ScopeDefinitions(source, around)


class ScopeDefinitions:
    """The scopes of one source, and the names that they define."""

    def __init__(self, source: SourceFile, around: Mapping[_Scope, _Scope]) -> None:
        self._source = source
        self._around = around
        self._functions = {
            (scope.lineno, _name(scope)): scope for scope in around if isinstance(scope, _FUNCTIONS)
        }
        self._cache: dict[tuple[_Scope, str], NameDefinition | None] = {}
        """The definitions found so far, by scope and name: thousands of guards refer to the same values."""
        self.classes = {scope.name: scope for scope in around if isinstance(scope, ast.ClassDef)}

    def function(self, row: int, name: str) -> AnyFunction | None:
        """Return the function ``name`` whose ``def`` is at ``row``; ``None`` if none."""
        return self._functions.get((row, name))

    def function_at(self, row: int) -> AnyFunction | None:
        """Return the innermost function around a row; ``None`` if there is none."""
        functions = [scope for scope in self._functions.values() if covers(scope, row)]
        return max(functions, key=lambda scope: scope.lineno, default=None)

    def qualname(self, row: int, name: str) -> str:
        """Return the qualified name (``Block.forward``) of the function at a ``def`` row."""
        scope: _Scope | None = self.function(row, name)
        while scope is not None and isinstance(cls := self._around.get(scope), ast.ClassDef):
            scope, name = cls, f"{cls.name}.{name}"
        return name

    def class_of(self, function: AnyFunction) -> ast.ClassDef | None:
        """Return the class of a method; ``None`` for any other function."""
        outer = self._around.get(function)
        return outer if isinstance(outer, ast.ClassDef) else None

    def maker(self, function: AnyFunction) -> ast.FunctionDef | None:
        """Return the function that directly encloses a function, or ``None``."""
        outer = self._around.get(function)
        return outer if isinstance(outer, ast.FunctionDef) else None

    def parameter(self, function: AnyFunction, name: str) -> NameDefinition | None:
        """Return the definition of a parameter."""
        parameter = next((node for node in parameters(function) if node.arg == name), None)
        return NameDefinition(node_span(self._source, parameter)) if parameter else None

    def outer_variable(self, function: AnyFunction, name: str) -> NameDefinition | None:
        """Return the definition of a variable of an enclosing function."""
        scope = self._around.get(function)
        while scope is not None and not isinstance(scope, ast.Module):
            if isinstance(scope, _FUNCTIONS):
                definition = self.parameter(scope, name) or self._variable(scope, name)
                if definition is not None:
                    return definition
            scope = self._around.get(scope)
        return None

    def global_variable(self, name: str) -> NameDefinition | None:
        """Return the definition of a global name of the module."""
        return self._variable(self._source.tree, name) if self._source.tree else None

    def attribute(self, cls: ast.ClassDef, name: str) -> NameDefinition | None:
        """Return the definition of an attribute; ``None`` if there is none.

        The definition is in the class body, or in a method that sets or registers the attribute.
        """
        if (cls, name) not in self._cache:
            self._cache[cls, name] = self._attribute(cls, name)
        return self._cache[cls, name]

    def _attribute(self, cls: ast.ClassDef, name: str) -> NameDefinition | None:
        for method in cls.body:
            own = self_name(method)
            for node in nodes_of_scope(method, functions=True) if own else ():
                for target, written, _ in stored(node) if isinstance(node, ast.stmt) else ():
                    if written == name and _is_attribute_of(target, own):
                        return NameDefinition(node_span(self._source, target), _called(_value(node, target)))
                if isinstance(node, ast.Call) and _registers(node, name):
                    return NameDefinition(node_span(self._source, node), _called(node))
        return self._stored(cls, name)

    def _variable(self, scope: AnyFunction | ast.Module, name: str) -> NameDefinition | None:
        if (scope, name) not in self._cache:
            self._cache[scope, name] = self._stored(scope, name)
        return self._cache[scope, name]

    def _stored(self, scope: _Scope, name: str) -> NameDefinition | None:
        for node in nodes_of_scope(scope):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
                return NameDefinition(header_span(self._source, node))
            if isinstance(node, (ast.Import, ast.ImportFrom)) and name in map(_bound, node.names):
                return NameDefinition(node_span(self._source, node))
            for target, written, _ in stored(node) if isinstance(node, ast.stmt) else ():
                if written == name and isinstance(target, ast.Name):
                    return NameDefinition(node_span(self._source, target), _called(_value(node, target)))
        return None


def _nest(node: ast.AST, scope: _Scope, around: dict[_Scope, _Scope]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            around[child] = scope
            _nest(child, child, around)
        else:
            _nest(child, scope, around)


def _name(function: AnyFunction) -> str:
    return "<lambda>" if isinstance(function, ast.Lambda) else function.name


def self_name(method: ast.AST) -> str:
    """Return the name of a method's first parameter (``self``); "" if it has none."""
    own = positional(method) if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    return own[0].arg if own else ""


def called_attributes(cls: ast.ClassDef) -> frozenset[str]:
    """Return the attributes that methods of a class call: ``net`` of ``self.net(x)``."""
    calls = (
        (node.func, self_name(method))
        for method in cls.body
        for node in nodes_of(ast.Call, method)
        if isinstance(node.func, ast.Attribute)
    )
    return frozenset(called.attr for called, own in calls if own and _is_attribute_of(called, own))


def held_attributes(source: SourceFile) -> frozenset[str]:
    """Return the names of attributes that a file reads as values.

    Reads that only call the attribute, or access an attribute of the attribute, do not count.
    """
    nodes = list(ast.walk(source.tree)) if source.tree else []
    expected = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    expected |= {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    read = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load))
    return frozenset(node.attr for node in read if id(node) not in expected)


def nodes_of_scope(node: ast.AST, *, functions: bool = False) -> Iterator[ast.AST]:
    """Yield a scope's nodes in text order; with ``functions``, also inner functions'."""
    for child in ast.iter_child_nodes(node):
        yield child
        inner = isinstance(child, (*_FUNCTIONS, ast.ClassDef))
        if not inner or (functions and not isinstance(child, ast.ClassDef)):
            yield from nodes_of_scope(child, functions=functions)


def _bound(alias: ast.alias) -> str:
    """Return the name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def _value(statement: ast.AST, target: ast.expr) -> ast.expr | None:
    """Return the value that a statement assigns to a target, or ``None``."""
    if isinstance(statement, ast.Assign):
        return statement.value if target in statement.targets else None
    return statement.value if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) else None


def _is_attribute_of(node: ast.expr, owner: str) -> bool:
    holder = node.value if isinstance(node, ast.Attribute) else None
    return isinstance(holder, ast.Name) and holder.id == owner


def _called(value: ast.expr | None) -> frozenset[str]:
    return frozenset(map(called, nodes_of(ast.Call, value)))


def _registers(node: ast.Call, name: str) -> bool:
    first = node.args[0] if node.args else None
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in _REGISTER
        and isinstance(first, ast.Constant)
        and first.value == name
    )
