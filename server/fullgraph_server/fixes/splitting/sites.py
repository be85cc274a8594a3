"""The place where a function is compiled, and the edits that compile a part of it instead."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...report.model import Finding
from ...workspace.syntax import COMPREHENSIONS, SCOPES, called, dotted, free, last_row, nodes_of
from ..model import Edit, RuleContext
from ..rules.calls import BUILTINS, compiles, is_compile
from ..rules.syntax import Function, ParsedFile, code_of, parameters
from .dependencies import bindings

_MODES = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad")
"""Decorators that may stay with the function that is split."""
_DEEPEST = 4
"""How many variables and copies are followed from a copy to its original."""


@dataclass(frozen=True)
class CompileSite:
    """How a function is compiled.

    ``node`` is the decorator or the call that compiles it. ``decorator`` is the text of the decorator for its
    part. ``removed`` is the function's own decorator. ``edits`` change the call of ``torch.compile``.
    ``reason`` says how other code can notice the edits. ``alias`` is the variable or attribute that they
    remove.
    """

    node: ast.expr
    decorator: str
    removed: tuple[ast.expr, ...] = ()
    edits: tuple[Edit, ...] = ()
    reason: str = ""
    alias: str = ""


def compiled_function(
    finding: Finding, context: RuleContext
) -> tuple[ParsedFile, Function, CompileSite] | None:
    """Return the compiled function that leads to a finding, with the place where it is compiled."""
    for filename, row in places_of(finding):
        code = code_of(context.files.get(filename))
        function = function_at(code, row) if code is not None else None
        site = site_of(code, function) if code is not None and function is not None else None
        if code is not None and function is not None and site is not None:
            return code, function, site
    return None


def places_of(finding: Finding) -> Iterator[tuple[str, int]]:
    """Yield the calls that lead to a finding, the outermost first, then the finding's own place."""
    yield from ((call.filename, call.row) for call in finding.stack)
    yield finding.span.filename, finding.span.row


def function_at(code: ParsedFile, row: int) -> Function | None:
    """Return the innermost function with a row in its body."""
    around = [item for item in code.functions() if item.lineno <= row <= last_row(item)]
    return max(around, key=lambda item: item.lineno, default=None)


def site_of(code: ParsedFile, function: Function) -> CompileSite | None:
    """Return the place where a function is compiled; ``None`` if no single decorator can replace it.

    Several calls of ``torch.compile`` with the same options count as one place if they certainly compile
    objects of the same class, such as a student and its teacher.
    """
    decorators = [item for item in function.decorator_list if compiles(item)]
    others = [item for item in function.decorator_list if item not in decorators]
    if any(
        (dotted(item.func) if isinstance(item, ast.Call) else dotted(item)) not in _MODES for item in others
    ):
        return None
    if decorators:
        (first, *more) = decorators
        rest = code.source.line(last_row(first))[code.span(first).end_column - 1 :]
        return CompileSite(first, f"@{code.text(first)}{rest}", (first,)) if not more else None
    calls = list(_calls_of(code, function))
    sites = [_from_call(code, function, call, keeps_alias=len(calls) > 1) for call in calls]
    known = [site for site in sites if site is not None]
    if not known or len(known) < len(sites) or len({site.decorator for site in known}) > 1:
        return None
    owner = code.parent(function)
    if len(known) > 1 and not (isinstance(owner, ast.ClassDef) and _are_apart(code, calls, owner)):
        return None
    reason = " ".join(dict.fromkeys(site.reason for site in known))
    return replace(known[0], edits=tuple(edit for site in known for edit in site.edits), reason=reason)


def _are_apart(code: ParsedFile, calls: list[ast.Call], owner: ast.ClassDef) -> bool:
    """Tell whether calls certainly compile objects of a class, and can be removed without each other."""
    statements = {code.statement(call) for call in calls}
    blocks = [code.block(item) for item in statements if item is not None]
    return (
        all(call.args and _is_module(code, call.args[0], owner, surely=True) for call in calls)
        and not any(call in ast.walk(other) for call in calls for other in calls if call is not other)
        and not any(statements.issuperset(block) for block in blocks)
    )


