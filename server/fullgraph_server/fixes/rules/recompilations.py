"""Fixes for recompilations: a finding's remedies (``text/remedies.py``) as edits."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from ...report.model import Finding
from ...text.remedies import Remedy, RemedyKind
from ...workspace.syntax import called, dotted, free, nodes_of
from ..effects.reading import effects_of
from ..model import Edit, Fix, RuleContext
from .arguments import neutral_entries, neutral_tensors, stacked, whole_tensors
from .calls import (
    CompiledFunction,
    before_calls,
    compile_calls,
    compiled,
    decorated,
    guarded_name,
    root_of,
    with_keyword,
    with_option,
)
from .state import earlier, earlier_attribute, earlier_undone, made_once

_PAGE = "https://docs.pytorch.org/docs/stable/compile/dynamic_shapes_core_concepts.html"
_MARK = Fix(
    "mark-dynamic",
    "Mark the size as dynamic before the call",
    "One graph serves every size; torch raises an error if the code needs one particular size.",
    "safe",
    _PAGE,
    replaces=False,
)
_UNBACKED = replace(
    _MARK,
    rule="mark-unbacked",
    title="Mark the size as unbacked before the call",
    change="One graph serves every size, including 0 and 1; torch raises an error if the code tests it.",
)
_DYNAMIC = replace(
    _MARK,
    rule="dynamic",
    title="Compile with `dynamic=True`",
    change="One graph serves every size and number, and may be slower than one for each.",
)
_SETTING = Fix(
    "setting",
    "Change what torch specializes on",
    "The setting holds for everything that is compiled afterwards.",
    "safe",
    "torch/_dynamo/config.py",
    replaces=False,
)
_ARGUMENT = Fix(
    "convert-argument",
    "Pass the same kind of value in every call",
    "The compiled function gets a converted value: results may have another dtype, layout or device.",
    source="torch/_dynamo/guards.py",
)
_LAYOUT = replace(
    _ARGUMENT,
    rule="one-layout",
    title="Give the tensor one memory layout",
    change="A tensor with another layout is copied before the call.",
    safety="safe",
)
_NUMBER = replace(
    _ARGUMENT,
    rule="number-as-tensor",
    title="Pass the number as a tensor",
    change="The compiled function gets a tensor in every call, and computes in the precision of that tensor.",
)
_RATE = Fix(
    "tensor-learning-rate",
    "Pass the learning rate to the optimizer as a tensor",
    "All code that reads the learning rate gets a tensor: change it with `fill_`, not by assignment.",
    source="https://docs.pytorch.org/tutorials/recipes/compiling_optimizer_lr_scheduler.html",
)
_DROP = Fix(
    "drop-last",
    "Drop the last, smaller batch",
    "The samples of the last, smaller batch are not used.",
    source="https://docs.pytorch.org/docs/stable/data.html",
)


def recompilations(finding: Finding, context: RuleContext) -> Iterator[Fix]:
    """Offer the remedies that the advice on a recompilation names, as edits."""
    made = compiled(finding, context)
    if made is None:
        return
    for remedy in finding.remedies:
        if remedy.kind in ("mark", "mark-unbacked", "dynamic", "setting"):
            yield from _compiled_otherwise(made, remedy)
        else:
            yield from _changed_otherwise(made, remedy, guarded_name(finding, made))


def compiled_otherwise(finding: Finding, context: RuleContext, remedy: Remedy) -> Iterator[Fix]:
    """Offer a remedy about sizes, as edits for the function that recompiled."""
    made = compiled(finding, context)
    if made is None and remedy.kind == "dynamic":
        made = decorated(finding, context)
    if made is not None:
        yield from _compiled_otherwise(made, remedy)


def _compiled_otherwise(made: CompiledFunction, remedy: Remedy) -> Iterator[Fix]:
    """Mark sizes, compile with ``dynamic=True``, or change what torch specializes on."""
    settings = [made.code.setting(remedy.setting)] if remedy.setting else []
    if remedy.kind == "setting":
        yield replace(_SETTING, edits=tuple(settings))
    elif remedy.kind == "dynamic":
        added = _dynamic(made)
        for edits in ([*_converted(made, remedy), *added], added) if added else ():
            yield replace(_DYNAMIC, edits=(*settings, *edits))
        if settings:
            yield replace(_SETTING, edits=tuple(settings))
    else:
        calls = [call for text in remedy.code if isinstance(call := expression(text), ast.Call)]
        if (marked := _marked(made, calls)) is not None:
            rule = _UNBACKED if remedy.kind == "mark-unbacked" else _MARK
            yield replace(rule, edits=(*settings, *marked))


def _changed_otherwise(made: CompiledFunction, remedy: Remedy, name: str) -> Iterator[Fix]:
    """Change the argument ``name`` of the calls, or state that is set before calls."""
    code = remedy.code[0] if remedy.code else ""
    if (change := _CHANGES.get(remedy.kind)) is not None:
        yield from change(made, name, code)
    elif isinstance(call := expression(code), ast.Call):
        yield from _converting(made, remedy.kind, call, name)


def _converting(made: CompiledFunction, kind: RemedyKind, call: ast.Call, name: str) -> Iterator[Fix]:
    """Convert the argument ``name`` of the calls, as the kind of remedy requires."""
    if kind == "number-as-tensor":
        yield from _as_tensor(made, call)
    elif kind == "one-class":
        yield from _of_one_class(made, name, call)
    elif isinstance(call.func, ast.Attribute):
        effects = effects_of(made.code, made.function, {}) if made.function is not None else None
        # A function that changes its argument must not get a copy.
        is_changed = effects is not None and name in effects.changes
        edits = [] if is_changed else _wrapped(made, call, call.func.value)
        if edits and kind == "one-rank":
            yield from _ranked(made, call, call.func.value)
        elif edits:
            yield replace(_LAYOUT if kind == "one-layout" else _ARGUMENT, edits=tuple(edits))
        elif call.func.attr == "requires_grad_":
            yield from earlier_undone(made)


# -- sizes ---------------------------------------------------------------------------------------------


def expression(text: str) -> ast.expr | None:
    """Return the syntax tree of an expression; ``None`` for other text."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _marked(made: CompiledFunction, marks: list[ast.Call]) -> list[Edit] | None:
    """Mark tensors before each call, under the names that they have there.

    A tensor without a name is assigned to a new variable. Return ``None`` if a tensor cannot be named, or if
    no statement can be inserted before a call.
    """
    code, edits = made.code, list[Edit]()
    lines: dict[ast.Call, list[str]] = {}
    for call in made.calls:
        passed, own = made.arguments(call), list[str]()
        named: dict[str, str] = {}
        for mark in marks:
            root = root_of(mark.args[0])
            if root is None:
                return None
            argument = passed.get(root.id)
            if root.id == "self" and made.is_method:
                written = dotted(call.func)
            elif argument is None and made.function is not None and root.id in _own(made):
                return None
            elif argument is None or dotted(argument):
                written = dotted(argument) or root.id
            else:
                written = named.get(root.id, "")
                if not written:
                    written = named[root.id] = code.new_name(root.id)
                    own.append(f"{written} = {code.assigned(argument)}")
                    edits.append(code.replaced(argument, written))
            if not written:
                return None
            target = ast.unparse(mark.args[0])
            inside = target[len(root.id) :]
            own.append(code.of_torch(f"{dotted(mark.func)}({written}{inside}, {ast.unparse(mark.args[1])})"))
        lines[call] = own
    added = before_calls(made, lines)
    if added is None:
        return None
    return [*added, *dict.fromkeys(edits), *code.importing_torch()]


