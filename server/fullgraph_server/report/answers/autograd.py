"""Answers to gradients that Dynamo does not trace, and to errors of AOTAutograd."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...text.markdown import code_span
from ...workspace.definitions import definitions, nodes_of_scope
from ...workspace.source import SourceFile
from .marks import MarkUses, dotted
from .seen_errors import SeenBreak, SeenError
from .words import FindingAnswer, row_of

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_SETTERS: Final = frozenset(("requires_grad_", "share_memory_", "retain_grad_", "rename_", "detach_"))
"""Methods of tensors that end in an underscore but do not change the data."""
_IN_PLACE: Final = frozenset(
    ("add_", "clamp_", "copy_", "div_", "exp_", "fill_", "mul_", "neg_", "relu_", "sigmoid_", "sub_", "zero_")
)
"""Methods that hardly any class other than ``Tensor`` has."""
_NO_OPERATION: Final = ("CopySlices", "AccumulateGrad", "Compiled", "CompiledFunction")
_CAPITAL: Final = re.compile("(?<=[a-z0-9])([A-Z])")
_UNTRACED: Final = ("GB9186", "GB0123")
"""The breaks at ``torch.autograd.grad`` and ``Tensor.backward`` if ``trace_autograd_ops`` is off."""
_TRACE: Final = "Set `torch._dynamo.config.trace_autograd_ops = True`"
_DETACH: Final = (
    " If the compiled code returns a tensor that this gradient flows through, return it with `.detach()`."
)
_KEEPS: Final = ("retain_graph", "create_graph")
_MOST: Final = 4
_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class _InPlaceWrite:
    """A statement that writes in place; if not ``is_certain``, only if into a tensor."""

    row: int
    text: str
    is_certain: bool


def gradient_answer(seen: SeenBreak, without: str) -> FindingAnswer | None:
    """Advise on a gradient that Dynamo does not trace; ``None`` for other breaks.

    The advice adds to the setting that torch names: Dynamo refuses to return a tensor if the computation of a
    gradient has freed the graph of its ``grad_fn`` (``output_graph.py`` and ``variables/torch.py`` in
    ``torch/_dynamo``, 2.13 and 2.15). ``without`` is the advice to remove ``fullgraph=True``, or empty.
    """
    source = seen.source if seen.fact.code in _UNTRACED else None
    if source is None:
        return None
    call = _gradient(source, seen.row)
    hint = f"{_TRACE}."
    keeping = [item.value for item in call.keywords if item.arg in _KEEPS] if call else []
    if all(isinstance(value, ast.Constant) and not value.value for value in keeping):
        if found := _returned_as_well(source, call, seen.row):
            name, row = found
            where = row_of(source, row, seen.filename)
            hint = (
                f"{_TRACE}, and return {code_span(f'{name}.detach()')} ({where}): this gradient uses up the "
                f"graph behind {code_span(name)}."
            )
        else:
            hint += _DETACH
    return FindingAnswer(hints=(hint, *filter(None, (without,))), instead=True)


def _gradient(source: SourceFile, row: int) -> ast.Call | None:
    """Return the call of ``autograd.grad`` or ``backward`` at a row."""
    calls = (node for node in source.nodes_at(row) if isinstance(node, ast.Call))
    return next(
        (
            call
            for call in calls
            if (isinstance(call.func, ast.Attribute) and call.func.attr in ("grad", "backward"))
            or dotted(call.func) == "grad"
        ),
        None,
    )


def _returned_as_well(source: SourceFile, call: ast.Call | None, row: int) -> tuple[str, int] | None:
    """Return the variable that a call differentiates, and a later row that returns it.

    Return ``None`` if the function does not return the variable.
    """
    function = definitions(source).function_at(row) if call else None
    if call is None or not isinstance(function, _Function):
        return None
    taken: ast.AST | None = call.args[0] if call.args else None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
        taken = call.func.value
    while isinstance(taken, (ast.Call, ast.Attribute)):  # ``energy`` of ``energy.sum()``
        taken = taken.func if isinstance(taken, ast.Call) else taken.value
    if not isinstance(taken, ast.Name):
        return None
    behind = [node for node in nodes_of_scope(function) if getattr(node, "lineno", 0) >= row]
    names = (node for node in behind if isinstance(node, ast.Name) and node.id == taken.id)
    if any(isinstance(node.ctx, ast.Store) for node in names):
        return None
    for node in behind:
        if isinstance(node, ast.Return) and node.value is not None:
            values = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else [node.value]
            if any(isinstance(value, ast.Name) and value.id == taken.id for value in values):
                return taken.id, node.lineno
    return None


def modified_in_place(_: MarkUses, error: SeenError) -> FindingAnswer | None:
    """Explain an in-place write: name such writes in the function with the error."""
    source = error.source
    function = definitions(source).function_at(error.row) if source else None
    if source is None or not isinstance(function, _Function):
        return None
    writes = sorted(_writes(function), key=lambda item: item.row)
    if not writes or len(writes) > _MOST:
        return None
    listed = " and ".join(f"{code_span(item.text)} (line {source.row_words(item.row)})" for item in writes)
    name = code_span(function.name)
    if len(writes) == 1 and writes[0].is_certain:
        said = f"{listed} writes in place in {name}."
    else:
        verb = "writes" if len(writes) == 1 else "write"
        said = f"In {name}, {listed} {verb} in place, if the target is a tensor."
    made = _operation(error.name)
    needed = f"the result of {code_span(made)}, which" if made else "a value that"
    return FindingAnswer(
        f"{error.known.explanation} {said}",
        (error.known.hint,),
        title=f"the backward needs {needed} is changed in place",
    )


def without_backward(marks: MarkUses, error: SeenError) -> FindingAnswer:
    """Explain that an operator has no backward, and name the line that defines it."""
    operator = _operator(error.name)
    mark = marks.operator(operator)
    where = f" It is defined on {error.line(mark)}." if mark else ""
    return FindingAnswer(
        f"{error.known.explanation}{where} AOTAutograd traces the backward at the first call with an input "
        "that needs a gradient.",
        (error.known.hint,),
        title=f"the operator {code_span(operator)} has no backward",
    )


def inference_tensor(marks: MarkUses, error: SeenError) -> FindingAnswer | None:
    """Explain an error with inference tensors: name the uses of ``inference_mode``."""
    lines = list(dict.fromkeys(map(error.line, marks.all("inference_mode"))))
    if not lines or len(lines) > _MOST:
        return None
    note = f"{error.known.explanation} The program uses it on {' and '.join(lines)}."
    return FindingAnswer(note, (error.known.hint,))


def donated_buffer(marks: MarkUses, error: SeenError) -> FindingAnswer:
    """Explain that a backward retains a graph that was compiled to free its buffers."""
    hints = [error.known.hint]
    if asked := marks.all("create_graph"):
        where = " and ".join(dict.fromkeys(map(error.line, asked[:_MOST])))
        hints.append(
            f"`create_graph=True` ({where}) still fails when that gradient is differentiated: "
            "AOTAutograd does not support double backward."
        )
    return FindingAnswer(
        error.known.explanation,
        tuple(hints),
        title="this backward retains its graph, but was compiled for a first backward that did not",
    )


def returned_pullback(_: MarkUses, error: SeenError) -> FindingAnswer | None:
    """Explain that compiled code returns the function that ``torch.func.vjp`` made."""
    source = error.source
    calls = [call for call in error.calls() if dotted(call.func).rpartition(".")[2] == "vjp"]
    for call in calls if source else ():
        function = definitions(source).function_at(call.lineno) if source else None
        if source is None or not isinstance(function, _Function) or not _returns_pullback(function, call):
            continue
        name, made_by = code_span(function.name), code_span(dotted(call.func))
        where = f"line {source.row_words(call.lineno)}"
        return FindingAnswer(
            f"{name} returns the function that {made_by} ({where}) creates. That function holds tensors "
            "wrapped by the transform, and AOTAutograd cannot return these from a graph.",
            (f"Call that function within {name} and return its result, or leave {name} uncompiled.",),
        )
    return None


def _returns_pullback(function: _Function, call: ast.Call) -> bool:
    """Return whether a function returns the second result of ``call``, a ``vjp`` call."""
    names: set[str] = set()
    for node in nodes_of_scope(function):
        if isinstance(node, ast.Assign) and node.value is call:
            target = node.targets[0]
            items = target.elts[1:2] if isinstance(target, ast.Tuple) else [target]
            names |= {item.id for item in items if isinstance(item, ast.Name)}
    return any(
        item is call or (isinstance(item, ast.Name) and item.id in names)
        for node in nodes_of_scope(function)
        if isinstance(node, ast.Return)
        for item in _items(node.value)
    )


def _items(value: ast.expr | None) -> Iterator[ast.expr]:
    """Yield the values in a tuple, a list or a dict, recursively; else the value."""
    if isinstance(value, (ast.Tuple, ast.List)):
        for item in value.elts:
            yield from _items(item)
    elif isinstance(value, ast.Dict):
        for item in value.values:
            yield from _items(item)
    elif value is not None:
        yield value


def _writes(function: ast.AST) -> Iterator[_InPlaceWrite]:
    for node in nodes_of_scope(function):
        if isinstance(node, ast.Call):
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if method.endswith("_") and not method.startswith("_") and method not in _SETTERS:
                yield _InPlaceWrite(node.lineno, _text(node), is_certain=method in _IN_PLACE)
        elif isinstance(node, ast.AugAssign) or (
            isinstance(node, ast.Assign) and any(isinstance(item, ast.Subscript) for item in node.targets)
        ):
            yield _InPlaceWrite(node.lineno, _text(node), is_certain=False)


def _text(node: ast.Call | ast.AugAssign | ast.Assign) -> str:
    """Return the source of a statement; if that is long, only the statement's target."""
    text = ast.unparse(node)
    if len(text) <= _LONGEST:
        return text
    if isinstance(node, ast.Call):
        return ast.unparse(node.func)[:_LONGEST]
    return ast.unparse(node.target if isinstance(node, ast.AugAssign) else node.targets[0])[:_LONGEST]


def _operation(node: str) -> str:
    """Return the operation of an autograd node: ``sigmoid`` for ``SigmoidBackward0``.

    The result is empty for a node that does not belong to an operation.
    """
    name = node.rstrip("0123456789").removesuffix("Backward")
    return "" if name in _NO_OPERATION else _CAPITAL.sub(r"_\1", name).lower()


def _operator(name: str) -> str:
    """Return an operator's qualified name: ``demo::scale`` for ``demo.scale.default``."""
    parts: Sequence[str] = name.split(".")
    return f"{parts[0]}::{parts[1]}" if len(parts) in (2, 3) else name
