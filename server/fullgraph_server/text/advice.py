"""Hints about guards that fail between calls, each with the code to write.

The tables at the end of this module map each cause to a sentence, or to a function that writes the sentence
from the failure. The tests in ``tests/cases/recompiles`` apply each hint to a program with its cause.

``torch/_dynamo/variables/builder.py`` decides on which values torch specializes; guards are defined in
``torch/_dynamo/guards.py`` and ``torch/csrc/dynamo/guards.cpp``. Torch 2.13 and 2.15 do not differ in this,
except where a comment says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from fullgraph_compiler.facts import GuardFailure
from fullgraph_compiler.trace.changes import SAME_TENSOR, TYPE, VALUES
from fullgraph_compiler.trace.decoding import read_literal
from fullgraph_compiler.trace.guards import METADATA
from fullgraph_compiler.trace.reasons import FREED

from . import tensor_advice
from .markdown import code_span, filled
from .outlook import ValueOutlook
from .remedies import Advice, Remedy, advised
from .source_names import freed_object, written_name
from .tensor_advice import AHEAD, ASKED, EVERY_SIZE, GRADIENTS, ONCE_EACH, OPTIONAL, STATIC

_ONCE = "compiled once."
"""The end of a sentence that explains why there are several graphs, and asks for no change."""
CALL_AHEAD = "Call it during the warm-up too; `torch.compiler.reset()` discards all earlier compilations."
_CHOSEN = "Each value of `{name}` has its own graph, compiled once."
_OF_FEW = f"{_CHOSEN} {AHEAD}"
_GROWING = (
    "`{name}` grows from call to call, and each length has its own graph: keep it out of the compiled code."
)
_NEEDED = (
    "The compiled code needs the concrete value of `{name}` (for a loop, a branch, a shape or an operation): "
    "each value has its own graph, compiled once."
)
_BY_DYNAMIC = f"Compile with `dynamic=True`{EVERY_SIZE.format(of='')}"
_ENDS_BY_DYNAMIC = re.compile(
    r"ompile with `dynamic=True`, to keep one graph for every size(?: of `[^`]+`)?\.\Z"
)
_DYNAMIC_NUMBER = "Compile with `torch.compile(dynamic=True)`, to keep one graph for every number."
_LOOKUP = (
    "Torch guards on each key that is looked up in `{name}`, not on the result of the lookup: compute "
    "`{code}` before the call, and pass the result, which has two values."
)
_ONE_TYPE = "Pass a number of the same type in every call, `{code}`, and compile with `dynamic=True`."
_OF_MODULE = (
    "Torch treats integer attributes of modules as constants. If the code only computes with `{name}`, set "
    "`{setting}` and compile with `dynamic=True`."
)
_UNSPECIALIZED = "torch._dynamo.config.allow_unspec_int_on_nn_module = True"
_CLASS_MADE = (
    "Each call of `{maker}` makes a new class `{cls}`: define the class once, outside that function."
)
_INDICES = (
    "A list of numbers that is used as an index becomes part of the graph, so each new list needs a new "
    "graph: convert it outside the compiled code, and pass the tensor, `torch.tensor({name})`."
)
_OF_GLOBAL = (
    "Torch treats global integers as constants. If the code only computes with `{name}`, use a tensor "
    "instead: `{code}`."
)
_LEARNING_RATE = advised(
    "Pass the learning rate to the optimizer as a tensor: write `{code}` around the number.",
    Remedy("tensor-learning-rate", ("torch.tensor(...)",)),
)
_MOMENTUM = (
    "A scheduler that changes `{name}` causes a compilation for each step: keep the value constant, as "
    "`OneCycleLR(..., cycle_momentum=False)` does, or do not compile the step."
)
_OF_DEFAULT = (
    "Torch treats default values of parameters as constants: pass the value as an argument instead of "
    "using `{name}`."
)
_DROP_LAST = Advice(
    "If only the last batch is smaller, drop it: `DataLoader(..., drop_last=True)`.",
    (Remedy("drop-last"),),
)
_STACK = (
    "Pass one tensor, `{code}`, with its first dimension marked as dynamic, and compute on the whole tensor, "
    "as in `{name}.sum(0)`: a loop over its rows needs one graph for each length."
)
_A_TENSOR = "a tensor"
_OF_LIST = re.compile(r"^(?P<list>.{1,200})\[\d{1,9}\]$")
_DEFAULT = re.compile(r"\.__(?:kw)?defaults__\[")
_OF_TORCH = re.compile(r"\['__import_torch\b|__import_torch_dot_|G\['torch'\]\._")
"""Sources that no user code names: torch's modules as Dynamo imports them, and torch's private names."""
RELATION = "RELATION"
"""The kind of a guard on a condition on sizes that the compiled code tests."""
_MOMENTA = re.compile(r"\.param_groups\[\d+\]\['(?:momentum'\]|betas'\]\[0\])$")


def recompile_advice(failure: GuardFailure, seen: ValueOutlook) -> tuple[Advice, ...]:
    """Advise on a guard that fails between calls.

    ``seen`` is what the compilations of the function show about the guarded value. Return no advice if it
    would be uncertain.
    """
    cause = failure.changed if failure.changed in _BY_CHANGE else failure.kind
    is_learning_rate = failure.source.endswith("['lr']") and ".param_groups[" in failure.source
    rule = _LEARNING_RATE if is_learning_rate else _BY_CAUSE.get(cause)
    name = written_name(failure.source)
    if rule is None or not (name or failure.kind in _WITHOUT_NAME or cause == "size"):
        return ()
    if _OF_TORCH.search(failure.source):
        return ()
    if cause in _REWRITTEN and not (seen.at_call or tensor_advice.is_first_gradient(failure)):
        return ()
    given = rule(failure, seen) if callable(rule) else rule
    if isinstance(given, str):
        said = filled(given, name=name) if rule is given else given
        given = Advice(said, explains=said.endswith(_ONCE))
    last = (_DROP_LAST,) if tensor_advice.is_last_batch(failure, seen) else ()
    return (*((given,) if given.sentence else ()), *last)


def past_limit(given: Iterable[Advice]) -> list[Advice]:
    """Return the advice that still holds beyond the recompile limit.

    Torch no longer compiles the function there, so explanations and hints to compile early do not hold.
    """
    kept = (
        replace(item, sentence=item.sentence.removesuffix(ONCE_EACH).rstrip())
        for item in given
        if not item.explains
    )
    return [item for item in kept if item.sentence and not item.sentence.endswith(AHEAD)]


def common_advice(given: Iterable[Advice]) -> tuple[Advice, ...]:
    """Merge advice on values that changed in the same way, if one sentence fits all."""
    distinct = tuple(dict.fromkeys(given))
    if len(distinct) > 1 and all(_ENDS_BY_DYNAMIC.search(item.sentence) for item in distinct):
        return (Advice(_BY_DYNAMIC, (Remedy("dynamic"),)),)  # each sentence ends with `dynamic=True`
    return distinct


# -- values --------------------------------------------------------------------------------------------


def _value(failure: GuardFailure, seen: ValueOutlook) -> str | Advice:
    value, name = read_literal(failure.expected), written_name(failure.source)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if failure.actual == _A_TENSOR:
        return tensor_advice.tensor_of(name, seen.after) if is_number else ""
    if _MOMENTA.search(failure.source):
        return filled(_MOMENTUM, name=name)
    now = read_literal(failure.actual)
    is_other = failure.actual in ("None", "True", "False") or isinstance(now, (str, tuple, list, dict))
    if not is_number or is_other:
        return filled(_CHOSEN, name=name)
    if seen.indexes and (found := _OF_LIST.fullmatch(name)):
        return filled(_INDICES, name=found["list"])
    if seen.serves is False:
        return filled(_NEEDED, name=name)
    if seen.serves and isinstance(value, int) and failure.actual == "any float":
        both = Remedy("dynamic", (f"float({name})",)), Remedy("one-class", (f"float({name})",))
        return Advice(filled(_ONE_TYPE, code=f"float({name})"), both)
    if seen.serves and isinstance(value, int) and value in (0, 1):
        return f"Torch compiles the numbers 0 and 1 separately, even if numbers are dynamic. {ONCE_EACH}"
    if seen.serves:
        by_dynamic = Advice(_DYNAMIC_NUMBER, (Remedy("dynamic"),))
        return filled(_NEEDED, name=name) if seen.is_dynamic else by_dynamic
    if _DEFAULT.search(failure.source):
        return filled(_OF_DEFAULT, name=name)
    if seen.indexes:
        return filled(_CHOSEN, name=name)
    if seen.static_line:
        return advised(STATIC, Remedy("dynamic"), what="value", name=name, line=seen.static_line)
    if seen.is_tried and isinstance(value, int) and seen.of_module and failure.source.startswith("L["):
        return advised(_OF_MODULE, Remedy("dynamic", setting=_UNSPECIALIZED), name=name)
    if seen.is_tried and isinstance(value, int) and failure.source.startswith("G["):
        tensor = Remedy("number-as-tensor", (f"torch.tensor({failure.expected})",))
        return advised(_OF_GLOBAL, tensor, name=name)
    return filled(_CHOSEN, name=name)


def _needed(failure: GuardFailure, seen: ValueOutlook) -> str:
    """Advise on a dynamic number whose concrete value the compilation needed.

    Lambda guards on anything else are torch's own checks and get no advice.
    """
    name = written_name(failure.source)
    if not isinstance(read_literal(failure.expected), (int, float)):
        return ""
    found = _OF_LIST.fullmatch(name) if seen.indexes else None
    return filled(_INDICES, name=found["list"]) if found else filled(_NEEDED, name=name)


def _flag(failure: GuardFailure, _: ValueOutlook) -> str:
    name = written_name(failure.source)
    if name.endswith(".training"):
        return "Training and evaluation need two graphs. This is expected: each is compiled once."
    return filled(_OF_FEW, name=name)


def _length(failure: GuardFailure, seen: ValueOutlook) -> str | Advice:
    name = written_name(failure.source)
    if name.endswith("_hooks"):
        module, _, hooks = name.rpartition("._")
        register = Remedy("set-earlier", (f"{module}.register_{hooks[:-1]}(...)",))
        return advised("Register hooks before the first call, and do not remove them: `{code}`.", register)
    if failure.source.endswith("._modules"):
        append = Remedy("set-earlier", (f"{name}.append(...)",))
        return advised("Add all modules before the first call: `{code}`.", append)
    if seen.grows:
        return filled(_GROWING, name=name)
    if failure.kind in ("", "DICT_LENGTH"):  # up to torch 2.14, no guard kind exists for a dict's length
        if seen.in_library:
            return ""
        return advised("Give `{name}` the same keys in every call.", Remedy("same-keys"), name=name)
    if seen.at_call and len(set(seen.items)) == 1 and str(len(seen.items)) == failure.expected:
        return advised(_STACK, Remedy("stack", (f"torch.stack({name})",)), name=name)
    return "Each length has its own graph, compiled once."


def _keys(failure: GuardFailure, _: ValueOutlook) -> Advice:
    return advised(
        "Give `{name}` the same keys in the same order in every call, including {expected}.",
        Remedy("same-keys"),
        name=written_name(failure.source),
        expected=failure.expected,
    )


def _member(failure: GuardFailure, seen: ValueOutlook) -> str | Advice:
    name = written_name(failure.source)
    if seen.lookup:
        return filled(_LOOKUP, name=name, code=seen.lookup)
    if failure.kind.startswith("SET_"):
        return f"Pass an equal set in every call, {failure.expected}: torch compares all of its items."
    member = failure.expected.partition(" ")[2]
    if name.endswith(".__dict__"):
        attribute = Remedy("assign-earlier", (f"{name.removesuffix('.__dict__')}.{read_literal(member)}",))
        return advised("Set `{code}` on the object itself, before the first call.", attribute)
    return Advice(
        f"Give {code_span(name)} {member} in every call, or in none: the compiled code looks for it.",
        (Remedy("assign-earlier", (member,)) if member.startswith(".") else Remedy("same-keys"),),
    )


def _class(failure: GuardFailure, seen: ValueOutlook) -> str | Advice:
    name = written_name(failure.source)
    expected = failure.expected.removeprefix(TYPE)
    if failure.actual == "None" and name.endswith("()"):
        return f"Keep the object that {code_span(name.removesuffix('()'))} refers to alive between calls."
    if failure.actual == _A_TENSOR or failure.actual.partition(".")[0] == "torch":
        return tensor_advice.tensor_of(name, seen.after) if expected in ("int", "float") else ""
    if failure.actual == failure.expected and "<locals>" in expected:
        maker, _, cls = expected.rpartition(".<locals>.")
        return filled(_CLASS_MADE, maker=maker.rpartition(".")[2], cls=cls)
    one = Remedy("one-class", (f"{expected.rpartition('.')[2]}(...)",))
    return advised(f"Pass an object of the same class in every call: `{{code}}`. {ONCE_EACH}", one)


def _optional(failure: GuardFailure, _: ValueOutlook) -> str | Advice:
    name = written_name(failure.source)
    if failure.actual == _A_TENSOR:
        return advised(OPTIONAL, Remedy("neutral-tensor"), name=name)
    return filled(_CHOSEN, name=name)


def _object(failure: GuardFailure, _: ValueOutlook) -> str | Advice:
    """Advise on a guard that fails because of a different object of the same class.

    If each call makes a new function, the advice is to make the function once.
    """
    name = written_name(failure.source)
    if failure.expected in SAME_TENSOR:
        return ""  # a warm-up call cannot pass a tensor that the program makes later
    if failure.expected == "the same function" or "<locals>" in failure.expected:
        return advised(_SAME_OBJECT, Remedy("make-once"), name=name)
    return filled(_CHOSEN, name=name)


def _freed(failure: GuardFailure, _: ValueOutlook) -> str | Advice:
    """Advise on a compilation that was discarded because an object was freed.

    If the object is a function, the advice is to make the function once instead of for each call.
    """
    name = written_name(failure.source)
    if failure.expected == "the same function":
        return advised(_SAME_OBJECT, Remedy("make-once"), name=name)
    return _FREED.format(object=freed_object(failure.expected))


# -- state of the process --------------------------------------------------------------------------------


def _state(failure: GuardFailure, _: ValueOutlook) -> str | Advice:
    if "grad mode" in failure.changed.replace("_", " "):
        return GRADIENTS
    settings = [setting for flag, setting in _SETTINGS.items() if flag in failure.changed]
    if not settings:
        return "Set it once, before the first call."
    listed = " and ".join(map(code_span, settings))
    return Advice(
        f"Set it once, before the first call, or to the same value for every call: {listed}.",
        tuple(
            Remedy("set-earlier" if item.endswith(")") else "assign-earlier", (item,)) for item in settings
        ),
    )


_SETTINGS = {
    "autocast": "torch.autocast(...)",
    "default_dtype": "torch.set_default_dtype(...)",
    "num_threads": "torch.set_num_threads(...)",
    "deterministic_algorithms": "torch.use_deterministic_algorithms(...)",
    "allow_tf32": "torch.set_float32_matmul_precision(...)",
    "cuda_matmul_precision": "torch.set_float32_matmul_precision(...)",
    "allow_fp16_reduce": "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduce": "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
}
"""The code that sets each flag of ``GlobalStateGuard`` (``torch/csrc/dynamo/guards.cpp``).