def _own(made: CompiledFunction) -> set[str]:
    return {item.arg for item in nodes_of(ast.arg, made.function.args)} if made.function else set()


def _dynamic(made: CompiledFunction) -> list[Edit]:
    """Pass ``dynamic=True`` in each ``torch.compile`` of the function."""
    edits: list[Edit] = []
    for node in dict.fromkeys(compile_calls(made.code, made.calls, made.function)):
        given = {word.arg: made.code.text(word.value) for word in getattr(node, "keywords", ())}
        if None not in given and given.get("dynamic") != "True":  # `**options` may contain `dynamic`
            edits.append(with_option(made.code, node, "dynamic", "True"))
    return edits


# -- arguments -----------------------------------------------------------------------------------------


def _converted(made: CompiledFunction, remedy: Remedy) -> list[Edit]:
    """Convert numbers that calls pass, as in ``float(n)``, if the remedy says so."""
    for text in remedy.code:
        node = expression(text)
        if isinstance(node, ast.Call) and len(node.args) == 1:
            return _wrapped(made, node, node.args[0]) or []
    return []


def _wrapped(made: CompiledFunction, template: ast.expr, place: ast.expr) -> list[Edit] | None:
    """Wrap an argument of each call in the expression of a remedy.

    ``place`` is the part of ``template`` to replace by the argument. Return ``None`` if a call does not pass
    it.
    """
    code, text = made.code, ast.unparse(template)
    passed = made.passed(place.id) if isinstance(place, ast.Name) else None
    if not isinstance(place, ast.Name) or passed is None:
        return None
    written = ((item, _in_place(text, place.id, code.operand(item))) for item in passed)
    return [code.replaced(item, code.of_torch(new)) for item, new in written]


def _in_place(text: str, name: str, written: str) -> str:
    return re.sub(rf"(?<![\w.'\"]){re.escape(name)}(?![\w'\"])", lambda _: written, text, count=1)


_CONTAINERS = ("list", "tuple", "float")


