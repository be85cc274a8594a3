"""Write values, operations and tensors of a case as Python code."""

from __future__ import annotations

import base64
import keyword
import math
import re
import textwrap
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

import torch

from .case import (
    CaseInput,
    CaseOperation,
    ConstantCode,
    ExactValues,
    IntegerValues,
    ResultRef,
    TensorSpec,
    Value,
    contiguous,
)

INVOKE_SUBGRAPH: Final = "torch.ops.higher_order.invoke_subgraph"
"""The call of a nested compile region (``torch/_higher_order_ops/invoke_subgraph.py``): 2.13, 2.15."""
AUTOGRAD_FUNCTION: Final = "torch.ops.higher_order.autograd_function_apply"
"""The call of an ``autograd.Function`` (``torch/_functorch/autograd_function.py``): 2.13, 2.15."""
DATA_WAS_SET: Final = "torch._dynamo.variables.builtin._lower_version_count_by_1"
"""The function that Dynamo calls on the result of ``set_`` if the user assigns ``data``: 2.13, 2.15."""
_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_PREFIX = {"neg": "-", "invert": "~", "pos": "+", "not_": "not "}


def expression(value: Value, names: Mapping[str, str]) -> str:
    """Return a Python expression for a value.

    ``names`` has the variables for the names of operations and inputs.
    """
    if isinstance(value, ResultRef):
        return names[value.name]
    if isinstance(value, ConstantCode):
        return value.text
    if value is Ellipsis:
        return "..."
    if isinstance(value, float) and not math.isfinite(value):
        return "math.nan" if math.isnan(value) else "math.inf" if value > 0 else "-math.inf"
    if isinstance(value, complex):
        return f"complex({expression(value.real, names)}, {expression(value.imag, names)})"
    if isinstance(value, slice):
        return f"slice({', '.join(expression(part, names) for part in _parts(value))})"
    if isinstance(value, dict):
        pairs = (f"{expression(key, names)}: {expression(item, names)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, (tuple, list)):
        items = ", ".join(expression(item, names) for item in value)
        if isinstance(value, list):
            return f"[{items}]"
        return f"({items},)" if len(value) == 1 else f"({items})"
    return repr(value)


def call(operation: CaseOperation, names: Mapping[str, str], in_aten: bool) -> str:
    """Return a Python expression for an operation.

    With ``in_aten``, the expression is for an ATen graph, where Triton kernels need ``wrap_triton``.
    """
    target = operation.target.removeprefix("builtins.")
    args, kwargs = operation.args, dict(operation.kwargs)
    if operation.kind == "call_method":
        thing = expression(args[0], names)
        thing = thing if isinstance(args[0], ResultRef) else f"({thing})"
        return f"{thing}.{target}({_arguments(args[1:], kwargs, names)})"
    if target.startswith("torch.ops.higher_order.triton_kernel_wrapper"):
        kernel = expression(kwargs["kernel"], names)
        kernel = f"torch.library.wrap_triton({kernel})" if in_aten else kernel
        return f"{kernel}[{expression(kwargs['grid'], names)}]({_arguments((), kwargs['kwargs'], names)})"
    if not in_aten and (known := _as_the_user_writes(target, args, kwargs, names)):
        return known
    module, _, function = target.rpartition(".")
    if module == "operator" and not kwargs:
        operands = [_operand(arg, names) for arg in args]
        if function in _INFIX and len(args) == 2:
            return f"{operands[0]} {_INFIX[function]} {operands[1]}"
        if function in _PREFIX and len(args) == 1:
            return _PREFIX[function] + operands[0]
        if function == "getitem":
            return f"{operands[0]}[{_subscript(args[1], names)}]"
    return f"{target}({_arguments(args, kwargs, names)})"


def _as_the_user_writes(
    target: str, args: tuple[Value, ...], kwargs: dict[str, Value], names: Mapping[str, str]
) -> str:
    """Return a call of a public function that replaces a higher-order operator.

    Dynamo cannot capture such an operator again. Empty for all other operators.
    """
    if target == INVOKE_SUBGRAPH:
        subgraph, _, *operands = args  # the second is torch's name for the subgraph
        return f"{expression(subgraph, names)}({_arguments(tuple(operands), kwargs, names)})"
    if target == "torch.ops.higher_order.tag_activation_checkpoint":
        return f"torch.utils.checkpoint.checkpoint({_arguments(args, kwargs, names)})"
    if target == "torch.ops.higher_order.flex_attention":
        *inputs, score, mask, scale, options, of_score, of_mask = args
        score = _closure(score, of_score, names)
        mask = (*mask[:-1], _closure(mask[-1], of_mask, names))
        return f"{target}({_arguments((*inputs, score, mask, scale, options), kwargs, names)})"
    if target == "torch.ops.higher_order.register_hook":
        tensor, hook = (expression(arg, names) for arg in args)
        return f"({tensor}.register_hook({hook}), {tensor})[1]"
    return ""


def _closure(function: Value, tensors: tuple[Value, ...], names: Mapping[str, str]) -> Value:
    """Return code for a function that appends captured tensors to a graph's arguments."""
    if not tensors:
        return function
    return ConstantCode(
        f"lambda *args: {expression(function, names)}(*args, {_arguments(tensors, {}, names)})"
    )


def class_title(subgraph: str) -> str:
    """Return the name of a subgraph's class: ``TrueBody0`` for ``true_body_0``."""
    return "".join(part.capitalize() for part in re.split(r"\W|_", subgraph))


def autograd_function(
    title: str, bodies: tuple[str, str], results: tuple[Value, ...], options: Mapping[str, Value]
) -> str:
    """Return the code of a class for an ``autograd.Function``.

    ``bodies`` are the names of the classes of the forward and backward graph, which the methods call.
    ``results`` are the forward graph's outputs, and the values that it passes to the backward graph.
    ``options`` are the keyword arguments of torch's ``AutogradFunctionApply``; they say which of these values
    are saved tensors.
    """
    outputs, kept = results
    saved = [*options["saved_for_backward_idx"]]
    others = [place for place in range(len(kept)) if place not in saved]
    lines = [
        f"class {title}(torch.autograd.Function):",
        "    @staticmethod",
        "    def forward(ctx, *args):",
        f"        outputs, kept = {bodies[0]}.forward(None, *args)",
    ]
    for method, places in (
        ("mark_dirty", options.get("dirty_idx")),
        ("mark_non_differentiable", options["non_differentiable_idx"]),
    ):
        if places:
            lines.append(
                f"        ctx.{method}({_selected('outputs', places, isinstance(outputs, ResultRef))})"
            )
    if saved:
        lines.append(f"        ctx.save_for_backward({_selected('kept', saved)})")
    if others:
        lines.append(f"        ctx.others = [{_selected('kept', others)}]")
    restored = [
        f"ctx.saved_tensors[{saved.index(place)}]" if place in saved else f"ctx.others[{others.index(place)}]"
        for place in range(len(kept))
    ]
    lines += [
        "        return outputs",
        "",
        "    @staticmethod",
        "    def backward(ctx, *gradients):",
        f"        return {bodies[1]}.forward(None, {', '.join(['*gradients', *restored])})",
    ]
    return "\n".join(lines)


def _selected(name: str, places: Iterable[int], is_single: bool = False) -> str:
    return name if is_single else ", ".join(f"{name}[{place}]" for place in places)


def assignment(operation: CaseOperation, names: Mapping[str, str]) -> str | None:
    """Return ``x[0] = y`` for a ``setitem``; ``None`` for other operations."""
    if operation.target != "operator.setitem":
        return None
    thing, place, value = operation.args
    return f"{_operand(thing, names)}[{_subscript(place, names)}] = {expression(value, names)}"


def _arguments(args: tuple[Value, ...], kwargs: dict[str, Value], names: Mapping[str, str]) -> str:
    parts = [expression(arg, names) for arg in args]
    odd = {
        name: value for name, value in kwargs.items() if not name.isidentifier() or keyword.iskeyword(name)
    }
    parts += [f"{name}={expression(value, names)}" for name, value in kwargs.items() if name not in odd]
    return ", ".join(parts + ([f"**{expression(odd, names)}"] if odd else []))


def _operand(value: Value, names: Mapping[str, str]) -> str:
    """Return an expression that can be an operand, in parentheses if needed."""
    text = expression(value, names)
    return f"({text})" if text.startswith("-") else text


def _subscript(value: Value, names: Mapping[str, str]) -> str:
    if isinstance(value, slice):
        start, stop, step = ("" if part is None else expression(part, names) for part in _parts(value))
        return f"{start}:{stop}" + (f":{step}" if step else "")
    if isinstance(value, tuple) and value:
        return ", ".join(_subscript(item, names) for item in value) + ("," if len(value) == 1 else "")
    return expression(value, names)


def _parts(value: slice) -> tuple[Any, Any, Any]:
    return value.start, value.stop, value.step


# -- tensors -----------------------------------------------------------------------------------

EXACT = '''\
def exact(data, shape, dtype):
    """Return a tensor from its compressed bytes."""
    data = bytearray(zlib.decompress(base64.b64decode(data)))
    return torch.frombuffer(data, dtype=dtype).reshape(shape)
'''
"""The function that a repro calls to create a large tensor."""

_MOST_WRITTEN = 16
"""The maximum number of elements of a tensor that is written as decimal numbers."""

_NORMAL = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
_UNIFORM = ("uint8", "int8", "int16", "int32", "int64", "bool", *_NORMAL[:4])
"""The dtypes that ``torch.randint`` supports. ``_NORMAL`` are the dtypes that ``torch.randn`` supports."""


def make(given: CaseInput, leaf: bool) -> str:
    """Return an expression that creates an input.

    If ``leaf`` is false, the tensor is not a leaf, so that in-place operations may change it.
    """
    spec = given.spec
    if spec is None:
        return expression(given.value, {})
    text = _strided(given, spec)
    if spec.requires_grad:
        text = f"({text})" if _is_sum(text) else text
        text += ".requires_grad_()" if leaf else ".requires_grad_().clone()"
    return text


def _strided(given: CaseInput, spec: TensorSpec) -> str:
    if not math.prod(spec.shape) or spec.stride == contiguous(spec.shape):
        return _filled(given.value, spec)
    if _is_apart(spec):
        options = _options(spec, "float32")
        return (
            f"torch.empty_strided({spec.shape}, {spec.stride}{options}).copy_({_filled(given.value, spec)})"
        )
    # Some elements share memory: create the memory, and a view of it.
    size = 1 + sum((length - 1) * step for length, step in zip(spec.shape, spec.stride, strict=True))
    memory = TensorSpec((size,), (1,), spec.dtype, spec.device)
    value = given.value
    if isinstance(value, ExactValues):
        places = torch.arange(size).as_strided(spec.shape, spec.stride).reshape(-1)
        numbers = torch.zeros(size, dtype=_dtype(spec))
        numbers[places] = _tensor(value, spec).reshape(-1)
        value = ExactValues(bytes(numbers.view(torch.uint8).tolist()))
    text = _filled(value, memory)
    return f"{f'({text})' if _is_sum(text) else text}.as_strided({spec.shape}, {spec.stride})"


def _filled(value: Any, spec: TensorSpec) -> str:
    """Return an expression for a contiguous tensor with the values of an input."""
    shape = ", ".join(map(str, spec.shape)) or "()"
    if not math.prod(spec.shape):
        return f"torch.empty({shape}{_options(spec, 'float32')})"
    if isinstance(value, ExactValues):
        return _written(value, spec)
    if isinstance(value, IntegerValues):
        made = spec if spec.dtype in _UNIFORM else TensorSpec(spec.shape, (), "int64", spec.device)
        high = min(value.high + 1, 2**63 - 1)
        text = f"torch.randint({value.low}, {high}, {spec.shape}{_options(made, 'int64')})"
        return text if made is spec else f"{text}.to(torch.{spec.dtype})"
    made = spec if spec.dtype in _NORMAL else TensorSpec(spec.shape, (), "float32", spec.device)
    text = f"torch.randn({shape}{_options(made, 'float32')})"
    text += f" * {value.std:.6g}" if value.std != 1 else ""
    text += f" + {value.mean:.6g}" if value.mean > 0 else f" - {-value.mean:.6g}" if value.mean else ""
    if made is spec:
        return text
    return f"{f'({text})' if _is_sum(text) else text}.to(torch.{spec.dtype})"


def _written(value: ExactValues, spec: TensorSpec) -> str:
    tensor = _tensor(value, spec)
    if tensor.numel() > _MOST_WRITTEN:
        device = f".to({spec.device!r})" if spec.device != "cpu" else ""
        lines = textwrap.wrap(base64.b64encode(zlib.compress(value.data, 9)).decode(), 90)
        data = "\n".join(f'"{line}"' for line in lines)
        return (
            f"exact(\n{textwrap.indent(data, '    ')},\n    {spec.shape},\n    torch.{spec.dtype},\n){device}"
        )
    usual = "float32" if tensor.is_floating_point() else "bool" if tensor.dtype is torch.bool else "int64"
    if tensor.is_complex():
        usual = "complex64"
    return f"torch.tensor({_numbers(tensor)}{_options(spec, usual)})"


def _numbers(tensor: torch.Tensor) -> str:
    if tensor.ndim:
        return f"[{', '.join(map(_numbers, tensor))}]"
    number = tensor.item()
    if not isinstance(number, float) or not math.isfinite(number):
        return expression(number, {})
    # The fewest digits that give the same number in this dtype.
    digits = (f"{number:.{count}g}" for count in range(1, 18))
    return repr(float(next(text for text in digits if tensor.new_tensor(float(text)).item() == number)))


def _tensor(value: ExactValues, spec: TensorSpec) -> torch.Tensor:
    return torch.frombuffer(bytearray(value.data), dtype=_dtype(spec)).reshape(spec.shape)


def _dtype(spec: TensorSpec) -> torch.dtype:
    dtype: torch.dtype = getattr(torch, spec.dtype)
    return dtype


def _options(spec: TensorSpec, usual: str) -> str:
    dtype = f", dtype=torch.{spec.dtype}" if spec.dtype != usual else ""
    return dtype + (f", device={spec.device!r}" if spec.device != "cpu" else "")


def _is_sum(text: str) -> bool:
    """Return whether an expression needs parentheses before a method call."""
    return not text.endswith(")")


def _is_apart(spec: TensorSpec) -> bool:
    """Return whether no two elements of a tensor share memory."""
    end = 0
    for step, length in sorted(zip(spec.stride, spec.shape, strict=True)):
        if length > 1:
            if step <= end:
                return False
            end += step * (length - 1)
    return True
