"""Phrases about cache keys: components, differences, and reasons for a bypass."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from fullgraph_compiler.facts import CacheName, CacheState

from .markdown import code_span, filled
from .messages import counted
from .visible import without_addresses

CACHE_NAMES: Final[dict[CacheName, str]] = {
    "aot-autograd": "AOTAutograd cache",
    "fx-graph": "FX graph cache",
    "precompile": "precompile cache",
}
"""Names of the caches, in the order in which torch looks for a graph in them."""

_CACHED: Final[dict[CacheState, tuple[str, str]]] = {
    "hit": ("cache hit", "cache hits"),
    "miss": ("cache miss", "cache misses"),
    "bypass": ("cache bypass", "cache bypasses"),
}
_SHORT = 60
_COMPONENTS: Final = {
    "torch_version": "torch itself, its version or its source,",
    "system_info": "the system (`{item}`)",
    "default_cuda_device_index": "the index of the current GPU",
    "cpp_runtime_thread_count": "the number of threads (`torch.get_num_threads()`)",
    "cache_key_tag": "`torch.compiler.config.cache_key_tag`",
    "default_dtype": "`torch.get_default_dtype()`",
    "cuda_matmul_settings": "the precision of matrix products (`torch.backends.cuda.matmul`)",
    "deterministic_algorithms_settings": "the setting of `torch.use_deterministic_algorithms`",
    "deterministic_algorithms": "the setting of `torch.use_deterministic_algorithms`",
    "provenance_tracking_level": "the tracking of provenance (`INDUCTOR_PROVENANCE`)",
    "grad_enabled": "whether gradients are on",
    "autocast_state": "autocast on `{item}`",
    "autograd_config": "`torch._functorch.config.{item}`",
    "inductor_config": "`torch._inductor.config.{item}`",
    "inductor_config_comms": "`torch._inductor.config_comms.{item}`",
    "example_inputs": "input `{item}`",
    "fx_kwargs": "the option `{item}` of the compilation",
    "user_defined_triton_source": "the source of a Triton kernel that the graph calls",
    "triton_kernel_source_codes": "the source of a Triton kernel that the graph calls",
    "gm": "the graph",
    **{
        name: f"the custom pass `torch._inductor.config.{name}`"
        for name in (
            "pre_grad_custom_pass",
            "post_grad_custom_pre_pass",
            "post_grad_custom_post_pass",
            "joint_custom_pre_pass",
            "joint_custom_post_pass",
            "_pre_fusion_custom_pass",
            "_post_fusion_custom_pass",
        )
    },
}
"""Phrases for the components of a cache key; those that explain a difference best come first.

