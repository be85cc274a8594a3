"""Effects of a function that its source shows in addition to its observed calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fullgraph_compiler.facts import CallSeen, CallsSeen, ValueSeen

from ...workspace.syntax import dotted, stored
from ..effects.known import of_builtin, of_library
from ..effects.names import Files, LibraryFunction, WorkspaceDefinition, meaning_of
from ..effects.reading import FunctionEffects, effects_of, is_fresh
from ..rules.calls import root_of
from ..rules.syntax import Function, ParsedFile, code_of
from .callees import Callee

_LOST = "torch removes an operator call whose result is unused, and may reuse the result of an equal call"


@dataclass(frozen=True)
class FunctionSource:
    """What source and calls show about a function that becomes an operator."""

    seen: CallsSeen
    """The observed calls, with the effects that the source shows: changed or returned arguments, random
    numbers."""
    refused: str = ""
    """Why the function cannot be an operator, as the end of a sentence; empty if it can be."""
    doubts: tuple[str, ...] = ()
    """What other code can notice once the function is an operator, as sentences; empty if the fix is safe."""


def read(function: Callee, calls: Sequence[ast.Call], seen: CallsSeen, files: Files) -> FunctionSource:
    """Combine what a function's source and its observed calls show."""
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
    return FunctionSource(replace(seen, calls=merged), refused, doubts)


def _effects(function: Callee, files: Files) -> tuple[FunctionEffects, ParsedFile]:
    """Return the effects of a called function, and the file with its source."""
    meaning = meaning_of(function.code, function.name, files)
    if isinstance(meaning, WorkspaceDefinition) and isinstance(meaning.node, Function):
        return effects_of(meaning.code, meaning.node, files), meaning.code
    found = FunctionEffects()
    if isinstance(meaning, LibraryFunction):
        effect = of_library(meaning.path) if "." in meaning.path else of_builtin(meaning.path)
        if effect == "outside":
            found.outside["works on files, the clock or the state of the process"] = None
        if effect in ("fresh", "holds", "views", "draws"):
            found.draws = effect == "draws"
            found.returns |= set(function.written.names) if effect in ("holds", "views") else set()
            return found, function.code
    found.unknown[function.name] = None
    return found, function.code


def _merged(call: CallSeen, changed: Sequence[bool], effects: FunctionEffects) -> CallSeen:
    """Return an observed call with the effects that the source shows added."""
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


def _unread(effects: FunctionEffects) -> Iterator[str]:
    if effects.unknown:
        name = next(iter(effects.unknown))
        yield f"The source of `{name}` was not read: its side effects, if it has any, may be lost."


def _shared(
    function: Callee,
    calls: Sequence[ast.Call],
    effects: FunctionEffects,
    seen: Sequence[CallSeen],
    files: Files,
) -> Iterator[str]:
    """Yield a doubt if the operator returns a copy where the function does not.

    The function's result may share memory with an argument or with a variable of its module.
    """
    if not any(item.aliases for call in seen for item in call.result.tensors):
        return
    wanted = effects.returns & set(function.written.names)
    for call in calls:
        for name, value in function.passed(call):
            is_meant = name in wanted or not effects.returns
            if is_meant and not isinstance(value, ast.Constant) and not is_fresh(function.code, value, files):
                yield (
                    f"Its result is a copy, but the function may return `{ast.unparse(value)}` itself: "
                    "changing one no longer changes the other."
                )
                return
    if any(name.startswith("@") for name in effects.returns):
        yield "Its result is a copy, but the function may return a variable of its module."


def _moved(effects: FunctionEffects, code: ParsedFile, files: Files) -> Iterator[str]:
    """Yield a doubt if the operator reads a variable that compiled code may change.

    Compiled code changes such a variable only after its graph ran.
    """
    sources = [*filter(None, map(code_of, files.values()))]
    for name in sorted(effects.reads):
        meaning = meaning_of(code, name, files)
        is_variable = not isinstance(meaning, LibraryFunction)
        if is_variable and any(_changes(item, name) for item in sources):
            yield f"It reads `{name}`, which compiled code may change only after the graph."
            return


def _changes(code: ParsedFile, name: str) -> bool:
    """Tell whether any function of a file changes the module variable ``name``."""
    for function in code.functions():
        declared = {item for node in code.all(ast.Global, function) for item in node.names}
        if name in declared & stored(function):
            return True
        parts = (node for node in ast.walk(function) if isinstance(node, (ast.Attribute, ast.Subscript)))
        stores = [node for node in parts if not isinstance(node.ctx, ast.Load)]
        if any(name in (dotted(root_of(node)), *dotted(node).split(".")[:-1]) for node in stores):
            return True
    return False