def _calls_of(code: ParsedFile, function: Function) -> Iterator[ast.Call]:
    """Yield the calls that compile a function, or a module whose method it is."""
    owner = code.parent(function)
    in_class = owner if isinstance(owner, ast.ClassDef) else None
    is_forward = in_class is not None and function.name in ("forward", "__call__")
    for call in code.all(ast.Call):
        if is_compile(call):
            target = call.args[0] if call.args else None
        else:  # model.compile()
            is_method = isinstance(call.func, ast.Attribute) and called(call) == "compile" and not call.args
            target = (
                call.func.value if is_forward and isinstance(call.func, ast.Attribute) and is_method else None
            )
        if target is None:
            continue
        is_own = dotted(target) == function.name
        if in_class is not None:
            value = (
                target.value if isinstance(target, ast.Attribute) and target.attr == function.name else None
            )
            is_own = value is not None and _is_of(code, value, in_class)
        if (
            is_own
            or _is_made_by(code, target, function)
            or (is_forward and in_class is not None and _is_module(code, target, in_class))
        ):
            yield call


def _is_of(code: ParsedFile, node: ast.expr, owner: ast.ClassDef) -> bool:
    """Tell whether an expression may be an object of a class: ``self`` in it, or an instance."""
    return (dotted(node) == "self" and code.definition(node) is owner) or _is_module(code, node, owner)


def _is_made_by(code: ParsedFile, node: ast.expr, function: Function) -> bool:
    """Tell whether an expression calls the function that defines and returns a function."""
    maker = code.function(function)
    return (
        maker is not None
        and isinstance(node, ast.Call)
        and dotted(node.func) == maker.name
        and any(dotted(item.value) == function.name for item in nodes_of(ast.Return, maker))
    )