A component that is not listed is called by torch's name, and comes before ``grad_enabled``.
"""
_ORDER: Final = {name: place for place, name in enumerate(_COMPONENTS)}
_BETWEEN: Final = _ORDER["grad_enabled"]
_TENSOR_PROPERTY: Final = re.compile(r", (?=\w+=)")
_INSIDE: Final = re.compile(r"^torch\.Size\((.*)\)$")
_DEVICE: Final = re.compile(r"device\(type='(\w+)'(?:, index=(\d+))?\)")
_PROPERTIES: Final = {
    "shape": "the shape of",
    "dtype": "the dtype of",
    "device": "the device of",
    "stride": "the stride of",
}
_SYMBOL: Final = "('"
"""The beginning of a symbolic number among inputs: ``('s77',)``."""
_VALUE: Final = re.compile(r"(?<![\w.'])(?!(?:True|False|None|inf|nan)\b)[a-zA-Z_]\w*\b(?!\s*[=.(])")
"""The name of a value in the text of a call; keywords, functions and strings do not match."""
_NO_VALUES: Final = ("torch_version", "user_defined_triton_source", "triton_kernel_source_codes")
"""Components whose values (checksums and whole source texts) do not help a reader."""


def order_of(component: str) -> int:
    """Return a sort key for components that differ: causes before consequences."""
    return _ORDER.get(component, _BETWEEN)


def difference(component: str, item: str, before: str | None, after: str | None) -> tuple[str, str, str, str]:
    """Describe a component that differs: its name, the old and new value, a clause.

    Both values are shortened, and empty if they do not help a reader. ``before`` or ``after`` is ``None`` if
    that key lacks the component.
    """
    name = code_span(f"{component}[{item}]" if item else component)
    if component in _COMPONENTS:
        name = filled(_COMPONENTS[component], item=item)
    old, new = before or "", after or ""
    if old.startswith("TensorMetadata(") and new.startswith("TensorMetadata("):
        one, other = _properties(old), _properties(new)
        differing = (key for key in (*_PROPERTIES, *other) if one.get(key) != other.get(key))
        if key := next(differing, ""):
            name, old, new = (
                f"{_PROPERTIES.get(key, f'`{key}` of')} {name}",
                one.get(key, ""),
                other.get(key, ""),
            )
    old, new = short(old), short(new)
    if before is None and after is not None:
        return name, "", new, f"{name} is now part of the key"
    if after is None and before is not None:
        return name, old, "", f"{name} is no longer part of the key"
    if component in _NO_VALUES or old == new:
        return name, "", "", f"{name} differs"
    is_now, was = (code_span(value) if value else "empty" for value in (new, old))
    return name, old, new, f"{name} is {is_now}, was {was}"


def number_of_inputs(before: Sequence[str], after: Sequence[str]) -> tuple[str, str, str, str]:
    """Describe two graphs that differ in the number of inputs or of dynamic numbers.

    Return the same four parts as :func:`difference`.
    """
    old, new = (sum(text.startswith(_SYMBOL) for text in texts) for texts in (before, after))
    if old != new:
        is_are = "is" if new == 1 else "are"
        clause = f"{counted(new, 'number')} among its inputs {is_are} dynamic, {old or 'none'} before"
        return "dynamic numbers", str(old), str(new), clause
    old, new = len(before), len(after)
    return "the number of inputs", str(old), str(new), f"the number of inputs is {new}, was {old}"


def same_operations(before: str, after: str) -> bool:
    """Return whether two graphs have the same operations; names of values may differ."""
    return _unnamed(_operations(before)) == _unnamed(_operations(after))


def operations_apart(before: str, after: str) -> tuple[str, str, str]:
    """Find the first operation in which two graphs differ.

    Return the operation in the earlier and in the later graph, and the name of its result in the later graph.
    An operation is empty if the graph ends before it.
    """
    one, other = _operations(before), _operations(after)
    pairs = enumerate(zip_longest(_unnamed(one), _unnamed(other)))
    place = next((place for place, (old, new) in pairs if old != new), max(len(one), len(other)))
    nothing = ("", "")
    (_, old), (name, new) = (dict(enumerate(graph)).get(place, nothing) for graph in (one, other))
    return old, new, name


def graph_sentence(before: str, after: str, *, same_code: bool) -> str:
    """Write a clause on the first operation that differs from an earlier graph.

    ``before`` and ``after`` are the operations in both graphs; an operation is empty if the graph ends before
    it. ``same_code`` says that the code of the graphs is equal.
    """
    if before and after:
        return f"the graph has {code_span(short(after))} where it had {code_span(short(before))}"
    if after:
        return f"the graph goes on with {code_span(short(after))}, where it ended before"
    if before:
        return f"the graph ends where it went on with {code_span(short(before))} before"
    if same_code:
        return "the graph differs in something that its code does not show, such as constants or kernels"
    return "the graph has the same operations, with different inputs or outputs"


def cached_words(states: Sequence[CacheState]) -> str:
    """Write a clause with the cache hits, misses and bypasses of a function's graphs."""
    numbers = {words: states.count(state) for state, words in _CACHED.items() if state in states}
    return f"has {' and '.join(counted(number, *words) for words, number in numbers.items()) or 'no cache'}"


def short(text: str) -> str:
    """Shorten a value to one short line without memory addresses."""
    line = " ".join(without_addresses(text).split())
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1].rstrip()}…"


def listed(sentences: Sequence[str]) -> str:
    """Join the first three clauses and the number of further clauses."""
    more = len(sentences) - 3
    return "; ".join(sentences[:3]) + (f"; and {more:,} more" if more > 0 else "")


def _properties(text: str) -> dict[str, str]:
    inner = _DEVICE.sub(_device, text.partition("(")[2].removesuffix(")"))
    pairs = (part.partition("=") for part in _TENSOR_PROPERTY.split(inner))
    return {key: _INSIDE.sub(r"\1", value) for key, _, value in pairs}


def _device(found: re.Match[str]) -> str:
    return ":".join(filter(None, found.groups()))


def _operations(text: str) -> list[tuple[str, str]]:
    """Return the operations of a graph's code as pairs of result name and call."""
    lines = (line.partition(";  ")[0].strip().partition(" = ") for line in text.splitlines())
    return [
        (name, call.removeprefix("torch.ops."))
        for name, equals, call in lines
        if equals and name.isidentifier()
    ]


def _unnamed(operations: Sequence[tuple[str, str]]) -> list[str]:
    return [_VALUE.sub("_", call) for _, call in operations]


