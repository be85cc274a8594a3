"""Answers about functions passed to higher-order operators such as ``torch.cond``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from fullgraph_compiler.facts import CompileFailure, StackFrame

from ...text.hints import RETURNS_ALIAS
from ...text.markdown import code_span
from ...workspace.definitions import definitions
from ...workspace.source import SourceFile
from ...workspace.syntax import covers, nodes_of, positional
from .marks import dotted
from .seen_errors import SeenBreak
from .words import FindingAnswer, row_of

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_RAW: Final = "torch.ops.higher_order."
_BRANCHES: Final = {"true_fn": "true", "false_fn": "false"}
_LOOP: Final = re.compile(
    r"target=torch\.ops\.higher_order\.while_loop\]\(args = \(\S{1,100}, \S{1,100}, "
    r"\((?P<carried>[^)]{0,500})\), \((?P<captured>[^)]{0,500})\)\)"
)
"""The operation named in an error of a backend, in the notation of ``torch.fx``."""
_NODE: Final = re.compile(r"%(\w+)")
_OPERATOR: Final = re.compile(r"Inside of the higher-order operator `(?P<operator>[\w.]{1,100})`")
"""A sentence that Fullgraph's trace reader writes."""
_CHECKPOINT: Final = "torch.utils.checkpoint.checkpoint"
_ONCE: Final = (
    "Or let it happen only once, and not again when the backward recomputes the function: "
    "`torch._dynamo.config.skip_fwd_side_effects_in_bwd_under_checkpoint = True`."
)
_CHANGES: Final = "Mutating a variable from outside the scope of this HOP is not supported"
"""A message from ``check_allowed_side_effect`` in ``torch/_dynamo/side_effects.py`` (torch 2.13 and 2.15)."""
_ATTRIBUTE: Final = re.compile(r"Attribute '(?P<name>\w{1,100})' on an outer-scope object was changed")
"""``check_allowed_side_effect``, as above (2.13)."""
_MERGED: Final = re.compile(
    r"When merging two branches' output in torch\.cond,\s{1,4}expected same (?P<what>\w{1,30}) but got "
    r"(?P<one>[\w.]{1,60}) and (?P<other>[\w.]{1,60}\w)"
)
"""A message from ``_merge_output`` in ``torch/_higher_order_ops/cond.py`` (torch 2.13 and 2.15)."""
_INTERFACE: Final = "user-facing api"
"""A message from ``torch/_dynamo/variables/higher_order_ops.py`` (torch 2.13 and 2.15)."""
_INTERFACES: Final = {
    "scan": "torch._higher_order_ops.scan({}, init, xs)",
    "associative_scan": "torch._higher_order_ops.associative_scan({}, xs, dim)",
}
"""Operators that a program must not call directly, with the call of ``torch._higher_order_ops`` to use."""
_GUARDED: Final = "Could not guard on data-dependent expression"
_TRUTH: Final = "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`)."
_WORDS: Final = {ast.And: "and", ast.Or: "or"}
_SIGNS: Final = {ast.And: "&", ast.Or: "|"}
_INPUT: Final = re.compile(r"^l_(?:self_|)(\w+?)_$")


def branch_answer(seen: SeenBreak) -> FindingAnswer | None:
    """Explain that a function passed to a higher-order operator returns its input."""
    own, source = seen.own, seen.source if RETURNS_ALIAS in seen.fact.text else None
    function = _function(source, own[-1]) if source else None
    if function is None or len(own) < 2:
        return None
    returned = _returned(function, seen.row)
    parameters = {node.arg for node in positional(function)}
    same = [node.id for node in returned if isinstance(node, ast.Name) and node.id in parameters]
    if not same:
        return None
    branch = _branch(seen.places.workspace.source(own[-2].filename), own[-2].row, function)
    name = "" if isinstance(function, ast.Lambda) else f" {code_span(function.name)}"
    who = f"The {branch} branch{name}" if branch else f"The function{name}"
    listed = " and ".join(map(code_span, same))
    copies = " and ".join(code_span(f"{item}.clone()") for item in same)
    return FindingAnswer(
        f"{who} returns its input {listed} itself.",
        (f"Return a copy: {copies} instead of {listed}.",),
        instead=True,
    )


