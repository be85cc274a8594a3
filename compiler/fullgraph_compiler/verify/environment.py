"""Copies of the values that statements work with, so that each run of them begins with the same."""

from __future__ import annotations

import builtins
import contextlib
import copy
import copyreg
import functools
import importlib
import threading
import types
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from .recording import tensors_in
from .statements import TrialError

_MOST_ITEMS = 200
_MOST_ELEMENTS = 1 << 16


@dataclass
class Environment:
    """The values that statements work with: local variables, and those globals of their module that are data.

    ``leaves`` are the tensors to take gradients of, by what they are called.
    """

    local: dict[str, Any]
    shared: dict[str, Any]
    leaves: dict[str, torch.Tensor] = field(default_factory=dict)

    def copy(self, *, gradients: bool = False) -> Environment:
        """Return a copy in which the same values are shared.

        With ``gradients`` all floating point tensors have one. Without, those that operations made have
        none, so that they may be changed in place.
        """
        memo: dict[int, Any] = {}
        leaves: dict[int, torch.Tensor] = {}
        copied: list[dict[str, Any]] = []
        with _copying_tensors(leaves, gradients):
            for values in (self.local, self.shared):
                copied.append({})
                for name, value in values.items():
                    try:
                        copied[-1][name] = copy.deepcopy(value, memo)
                    except Exception as error:
                        reason = f"{type(error).__name__}: {error}".splitlines()[0]
                        raise TrialError(f"`{name}` cannot be copied ({reason}).") from None
        made = Environment(copied[0], copied[1])
        if gradients:
            named = [
                (place, tensor)
                for values in (self.local, self.shared)
                for name, value in values.items()
                for place, tensor in tensors_in(f"`{name}`", value)
            ]
            copies = [
                tensor
                for values in copied
                for name, value in values.items()
                for _, tensor in tensors_in(name, value)
            ]
            for (place, original), tensor in zip(named, copies, strict=True):
                leaf = leaves.get(id(original), tensor if tensor.is_leaf and tensor.requires_grad else None)
                if leaf is not None:
                    made.leaves.setdefault(place, leaf)
        return made


def shared_data(namespace: dict[str, Any], named: Iterable[str], local: Iterable[str]) -> dict[str, Any]:
    """Return the globals that are data: those that statements name, and small ones, which calls may use."""
    mentioned = set(named) - set(local)
    return {
        name: value
        for name, value in namespace.items()
        if not name.startswith("__")
        and not callable(value)
        and not isinstance(value, (types.ModuleType, type))
        and (name in mentioned or _is_small(value))
    } | {
        name: namespace[name]
        for name in mentioned
        if isinstance(namespace.get(name), torch.nn.Module) and not hasattr(builtins, name)
    }


def allow_more_copies() -> None:
    """Have ``deepcopy`` accept modules and locks, which hold no values of a program."""
    copyreg.pickle(types.ModuleType, lambda module: (importlib.import_module, (module.__name__,)))
    for make in (threading.Lock, threading.RLock):
        copyreg.pickle(type(make()), functools.partial(_made_anew, make))


def _made_anew(make: Any, _: Any) -> tuple[Any, tuple[()]]:
    return make, ()


def _is_small(value: Any) -> bool:
    if value is None or isinstance(value, (bool, int, float, str)):
        return True
    if isinstance(value, torch.Tensor):
        return bool(value.numel() <= _MOST_ELEMENTS)
    if isinstance(value, dict):
        return len(value) <= _MOST_ITEMS and all(map(_is_small, value.values()))
    if isinstance(value, (list, tuple, set, deque)):
        return len(value) <= _MOST_ITEMS and all(map(_is_small, value))
    return False


@contextlib.contextmanager
def _copying_tensors(leaves: dict[int, torch.Tensor], gradients: bool) -> Iterator[None]:
    original = torch.Tensor.__deepcopy__
    held: list[Any] = []  # the memo knows values by their ids

    def copied(tensor: torch.Tensor, memo: dict[int, Any]) -> torch.Tensor:
        if id(tensor) in memo:
            return memo[id(tensor)]
        with torch.no_grad():
            plain = tensor.detach()
            held.append(plain)
            made = original(plain, memo)
        if gradients and not (tensor.is_leaf and tensor.requires_grad) and _has_gradient(made):
            leaf = made.requires_grad_(True)
            leaves[id(tensor)] = leaf
            with torch.enable_grad():
                made = leaf.clone()
        elif tensor.is_leaf:
            made.requires_grad_(tensor.requires_grad)
        memo[id(tensor)] = made
        return made

    torch.Tensor.__deepcopy__ = copied
    try:
        yield
    finally:
        torch.Tensor.__deepcopy__ = original


def _has_gradient(tensor: torch.Tensor) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())
