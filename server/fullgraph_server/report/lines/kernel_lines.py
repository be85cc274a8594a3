"""Operations of the user's code that each line of a kernel computes.

TorchInductor does not record which line computes which operation. A line that assigns a temporary value calls
a function of Triton or C++, or applies an operator. Only a few of torch's operations are lowered to the same
function or operator (``torch/_inductor/codegen/triton.py`` and ``cpp.py``; decompositions replace other
operations before). If the launch has such an operation, the line may compute it; usually there is only one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..model import KernelLaunch, LoweredOperation

_ASSIGNMENT = re.compile(
    r"^\s*(?:auto |const )*(?:(?P<sum>_tmp|tmp_acc)|tmp)\w* (?P<update>[-+*])?= (?P<value>.+?);?$"
)
_FUNCTION = re.compile(
    r"(?:tl|tl_math|libdevice|triton_helpers|at::vec|std|decltype\(\w+\))(?:\.|::)(\w+)\(|\.(\w+)\(\)"
)
_OPERATOR = re.compile(r"\btmp\w* (?P<operator>[-+*/<>]|[<>=!]=) (?:static_cast<\w+>\()?\(?-?(?:tmp|[\d.])")
_NEGATED = re.compile(r"(?:^|\()-tmp|\.neg\(\)|decltype\(tmp\w+\)\(-tmp")
_SIGMOID = re.compile(r"decltype\((\w+)\)\(1\) ?/ ?\(decltype\(\1\)\(1\) \+ ")
_CAST = re.compile(r"^tmp\w*\.to\(tl\.\w+\)$|^(?:at::vec::convert|c10::convert)<")

_SEVERAL: dict[str, frozenset[str]] = {
    name: frozenset(operators.split())
    for name, operators in {
        "maximum": "maximum relu clamp clamp_min amax max",
        "minimum": "minimum clamp clamp_max amin min",
        "max_propagate_nan": "maximum relu clamp clamp_min amax max",
        "min_propagate_nan": "minimum clamp clamp_max amin min",
        "max2": "amax max softmax prepare_softmax_online",
        "min2": "amin min",
        "where": "where masked_fill threshold_backward",
        "blendv": "where masked_fill threshold_backward",
        "sum": "sum mean var_mean prepare_softmax_online",
        "welford": "var_mean var",
        "welford_reduce": "var_mean var",
        "welford_combine": "var_mean var",
        "rand": "rand inductor_random bernoulli native_dropout",
        "randn": "randn inductor_random",
        "sigmoid": "sigmoid sigmoid_backward silu",
        "pow": "pow",
        "erf": "erf gelu",
        "clamp_min": "relu clamp clamp_min",
        "+": "add addmm",
        "-": "sub rsub",
        "*": "mul pow square",
        "/": "div mean reciprocal",
        "neg": "neg",
        "<": "lt",
        "<=": "le threshold_backward",
        ">": "gt",
        ">=": "ge",
        "==": "eq",
        "!=": "ne",
        "cast": "convert_element_type _to_copy",
    }.items()
}
"""The operations that are lowered to a function or operator.

A function that is not listed computes only the operation of the same name.
"""


def lines_of(launches: Sequence[KernelLaunch]) -> Iterator[tuple[int, tuple[LoweredOperation, ...]]]:
    """Yield the rows of a kernel with the operations that they may compute.

    Rows are counted from 1. Rows without such an operation are left out.
    """
    operations = list(dict.fromkeys(operation for launch in launches for operation in launch.operations))
    for row, line in enumerate(launches[0].source.splitlines(), 1):
        names = set(_computed(line))
        candidates = tuple(item for item in operations if item.operator.rpartition(".")[2] in names)
        if candidates:
            yield row, candidates


def _computed(line: str) -> Iterator[str]:
    """Yield the names of torch's operations that a line may compute."""
    assigned = _ASSIGNMENT.match(line)
    if assigned is None:
        return
    value = assigned["value"]
    words = [name for groups in _FUNCTION.findall(value) for name in groups if name]
    words += [match["operator"] for match in _OPERATOR.finditer(value)]
    if _SIGMOID.search(value):
        words, value = ["sigmoid"], ""
    words += filter(
        None, [assigned["update"], _NEGATED.search(value) and "neg", _CAST.search(value) and "cast"]
    )
    if assigned["sum"]:
        words = ["sum" if word == "+" else word for word in words]
    for word in words:
        yield from _SEVERAL.get(word, (word,))
