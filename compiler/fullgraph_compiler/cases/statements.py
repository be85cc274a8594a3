"""Find what top-level statements define, need, and change in torch.

The analysis is static: nothing is imported and nothing runs. So effects on names that are computed at run
time are not found.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

TORCH = "torch::"
"""The name of a pseudo operator that stands for torch as a whole."""

_REGISTERS = re.compile(r"register|define$|impl|custom_op$|triton_op$|load_library$")
_SETS = re.compile(r"(set|use|enable|disable)_")
"""Functions of torch whose call changes torch; as decorators, only during the decorated call."""
_ABOUT_ARGUMENT = re.compile(
    r"((dis)?allow_in_graph|nonstrict_trace|wrap|register_(backend|pytree_node|dataclass|constant))$"
)
"""Functions that register a user's object with torch. A call is needed only if this object is needed."""
_CHANGES_CONTAINER = re.compile(r"(update|setdefault|pop|clear|append|extend|insert|remove|add)$")
NAMESPACES_OF_TORCH = frozenset(
    {"torch", "aten", "prims", "prim", "quantized", "higher_order", "inductor", "_c10d_functional"}
)
_OPERATOR = re.compile(r"(\w+)::(\w+)")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_HARMLESS = (*_FUNCTION, ast.Import, ast.ImportFrom, ast.Pass, ast.Global)


@dataclass(frozen=True, slots=True)
class ImportBinding:
    """One name that an import binds.

    ``name`` is empty for ``import module`` and ``*`` for ``from module import *``.
    """

    module: str
    name: str
    bound: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class ModuleStatement:
    """One top-level statement.

    An import of several names is split into several statements. Names are plain or dotted as in the source
    (``helper``, ``ops.helper``), or operators (``mylib::op``). ``completes`` are the names to which the
    statement adds something that they need, for example a kernel or an attribute.
    """

    text: str
    binds: frozenset[str] = frozenset()
    refers: frozenset[str] = frozenset()
    completes: frozenset[str] = frozenset()
    imports: ImportBinding | None = None


def read_statements(files: Mapping[str, str]) -> dict[str, list[ModuleStatement]]:
    """Return the statements of each file, without ``__name__ == "__main__"`` blocks.

    Files with syntax errors are left out.
    """
    trees: dict[str, ast.Module] = {}
    for filename, text in files.items():
        try:
            trees[filename] = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
    libraries = {name: space for tree in trees.values() for name, space in _libraries(tree)}
    statements = {}
    for filename, tree in trees.items():
        reader = _StatementReader(tree, files[filename], libraries)
        statements[filename] = [statement for node in tree.body for statement in reader.read(node)]
    return statements


