"""Sizes of results as expressions in the arguments, valid in all observed calls."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from fullgraph_compiler.facts import CallSeen, TensorSeen, ValueSeen

_Atoms = Mapping[str, tuple[int, ...]]
"""The value of each expression (the key) in each call."""


class UnknownSizeError(Exception):
    """Raised if results have sizes, dtypes or devices that arguments do not determine.

    The exception's text is a clause.
    """


def made_result(
    names: Sequence[str], calls: Sequence[CallSeen], results: Sequence[TensorSeen], torch: str
) -> str:
    """Return an expression that makes an empty tensor like the result of each call.

    The tensor has the shape, dtype and device of the result. Raises :class:`UnknownSizeError`.
    """
    tensors = _tensors(names, calls)
    size = _size(names, calls, tensors, [item.shape for item in results])
    dtypes, devices = [item.dtype for item in results], [item.device for item in results]
    beside = [name for name, own in tensors.items() if [item.device for item in own] == devices]
    alike = [name for name in beside if [item.dtype for item in tensors[name]] == dtypes]
    if alike:
        return f"{alike[0]}.new_empty({size})"
    if len(set(dtypes)) > 1:
        raise UnknownSizeError("the dtype of its results depends on more than the dtypes of its arguments")
    dtype = f"dtype={torch}.{dtypes[0]}"
    if beside:
        return f"{beside[0]}.new_empty({size}, {dtype})"
    if len(set(devices)) > 1:
        raise UnknownSizeError("the device of its results depends on more than its arguments")
    return f'{torch}.empty({size}, {dtype}, device="{devices[0]}")'


def depends_on_values(calls: Sequence[CallSeen]) -> bool:
    """Tell whether calls with the same dtypes and sizes return results of other sizes."""
    known: dict[object, object] = {}
    for call in calls:
        arguments = tuple(_form(value) for value in call.arguments)
        result = _form(call.result)
        if known.setdefault(arguments, result) != result:
            return True
    return False


def sizes_seen(calls: Sequence[CallSeen]) -> int:
    """Count the different combinations of sizes and numbers in the calls' arguments."""
    return len({tuple((_form(value)[1:]) for value in call.arguments) for call in calls})


def _form(value: ValueSeen) -> tuple[object, ...]:
    tensors = value.tensors
    return tuple(item.dtype for item in tensors), tuple(item.shape for item in tensors), value.numbers


def _tensors(names: Sequence[str], calls: Sequence[CallSeen]) -> dict[str, list[TensorSeen]]:
    """Map the expression of each argument that is a tensor in every call to these tensors."""
    found: dict[str, list[TensorSeen]] = {}
    for index, name in enumerate(names):
        values = [call.arguments[index] for call in calls]
        lengths = {len(value.tensors) for value in values}
        if {value.kind for value in values} == {"tensor"}:
            found[name] = [value.tensors[0] for value in values]
        elif {value.kind for value in values} == {"tensors"} and len(lengths) == 1:
            for place in range(lengths.pop()):
                found[f"{name}[{place}]"] = [value.tensors[place] for value in values]
    return found


def _size(
    names: Sequence[str],
    calls: Sequence[CallSeen],
    tensors: Mapping[str, list[TensorSeen]],
    shapes: Sequence[tuple[int, ...]],
) -> str:
    for name, own in tensors.items():
        if [item.shape for item in own] == list(shapes) and shapes[0]:
            return f"{name}.shape"
    if len({len(shape) for shape in shapes}) > 1:
        raise UnknownSizeError(_values_or("the number of dimensions of its results varies", calls))
    atoms = _atoms(names, calls, tensors)
    parts = []
    for dim in range(len(shapes[0])):
        wanted = tuple(shape[dim] for shape in shapes)
        expression = next(_expressions(atoms, wanted, dim), None)
        if expression is None:
            raise UnknownSizeError(_values_or("the sizes of its results follow no simple rule", calls))
        parts.append(expression)
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _values_or(reason: str, calls: Sequence[CallSeen]) -> str:
    return "the sizes of its results depend on values" if depends_on_values(calls) else reason


def _atoms(
    names: Sequence[str], calls: Sequence[CallSeen], tensors: Mapping[str, list[TensorSeen]]
) -> dict[str, tuple[int, ...]]:
    """Return the sizes and integers among the arguments in all calls, by expression."""
    atoms: dict[str, tuple[int, ...]] = {}
    for name, own in tensors.items():
        if len({len(item.shape) for item in own}) == 1:
            for dim in range(len(own[0].shape)):
                atoms[f"{name}.shape[{dim}]"] = tuple(item.shape[dim] for item in own)
    for index, name in enumerate(names):
        values = [call.arguments[index] for call in calls]
        kinds, lengths = {value.kind for value in values}, {len(value.numbers) for value in values}
        if kinds == {"int"}:
            atoms[name] = tuple(value.numbers[0] for value in values)
        elif kinds == {"ints"} and len(lengths) == 1:
            for place in range(lengths.pop()):
                atoms[f"{name}[{place}]"] = tuple(value.numbers[place] for value in values)
        elif kinds == {"tensors"}:
            atoms[f"len({name})"] = tuple(len(value.tensors) for value in values)
            ranks = {len(item.shape) for value in values for item in value.tensors}
            for dim in range(min(ranks)):
                total = tuple(sum(item.shape[dim] for item in value.tensors) for value in values)
                atoms[f"sum(item.shape[{dim}] for item in {name})"] = total
    return atoms


def _expressions(atoms: _Atoms, wanted: tuple[int, ...], dim: int) -> Iterator[str]:
    """Yield expressions that equal ``wanted`` in all calls, the simplest first.

    Among the simplest, the size of the same dimension comes first.
    """
    holding = [name for name, values in atoms.items() if values == wanted]
    yield from sorted(holding, key=lambda name: not name.endswith(f".shape[{dim}]"))
    if len(set(wanted)) == 1:
        yield str(wanted[0])
    for name, values in atoms.items():
        differences = {result - value for value, result in zip(values, wanted, strict=True)}
        if len(differences) == 1:
            yield _plus(name, differences.pop())
        for factor in (2, 3, 4, 8):
            if all(result == value * factor for value, result in zip(values, wanted, strict=True)):
                yield f"{factor} * {name}"
            if all(result == value // factor for value, result in zip(values, wanted, strict=True)):
                yield f"{name} // {factor}"
    for one, other in itertools.combinations(atoms, 2):
        pairs = list(zip(atoms[one], atoms[other], wanted, strict=True))
        if all(result == a * b for a, b, result in pairs):
            yield f"{one} * {other}"
        for text, rest in (
            (f"{one} + {other}", {result - a - b for a, b, result in pairs}),
            (f"{one} - {other}", {result - a + b for a, b, result in pairs}),
            (f"{other} - {one}", {result - b + a for a, b, result in pairs}),
        ):
            if len(rest) == 1:
                yield _plus(text, rest.pop())
        if all(result == min(a, b) for a, b, result in pairs):
            yield f"min({one}, {other})"
        if all(result == max(a - b, 0) for a, b, result in pairs):
            yield f"max({one} - {other}, 0)"
        for a_name, b_name in ((one, other), (other, one)):
            divided = zip(atoms[a_name], atoms[b_name], wanted, strict=True)
            if all(b > 0 and result == a // b for a, b, result in divided):
                yield f"{a_name} // {b_name}"


def _plus(text: str, number: int) -> str:
    return text if not number else f"{text} {'+' if number > 0 else '-'} {abs(number)}"
