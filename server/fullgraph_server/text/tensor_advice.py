"""Hints about tensors that change: sizes, ranks, strides, data types, gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fullgraph_compiler.facts import GuardFailure
from fullgraph_compiler.trace.decoding import read_literal

from .markdown import code_span, filled
from .outlook import DYNAMIC, GuardedTensor, ValueOutlook
from .remedies import Advice, Remedy, advised
from .source_names import written_name

AHEAD = "To compile them early, call the function once for each."
ONCE_EACH = f"Each has its own graph, compiled once. {AHEAD}"
ASKED = f"The compiled code tests this size: the two outcomes need two graphs. {ONCE_EACH}"
OPTIONAL = (
    "Pass a tensor as `{name}` in every call. Instead of `None`, pass a tensor that changes nothing: "
    "`torch.ones(...)` to multiply with, `torch.zeros(...)` to add."
)
EVERY_SIZE = ", to keep one graph for every size{of}."
_ONE_TYPE_OF_DATA = (
    "Convert it before the compiled call, if results may have another dtype and precision: `{code}`."
)
STATIC = (
    "With `dynamic=False` ({line}), each {what} of `{name}` has its own graph: remove the option, or compile "
    "with `dynamic=True`."
)
GRADIENTS = "Calls with and without gradients need two graphs. This is expected: each is compiled once."
_UNUSED = "These calls compute no gradients, but torch still compiles for `requires_grad`: pass `{code}`."
_NO_DUCK = "torch.fx.experimental._config.use_duck_shape = False"
_DUCK = "Set `{setting}`: otherwise torch assumes that sizes which are equal in the first call stay equal."
_UNROLLED = (
    "The code uses {size} as a Python number, so each size has its own graph. If it is the length of a loop, "
    "use operations on the whole tensor{also}; otherwise pad to a few sizes."
)
_UNROLLED_LAYER = (
    "Torch unrolls `{layer}` over the steps of a sequence, so each length has its own graph, even with "
    "dynamic sizes. Pad to one length, or leave `allow_rnn`{where} off: the graph then breaks there, and the "
    "layer runs as one operator."
)
_NO_STATIC = "torch._dynamo.config.force_parameter_static_shapes = False"
_PARAMETER = (
    "Set `{setting}`, since parameters are static otherwise, and call {marks} before the compiled call."
)
_UNBACKED = "Call `{code}` before the compiled call: otherwise torch compiles a size of 0 or 1 separately."
_NO_PARAMETER = "If its gradient is not needed, pass the plain tensor in every call: `{code}`."
_STATIC_SIZE = "The program marks this size as static: each size has its own graph, compiled once."
_STATIC_CACHE = (
    'Generate with `cache_implementation="static"`: the cache has one size then, instead of growing.'
)
_KINDS_OF_NUMBERS = {
    **dict.fromkeys(("torch.int", "torch.uint"), 0),
    **dict.fromkeys(("torch.float", "torch.bfloat"), 1),
    "torch.complex": 2,
}
"""Ranks of dtypes without their widths: a dtype can hold the values of dtypes with a lower rank."""
_MOST_MARKS = 2
SPECIALIZED = "SPECIALIZED"
"""The kind of a guard on a size that the code turned into a constant, whether or not the size is dynamic."""


def size(failure: GuardFailure, seen: ValueOutlook) -> str | Advice:
    """Advise on a size that changes between calls."""
    if seen.is_cache:
        return _STATIC_CACHE
    if failure.kind == "DUCK_SIZE":
        return advised(_DUCK, Remedy("setting", setting=_NO_DUCK))
    name = written_name(failure.source)
    size = code_span(f"{name}.shape[{failure.dimension or 0}]") if name else "this size"
    can_mark = seen.at_call and seen.at_start and seen.alone and len(seen.sizes) <= _MOST_MARKS
    marks = tuple(_mark(*item) for item in seen.sizes) if can_mark else ()
    listed = " and ".join(map(code_span, marks))
    if failure.expected in ("0", "1", "at least 2") or failure.actual in ("0", "1"):
        if seen.is_asked or len(marks) != 1:
            return f"Torch compiles a size of 0 or 1 separately, even if the size is dynamic. {ONCE_EACH}"
        unbacked = Remedy("mark-unbacked", (marks[0].replace("mark_dynamic", "decorators.mark_unbacked"),))
        return advised(_UNBACKED, unbacked)
    if failure.kind == SPECIALIZED:
        if seen.unrolled:
            where = f" ({seen.allowing})" if seen.allowing else ""
            return filled(_UNROLLED_LAYER, layer=seen.unrolled, where=where)
        if not seen.is_own:
            return ""
        also = "" if seen.is_dynamic else " and compile with `dynamic=True`"
        ways = (Remedy("whole-tensor"),) if seen.is_dynamic else (Remedy("dynamic"), Remedy("whole-tensor"))
        return Advice(filled(_UNROLLED, size=size, also=also), ways)
    if failure.kind != "TENSOR_MATCH" or seen.serves is False:
        return ASKED
    if seen.before is not None and not seen.is_tried:
        return ""  # the program ended with this compilation
    if seen.is_static:
        return _STATIC_SIZE
    if "force_parameter_static_shapes" in failure.reason:
        if not marks or "._parameters[" in failure.source:
            return "Torch specializes on the sizes of parameters: each size has its own graph, compiled once."
        return advised(_PARAMETER, Remedy("mark", marks, _NO_STATIC), marks=listed)
    if seen.static_line and name:
        return advised(STATIC, Remedy("dynamic"), what="size", name=name, line=seen.static_line)
    # If no graph served both sizes, a mark may raise an error.
    told: dict[Remedy, str] = {}
    if marks and seen.serves:
        told[Remedy("mark", marks)] = f"call {listed} before the compiled call"
    if not (seen.is_dynamic or (seen.serves and seen.has_twin)):
        told[Remedy("dynamic")] = "compile with `dynamic=True`"
    if not told:
        dynamic = Remedy("dynamic", setting=_NO_DUCK)
        return "" if seen.is_dynamic else advised(f"Compile with `dynamic=True`. {_DUCK}", dynamic)
    purpose = EVERY_SIZE.format(of=f" of {code_span(name)}" if name and seen.among_others else "")
    apart = tuple(f"{words[0].upper()}{words[1:]}{purpose}" for words in told.values())
    advice = ", or ".join(told.values())
    return Advice(f"{advice[0].upper()}{advice[1:]}{purpose}", tuple(told), apart)


def is_last_batch(failure: GuardFailure, seen: ValueOutlook) -> bool:
    """Return whether a smaller batch may be the last batch of the data loader."""
    is_batch = all(dimensions == (0,) for _, dimensions in seen.sizes) and failure.dimension == 0
    return (
        failure.changed == "size"
        and seen.has_loader
        and is_batch
        and _number(failure.actual) < _number(failure.expected)
    )


def _mark(source: str, dimensions: tuple[int, ...]) -> str:
    shown = dimensions[0] if len(dimensions) == 1 else dimensions
    return f"torch._dynamo.mark_dynamic({written_name(source)}, {shown})"


def rank(failure: GuardFailure, seen: ValueOutlook) -> str | Advice:
    """Advise on a number of dimensions that changes between calls.

    There is advice only if one operation restores the earlier number.
    """
    before, after = (tensor.shape if tensor else () for tensor in (seen.before, seen.after))
    joined = str(math.prod(map(int, after[:2]))) if all(map(str.isdecimal, after[:2])) else ""
    if before[:1] == ("1",) and _is_like(before[1:], after):
        method, does = "unsqueeze(0)", "adds one"
    elif after[:1] == ("1",) and _is_like(before, after[1:]):
        method, does = "squeeze(0)", "removes one"
    elif len(after) > 1 and before[1:] == after[2:] and before[:1] == (joined,):
        method, does = "flatten(0, 1)", "joins two"
    else:
        return ""
    dimensions = "1 dimension" if failure.expected == "1" else f"{failure.expected} dimensions"
    remedy = Remedy("one-rank", (f"{written_name(failure.source)}.{method}",))
    return advised(
        "Give it {dimensions} in every call: `{code}` {does}.", remedy, dimensions=dimensions, does=does
    )


def _is_like(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether two shapes can be equal.

    A dynamic size in ``after`` fits any size.
    """
    return len(before) == len(after) and all(
        new in (old, DYNAMIC) for old, new in zip(before, after, strict=True)
    )


