"""The results of compiled functions, recorded to compare two runs of a program.

The runs differ only in whether Dynamo compiles. Calls are identified by their order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import torch

from ..compat import dynamo_compat

_MOST_CALLS = 32
_MOST_ELEMENTS = 1 << 20
"""The maximum per tensor; of a larger one, evenly spaced elements are kept."""


Place: TypeAlias = tuple[int, str]
"""The number of a call, and a description of the value in it."""


class ResultRecorder:
    """A recorder of the results of outermost calls of compiled functions, and of their inputs' gradients.

    With ``compiled=False`` the functions run uncompiled. ``on_call`` is called with the function, the
    arguments and the options of ``torch.compile``, for the call with ``number``, counted from 1, and for
    calls that raise.
    """

    def __init__(
        self, *, compiled: bool, on_call: Callable[..., None] = lambda *_: None, number: int = 0
    ) -> None:
        self._compiled = compiled
        self._on_call = on_call
        self._number = number
        self._calls = 0
        self._depth = 0
        self._tensors: dict[Place, torch.Tensor] = {}

    def install(self) -> None:
        """Wrap all functions that ``torch.compile`` returns from now on."""
        dynamo_compat.intercept_compiled_calls(self._wrap)

    def save(self, path: Path) -> None:
        """Write the recorded tensors to a file for :func:`load`."""
        torch.save(self._tensors, path)

    def _wrap(
        self, function: Callable[..., Any], compiled: Callable[..., Any], options: dict[str, Any]
    ) -> Callable[..., Any]:
        called = compiled if self._compiled else function

        @functools.wraps(compiled)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._depth or self._calls >= _MOST_CALLS or torch.compiler.is_compiling():
                return called(*args, **kwargs)
            self._calls += 1
            number, name = self._calls, f"call {self._calls} of {_name(function)}"
            if number == self._number:
                self._on_call(function, args, kwargs, options)
            self._watch_gradients(number, name, function, args, kwargs)
            self._depth += 1
            try:
                result = called(*args, **kwargs)
            except Exception:
                self._on_call(function, args, kwargs, options)
                raise
            finally:
                self._depth -= 1
            for place, tensor in _tensors(result):
                self._keep((number, f"result{place} of {name}"), tensor)
            return result

        return call

    def _watch_gradients(self, number: int, name: str, function: Any, args: Any, kwargs: Any) -> None:
        owner = getattr(function, "__self__", None)
        watched = list(_tensors((args, kwargs)))
        if isinstance(owner, torch.nn.Module):
            watched += [(f".{key}", value) for key, value in owner.named_parameters()]
        for place, tensor in watched:
            if tensor.requires_grad:
                where = (number, f"gradient of input{place} in {name}")
                tensor.register_hook(functools.partial(self._keep, where))

    def _keep(self, place: Place, tensor: torch.Tensor) -> None:
        if place in self._tensors or not _is_plain(tensor):
            return
        tensor = tensor.detach()
        if tensor.numel() > _MOST_ELEMENTS:
            tensor = tensor.flatten()[:: tensor.numel() // _MOST_ELEMENTS + 1]
        self._tensors[place] = tensor.cpu().clone()


def load(path: Path) -> dict[Place, torch.Tensor]:
    """Return the tensors that a recorder saved."""
    tensors: dict[Place, torch.Tensor] = torch.load(path)
    return tensors


def _name(function: Any) -> str:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, torch.nn.Module):
        return type(owner).__name__
    return str(getattr(function, "__qualname__", type(function).__name__))


def _is_plain(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and not tensor.is_nested and type(tensor).__name__ != "DTensor"


def _tensors(value: Any, place: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield place, value
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _tensors(item, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _tensors(item, f"{place}[{key!r}]")
