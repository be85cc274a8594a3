"""Values on which statements are tried: the values of a run, and variations."""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from .environment import (
    Path,
    ReachedConstants,
    TrialEnvironment,
    attribute_path,
    read_path,
    write_path,
)
from .statements import TrialStatements, walk
from .variations import (
    BOOLEANS,
    EXTREMES,
    FLOATS,
    INTEGERS,
    LAYOUTS,
    TYPES,
    WHOLE_EXTREMES,
    Change,
    always,
    below,
    drawn,
    drawn_below,
    drawn_truth,
    filled,
    impulse,
    in_mode,
    in_one_dimension,
    reordered,
    resized,
    several_rows,
)

_MOST_SLOTS = 8
_MOST_CONSTANTS = 6
_MOST_SWITCHES = 3
_LARGEST_END = 1 << 12
"""The largest constant that may be a size."""
_LIBRARIES = ("torch", "numpy")
_SIZED = frozenset(
    {
        "range", "zeros", "ones", "empty", "full", "arange", "linspace", "eye", "rand", "randn", "randint",
        "repeat", "repeat_interleave", "expand", "view", "reshape", "tile", "one_hot", "bincount", "islice",
        "new_zeros", "new_ones", "new_empty", "new_full", "pad", "sleep", "randperm",
        "pow", "factorial", "comb", "perm",
    }
)  # fmt: skip
"""Functions whose running time or memory grows with the numbers passed to them."""


@dataclass(frozen=True)
class TrialValues:
    """A set of values to try: changes of the run's values, and a seed.

    ``words`` describe the changes, and are empty without changes. ``anew`` says that changed tensors replace
    the old tensors, because they have another layout; otherwise they are written into the old tensors'
    memory. ``is_rough`` says that results are compared roughly, because tensors have another precision.
    ``is_optional`` says that the case is dropped if the old statements raise an error, ``is_foreign`` that
    only another configuration has these values.
    """

    words: str
    changes: dict[Path, Change] = field(default_factory=dict)
    seed: int = 0
    anew: bool = False
    is_rough: bool = False
    is_optional: bool = False
    is_foreign: bool = False

    def applied(self, environment: TrialEnvironment, statements: TrialStatements) -> TrialEnvironment:
        """Return a copy of the run's values, with the changes applied.

        Errors of changes are not caught. If the function chose one of two constants by testing a changed
        variable (``TrialStatements.chosen``), the choice is made again.
        """
        changed = environment.copy()
        with torch.no_grad():
            values = {path: read_path(changed, path) for path in self.changes}
            news = {path: change(_detached(values[path])) for path, change in self.changes.items()}
            for path, new in news.items():
                write_path(changed, path, values[path], new, anew=self.anew)
        switched = {path[0] for path in self.changes if len(path) == 1}
        for name, choice in statements.chosen.items():
            tested = {node.id for node in ast.walk(choice.test) if isinstance(node, ast.Name)}
            if tested & switched and {name, *tested} <= changed.local.keys():
                code = compile(ast.Expression(choice), "<chosen>", "eval")
                changed.local[name] = eval(code, {}, dict(changed.local))
        return changed


def slots(
    statements: TrialStatements, environment: TrialEnvironment, called: ReachedConstants
) -> dict[Path, Any]:
    """Return the values that statements may depend on, by path."""
    found: dict[Path, Any] = {}
    for path, value in _named(statements, environment):
        _collect(found, path, value, 0)
    return found | {path: read_path(environment, path) for path in called.paths if path not in found}


def modules(statements: TrialStatements, environment: TrialEnvironment) -> dict[Path, torch.nn.Module]:
    """Return the modules that statements name, by path.

    Submodules of another module in the result are left out.
    """
    found: dict[Path, torch.nn.Module] = {}
    for path, value in _named(statements, environment):
        is_part = any(path[:length] in found for length in range(1, len(path)))
        if isinstance(value, torch.nn.Module) and not is_part:
            found[path] = value
    return found