def side_effect_answer(seen: SeenBreak) -> FindingAnswer | None:
    """Explain that a function passed to a higher-order operator has a side effect."""
    said, source = seen.fact.explanation, seen.source
    inside = _OPERATOR.search(said)
    if inside is None or not seen.own:
        return None
    if _CHANGES in said:
        if inside["operator"] == "autograd.Function":
            function = code_span(seen.own[-1].function)
            hint = f"Leave this out of {function}, or call `apply` outside of compiled code."
            return FindingAnswer(hints=(hint,), instead=True)
        return _moved(inside["operator"], "this")
    attribute = _ATTRIBUTE.search(said)
    if source is None or attribute is None:
        return None
    rows = {
        node.lineno
        for function in nodes_of(ast.FunctionDef, source.tree)
        for node in nodes_of(ast.Attribute, function if function.name != "__init__" else None)
        if node.attr == attribute["name"] and isinstance(node.ctx, ast.Store)
    }
    where = f" ({row_of(source, min(rows), source.filename)})" if len(rows) == 1 else ""
    return _moved(inside["operator"], f"the assignment of {code_span(attribute['name'])}{where}")


def _moved(operator: str, what: str) -> FindingAnswer:
    """Advise to move a side effect out of the function passed to an operator."""
    behind = f"Move {what} after the call of {code_span(operator)}"
    if operator == _CHECKPOINT:
        return FindingAnswer(hints=(f"{behind}, or before it.", _ONCE), instead=True)
    functions = "both functions" if operator == "torch.cond" else "the function"
    return FindingAnswer(hints=(f"{behind}, and return the values it needs from {functions}.",), instead=True)


def truth_answer(seen: SeenBreak) -> FindingAnswer | None:
    """Advise on ``and``, ``or``, ``not`` of tensors in a ``return`` or ``torch.cond``."""
    fact, source = seen.fact, seen.source
    if source is None:
        return None
    values: Sequence[ast.expr] = ()
    if fact.code == "GB0170" and _OPERATOR.search(fact.explanation):
        function = _function(source, seen.own[-1])
        values = _returned(function, seen.row) if function else ()
    elif _GUARDED in f"{fact.text} {getattr(fact, 'message', '')}":
        values = [call.args[0] for call in _conds(source, seen.row) if call.args]
    for value in values:
        if written := _of_tensors(value):
            word = _WORDS[type(value.op)] if isinstance(value, ast.BoolOp) else "not"
            return FindingAnswer(
                f"{code_span(word)} needs the truth value of a tensor, which depends on its data.",
                (f"Write {code_span(written)} instead, which is a tensor.",),
                replaced=_TRUTH if _TRUTH in fact.explanation else fact.explanation,
                instead=True,
            )
    return None


def merge_answer(seen: SeenBreak) -> FindingAnswer | None:
    """Explain how the results of the two functions of a ``torch.cond`` differ."""
    said = _MERGED.search(f"{seen.fact.explanation} {seen.fact.text}")
    if said is None:
        return None
    what, one, other = said["what"], code_span(said["one"]), code_span(said["other"])
    how = f", as with {code_span('.to(' + said['other'] + ')')}" if what == "dtype" else ""
    return FindingAnswer(
        f"The functions of `torch.cond` return tensors that differ in {what}: {one} and {other}.",
        (f"Return the same {what} from both{how}.",),
        replaced=seen.fact.explanation,
        instead=True,
    )


def _conds(source: SourceFile, row: int) -> list[ast.Call]:
    """List the calls of ``cond`` that begin at a row."""
    calls = [node for node in source.nodes_at(row) if isinstance(node, ast.Call)]
    return [call for call in calls if dotted(call.func).rpartition(".")[2] == "cond"]


def _of_tensors(value: ast.expr) -> str:
    """Rewrite an expression with ``and``, ``or`` or ``not`` as a tensor expression.

    Return an empty string for other expressions, and if a part might not be a tensor.
    """
    if isinstance(value, ast.BoolOp) and all(map(_is_mask, value.values)):
        parts = [ast.unparse(item) for item in value.values]
        return f" {_SIGNS[type(value.op)]} ".join(f"({part})" for part in parts)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):  # of a tensor, since it breaks
        return f"torch.logical_not({ast.unparse(value.operand)})"
    return ""