def _number(text: str) -> int:
    value = read_literal(text)
    return value if isinstance(value, int) else 0


def stride(failure: GuardFailure, seen: ValueOutlook) -> Advice:
    """Advise on a memory layout that changes between calls."""
    # A tensor can be contiguous with any stride of a dimension of size 1.
    is_one = any(tensor and "1" in tensor.shape for tensor in (seen.before, seen.after))
    copy = "clone(memory_format=torch.contiguous_format)" if is_one else "contiguous()"
    return advised(
        "Give it the same memory layout before every compiled call: `{code}`. This may make a copy, so do "
        "not use it for a tensor that the call writes into.",
        Remedy("one-layout", (f"{written_name(failure.source)}.{copy}",)),
    )


def dtype(failure: GuardFailure, _: ValueOutlook) -> str | Advice:
    """Advise on a dtype that changes between calls: convert the tensor.

    There is no advice if the conversion would lose information or turn indices into a mask.
    """
    kinds = [_KINDS_OF_NUMBERS.get(text.rstrip("0123456789")) for text in (failure.expected, failure.actual)]
    old, new = kinds
    if old is None or new is None or old < new:
        return ""
    return _converted(_ONE_TYPE_OF_DATA, failure, f"to({failure.expected})")


def _converted(template: str, failure: GuardFailure, method: str) -> Advice:
    return advised(template, Remedy("convert", (f"{written_name(failure.source)}.{method}",)))


