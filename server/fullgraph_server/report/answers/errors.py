"""Answers to errors of programs that do not go with ``torch.compile``: the lines that are the cause."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Final

from fullgraph_compiler.facts import StackFrame

from ...text.known_errors import KnownError, known_error
from ...text.markdown import code_span
from ...workspace.source import SourceFile
from .marks import Mark, Marks, dotted
from .words import Answer, line_of

_MODULE: Final = "torch/nn/modules/module.py"
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_SENTENCE: Final = re.compile(r"^.*?[.!?](?= [A-Z`])")


class ErrorAnswers:
    """Answers to the errors that end a program."""

    def __init__(self, source: Callable[[str], SourceFile | None], marks: Marks) -> None:
        self._source = source
        self._marks = marks

    def answer(self, message: str, stack: tuple[StackFrame, ...], own: StackFrame | None) -> Answer:
        """Return what is known of an error; ``own`` is the innermost frame of the user's own."""
        known = known_error(message, stack[-1].filename if stack else "")
        if known is None:
            return Answer()
        row, filename = (own.row, own.filename) if own else (0, "")
        found = _Error(known, message, stack, filename, row, self._source(filename) if own else None)
        refine = _REFINED.get(known.name)
        answer = refine(self._marks, found) if refine else None
        if answer is None and known.in_program:
            return Answer()
        answer = answer or Answer(known.explanation, (known.hint,))
        return Answer(
            answer.note,
            answer.hints,
            instead=True,
            title=answer.title or _first(message),
            operator=answer.operator,
        )


class _Error:
    """An error of the program, and the line of its own that it was raised in."""

    def __init__(
        self,
        known: KnownError,
        message: str,
        stack: tuple[StackFrame, ...],
        filename: str,
        row: int,
        source: SourceFile | None,
    ) -> None:
        self.known, self.filename, self.row, self.source = known, filename, row, source
        self.in_module = any(frame.filename.replace("\\", "/").endswith(_MODULE) for frame in stack)
        named = known.message.search(message)
        self.name = named["name"] if named and "name" in named.re.groupindex else ""

    def line(self, mark: Mark) -> str:
        """Name the line of a mark."""
        return line_of(mark, self.filename)

    def call(self, *names: str) -> ast.Call | None:
        """Return the call of a function of one of these names that begins in the line."""
        for node in self.source.nodes_at(self.row) if self.source else ():
            if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in names:
                return node
        return None


def _first(message: str) -> str:
    """Return the first sentence of a message, ahead of torch's own advice."""
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    sentence = _SENTENCE.match(line)
    return sentence[0] if sentence else line


def _double_backward(marks: Marks, error: _Error) -> Answer | None:
    asked = marks.all("create_graph")
    if not asked:
        return None
    lines = " and ".join(dict.fromkeys(map(error.line, asked[:3])))
    compiled = marks.only("compile")
    where = f" ({error.line(compiled)})" if compiled else ""
    return Answer(
        "AOTAutograd does not support double backward: the gradient of compiled code cannot be "
        f"differentiated itself, as `create_graph=True` asks for ({lines}).",
        (
            "Compute the gradient within what is compiled, with `torch.func.grad`.",
            f'Or leave uncompiled what is differentiated twice, or compile it with `backend="eager"`{where}.',
        ),
    )


def _backward_again(marks: Marks, error: _Error) -> Answer | None:
    """Tell a backward for each of several results from one that reaches back into the step before."""
    names = {name for mark in marks.all("compile") for name in _callables(mark)}
    loop = _loop_around(error.source, error.row)
    if loop is not None and any(
        isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in names
        for statement in loop.body
        for node in ast.walk(statement)
    ):
        hint = (
            "If a step goes on with a result of the one before, cut it off with `.detach()`; if one call has "
            "several losses, call `backward()` once, on their sum."
        )
        return Answer(error.known.explanation, (hint,))
    hints = ["Call `backward()` once, on the sum of the losses."]
    compiled = marks.only("compile")
    if compiled and compiled.name:
        where = f"{code_span(compiled.name)} ({error.line(compiled)})"
        hints.append(f"Or leave {where} uncompiled: then results that share nothing have a backward each.")
    return Answer(error.known.explanation, tuple(hints))


