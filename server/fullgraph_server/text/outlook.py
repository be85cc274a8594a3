"""Facts from a function's compilations about a guarded value that changed.

If a size or a number changes, torch makes it dynamic in the next compilation. The graph of that compilation
shows what would happen if the program made the size dynamic before the first call: this one graph would serve
both calls, provided that its conditions on sizes hold for the earlier call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fullgraph_compiler.facts import GuardFailure, GuardInstalled
from fullgraph_compiler.trace.changes import LENGTH, TYPE, VALUES
from fullgraph_compiler.trace.decoding import read_literal

from .size_expressions import held

_TENSOR = re.compile(
    r"^(?P<dtype>[\w.]+), shape \[(?P<shape>[^\[\]]*)\][^\[\]]* stride \[(?P<stride>[^\[\]]*)\]"
)
_ITEM = re.compile(r"\[\d+\]")
_NUMBERS = (f"{TYPE}int", f"{TYPE}float")
DYNAMIC = "dynamic"
_BY_CHANCE = "duck sizing added this equality"
"""Torch's comment on the condition that two sizes are still equal (``symbolic_shapes.py``)."""
_STATIC = "'_dynamo_static_indices', set()).issubset("
"""Part of the guard on a tensor with ``mark_static`` (``DIMENSION_DYNAMIC_MARKING_GUARD``)."""
_COUNTED = re.compile(rf"{LENGTH}(\d{{1,18}})")
_FEWEST_STEPS = 4
"""A list counts as growing with every call after this number of lengths that increase by 1 each."""
_CACHE = f"{TYPE}transformers.cache_utils."


_PARTS_OF_MODULE = re.compile(r"(?:\.__dict__\['|\.)_(?:modules|parameters|buffers)\b")
"""Attributes that only modules have, in both spellings of torch's guards; they follow the module's source."""
Version = Sequence[GuardInstalled]
"""The guards of one compilation of a function."""


@dataclass(frozen=True, slots=True)
class GuardedTensor:
    """A guarded tensor; each size and stride is a decimal number or ``dynamic``."""

    dtype: str
    shape: tuple[str, ...]
    stride: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ValueOutlook:
    """Facts about a guarded value that changed, in addition to the guard that failed.

    ``at_call``: the calling code has the value and the tensors of ``sizes`` under the same names as the
    compiled code. ``sizes`` are the dimensions that changed, for each tensor that a later compilation guards.
    ``serves``: the graph of a later compilation, in which the value is dynamic, would have served the earlier
    call; ``None`` if torch made no such graph, as for a number that belongs to a module. ``alone``: only
    ``sizes`` became dynamic. ``is_asked``: the code has a condition on the size or number. ``has_twin``:
    another size was equal by chance. ``is_own``: the user's own code turned the changed size into a constant.
    """

    at_call: bool = True
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    is_tried: bool = False
    """Whether a later compilation guards the value."""
    serves: bool | None = None
    alone: bool = True
    at_start: bool = True
    """Whether the first call has the tensors of ``sizes``; if not, ``mark_dynamic`` fails before it."""
    is_asked: bool = True
    has_twin: bool = False
    is_dynamic: bool = False
    """Whether the first compilation had dynamic sizes, because the program requested them."""
    is_static: bool = False
    """Whether the program marks sizes of the tensor as static, which overrides ``dynamic=True``."""
    of_module: bool = False
    """Whether the value belongs to a module: guards on its object name attributes that only modules have."""
    static_line: str = ""
    """A phrase for the line that compiles the function with ``dynamic=False``, or empty."""
    before: GuardedTensor | None = None
    after: GuardedTensor | None = None
    items: tuple[GuardedTensor, ...] = ()
    """The tensors in the value, if the value is a list or tuple."""
    has_loader: bool = False
    """Whether the call is made in a file that loads batches."""
    is_cache: bool = False
    """Whether the value belongs to a key-value cache of transformers."""
    is_own: bool = True
    among_others: bool = False
    """Whether the function was also compiled again for changes of other values."""
    lookup: str = ""
    """The code that tests whether a variable key is in the value, if the function uses only such a test."""
    unrolled: str = ""
    """The recurrent layer that turned the size into a constant, such as ``nn.GRU``."""
    allowing: str = ""
    """A phrase for the line that sets ``allow_rnn``, or empty."""
    indexes: bool = False
    """Whether the line of the guard uses the number as an index."""
    no_gradients: bool = False
    """Whether gradients are disabled in all compilations."""
    grows: bool = False
    """Whether the value has one item more in each compilation than in the previous one."""
    is_optional: bool = False
    """Whether the object that the value belongs to is ``None`` in some call."""
    in_library: bool = False
    """Whether a function of a library was compiled."""


