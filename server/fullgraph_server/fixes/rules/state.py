"""Fixes for recompilations that move settings, hooks or objects before a call.

The original program makes, registers or sets them after the call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ...workspace.syntax import called, dotted, names, stored
from ..model import Fix
from .calls import CompiledFunction, is_at_once

_ONCE = Fix(
    "make-once",
    "Make it once, before the loop",
    "It is made once, and every iteration uses the same object.",
    "safe",
    "torch/_dynamo/guards.py",
)
_ONE_FOR_ALL = replace(
    _ONCE,
    change="It is made once: the next iterations see what an iteration changes in it.",
    safety="unsafe",
)
_EARLIER = Fix(
    "set-earlier",
    "Do it before the first call",
    "It applies to the first call, too.",
    source="torch/csrc/dynamo/guards.cpp",
)


def earlier(made: CompiledFunction, setter: str) -> Iterator[Fix]:
    """Move a call that sets global state before the first compiled call.

    Calls that register hooks or layers are moved, too.
    """
    code, wanted = made.code, setter.rpartition(".")[2]
    place, following = _after_call(made)
    later = [
        node for node in following
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        and dotted(node.value.func).rpartition(".")[2] == wanted
    ]  # fmt: skip
    contexts = [
        node for node in following
        if isinstance(node, ast.With) and any(_is_context(item.context_expr, wanted) for item in node.items)
    ]  # fmt: skip
    if later and (edit := code.before(place, [code.text(later[0])])) is not None:
        yield replace(_EARLIER, edits=(edit, code.removed(later[0])))
        yield replace(_EARLIER, edits=(edit,))
    if contexts and code.is_alone(place):
        header = ", ".join(
            code.text(item.context_expr) for item in contexts[0].items if item.optional_vars is None
        )
        if header and "\n" not in code.text(place):
            yield replace(_EARLIER, edits=(code.under(f"with {header}", place),))


def _after_call(made: CompiledFunction) -> tuple[ast.stmt, list[ast.stmt]]:
    """Return the first call's statement and the later statements of its block.

    Statements on the same line as the call are left out.
    """
    place = made.code.statement(made.calls[0])
    assert place is not None, "a call is in a statement"
    return place, [item for item in made.code.following(place) if item.lineno > place.lineno]


def _is_context(node: ast.expr, setter: str) -> bool:
    return isinstance(node, ast.Call) and setter in ("", dotted(node.func).rpartition(".")[2])


def earlier_undone(made: CompiledFunction) -> Iterator[Fix]:
    """Let a parameter require gradients in every call.

    The edit changes the program's call ``requires_grad_(False)``.
    """
    code = made.code
    for node in code.all(ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_" and node.args:
            value = node.args[0]
            if isinstance(value, ast.Constant) and value.value is False:
                yield replace(_EARLIER, edits=(code.replaced(value, "True"),),
                              change="The parameter still requires gradients.")  # fmt: skip


def earlier_attribute(made: CompiledFunction, text: str) -> Iterator[Fix]:
    """Set an attribute before the first call, if the program sets it after the call."""
    code, member = made.code, text.rpartition(".")[2]
    place, following = _after_call(made)
    for node in following:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Attribute) and target.attr == member:
                edit = code.before(place, [code.text(node)])
                if edit is not None:
                    yield replace(_EARLIER, edits=(edit,))
                return


# -- objects -------------------------------------------------------------------------------------------


def made_once(made: CompiledFunction, name: str) -> Iterator[Fix]:
    """Make an argument once, before the loop, if it is the same in all iterations.

    In the original program, each iteration makes a new object.
    """
    code = made.code
    for call in made.calls:
        statement = code.statement(call)
        loop = next((item for item in code.around(call) if isinstance(item, (ast.For, ast.While))), None)
        if statement is None or loop is None:
            continue
        changing = set().union(*(stored(item) for item in loop.body)) | (
            names(loop.target) if isinstance(loop, ast.For) else set()
        )
        argument = made.arguments(call).get(name)
        if isinstance(call.func, ast.Call):
            argument = next((word.value for word in call.func.keywords if word.arg == "backend"), argument)
            name = "backend"
        if isinstance(argument, ast.Name):
            for item in loop.body:
                is_made = isinstance(item, ast.Assign) and dotted(item.targets[0]) == argument.id
                if is_made and not names(item.value) & changing:  # type: ignore[attr-defined]
                    edit = code.before(loop, [code.text(item)])
                    if edit is not None:
                        yield replace(_once(item.value), edits=(edit, code.removed(item)))  # type: ignore[attr-defined]
                    return
        elif argument is not None and not names(argument) & changing and is_at_once(code, call, statement):
            new = code.new_name(name or "value")
            edit = code.before(loop, [f"{new} = {code.assigned(argument)}"])
            if edit is not None:
                yield replace(_once(argument), edits=(edit, code.replaced(argument, new)))
            return


def _once(value: ast.expr) -> Fix:
    """Return the safe fix for a value without state, otherwise the unsafe fix.

    A function, for example, has no state.
    """
    is_plain = isinstance(value, (ast.Lambda, ast.Constant, ast.Name, ast.Attribute))
    return _ONCE if is_plain or called(value) == "partial" else _ONE_FOR_ALL
