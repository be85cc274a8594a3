"""Fixes that move code that torch does not trace out of the compiled function.

The moved code runs before the compiled call, or once when the module is imported.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import replace

from ...report.model import Finding
from ...workspace.syntax import (
    COMPREHENSIONS,
    called,
    callee,
    dotted,
    free,
    names,
    stored,
)
from ..effects.reading import changes_before
from ..model import Edit, Fix, Rule, RuleContext
from .calls import BUILTINS, CompiledFunction, all_calls, before_calls, compiled, compiled_rule, stable
from .offering import INDEX
from .syntax import Function, Node, ParsedFile, bracketed, parameters

_CONSTANT = Fix(
    "module-constant",
    "Compute it once, when the module is imported",
    "Every call uses the same object, which is computed when the module is imported.",
    source=INDEX,
)
_PASSED = Fix(
    "pass-in",
    "Compute it before the call, and pass it",
    "The caller computes it before each call.",
    "safe",
    INDEX,
)
_BEFORE = Fix(
    "before-call",
    "Do it before the call",
    "It happens before the function runs, instead of inside the function.",
    source=INDEX,
)
_CONVERTED = Fix(
    "pass-converted",
    "Pass a value that torch can trace",
    "The function gets a converted value.",
    source=INDEX,
)
_UNSCRIPTED = Fix(
    "unscripted",
    "Pass the module without scripting it",
    "The module runs as Python, and is compiled with the rest.",
)
_IMPURE = (
    "time.",
    "random.",
    "open.",
    "input.",
    "datetime.datetime.now.",
    "torch.Generator.",
    "os.urandom.",
    "uuid.",
    "next.",
)
"""Dotted names of functions that return a different value each time, as prefixes with a dot at the end."""


@compiled_rule
def hoisted(made: CompiledFunction, node: Node) -> Iterator[Fix]:
    """Offer to compute a value before the compiled call, or once for the module."""
    value = _value(made.code, node)
    if value is None or isinstance(made.code.parent(value), ast.Expr):
        return  # nobody uses the value of such a call: it prints, for example
    if (edits := _passed(made, value)) is not None:
        yield replace(_PASSED, edits=tuple(edits))
    if (edits := _constant(made.code, value)) is not None:
        yield replace(_CONSTANT, edits=tuple(edits))


@compiled_rule
def moved(made: CompiledFunction, node: Node) -> Iterator[Fix]:
    """Offer to run a statement before the compiled call."""
    statement = made.code.statement(node)
    if isinstance(statement, (ast.Expr, ast.Assign)) and (edits := _moved(made, statement)) is not None:
        yield replace(_BEFORE, edits=tuple(edits))


def converted(kind: str) -> Rule:
    """Make a rule that converts an argument to ``kind``: ``list`` or ``tuple``."""

    @compiled_rule
    def rule(made: CompiledFunction, node: Node) -> Iterator[Fix]:
        code, statement = made.code, made.code.statement(node)
        if made.function is None:
            return
        given = [name for name in parameters(made.function) if name in names(statement or node)]
        for name in given:
            edits: list[Edit] = []
            for call in made.calls:
                argument = made.arguments(call).get(name)
                if argument is None or dotted(callee(argument)).startswith("torch."):
                    break
                if isinstance(argument, ast.Set) and kind == "tuple":
                    parts = [code.argument(item) for item in argument.elts]
                    text = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
                else:
                    text = f"{kind}({code.argument(argument)})"
                edits.append(code.replaced(argument, text))
            else:
                if edits:
                    yield replace(_CONVERTED, edits=tuple(edits))

    return rule


def unscripted(finding: Finding, context: RuleContext) -> Iterator[Fix]:
    """Offer to pass the original module instead of the result of ``torch.jit.script``."""
    made = compiled(finding, context)
    if made is None:
        return
    for call in made.code.all(ast.Call):
        if dotted(call.func) in ("torch.jit.script", "torch.jit.freeze") and len(call.args) == 1:
            edit = made.code.replaced(call, made.code.text(call.args[0]))
            yield replace(_UNSCRIPTED, edits=(edit,))


def _value(code: ParsedFile, node: ast.AST) -> ast.expr | None:
    """Return the expression that a finding is about or ``None``.

    For an assignment this is the assigned value, for the name of a called method the whole call, and
    otherwise the node itself.
    """
    if isinstance(node, ast.Assign):
        return node.value
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        outer = code.parent(node)
        return outer if isinstance(outer, ast.Call) and outer.func is node else node
    kinds = (ast.Call, ast.Subscript, ast.Compare, ast.BinOp)
    is_read = not isinstance(node, ast.Subscript) or isinstance(node.ctx, ast.Load)
    return node if isinstance(node, kinds) and is_read else None


def _name_for(code: ParsedFile, value: ast.expr) -> str:
    """Return a name for a value: that of its variable or of the called function."""
    parent = code.parent(value)
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    name = dotted(target) or called(value)
    return name if name.isidentifier() else "value"


def _constant(code: ParsedFile, value: ast.expr) -> list[Edit] | None:
    """Assign a value to a module variable before the function.

    Return ``None`` if the value depends on variables of the function.
    """
    place, function = code.of_module(value), code.function(value)
    read = map(dotted, ast.walk(value))
    if place is None or function is None or any(f"{path}.".startswith(_IMPURE) for path in read):
        return None
    earlier = set().union(*(stored(item) for item in code.tree.body[: code.tree.body.index(place)]), BUILTINS)
    if not free(value) <= earlier:
        return None
    name = code.new_name(_name_for(code, value).upper().strip("_") or "VALUE")
    edit = code.before(place, [f"{name} = {code.assigned(value)}", "", ""])
    if edit is None:
        return None
    edit = replace(edit, text="\n".join(line.rstrip(" \t") for line in edit.text.split("\n")))
    return [edit, code.replaced(value, name)]


def _passed(made: CompiledFunction, value: ast.expr) -> list[Edit] | None:
    """Turn a value into an argument.

    A parameter is added to the function, and each call in the file passes the value.
    """
    code, function = made.code, made.function
    if function is None or made.is_method or code.function(value) is not function:
        return None
    calls = all_calls(code, function)
    used = free(value)
    if not calls or not stable(code, function, used, value) or not set(made.calls) <= set(calls):
        return None
    if not _is_computed_always(code, function, value) or changes_before(code, function, value, used):
        return None
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or not given.args:
        return None
    name, parent = _name_for(code, value), code.parent(value)
    if isinstance(parent, ast.Assign) and dotted(parent.targets[0]) == name:
        named = [node for node in code.all(ast.Name, function) if node.id == name]
        is_stored_again = sum(not isinstance(node.ctx, ast.Load) for node in named) > 1
        if len(parent.targets) > 1 or is_stored_again:
            return None
        given_by = code.removed(parent)
    else:
        name = code.new_name(name)
        given_by = code.replaced(value, name)
    edits = [code.behind(given.args[-1], f", {name}"), given_by]
    for call in calls:
        arguments = made.arguments(call)
        if any(isinstance(item, ast.Starred) for item in call.args) or any(
            word.arg is None for word in call.keywords
        ):
            return None
        wanted = [item.arg for item in given.args if item.arg in used]
        if any(item not in arguments for item in wanted) or code.function(call) is function:
            return None
        lines: list[str] = []
        written: dict[str, str] = {}
        for item in wanted:
            argument = arguments[item]
            if isinstance(argument, (ast.Name, ast.Constant)) or dotted(argument):
                written[item] = code.text(argument)
            else:
                new = code.new_name(item)
                lines.append(f"{new} = {code.assigned(argument)}")
                edits.append(code.replaced(argument, new))
                written[item] = new
        added = before_calls(made, {call: lines}) if lines else []
        if added is None:
            return None
        edits += added
        edits.append(code.appended(call, f"{name}={code.renamed(value, written)}"))
    return edits


_AT_TIMES = (
    *COMPREHENSIONS, ast.Lambda, ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Try, ast.Match,
)  # fmt: skip
"""Syntax whose parts may be evaluated never, or several times."""


def _is_computed_always(code: ParsedFile, function: Function, value: ast.expr) -> bool:
    """Tell whether a function that runs to its end evaluates a value exactly once."""
    around = itertools.takewhile(lambda item: item is not function, code.around(value))
    earlier = (item for item in ast.walk(function) if isinstance(item, (ast.Return, ast.Raise)))
    returns = any(item.lineno < value.lineno for item in earlier)
    return not returns and not any(isinstance(item, _AT_TIMES) for item in around)


def _moved(made: CompiledFunction, statement: ast.Expr | ast.Assign) -> list[Edit] | None:
    """Run a statement before each call, with the arguments of the call."""
    code, function = made.code, made.function
    if function is None or statement not in function.body or made.is_method:
        return None
    if isinstance(statement, ast.Assign) and any(
        isinstance(target, ast.Name) for target in statement.targets
    ):
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or code.is_read_later(statement, target.id):
            return None
        node: ast.expr | ast.stmt = statement.value
    elif isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Call):
        return None
    else:
        node = statement.value if isinstance(statement, ast.Expr) else statement
    used = free(node) & set(parameters(function))
    if not stable(code, function, free(node), statement) or not made.calls:
        return None
    if changes_before(code, function, statement, used):
        return None
    edits = [code.removed(statement)]
    lines: dict[ast.Call, list[str]] = {}
    for call in made.calls:
        arguments, own = made.arguments(call), list[str]()
        written: dict[str, str] = {}
        for name in sorted(used):
            argument = arguments.get(name)
            if argument is None:
                return None
            if isinstance(argument, ast.Name):
                written[name] = argument.id
            else:
                written[name] = code.new_name(name)
                own.append(f"{written[name]} = {code.assigned(argument)}")
                edits.append(code.replaced(argument, written[name]))
        text = code.renamed(node, written)
        own.append(bracketed(text) if isinstance(node, ast.expr) else text)
        lines[call] = own
    added = before_calls(made, lines)
    return None if added is None else [*edits, *added]
