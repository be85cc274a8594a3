"""Hints about guards that fail between calls, each with the code to write.

The tables at the end map each cause to a sentence, or to a function of the failure that makes one.
``tests/cases/recompiles`` has a program for each cause, and applies the hint to it. The values that torch
specializes on are in ``torch/_dynamo/variables/builder.py``, the guards in ``torch/_dynamo/guards.py`` and
``torch/csrc/dynamo/guards.cpp``: the same in 2.13 and 2.15, except where a comment says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from fullgraph_compiler.facts import GuardFailure
from fullgraph_compiler.trace.changes import TYPE, VALUES
from fullgraph_compiler.trace.decoding import read_literal

from .markdown import code_span, filled
from .source_names import written_name

_ONCE_EACH = "Each is a graph of its own, compiled once: call it with every one ahead of time."
CALL_AHEAD = (
    "Call it in the warm-up, where it must not fail; what `torch.compiler.reset()` has thrown away is gone."
)
_ASKED = f"The compiled code asks for this size: the two answers are two graphs. {_ONCE_EACH}"
_OPTIONAL = (
    "Pass a tensor as `{name}` in every call, in the place of `None` one that changes nothing: "
    "`torch.ones(...)` to multiply with, `torch.zeros(...)` to add."
)
_ITEM = re.compile(r"\['(\w+)'\]$")
SPECIALIZED = "SPECIALIZED"
"""The kind of a guard on a size that the code turned into a number, dynamic or not."""
RELATION = "RELATION"
"""The kind of a guard on a condition on sizes in the code."""
_CUDAGRAPH_HINTS = {
    "mutated inputs": "Return the new value from compiled code instead of writing into its inputs.",
    "cpu device": "Move the tensor to the GPU ahead of the compiled code; make it with `device=x.device`.",
    "multiple devices": "Keep compiled code on one GPU.",
    "incompatible op": "Move the operation out of the compiled function, or use another one.",
    "dynamic shapes": "Pad inputs to a few sizes, or mark sizes as static: a CUDA graph is of one size.",
}


def recompile_hints(failure: GuardFailure) -> tuple[str, ...]:
    """Advise on a guard that fails between calls."""
    rule = _BY_CHANGE.get(failure.changed) or _BY_KIND.get(failure.kind)
    name = written_name(failure.source)
    if rule is None or not (name or failure.kind in _WITHOUT_NAME):
        return ()
    if not isinstance(rule, str):
        return (rule(failure),)
    return (filled(rule, name=name, expected=failure.expected),)


def cudagraph_hints(reason: str) -> tuple[str, ...]:
    """Advise on a reason why no CUDA graph is made (``torch/_inductor/cudagraph_utils.py``)."""
    return tuple(hint for words, hint in _CUDAGRAPH_HINTS.items() if words in reason)


# -- tensors -------------------------------------------------------------------------------------------


def _size(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    dimension = failure.dimension or 0
    if failure.kind == "DUCK_SIZE":
        return (
            "Set `torch.fx.experimental._config.use_duck_shape = False`: "
            "sizes that are equal in the first call are otherwise taken for one."
        )
    if failure.expected in ("0", "1", "at least 2") or failure.actual in ("0", "1"):
        mark = code_span(f"torch._dynamo.decorators.mark_unbacked({name}, {dimension})")
        return (
            f"Call {mark} before the compiled call: "
            "a size of 0 or 1 is compiled apart, also where it is dynamic."
        )
    if failure.kind == SPECIALIZED:
        size = code_span(f"{name}.shape[{dimension}]")
        return (
            f"The code makes a number of {size}, so that each size is a graph of its "
            "own (a loop over it is unrolled): use operations on the whole tensor, or pad to a few sizes."
        )
    if failure.kind != "TENSOR_MATCH":
        return _ASKED
    if _is_array(failure):
        return "Compile with `dynamic=True`: an array cannot be marked as dynamic."
    mark = code_span(f"torch._dynamo.mark_dynamic({name}, {dimension})")
    if "force_parameter_static_shapes" in failure.reason:
        return (
            "Set `torch._dynamo.config.force_parameter_static_shapes = False`, since parameters are static "
            f"otherwise, and call {mark} before the compiled call."
        )
    return (
        f"Call {mark} before the compiled call, "
        "or compile with `dynamic=True`, to keep one graph for every size."
    )


def _is_array(failure: GuardFailure) -> bool:
    return failure.source.startswith("___from_numpy(")


def _rank(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    more = _number(failure.actual) < _number(failure.expected)
    step = "`{name}.unsqueeze(0)` adds one" if more else "`{name}.flatten(0, 1)` joins two"
    return f"Give it {failure.expected} dimensions in every call: {filled(step, name=name)}."


def _number(text: str) -> int:
    value = read_literal(text)
    return value if isinstance(value, int) else 0


def _requires_grad(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    if failure.expected == "True":
        return filled("Let it require gradients in every call: `{name}.requires_grad_(True)`.", name=name)
    return filled("Pass it without gradients in every call: `{name}.detach()`.", name=name)


def _autograd(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    if failure.expected == "on":
        advice = "Pass a copy of what was made in inference mode: `{name}.clone()`, outside of that mode."
    else:
        advice = "Make `{name}` in `torch.inference_mode()` in every call."
    return filled(advice, name=name)


def _type_of_tensor(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    if failure.actual == "NoneType":
        return filled(_OPTIONAL, name=name)
    if failure.actual in ("int", "float", "bool"):
        return filled("Pass a tensor in every call: `torch.tensor({name})`.", name=name)
    if failure.actual.endswith("Parameter"):
        return filled("Pass the plain tensor in every call: `{name}.detach()`.", name=name)
    return filled("Pass a plain tensor in every call: `{name}.as_subclass(torch.Tensor)`.", name=name)


def _same_tensor(failure: GuardFailure) -> str:
    other = written_name(failure.actual or failure.expected)
    return filled("Pass two tensors in every call: `{name}.clone()` in the place of the second.", name=other)


# -- values --------------------------------------------------------------------------------------------


def _value(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    value, is_attribute = read_literal(failure.expected), "." in name and failure.source.startswith("L[")
    if isinstance(value, bool):
        return _flag(failure)
    if isinstance(value, int):
        if failure.actual == "any int":
            other = f", or use a tensor: {code_span(_as_tensor(failure))}" if _is_place(name) else ""
            return f"Compile with `torch.compile(dynamic=True)`{other}."
        if is_attribute:
            return (
                "Set `torch._dynamo.config.allow_unspec_int_on_nn_module = True` and compile with "
                f"`dynamic=True`, or use a tensor: {code_span(_as_tensor(failure))}."
            )
    if isinstance(value, (int, float)):
        return f"Use a tensor in the place of the number: {code_span(_as_tensor(failure))}."
    return f"Choose by {code_span(name)} before the compiled call, or keep it. {_ONCE_EACH}"


def _as_tensor(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    number = f"torch.tensor({failure.expected})"
    item = _ITEM.search(name)
    if item:
        return f"{item[1]}={number}"
    if failure.source.startswith("G[") or not _is_place(name):
        return number
    return f"{name} = {number}" if "." in name else f"torch.tensor({name})"


def _is_place(name: str) -> bool:
    """Tell whether a tensor can be assigned there: not to the end of a range or an item of a tuple."""
    return re.fullmatch(r"[\w.]+", name) is not None and not name.endswith((".start", ".stop", ".step"))


def _flag(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    if name.endswith(".training"):
        return f"Training and evaluation are two graphs. {_ONCE_EACH}"
    advice = "Use a tensor in the place of the flag, and choose with `torch.where({name}, ...)`."
    return filled(advice, name=name)


def _length(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    if name.endswith("_hooks"):
        module, _, hooks = name.rpartition("._")
        register = code_span(f"{module}.register_{hooks[:-1]}(...)")
        return f"Register hooks before the first call, and keep them: {register}."
    if failure.source.endswith("._modules"):
        return filled("Add all modules before the first call: `{name}.append(...)`.", name=name)
    if not failure.kind:  # a dict counts without a guard of its own
        advice = "Give `{name}` the same keys in every call: `torch.zeros(...)` where there is no value."
    else:
        advice = "Pass one tensor, `torch.stack({name})`, with a dimension that is marked as dynamic."
    return filled(advice, name=name)


def _member(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    if failure.kind.startswith("SET_"):
        return f"Pass an equal set in every call, {failure.expected}: all that it holds is compared."
    member = failure.expected.partition(" ")[2]
    with_it = f"{code_span(name)} be with {member}"
    return f"Let {with_it}, or without it, in every call: the compiled code asks for it."


def _class(failure: GuardFailure) -> str:
    name = written_name(failure.source)
    expected = failure.expected.removeprefix(TYPE)
    if failure.actual == "None" and name.endswith("()"):
        return f"Keep what {code_span(name.removesuffix('()'))} refers to alive between calls."
    short = expected.rpartition(".")[2]
    return f"Pass an object of one class in every call: {code_span(f'{short}(...)')}. {_ONCE_EACH}"


# -- state of the process --------------------------------------------------------------------------------


def _state(failure: GuardFailure) -> str:
    settings = [setting for flag, setting in _SETTINGS.items() if flag in failure.changed]
    listed = " and ".join(map(code_span, settings))
    if not listed:
        return "Set it once, before the first call."
    return f"Set it once, before the first call, or to the same for every call: {listed}."


_SETTINGS = {
    "grad_mode": "torch.set_grad_enabled(...)",
    "autocast": "torch.autocast(...)",
    "default_dtype": "torch.set_default_dtype(...)",
    "num_threads": "torch.set_num_threads(...)",
    "deterministic_algorithms": "torch.use_deterministic_algorithms(...)",
    "allow_tf32": "torch.set_float32_matmul_precision(...)",
    "cuda_matmul_precision": "torch.set_float32_matmul_precision(...)",
    "allow_fp16_reduce": "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduce": "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
}
"""Flags of ``GlobalStateGuard`` in ``torch/csrc/dynamo/guards.cpp``; ``allow_tf32`` until torch 2.14."""


_WITHOUT_NAME = (
    "GLOBAL_STATE",
    "TORCH_FUNCTION_MODE_STACK",
    "DEFAULT_DEVICE",
    "BACKEND_MATCH",
    "DUCK_SIZE",
    RELATION,
)
_Rule = str | Callable[[GuardFailure], str]
_SAME_OBJECT = (
    f"Make it once, before the first call (`{{name}} = ...`), and pass that in every call. {_ONCE_EACH}"
)
_SAME_MODES = (
    "Make every call under the same torch function modes (`with ...`); a default device is one: "
    "`torch.set_default_device(...)` once, before the first call."
)
_BY_CHANGE: dict[str, _Rule] = {
    "size": _size,
    "stride": "Give it one memory layout before the compiled call: `{name}.contiguous()`.",
    "dtype": "Convert it before the compiled call: `{name}.to({expected})`.",
    "device": 'Move it before the compiled call: `{name}.to("{expected}")`.',
    "rank": _rank,
    "requires_grad": _requires_grad,
    "autograd": _autograd,
    "type": _type_of_tensor,
    "length": _length,
    "key": "Give `{name}` the same keys in the same order in every call, {expected} among them.",
}
_BY_KIND: dict[str, _Rule] = {
    **dict.fromkeys(VALUES, _value),
    **dict.fromkeys(("TRUE_MATCH", "FALSE_MATCH", "BOOL_MATCH"), _flag),
    **dict.fromkeys(("ID_MATCH", "FUNCTION_MATCH", "CLASS_MATCH", "CLOSURE_MATCH"), _SAME_OBJECT),
    **dict.fromkeys(("SET_CONTAINS", "DICT_CONTAINS", "HASATTR", "NO_HASATTR"), _member),
    **dict.fromkeys(("DUPLICATE", "OBJECT_ALIASING"), _same_tensor),
    **dict.fromkeys(("TORCH_FUNCTION_MODE_STACK", "DEFAULT_DEVICE"), _SAME_MODES),
    "TYPE_MATCH": _class,
    "NONE_MATCH": _OPTIONAL,
    RELATION: _ASKED,
    "GLOBAL_STATE": _state,
    # A number that is dynamic, but whose value the trace needed.
    "LAMBDA_GUARD": f"The compiled code needs `{{name}}` for a loop, a branch or a shape. {_ONCE_EACH}",
    "RANGE_ITERATOR_MATCH": (
        "Pass the items as a tensor: `torch.tensor([*{name}])`, with a dimension that is dynamic."
    ),
    "BACKEND_MATCH": (
        "Make the backend once and pass that object every time: `torch.compile(..., backend=backend)`."
    ),
}