def device(failure: GuardFailure, _: ValueOutlook) -> str | Advice:
    """Advise on a device that changes between calls."""
    if "meta" in (failure.expected, failure.actual):  # a meta tensor has no data that could be moved
        return ""
    return _converted("Move it before the compiled call: `{code}`.", failure, f'to("{failure.expected}")')


def is_first_gradient(failure: GuardFailure) -> bool:
    """Return whether a tensor that did not require gradients now does.

    Advice to avoid this would change the training.
    """
    return failure.changed == "requires_grad" and failure.expected == "False"


def requires_grad(failure: GuardFailure, seen: ValueOutlook) -> str | Advice:
    """Advise on a tensor that requires gradients in some calls only."""
    if seen.no_gradients:
        return _converted(_UNUSED, failure, "detach()") if seen.at_call else ""
    if is_first_gradient(failure):
        return GRADIENTS
    return _converted("Let it require gradients in every call: `{code}`.", failure, "requires_grad_(True)")


def autograd(failure: GuardFailure, _: ValueOutlook) -> str | Advice:
    """Advise on a tensor that was made in inference mode in some calls only."""
    name = written_name(failure.source)
    if failure.expected == "on":
        advice = "Pass a copy of the tensor that inference mode made: `{code}`, called outside that mode."
        return advised(advice, Remedy("one-layout", (f"{name}.clone()",)))
    return filled("Make `{name}` in `torch.inference_mode()` in every call.", name=name)


def type_of_tensor(failure: GuardFailure, seen: ValueOutlook) -> str | Advice:
    """Advise on an argument that is a plain tensor in some calls only."""
    name = written_name(failure.source)
    if failure.actual == "NoneType":
        return advised(OPTIONAL, Remedy("neutral-tensor"), name=name)
    if failure.actual in ("int", "float", "bool"):
        return tensor_of(name, seen.before)
    if failure.actual.endswith("Parameter"):
        return _converted(_NO_PARAMETER, failure, "detach()")
    return _converted("Pass a plain tensor in every call: `{code}`.", failure, "as_subclass(torch.Tensor)")


def same_tensor(failure: GuardFailure, seen: ValueOutlook) -> str | Advice:
    """Advise on a tensor that some calls pass as two arguments."""
    if failure.kind == "OBJECT_ALIASING" and seen.before is None:
        return ""  # a list, say
    other = written_name(failure.actual or failure.expected)
    advice = "Pass two different tensors in every call: `{code}` instead of the second."
    return advised(advice, Remedy("one-layout", (f"{other}.clone()",)))


def tensor_of(name: str, like: GuardedTensor | None) -> str | Advice:
    """Advise to pass a zero-dimensional tensor in the calls that pass a number.

    ``like`` is the tensor that other calls pass. There is no advice if this tensor has dimensions.
    """
    if like is None or like.shape:
        return ""
    remedy = Remedy("number-as-tensor", (f"torch.tensor({name}, dtype={like.dtype})",))
    return advised("Pass a tensor in every call: `{code}`.", remedy)