def _is_module(
    code: ParsedFile, node: ast.expr, owner: ast.ClassDef, depth: int = 0, *, surely: bool = False
) -> bool:
    """Tell whether an expression may be an instance of a class, or ``surely`` is one."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called(node) != "deepcopy":
        node = node.func.value  # Net().eval()
    if called(node) == "deepcopy" and isinstance(node, ast.Call) and len(node.args) == 1 and depth < _DEEPEST:
        return _is_module(code, node.args[0], owner, depth + 1, surely=surely)
    if isinstance(node, ast.Call):
        return dotted(node.func) == owner.name
    name = dotted(node)
    scope = code.function(node)
    if scope is not None and name in parameters(scope):
        return False  # it may be any module
    values = [item.value for item in code.all(ast.Assign) if any(dotted(one) == name for one in item.targets)]
    copied = [value for value in values if "deepcopy" in map(called, nodes_of(ast.Call, value))]
    if copied and depth < _DEEPEST:
        return any(_is_module(code, value, owner, depth + 1, surely=surely) for value in values)
    made = {called(inner) for value in values for inner in nodes_of(ast.Call, value)}
    classes = {item.name for item in code.all(ast.ClassDef)}
    return bool(name) and (owner.name in made or (not surely and not made & classes))


def _from_call(
    code: ParsedFile, function: Function, call: ast.Call, *, keeps_alias: bool = False
) -> CompileSite | None:
    """Return the site of a call that compiles a function; ``None`` if it cannot become a decorator.

    With ``keeps_alias``, the variable of ``fast = torch.compile(net)`` stays, and holds ``net`` itself.
    """
    options = ", ".join(
        code.text(word.value) if word.arg is None else f"{word.arg}={code.text(word.value)}"
        for word in call.keywords
    )
    known = BUILTINS | code.imported_names
    if len(call.args) > 1 or any(free(word.value) - known or word.arg is None for word in call.keywords):
        return None
    torch = code.of_torch("torch.compile")
    decorator = f"@{torch}({options})" if options else f"@{torch}"
    statement = code.statement(call)
    if statement is None:
        return None
    owner = code.parent(function)
    if not isinstance(owner, ast.ClassDef) and _is_used_elsewhere(code, function, call):
        return None
    name = f"{owner.name}.{function.name}" if isinstance(owner, ast.ClassDef) else function.name
    reason = f"`{name}` now always runs the compiled part, also for callers that used it uncompiled."
    if not call.args:  # model.compile()
        if not isinstance(statement, ast.Expr):
            return None
        return CompileSite(call, decorator, edits=(code.removed(statement),), reason=reason)
    target = call.args[0]
    is_method = isinstance(target, ast.Attribute) and target.attr == function.name
    if isinstance(owner, ast.ClassDef) and not is_method:
        reason += f" The module is a `{owner.name}`: `state_dict` has no `_orig_mod.` in its keys."
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is call else []
    alias = ""
    if [dotted(item) for item in targets] == [dotted(target)] and dotted(target):
        edits = [code.removed(statement)]
    else:
        edits = [] if keeps_alias else _without_alias(code, function, statement, call)
        alias = dotted(targets[0]).rpartition(".")[2] if edits and targets else ""
        kind = "attribute" if targets and isinstance(targets[0], ast.Attribute) else "variable"
        reason += f" The {kind} `{alias}` is gone." if alias else ""
        edits = edits or [code.replaced(call, code.text(target))]
    return CompileSite(call, decorator, edits=tuple(edits), reason=reason, alias=alias)


def _without_alias(code: ParsedFile, function: Function, statement: ast.stmt, call: ast.Call) -> list[Edit]:
    """Return edits that use ``net`` itself in place of the variable of ``fast = torch.compile(net)``.

    There are none if one of them may be another object later, or if the file does not use the variable.
    """
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is call else []
    alias, target = targets[0] if len(targets) == 1 else None, call.args[0]
    scope = code.function(statement) or code.tree
    root = dotted(target).partition(".")[0]
    if isinstance(alias, ast.Attribute) and code.is_alone(statement):
        return _without_attribute(code, statement, alias, target)
    if not isinstance(alias, ast.Name) or not root or not code.is_alone(statement):
        return []
    counts = Counter(name for item in scope.body for _, _, name in bindings(item))
    counts.update(parameters(scope) if isinstance(scope, Function) else ())
    uses = [item for item in nodes_of(ast.Name, scope) if item.id == alias.id and item is not alias]
    inner = {item for use in uses for item in code.around(use) if item is not scope} - {
        *code.around(statement)
    }
    is_hidden = any(_binds(item, {alias.id, root}) for item in inner)
    is_inside = any(function in code.around(item) for item in uses)
    shared = {name for item in nodes_of(ast.Global, code.tree) for name in item.names}
    shared |= {name for item in nodes_of(ast.Nonlocal, code.tree) for name in item.names}
    is_global = bool({alias.id, root} & shared)
    is_set = isinstance(target, ast.Attribute) and _is_set_later(code, target.attr)
    if not uses or counts[alias.id] != 1 or counts[root] > 1 or is_hidden or is_inside or is_global or is_set:
        return []
    text = code.text(target)
    return [code.removed(statement), *(code.replaced(item, text) for item in uses)]


def _without_attribute(
    code: ParsedFile, statement: ast.stmt, alias: ast.Attribute, target: ast.expr
) -> list[Edit]:
    """Return edits that use ``self.step`` itself in place of ``self.fast = torch.compile(self.step)``.

    There are none if the attribute may be set elsewhere, or be named in a string.
    """
    uses = [item for item in code.all(ast.Attribute) if item.attr == alias.attr and item is not alias]
    words = (item.value for item in code.all(ast.Constant) if isinstance(item.value, str))
    is_shared = any(not isinstance(item.ctx, ast.Load) for item in uses) or alias.attr in words
    owner, _, own = dotted(target).rpartition(".")
    if not uses or is_shared or not owner == dotted(alias.value) == "self" or _is_set_later(code, own):
        return []
    texts = {use: f"{code.text(use.value)}.{own}" for use in uses}
    return [code.removed(statement), *(code.replaced(use, text) for use, text in texts.items())]


def _binds(node: ast.AST, wanted: set[str]) -> bool:
    """Tell whether a function, class or comprehension has variables of its own with some names."""
    if isinstance(node, ast.Lambda):
        return any(item.arg in wanted for item in nodes_of(ast.arg, node))
    if isinstance(node, (*COMPREHENSIONS, *SCOPES)):
        own = {item.arg for item in nodes_of(ast.arg, node)}
        stored = {item.id for item in nodes_of(ast.Name, node) if not isinstance(item.ctx, ast.Load)}
        defined = {name for item in getattr(node, "body", ()) for _, _, name in bindings(item)}
        return bool(wanted & (own | stored | defined))
    return False


def _is_set_later(code: ParsedFile, attribute: str) -> bool:
    """Tell whether code outside of constructors sets an attribute."""
    stores = [item for item in code.all(ast.Attribute) if item.attr == attribute]
    return any(
        not isinstance(item.ctx, ast.Load) and getattr(code.function(item), "name", "") != "__init__"
        for item in stores
    )


def _is_used_elsewhere(code: ParsedFile, function: Function, call: ast.Call) -> bool:
    """Tell whether a function is used uncompiled.

    After ``f = torch.compile(f)``, the name stands for the compiled function. A function that returns it
    counts as the call that compiles it.
    """
    inside = set(ast.walk(call))
    maker = code.function(function)
    inside |= {item for one in nodes_of(ast.Return, maker) for item in ast.walk(one)} if maker else set()
    statement = code.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if any(dotted(item) == function.name for item in targets):
        return False
    return any(
        node.id == function.name and isinstance(node.ctx, ast.Load) and node not in inside
        for node in nodes_of(ast.Name, code.tree)
    )
