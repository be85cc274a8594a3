"""Changes of behavior by an edit that no run of the program shows.

A proof runs the program with its present calls. Between two calls, other code may replace a method, add a
hook, change a setting or set a global mode, and no run shows what the edited code does then. Therefore the
source of the edited code is compared with the original: it must call the same methods, and read the same
variables as often.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..workspace.syntax import COMPOUND, SCOPES, called, callee, dotted, nodes_of, stored
from .effects.known import PLAIN_DECORATORS, of_library
from .effects.names import (
    Files,
    LibraryFunction,
    ModuleVariable,
    WorkspaceDefinition,
    function_here,
    meaning_of,
)
from .effects.reading import effects_of
from .model import Fix
from .reach import edited_code, functions_by_path
from .rules.calls import BUILTINS, is_compile
from .rules.expressions import is_tensor_method
from .rules.syntax import Function, ParsedFile, code_of, defined, parameters

_OF_OBJECT = ("self", "cls")
_WITHOUT_EFFECT = ("record_function", "nullcontext", "profile")
"""Contexts that do not change the behavior of code."""
_OF_COMPILER = ("torch._dynamo", "torch._inductor", "torch._functorch", "torch.compiler")
"""Modules that only set options of the compiler."""
_GIVEN = "a function or module that it gets"
_OF_CONTAINERS = frozenset(name for cls in (list, dict, set, str) for name in dir(cls) if name[0] != "_")
_NAMING = (*SCOPES, ast.Import, ast.ImportFrom)
_READERS = ("getattr", "hasattr", "setattr", "delattr")


def unshown(fix: Fix, files: Files) -> str:
    """Say what an edit may change although no run shows it; ``""`` if nothing.

    The text is a clause.
    """
    found = (
        _reasons(_FileVersion(old, files), _FileVersion(new, files)) for old, new in edited_code(fix, files)
    )
    return next(itertools.chain.from_iterable(found), "")


def _reasons(before: _FileVersion, after: _FileVersion) -> Iterator[str]:
    old, new = functions_by_path(before.code), functions_by_path(after.code)
    changed = {path for path in old if path in new and ast.dump(old[path][0]) != ast.dump(new[path][0])}
    # The behavior of a private function matters only to the functions of the file that call it.
    private = {path for path in changed if _is_private(path) and not before.is_called_by_module(path)}
    for path, (function, is_local) in old.items():
        if path not in new:
            yield f"`{path}` is gone, but other code may call or override it"
        elif path not in private and (
            path in changed or private & {item.name for item in before.closure(function)}
        ):
            yield from _of_function(path, (before, function), (after, new[path][0]), is_local=is_local)
    yield from _of_module(before, after)


def _of_function(
    path: str, old: tuple[_FileVersion, Function], new: tuple[_FileVersion, Function], *, is_local: bool
) -> Iterator[str]:
    (before, function), (after, edited_function) = old, new
    own = (item for item in before.methods() if item.name == function.name)
    # No class overrides a private method that only one class has.
    is_own = is_local or (_is_private(path.rpartition(".")[2]) and len([*own]) == 1)
    if ast.dump(function.args) != ast.dump(edited_function.args) and not is_own:
        yield f"`{path}` has other parameters, which its callers and overrides may not have"
    if decorators := _decorators(function) ^ _decorators(edited_function):
        yield f"`{path}` is decorated differently (`@{min(decorators)}`)"
    was, now = before.uses(function), after.uses(edited_function)
    if lost := was.replaceable - now.replaceable:
        name = _GIVEN if _GIVEN in lost else f"`{min(lost)}`"
        yield f"`{path}` no longer calls {name}, which other code may replace, hook or override"
    if added := {
        name for name in now.replaceable - was.replaceable if name.endswith((".forward", ".__call__"))
    }:
        yield f"`{path}` calls `{min(added)}` directly, past hooks and overrides"
    if unread := was.reads - now.reads:
        yield f"`{path}` no longer reads `{min(unread)}`, which may change between two calls"
    if changed := was.contexts ^ now.contexts:
        yield f"`{path}` computes in another context (`with {min(changed)}`)"
    for words, found in (("without", was.outside - now.outside), ("with", now.outside - was.outside)):
        if found:
            yield f"`{path}` {min(found)} only {words} the edit"
    if was.draws != now.draws:
        yield f"`{path}` draws random numbers in another place"
    for text, places in was.placed.items():
        if text in now.placed and now.placed[text] != places:
            yield f"`{text.splitlines()[0]}` in `{path}` is in another `with` or `try`"
    if path.endswith("__init__"):
        for item in _added(function, edited_function):
            if names := after.variable_names(item):
                yield f"`{path}` reads `{min(names)}` once: later changes have no effect"


def _of_module(before: _FileVersion, after: _FileVersion) -> Iterator[str]:
    """Yield changes of the values and side effects of a file's code outside functions.

    Such values are computed once, when the file is loaded.
    """
    known = {ast.dump(item) for item in before.loaded()}
    read = {name for function in after.code.functions() for name in after.reads(function)}
    for item in after.loaded():
        if ast.dump(item) in known:
            continue
        if isinstance(item, ast.Expr) and isinstance(item.value, ast.Call):
            path = after.library(dotted(item.value.func))
            if path and of_library(path) == "outside" and not path.startswith(_OF_COMPILER):
                yield f"`{ast.unparse(item)}` applies to the whole process"
        elif isinstance(item, (ast.Assign, ast.AnnAssign)) and item.value is not None:
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            of_libraries = [path for target in targets if (path := after.library(dotted(target)))]
            if any(not path.startswith(_OF_COMPILER) for path in of_libraries):
                yield f"`{ast.unparse(item)}` applies to the whole process"
            is_read = bool(stored(item) & read) or after.code.definition(item) is not None
            if is_read and (used := after.variable_names(item.value)):
                name = ast.unparse(targets[0])
                yield f"`{name}` is made once, from `{min(used)}`: later changes have no effect"
    for part in (*after.driving(before), *before.driving(after)):
        text = ast.unparse(part).splitlines()[0]
        yield f"`{text}` is outside of functions, so it was tried only with the values of this run"


@dataclass(frozen=True)
class _FunctionUses:
    """The parts of a function's behavior that other code may influence.

    The functions of the same file that the function calls are included. ``replaceable`` are calls of
    functions that other code may replace, ``reads`` the variables and attributes that the function reads,
    ``contexts`` the expressions in its ``with`` statements, ``outside`` its side effects; ``draws`` tells
    whether it draws random numbers. ``placed`` maps the text of each of its own statements to the ``with``
    and ``try`` blocks around it.
    """

    replaceable: frozenset[str]
    reads: frozenset[str]
    contexts: frozenset[str]
    outside: frozenset[str]
    draws: bool
    placed: dict[str, frozenset[tuple[str, ...]]]


@dataclass(frozen=True, eq=False)
class _FileVersion:
    """A file, in the version before or after an edit."""

    code: ParsedFile
    files: Files

    def meaning(self, path: str) -> WorkspaceDefinition | LibraryFunction | ModuleVariable | None:
        return meaning_of(self.code, path, self.files) if path else None

    def library(self, path: str) -> str:
        """Return the full name if ``path`` is a member of a library, else ""."""
        meaning = self.meaning(path)
        return meaning.path if isinstance(meaning, LibraryFunction) and "." in meaning.path else ""

    def loaded(self) -> Iterator[ast.stmt]:
        """Yield the simple statements that run when the file is loaded."""
        for item in self.code.all(ast.stmt):
            if not isinstance(item, COMPOUND) and self.code.function(item) is None:
                yield item

    def driving(self, other: _FileVersion) -> Iterator[ast.AST]:
        """Yield the code outside functions that only this version of the file has.

        Assignments to new names are left out.
        """
        known = {_uncompiled(item) for item in other._parts()}
        names = set[str]().union(*map(stored, other.code.all(ast.stmt)))
        for item in self._parts():
            is_new = isinstance(item, (ast.Assign, ast.AnnAssign)) and not stored(item) & names
            if _uncompiled(item) not in known and not is_new and not self._is_of_compiler(item):
                yield item

    def _parts(self) -> Iterator[ast.AST]:
        """Yield the statements outside functions.

        For a statement with a body, the parts of its header are yielded instead.
        """
        for item in self.code.all(ast.stmt):
            is_text = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
            if self.code.function(item) is not None or isinstance(item, _NAMING) or is_text:
                continue
            for part in ast.iter_child_nodes(item) if hasattr(item, "body") else (item,):
                if not isinstance(part, (ast.stmt, ast.ExceptHandler)) or part is item:
                    yield part

    def _is_of_compiler(self, item: ast.AST) -> bool:
        """Tell whether a statement compiles something, or only sets compiler options."""
        call = getattr(item, "value", None)
        if isinstance(item, (ast.Assign, ast.AnnAssign)):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            paths = [self.library(dotted(target)) for target in targets]
            if all(path.startswith(_OF_COMPILER) for path in paths):
                return True
        path = dotted(call.func) if isinstance(call, ast.Call) else ""
        return path.endswith("compile") or self.library(path).startswith(_OF_COMPILER)

    def variable_names(self, node: ast.AST) -> set[str]:
        """Return the changeable inputs of a value: variables, attributes, global state."""
        found: set[str] = set()
        if is_compile(node) or is_compile(getattr(node, "value", None)):
            return found
        inside = {name.arg for item in self.code.all(ast.Lambda, node) for name in item.args.args}
        for item in ast.walk(node):
            path = dotted(item) if isinstance(item, (ast.Name, ast.Attribute)) else ""
            root = path.partition(".")[0]
            if not path or not isinstance(item.ctx, ast.Load) or root in inside:  # type: ignore[attr-defined]
                continue
            meaning = self.meaning(path)
            if (
                (root in _OF_OBJECT and "." in path)
                or (isinstance(meaning, ModuleVariable) and self.code.function(node) is None)
                or (
                    isinstance(meaning, LibraryFunction)
                    and "." in meaning.path
                    and of_library(meaning.path) == "outside"
                )
            ):
                found.add(path)
        return found

    def uses(self, function: Function) -> _FunctionUses:
        """Return the parts of a function's behavior that other code may influence."""
        around = self.closure(function)
        effects = effects_of(self.code, function, self.files)
        return _FunctionUses(
            frozenset(name for item in around for name in self._replaceable(item)),
            frozenset(name for item in around for name in self.reads(item)),
            frozenset(
                ast.unparse(part.context_expr)
                for item in around
                for block in self.code.all(ast.With, item)
                for part in block.items
                if called(part.context_expr) not in _WITHOUT_EFFECT
            ),
            frozenset(effects.outside)
            | frozenset(f"calls `{name}`" for name in effects.unknown if "@" in name),
            effects.draws,
            self._placed(function),
        )

    def closure(self, function: Function) -> list[Function]:
        """Return a function and all functions of the file that it calls by name.

        Functions that it calls indirectly are included.
        """
        found: list[Function] = []
        pending = [function]
        while pending:
            item = pending.pop()
            if item in found:
                continue
            found.append(item)
            others = (self._called(call, item) for call in self.code.all(ast.Call, item))
            pending += filter(None, others)
        return found

    def is_called_by_module(self, name: str) -> bool:
        """Tell whether code outside functions uses a function, except to compile it."""
        return any(
            item.id == name and isinstance(item.ctx, ast.Load) and self.code.function(item) is None
            for item in self.code.all(ast.Name)
            if called(self.code.parent(item)) != "compile"
        )

    def _called(self, call: ast.Call, around: ast.AST) -> Function | None:
        path = dotted(call.func)
        owner, _, name = path.rpartition(".")
        cls = self.code.definition(around)
        if owner in _OF_OBJECT and cls is not None:
            return defined(cls.body, name)
        return function_here(self.code, path, self.files)

    def _replaceable(self, function: Function) -> Iterator[str]:
        """Yield the names of called functions that other code may replace.

        A call of a local variable is yielded without the variable's name.
        """
        own = _names_of(function)
        inner = {item.name for item in ast.walk(function) if isinstance(item, Function)}
        for call in self.code.all(ast.Call, function):
            path = dotted(call.func)
            root = path.partition(".")[0]
            if isinstance(call.func, ast.Attribute) and _is_of_data(call.func):
                continue
            if not path:
                if isinstance(call.func, ast.Attribute) and call.func.attr in self._members:
                    yield f".{call.func.attr}"
                elif isinstance(call.func, (ast.Call, ast.Subscript)):
                    yield ast.unparse(call.func)
            elif root in (*_OF_OBJECT, "super"):
                yield path
            elif root in own and root not in inner:
                if path == root:
                    yield _GIVEN
                elif call.func.attr in self._members:  # type: ignore[attr-defined]
                    yield f".{call.func.attr}"  # type: ignore[attr-defined]
            elif self._is_replaceable(path, self.meaning(path)):
                yield path
        for node in self.code.all(ast.Attribute, function):
            if node.attr in self._properties:
                yield f".{node.attr}"

    def _is_replaceable(
        self, path: str, meaning: WorkspaceDefinition | LibraryFunction | ModuleVariable | None
    ) -> bool:
        if isinstance(meaning, WorkspaceDefinition):
            is_decorated = isinstance(meaning.node, Function) and bool(
                _decorators(meaning.node) - (PLAIN_DECORATORS - {"singledispatch"})
            )
            return is_decorated or "." in path or path in self._assigned
        return isinstance(meaning, ModuleVariable)

    def reads(self, function: Function) -> Iterator[str]:
        """Yield the outer variables and the attributes of ``self`` that a function reads.

        Attributes of ``cls`` are yielded, too.
        """
        own = _names_of(function)
        declared = {name for item in self.code.all(ast.Global, function) for name in item.names}
        for item in ast.walk(function):
            if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name):
                if item.value.id in _OF_OBJECT and isinstance(item.ctx, ast.Load):
                    yield f"{item.value.id}.{item.attr}"
            elif isinstance(item, ast.Call) and dotted(item.func) in _READERS and len(item.args) > 1:
                if isinstance(item.args[1], ast.Constant):
                    yield f"{ast.unparse(item.args[0])}.{item.args[1].value!s}"
            elif isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load):
                is_own = item.id in own and item.id not in declared
                if (
                    not is_own
                    and item.id not in BUILTINS
                    and isinstance(self.meaning(item.id), ModuleVariable)
                ):
                    value = self.meaning(item.id).value  # type: ignore[union-attr]
                    if not is_compile(value):
                        yield item.id

    def _placed(self, function: Function) -> dict[str, frozenset[tuple[str, ...]]]:
        found: dict[str, set[tuple[str, ...]]] = {}
        for item in self.code.all(ast.stmt, function):
            if isinstance(item, COMPOUND):
                continue
            around: list[str] = []
            for outer in self.code.around(item):
                if outer is function:
                    break
                if isinstance(outer, ast.With):
                    around += (ast.unparse(part) for part in outer.items)
                elif isinstance(outer, ast.Try):
                    around += (ast.unparse(one.type) if one.type else "all" for one in outer.handlers)
            found.setdefault(ast.unparse(item), set()).add(tuple(around))
        return {text: frozenset(places) for text, places in found.items()}

    @cached_property
    def _members(self) -> set[str]:
        """Names of the workspace's methods, and of torch methods that they may override."""
        return {item.name for item in self.methods()} | {"forward", "__call__"}

    @cached_property
    def _properties(self) -> set[str]:
        return {
            item.name
            for item in self.methods()
            if any("property" in ast.unparse(one) for one in item.decorator_list)
        }

    @cached_property
    def _assigned(self) -> set[str]:
        """Names of attributes that any file of the workspace assigns.

        Other code may replace a function with such a name.
        """
        return {
            item.attr
            for code in self._codes()
            for item in code.all(ast.Attribute)
            if isinstance(item.ctx, ast.Store)
        }

    def methods(self) -> Iterator[Function]:
        """Yield the methods of all classes of the workspace."""
        for code in self._codes():
            for cls in code.all(ast.ClassDef):
                yield from (item for item in cls.body if isinstance(item, Function))

    def _codes(self) -> Iterator[ParsedFile]:
        own = self.code.source.filename
        others = (code_of(source) for name, source in self.files.items() if name != own)
        yield from filter(None, (self.code, *others))