def cases(
    statements: TrialStatements,
    given: dict[Path, Any],
    named: dict[Path, torch.nn.Module],
    called: ReachedConstants,
) -> Iterator[TrialValues]:
    """Yield cases, the most informative first.

    Different kinds of cases alternate, since there may not be time for all cases.
    """
    numbers = [*_constants(statements), *_numbers(given), *called.numbers]
    constants = list(dict.fromkeys(filter(math.isfinite, numbers)))[:_MOST_CONSTANTS]
    texts = [*_texts(statements), *called.texts]
    yield TrialValues("")
    yield TrialValues("", seed=1)
    for path, module in itertools.islice(named.items(), _MOST_SWITCHES):
        mode = "evaluation" if module.training else "training"
        yield TrialValues(f"{_name(path)} in {mode} mode", {path: in_mode(not module.training)})
    floats = {path: value for path, value in given.items() if _is_float_tensor(value)}
    several = dict(itertools.islice(floats.items(), _MOST_SLOTS))
    slots = itertools.islice(given.items(), 2 * _MOST_SLOTS)
    whole = itertools.islice((path for path, value in given.items() if _is_whole_tensor(value)), _MOST_SLOTS)
    yield from _in_turn(
        _of_floats(several),
        _in_turn(*(_of_slot(statements, path, value, constants, texts) for path, value in slots)),
        _of_switches(given),
        _in_turn(*(_of_whole(statements, path, given, constants) for path in whole)),
        _of_sizes(statements, given),
        (TrialValues(f"{_name(path)} in another order", {path: reordered}) for path in _dictionaries(given)),
        _in_turn(*(_of_float(path, constants, alone=len(several) == 1) for path in several)),
    )


def _in_turn(*several: Iterable[TrialValues]) -> Iterator[TrialValues]:
    """Yield the first case of each iterable, then the second case of each, and so on."""
    for row in itertools.zip_longest(*several):
        yield from filter(None, row)


def _of_floats(given: dict[Path, torch.Tensor]) -> Iterator[TrialValues]:
    """Yield cases that change all floating point tensors at once, in the same way."""
    if not given:
        return
    paths = list(given)
    wide = [path for path, value in given.items() if value.dim() > 1]
    for words, change in (*FLOATS, *EXTREMES):
        yield TrialValues(f"{_names(paths)} {words}", dict.fromkeys(paths, change), seed=2)
    for words, change in TYPES:
        yield TrialValues(f"{_names(paths)} {words}", dict.fromkeys(paths, change), seed=2, is_rough=True)
    for words, change in LAYOUTS if wide else ():
        yield TrialValues(f"{_names(wide)} {words}", dict.fromkeys(wide, change), seed=2, anew=True)


def _of_float(path: Path, constants: Iterable[float], *, alone: bool) -> Iterator[TrialValues]:
    """Yield cases that change a single floating point tensor."""
    for words, change in FLOATS if not alone else ():
        yield TrialValues(f"{_name(path)} {words}", {path: change}, seed=3)
    for constant in constants:
        yield TrialValues(f"{_name(path)} all {constant}", {path: filled(constant)})
        yield TrialValues(f"{_name(path)} with {constant} and zeros", {path: impulse(constant)})


def _of_slot(
    statements: TrialStatements, path: Path, value: Any, constants: Iterable[float], texts: Iterable[str]
) -> Iterator[TrialValues]:
    """Yield cases that replace a number or string, or replace a tensor by ``None``."""
    if not isinstance(value, torch.Tensor):
        for other in _others(value, constants, texts, statements, path):
            words, is_foreign = f"{_name(path)} = {other!r}", _is_settled(statements, path)
            yield TrialValues(words, {path: always(other)}, is_foreign=is_foreign)
    elif _is_compared_to_none(statements, path):
        yield TrialValues(f"{_name(path)} = None", {path: always(None)})


