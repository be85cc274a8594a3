"""Answers about the `OptimizedModule` that `torch.compile` returns for a module."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from fullgraph_compiler.facts import Cause, Failure, FrameStarted, ProgramRaised, StackFrame

from ...text.markdown import code_span
from ...text.messages import first_line
from ...workspace.definitions import definitions
from ...workspace.source import SourceFile
from ...workspace.syntax import callee, covers, nodes_of
from .marks import MarkUse, MarkUses, dotted
from .words import FindingAnswer, line_of, row_of, written

_Find = Callable[[str], SourceFile | None]
_NAMED: Final = ("named_parameters", "named_buffers", "named_modules", "named_children", "state_dict")
_TESTS: Final = ("isinstance", "issubclass")
_OF_BOTH: Final = frozenset(("Module", "Tensor", "Parameter", *dir(builtins)))
"""Classes for which ``isinstance`` has the same result for a module and for its ``OptimizedModule``."""
_TITLE: Final = "`torch.compile` returns an `OptimizedModule` here, not the module itself"
_MOST: Final = 3
_LONGEST: Final = 60
_WRAPPER: Final = ("_orig_mod", "OptimizedModule")


@dataclass(frozen=True, slots=True)
class _ClassCheck:
    """Code that tests a class or parameter names, and its result for a wrapper.

    ``gives`` is a clause with the result for an ``OptimizedModule``.
    """

    row: int
    code: str
    gives: str
    defined: str = ""
    """The name of the class that the code tests for, or empty."""


def wrapper_answer(cause: Cause, failure: Failure, source: _Find) -> FindingAnswer:
    """Return the answer to results that change since ``torch.compile`` wraps modules."""
    calls = [item.stack[-1] for item in cause.evidence if item.stack]
    here = calls[0].filename
    said = [
        (
            "Its class differs from the module's, and the names of its parameters begin with `_orig_mod.`, "
            "even where nothing is compiled."
        ),
    ]
    if others := [_row(frame, here, source) for frame in calls[1:]]:
        said.append(f"It also returns one on {_listed(others)}.")
    if looks := list(islice(_looks_near(cause, here, source), _MOST)):
        said.append(f"Code that looks at classes or names: {_listed(looks)}.")
    said.append(_difference(failure))
    return FindingAnswer(" ".join(said), _advice(source(here), calls[0].row), title=_TITLE)


def raised_answer(
    fact: ProgramRaised,
    own: Sequence[StackFrame],
    started: Iterable[FrameStarted],
    marks: MarkUses,
    source: _Find,
) -> FindingAnswer:
    """Return the answer to an error if a wrapper makes a test on its stack fail.

    Return an empty answer for other errors.
    """
    mark = _wrapping(marks, started)
    inner = own[-1] if own else None
    text = source(inner.filename) if inner is not None else None
    if mark is None or inner is None or text is None or inner != fact.stack[-1]:
        return FindingAnswer()
    is_raised = any(isinstance(node, (ast.Raise, ast.Assert)) for node in text.nodes_at(inner.row))
    if fact.error != "KeyError" and not is_raised:
        return FindingAnswer()
    looks = [
        look for look in _on_stack(own, source) if not look.defined or _is_of_modules(text, look.defined)
    ]
    if not looks:
        return FindingAnswer()
    line = line_of(mark, inner.filename)
    gives = [
        f"{code_span(look.code)} (line {text.row_words(look.row)}) {look.gives}" for look in looks[:_MOST]
    ]
    return FindingAnswer(
        f"`torch.compile` on {line} returns an `OptimizedModule`, not the module itself. For it, "
        f"{_listed(gives)}. `fullgraph stages` also runs the program with the module itself, and so shows "
        "whether the error comes from that.",
        _advice(mark.source, mark.row),
    )


def _difference(failure: Failure) -> str:
    said = first_line(failure.message).rstrip(".")
    if failure.kind == "accuracy":
        return f"That changes the program's results even with Dynamo disabled: {said}."
    ended = f"{failure.error}: {said}" if failure.kind == "error" else said
    return f"With Dynamo disabled, the program also fails ({ended}); with the module itself, it does not."


def _hints(call: ast.Call | None, target: str, *, in_place_compiles: bool) -> tuple[str, ...]:
    argument = call.args[0] if call else None
    given = written(argument, "module") if dotted(argument) else target or "module"
    options = ", ".join(ast.unparse(item) for item in (call.keywords if call else ()))
    unwrapped = target or "compiled"
    in_place = f"{given}.compile({options if len(options) <= _LONGEST else '...'})"
    itself = f"the class and the names of the module itself, {code_span(f'{unwrapped}._orig_mod')}."
    if not in_place_compiles:
        return (f"Look at {itself}",)
    return (
        (
            f"Compile in place, {code_span(in_place)}, and continue to use {code_span(given)}: its class and "
            "its names do not change (not tried)."
        ),
        f"Or look at {itself}",
    )


def _advice(text: SourceFile | None, row: int) -> tuple[str, ...]:
    """Return hints on what to write instead of the ``torch.compile`` call on a row."""
    nodes = text.nodes_at(row) if text else ()
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
    call = next((node for node in calls if dotted(node.func).rpartition(".")[2] == "compile"), None)
    targets = [
        dotted(target)
        for node in nodes
        if isinstance(node, ast.Assign) and node.value is call
        for target in node.targets
    ]
    target = targets[0] if len(targets) == 1 else ""
    in_place = text is None or call is None or not _is_torchs_own(text, call.args[0])
    return _hints(call, target, in_place_compiles=in_place)


def _is_torchs_own(text: SourceFile, argument: ast.expr) -> bool:
    """Return whether a module's class is from ``torch.nn``.

    ``Module.compile`` has an effect on such modules only since torch 2.15; ``compiles_in_place`` in
    ``compat/call_compat.py`` explains why.
    """
    name = dotted(argument)
    values = [
        node.value
        for node in (ast.walk(text.tree) if text.tree and name else ())
        if isinstance(node, ast.Assign) and name in map(dotted, node.targets)
    ]
    made = (value for value in (argument, *values) if isinstance(value, ast.Call))
    return any(dotted(value.func).startswith(("nn.", "torch.nn.")) for value in made)


def _looks_near(cause: Cause, here: str, source: _Find) -> Iterator[str]:
    """Yield phrases for tests of classes or names, those on the error's stack first.

    The others are in the same file.
    """
    near = list(_on_stack(cause.caller, source))
    text = source(cause.caller[-1].filename if near else here)
    if text is None or text.tree is None:
        return
    for look in dict.fromkeys([*near, *sorted(_looks(text.tree), key=lambda look: look.row)]):
        yield f"{code_span(look.code)} ({row_of(text, look.row, here)})"


def _on_stack(frames: Sequence[StackFrame], source: _Find) -> Iterator[_ClassCheck]:
    """Yield the tests of classes or names in a stack's functions, innermost first.

    Only functions in the file of the innermost frame are searched: those on the stack, and those that the
    innermost function calls.
    """
    text = source(frames[-1].filename) if frames else None
    if text is None or text.tree is None:
        return
    row = frames[-1].row
    inner = definitions(text).function_at(row)
    statements = [node for node in text.tree.body if covers(node, row)]
    nodes: list[ast.AST] = [inner] if inner is not None else [*statements[:1]]
    called = {dotted(node.func).rpartition(".")[2] for root in nodes for node in nodes_of(ast.Call, root)}
    nodes += [
        node
        for node in ast.walk(text.tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in called
    ]
    for frame in reversed(frames[:-1]):
        function = definitions(text).function_at(frame.row) if frame.filename == text.filename else None
        nodes += [function] if function is not None else []
    found = [look for node in dict.fromkeys(nodes) for look in _looks(node)]
    yield from dict.fromkeys(found)


def _looks(root: ast.AST) -> Iterator[_ClassCheck]:
    tests = list(nodes_of(ast.Call, root))
    inside: set[int] = set()
    for node in tests:
        name = dotted(node.func)
        if name in _TESTS and len(node.args) == 2:
            inside.update(id(item) for item in ast.walk(node))
            asked = dotted(node.args[1]).rpartition(".")[2]
            if asked and asked not in _OF_BOTH:
                yield _ClassCheck(node.lineno, written(node, f"{name}(...)"), "is false", asked)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _NAMED:
            code = written(node, f"{node.func.attr}()")
            yield _ClassCheck(node.lineno, code, "has names with `_orig_mod.`")
    for item in ast.walk(root):
        of = _of_class(item) if isinstance(item, ast.expr) and id(item) not in inside else None
        if isinstance(item, ast.expr) and of is not None and dotted(of) not in ("", "self"):
            yield _ClassCheck(item.lineno, written(item, "type(...)"), "is `OptimizedModule`")


def _of_class(node: ast.AST) -> ast.expr | None:
    """Return ``x`` if the node is ``type(x)`` or ``x.__class__``, otherwise ``None``."""
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        return node.value
    if isinstance(node, ast.Call) and dotted(node.func) == "type" and len(node.args) == 1:
        return node.args[0]
    return None


def _is_of_modules(text: SourceFile, name: str, known: frozenset[str] = frozenset()) -> bool:
    """Return whether a file defines a subclass of ``Module`` with this name.

    Base classes are looked up in this file only. A class with keywords does not count: it can have a
    metaclass that redefines ``isinstance`` for the class.
    """
    cls = definitions(text).classes.get(name)
    if cls is None or cls.keywords or name in known:
        return False
    bases = {dotted(base).rpartition(".")[2] for base in cls.bases}
    return "Module" in bases or any(_is_of_modules(text, base, known | {name}) for base in bases)


def _wrapping(marks: MarkUses, started: Iterable[FrameStarted]) -> MarkUse | None:
    """Return the program's only ``torch.compile`` call, if it wraps a module.

    Return ``None`` if the program mentions ``OptimizedModule`` or ``_orig_mod``.
    """
    mark = marks.only("compile")
    if mark is None or mark.in_place or mark.definition is not None or mark.argument is None:
        return None
    argument = callee(mark.argument)
    name = dotted(argument)
    if not name or marks.defines(name) or name.endswith((".forward", ".__call__")):
        return None
    is_module = any(fact.function.rpartition(".")[2] == "forward" for fact in started)
    return mark if is_module and not any(map(marks.mention, _WRAPPER)) else None


def _listed(items: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))


def _row(frame: StackFrame, here: str, source: _Find) -> str:
    text = source(frame.filename)
    return row_of(text, frame.row, here) if text is not None else f"line {frame.row} of another file"
