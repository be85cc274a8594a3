"""Sentences of findings about ``torch.export`` and about ``mark_dynamic``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from fullgraph_compiler.facts import ExportFailed, ExportProblem, OperatorFault

from .markdown import code_span, filled
from .size_expressions import written_size
from .source_names import written_name

ConditionKind: TypeAlias = Literal["tensor", "assertion", "branch", "loop", "operation", "number"]
"""The kind of code that needs to know whether a condition holds.

``tensor``: a branch on a tensor. ``assertion``: an ``assert`` on a tensor. ``branch``: a branch on a number.
``loop``: a ``while`` loop. ``operation``: an operation of torch. ``number``: code that needs a concrete
number, not a condition.
"""

_MOST = 3
_WORD = re.compile(r"\w+")
_CHECK = (
    "If it holds for all inputs, write `torch._check({condition})` on a line above: the exported program "
    "then asserts it."
)
_CHECK_NOT = "If it never holds: `torch._check({opposite})`."
_NAME_FIRST = (
    "Assign the number that torch calls {names} to a variable first, and use the variable below: torch gives "
    "each read of a tensor a new symbol."
)
_IN_LIBRARY = "The condition is in the code of a library: the other hints are about a change there, not here."
_SYMBOLIC = (
    "`int()`, `range()` and the like need a number that is known during the export. `x.item()` returns a "
    "symbolic number (`x.to(torch.int64).item()` an integer): use it for sizes, slices and conditions, and "
    "replace a loop over it by operations on tensors."
)
_COND = "If it can be true or false, make both branches part of the program: `torch.cond({condition}, ...)`"
_WHERE = (
    "Make both branches part of the program: `torch.where` for values, `torch.cond({condition}, ...)` for "
    "code."
)
_LOGICAL = (
    "Make both branches part of the program: `torch.where` for values, `torch.cond` for code. The condition "
    "has to be one tensor: write `torch.logical_and`, `torch.logical_or` and `torch.logical_not` instead of "
    "`and`, `or` and `not`."
)
_LOOP = "Make the loop part of the program: `torch.while_loop` calls its body as long as a condition holds."
_ASSERT = (
    "Write `torch._check(({condition}).item())` instead of the `assert`: the exported program then asserts "
    "it."
)
_ASSERT_PARTS = (
    "Instead of the `assert`, write a `torch._check` for each part of the condition, with `.item()` after "
    "the tensor: the exported program then asserts it."
)
_REGISTER = (
    'Register one: write `@torch.library.register_fake("{operator}")` above a function that has the '
    "parameters of the operator and returns an empty tensor with the shape and dtype of its result, such as "
    "`torch.empty_like(x)`."
)
_CORRECT = (
    'Correct the function below `register_fake("{operator}")`; `torch.library.opcheck` tests it with real '
    "inputs."
)
_BUFFER = (
    'If later calls read it, make it a buffer: `self.register_buffer("{name}", ...)` in `__init__`, with the '
    "size that it has here."
)
_RETURN_IT = "If only code outside the module reads it, return it from the module instead."
MAKE_FIRST = "Make it in `__init__`, or set it again after the export."
_CHANGED = "not defined as mutable but was mutated"
"""Part of an error message of ``SchemaCheckMode`` (``torch/_subclasses/schema_check_mode.py``)."""
_DECLARE = (
    "Name the argument in `mutates_args` of `torch.library.custom_op` (in a schema: `Tensor(a!)`), or change "
    "a copy of it; `torch.library.opcheck` tests the operator with real inputs."
)
_OF_TORCH = "`{operator}` is torch's own: report it at https://github.com/pytorch/pytorch/issues."
_STATIC = (
    "If it is always {value}, make the dimension static: remove it from `dynamic_shapes`. If not, change "
    "this code so that it does not depend on the number. `Dim.AUTO` lets the export decide."
)
_EXAMPLE = (
    "The example has size {value} there, and `torch.export` treats a size of 0 or 1 in an example as a "
    "constant. Export with an example that has size 2 or more. If the size is always {value}, make the "
    "dimension static: remove it from `dynamic_shapes`."
)
_ALL_NAMES = (
    "Name each argument, with `None` for one without a dynamic size: here {missing} {is_or_are} missing."
)
_NAMED = (
    "If `{parameter}` is a parameter with `**`, export a module around this one whose `forward` has a "
    "parameter `{key}`, and passes it on."
)
_NO_ARGUMENT = "Remove {names}: the call passes no argument of that name."
_RANGE = (
    "Give the `Dim` a range in which the condition holds, change this code so that it holds for all sizes, "
    "or use `Dim.AUTO`: the export then chooses the range, and the program checks its inputs."
)
DRAFT_SIZES = (
    "If this contradicts a `Dim`, draft_export uses `Dim.AUTO` for the size, but `torch.export.export` "
    "raises an error: give the `Dim` a `min` or `max`, or use `Dim.AUTO`."
)
_NO_MARK = (
    "If it is always {value}, do not mark it ({mark}). Or use `maybe_mark_dynamic`, which compiles for the "
    "size that the code needs and raises no error."
)
_ANY_SIZE = (
    "If it varies, this code has to work for every size: a tensor that is combined with it here needs the "
    "same dynamic size, and no code may need the number itself."
)
_NO_NUMBER = "If it varies, this code has to work for every size: none of it may need the number itself."
_WRITE_SIZE = (
    "If it varies, and the `{value}` in `{call}` stands for it, write the size there instead{as_in}."
)
_MARKED_RANGE = (
    "Mark a range in which the condition holds ({mark}), change this code so that it holds for all sizes, or "
    "leave `min` and `max` out: the condition then becomes a guard."
)
FULL_REASON = (
    "A log does not contain the exception of an export: run the program with `fullgraph check` to see it."
)
IN_LOG_OF_FAILED = (f"If this contradicts a `Dim`: {_RANGE[0].lower()}{_RANGE[1:]}", FULL_REASON)


def undecided(condition: str, problem: ExportProblem, *, kind: ConditionKind, names: Sequence[str]) -> str:
    """Write that a condition or number depends on data.

    ``names`` are the data-dependent variables that determine the condition or number.
    """
    if kind == "number":
        if problem.detail:
            return (
                f"draft_export assumes the number {problem.detail}, which {code_span(condition)} needs here"
            )
        return f"export needs a concrete value for {code_span(condition)}, which depends on data"
    listed = " and ".join(map(code_span, names))
    why = "it depends on data"
    if kind not in ("tensor", "assertion") and names:
        why = f"it depends on data, through {listed}"  # such as a tensor whose size is in the condition
        if {*names} <= {*_WORD.findall(condition)}:
            why = f"{listed} {'depends' if len(names) == 1 else 'depend'} on data"
    if problem.detail in ("True", "False"):
        return f"draft_export assumes that {code_span(condition)} is {problem.detail.lower()} here: {why}"
    return f"export cannot decide {code_span(condition)}: {why}"


def undecided_hints(
    condition: str,
    opposite: str,
    taken: str,
    *,
    kind: ConditionKind,
    value: str,
    unnamed: Sequence[str],
    in_library: bool,
) -> tuple[str, ...]:
    """Advise on a condition that depends on data.

    ``taken`` is the value that draft_export assumed for the condition; empty for none. ``value`` is the
    condition as an expression; empty if more than this condition decides. ``unnamed`` are torch's names of
    numbers without a variable.
    """
    if kind == "number":
        return (_IN_LIBRARY, _SYMBOLIC) if in_library else (_SYMBOLIC,)
    if kind == "loop":
        return (_LOOP,)
    if kind in ("tensor", "assertion"):
        known, unknown = (_WHERE, _LOGICAL) if kind == "tensor" else (_ASSERT, _ASSERT_PARTS)
        return (filled(known, condition=value) if value else unknown,)
    holds, never = filled(_CHECK, condition=condition), filled(_CHECK_NOT, opposite=opposite)
    if taken == "False":
        said = (filled(_CHECK, condition=opposite),) if opposite else ()
    else:
        said = (f"{holds} {never}" if opposite and not taken else holds,)
    library = (_IN_LIBRARY,) if in_library else ()
    first = (_NAME_FIRST.format(names=", ".join(map(code_span, unnamed))),) if unnamed else ()
    return (
        *library,
        *first,
        *said,
        *((filled(_COND, condition=value),) if kind == "branch" and value else ()),
    )


def mismatched_kernel(operator: str, reason: str) -> str:
    """Write that an operator's result differs from the result of the fake kernel."""
    return f"the fake kernel of {code_span(operator)} does not match its result: {reason}"


