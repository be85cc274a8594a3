"""Answers to fake kernels that raise, or call an operator without a fake kernel."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from typing import Final

from fullgraph_compiler.facts import CompileFailure, FailingKernel, GraphBreak, StackFrame

from ...text.exports import kernel_hints
from ...text.markdown import code_span, filled
from ...workspace.syntax import covers, nodes_of, positional
from ...workspace.workspace import Workspace
from .fake_calls import IN_OPERATOR, raised_in_call
from .marks import MarkUses, dotted
from .words import FindingAnswer, line_of, row_of

_NO_KERNEL: Final = (
    re.compile(
        r"^(?P<name>[\w:.]{1,200}): attempted to run this operator with Meta tensors, but there was no"
    ),
    re.compile(r"^Could not run '(?P<name>[\w:.]{1,200})' with arguments from the 'Meta' backend"),
)
"""A message from ``c10/core`` and ``aten/src/ATen/core/dispatch`` (torch 2.11 to 2.15)."""
_REGISTERING: Final = ("register_fake", "impl_abstract")
_EMPTY: Final = (
    "Compute nothing in it: return an empty tensor of the shape and dtype of the result, such as "
    "`{first}.new_empty(...)` with the sizes of the result."
)
_CHECK: Final = (
    "The line is a check: if the uncompiled program (`TORCHDYNAMO_DISABLE=1`) takes the same inputs without "
    "an error, correct the check, and else the inputs."
)
_NOTHING: Final = (
    'Register one: `@torch.library.register_fake("{operator}")` above a function with the same parameters '
    "that does nothing, since the operator returns nothing."
)
_OR_OUTER: Final = (
    "Or register one for `{operator}`, which torch then runs instead: "
    '`@torch.library.register_fake("{operator}")`.'
)
_IN_KERNEL: Final = "The fault is in the fake kernel, and not in Dynamo."


def kernel_answer(fact: GraphBreak | CompileFailure, marks: MarkUses, workspace: Workspace) -> FindingAnswer:
    """Explain that a function of an operator raises an error with fake tensors.

    Return an empty answer for other failures.
    """
    if fact.kernel is None or not fact.kernel.stack:
        return FindingAnswer()
    kernel = _KernelWords(fact, fact.kernel, marks, workspace)
    if lacking := next(filter(None, (item.search(fact.kernel.message) for item in _NO_KERNEL)), None):
        return kernel.calls(lacking["name"])
    if fact.kernel.kind == "composite":
        return FindingAnswer()
    return kernel.raises()


class _KernelWords:
    """A function that an operator runs with fake tensors, with answers about it."""

    def __init__(
        self, fact: GraphBreak | CompileFailure, kernel: FailingKernel, marks: MarkUses, workspace: Workspace
    ) -> None:
        self._kernel, self._marks, self._explanation = kernel, marks, fact.explanation
        own = [frame.filename for frame in fact.stack if workspace.contains(frame.filename)]
        self._filename = own[-1] if own else ""
        self._workspace = workspace
        first = kernel.stack[0]
        self._source = workspace.own_source(first.filename)
        functions = nodes_of(ast.FunctionDef, self._source.tree if self._source else None)
        found = (node for node in functions if node.name == first.function and covers(node, first.row))
        self._function = max(found, key=lambda node: node.lineno, default=None)

    def raises(self) -> FindingAnswer:
        """Explain that the function raises an error, and name the line."""
        kernel, operator = self._kernel, code_span(self._kernel.operator)
        error, said = raised_in_call(kernel.message) or (kernel.error, kernel.message)
        ran = f"{error} on {self._line(kernel.stack[-1])}: {said.strip()}"
        if kernel.kind == "real":
            note = f"{operator} has no fake kernel, so torch runs {self._name()} with fake tensors: {ran}"
            hints = kernel_hints(kernel.operator, missing=True)
            title = f"{operator} has no fake kernel, and its implementation raises {error}"
            return self._answer(note, hints, IN_OPERATOR, title)
        first, last = self._line(kernel.stack[0]), self._line(kernel.stack[-1])
        by = f", called on {first}" if first != last else ""
        only = ", which uncompiled code does not run," if self._is_fake_only() else ""
        note = f"The fake kernel of {operator}{only} raises {error} on {last}{by}: {said.strip()}"
        checks = any(
            isinstance(node, (ast.Raise, ast.Assert))
            or (isinstance(node, ast.Call) and dotted(node.func).startswith("torch._check"))
            for node in (self._source.nodes_at(kernel.stack[0].row) if self._source else ())
        )
        hint = _CHECK if checks else filled(_EMPTY, first=self._first_parameter())
        return self._answer(note, (hint,), _IN_KERNEL, f"the fake kernel of {operator} raises {error}")

    def calls(self, lacking: str) -> FindingAnswer:
        """Explain that the function calls ``lacking``, an operator without a fake kernel."""
        outer, inner = code_span(self._kernel.operator), code_span(lacking)
        mark = self._marks.operator(lacking)
        where = f" ({line_of(mark, self._filename)})" if mark else ""
        line = self._line(self._kernel.stack[-1])
        title = f"{inner} has no fake kernel"
        note = f"{inner}{where} has no fake kernel, which says what its result looks like. "
        hint = kernel_hints(lacking, missing=True)
        if mark is not None and mark.returns_nothing:
            hint = (filled(_NOTHING, operator=lacking),)
        if self._kernel.kind == "fake":
            note += f"The fake kernel of {outer} calls it on {line}."
            return self._answer(
                note, (*hint, filled(_EMPTY, first=self._first_parameter())), IN_OPERATOR, title
            )
        note += f"{self._name()}, which {outer} runs with fake tensors, calls it on {line}."
        other = (filled(_OR_OUTER, operator=self._kernel.operator),) if self._kernel.kind == "real" else ()
        return self._answer(note, (*hint, *other), IN_OPERATOR, title)

    def _answer(self, note: str, hints: tuple[str, ...], blame: str, title: str) -> FindingAnswer:
        return FindingAnswer(note, hints, replaced=self._explanation, instead=True, title=title, blame=blame)

    def _line(self, frame: StackFrame) -> str:
        source = self._workspace.own_source(frame.filename)
        if source is None:
            return f"{os.path.basename(frame.filename)}:{frame.row}"
        return row_of(source, frame.row, self._filename)

    def _name(self) -> str:
        name = self._kernel.stack[0].function
        return "its implementation" if name in ("_", "<lambda>") else code_span(name)

    def _first_parameter(self) -> str:
        named = positional(self._function) if self._function is not None else []
        return named[0].arg if named else "x"

    def _is_fake_only(self) -> bool:
        """Return whether the function is used in its file only as a fake kernel."""
        function, source = self._function, self._source
        if function is None or source is None or source.tree is None:
            return False
        decorators = [item for item in function.decorator_list if _registers_fake(item)]
        nodes = list(ast.walk(source.tree))
        given = [
            item
            for node in nodes
            if isinstance(node, ast.Call) and _registers_fake(node)
            for item in node.args
            if isinstance(item, ast.Name) and item.id == function.name
        ]
        uses = [
            node
            for node in nodes
            if isinstance(node, ast.Name) and node.id == function.name and isinstance(node.ctx, ast.Load)
        ]
        registered = bool(decorators or given)
        return registered and len(decorators) == len(function.decorator_list) and len(uses) == len(given)


def _registers_fake(node: ast.expr) -> bool:
    """Return whether a decorator or a call registers a fake kernel."""
    call = node if isinstance(node, ast.Call) else None
    name = dotted(call.func if call else node).rpartition(".")[2]
    arguments: Sequence[ast.expr] = call.args if call else ()
    is_meta = any(isinstance(item, ast.Constant) and item.value == "Meta" for item in arguments)
    return name in _REGISTERING or (name == "impl" and is_meta)
