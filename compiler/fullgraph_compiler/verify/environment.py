"""The values that statements read and change, and copies of these values.

Values that are read by the functions that the statements call are included.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import copyreg
import functools
import importlib
import inspect
import itertools
import threading
import types
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch

from .recording import tensors_in
from .statements import TrialError, TrialStatements, walk

_MOST_ITEMS = 200
_MOST_ELEMENTS = 1 << 16
_MOST_FUNCTIONS = 20
_MOST_TEXTS = 6
_PLAIN = (bool, int, float, str)
_METHODS = (types.FunctionType, staticmethod, classmethod)

Path: TypeAlias = tuple[Any, ...]
"""The path to a value: the name of a variable, then names of attributes and keys of items."""


@dataclass
class TrialEnvironment:
    """The values that statements read and change: local variables and global data.

    ``shared`` are the globals of the statements' module that hold data. ``leaves`` are, by name, the tensors
    with respect to which gradients are taken.
    """

    local: dict[str, Any]
    shared: dict[str, Any]
    leaves: dict[str, torch.Tensor] = field(default_factory=dict)

    def copy(self, *, gradients: bool = False) -> TrialEnvironment:
        """Return a deep copy in which values are shared as in the original.

        With ``gradients``, all floating point tensors require gradients. Without ``gradients``, copies of
        results of operations do not require gradients, so that statements may change these copies in place.
        Raises :class:`TrialError`.
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
        made = TrialEnvironment(copied[0], copied[1])
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


def shared_data(
    namespace: dict[str, Any],
    named: Iterable[str],
    local: Iterable[str],
    read: Collection[str] | None = None,
) -> dict[str, Any]:
    """Return the globals that hold data.

    These are the globals in ``named``, and small globals in ``read``, which called functions may read: by
    default all. Modules (``torch.nn.Module``) count only if they are in ``named``.
    """
    mentioned = set(named) - set(local)
    return {
        name: value
        for name, value in namespace.items()
        if not name.startswith("__")
        and not callable(value)
        and not isinstance(value, (types.ModuleType, type))
        and (name in mentioned or ((read is None or name in read) and _is_small(value)))
    } | {
        name: namespace[name]
        for name in mentioned
        if isinstance(namespace.get(name), torch.nn.Module) and not hasattr(builtins, name)
    }


def allow_more_copies() -> None:
    """Let ``deepcopy`` accept Python modules and locks, which hold no values."""
    copyreg.pickle(types.ModuleType, lambda module: (importlib.import_module, (module.__name__,)))
    for make in (threading.Lock, threading.RLock):
        copyreg.pickle(type(make()), functools.partial(lambda make, _: (make, ()), make))


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
    held: list[Any] = []  # the memo identifies values by id, so they must stay alive

    def copied(tensor: torch.Tensor, memo: dict[int, Any]) -> torch.Tensor:
        if id(tensor) in memo:
            return memo[id(tensor)]
        with torch.no_grad():
            plain = tensor.detach()
            held.append(plain)
            made = original(plain, memo)
        has_gradient = made.is_floating_point() or made.is_complex()
        if gradients and not (tensor.is_leaf and tensor.requires_grad) and has_gradient:
            leaf = made.requires_grad_(True)
            leaves[id(tensor)] = leaf
            with torch.enable_grad():
                made = leaf.clone()
        elif tensor.is_leaf:
            made.requires_grad_(tensor.requires_grad)
        memo[id(tensor)] = made
        if tensor.is_leaf and tensor.grad is not None and made.is_leaf:
            made.grad = copied(tensor.grad, memo)
        return made

    torch.Tensor.__deepcopy__ = copied
    try:
        yield
    finally:
        torch.Tensor.__deepcopy__ = original


# -- paths --------------------------------------------------------------------------------------


def read_path(environment: TrialEnvironment, path: Path) -> Any:
    """Return the value at a path."""
    values = environment.local if path[0] in environment.local else environment.shared
    value: Any = values[path[0]]
    for part in path[1:]:
        value = _part(value, part)
    return value


def _part(value: Any, part: Any) -> Any:
    if isinstance(part, str):
        return getattr(value, part[1:])
    return value[part[1] if isinstance(part, tuple) else part]


def write_path(environment: TrialEnvironment, path: Path, old: Any, new: Any, *, anew: bool) -> None:
    """Replace a value, in the memory of the old value if possible.

    Values that share memory with the old value then change, too.
    """
    if isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor):
        if not anew and new.shape == old.shape and new.dtype == old.dtype:
            try:
                old.data.copy_(new)
            except RuntimeError:
                pass  # an expanded tensor cannot be written to
            else:
                return
        if isinstance(old, torch.nn.Parameter):
            old.data = new
            return
        new = (new if anew else new.clone()).requires_grad_(old.requires_grad)
    values = environment.local if path[0] in environment.local else environment.shared
    values[path[0]] = _with(values[path[0]], path[1:], new)