def _is_mask(node: ast.expr) -> bool:
    """Return whether an expression is a simple comparison; of tensors, it is a mask."""
    return (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
    )


def raw_operator_answer(seen: SeenBreak) -> FindingAnswer | None:
    """Explain a direct call of an internal operator, and name the public function."""
    error = getattr(seen.fact, "error", "")
    is_raw = _INTERFACE in seen.fact.explanation or error == "InternalTorchDynamoError"
    source = seen.source if is_raw else None
    for call in source.nodes_at(seen.row) if source else ():
        operator = dotted(call.func) if isinstance(call, ast.Call) else ""
        is_of_torch = operator.startswith(_RAW)
        written = _INTERFACES.get(operator.removeprefix(_RAW)) if is_of_torch else None
        if source is None or not isinstance(call, ast.Call) or written is None:
            continue
        given = dotted(call.args[0]) if call.args else ""
        hints = [f"Call {code_span(written.format(given or 'f'))} instead, which prepares its arguments."]
        rows = [
            node.lineno
            for function in nodes_of(ast.FunctionDef, source.tree)
            for node in nodes_of(ast.Call, function if function.name == given else None)
            if isinstance(node.func, ast.Attribute) and node.func.attr == "item"
        ]
        if rows:
            where = row_of(source, rows[0], seen.filename)
            hints.append(f"{code_span(given)} must not read a number from a tensor: `.item()` ({where}).")
        return FindingAnswer(
            f"{code_span(operator)} is an internal operator: it accepts only arguments that its public "
            "function prepares.",
            tuple(hints),
            instead=True,
        )
    return None


def loop_answer(failure: CompileFailure) -> FindingAnswer:
    """Explain that a ``while_loop`` carries a tensor that its functions also capture."""
    found = _LOOP.search(failure.text)
    if "might be aliasing" not in failure.message or found is None:
        return FindingAnswer()
    captured = _NODE.findall(found["captured"])
    both = [name for name in _NODE.findall(found["carried"]) if name in captured]
    if not both:
        return FindingAnswer()
    names = " and ".join(code_span(_INPUT.sub(r"\1", name)) for name in both)
    they = "it" if len(both) == 1 else "them"
    return FindingAnswer(
        f"The loop carries {names}, and its functions also read {they} from the enclosing scope: the "
        "operator gets one tensor twice, which its check rejects. The fault need not be in the function that "
        "torch names.",
        (f"Let the functions read a copy of {names}, made with `.clone()` before the loop.",),
        instead=True,
    )


def _function(source: SourceFile, frame: StackFrame) -> _Function | None:
    """Return the function of a frame; a lambda is found by its column."""
    if frame.function != "<lambda>":
        return definitions(source).function_at(frame.row)
    column = frame.column or 0
    return next(
        (
            node
            for node in source.nodes_at(frame.row)
            if isinstance(node, ast.Lambda) and node.col_offset <= column < (node.end_col_offset or 0)
        ),
        None,
    )


def _returned(function: ast.AST, row: int) -> Sequence[ast.expr]:
    """List the expressions that a function returns at a row."""
    if isinstance(function, ast.Lambda):
        value: ast.expr | None = function.body
    else:
        nodes = (node for node in nodes_of(ast.Return, function))
        value = next((node.value for node in nodes if covers(node, row)), None)
    if isinstance(value, (ast.Tuple, ast.List)):
        return value.elts
    return [value] if value is not None else []


def _branch(source: SourceFile | None, row: int, function: ast.AST) -> str:
    """Return which branch of the ``cond`` at a row a function is: true or false.

    Return an empty string if the function is neither branch, or may be either.
    """
    name = getattr(function, "name", "")
    for call in _conds(source, row)[:1] if source else ():
        given = dict(zip(("true", "false"), call.args[1:3], strict=False))
        given |= {_BRANCHES[item.arg]: item.value for item in call.keywords if item.arg in _BRANCHES}
        # Each syntax node is a single object, so identity shows whether it is the same function.
        found = [
            key
            for key, node in given.items()
            if node is function or (name and dotted(node).rpartition(".")[2] == name)
        ]
        return found[0] if len(found) == 1 else ""
    return ""