def _of_switches(given: dict[Path, Any]) -> Iterator[TrialValues]:
    """Yield cases with all combinations of the first booleans."""
    switches = [path for path, value in given.items() if isinstance(value, bool)][:_MOST_SWITCHES]
    for values in itertools.product((True, False), repeat=len(switches)) if len(switches) > 1 else ():
        chosen = dict(zip(switches, values, strict=True))
        words = ", ".join(f"{_name(path)} = {value}" for path, value in chosen.items())
        yield TrialValues(words, {path: always(value) for path, value in chosen.items()})


def _of_whole(
    statements: TrialStatements, path: Path, given: dict[Path, Any], constants: Iterable[float]
) -> Iterator[TrialValues]:
    """Yield cases that change one tensor of booleans or integers."""
    is_truth = given[path].dtype is torch.bool
    for words, change in BOOLEANS if is_truth else INTEGERS:
        yield TrialValues(f"{_name(path)} {words}", {path: change})
    if is_truth:
        return
    yield from _near_ends(path, given, constants)
    for words, change in WHOLE_EXTREMES if not _makes_sizes(statements) else ():
        yield TrialValues(f"{_name(path)} {words}", {path: change})


def pushes(
    statements: TrialStatements, given: dict[Path, Any]
) -> Iterator[tuple[str, Path, Callable[[float], Change]]]:
    """Yield ways to change a value by an amount.

    Each is a description, a path, and a function that maps an amount to a change.
    """
    for path, value in itertools.islice(given.items(), _MOST_SLOTS):
        if isinstance(value, torch.Tensor) and value.numel():
            if value.dtype is torch.bool:
                continue
            yield f"{_name(path)} with a first element and zeros", path, impulse
            yield f"{_name(path)} shifted", path, lambda amount: lambda tensor: tensor + amount
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield (
                f"{_name(path)} shifted",
                path,
                functools.partial(_shifted, of_constant=_is_constant(statements, path, value)),
            )


def _shifted(amount: float, *, of_constant: bool) -> Change:
    """Return a change that adds an amount to a number; a constant stays positive."""

    def change(number: Any) -> Any:
        shifted = number + (round(amount) if isinstance(number, int) else amount)
        return number if of_constant and shifted <= 0 else shifted

    return change