def _is_of_module(source: str, version: Version) -> bool:
    """Return whether a value such as ``L['self'].step`` belongs to a module.

    Its owner is a module if guards on the owner name attributes that only modules have.
    """
    found = ((guard.source, _PARTS_OF_MODULE.search(guard.source)) for guard in version)
    modules = {text[: part.start()] for text, part in found if part}
    return any(source.startswith((f"{module}.", f"{module}[")) for module in modules)


def outlook(failure: GuardFailure, versions: Mapping[str, Version]) -> ValueOutlook:
    """Return what a function's compilations show about a guard that failed.

    ``versions`` has the guards of the function's compilations by compile id, in order.
    """
    source, size = failure.source, f"{failure.source}.size()[{failure.dimension}]"
    ids = list(versions)
    first = versions.get(failure.compile_id, ())
    later = [versions[key] for key in ids[ids.index(failure.compile_id) + 1 :]] if first else []
    before, values = _tensors(first), _values(first)
    free = next((version for version in reversed(later) if _is_free(failure, version)), None)
    shown = free or next(
        (version for version in later if any(guard.source == source for guard in version)), ()
    )
    after = _tensors(shown)
    sizes = _changed(before, after) or ((source, (failure.dimension or 0,)),)
    became = {guard.source for guard in free or () if guard.expected in _NUMBERS}
    asked = free or (first if _is_free(failure, first) else None)
    return ValueOutlook(
        sizes=sizes,
        is_tried=bool(shown),
        of_module=_is_of_module(source, first),
        serves=None
        if free is None
        else all(
            held(text, values) is not False for text in (*_conditions(free), *_asked(failure, size, later))
        ),
        alone=not any(name in values for name in became)
        and _dynamic_sizes(free or ()) <= _marked(first, sizes),
        at_start=not ids or all(any(guard.source == name for guard in versions[ids[0]]) for name, _ in sizes),
        is_asked=asked is None or any(size in text and text != f"2 <= {size}" for text in _conditions(asked)),
        has_twin=_has_twin(size, before, sizes, free or ()),
        is_dynamic=any(DYNAMIC in tensor.shape for tensor in _tensors(versions[ids[0]]).values())
        if ids
        else False,
        is_static=any(guard.source == source and _STATIC in guard.code for guard in first),
        before=before.get(source),
        after=after.get(source),
        items=tuple(
            tensor
            for name, tensor in before.items()
            if name.startswith(source) and _ITEM.fullmatch(name, len(source))
        ),
        no_gradients=bool(versions)
        and all(
            any(guard.kind == "GLOBAL_STATE" and "grad mode off" in guard.expected for guard in version)
            for version in versions.values()
        ),
        grows=_grows(source, versions.values()),
        is_optional=any(
            guard.expected in ("None", "is None")
            and source.startswith((f"{guard.source}[", f"{guard.source}."))
            for version in versions.values()
            for guard in version
        ),
        is_cache=any(
            guard.expected.startswith(_CACHE) and source.startswith(guard.source) for guard in first
        ),
    )


def _dynamic_sizes(version: Version) -> set[tuple[str, int]]:
    return {
        (source, dimension)
        for source, tensor in _tensors(version).items()
        for dimension, size in enumerate(tensor.shape)
        if size == DYNAMIC
    }


def _marked(first: Version, sizes: Iterable[tuple[str, tuple[int, ...]]]) -> set[tuple[str, int]]:
    """Return the sizes that are dynamic if the program also marks ``sizes``.

    They include the sizes that are dynamic in ``first``.
    """
    return _dynamic_sizes(first) | {
        (name, dimension) for name, dimensions in sizes for dimension in dimensions
    }


def changed_sizes(
    compile_id: str, before: Version, after: Version, *, follows: bool
) -> Iterator[GuardFailure]:
    """Yield a guard failure for each guarded size that differs in another compilation.

    ``before`` are the guards of ``compile_id``, ``after`` those of the other compilation. A size that is
    dynamic in ``after`` counts only if that compilation ``follows`` the first.
    """
    old, new = _tensors(before), _tensors(after)
    for source, dimensions in _changed(old, new):
        for dimension in dimensions:
            actual = new[source].shape[dimension]
            if follows or actual != DYNAMIC:
                yield GuardFailure(
                    compile_id,
                    source,
                    "TENSOR_MATCH",
                    "",
                    old[source].shape[dimension],
                    "" if actual == DYNAMIC else actual,
                    dimension,
                    changed="size",
                )


