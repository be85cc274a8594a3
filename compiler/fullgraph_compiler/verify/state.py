"""Snapshots of torch's settings, modules and variables.

They are restored before each repeated call, so that all start equal.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..compat import dynamo_compat
from .calls import CompiledCall
from .recording import modes_of, modules_of, set_modes


class TorchSettings:
    """torch's settings at a call: gradients, autocast, default dtype, module modes."""

    def __init__(self, call: CompiledCall) -> None:
        self.skips_guards = dynamo_compat.skips_guards()
        self._gradients = torch.is_grad_enabled()
        self._inference = torch.is_inference_mode_enabled()
        self._dtype = torch.get_default_dtype()
        kinds = ("cpu", "cuda") if torch.cuda.is_initialized() else ("cpu",)
        self._autocast = [
            (kind, torch.get_autocast_dtype(kind)) for kind in kinds if torch.is_autocast_enabled(kind)
        ]
        self._modes = modes_of(_modules(call))

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is equal for equal settings."""
        modes = tuple(training for _, training in self._modes)
        return self._gradients, self._inference, self._dtype, tuple(self._autocast), modes

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """Apply these settings within a context."""
        modes = [(module, module.training) for module, _ in self._modes]
        dtype = torch.get_default_dtype()
        with contextlib.ExitStack() as stack:
            if self._inference:
                stack.enter_context(torch.inference_mode())
            stack.enter_context(torch.set_grad_enabled(self._gradients))
            for kind, autocast in self._autocast:
                stack.enter_context(torch.autocast(kind, autocast))
            torch.set_default_dtype(self._dtype)
            set_modes(self._modes)
            try:
                yield
            finally:
                set_modes(modes)
                torch.set_default_dtype(dtype)


class CallState:
    """A snapshot of the state, other than its arguments, that a call may change.

    It contains modules, and the global and closure variables that the function names.
    """

    def __init__(self, call: CompiledCall) -> None:
        self._restore: list[Callable[[], None]] = []
        self._known: set[int] = set()
        for module in _modules(call):
            for item in module.modules():
                self._keep(vars(item))
        for function in call.functions:
            shared, names = function.__globals__, set(function.__code__.co_names)
            data = {name: value for name, value in shared.items() if name in names and _is_data(value)}
            self._restore.append(functools.partial(shared.update, data))
            self._keep(data, renewed=False)
            for cell in function.__closure__ or ():
                with contextlib.suppress(ValueError):
                    self._keep({"": cell.cell_contents}, renewed=False)

    def put_back(self) -> None:
        """Restore the snapshot. It can be restored any number of times."""
        with torch.no_grad():
            for restore in self._restore:
                restore()

    def _keep(self, values: dict[Any, Any], *, renewed: bool = True) -> None:
        if id(values) in self._known:
            return
        self._known.add(id(values))
        if renewed:
            self._restore.append(_ContainerItems(values))
        for value in list(values.values()):
            if isinstance(value, torch.Tensor) and id(value) not in self._known:
                self._known.add(id(value))
                self._restore.append(_TensorContents(value))
            elif type(value) in (dict, list, set):
                items = value if isinstance(value, dict) else dict(enumerate(value))
                if not isinstance(value, dict):
                    self._restore.append(_ContainerItems(value))
                self._keep(items, renewed=isinstance(value, dict))


class _ContainerItems:
    """A function that restores the items of a dictionary, list or set."""

    def __init__(self, value: Any) -> None:
        self._value, self._items = value, value.copy()

    def __call__(self) -> None:
        value, items = self._value, self._items
        if len(value) == len(items) and _same_items(value, items):
            return
        value.clear()
        value.extend(items) if isinstance(value, list) else value.update(items)


class _TensorContents:
    """A function that restores the elements and the gradient of a tensor."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor, self._grad = tensor, tensor.grad if tensor.is_leaf else None
        self._elements = tensor.detach().clone()
        self._version = self._version_of(tensor)

    def __call__(self) -> None:
        tensor = self._tensor
        if tensor.is_leaf:
            tensor.grad = self._grad
        is_known = self._version is not None and self._version == self._version_of(tensor)
        if is_known or tensor.shape != self._elements.shape or torch.equal(tensor, self._elements):
            return
        with torch.inference_mode(tensor.is_inference()):
            tensor.detach().copy_(self._elements)
        self._version = self._version_of(tensor)

    @staticmethod
    def _version_of(tensor: torch.Tensor) -> int | None:
        """Return the version counter of a parameter; ``None`` for a buffer.

        Kernels may change a buffer without increasing its version.
        """
        is_told = isinstance(tensor, torch.nn.Parameter) and not tensor.is_inference()
        return tensor._version if is_told else None


def _modules(call: CompiledCall) -> list[torch.nn.Module]:
    given = [*call.args, *call.kwargs.values()]
    found = [module for _, module in modules_of(call)]
    return [*found, *(value for value in given if isinstance(value, torch.nn.Module))]


def _is_data(value: Any) -> bool:
    kinds = (types.ModuleType, type, torch.nn.Module)
    return not callable(value) and not isinstance(value, kinds)


def _same_items(value: Any, items: Any) -> bool:
    if isinstance(value, dict):
        return all(key in value and value[key] is item for key, item in items.items())
    return all(one is other for one, other in zip(value, items, strict=True))
