"""Calls repeated after a program: with gradients, and with values that may fail.

A program shows only how its functions treat its own values. So the last call of each form is repeated on
copies of its arguments: with gradients, even if the program turned gradients off, then with zeros, NaN and
other numbers. Errors, and whether the function catches them, are part of a function's behaviour.
"""

from __future__ import annotations

import contextlib
import io
import math
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from .calls import CompiledCall, TooLongError
from .recording import modules_of, tensors_in
from .resizing import ArgumentMaker, CallForm, CallForms
from .state import CallState

_MOST_FORMS = 4
_SECONDS = 10.0
"""The limit on the processor time of one repeated call, in seconds: with other values, a loop may never
end."""
_SMALL = 16
"""The most elements of a module's tensor that counts as a number of the program, such as a temperature."""

Change = Callable[[torch.Tensor], torch.Tensor]


Record = Callable[[CompiledCall, str, bool], None]
"""Makes and records a call. Parameters: the call, a description of its values, whether to take gradients."""


class CallRepeater:
    """The last call of each form, kept so that it can be repeated."""

    def __init__(self) -> None:
        self._forms = CallForms(_MOST_FORMS)
        self.keep = self._forms.keep

    def make(self, record: Record, patience: float) -> None:
        """Repeat the calls after the program, for at most ``patience`` seconds.

        The output of the repeated calls is dropped.
        """
        deadline = time.monotonic() + patience
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            for key, form in self._forms.items():
                with self._forms.settings[key].again():
                    self._make(form, record, deadline)

    def _make(self, form: CallForm, record: Record, deadline: float) -> None:
        kept = CallState(form.call)
        # Outside of inference mode, the copies are tensors that gradients can flow through.
        with torch.inference_mode(False), torch.enable_grad():
            record(_with_gradients(_copied(form)), "with gradients", True)
        kept.put_back()
        if not hasattr(signal, "setitimer"):
            return
        for words, change, of_state in _VALUES:
            if time.monotonic() > deadline:
                return
            call = _copied(form, change)
            if of_state and not _change_state(call, change):
                continue
            try:
                with _limited(min(_SECONDS, patience_left(deadline))):
                    record(call, words, False)
            except TooLongError:
                return
            finally:
                kept.put_back()


def patience_left(deadline: float) -> float:
    """Return the seconds left until a deadline, at least 0.1."""
    return max(deadline - time.monotonic(), 0.1)


def _copied(form: CallForm, change: Change | None = None) -> CompiledCall:
    """Return the call on copies of its arguments; apply ``change`` to their numbers."""
    args, kwargs = ArgumentMaker(form, {}).make()
    if change is not None:
        args = tuple(_changed(value, change) for value in args)
        kwargs = {name: _changed(value, change) for name, value in kwargs.items()}
    return replace(form.call, args=args, kwargs=kwargs)


def _changed(value: Any, change: Change) -> Any:
    """Return a changed number, or any other value after changing its tensors in place."""
    if type(value) is float:
        return float(change(torch.tensor(value, dtype=torch.float64)))
    for _, tensor in tensors_in("", value) if not isinstance(value, torch.nn.Module) else ():
        _change_tensor(tensor, change)
    return value


def _change_tensor(tensor: torch.Tensor, change: Change) -> None:
    if isinstance(tensor, torch.nn.Parameter) or not tensor.numel():
        return
    with contextlib.suppress(RuntimeError), torch.no_grad():  # an expanded tensor, or one without memory
        tensor.detach().copy_(change(tensor.detach()))


def _change_state(call: CompiledCall, change: Change) -> bool:
    """Change the small tensors of modules in place; return whether there were any."""
    small = [
        tensor
        for _, module in modules_of(call)
        for tensor in (*module.parameters(), *module.buffers())
        if tensor.is_floating_point() and 0 < tensor.numel() <= _SMALL
    ]
    with torch.no_grad():
        for tensor in small:
            tensor.detach().copy_(change(tensor.detach()))
    return bool(small)


def _with_gradients(call: CompiledCall) -> CompiledCall:
    """Return a call, after making sure that gradients can be taken.

    If no tensor of the call or of its modules requires gradients, all floating point leaves are changed to
    require gradients.
    """
    given = list(tensors_in("", (call.args, call.kwargs)))
    for _, module in modules_of(call):
        given += tensors_in("", module)
    if not any(tensor.requires_grad for _, tensor in given):
        for _, tensor in given:
            if tensor.is_floating_point() and tensor.is_leaf and not tensor.is_inference():
                tensor.requires_grad_()
    return call


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def end(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _negated(tensor: torch.Tensor) -> torch.Tensor:
    """Return the negated tensor; reverse integers instead, since they may be indices."""
    if tensor.is_floating_point() or tensor.is_complex():
        return -tensor
    return tensor.flatten().flip(0).reshape(tensor.shape) if tensor.dtype is not torch.bool else ~tensor


def _nan(tensor: torch.Tensor) -> torch.Tensor:
    return torch.full_like(tensor, math.nan) if tensor.is_floating_point() else tensor


_VALUES: Sequence[tuple[str, Change, bool]] = (
    ("with zeros", torch.zeros_like, False),
    ("with other signs", _negated, False),
    ("with NaN", _nan, False),
    ("with large numbers", lambda tensor: tensor * 10_000 if tensor.is_floating_point() else tensor, False),
    ("with zeros in the module, too", torch.zeros_like, True),
)
"""Changes for repeated calls: description, change, and whether it also applies to small tensors of
modules."""