``allow_tf32`` is a flag up to torch 2.14.
"""


_WITHOUT_NAME = (
    "GLOBAL_STATE",
    "TORCH_FUNCTION_MODE_STACK",
    "DEFAULT_DEVICE",
    "BACKEND_MATCH",
    "DUCK_SIZE",
    RELATION,
)
_Rule = str | Advice | Callable[[GuardFailure, ValueOutlook], str | Advice]
_SAME_OBJECT = (
    f"Make it once, before the first call (`{{name}} = ...`), and pass it in every call. {ONCE_EACH}"
)
_FREED = (
    "Torch compiles the code for this particular {object}, and discards the compilation when the {object} is "
    "freed. Use the same {object} in all calls. If each call needs a new {object}, call "
    "`torch.compiler.reset()` before you compile for the next one: discarded compilations count towards the "
    "recompile limit."
)
_METADATA = (
    "The metadata that `__tensor_flatten__` of `{name}` returns is part of the compiled code: each value has "
    "its own graph. Leave out metadata that does not affect the computation; store a number that varies in "
    "a tensor."
)
_SAME_MODES = Advice(
    "Make every call under the same torch function modes (`with ...`). A default device is such a mode: call "
    "`torch.set_default_device(...)` once, before the first call.",
    (Remedy("same-modes"), Remedy("set-earlier", ("torch.set_default_device(...)",))),
)
_SAME_BACKEND = Advice(
    "Make the backend once and pass the same object every time: `torch.compile(..., backend=backend)`.",
    (Remedy("make-once"),),
)
_BY_CHANGE: dict[str, _Rule] = {
    "size": tensor_advice.size,
    "stride": tensor_advice.stride,
    "dtype": tensor_advice.dtype,
    "device": tensor_advice.device,
    "rank": tensor_advice.rank,
    "requires_grad": tensor_advice.requires_grad,
    "autograd": tensor_advice.autograd,
    "type": tensor_advice.type_of_tensor,
    "length": _length,
    "key": _keys,
}
_BY_KIND: dict[str, _Rule] = {
    **dict.fromkeys(VALUES, _value),
    **dict.fromkeys(("TRUE_MATCH", "FALSE_MATCH", "BOOL_MATCH"), _flag),
    **dict.fromkeys(("ID_MATCH", "FUNCTION_MATCH", "CLASS_MATCH", "CLOSURE_MATCH"), _object),
    **dict.fromkeys(("SET_CONTAINS", "DICT_CONTAINS", "HASATTR", "NO_HASATTR"), _member),
    **dict.fromkeys(("DUPLICATE", "OBJECT_ALIASING"), tensor_advice.same_tensor),
    **dict.fromkeys(("TORCH_FUNCTION_MODE_STACK", "DEFAULT_DEVICE"), _SAME_MODES),
    "TYPE_MATCH": _class,
    "NONE_MATCH": _optional,
    RELATION: ASKED,
    "GLOBAL_STATE": _state,
    "LAMBDA_GUARD": _needed,
    "RANGE_ITERATOR_MATCH": (
        "Pass the items as a tensor with a dynamic dimension: `torch.tensor([*{name}])`."
    ),
    "BACKEND_MATCH": _SAME_BACKEND,
    FREED: _freed,
    METADATA: _METADATA,
}
_BY_CAUSE = {**_BY_CHANGE, **_BY_KIND}
_REWRITTEN = {
    *_BY_CHANGE.keys() - {"size", "length"},
    *("DUPLICATE", "OBJECT_ALIASING", "TYPE_MATCH", "NONE_MATCH", "RANGE_ITERATOR_MATCH"),
    *("SET_CONTAINS", "DICT_CONTAINS", "HASATTR", "NO_HASATTR"),
}
"""Causes whose advice is a change of the calling code, which must have a name for the value."""
