"""Answers to errors of AOTAutograd: writes in place, inference tensors, operators without a backward."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from ...text.known_errors import KnownError
from ...text.markdown import code_span
from ...workspace.definitions import definitions
from ...workspace.source import SourceFile
from .marks import Mark, Marks
from .words import Answer

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_SETTERS: Final = frozenset(("requires_grad_", "share_memory_", "retain_grad_", "rename_"))
"""Methods of tensors that end in an underscore, and change no value."""
_NO_OPERATION: Final = ("CopySlices", "AccumulateGrad", "Compiled", "CompiledFunction")
_CAPITAL: Final = re.compile("(?<=[a-z0-9])([A-Z])")
_MOST: Final = 4
_LONGEST: Final = 60


class SeenError(Protocol):
    """An error that a program raised, or that ended a compilation."""

    @property
    def known(self) -> KnownError:
        """What is known of such errors."""
        ...

    @property
    def name(self) -> str:
        """The name in the message."""
        ...

    @property
    def row(self) -> int:
        """The row of the program that the error is in; 0 for none."""
        ...

    @property
    def source(self) -> SourceFile | None:
        """The file in which the error was raised."""
        ...

    def line(self, mark: Mark) -> str:
        """Name the line of a mark."""
        ...


@dataclass(frozen=True, slots=True)
class _Write:
    """A statement that writes in place, certainly or if its target is a tensor."""

    row: int
    text: str
    is_certain: bool


def modified_in_place(_: Marks, error: SeenError) -> Answer | None:
    """Name the statements of the function that write in place."""
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
        said = f"In {name}, {listed} {verb} in place, where that is a tensor."
    made = _operation(error.name)
    needed = f"the result of {code_span(made)}, which" if made else "a value that"
    return Answer(
        f"{error.known.explanation} {said}",
        (error.known.hint,),
        title=f"the backward needs {needed} is changed in place",
    )


def without_backward(marks: Marks, error: SeenError) -> Answer:
    """Name the definition of an operator that has no backward."""
    operator = _operator(error.name)
    mark = marks.operator(operator)
    where = f" It is defined on {error.line(mark)}." if mark else ""
    return Answer(
        f"{error.known.explanation}{where} AOTAutograd traces the backward at the first call with an input "
        "that needs a gradient.",
        (error.known.hint,),
        title=f"the operator {code_span(operator)} has no backward",
    )


def declares_alias(_: Marks, error: SeenError) -> Answer:
    """Name an operator whose schema says that its result is an argument."""
    return Answer(
        error.known.explanation,
        (error.known.hint,),
        title=f"the operator {code_span(error.name)} declares that its result shares memory with an argument",
    )


def inference_tensor(marks: Marks, error: SeenError) -> Answer | None:
    """Name the lines that use ``torch.inference_mode``."""
    lines = list(dict.fromkeys(map(error.line, marks.all("inference_mode"))))
    if not lines or len(lines) > _MOST:
        return None
    note = f"{error.known.explanation} The program uses it on {' and '.join(lines)}."
    return Answer(note, (error.known.hint,))


def donated_buffer(marks: Marks, error: SeenError) -> Answer:
    """Say that this backward keeps what an earlier one has freed."""
    hints = [error.known.hint]
    if asked := marks.all("create_graph"):
        where = " and ".join(dict.fromkeys(map(error.line, asked[:_MOST])))
        hints.append(
            f"`create_graph=True` ({where}) will fail nonetheless where that gradient is differentiated: "
            "AOTAutograd does not support double backward."
        )
    return Answer(
        error.known.explanation,
        tuple(hints),
        title="this backward keeps its graph, and the first one, for which it was compiled, did not",
    )


def _writes(function: ast.AST) -> Iterator[_Write]:
    for node in _own_nodes(function):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and _is_in_place(node.func.attr):
                yield _Write(node.lineno, _text(node), is_certain=True)
        elif isinstance(node, ast.AugAssign) or (
            isinstance(node, ast.Assign) and any(isinstance(item, ast.Subscript) for item in node.targets)
        ):
            yield _Write(node.lineno, _text(node), is_certain=False)


def _text(node: ast.Call | ast.AugAssign | ast.Assign) -> str:
    """Write a statement as the program does; of a long one, what it writes to."""
    text = ast.unparse(node)
    if len(text) <= _LONGEST:
        return text
    if isinstance(node, ast.Call):
        return ast.unparse(node.func)[:_LONGEST]
    return ast.unparse(node.target if isinstance(node, ast.AugAssign) else node.targets[0])[:_LONGEST]


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function that are of no function in it."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def _is_in_place(method: str) -> bool:
    """Tell whether a method of a tensor with this name changes its value."""
    return method.endswith("_") and not method.startswith("_") and method not in _SETTERS


def _operation(node: str) -> str:
    """Return the operation of a node of autograd, ``sigmoid`` for ``SigmoidBackward0``; empty for none."""
    name = node.rstrip("0123456789").removesuffix("Backward")
    return "" if name in _NO_OPERATION else _CAPITAL.sub(r"_\1", name).lower()


def _operator(name: str) -> str:
    """Write the name of an overload as a program does: ``demo::scale`` for ``demo.scale.default``."""
    parts: Sequence[str] = name.split(".")
    return f"{parts[0]}::{parts[1]}" if len(parts) in (2, 3) else name