def random_case(statements: TrialStatements, given: dict[Path, Any], number: int) -> TrialValues:
    """Return a case with random values; ``number`` is the seed.

    Some numbers become a value with which the statements compare them.
    """
    generator = torch.Generator().manual_seed(number)
    changes: dict[Path, Change] = {}
    for path, value in given.items():
        scale, shift = torch.randn(2, generator=generator).tolist()
        size = 10 ** (3 * scale)
        if _is_float_tensor(value):
            changes[path] = drawn(size, shift)
        elif _is_whole_tensor(value) and value.numel():
            listed = BOOLEANS if value.dtype is torch.bool else INTEGERS
            at_random = drawn_truth(shift) if value.dtype is torch.bool else drawn_below(value)
            changes[path] = at_random if number % 2 else listed[number // 2 % len(listed)][1]
        elif isinstance(value, bool):
            changes[path] = always(scale > 0)
        elif isinstance(value, (int, float)):
            other = value * size + 10 * shift if isinstance(value, float) else value + round(3 * shift)
            wanted = _equals(statements, path) if scale > 0 else []
            other = type(value)(wanted[number % len(wanted)]) if wanted else other
            changes[path] = always((abs(other) or value) if _is_constant(statements, path, value) else other)
    return TrialValues(f"random values (seed {number})", changes, seed=number)


# -- paths of values ---------------------------------------------------------------------------


def _collect(found: dict[Path, Any], path: Path, value: Any, depth: int) -> None:
    if path in found:
        return
    if value is None or isinstance(value, (bool, int, float, str, torch.Tensor)):
        if value is not None:
            found[path] = value
    elif depth < 2 and isinstance(value, (list, tuple)) and len(value) <= 8:
        for index, item in enumerate(value):
            _collect(found, (*path, index), item, depth + 1)
    elif depth < 2 and isinstance(value, dict) and len(value) <= 8:
        for key, item in value.items():
            _collect(found, (*path, ("key", key)), item, depth + 1)
    elif depth < 2 and _is_record(value) and len(vars(value)) <= 8:
        for key, item in vars(value).items():
            _collect(found, (*path, f".{key}"), item, depth + 1)


def _is_record(value: Any) -> bool:
    """Return whether a value is an object of the program that only holds values.

    Its class must not be from the standard library, torch or NumPy.
    """
    package = type(value).__module__.partition(".")[0]
    is_foreign = package in sys.stdlib_module_names and package != "__main__"
    return hasattr(value, "__dict__") and not callable(value) and not is_foreign and package not in _LIBRARIES


def _named(statements: TrialStatements, environment: TrialEnvironment) -> Iterator[tuple[Path, Any]]:
    """Yield paths and values of the named variables, then of the named attributes.

    The value of a missing attribute is ``None``.
    """
    attributes = (attribute_path(node) for node in walk((*statements.old, *statements.new)))
    for path in (*((name,) for name in statements.names), *attributes):
        if path and (path[0] in environment.local or path[0] in environment.shared):
            value = read_path(environment, path[:1])
            for part in path[1:]:
                value = getattr(value, part[1:], None)
            yield path, value


def _detached(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _name(path: Path) -> str:
    parts = (
        part if isinstance(part, str) else f"[{part[1]!r}]" if isinstance(part, tuple) else f"[{part}]"
        for part in path
    )
    return f"`{''.join(parts)}`"


def _names(paths: Sequence[Path]) -> str:
    return _name(paths[0]) if len(paths) == 1 else "all tensors"


# -- other values ------------------------------------------------------------------------------


def _makes_sizes(statements: TrialStatements) -> bool:
    """Return whether a large number in the statements may take much time or memory."""
    for node in walk((*statements.old, *statements.new)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _SIZED:
            return True
        if isinstance(node, (ast.Pow, ast.LShift)):  # Python's integers have no maximum
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.left, (ast.List, ast.Tuple, ast.JoinedStr)):
            return True
    return False


def _others(
    value: Any, constants: Iterable[float], texts: Iterable[str], statements: TrialStatements, path: Path
) -> list[Any]:
    """Return other values to try instead of a number or string of the program.

    A positive constant of the module stays positive: a number of classes is never 0.
    """
    others: list[Any] = []
    if isinstance(value, bool):
        others = [not value]
    elif isinstance(value, int):
        near = [int(item) + step for item in constants if item == int(item) for step in (0, 1, -1)]
        others = [0, 1, -1, value + 1, -value, *near]
    elif isinstance(value, float):
        others = [-value, 0.0, 10 * value, *map(float, constants), math.nan, math.inf]
    elif isinstance(value, str):
        others = [*texts, f"{value}?"]
    if _is_compared_to_none(statements, path):
        others.append(None)
    if _is_constant(statements, path, value) and not _is_settled(statements, path):
        others = [item for item in others if isinstance(item, (int, float)) and 0 < item < math.inf]
    return [item for item in dict.fromkeys(others) if type(item) is not type(value) or item != value]


def _is_constant(statements: TrialStatements, path: Path, value: Any) -> bool:
    """Return whether a value is a positive number that the module or object never changes."""
    is_fixed = (len(path) == 1 and path[0] in statements.constants) or _is_settled(statements, path)
    return is_fixed and type(value) in (int, float) and value > 0


def _is_settled(statements: TrialStatements, path: Path) -> bool:
    return isinstance(path[-1], str) and path[-1].removeprefix(".") in statements.settled and len(path) > 1


def _of_sizes(statements: TrialStatements, given: dict[Path, Any]) -> Iterator[TrialValues]:
    """Yield cases with another size, another number of dimensions, or more rows."""
    tensors = {path: value for path, value in given.items() if _can_resize(value)}
    counts: dict[int, int] = {}
    for value in tensors.values():
        for size in value.shape:
            counts[size] = counts.get(size, 0) + 1
    for size in sorted((size for size in counts if size > 1), key=lambda size: -counts[size])[:2]:
        for other in (1, 0, size + 1):
            changes: dict[Path, Change] = {
                path: resized(size, other) for path, value in tensors.items() if size in value.shape
            }
            changes.update(
                {
                    path: always(other)
                    for path, value in given.items()
                    if type(value) is int and value == size and not _is_constant(statements, path, value)
                }
            )
            yield TrialValues(f"size {other} instead of {size}", changes)
    scalars = [path for path, value in given.items() if isinstance(value, torch.Tensor) and not value.dim()]
    if scalars:
        words = f"{_names(scalars)} in one dimension"
        yield TrialValues(words, dict.fromkeys(scalars, in_one_dimension), is_optional=True)
    single = [path for path, value in tensors.items() if value.dim() > 1 and value.shape[0] == 1]
    if single:
        yield TrialValues("three rows instead of one", dict.fromkeys(single, several_rows), is_optional=True)


def _near_ends(path: Path, given: dict[Path, Any], constants: Iterable[float]) -> Iterator[TrialValues]:
    """Yield cases with integers near sizes, since the integers may be indices."""
    sizes = [size for value in given.values() if isinstance(value, torch.Tensor) for size in value.shape]
    numbers = (int(item) for item in constants if item == int(item) and 1 < item <= _LARGEST_END)
    ends = dict.fromkeys([*sizes, *numbers])
    for end in itertools.islice(ends, _MOST_CONSTANTS):
        yield TrialValues(f"{_name(path)} below {end}", {path: below(end)})
        yield TrialValues(f"{_name(path)} all {end}", {path: filled(end)})


def _dictionaries(given: dict[Path, Any]) -> list[Path]:
    """Return the paths of dictionaries with more than one item."""
    counts: dict[Path, set[Any]] = {}
    for path in given:
        for length, part in enumerate(path):
            if isinstance(part, tuple):
                counts.setdefault(path[:length], set()).add(part)
    return [path for path, parts in counts.items() if len(parts) > 1]


def _can_resize(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter)


def _constants(statements: TrialStatements) -> Iterator[float]:
    """Yield the numbers in comparisons of the statements, then all their numbers."""
    nodes = list(walk((*statements.old, *statements.new)))
    compared = [item for node in nodes if isinstance(node, ast.Compare) for item in ast.walk(node)]
    for node in (*compared, *nodes):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _is_number(node.operand):
            yield -node.operand.value  # type: ignore[attr-defined]
        elif _is_number(node):
            yield node.value  # type: ignore[attr-defined]


def _numbers(given: dict[Path, Any]) -> Iterator[float]:
    for value in given.values():
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            yield value


def _texts(statements: TrialStatements) -> Iterator[str]:
    for node in walk((*statements.old, *statements.new)):
        if isinstance(node, ast.Compare):
            for item in ast.walk(node):
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield item.value


def _is_number(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_compared_to_none(statements: TrialStatements, path: Path) -> bool:
    name = _name(path).strip("`")
    return any(
        isinstance(node, ast.Compare)
        and ast.unparse(node.left) == name
        and any(isinstance(item, ast.Constant) and item.value is None for item in node.comparators)
        for node in walk((*statements.old, *statements.new))
    )


def _equals(statements: TrialStatements, path: Path) -> list[float]:
    """Return the numbers that the old statements compare a variable with."""
    name = _name(path).strip("`")
    found: list[float] = []
    for node in walk(statements.old):
        if isinstance(node, ast.Compare) and ast.unparse(node.left) == name:
            with contextlib.suppress(ValueError):
                found += [ast.literal_eval(item) for item in node.comparators]
    return [item for item in found if isinstance(item, (int, float))]


def _is_float_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def _is_whole_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not _is_float_tensor(value)
