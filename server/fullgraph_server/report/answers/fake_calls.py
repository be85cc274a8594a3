"""Answers to calls that fail while Dynamo makes them with fake tensors."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable
from typing import Final

from fullgraph_compiler.facts import CompileFailure, Stack
from fullgraph_compiler.trace.messages import BUG

from ...text.exports import kernel_hints
from ...text.markdown import code_span, filled
from ...workspace.definitions import definitions
from ...workspace.source import SourceFile
from ...workspace.syntax import nodes_of
from ...workspace.workspace import Workspace
from .marks import MarkUses, dotted
from .seen_errors import SeenBreak
from .words import FindingAnswer, line_of, row_of

_SAYS: Final = "Dynamo failed to run FX node with fake tensors: "
"""The text before a call and its error, by ``_get_fake_value_impl`` (``_dynamo/utils.py``, 2.11 to 2.15)."""
_RAISED: Final = re.compile(r"^(?P<error>[A-Za-z_]\w{0,80})\((?P<said>['\"].*['\"])\)$", re.DOTALL)
_LONGEST: Final = 5000
_NO_FAKE: Final = re.compile(r"no fake impl registered for <CustomOpDef\((?P<name>[\w:.]{1,200})\)>")
"""A message from ``torch/_library/custom_ops.py`` (torch 2.11 to 2.15)."""
_LEAF: Final = "leaf Variable that requires grad is being used in an in-place operation"
"""A message from ``torch/csrc/autograd/VariableTypeUtils.h`` (torch 2.11 to 2.15)."""
_LACKING: Final = re.compile(r"'ndarray' object has no attribute '(?P<name>\w{1,100})'")
"""Python's message for an attribute that ``torch._numpy.ndarray`` lacks (``torch/_numpy/_ndarray.py``)."""
_LACKING_NOTE: Final = (
    "The call raises AttributeError: {said}. Dynamo computes with `torch._numpy` instead of NumPy: its "
    "arrays have no `{name}`."
)
_LACKING_HINT: Final = (
    "Compute this outside of compiled code, or with tensors (`torch.from_numpy`); or let NumPy run "
    "uncompiled: `torch._dynamo.config.trace_numpy = False`."
)
_LEAF_NOTE: Final = (
    "It writes in place into a leaf tensor that requires grad, such as a parameter, while autograd records: "
    "that is an error in uncompiled code, too."
)
_NO_PRIMAL: Final = "as native::_fw_primal."
"""A message from ``aten/src/ATen/native/VariableMethodStubs.cpp`` (torch 2.11 to 2.15)."""
_NO_FORWARD: Final = (
    "This is an error within torch: this version cannot compile such a forward-mode differentiation together "
    "with `vmap`."
)
_REVERSE: Final = (
    ("jacfwd", "torch.func.jacrev", "jacfwd"),
    ("hessian", "torch.func.jacrev(torch.func.jacrev(f))", "hessian(f)"),
)
"""Transforms in forward mode: name, equivalent in reverse mode, code to replace."""
_UNSUPPORTED: Final = re.compile(
    r"unsupported operator: (?P<library>\w{1,100})\.(?P<operator>\w{1,100})\.\w{1,100}"
)
"""``_get_fake_value_impl`` in ``torch/_dynamo/utils.py`` (2.11 to 2.15); torch's only hint is a link."""
_REGISTER: Final = (
    "Write one below its definition: `@{function}.register_fake` above a function with the same parameters, "
    "which returns an empty tensor of the shape and dtype of the result, such as `torch.empty_like({first})`."
)

IN_OPERATOR: Final = "The fault is in the operator, and not in Dynamo."


def fake_call_answer(failure: CompileFailure, filename: str, marks: MarkUses) -> FindingAnswer:
    """Explain the error that a call with fake tensors raised, with advice.

    Return an empty answer if torch's explanation does not quote such an error.
    """
    raised = raised_in_call(failure.explanation)
    if raised is None:
        return FindingAnswer()
    error, said = raised
    for answer in _KNOWN:
        if found := answer(said, filename, marks):
            note, hint = found
            blame = IN_OPERATOR if answer is _without_fake else ""
            return FindingAnswer(note, (hint,), replaced=failure.explanation, instead=True, blame=blame)
    hint = (
        "Run the program with `TORCHDYNAMO_DISABLE=1`, uncompiled: if this call fails then, too, the cause "
        "is in the program, such as the shapes or dtypes that the call gets, and not in the compiler."
    )
    return FindingAnswer(
        f"The call raises {error}: {said}", (hint,), replaced=failure.explanation, instead=True
    )


