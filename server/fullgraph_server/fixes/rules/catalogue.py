"""The catalogue: the rules that are tried for a finding, in order of preference.

The ids come from torch (``torch/_dynamo/graph_break_registry.json``); a rule inspects the syntax at the
finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...kinds import KINDS
from ...report.model import Finding
from ..editing import are_apart
from ..model import Edit, Fix, Rule, RuleContext
from ..operators.rule import operators
from ..reach import judged
from ..splitting.rule import split
from ..splitting.scoping import scoped
from . import (
    branches,
    hoisting,
    printing,
    python,
    recompilations,
    rewrites,
    selections,
    skipping,
    slices,
    tensors,
    values,
)

_list, _tuple = hoisting.converted("list"), hoisting.converted("tuple")
_hoisted = (hoisting.moved, hoisting.hoisted)
_arguments = (*_hoisted, _list)
_traced = (python.disabled,)
_BREAKS: dict[str, tuple[Rule, ...]] = {
    # printing
    "GB0059": (printing.prints, *_hoisted),
    **dict.fromkeys(("GB0291", "GB0296"), (printing.prints,)),
    # branches
    "GB0170": (skipping.collected, skipping.skipped_or(branches.branches)),
    "GB0033": (branches.branches, values.lists),
    "GB0034": (branches.branches,),
    # values
    "GB0124": (branches.tensor_checks, slices.sliced, values.scalars, *_hoisted),
    "GB0109": (values.lists,),
    "GB0036": (selections.shapes,),
    "GB0219": (selections.assigned,),
    "GB0246": (values.one_hot,),
    # Python that is not traced
    **dict.fromkeys(("GB0025", "GB0030", "GB4297", "GB0275"), (python.own_breaks,)),
    "GB0069": (python.imports,),
    "GB0007": (printing.prints, python.imports, *_hoisted),
    **dict.fromkeys(("GB0098", "GB0099", "GB0208", "GB0236", "GB0251", "GB2520", "GB0078"), _traced),
    **dict.fromkeys(("GB0142", "GB0066", "GB0262", "GB0221"), (python.around, python.contexts)),
    "GB0263": (python.turned("enable_trace_contextlib", "True"), python.around, python.contexts),
    **dict.fromkeys(("GB0179", "GB4198"), (tensors.deepcopies,)),
    **dict.fromkeys(("GB0240", "GB0241", "GB0242", "GB0247"), (tensors.out_arguments,)),
    **dict.fromkeys(("GB0056", "GB0220"), (tensors.data_assignments,)),
    **dict.fromkeys(("GB0126", "GB0127"), (tensors.resized,)),
    "GB0107": (tensors.random_fills,),
    "GB0110": (tensors.uniform_fills,),
    "GB0225": (tensors.created,),
    "GB4841": (tensors.moved_attributes,),
    **dict.fromkeys(("GB0013", "GB0467", "GB7650", "GB6815", "GB4271", "GB7786"), (hoisting.moved,)),
    **dict.fromkeys(("GB0125", "GB0206", "GB8985"), (hoisting.moved, tensors.required)),
    "GB0008": (python.around, hoisting.moved),
    "GB0264": (tensors.registered, tensors.new_parameters),
    "GB0226": (tensors.new_parameters,),
    "GB0119": (python.super_init,),
    **dict.fromkeys(("GB0290", "GB0294"), (rewrites.numpy_calls,)),
    "GB0298": (python.turned("use_numpy_random_stream", "False"), rewrites.numpy_calls),
    **dict.fromkeys(("GB0105", "GB0231", "GB0293"), (python.turned("trace_numpy", "True"),)),
    "GB0269": (python.turned("debug_force_graph_break_on_leaf_return", "False"),),
    **dict.fromkeys(("GB0014", "GB0148"), (python.recurrent,)),
    **dict.fromkeys(("GB9186", "GB0123"), (python.turned("trace_autograd_ops", "True"),)),
    **dict.fromkeys(("GB0134", "GB0297", "GB0104", "GB6297", "GB9158"), (rewrites.small_rewrites,)),
    "GB0257": (rewrites.plain_dicts,),
    "GB0040": (rewrites.conditional_results, rewrites.copied_results),
    **dict.fromkeys(("GB0311", "GB0314"), (rewrites.conditional_results,)),
    **dict.fromkeys(("GB0144", "GB0145"), (python.functions_of_autograd,)),
    "GB4315": (python.operators,),
    "GB4695": (hoisting.unscripted,),
    "GB0222": (_tuple, *_hoisted),
    **dict.fromkeys(("GB0203", "GB0811", "GB4411", "GB4880", "GB9458", "GB9561", "GB9493"), _arguments),
}
_OTHER_BREAKS: tuple[Rule, ...] = (python.own_breaks, printing.prints, *_hoisted)
"""Rules for graph breaks whose id is not in the table: these rules inspect only the syntax."""
_RECOMPILES: tuple[Rule, ...] = (recompilations.recompilations, split)


def candidates(finding: Finding, context: RuleContext) -> list[Fix]:
    """Return the fixes to try for a finding, the best first."""
    return list(dict.fromkeys(_offered(finding, context)))


def _offered(finding: Finding, context: RuleContext) -> Iterator[Fix]:
    for rule in rules_of(finding):
        for offered in rule(finding, context):
            fix = (offered.is_setting and scoped(offered, finding, context)) or offered
            edits = tuple(sorted(dict.fromkeys(fix.edits), key=_place))
            if edits and are_apart(edits):
                yield judged(replace(fix, edits=edits), context.files)


def _place(edit: Edit) -> tuple[int, int, bool, int, int]:
    """Return a sort key for edits.

    The key sorts an insertion after a replacement that begins at the same place.
    """
    span = edit.span
    is_empty = (span.row, span.column) == (span.end_row, span.end_column)
    return span.row, span.column, is_empty, span.end_row, span.end_column


def has_rules(finding: Finding) -> bool:
    """Tell whether there are rules for the id of a graph break."""
    return finding.code in _BREAKS or not finding.code.startswith("GB")


def rules_of(finding: Finding) -> tuple[Rule, ...]:
    """Return the rules for a finding, by its kind and code."""
    if finding.kind == "graph-break":
        return (*_BREAKS.get(finding.code, _OTHER_BREAKS), split, operators)
    return _RECOMPILES if KINDS[finding.kind].is_of_guard else ()