def changed_types(compile_id: str, before: Version, after: Version) -> Iterator[GuardFailure]:
    """Yield a guard failure for each tensor whose dtype differs between compilations.

    ``before`` are the guards of ``compile_id``, ``after`` those of another compilation.
    """
    new = _tensors(after)
    for source, old in _tensors(before).items():
        if source in new and new[source].dtype != old.dtype:
            types = old.dtype, new[source].dtype
            yield GuardFailure(compile_id, source, "TENSOR_MATCH", "", *types, changed="dtype")


def _grows(source: str, versions: Iterable[Version]) -> bool:
    of_source = (guard for version in versions for guard in version if guard.source == source)
    lengths = [length for length in map(length_of, of_source) if length is not None]
    return len(lengths) >= _FEWEST_STEPS and lengths == [*range(lengths[0], lengths[0] + len(lengths))]


def length_of(guard: GuardInstalled) -> int | None:
    """Return the length that a guard requires; ``None`` if it does not check a length.

    The length is 0 for a length check without an expected value.
    """
    found = _COUNTED.fullmatch(guard.expected)
    if found:
        return int(found[1])
    return 0 if guard.kind == "LENGTH_CHECK" and not guard.expected else None


def _has_twin(
    size: str,
    before: Mapping[str, GuardedTensor],
    sizes: tuple[tuple[str, tuple[int, ...]], ...],
    later: Version,
) -> bool:
    """Return whether another size equaled the changed size by chance.

    That is so if the other size does not change, or if no condition requires that the sizes are equal.
    """
    numbers = {
        f"{name}.size()[{dimension}]": number
        for name, tensor in before.items()
        for dimension, number in enumerate(tensor.shape)
    }
    changed = {f"{name}.size()[{dimension}]" for name, dimensions in sizes for dimension in dimensions}
    same = {name for name, number in numbers.items() if number == numbers.get(size) and number != DYNAMIC}
    equated = " ".join(text for text in _conditions(later) if " == " in text)
    return not same <= changed or (len(same) > 1 and any(name not in equated for name in same))


def _is_free(failure: GuardFailure, version: Version) -> bool:
    """Return whether a compilation treats the changed value as dynamic."""
    if failure.changed == "size":
        tensor = _tensors(version).get(failure.source)
        dimension = failure.dimension or 0
        return tensor is not None and tensor.shape[dimension : dimension + 1] == (DYNAMIC,)
    # A graph for every integer does not accept a float.
    free = _NUMBERS[-1:] if isinstance(read_literal(failure.expected), float) else _NUMBERS
    return any(guard.source == failure.source and guard.expected in free for guard in version)


def _conditions(version: Version) -> Iterator[str]:
    """Yield the conditions on sizes and numbers that a compilation guards."""
    return (guard.code.partition(" #")[0].strip() for guard in version if guard.kind == "LAMBDA_GUARD")


def _asked(failure: GuardFailure, size: str, later: Iterable[Version]) -> Iterator[str]:
    """Yield the guards on the changed value in compilations that treat it as dynamic.

    If these guards contradict each other, no single graph serves every value, even if the last graph accepts
    the first value.
    """
    name = size if failure.changed == "size" else failure.source
    return (
        guard.code.partition(" #")[0].strip()
        for version in later
        if _is_free(failure, version)
        for guard in version
        if guard.kind == "LAMBDA_GUARD" and name in guard.code and _BY_CHANCE not in guard.code
    )


def _tensors(version: Version) -> Mapping[str, GuardedTensor]:
    found = ((guard.source, _TENSOR.match(guard.expected)) for guard in version)
    return {
        source: GuardedTensor(match["dtype"], _parts(match["shape"]), _parts(match["stride"]))
        for source, match in found
        if match
    }


def _parts(text: str) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()


def _values(version: Version) -> Mapping[str, int | float]:
    """Map the sizes, strides and numbers that a compilation guards to their values.

    The keys are in torch's notation.
    """
    values = {guard.source: read_literal(guard.expected) for guard in version if guard.kind in VALUES}
    for source, tensor in _tensors(version).items():
        for part, numbers in (("size", tensor.shape), ("stride", tensor.stride)):
            values |= {f"{source}.{part}()[{i}]": read_literal(number) for i, number in enumerate(numbers)}
    return {source: value for source, value in values.items() if isinstance(value, (int, float))}


def _changed(
    before: Mapping[str, GuardedTensor], after: Mapping[str, GuardedTensor]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """List the static sizes in ``before`` that are dynamic or different in ``after``."""
    changed = []
    for source, tensor in before.items():
        later = after.get(source)
        if later is not None and len(later.shape) == len(tensor.shape):
            pairs = enumerate(zip(tensor.shape, later.shape, strict=True))
            dimensions = tuple(index for index, (old, new) in pairs if old not in (new, DYNAMIC))
            if dimensions:
                changed.append((source, dimensions))
    return tuple(changed)
