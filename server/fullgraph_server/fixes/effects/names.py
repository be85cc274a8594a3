"""The meaning of names in a file: definitions in the workspace or in libraries."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...workspace.source import SourceFile
from ...workspace.syntax import dotted, nodes_of
from ..rules.calls import BUILTINS, is_compile
from ..rules.syntax import Function, ParsedFile, code_of, defined

Files = Mapping[str, SourceFile | None]


@dataclass(frozen=True, eq=False)
class WorkspaceDefinition:
    """A function or class of the workspace, with the file that defines it."""

    code: ParsedFile
    node: Function | ast.ClassDef


@dataclass(frozen=True)
class LibraryFunction:
    """A function of a library or a builtin.

    ``path`` is the full name, such as ``numpy.random.rand``; the name of a builtin has no dot.
    """

    path: str


@dataclass(frozen=True)
class ModuleVariable:
    """A variable of a module, or an attribute of such a variable (``LEDGER.entries``).

    ``value`` is the assigned expression.
    """

    path: str
    value: ast.expr | None = None
    code: ParsedFile | None = None


Meaning = WorkspaceDefinition | LibraryFunction | ModuleVariable


def meaning_of(
    code: ParsedFile, path: str, files: Files, imports: Mapping[str, str] | None = None
) -> Meaning:
    """Return the meaning of the dotted name ``path``.

    ``imports`` are the imports of the function around the name.
    """
    root, _, rest = path.partition(".")
    if imports and root in imports:
        return _imported(".".join(filter(None, (imports[root], rest))), files, code)
    for statement in code.tree.body:
        if isinstance(statement, (Function, ast.ClassDef)) and statement.name == root:
            return (
                WorkspaceDefinition(code, statement) if not rest else _of_class(code, statement, rest, path)
            )
    values = _variables(code).get(root, ())
    if values:
        return ModuleVariable(path, values[0] if len(values) == 1 else None, code)
    if root in code.imports:
        return _imported(".".join(filter(None, (code.imports[root], rest))), files, code)
    return LibraryFunction(path) if root in BUILTINS else ModuleVariable(path)


def function_here(code: ParsedFile, path: str, files: Files) -> Function | None:
    """Return the function of the same file that a dotted name refers to, or ``None``.

    The name may also refer to the compiled function.
    """
    meaning = meaning_of(code, path, files)
    value = meaning.value if isinstance(meaning, ModuleVariable) else None
    if is_compile(value) and value.args:
        meaning = meaning_of(code, dotted(value.args[0]), files)
    is_here = isinstance(meaning, WorkspaceDefinition) and meaning.code is code
    return meaning.node if is_here and isinstance(meaning.node, Function) else None  # type: ignore[union-attr]


@lru_cache(maxsize=64)
def _variables(code: ParsedFile) -> Mapping[str, Sequence[ast.expr | None]]:
    """Return the expressions that a module assigns to each of its variables.

    ``None`` stands for any other kind of binding, such as a loop variable.
    """
    found: dict[str, list[ast.expr | None]] = {}
    for statement in code.all(ast.stmt):
        if code.function(statement) is not None or code.definition(statement) is not None:
            continue
        several = isinstance(statement, (ast.For, ast.AugAssign))
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        )
        for target in filter(None, targets):
            value = None if several or not isinstance(target, ast.Name) else getattr(statement, "value", None)
            for item in nodes_of(ast.Name, target):
                if isinstance(item.ctx, ast.Store):
                    found.setdefault(item.id, []).append(value)
    return found


def _of_class(code: ParsedFile, cls: Function | ast.ClassDef, member: str, path: str) -> Meaning:
    found = defined(cls.body, member) if isinstance(cls, ast.ClassDef) else None
    return WorkspaceDefinition(code, found) if found is not None else ModuleVariable(path)


def _imported(path: str, files: Files, code: ParsedFile) -> Meaning:
    """Return the meaning of an imported name.

    If a file of the workspace is the imported module, the name is looked up there.
    """
    parts = path.lstrip(".").split(".")
    for length in range(len(parts), 0, -1):
        other = _module(tuple(parts[:length]), tuple(files))
        found = code_of(files.get(other))
        if found is None or found is code:
            continue
        rest = ".".join(parts[length:])
        return meaning_of(found, rest, files) if rest else ModuleVariable(path)
    return LibraryFunction(path.lstrip("."))


@lru_cache(maxsize=256)
def _module(parts: tuple[str, ...], filenames: tuple[str, ...]) -> str:
    """Return the file name of a module; "" unless exactly one file matches."""
    stem = "/".join(parts)
    ends = (f"/{stem}.py", f"/{stem}/__init__.py")
    found = [name for name in filenames if f"/{name}".replace("\\", "/").endswith(ends)]
    return found[0] if len(found) == 1 else ""
