"""Code outside the edited lines that can notice an edit.

Examples are other files, subclasses and other functions. A fix is safe only if no such code can notice the
edit. This is judged by the texts before and after the edit, not by the rule.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from ..workspace.source import SourceFile
from ..workspace.syntax import COMPOUND, SCOPES, called, dotted, imports, names, stored
from .editing import edited_texts
from .effects.known import of_library
from .effects.names import Files, LibraryFunction, function_here, meaning_of
from .effects.reading import FunctionEffects, effects_of
from .model import Fix
from .rules.calls import is_compile, root_of
from .rules.syntax import Function, ParsedFile, code_of, parameters
from .splitting.watching import part_of

_Node = TypeVar("_Node", bound=ast.AST)
_SETTING = "The setting stays on: functions of other files are compiled with it, too."
_MARKS = ("mark_dynamic", "mark_unbacked", "mark_static")
_BRANCHING = ("cond", "while_loop")


def judged(fix: Fix, files: Files) -> Fix:
    """Return a fix, declared unsafe if other code can notice its edits.

    The reasons are added to the ``change`` of the fix.
    """
    if fix.safety == "unsafe":
        return fix
    reasons = list(dict.fromkeys(_reasons(fix, files)))
    return replace(fix, safety="unsafe", change=" ".join((fix.change, *reasons))) if reasons else fix


def _reasons(fix: Fix, files: Files) -> Iterator[str]:
    for before, after in edited_code(fix, files):
        yield from _FileChange(before, after, files).reasons()


def edited_code(fix: Fix, files: Files) -> Iterator[tuple[ParsedFile, ParsedFile]]:
    """Yield each file that a fix edits, before and after, if both versions parse."""
    for filename, (_, text) in edited_texts(files, fix.edits).items():
        before, after = code_of(files.get(filename)), code_of(SourceFile(filename, text))
        if before is not None and after is not None:
            yield before, after


@dataclass(frozen=True)
class _FileChange:
    """A file before and after an edit."""

    before: ParsedFile
    after: ParsedFile
    files: Files

    def reasons(self) -> Iterator[str]:
        """Yield what other code can notice about the edit, as sentences."""
        old, new = functions_by_path(self.before), functions_by_path(self.after)
        for path, (function, is_local) in old.items():
            if path not in new:
                yield f"`{path}` is gone, but other code may call or override it."
            elif not is_local and ast.dump(function) != ast.dump(new[path][0]):
                yield from self._of_function(path, function, new[path][0])
        for node in _new(_statements(self.before), _statements(self.after)):
            yield from self._of_added(node)
        yield from self._of_arguments()

    # -- functions that others can call ------------------------------------------------------------

    def _of_function(self, path: str, old: Function, new: Function) -> Iterator[str]:
        if ast.dump(old.args) != ast.dump(new.args):
            yield f"`{path}` has other parameters: calls in other files, and overrides, do not have them."
        if _decorators(old) != self._of_part(old, new) + _decorators(new):
            yield f"`{path}` has other decorators, which affect all of its callers."
        if path.endswith(".__init__"):
            has_more = bool({*map(ast.dump, new.body)} - {*map(ast.dump, old.body)})
            affected = "do the same themselves" if has_more else "use what it did"
            yield f"`{path}` does {'more' if has_more else 'less'}, which affects subclasses that {affected}."
        effects = effects_of(self.before, old, self.files), effects_of(self.after, new, self.files)
        yield from _of_effects(path, *effects)
        if "." in path:
            for name in sorted(_own_calls(new, always=True) - _own_calls(old, always=True)):
                if name in _own_calls(old, always=False):
                    yield f"`self.{name}` now always runs, which affects an override of it."

    def _of_part(self, old: Function, new: Function) -> list[str]:
        """Return the decorator that compiles a new part of a function instead of the function."""
        known = {item.name for item in self.before.functions()}
        part = part_of(new, self.after.block(new), known)
        compiling = _decorators(part) if part is not None else []
        return [item for item in compiling if item not in _decorators(new) and item in _decorators(old)]

    # -- what is added -----------------------------------------------------------------------------

    def _of_added(self, node: ast.stmt) -> Iterator[str]:
        is_of_module = self.after.function(node) is None
        if isinstance(node, (ast.Import, ast.ImportFrom)) and is_of_module:
            yield from self._of_import(node)
        call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(item, ast.Attribute) and self._is_of_library(item) for item in targets):
            yield _SETTING
        if call is not None and called(call) in _MARKS:
            yield from self._of_mark(call)
        elif call is not None and self._is_setting(call):
            yield _SETTING
        if isinstance(node, ast.Assign) and is_of_module and not _is_guarded(self.after, node):
            yield from self._of_variable(node)
        for item in self.after.all(ast.Call, node):
            if called(item) in _BRANCHING and not any(
                called(one) == called(item) for one in self.before.all(ast.Call)
            ):
                yield (
                    f"`{called(item)}` raises an error if its branches differ in shape, dtype or layout, or "
                    "have side effects, which other arguments and overrides may cause."
                )

    def _of_import(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        own = [item for item in self.before.tree.body if not isinstance(item, SCOPES)]
        known = imports(ast.Module(own, []))
        roots = {path.lstrip(".").partition(".")[0] for path in known.values()} | {"torch"}
        for name, path in imports(node).items():
            root = path.lstrip(".").partition(".")[0]
            if root not in roots and of_library(f"{root}.x") == "unknown":
                yield f"`{root}` is imported with the file, even if nothing calls the function."
            if name not in set[str]().union(*map(stored, own)) and self._is_read_elsewhere(name):
                yield f"`{name}` refers to the import in other functions of the file, too."

    def _is_read_elsewhere(self, name: str) -> bool:
        """Tell whether any function already reads a name that it does not bind."""
        for function in self.before.functions():
            own = {*parameters(function), *set[str]().union(*(stored(item) for item in function.body))}
            if name in names(function) and name not in own:
                return True
        return False

    def _is_of_library(self, target: ast.expr) -> bool:
        return isinstance(meaning_of(self.after, dotted(target), self.files), LibraryFunction) and bool(
            dotted(target)
        )

    def _is_setting(self, call: ast.Call) -> bool:
        meaning = meaning_of(self.after, dotted(call.func), self.files) if dotted(call.func) else None
        return isinstance(meaning, LibraryFunction) and of_library(meaning.path) == "outside"

    def _of_variable(self, node: ast.Assign) -> Iterator[str]:
        """Yield a reason if a module variable has a new value.

        A compiled version of the old value does not count, nor does the result of a call of the workspace's
        own code.
        """
        target = dotted(node.targets[0])
        olds = [item for item in self.before.all(ast.Assign) if dotted(item.targets[0]) == target]
        value = node.value
        is_plain = isinstance(value, ast.Call) and (
            is_compile(value)
            or not isinstance(meaning_of(self.after, dotted(value.func), self.files), LibraryFunction)
        )
        if target and olds and not is_plain:
            yield f"`{target}` is a different object for all code that uses it."

    def _of_mark(self, call: ast.Call) -> Iterator[str]:
        """Yield a reason if other functions get a marked tensor.

        They raise an error if they need one particular size.
        """
        root = root_of(call.args[0]) if call.args else None
        scope = self.after.function(call) or self.after.tree
        if root is None or root.id not in names(self.before.tree):
            return
        marked = {item for item in self.after.all(ast.Call, scope) if called(item) in _MARKS}
        passed = {
            dotted(item.func)
            for item in self.after.all(ast.Call, scope)
            for value in (*item.args, *(word.value for word in item.keywords))
            if item not in marked and dotted(value) == root.id
        }
        is_given = isinstance(scope, Function) and root.id in parameters(scope)
        if len(passed) > 1 or is_given:
            yield (
                f"The mark stays on `{root.id}`: another compiled function that gets the tensor and needs "
                "one size raises an error."
            )

    # -- arguments that become copies --------------------------------------------------------------

    def _of_arguments(self) -> Iterator[str]:
        """Yield a reason if a function changes or returns an argument that is now a copy."""
        for call in _new(_calls(self.before), _calls(self.after)):
            path = dotted(call.func)
            function = function_here(self.after, path, self.files) if path else None
            if function is None:
                continue
            given = parameters(function)[isinstance(self.after.parent(function), ast.ClassDef) :]
            passed = {
                *zip(given, call.args, strict=False),
                *((word.arg, word.value) for word in call.keywords),
            }
            effects = effects_of(self.after, function, self.files)
            for name, value in passed:
                is_copy = called(value) in ("contiguous", "clone", "to", "as_tensor", "list", "tuple")
                if is_copy and name in effects.changes:
                    yield f"`{dotted(call.func)}` changes `{name}` in place, which is now a copy."
                if is_copy and name in effects.returns:
                    yield f"`{dotted(call.func)}` returns `{name}` itself, which is now a copy."


def _of_effects(path: str, old: FunctionEffects, new: FunctionEffects) -> Iterator[str]:
    for words, before, after in (
        ("changes `{}` in place", old.changes, new.changes),
        ("returns the memory of `{}`", old.returns, new.returns),
    ):
        if lost := sorted(before - after):
            yield f"`{path}` no longer {words.format(lost[0])}, which a caller can notice."
        if added := sorted(after - before):
            yield f"`{path}` now {words.format(added[0])}, which a caller can notice."
    if set(old.outside) != set(new.outside):
        yield f"`{path}` no longer has the same side effects."


def _new(before: Mapping[_Node, str], after: Mapping[_Node, str]) -> Iterator[_Node]:
    """Yield the nodes whose text occurs more often after the edit than before."""
    known = Counter(before.values())
    for item, text in after.items():
        known[text] -= 1
        if known[text] < 0:
            yield item


def functions_by_path(code: ParsedFile) -> dict[str, tuple[Function, bool]]:
    """Return all functions by qualified name, each with whether it is nested.

    A nested function is inside another function.
    """
    found: dict[str, tuple[Function, bool]] = {}
    for function in code.functions():
        around = [item for item in code.around(function) if isinstance(item, (Function, ast.ClassDef))]
        path = ".".join(item.name for item in reversed(around))
        found.setdefault(path, (function, any(isinstance(item, Function) for item in around[1:])))
    return found


@lru_cache(maxsize=8)
def _statements(code: ParsedFile) -> Mapping[ast.stmt, str]:
    """Return the simple statements, each with a text to compare it by.

    The text describes the syntax, and whether the statement is in a function or at module level.
    """
    own = (item for item in code.all(ast.stmt) if not isinstance(item, COMPOUND))
    return {item: f"{ast.dump(item)} {code.function(item) is None}" for item in own}


@lru_cache(maxsize=8)
def _calls(code: ParsedFile) -> Mapping[ast.Call, str]:
    return {item: ast.dump(item) for item in code.all(ast.Call)}


def _decorators(function: Function) -> list[str]:
    """Return decorators as text; ``torch.compile`` is written without options."""
    return ["torch.compile" if is_compile(item) else ast.unparse(item) for item in function.decorator_list]


def _own_calls(function: Function, *, always: bool) -> set[str]:
    """Return the methods of ``self`` that a function calls.

    With ``always``, return only the methods that every call of the function calls.
    """
    found = set()
    pending: list[tuple[ast.AST, bool]] = [(item, True) for item in function.body]
    while pending:
        node, is_sure = pending.pop()
        owner, _, name = dotted(node.func).rpartition(".") if isinstance(node, ast.Call) else ("", "", "")
        if owner == "self" and (is_sure or not always):
            found.add(name)
        branching = isinstance(node, (ast.If, ast.IfExp, ast.While, ast.For, ast.Try, ast.BoolOp, ast.Lambda))
        pending += [(child, is_sure and not branching) for child in ast.iter_child_nodes(node)]
    return found


def _is_guarded(code: ParsedFile, node: ast.AST) -> bool:
    """Tell whether a statement is inside ``if __name__ == ...``.

    Such a statement runs only if its file is run as a program.
    """
    return any(isinstance(item, ast.If) and "__name__" in names(item.test) for item in code.around(node))