def assigned_hints(attribute: str) -> tuple[str, ...]:
    """Advise on an attribute to which the exported code assigns a tensor."""
    name = attribute.rpartition(".")[2]
    if not name.isidentifier():
        return (_RETURN_IT,)
    return (filled(_BUFFER, name=name), _RETURN_IT)


def kernel_hints(operator: str, *, missing: bool) -> tuple[str, ...]:
    """Advise on an operator whose fake kernel is missing or wrong."""
    if operator.startswith(("aten::", "prims::")):
        return (filled(_OF_TORCH, operator=operator),)
    return (filled(_REGISTER if missing else _CORRECT, operator=operator),)


def operator_hints(fault: OperatorFault) -> tuple[str, ...]:
    """Advise on an operator whose behavior differs from its declaration."""
    return (_DECLARE,) if _CHANGED in fault.said else kernel_hints(fault.name, missing=False)


def specialized(size: str, value: str, dimension: str) -> str:
    """Write that a size became a concrete value although it is marked dynamic."""
    marked = f"{code_span(dimension)} is dynamic" if dimension and size else "it is marked dynamic"
    return f"{code_span(size or dimension)} becomes {value} here, though {marked}"


def restricted(condition: str, dimension: str) -> str:
    """Write that the export requires a condition which not all sizes satisfy."""
    of = f" of {code_span(dimension)}" if dimension else ""
    return f"export requires {code_span(condition)} here, which not all sizes{of} satisfy"