def _learning_rate(made: CompiledFunction) -> Iterator[Fix]:
    """Pass each optimizer's learning rate as a tensor, and write later rates into it."""
    code, edits = made.code, list[Edit]()
    for node in ast.walk(code.tree):
        if isinstance(node, ast.Call) and ".optim" in f".{dotted(node.func)}":
            for word in node.keywords:
                if word.arg == "lr" and not isinstance(word.value, ast.Call):
                    edits.append(
                        code.replaced(word.value, code.of_torch(f"torch.tensor({code.text(word.value)})"))
                    )
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            key = target.slice if isinstance(target, ast.Subscript) else None
            if isinstance(key, ast.Constant) and key.value == "lr":
                edits.append(code.replaced(node, f"{code.text(target)}.fill_({code.text(node.value)})"))
    if any(".tensor(" in edit.text for edit in edits):
        yield replace(_RATE, edits=tuple(edits))


def _drop_last(made: CompiledFunction) -> Iterator[Fix]:
    code = made.code
    loaders = [
        node for node in code.all(ast.Call)
        if dotted(node.func).rpartition(".")[2] == "DataLoader"
        and not any(word.arg == "drop_last" for word in node.keywords)
    ]  # fmt: skip
    if loaders:
        yield replace(_DROP, edits=tuple(with_keyword(code, node, "drop_last=True") for node in loaders))


def _ranked(made: CompiledFunction, template: ast.Call, place: ast.expr) -> Iterator[Fix]:
    """Change the rank of an argument in the last call.

    If there is only one call, the rank is changed only for tensors that have dimensions.
    """
    code, root = made.code, root_of(place)
    if root is None:
        return
    arguments = [made.arguments(call).get(root.id) for call in made.calls]
    if not arguments or None in arguments:
        return
    argument = arguments[-1]
    assert argument is not None
    text = _in_place(ast.unparse(template), root.id, code.operand(argument))
    if len(arguments) == 1:
        if called(template) != "squeeze" or not isinstance(argument, ast.Name):
            return
        text = f"{text} if {argument.id}.dim() else {argument.id}"
    yield replace(_ARGUMENT, edits=(code.replaced(argument, text),))


def _as_tensor(made: CompiledFunction, template: ast.Call) -> Iterator[Fix]:
    """Pass ``torch.as_tensor(n, dtype=...)`` instead of a number."""
    code = made.code
    if isinstance(template.args[0], ast.Constant):
        yield from _global_number(made)
        return
    value = template.args[0]
    passed = made.passed(value.id) if isinstance(value, ast.Name) else None
    dtype = next(
        (code.of_torch(ast.unparse(word.value)) for word in template.keywords if word.arg == "dtype"), ""
    )
    ends = f", dtype={dtype})" if dtype else ")"
    texts = {item: code.of_torch(f"torch.as_tensor({code.text(item)}{ends}") for item in passed or ()}
    if texts:
        yield replace(_NUMBER, edits=tuple(itertools.starmap(code.replaced, texts.items())))


def _global_number(made: CompiledFunction) -> Iterator[Fix]:
    """Assign tensors instead of integers to a variable of the module."""
    code, edits = made.code, list[Edit]()
    if made.function is None:
        return
    wanted = free(made.function) & code.module_names
    for node in code.all(ast.stmt):
        found: list[ast.expr] = []
        if code.function(node) is None and isinstance(node, ast.Assign) and dotted(node.targets[0]) in wanted:
            found = [node.value]
        elif code.function(node) is None and isinstance(node, ast.For) and dotted(node.target) in wanted:
            found = list(node.iter.elts) if isinstance(node.iter, (ast.Tuple, ast.List)) else []
        numbers = [item for item in found if isinstance(item, ast.Constant) and type(item.value) is int]
        edits += [code.replaced(item, code.of_torch(f"torch.tensor({code.text(item)})")) for item in numbers]
    if edits:
        yield replace(_NUMBER, edits=tuple(edits), change="The variable becomes a tensor.")


def _of_one_class(made: CompiledFunction, name: str, template: ast.Call) -> Iterator[Fix]:
    """Convert the sequence that the second call passes to the first call's type."""
    if dotted(template.func) not in _CONTAINERS or len(made.calls) < 2:
        return
    for call in made.calls[1:]:
        argument = made.arguments(call).get(name)
        if argument is None:
            return
        edit = made.code.replaced(argument, f"{dotted(template.func)}({made.code.argument(argument)})")
        yield replace(_ARGUMENT, edits=(edit,))
        return


_CHANGES: Final[Mapping[RemedyKind, Callable[[CompiledFunction, str, str], Iterator[Fix]]]] = {
    "neutral-tensor": lambda made, name, _: neutral_tensors(made, name),
    "same-keys": lambda made, name, _: neutral_entries(made, name),
    "assign-earlier": lambda made, _, code: earlier_attribute(made, code),
    "set-earlier": lambda made, _, code: earlier(made, code.partition("(")[0]),
    "same-modes": lambda made, *_: earlier(made, ""),
    "stack": lambda made, name, _: stacked(made, name),
    "whole-tensor": lambda made, *_: whole_tensors(made, _dynamic(made)),
    "make-once": lambda made, name, _: made_once(made, name),
    "tensor-learning-rate": lambda made, *_: _learning_rate(made),
    "drop-last": lambda made, *_: _drop_last(made),
}
"""By kind of remedy, the function that makes the edits. The function gets the compiled function, the name of
a parameter, and the remedy's code."""
