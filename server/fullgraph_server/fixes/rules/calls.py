"""The calls that caused a function's compilations, and edits of these calls."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard, TypeVar

from ...report.model import Finding, FrameCompilation
from ...workspace.syntax import dotted, last_row, nodes_of, positional, stored
from ..model import Edit, Fix, Rule, RuleContext
from .offering import code_at
from .syntax import Function, Node, ParsedFile, code_of, parameters

_Node = TypeVar("_Node", bound=ast.AST)


@dataclass(frozen=True)
class CompiledFunction:
    """The compiled function of a finding, with the calls that the run recorded."""

    code: ParsedFile
    function: Function | None
    calls: tuple[ast.Call, ...]

    @property
    def is_method(self) -> bool:
        """Whether the function is a method: calls do not pass its first parameter."""
        return self.function is not None and isinstance(self.code.parent(self.function), ast.ClassDef)

    def arguments(self, call: ast.Call) -> Mapping[str, ast.expr]:
        """Return the argument that a call passes for each parameter.

        Arguments passed by ``*`` and ``**`` are left out.
        """
        if self.function is None:
            return {}
        given = [item.arg for item in positional(self.function)]
        named = {word.arg: word.value for word in call.keywords if word.arg}
        values: list[ast.expr] = []
        for argument in call.args:
            # The parentheses of a generator may be those of the call.
            if isinstance(argument, (ast.Starred, ast.GeneratorExp)):
                break
            values.append(argument)
        return {**dict(zip(given[1:] if self.is_method else given, values, strict=False)), **named}

    def passed(self, name: str) -> list[ast.expr] | None:
        """Return the arguments that all calls pass for a parameter, or ``None``.

        Return ``None`` if a recorded call does not pass the parameter. The run recorded only the calls that
        caused a compilation. Other calls of the same function that pass the parameter reused a graph; their
        arguments are included, unless one call is an argument of another, because edits of both would
        overlap.
        """
        code = self.code
        seen = {(code.function(call), dotted(call.func)) for call in self.calls if dotted(call.func)}
        found = [call for call in code.all(ast.Call) if (code.function(call), dotted(call.func)) in seen]
        others = [call for call in found if call not in self.calls and name in self.arguments(call)]
        every = (*self.calls, *others)
        is_nested = any(outer in every for call in every for outer in code.around(code.parent(call) or call))
        values = [self.arguments(call).get(name) for call in (self.calls if is_nested else every)]
        passed = [value for value in values if value is not None]
        return passed if len(passed) == len(values) else None


def compiled(finding: Finding, context: RuleContext) -> CompiledFunction | None:
    """Return the compiled function of a finding, or ``None``.

    Return ``None`` unless all recorded calls are in one file.
    """
    found = _compilations(finding, context)
    files = {item.caller.filename for item in found if item.caller is not None}
    code = code_of(context.files.get(files.pop())) if len(files) == 1 else None
    if code is None:
        return None
    calls: dict[ast.Call, None] = {}
    for item in found:
        node = code.at(item.caller) if item.caller is not None else None
        node = node.value if isinstance(node, ast.Expr) else node
        if isinstance(node, ast.Call):
            calls[node] = None
    return CompiledFunction(code, _function(code, found), tuple(calls)) if calls else None


def decorated(finding: Finding, context: RuleContext) -> CompiledFunction | None:
    """Return the compiled function of a finding, without calls; ``None`` if unknown.

    This is for functions whose example calls are in comments.
    """
    found = _compilations(finding, context)
    code = code_of(context.files.get(found[0].span.filename)) if found else None
    function = _function(code, found) if code is not None else None
    return CompiledFunction(code, function, ()) if code is not None and function is not None else None


def _compilations(finding: Finding, context: RuleContext) -> list[FrameCompilation]:
    frames = {item.partition("/")[0] for item in finding.compile_ids}
    return [item for item in context.report.compilations if item.compile_id.partition("/")[0] in frames]


def _function(code: ParsedFile, found: Sequence[FrameCompilation]) -> Function | None:
    rows = {
        (item.span.row, item.function.rpartition(".")[2])
        for item in found
        if item.span.filename == code.source.filename
    }
    return next((node for node in code.functions() if (node.lineno, node.name) in rows), None)


def compiled_rule(rewrite: Callable[[CompiledFunction, Node], Iterator[Fix]]) -> Rule:
    """Make a rule that calls ``rewrite`` with the compiled function and the node.

    The rule offers fixes only if the compiled function's calls and the finding's node are in one file.
    """

    def rule(finding: Finding, context: RuleContext) -> Iterator[Fix]:
        code, node = code_at(finding, context)
        made = compiled(finding, context)
        if node is not None and made is not None and made.code is code:
            yield from rewrite(made, node)

    return rule


def guarded_name(finding: Finding, made: CompiledFunction) -> str:
    """Return the variable at a finding's place; "" if the finding is in another file."""
    node = made.code.at(finding.span) if finding.span.filename == made.code.source.filename else None
    root = root_of(node) if isinstance(node, ast.expr) else None
    return root.id if root is not None else ""