def handler_answer(failure: CompileFailure, traced: Stack, workspace: Workspace) -> FindingAnswer:
    """Name the ``except`` in compiled code that would catch the error if uncompiled.

    Dynamo 2.13 does not pass the errors of tensor operations on to an ``except``; Dynamo 2.15 passes on most
    errors of fake tensors. Return an empty answer if there is no such ``except``.
    """
    raised = raised_in_call(failure.explanation)
    if raised is None and BUG in failure.explanation:
        return FindingAnswer()  # an error of Dynamo itself, which uncompiled code does not raise
    error = raised[0] if raised else failure.error
    for frame in reversed(traced if failure.phase == "capture" else ()):
        source = workspace.own_source(frame.filename)
        handler = _handler(source, frame.row, error) if source else None
        if source is None or handler is None:
            continue
        caught = "" if handler.type is None else f" {ast.unparse(handler.type)}"
        where = row_of(source, handler.lineno, traced[-1].filename)
        named = code_span(f"except{caught}")
        return FindingAnswer(
            f"Uncompiled, {named} ({where}) would catch {code_span(error)}; while compiling, it does not.",
            (
                "Test before the call whether it will succeed, instead of catching its error.",
                f"Or keep the `try` of {where} outside of compiled code.",
            ),
            replaced="" if raised else failure.explanation,
        )
    return FindingAnswer()


def _handler(source: SourceFile, row: int, error: str) -> ast.ExceptHandler | None:
    """Return the innermost ``except`` around a row that catches an error, by its name.

    Only handlers in the function at the row are searched.
    """
    function = definitions(source).function_at(row)
    names = {item.__name__ for item in getattr(getattr(builtins, error, None), "__mro__", ())}
    if function is None or not names:
        return None
    around = [
        node
        for node in nodes_of(ast.Try, function)
        if node.body[0].lineno <= row <= (node.body[-1].end_lineno or row)
    ]
    for statement in sorted(around, key=lambda node: node.lineno, reverse=True):
        for handler in statement.handlers:
            caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            if any(item is None or dotted(item) in names for item in caught):
                return handler
    return None


def no_kernel_answer(seen: SeenBreak) -> FindingAnswer | None:
    """Explain how to add a fake kernel to an operator that has none.

    Torch's own hint is only a link to a document.
    """
    found = _UNSUPPORTED.search(seen.fact.text) if seen.fact.code == "GB0090" else None
    if found is None or not all(hint.startswith("see ") for hint in seen.fact.hints):
        return None
    operator = f"{found['library']}::{found['operator']}"
    where = seen.where(seen.marks.operator(operator))
    return FindingAnswer(
        f"{code_span(operator)}{where} has no fake kernel, which says what its result looks like.",
        kernel_hints(operator, missing=True),
        instead=True,
        blame=IN_OPERATOR,
    )


def raised_in_call(explanation: str) -> tuple[str, str] | None:
    """Return the type and message of the error that a call with fake tensors raised.

    Return ``None`` if ``explanation`` does not quote such an error.
    """
    if not explanation.startswith(_SAYS):
        return None
    found = _RAISED.match(explanation.partition("): got ")[2].strip()[:_LONGEST])
    if found is None:
        return None
    try:
        said = ast.literal_eval(found["said"])
    except (ValueError, SyntaxError):
        return None
    return (found["error"], said.strip()) if isinstance(said, str) and said.strip() else None


def _without_fake(said: str, filename: str, marks: MarkUses) -> tuple[str, str] | None:
    found = _NO_FAKE.search(said)
    if found is None:
        return None
    mark = marks.operator(found["name"])
    where = f" ({line_of(mark, filename)})" if mark else ""
    function = mark.definition if mark else None
    parameters = [item.arg for item in function.args.args] if isinstance(function, ast.FunctionDef) else []
    return (
        f"{code_span(found['name'])}{where} has no fake kernel, which says what its result looks like.",
        filled(
            _REGISTER,
            function=function.name if function else found["name"].rpartition("::")[2],
            first=parameters[0] if parameters else "x",
        ),
    )


def _forward_mode(said: str, _: str, marks: MarkUses) -> tuple[str, str] | None:
    """Advise on forward mode under ``vmap``, for which an assert within torch fails."""
    if _NO_PRIMAL not in said or not marks.mention("vmap"):
        return None
    hints = [
        f"{code_span(new)} instead of {code_span(old)}" for name, new, old in _REVERSE if marks.mention(name)
    ]
    instead = f"Use {', and '.join(hints)}, which " if hints else "Differentiate in reverse mode, which "
    return (
        _NO_FORWARD,
        f"{instead}can be compiled, or leave the function that calls `vmap` uncompiled.",
    )


def _leaf_in_place(said: str, _: str, __: MarkUses) -> tuple[str, str] | None:
    if _LEAF not in said:
        return None
    return _LEAF_NOTE, "Write within `torch.no_grad()`, or compute a new tensor instead of writing in place."


def _of_numpy(said: str, _: str, __: MarkUses) -> tuple[str, str] | None:
    found = _LACKING.search(said)
    return (filled(_LACKING_NOTE, said=said, name=found["name"]), _LACKING_HINT) if found else None


_KNOWN: Final[tuple[Callable[[str, str, MarkUses], tuple[str, str] | None], ...]] = (
    _without_fake,
    _leaf_in_place,
    _forward_mode,
    _of_numpy,
)
"""Functions that return a note and a hint for a message; ``None`` if they do not know the message."""