def _transformed(marks: Marks, error: _Error) -> Answer | None:
    mark = marks.only("compile")
    function = mark.definition.name if mark and mark.definition else dotted(mark.argument) if mark else ""
    if mark is None or not function:
        return None
    gradient = code_span(f"torch.compile(torch.func.jacrev({function}))")
    return Answer(
        "A transform of `torch.func` cannot go through the backward of compiled code, as that of "
        f"{code_span(function)} is ({error.line(mark)}).",
        (
            (
                f"Compile a gradient of `torch.func`, such as {gradient}: to compile the `vmap` of a "
                "`torch.autograd.grad` does not help."
            ),
            "Or call `torch.autograd.grad` in a loop instead of `vmap`, or leave the function uncompiled.",
        ),
    )


def _pickled(marks: Marks, error: _Error) -> Answer | None:
    mark = marks.named("compile", error.name)
    if mark is None or mark.definition is not None or mark.argument is None:
        return None
    name, call = code_span(mark.name), code_span(f"torch.compile({ast.unparse(mark.argument)})")
    return Answer(
        f"A function is pickled by its name, and {name} is the name of the uncompiled one: {call} "
        f"({error.line(mark)}) made another.",
        (
            f"Pass {name} uncompiled, and compile it where it arrives.",
            f"Or write `@torch.compile` above the definition of {name}: then the name is the compiled one's.",
        ),
    )


def _traced(verb: str, *functions: str) -> Callable[[Marks, _Error], Answer | None]:
    """Make the answer for a function that traces a compiled one, or code that calls it."""

    def answer(marks: Marks, error: _Error) -> Answer | None:
        call = error.call(*functions)
        given = call.args[0] if call and call.args else None
        mark = _compiled_as(marks, dotted(given))
        if call is None or mark is None:
            return _calls_compiled(marks, error)
        name, function = dotted(given), code_span(dotted(call.func))
        note = f"{code_span(name)} is compiled ({error.line(mark)}): {function} cannot look into it."
        return Answer(note, (_plain(marks, error, mark, name, verb),))

    return answer


def _plain(marks: Marks, error: _Error, mark: Mark, name: str, verb: str) -> str:
    """Advise what to trace instead of what a mark compiles."""
    if mark.in_place:
        return f"{verb.capitalize()} {code_span(name)} ahead of {error.line(mark)}."
    if mark.definition is not None:
        defined = mark.definition.name
        return (
            f"Leave the definition of {code_span(defined)} without `@torch.compile`, and give the compiled "
            f"one another name, as in `fast = torch.compile({defined})`: then {verb} {code_span(defined)}."
        )
    plain = dotted(mark.argument)
    if plain and plain not in mark.names and plain != name:
        return f"{verb.capitalize()} what was compiled: {code_span(plain)}."
    if marks.defines(plain):
        return f"Give what is compiled a name of its own: then {verb} {code_span(plain)}."
    return f"{verb.capitalize()} the module that was compiled: {code_span(f'{name}._orig_mod')}."


def _calls_compiled(marks: Marks, error: _Error) -> Answer | None:
    """Tell that the line of an error calls a compiled function, while something traces the code around it."""
    for node in error.source.nodes_at(error.row) if error.source else ():
        name = dotted(node.func) if isinstance(node, ast.Call) else ""
        if mark := _compiled_as(marks, name):
            function = code_span(name)
            return Answer(
                f"{error.known.explanation} {function} is compiled ({error.line(mark)}).",
                (f"Let what is traced call {function} uncompiled, and compile it elsewhere.",),
            )
    return None


