"""The rule that turns functions that torch cannot trace into custom operators.

The operators are derived from observed calls of the functions.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fullgraph_compiler.facts import CallSeen, CallsSeen

from ...report.model import Finding
from ...text.messages import counted
from ...workspace.positions import Span
from ...workspace.syntax import bound, dotted, last_row, stored
from ..model import Edit, Fix, OperatorDefinition, RuleContext
from ..rules.syntax import ParsedFile, unused
from .callees import Callee, functions, method
from .gradient import names_of
from .reads import reads_state
from .result_sizes import sizes_seen
from .source import FunctionSource, read
from .text import NoOperatorError, operator_text

_OPERATOR = Fix(
    "custom-operator",
    "Make it a custom operator",
    "Compiled code calls the unmodified function; its results have the sizes that the new lines declare.",
    "safe",
    "https://docs.pytorch.org/docs/stable/library.html#torch.library.custom_op",
)
_NONSTRICT = Fix(
    "nonstrict-trace",
    "Trace only its tensor operations",
    "Values other than its arguments are fixed when the function is compiled, and its Python code no longer "
    "runs.",
    source="https://docs.pytorch.org/docs/stable/compile/programming_model.dynamo_nonstrict_trace.html",
)
_OTHERS = frozenset(
    [
        *("GB0025", "GB0030", "GB4297", "GB0275", "GB0291", "GB0296", "GB0069"),
        *("GB0142", "GB0066", "GB0262", "GB0221", "GB0263", "GB4315", "GB0119"),
    ]
)
"""Ids of graph breaks at code that computes nothing: requested breaks, prints, imports, and contexts."""
_SKIPPED = frozenset(["GB0007", "GB0008", "GB0009", "GB0098", "GB0099", "GB0147"])
"""Ids of graph breaks at functions whose Python code Dynamo does not trace."""


def calls_wanted(finding: Finding, context: RuleContext) -> tuple[Span, ...]:
    """Return the calls to observe to find out which functions can be operators."""
    if finding.kind != "graph-break" or finding.code in _OTHERS:
        return ()
    return tuple(dict.fromkeys(span for function in functions(finding, context) for span in function.spans))


@dataclass(frozen=True)
class _OperatorOffer:
    """The fixes for one function: trace its tensor operations, or make it an operator.

    ``refused`` says why the function cannot be an operator.
    """

    traced: Fix | None
    operator: Fix | None
    refused: str = ""


def operators(finding: Finding, context: RuleContext) -> Iterator[Fix]:
    """Offer to turn the innermost suitable function into an operator.

    Tracing only the tensor operations of functions is offered, too.
    """
    for offer in _offers(finding, context):
        if offer.traced is not None:
            yield offer.traced
        if offer.operator is not None:
            yield offer.operator
            return


def refusal(finding: Finding, context: RuleContext) -> str:
    """Say why no function around a finding can be an operator; return "" if unknown."""
    reasons = [offer.refused for offer in _offers(finding, context) if offer.refused]
    if reasons:
        return reasons[-1]
    written = method(finding, context) if finding.code in _SKIPPED else ""
    return f"`{written}` works on an object, which a custom operator cannot take" if written else ""


def _offers(finding: Finding, context: RuleContext) -> Iterator[_OperatorOffer]:
    """Yield the fixes for each function around a finding that the run called."""
    for function in functions(finding, context):
        told = ((call, context.calls.get(function.code.span(call))) for call in function.calls)
        # A call with neither observations nor a problem was not reached.
        reached = {call: seen for call, seen in told if seen is not None and (seen.calls or seen.problem)}
        if not reached:
            continue
        calls, found = list(reached), list(itertools.starmap(function.ordered, reached.items()))
        if problem := next((seen.problem for seen in found if seen.problem), ""):
            yield _OperatorOffer(None, None, f"`{function.name}` {problem}")
            continue
        seen = replace(found[0], calls=tuple(_telling([call for item in found for call in item.calls])))
        is_skipped = finding.code in _SKIPPED
        traced = _traced(function, calls) if is_skipped and _can_be_traced(function, calls, seen) else None
        try:
            source = read(function, calls, seen, context.files)
            yield _OperatorOffer(traced, _operator(function, calls, source))
        except NoOperatorError as problem:
            yield _OperatorOffer(traced, None, f"`{function.name}` {problem}")


# -- edits ---------------------------------------------------------------------------------------------


def _operator(function: Callee, calls: list[ast.Call], source: FunctionSource) -> Fix:
    seen = source.seen
    code, base_name = function.code, function.name.rpartition(".")[2]
    base = unused(base_name, lambda name: any(map(code.mentions, names_of(name))))
    library_name = _library_name(code, base_name)
    written = replace(function.written, is_used=_is_used(code, calls))
    text = code.of_torch(operator_text(written, seen, base, library_name))
    if source.refused:
        raise NoOperatorError(source.refused)
    is_array = seen.calls[0].result.kind == "array"
    return replace(
        _OPERATOR,
        title=f"Make `{function.name}` a custom operator",
        change=" ".join((_OPERATOR.change, *source.doubts)),
        safety="unsafe" if source.doubts else "safe",
        edits=(
            *_edits(function, calls, f"{base}_op", text, blank=2),
            *(edit for call in calls if is_array for edit in _as_array(code, call)),
        ),
        operator=OperatorDefinition(f"{base}_op", text, _basis(seen), _changes(seen)),
    )


def _traced(function: Callee, calls: list[ast.Call]) -> Fix:
    code = function.code
    traced = code.new_name(f"{function.name.rpartition('.')[2]}_traced")
    text = code.of_torch(f"{traced} = torch._dynamo.nonstrict_trace({function.name})\n")
    edits = _edits(function, calls, traced, text, blank=1)
    return replace(_NONSTRICT, edits=edits, operator=OperatorDefinition("", text))


def _can_be_traced(function: Callee, calls: list[ast.Call], seen: CallsSeen) -> bool:
    """Tell whether tracing only the tensor operations of a function loses nothing."""
    return (
        seen.is_python
        and _is_used(function.code, calls)
        and not _changes(seen)
        and not any(call.draws for call in seen.calls)
        and not reads_state(function.code, function.name)
    )


def _is_used(code: ParsedFile, calls: list[ast.Call]) -> bool:
    return not all(isinstance(code.parent(call), ast.Expr) for call in calls)


def _changes(seen: CallsSeen) -> bool:
    """Tell whether a function changes tensors among its arguments."""
    return any(tensor.changed for call in seen.calls for value in call.arguments for tensor in value.tensors)


def _telling(calls: list[CallSeen]) -> list[CallSeen]:
    """Leave out calls with empty results that Fullgraph itself made.

    All calls are kept if a call of the program itself has an empty result.
    """
    full = [call for call in calls if not any(0 in tensor.shape for tensor in call.result.tensors)]
    return full if all(call.made or call in full for call in calls) else calls


def _edits(function: Callee, calls: list[ast.Call], name: str, text: str, blank: int) -> tuple[Edit, ...]:
    code = function.code
    return (
        *_inserted(function, text, blank),
        *(code.replaced(call.func, name) for call in calls),
    )


def _as_array(code: ParsedFile, call: ast.Call) -> tuple[Edit, ...]:
    """Convert the operator's result to a NumPy array.

    If the next statement converts the array back to a tensor, that conversion is removed instead.
    """
    statement = code.statement(call)
    following = code.following(statement)[:1] if statement is not None else []
    if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        name = dotted(statement.targets[0])
        for made in (item for after in following for item in code.all(ast.Call, after)):
            words = {word.arg for word in made.keywords}
            is_made = (
                dotted(made.func) in code.of_torch("torch.tensor torch.as_tensor torch.from_numpy").split()
            )
            if is_made and [dotted(item) for item in made.args] == [name] and words <= {"device", "dtype"}:
                given = ", ".join(f"{word.arg}={code.text(word.value)}" for word in made.keywords)
                return (code.replaced(made, f"{name}.to({given})" if given else name),)
    return (code.behind(call, ".numpy()"),)


def _basis(seen: CallsSeen) -> str:
    ran, sizes = len([call for call in seen.calls if not call.made]), sizes_seen(seen.calls)
    if sizes == 1:
        return "only one size was seen"
    return f"{counted(ran, 'call')} of it and {counted(len(seen.calls) - ran, 'other')} with other values"


def _library_name(code: ParsedFile, name: str) -> str:
    """Return a qualified operator name that does not occur in the file."""
    stem = re.sub(r"\W", "_", Path(code.source.filename).stem, flags=re.ASCII)
    space = stem if stem[:1].isalpha() and stem not in _TAKEN else f"own_{stem}"
    return unused(f"{space}::{name}", lambda name: f'"{name}"' in code.source.text)


_TAKEN = ("aten", "at", "prim", "prims", "onnx", "torch", "c10", "inductor", "quantized", "profiler")


def _inserted(function: Callee, text: str, blank: int) -> tuple[Edit, ...]:
    """Insert definitions after the imports and after the definition of the function."""
    code, root = function.code, function.name.partition(".")[0]
    made = [item for item in code.tree.body if root in bound(item) or root in stored(item)][-1]
    imports, head = code.importing_torch(), code.imported("").span
    end, lines = last_row(made), code.source.lines
    if end < head.row:  # one insertion, in this order
        before = "".join(edit.text for edit in imports)
        place, following = head, head.row - 1
    else:
        before, following = "", end
        place = replace(head, row=end + 1, column=1, end_row=end + 1, end_column=1)
        if end >= len(lines):
            column = len(lines[-1]) + 1
            place, before = replace(place, row=end, column=column, end_row=end, end_column=column), "\n"
    while following < len(lines) and not lines[following].strip():
        following += 1
    there = following - place.row + 1
    after = "\n" * max(blank - there, 0) if following < len(lines) else ""
    edit = Edit(place, f"{before}{chr(10) * blank}{text}{after}")
    return (edit,) if end < head.row else (*imports, edit)
