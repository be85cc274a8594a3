"""What the source of a function says of an operator, beside what was seen of its calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fullgraph_compiler.facts import CallSeen, CallsSeen, ValueSeen

from ...workspace.syntax import dotted, stored
from ..effects.known import of_builtin, of_library
from ..effects.names import Defined, Files, Outer, meaning_of
from ..effects.reading import Effects, effects_of, is_fresh
from ..rules.calls import root_of
from ..rules.syntax import Code, Function, code_of
from .callees import Callee

_LOST = "torch leaves out a call of an operator whose result nothing uses, and may use a result twice"


@dataclass(frozen=True)
class Source:
    """What is known of a function that becomes an operator, from its source and from its calls."""

    seen: CallsSeen
    """The calls, with what the source says that others may do: change arguments, return them, draw."""
    refused: str = ""
    """Why no operator can do what it does, as the end of a sentence; empty if one can."""
    doubts: tuple[str, ...] = ()
    """What others can tell once it is an operator, as sentences; it is safe without any."""


def read(function: Callee, calls: Sequence[ast.Call], seen: CallsSeen, files: Files) -> Source:
    """Return what is known of a function that is called at some places."""
    effects, own = _effects(function, files)
    names = function.written.names
    outside = [
        *effects.outside,
        *(f"changes the default of `{name}`" for name in effects.changes - set(names)),
    ]
    changed = [name in effects.changes for name in names]
    merged = tuple(_merged(call, changed, effects) for call in seen.calls)
    doubts = (
        *_unread(effects),
        *_shared(function, calls, effects, merged, files),
        *_moved(effects, own, files),
    )
    refused = f"{outside[0]}, and {_LOST}" if outside else ""
    return Source(replace(seen, calls=merged), refused, doubts)


def _effects(function: Callee, files: Files) -> tuple[Effects, Code]:
    """Return the effects of what is called, and the file in which its source is."""
    meaning = meaning_of(function.code, function.name, files)
    if isinstance(meaning, Defined) and isinstance(meaning.node, Function):
        return effects_of(meaning.code, meaning.node, files), meaning.code
    found = Effects()
    if isinstance(meaning, Outer):
        effect = of_library(meaning.path) if "." in meaning.path else of_builtin(meaning.path)
        if effect == "outside":
            found.outside["works on files, the clock or the state of the process"] = None
        if effect in ("fresh", "holds", "views", "draws"):
            found.draws = effect == "draws"
            found.returns |= set(function.written.names) if effect in ("holds", "views") else set()
            return found, function.code
    found.unknown[function.name] = None
    return found, function.code


def _merged(call: CallSeen, changed: Sequence[bool], effects: Effects) -> CallSeen:
    """Return a call as one that does all that the source says."""
    arguments = zip(call.arguments, changed, strict=False)
    result = call.result
    if effects.returns and result.kind != "array":
        result = replace(result, tensors=tuple(replace(item, aliases=True) for item in result.tensors))
    return replace(
        call,
        arguments=tuple(_changed(value) if mark else value for value, mark in arguments),
        result=result,
        draws=call.draws or effects.draws,
    )


def _changed(value: ValueSeen) -> ValueSeen:
    return replace(value, tensors=tuple(replace(item, changed=True) for item in value.tensors))


def _unread(effects: Effects) -> Iterator[str]:
    if effects.unknown:
        name = next(iter(effects.unknown))
        yield f"The source of `{name}` is not read: if it does more than return a result, that may be lost."


def _shared(
    function: Callee, calls: Sequence[ast.Call], effects: Effects, seen: Sequence[CallSeen], files: Files
) -> Iterator[str]:
    """Say that a result is a copy of what the function returns, where something else has that memory."""
    if not any(item.aliases for call in seen for item in call.result.tensors):
        return
    wanted = effects.returns & set(function.written.names)
    for call in calls:
        for name, value in function.passed(call):
            is_meant = name in wanted or not effects.returns
            if is_meant and not isinstance(value, ast.Constant) and not is_fresh(function.code, value, files):
                yield (
                    f"Its result is a copy, where the function may return `{ast.unparse(value)}` itself: "
                    "a change of one is no longer one of the other."
                )
                return
    if any(name.startswith("@") for name in effects.returns):
        yield "Its result is a copy, where the function may return a variable of its module."


def _moved(effects: Effects, code: Code, files: Files) -> Iterator[str]:
    """Say that an operator reads what functions change: compiled code may do so after its graph."""
    sources = [*filter(None, map(code_of, files.values()))]
    for name in sorted(effects.reads):
        meaning = meaning_of(code, name, files)
        is_variable = not isinstance(meaning, Outer)
        if is_variable and any(_changes(item, name) for item in sources):
            yield f"It reads `{name}`, which compiled code may change only after the graph."
            return


def _changes(code: Code, name: str) -> bool:
    """Tell whether a function of a file changes a variable of a module."""
    for function in code.functions():
        declared = {item for node in code.all(ast.Global, function) for item in node.names}
        if name in declared & stored(function):
            return True
        parts = (node for node in ast.walk(function) if isinstance(node, (ast.Attribute, ast.Subscript)))
        stores = [node for node in parts if not isinstance(node.ctx, ast.Load)]
        if any(name in (dotted(root_of(node)), *dotted(node).split(".")[:-1]) for node in stores):
            return True
    return False