def _compiled_as(marks: Marks, name: str) -> Mark | None:
    """Return the only mark on what a program calls by a name."""
    last = name.rpartition(".")[2]
    found = [mark for mark in marks.all("compile") if last and last in _callables(mark)]
    return found[0] if len(found) == 1 else None


def _compiled_twice(marks: Marks, error: _Error) -> Answer | None:
    for wraps in marks.all("wraps"):
        wrapped = dotted(wraps.argument)
        mark = _compiled_as(marks, wrapped)
        if mark is None or wraps.definition is None:
            continue
        plain = dotted(mark.argument)
        hints = [f"Do not compile {code_span(wraps.definition.name)} again: what it calls is compiled."]
        if plain:
            hints.insert(0, f"Write {code_span(f'functools.wraps({plain})')} there.")
        return Answer(
            f"{code_span(f'functools.wraps({wrapped})')} ({error.line(wraps)}) copies the attributes of the "
            f"compiled function ({error.line(mark)}): `torch.compile` takes the wrapper for a compiled one.",
            tuple(hints),
        )
    return None


def _assigned_step(marks: Marks, error: _Error) -> Answer | None:
    found = [mark for mark in marks.all("compile") if "step" in mark.names]
    if len(found) != 1:
        return None
    line = error.line(found[0])
    return Answer(
        f"A schedule wraps the method `step` of its optimizer, which {line} has replaced by the function "
        "that `torch.compile` returns.",
        (f"Make the schedule ahead of {line}.",),
    )


def _operator_aliases(marks: Marks, error: _Error) -> Answer | None:
    found = {name: mark for mark in marks.all("custom_op") if (name := _operator_name(mark, error.name))}
    if len(found) != 1:
        return None
    name, mark = next(iter(found.items()))
    returns = (
        [node for node in ast.walk(mark.definition) if isinstance(node, ast.Return)]
        if mark.definition
        else []
    )
    rows = ", ".join(str(mark.source.row_words(node.lineno)) for node in returns[:3])
    where = f" (line {rows})" if rows and mark.source.filename == error.filename else ""
    return Answer(
        f"{error.known.explanation} {code_span(name)} is defined on {error.line(mark)}.",
        (f"Where it may be one of these, return a copy, made with `.clone()`{where}.",),
        title=f"the operator {code_span(name)} returns an input, or one tensor twice",
        operator=name,
    )


def _operator_name(mark: Mark, name: str) -> str:
    written = mark.argument.value if isinstance(mark.argument, ast.Constant) else ""
    return written if isinstance(written, str) and written.rpartition("::")[2] == name else ""


def _callables(mark: Mark) -> tuple[str, ...]:
    """Return the names by which a program calls what a mark compiles."""
    if mark.definition is not None:
        return (mark.definition.name,)
    return mark.names if mark.names else (mark.name,) if mark.in_place else ()


def _loop_around(source: SourceFile | None, row: int) -> ast.For | ast.AsyncFor | ast.While | None:
    """Return the innermost loop around a row."""
    nodes = ast.walk(source.tree) if source and source.tree else ()
    loops = [
        node for node in nodes if isinstance(node, _LOOPS) and node.lineno <= row <= (node.end_lineno or row)
    ]
    return max(loops, key=lambda node: node.lineno, default=None)


_REFINED: Final[Mapping[str, Callable[[Marks, _Error], Answer | None]]] = {
    "double-backward": _double_backward,
    "backward-again": _backward_again,
    "compiled-backward-in-transform": _transformed,
    "pickled": _pickled,
    "jit-trace": _traced("trace", "trace"),
    "fx-trace": _traced("trace", "symbolic_trace", "trace"),
    "fx-module": _traced("trace", "symbolic_trace", "trace"),
    "jit-script": _traced("script", "script"),
    "compiled-twice": _compiled_twice,
    "assigned-step": _assigned_step,
    "operator-aliases": _operator_aliases,
}
"""The answers that need the program's text, by the name of the known error."""