class _StatementReader:
    def __init__(self, tree: ast.Module, text: str, libraries: Mapping[str, str]) -> None:
        self._lines = [line.encode() for line in text.splitlines()]
        self._libraries = libraries
        self._of_torch = _names_of_torch(tree)
        self._done_by: dict[str, set[str]] = {}
        self._done_by_call: dict[str, set[str]] = {}
        for node in [node for node in tree.body if isinstance(node, _FUNCTION)]:
            effects = [self._direct_effects(item) for item in ast.walk(node) if item is not node]
            self._done_by[node.name] = set().union(*effects)
            if all(self._direct_effects(item) or _is_harmless(item) for item in node.body):
                self._done_by_call[node.name] = self._done_by[node.name]

    def read(self, node: ast.stmt) -> Iterator[ModuleStatement]:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _read_import(node)
        elif not _is_main_guard(node):
            text = self._source(node)
            binds, refers = _names(text)
            refers |= _names_in_annotations(node) | _dotted_names(node) | set(self._operators(node))
            yield ModuleStatement(text, frozenset(binds), frozenset(refers), frozenset(self._effects(node)))

    def _source(self, node: ast.stmt) -> str:
        """Return the text of a statement with its decorators, without a trailing comment."""
        first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
        last = node.end_lineno or node.lineno
        lines = self._lines[first - 1 : last]
        lines[-1] = lines[-1][: node.end_col_offset]
        if first == node.lineno:
            lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode()

    def _effects(self, node: ast.stmt) -> set[str]:
        """Return the names, operators or ``TORCH`` that a statement changes or extends.

        The effects of a compound statement are ignored if its block also calls functions without effects:
        such a block is ordinary work of the program.
        """
        if not isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            return self._direct_effects(node)
        inner = [*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
        if any(isinstance(item, ast.Expr) and not self._effects(item) for item in inner):
            return set()
        return set().union(*(self._effects(item) for item in inner))

    def _direct_effects(self, node: ast.AST) -> set[str]:
        effects = set()
        if isinstance(node, (*_FUNCTION, ast.ClassDef)):
            for decorator in node.decorator_list:
                effects |= self._effect_of_call(decorator, _REGISTERS, self._done_by)
        elif isinstance(node, ast.Expr):
            verbs = re.compile(f"{_REGISTERS.pattern}|{_SETS.pattern}|{_CHANGES_CONTAINER.pattern}")
            effects |= self._effect_of_call(node.value, verbs, self._done_by_call)
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
            for item in ast.walk(node):
                if isinstance(item, (ast.Attribute, ast.Subscript)) and not isinstance(item.ctx, ast.Load):
                    effects |= self._effect_on(item)
            if isinstance(getattr(node, "value", None), ast.Call):
                effects |= self._effect_of_call(node.value, _REGISTERS, {})  # type: ignore[union-attr, arg-type]
        return effects

    def _effect_on(self, target: ast.expr) -> set[str]:
        path = self._path(target)
        if path.partition(".")[0] != "torch":
            return {path.partition(".")[0]} - {""}
        return self._of_operators(target)

    def _effect_of_call(
        self, node: ast.expr, verbs: re.Pattern[str], done_by: Mapping[str, set[str]]
    ) -> set[str]:
        path = self._path(node)
        root, _, name = path.partition(".")[0], *path.rpartition(".")[1:]
        if root == "torch" and _ABOUT_ARGUMENT.match(name):
            return set(_arguments(node))
        if root == "torch" or root in self._libraries:
            return self._of_operators(node) if verbs.match(name) else set()
        if root == "setattr" and isinstance(node, ast.Call) and node.args:
            return self._effect_on(node.args[0])
        # A method may change its object: ``op.register_fake``, ``model.half()``.
        return set(done_by.get(root, ())) if path == root else {root} - {""}

    def _of_operators(self, node: ast.expr) -> set[str]:
        """Return the user's operators that a node names, and ``TORCH`` for those of torch.

        If the node names no operator, the result is ``TORCH``.
        """
        return set(self._operators(node)) or {TORCH}

    def _operators(self, node: ast.AST) -> Iterator[str]:
        for operator in self._all_operators(node):
            yield TORCH if operator.partition("::")[0] in NAMESPACES_OF_TORCH else operator

    def _all_operators(self, node: ast.AST) -> Iterator[str]:
        """Yield the operators that a node names.

        The forms are ``torch.ops.mylib.op``, ``"mylib::op"`` and ``library.define("op()")``.
        """
        for item in ast.walk(node):
            if isinstance(item, ast.Attribute):
                parts = self._path(item).split(".")
                if parts[:2] == ["torch", "ops"] and len(parts) == 4:
                    yield "::".join(parts[2:])
            elif isinstance(item, ast.Constant) and isinstance(item.value, str):
                if match := _OPERATOR.match(item.value):
                    yield match[0]
            elif isinstance(item, ast.Call):
                yield from self._operators_of_library(item)

    def _operators_of_library(self, call: ast.Call) -> Iterator[str]:
        names = [self._path(call.func).partition(".")[0], *(self._path(item) for item in call.args)]
        spaces = [self._libraries[name] for name in names if name in self._libraries]
        texts = [item.value for item in call.args if isinstance(item, ast.Constant)]
        if spaces and texts and isinstance(texts[0], str) and "::" not in texts[0]:
            yield f"{spaces[0]}::{re.split('[.(]', texts[0])[0]}"

    def _path(self, node: ast.AST) -> str:
        """Return the dotted name of an expression (see the function :func:`_path`).

        A name that refers to torch is replaced by the full name in torch.
        """
        path = _path(node)
        root, dot, rest = path.partition(".")
        return f"{self._of_torch.get(root, root)}{dot}{rest}"


def _path(node: ast.AST) -> str:
    """Return ``a.b`` for ``a.b``, ``a.b[c]``, ``a.b(c)`` and ``a.b(c)(d)``.

    Empty for ``a().b``.
    """
    if isinstance(node, ast.Call):
        return _path(node.func)
    if isinstance(node, ast.Subscript):
        return _path(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and not isinstance(node.value, ast.Call):
        path = _path(node.value)
        return f"{path}.{node.attr}" if path else ""
    return ""


def _names_of_torch(tree: ast.Module) -> dict[str, str]:
    """Return the full names in torch of the names by which a file refers to torch."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for item in _imports(node):
                full = ".".join(filter(None, (item.module, item.name)))
                if not item.level and full.partition(".")[0] == "torch":
                    names[item.bound.partition(".")[0]] = full if "." not in item.bound else "torch"
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Attribute, ast.Name)):
            root, dot, rest = _path(node.value).partition(".")
            if root in names:
                full = f"{names[root]}{dot}{rest}"
                names.update((item.id, full) for item in node.targets if isinstance(item, ast.Name))
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            # ``for table in (lowerings, decompositions):``
            looped = node.iter.elts if isinstance(node.iter, (ast.Tuple, ast.List)) else [node.iter]
            if all(_path(item).partition(".")[0] in names for item in looped):
                names[node.target.id] = "torch"
    return names


def _libraries(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each variable that holds a ``torch.library.Library``, and its namespace."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            first = next(iter(node.value.args), None)
            if _path(node.value).rpartition(".")[2] == "Library" and isinstance(first, ast.Constant):
                yield from ((_path(target), str(first.value)) for target in node.targets)


def _read_import(node: ast.Import | ast.ImportFrom) -> Iterator[ModuleStatement]:
    for item in _imports(node):
        as_name = f" as {item.bound}" if item.bound not in (item.name, item.module, "*") else ""
        source = f"from {'.' * item.level}{item.module} " if isinstance(node, ast.ImportFrom) else ""
        text = f"{source}import {item.name or item.module}{as_name}"
        yield ModuleStatement(text, frozenset({item.bound}), imports=item)


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[ImportBinding]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield ImportBinding(node.module or "", alias.name, alias.asname or alias.name, node.level)
        else:
            yield ImportBinding(alias.name, "", alias.asname or alias.name)


def _is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and any(_path(item) == "__name__" for item in ast.walk(node.test))


def _is_harmless(node: ast.stmt) -> bool:
    return isinstance(node, _HARMLESS) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _arguments(node: ast.expr) -> Iterator[str]:
    """Yield the variables and strings among the arguments of a call."""
    if isinstance(node, ast.Call):
        for item in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if isinstance(item, ast.Name):
                yield item.id
            elif isinstance(item, ast.Constant) and isinstance(item.value, str):
                yield item.value


def _names(text: str) -> tuple[set[str], set[str]]:
    """Return the global names that a statement binds, and those that it reads."""
    table = symtable.symtable(text, "<statement>", "exec")
    binds = {item.get_name() for item in table.get_symbols() if item.is_assigned() or item.is_imported()}
    refers = {item.get_name() for item in table.get_symbols() if item.is_referenced()}
    for inner in _tables(table.get_children()):
        refers |= {item.get_name() for item in inner.get_symbols() if item.is_global()}
    return binds - {"_"}, refers


def _tables(tables: Iterable[symtable.SymbolTable]) -> Iterator[symtable.SymbolTable]:
    for table in tables:
        yield table
        yield from _tables(table.get_children())


def _names_in_annotations(node: ast.stmt) -> set[str]:
    """Return the names in string annotations.

    torch infers the schemas of operators from these annotations.
    """
    names = set()
    for item in ast.walk(node):
        for annotation in (getattr(item, "annotation", None), getattr(item, "returns", None)):
            if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
                try:
                    names |= {_path(part) for part in ast.walk(ast.parse(annotation.value, mode="eval"))}
                except SyntaxError:
                    continue
    return names - {""}


def _dotted_names(node: ast.stmt) -> set[str]:
    return {path for item in ast.walk(node) if isinstance(item, ast.Attribute) and (path := _path(item))}
