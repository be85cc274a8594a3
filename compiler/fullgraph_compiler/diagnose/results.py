"""Record the results of compiled functions, to compare two runs of a program.

The runs differ only in how the calls run: uncompiled or compiled. A call is identified by its number.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import torch

from ..verify.calls import CallWatcher, CompiledCall
from ..verify.snapshots import MOST_ELEMENTS, is_plain

Place: TypeAlias = tuple[int, str]
"""The number of a call, and a description of the value in this call."""


class ResultRecorder(CallWatcher):
    """A recorder of the results of compiled functions, and of their inputs' gradients.

    Only outermost calls are recorded. With ``compiled=False`` the functions run uncompiled. ``before`` is
    called at the start of each call. ``on_call`` is called for the call with ``number``, counted from 1, and
    for each call that raises; it gets the function, the arguments and the options of ``torch.compile``.
    """

    def __init__(
        self,
        *,
        compiled: bool,
        on_call: Callable[..., None] = lambda *_: None,
        number: int = 0,
        before: Callable[[CompiledCall], None] = lambda _: None,
    ) -> None:
        super().__init__(compiled=compiled)
        self._before = before
        self._on_call = on_call
        self._number = number
        self._tensors: dict[Place, torch.Tensor] = {}

    def save(self, path: Path) -> None:
        """Write the recorded tensors to a file for :func:`load`."""
        torch.save(self._tensors, path)

    def begin(self, call: CompiledCall) -> None:
        """Record the gradients of a call's inputs and parameters when they are computed."""
        self._before(call)
        if call.number == self._number:
            self._on_call(call.function, call.args, call.kwargs, call.options)
        watched = list(tensors_in((call.args, call.kwargs)))
        if call.owner is not None:
            watched += [(f".{key}", value) for key, value in call.owner.named_parameters()]
        for place, tensor in watched:
            if tensor.requires_grad:
                where = (call.number, f"gradient of input{place} in {_title(call)}")
                tensor.register_hook(functools.partial(self._keep, where))

    def end(self, call: CompiledCall, result: Any) -> None:
        """Record the result of a call."""
        for place, tensor in tensors_in(result):
            self._keep((call.number, f"result{place} of {_title(call)}"), tensor)

    def fail(self, call: CompiledCall, _: Exception) -> None:
        """Call ``on_call`` for a call that raised."""
        self._on_call(call.function, call.args, call.kwargs, call.options)

    def _keep(self, place: Place, tensor: torch.Tensor) -> None:
        if place in self._tensors or not is_plain(tensor):
            return
        tensor = tensor.detach()
        if tensor.numel() > MOST_ELEMENTS:
            tensor = tensor.flatten()[:: tensor.numel() // MOST_ELEMENTS + 1]
        self._tensors[place] = tensor.cpu().clone()


def load(path: Path) -> dict[Place, torch.Tensor]:
    """Return the tensors that :meth:`ResultRecorder.save` wrote."""
    tensors: dict[Place, torch.Tensor] = torch.load(path)
    return tensors


def _title(call: CompiledCall) -> str:
    return f"call {call.turn} of {call.name}"


def tensors_in(value: Any, place: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors in a value, each with its path in the value (``[0]['x']``).

    NumPy arrays are converted to tensors.
    """
    if isinstance(value, torch.Tensor):
        yield place, value
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from tensors_in(item, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from tensors_in(item, f"{place}[{key!r}]")
    elif (tensor := as_tensor(value)) is not None:
        yield place, tensor


def as_tensor(value: Any) -> torch.Tensor | None:
    """Return an array or a number of NumPy as a tensor of one of four dtypes.

    ``None`` for other values. Results are reduced to four dtypes because torch's translation of NumPy may
    return equal numbers in another dtype.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)):
        return None
    wide = {"f": numpy.float32, "c": numpy.complex64, "b": numpy.bool_, "i": numpy.int64, "u": numpy.int64}
    kind = value.dtype.kind
    return torch.from_numpy(numpy.array(value, wide[kind])) if kind in wide else None