def _uncompiled(node: ast.AST) -> str:
    """Return a text to compare code with, without calls of ``torch.compile``."""

    class CompileRemover(ast.NodeTransformer):
        def visit_Call(self, call: ast.Call) -> ast.AST:
            self.generic_visit(call)
            return call.args[0] if is_compile(call) and call.args else call

    return ast.dump(CompileRemover().visit(copy.deepcopy(node)))


def _names_of(function: Function) -> set[str]:
    """Return the names that a function and its nested functions bind."""
    inner = [item for item in ast.walk(function) if isinstance(item, (Function, ast.Lambda))]
    bound = {item.id for item in nodes_of(ast.Name, function) if isinstance(item.ctx, ast.Store)}
    return bound.union({item.name for item in inner if isinstance(item, Function)}, *map(parameters, inner))


def _is_of_data(function: ast.Attribute) -> bool:
    """Tell whether an attribute is a method of tensors or of Python's containers."""
    return is_tensor_method(function) or (
        function.attr in _OF_CONTAINERS and dotted(function.value) != "self"
    )


def _is_private(path: str) -> bool:
    return path.startswith("_") and not path.startswith("__") and "." not in path


def _decorators(function: Function) -> set[str]:
    """Return the last parts of decorator names, without ``compile`` and ``disable``."""
    names = {ast.unparse(callee(item)) for item in function.decorator_list}
    return {name.rpartition(".")[2] for name in names} - {"compile", "disable"}


def _added(old: Function, new: Function) -> Iterator[ast.stmt]:
    known = {ast.dump(item) for item in nodes_of(ast.stmt, old)}
    for item in nodes_of(ast.stmt, new):
        if not isinstance(item, SCOPES) and ast.dump(item) not in known:
            yield item
