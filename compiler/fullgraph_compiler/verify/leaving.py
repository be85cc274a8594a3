"""What a program leaves behind: the variables of its modules at its end, as snapshots."""

from __future__ import annotations

import itertools
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from ..compat import dynamo_compat
from ..observe.modules import own_modules
from .differences import LADDER, Differences, Rules
from .snapshots import Node, Snapshots

_MOST_VARIABLES = 256
_ELEMENTS = 1 << 14
_MOST_ELEMENTS = 1 << 22
_DATA = ("builtins", "collections", "torch", "numpy")
"""Packages whose objects are looked into, beside the program's own: those of others have caches."""
_MODULES = (types.ModuleType, types.FrameType, types.CodeType)
_FUNCTIONS = (types.FunctionType, types.MethodType)
_OF_COMPILER = ("torch._dynamo", "torch._inductor", "torch._functorch", "torch.fx")

Variables = Mapping[str, Node]
"""Snapshots by the place of a variable: ``LEDGER`` of ``program.py``."""


def variables_left() -> Variables:
    """Return the variables of the program's own modules, of their classes, and what functions keep."""
    found: dict[str, Node] = {}
    elements, modules = 0, own_modules()
    packages = frozenset({*_DATA, *(module.__name__.partition(".")[0] for module in modules.values())})
    for filename, module in modules.items():
        for place, value in _variables(module):
            if len(found) >= _MOST_VARIABLES or elements > _MOST_ELEMENTS:
                return found
            where = f"`{place}` of {Path(filename).name}"
            snapshots = Snapshots(_ELEMENTS, packages=packages)
            found[where] = snapshots.take(f"`{place}`", value)
            elements += snapshots.kept
    return found


def variables_changed(old: Variables, new: Variables) -> Iterator[tuple[str, str, bool]]:
    """Yield the variables that differ, each in words, and whether that is only their type or shape."""
    for place, node in old.items():
        if place not in new:
            continue  # it was left out
        variable, _, filename = place.partition(" of ")
        between = Differences(Rules(LADDER, requires_grad=False)).between(variable, node, new[place])
        for found in itertools.islice(between, 1):
            words = f"{found.place} of {filename} at the end of the program: {found.words}"
            yield place, words, found.of_form


def _variables(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    for name, value in list(vars(module).items()):
        if name.startswith("__") or isinstance(value, _MODULES):
            continue
        if isinstance(value, torch.nn.Module) and dynamo_compat.is_compiled(value):
            value = next(value.children(), None)
        if isinstance(value, type):
            for member, held in list(vars(value).items()) if _is_of(value, module) else ():
                if not member.startswith("__") and not callable(held) and not hasattr(held, "__get__"):
                    yield f"{name}.{member}", held
        elif isinstance(value, _FUNCTIONS):
            if _is_of(value, module) and value.__defaults__:
                yield f"{name}.__defaults__", value.__defaults__
        elif not type(value).__module__.startswith(_OF_COMPILER):
            yield name, value


def _is_of(value: Any, module: types.ModuleType) -> bool:
    return bool(getattr(value, "__module__", None) == module.__name__)