# -- bypasses ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bypass:
    """The reason why a cache does not store a graph, with advice.

    ``words`` is a clause with the reason. ``of_setting`` says that the cause is a setting, not the graph.
    """

    words: str
    advice: str = ""
    of_setting: bool = False


_OPERATOR = "Compile the code around `{name}` separately: the caches still store the other graphs."
_PASS = (
    "Derive it from a class in `torch._inductor.custom_graph_pass`, with a `uuid()` that returns another "
    "string whenever the pass changes."
)
_FREEZING = "Leave `torch._inductor.config.freezing` off if startup time matters."
_UNKNOWN = (
    "If its result depends only on its arguments, name it in "
    "`torch._inductor.config.unsafe_marked_cacheable_functions`, with a text that changes whenever the "
    "function changes."
)
_BYPASSES: Final = {
    r"Can't cache HigherOrderOperator: (?P<name>[\w.]+)": Bypass(
        "the caches do not support the operator `{name}`", _OPERATOR
    ),
    r"Unsupported call_function target (?P<name>[\w.]+?)\.?\s+Function module: "
    r"torch\.ops\.higher_order": Bypass("the caches do not support the operator `{name}`", _OPERATOR),
    r"Function module: (?P<module>[^,\s]*),\s*Function name: (?P<name>\w+)": Bypass(
        "torch does not know whether a graph that calls `{module}.{name}` can be reused", _UNKNOWN
    ),
    r"Unsupported (?P<name>pre grad|post grad|joint) custom pass": Bypass(
        "a custom pass (`torch._inductor.config`, {name}) does not identify itself by `uuid()`",
        _PASS,
        of_setting=True,
    ),
    r"Unsupported (?P<name>_(?:pre_fusion_custom|post_fusion_custom|fuse_ddp_communication)_pass)": Bypass(
        "the custom pass `{name}` does not identify itself by `uuid()`", _PASS, of_setting=True
    ),
    r"Cannot cache a graph with freezing enabled|Skipping graph with frozen constants": Bypass(
        "freezing is on, which turns weights into constants", _FREEZING, of_setting=True
    ),
    r"mkldnn tensors unpickleable": Bypass(
        "it holds a tensor in oneDNN's layout, which cannot be stored", _FREEZING
    ),
    r"FX graph cache is not enabled": Bypass(
        "the FX graph cache, which this cache needs, is off",
        "Turn `torch._inductor.config.fx_graph_cache` on (`TORCHINDUCTOR_FX_GRAPH_CACHE=1`).",
        of_setting=True,
    ),
    r"SAC context_fn does not have a cache_hash attribute": Bypass(
        "the `context_fn` of a checkpoint does not identify itself",
        "Give the `context_fn` an attribute `cache_hash`: a text that changes whenever its decisions change.",
    ),
    r"activation_memory_budget_(?P<name>runtime_estimator|solver) is a raw callable": Bypass(
        "`torch._functorch.config.activation_memory_budget_{name}` does not identify itself by `uuid()`",
        _PASS,
        of_setting=True,
    ),
    r"Cannot produce stable cache key for unpicklable type (?P<name>[\w.<>]+)": Bypass(
        "a value of the type `{name}` is part of its key, and cannot be pickled",
        "Make it a tensor, a number or a string, or make its class picklable.",
    ),
    r"Failed to pickle cache key": Bypass(
        "a part of its key cannot be pickled",
        "torch's warning `Failed to pickle cache key` has a traceback that shows which part.",
    ),
    r"AOTAutogradCache requires triton 3\.2\.0": Bypass(
        "the installed Triton is older than 3.2", "Install Triton 3.2 or newer.", of_setting=True
    ),
    r"Runtime constant folding": Bypass(
        "`torch._inductor.config.aot_inductor.use_runtime_constant_folding` is on",
        "Turn it off if startup time matters.",
        of_setting=True,
    ),
    r"Uncacheable nested region config '(?P<name>\w+)': callable value": Bypass(
        "a region of it has a function as its configuration `{name}`"
    ),
}
"""Patterns of torch's reasons for a bypass, with explanations.

The reasons are in ``CacheabilityValidator`` (``torch/_inductor/codecache.py``, torch 2.11 to 2.15).
"""


def bypass_of(reason: str) -> Bypass:
    """Explain torch's reason for a bypass; quote the first line of an unknown reason."""
    for pattern, bypass in _BYPASSES.items():
        if found := re.search(pattern, reason):
            values = found.groupdict()
            words, advice = filled(bypass.words, **values), filled(bypass.advice, **values)
            return replace(bypass, words=words, advice=advice)
    first = next((line.strip() for line in reason.splitlines() if line.strip()), "")
    return Bypass(f"torch says: {first}" if first else "torch does not say why")