def also(conditions: Sequence[str]) -> str:
    """List further conditions; empty if there are none."""
    shown = ", ".join(map(code_span, conditions[:_MOST]))
    more = f", and {len(conditions) - _MOST} more" if len(conditions) > _MOST else ""
    return f"Also {shown}{more}." if shown else ""


def size_hints(value: str, suggestions: Sequence[str]) -> tuple[str, ...]:
    """Advise on a dimension that cannot be as dynamic as the program marks it.

    ``value`` is the constant that the size becomes, or empty.
    """
    if value in ("0", "1"):
        return (_EXAMPLE.format(value=value),)
    torchs = f"torch suggests {', '.join(map(code_span, suggestions))}." if suggestions else ""
    advice = _STATIC.format(value=value) if value else _RANGE
    return tuple(filter(None, (torchs, advice)))


def other_range(size: str, marked: tuple[str, str], inferred: tuple[str, str]) -> str:
    """Write that a size's marked range and the range that the code needs are disjoint.

    ``marked`` and ``inferred`` are the minimum and the maximum of each range; a missing bound is empty.
    """
    return f"{code_span(size)} is marked {_range(*marked)}, but the program needs it {_range(*inferred)}"


def _range(low: str, high: str) -> str:
    if low and low == high:
        return f"as {low}"
    bounds = [f"from {low}" if low else "", f"to {high}" if high else ""]
    return " ".join(filter(None, bounds)) or "without bounds"


def wrong_keys(arguments: Sequence[str], keys: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return a title and advice if ``dynamic_shapes`` has wrong keys.

    The keys have to be the names of the call's arguments.
    """
    missing = [name for name in arguments if name not in keys]
    other = [key for key in keys if key not in arguments]
    given, wanted = (", ".join(map(code_span, names)) for names in (keys, arguments))
    title = f"the keys of `dynamic_shapes` are {given}; the arguments are {wanted}"
    if len(missing) == 1 and other:
        named = filled(_NAMED, parameter=missing[0], key=other[0])
        names = " and ".join(map(code_span, other))
        return title, (
            named,
            f"Otherwise use the parameter names of the function: {code_span(missing[0])}, not {names}.",
        )
    hints = []
    if missing:
        names = " and ".join(map(code_span, missing))
        hints.append(_ALL_NAMES.format(missing=names, is_or_are="is" if len(missing) == 1 else "are"))
    if other:
        hints.append(_NO_ARGUMENT.format(names=" and ".join(map(code_span, other))))
    return title, tuple(hints)


def mark_hints(source: str, value: str, *, call: str, alone: bool) -> tuple[str, ...]:
    """Advise on a size that ``mark_dynamic`` marks, but that cannot be dynamic.

    ``value`` is the constant that the size becomes; empty if the size has a range instead. ``call`` is the
    code that contains this constant, or empty. ``alone`` says that the code uses only one tensor.
    """
    name, _, dimension = written_name(source).removesuffix("]").rpartition(".size()[")
    bounds = "" if value else ", min=..., max=..."
    mark = code_span(f"torch._dynamo.mark_dynamic({name}, {dimension}{bounds})" if name else "mark_dynamic")
    if value:
        size = written_size(source)
        as_in = f", as in {code_span(size)}" if size and name.isidentifier() else ""
        varying = filled(_WRITE_SIZE, value=value, call=call, as_in=as_in) if call else _NO_NUMBER
        return (_NO_MARK.format(value=value, mark=mark), varying if call or alone else _ANY_SIZE)
    return (_MARKED_RANGE.format(mark=mark),)


def failed(fact: ExportFailed, message: str) -> str:
    """Write that an export failed, with the error; a log does not contain the error."""
    if fact.error:
        return (
            f"torch.export fails: {fact.error}: {message}" if message else f"torch.export fails: {fact.error}"
        )
    what = "an export" if fact.certain else "a trace by `make_fx`, such as `torch.export` makes,"
    return f"{what} fails here or in what follows" if fact.while_tracing else f"{what} fails"
