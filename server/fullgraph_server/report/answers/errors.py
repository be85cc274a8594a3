"""Answers to errors of programs that ``torch.compile`` does not support.

The answers name the lines that cause the errors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final

from fullgraph_compiler.facts import Stack

from ...text.known_errors import known_error
from ...text.markdown import code_span, filled
from ...workspace.definitions import definitions
from ...workspace.syntax import covers, nodes_of
from ..source_locator import FactLocator
from . import autograd, options
from .marks import MarkUse, MarkUses, dotted
from .module_names import name_lookups
from .seen_errors import SeenError
from .words import FindingAnswer, row_of, written

_MODULE: Final = "torch/nn/modules/module.py"
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_SENTENCE: Final = re.compile(r"^.*?[.!?](?= [A-Z`])")


def error_answer(
    message: str,
    stack: Stack,
    places: FactLocator,
    marks: MarkUses,
    untraced: Collection[tuple[str, int]],
) -> FindingAnswer:
    """Return the answer to an error; an empty answer if the error is not known.

    ``untraced`` are file and row of each gradient that breaks a graph.
    """
    known = known_error(message, stack[-1].filename if stack else "")
    if known is None:
        return FindingAnswer()
    found = SeenError(known, message, places.own(stack), places.workspace.source, untraced)
    refine = _REFINED.get(known.name)
    answer = refine(marks, found) if refine else None
    if answer is None and known.in_program:
        return FindingAnswer()
    usual = FindingAnswer(known.explanation, (known.hint,), title=filled(known.title, name=found.name))
    return replace(answer or usual, instead=True)


def first_sentence(message: str) -> str:
    """Return the first sentence of a message."""
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    sentence = _SENTENCE.match(line)
    return sentence[0] if sentence else line


def _double_backward(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    asked = marks.all("create_graph")
    if not asked:
        return None
    lines = " and ".join(dict.fromkeys(map(error.line, asked[:3])))
    compiled = marks.only("compile")
    where = error.where(compiled)
    broken = next((mark for mark in asked if (mark.source.filename, mark.row) in error.untraced), None)
    traced = (
        f"Keep {error.line(broken)} in the graph: `torch._dynamo.config.trace_autograd_ops = True`."
        if broken
        else "Compute the gradient within the compiled code, with `torch.func.grad`."
    )
    return FindingAnswer(
        "AOTAutograd does not support double backward: the gradient of compiled code cannot be "
        f"differentiated again, which `create_graph=True` asks for ({lines}).",
        (
            traced,
            (
                "Or do not compile the code that is differentiated twice, or compile it with "
                f'`backend="eager"`{where}.'
            ),
        ),
    )


def _backward_again(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    """Answer a second backward through one graph.

    In a loop that calls compiled code, the answer also advises to detach results of the previous step.
    """
    names = {name for mark in marks.all("compile") for name in _callables(mark)}
    nodes = ast.walk(error.source.tree) if error.source and error.source.tree else ()
    loops = [node for node in nodes if isinstance(node, _LOOPS) and covers(node, error.row)]
    loop = max(loops, key=lambda node: node.lineno, default=None)
    if loop is not None and any(
        isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in names
        for statement in loop.body
        for node in ast.walk(statement)
    ):
        hint = (
            "If a step uses a result of the previous step, detach it with `.detach()`; if one call has "
            "several losses, call `backward()` once, on their sum."
        )
        return FindingAnswer(error.known.explanation, (hint,))
    hints = ["Call `backward()` once, on the sum of the losses."]
    compiled = marks.only("compile")
    if compiled and compiled.name:
        where = f"{code_span(compiled.name)} ({error.line(compiled)})"
        hints.append(f"Or leave {where} uncompiled: then results without a common graph have own backwards.")
    return FindingAnswer(error.known.explanation, tuple(hints))


def _transformed(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    mark = marks.only("compile")
    function = mark.definition.name if mark and mark.definition else dotted(mark.argument) if mark else ""
    if mark is None or not function:
        return None
    gradient = code_span(f"torch.compile(torch.func.jacrev({function}))")
    return FindingAnswer(
        "A transform of `torch.func` cannot go through the backward of compiled code, and "
        f"{code_span(function)} is compiled ({error.line(mark)}).",
        (
            (
                f"Compute the gradient with `torch.func`, and compile that: {gradient}. Compiling a "
                "`vmap` of `torch.autograd.grad` does not help."
            ),
            "Or call `torch.autograd.grad` in a loop instead of `vmap`, or leave the function uncompiled.",
        ),
    )


def _state_names(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    """Say whether the module that loads a state is compiled, or the one that saved it."""
    expected = "_orig_mod." in error.message.partition("Unexpected key")[0]
    said = (
        "The state of an uncompiled module is loaded into a compiled one."
        if expected
        else "The state of a compiled module is loaded into an uncompiled one."
    )
    return FindingAnswer(
        " ".join([f"{error.known.explanation} {said}", *_false_lookups(marks, error)]),
        (error.known.hint,),
        title=f"{first_sentence(error.message)} names differ by `_orig_mod.`",
    )


def _false_lookups(marks: MarkUses, error: SeenError) -> list[str]:
    """Describe tests in the file that fail silently, due to a compiled module's names."""
    source, filename = error.source, error.filename
    if source is None:
        return []
    compiled = {name for mark in marks.all("compile") if not mark.in_place for name in mark.names}
    return [
        f"The same names make {code_span(item.test)} ({row_of(source, item.row, filename)}) false in "
        f"{code_span(item.call)} ({row_of(source, item.call_row, filename)}) if it looks them up among the "
        "names of an uncompiled module."
        for item in islice(name_lookups(source, frozenset(compiled)), 2)
    ]