def root_of(node: ast.expr) -> ast.Name | None:
    """Return the variable at the root of an attribute or subscript; ``None`` if none.

    Example: ``x`` for ``x.shape[0]``.
    """
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def before_calls(made: CompiledFunction, lines: Mapping[ast.Call, list[str]]) -> list[Edit] | None:
    """Insert statements before calls; ``None`` if this is impossible for a call."""
    edits: dict[tuple[int, str], Edit] = {}
    for call, written in lines.items():
        statement = made.code.statement(call)
        if statement is None or not is_at_once(made.code, call, statement):
            return None
        edit = made.code.before(statement, written)
        if edit is None:
            return None
        edits.setdefault((statement.lineno, edit.text), edit)
    return list(edits.values())


def is_at_once(code: ParsedFile, call: ast.Call, statement: ast.stmt) -> bool:
    """Tell whether a statement executes a call exactly once.

    Calls in a lambda, a comprehension or a loop condition are not executed exactly once.
    """
    inner: ast.AST = call
    for outer in code.around(call):
        if isinstance(outer, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return False
        if isinstance(outer, ast.IfExp) and inner is not outer.test:
            return False
        if outer is statement:
            break
        inner = outer
    return not isinstance(statement, (ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def stable(code: ParsedFile, function: Function, names: set[str], until: ast.AST) -> bool:
    """Tell whether names still have their initial values at a node of a function.

    Each name must be a builtin, a module variable, or a parameter that still has the caller's argument.
    """
    given = set(parameters(function))
    if not names <= given | code.module_names | BUILTINS:
        return False
    changed = set[str]().union(*(stored(node) for node in function.body))
    if names & (changed - given):
        return False
    place = (getattr(until, "lineno", 0), getattr(until, "col_offset", 0))
    in_loop = any(isinstance(item, (ast.For, ast.While)) for item in code.around(until))
    for node in ast.walk(function):
        is_set = (
            isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node.id in names & given
        )
        if is_set and (in_loop or (node.lineno, node.col_offset) < place):  # type: ignore[attr-defined]
            return False
    return True


BUILTINS = frozenset(dir(builtins))


def all_calls(code: ParsedFile, function: Function) -> tuple[ast.Call, ...] | None:
    """Return all calls of a function in its file, or ``None``.

    Return ``None`` if the file uses the function in any way except calling it.
    """
    calls: list[ast.Call] = []
    for node in nodes_of(ast.Name, code.tree):
        if node.id == function.name:
            parent = code.parent(node)
            if not (isinstance(parent, ast.Call) and parent.func is node):
                return None
            calls.append(parent)
    return tuple(calls)


def compile_calls(
    code: ParsedFile, called: Sequence[ast.Call], function: Function | None
) -> Iterator[ast.expr]:
    """Yield the decorators and ``torch.compile`` calls that compile called functions."""
    decorators = list(function.decorator_list) if function is not None else []
    for call in called:
        root = call.func
        if is_compile(root):  # torch.compile(f)(x)
            yield root
        named = _visible(code, call, _named(code, root)) if dotted(root) else []
        for node in named:
            if isinstance(node, Function):
                decorators += node.decorator_list
            elif is_compile(node.value):
                yield node.value
        compiled_in_place = (item for item in code.all(ast.Call) if _compiles_itself(item, dotted(root)))
        yield from _visible(code, call, compiled_in_place)
    yield from filter(compiles, dict.fromkeys(decorators))


def compiles(decorator: ast.expr) -> bool:
    """Tell whether a decorator compiles its function."""
    inside = decorator.args if isinstance(decorator, ast.Call) else ()  # for functools.partial
    return is_compile(decorator) or any(map(_is_compile_name, map(dotted, (decorator, *inside))))


def _named(code: ParsedFile, root: ast.expr) -> Iterator[Function | ast.Assign]:
    """Yield the functions and assignments that bind a variable or attribute.

    For an attribute, only the last part of the name is compared.
    """
    name = dotted(root).rpartition(".")[2]
    if isinstance(root, ast.Name):
        for function in code.functions():
            if function.name == name and not isinstance(code.parent(function), ast.ClassDef):
                yield function
    owner = code.definition(root) if dotted(root).startswith("self.") else None
    for statement in code.all(ast.Assign, owner):
        if any(dotted(target).rpartition(".")[2] == name for target in statement.targets):
            yield statement


def _visible(code: ParsedFile, call: ast.Call, named: Iterable[_Node]) -> list[_Node]:
    """Return the bindings that a name in a call refers to.

    They are the bindings in the innermost function around the call that has any. A parameter or an attribute
    may be bound anywhere: then bindings are returned only if all of them are in one function.
    """
    within: dict[Function | None, list[_Node]] = {}
    for node in named:
        within.setdefault(code.function(node), []).append(node)
    scopes = [*(item for item in code.around(call) if isinstance(item, Function)), None]
    nearest = next((within[scope] for scope in scopes if scope in within), None)
    return nearest or (next(iter(within.values())) if len(within) == 1 else [])


def _compiles_itself(call: ast.Call, name: str) -> bool:
    """Tell whether a call is ``model.compile()``, where ``name`` is the module's name."""
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "compile" and not is_compile(call)
    return is_method and dotted(call.func).rpartition(".")[0] == name


def is_compile(node: ast.AST | None) -> TypeGuard[ast.Call]:
    """Tell whether a node is a call of ``torch.compile``."""
    return isinstance(node, ast.Call) and _is_compile_name(dotted(node.func))


def _is_compile_name(name: str) -> bool:
    """Tell whether a name is that of ``torch.compile``, also if torch is imported under another name."""
    return name == "torch.compile" or (
        name.endswith(".compile") and name.partition(".")[0] in ("torch", "th", "pt")
    )


def with_option(code: ParsedFile, node: ast.expr, name: str, value: str) -> Edit:
    """Set a keyword argument of ``torch.compile`` or of any other call.

    ``torch.compile`` may also be a decorator without a call.
    """
    if not isinstance(node, ast.Call):
        return code.behind(node, f"({name}={value})")
    given = next((word.value for word in node.keywords if word.arg == name), None)
    return code.replaced(given, value) if given is not None else with_keyword(code, node, f"{name}={value}")


def with_keyword(code: ParsedFile, call: ast.Call, text: str) -> Edit:
    """Add a keyword argument after the last argument of a call."""
    last = max((*call.args, *(word.value for word in call.keywords)), key=_end, default=None)
    if last is not None:
        whole = code.text(call)
        if len(call.args) == 1 and isinstance(call.args[0], ast.GeneratorExp) and not call.keywords:
            span = code.span(call)
            return Edit(span, f"{whole[:-1]}, {text})")
        end = code.span(last)
        tail = _tail(code, call, last)
        # The keyword is added after all parentheses that enclose the last argument.
        return Edit(
            replace(end, row=tail[0], column=tail[1], end_row=tail[0], end_column=tail[1]), f", {text}"
        )
    span = code.span(call)
    return Edit(
        replace(span, row=span.end_row, column=span.end_column - 1, end_column=span.end_column - 1), text
    )


def _tail(code: ParsedFile, call: ast.Call, last: ast.expr) -> tuple[int, int]:
    """Return the place after the last argument and the parentheses that enclose it."""
    end, limit = code.span(last), code.span(call)
    row, column = end.end_row, end.end_column
    depth = 0
    place = (row, column)
    while (row, column) < (limit.end_row, limit.end_column - 1):
        line = code.source.line(row)
        character = line[column - 1 : column]
        if not character or character == "#":
            row, column = row + 1, 1
            continue
        if character == ")":
            depth += 1
            place = (row, column + 1)
        column += 1
    return place


def _end(node: ast.expr) -> tuple[int, int]:
    return last_row(node), node.end_col_offset or 0