def _with(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    inner = _with(_part(value, path[0]), path[1:], new)
    part = path[0]
    if isinstance(part, str):
        try:
            setattr(value, part[1:], inner)
        except AttributeError:  # a frozen dataclass
            object.__setattr__(value, part[1:], inner)
    elif isinstance(value, tuple):
        items = [inner if index == part else item for index, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    else:
        value[part[1] if isinstance(part, tuple) else part] = inner
    return value


# -- values that called functions read ----------------------------------------------------------


@dataclass(frozen=True)
class ReachedConstants:
    """The numbers and strings that called functions read.

    ``paths`` lead to numbers and strings outside the functions; ``texts`` and ``numbers`` are constants in
    the functions' code.
    """

    paths: tuple[Path, ...] = ()
    texts: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()


def reached(
    statements: TrialStatements, environment: TrialEnvironment, namespace: dict[str, Any]
) -> ReachedConstants:
    """Return what statements read through calls of functions of ``namespace``.

    Indirect calls count, too.
    """
    part: Any
    paths: dict[Path, None] = {}
    constants: dict[Any, None] = {}
    known: dict[types.CodeType, None] = {}
    pending = list(_called(statements, environment, namespace))
    while pending and len(known) < _MOST_FUNCTIONS:
        function, owner, value = pending.pop(0)
        if function.__globals__ is not namespace or function.__code__ in known:
            continue
        known[function.__code__] = None
        for code in _codes(function.__code__):
            # The first constant may be the docstring.
            constants |= dict.fromkeys(item for item in code.co_consts[1:] if type(item) in (int, float, str))
            for name in code.co_names:
                if isinstance(environment.shared.get(name), _PLAIN):
                    paths[(name,)] = None
                elif callee := _function(namespace.get(name)):
                    pending.append((callee, (), None))
                part = _attribute(value, name)
                if isinstance(part, _PLAIN):
                    place = (*owner, f".{name}")
                    paths[place] = None
                elif callee := _function(part):
                    pending.append((callee, owner, value))
    texts = [item for item in constants if isinstance(item, str) and item][:_MOST_TEXTS]
    numbers = [item for item in constants if not isinstance(item, str)]
    return ReachedConstants(tuple(paths), tuple(texts), tuple(numbers))


def attribute_path(node: ast.AST) -> Path:
    """Return the path of an expression such as ``self.a.b``; ``()`` for anything else.

    In a path, names of attributes begin with a dot.
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(f".{node.attr}")
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) and parts else ()


def _called(
    statements: TrialStatements, environment: TrialEnvironment, namespace: dict[str, Any]
) -> Iterator[tuple[types.FunctionType, Path, Any]]:
    """Yield the functions that statements name, each with its object.

    Items are the function, and path and value of the object that a method is bound to; for other functions,
    the path is empty and the value ``None``.
    """
    paths: list[Path] = [(name,) for name in statements.names]
    paths += [attribute_path(node) for node in walk((*statements.old, *statements.new))]
    for path in dict.fromkeys(paths):
        if not path:
            continue
        value = environment.local.get(path[0], namespace.get(path[0]))
        is_known = path[0] in environment.local or path[0] in environment.shared
        owner: Any = None
        for part in path[1:]:
            owner, value = value, _attribute(value, part[1:])
        if isinstance(value, torch.nn.Module):
            owner, value = value, _attribute(value, "forward")
            path = (*path, ".forward")
        if function := _function(value):
            is_of_owner = is_known and isinstance(value, types.MethodType) and value.__self__ is owner
            yield (function, path[:-1], owner) if is_of_owner else (function, (), None)


def _attribute(value: Any, name: str) -> Any:
    """Return an attribute without running the program's code.

    Return ``None`` if the attribute is missing or computed, such as a property.
    """
    found = inspect.getattr_static(value, name, None)
    is_stored = not hasattr(found, "__get__") or isinstance(found, _METHODS)
    if (found is None and not isinstance(value, torch.nn.Module)) or not is_stored:
        return None
    return getattr(value, name, None)


def _function(value: Any) -> types.FunctionType | None:
    """Return the Python function in a method or in a decorated or compiled function.

    Return ``None`` for any other value.
    """
    value = getattr(value, "__func__", value)  # of a method
    while isinstance(value, types.FunctionType) and hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return value if isinstance(value, types.FunctionType) else None


@functools.cache
def _codes(code: types.CodeType) -> tuple[types.CodeType, ...]:
    """Return a code object and the code objects of all functions defined in it."""
    inner = [item for item in code.co_consts if isinstance(item, types.CodeType)]
    return (code, *itertools.chain.from_iterable(map(_codes, inner)))