def _pickled(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    mark = marks.named("compile", error.name)
    if mark is None or mark.definition is not None or mark.argument is None:
        return None
    name, call = code_span(mark.name), code_span(f"torch.compile({written(mark.argument, mark.name)})")
    return FindingAnswer(
        f"A function is pickled by its name, and {name} names the uncompiled function: {call} "
        f"({error.line(mark)}) created another one.",
        (
            f"Pass {name} uncompiled, and compile it where it is unpickled.",
            f"Or write `@torch.compile` above the definition of {name}: then it names the compiled function.",
        ),
    )


def _traced(verb: str) -> Callable[[MarkUses, SeenError], FindingAnswer | None]:
    """Return a function that answers the error of tracing a compiled function.

    The traced function can also be a caller of a compiled function. ``verb`` is ``trace`` or ``script``.
    """

    def answer(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
        names = (dotted(argument) for call in error.calls() for argument in call.args)
        for name in names:
            if mark := _compiled_as(marks, name):
                note = f"{code_span(name)} is compiled ({error.line(mark)}). {error.known.explanation}"
                return FindingAnswer(note, (_plain(marks, error, mark, name, verb),))
        return _calls_compiled(marks, error)

    return answer


def _plain(marks: MarkUses, error: SeenError, mark: MarkUse, name: str, verb: str) -> str:
    """Advise what to trace instead of the compiled function or module."""
    if mark.in_place:
        return f"{verb.capitalize()} {code_span(name)} before {error.line(mark)}."
    if mark.definition is not None:
        defined = mark.definition.name
        return (
            f"Leave the definition of {code_span(defined)} without `@torch.compile`, and give the compiled "
            f"one another name, as in `fast = torch.compile({defined})`: then {verb} {code_span(defined)}."
        )
    plain = dotted(mark.argument)
    if plain and plain not in mark.names and plain != name:
        return f"{verb.capitalize()} the uncompiled original: {code_span(plain)}."
    if marks.defines(plain):
        return f"Give the compiled function another name: then {verb} {code_span(plain)}."
    return f"{verb.capitalize()} the uncompiled module: {code_span(f'{name}._orig_mod')}."


def _calls_compiled(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    """Explain that a line of traced code calls a compiled function."""
    for node in error.calls():
        name = dotted(node.func)
        if mark := _compiled_as(marks, name):
            function = code_span(name)
            return FindingAnswer(
                f"{function} is compiled ({error.line(mark)}). {error.known.explanation}",
                (f"Let the traced code call the uncompiled function, and compile {function} elsewhere.",),
            )
    return None


def _compiled_as(marks: MarkUses, name: str) -> MarkUse | None:
    """Return the only use of ``torch.compile`` whose result is called by a name."""
    last = name.rpartition(".")[2]
    found = [mark for mark in marks.all("compile") if last and last in _callables(mark)]
    return found[0] if len(found) == 1 else None


def _compiled_twice(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    for wraps in marks.all("wraps"):
        wrapped = dotted(wraps.argument)
        mark = _compiled_as(marks, wrapped)
        if mark is None or wraps.definition is None:
            continue
        plain = dotted(mark.argument)
        wrapper = code_span(wraps.definition.name)
        hints = [f"Do not compile {wrapper} again: the function that it calls is compiled."]
        if plain:
            hints.insert(0, f"Write {code_span(f'functools.wraps({plain})')} there.")
        return FindingAnswer(
            f"{code_span(f'functools.wraps({wrapped})')} ({error.line(wraps)}) copies the attributes of the "
            f"compiled function ({error.line(mark)}): `torch.compile` takes the wrapper for a compiled one.",
            tuple(hints),
        )
    return None


def _assigned_step(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    found = [mark for mark in marks.all("compile") if "step" in mark.names]
    if len(found) != 1:
        return None
    line = error.line(found[0])
    return FindingAnswer(
        f"A learning-rate scheduler wraps the method `step` of its optimizer, but {line} has replaced it by "
        "the function that `torch.compile` returns.",
        (f"Create the scheduler before {line}.",),
    )


def _operator_aliases(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    found = {
        mark.argument.value: mark
        for mark in marks.all("custom_op")
        if isinstance(mark.argument, ast.Constant)
        and isinstance(mark.argument.value, str)
        and mark.argument.value.rpartition("::")[2] == error.name
    }
    if len(found) != 1:
        return None
    name, mark = next(iter(found.items()))
    returns = list(nodes_of(ast.Return, mark.definition)) if mark.definition else []
    rows = ", ".join(str(mark.source.row_words(node.lineno)) for node in returns[:3])
    where = f" (line {rows})" if rows and mark.source.filename == error.filename else ""
    return FindingAnswer(
        f"{error.known.explanation} {code_span(name)} is defined on {error.line(mark)}.",
        (f"Where the result may share memory, return a copy made with `.clone()`{where}.",),
        title=f"the operator {code_span(name)} returns an input, or one tensor twice",
        operator=name,
    )


def _lost_number(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    """Advise on an error in a call with a number from a tensor.

    Return ``None`` if the program uses ``torch.library``: a custom operator may be at fault.
    """
    if not error.row or marks.mention("torch.library"):
        return None
    hints = [error.known.hint]
    if unpacked := _unpacked(error):
        names, tensor = ", ".join(unpacked[0]), unpacked[1]
        least = f"torch._check({unpacked[0][0]} >= 0)"
        converted = code_span(f"{names} = {tensor}.tolist()")
        numbers = f"Convert {code_span(tensor)} to numbers first: {converted}. "
        hints = [f"{numbers}State what torch has to know about them: {code_span(least)}."]
    compiling = marks.all("compile")
    is_whole = bool(compiling) and all(mark.is_on("fullgraph") for mark in compiling)
    if is_whole and not marks.mention("capture_scalar_outputs"):
        where = error.where(*compiling)
        hints.append(f"Or leave `fullgraph=True`{where} out: then the graph breaks here instead.")
    return FindingAnswer(error.known.explanation, tuple(hints))


def _unpacked(error: SeenError) -> tuple[list[str], str] | None:
    """Find an assignment that unpacks a variable into arguments of the failing call.

    Return the names that are assigned, and the variable.
    """
    given = {dotted(item) for call in error.calls() for item in call.args}
    function = definitions(error.source).function_at(error.row) if error.source else None
    for node in ast.walk(function) if function else ():
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name):
            continue
        target = node.targets[0]
        names = [dotted(item) for item in target.elts] if isinstance(target, ast.Tuple) else []
        if all(names) and given.intersection(names) and node.lineno <= error.row:
            return names, node.value.id
    return None


def _callables(mark: MarkUse) -> tuple[str, ...]:
    """Return the names by which a program calls the result of a ``torch.compile`` use."""
    if mark.definition is not None:
        return (mark.definition.name,)
    return mark.names or ((mark.name,) if mark.in_place and mark.name else ())


_REFINED: Final[Mapping[str, Callable[[MarkUses, SeenError], FindingAnswer | None]]] = {
    "double-backward": _double_backward,
    "backward-again": _backward_again,
    "compiled-backward-in-transform": _transformed,
    "state-names": _state_names,
    "pickled": _pickled,
    "jit-trace": _traced("trace"),
    "fx-trace": _traced("trace"),
    "fx-module": _traced("trace"),
    "jit-script": _traced("script"),
    "compiled-twice": _compiled_twice,
    "assigned-step": _assigned_step,
    "operator-aliases": _operator_aliases,
    "lost-number": _lost_number,
    "modified-in-place": autograd.modified_in_place,
    "operator-without-backward": autograd.without_backward,
    "inference-tensor": autograd.inference_tensor,
    "donated-buffer": autograd.donated_buffer,
    "returned-pullback": autograd.returned_pullback,
    "unknown-option": options.unknown_name,
    "unknown-backend": options.unknown_name,
}
"""Functions that write an answer with the program's source, by the name of the known error."""
