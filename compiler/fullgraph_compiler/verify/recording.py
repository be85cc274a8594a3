"""The results and side effects of calls of compiled functions, recorded in a file."""

from __future__ import annotations

import builtins
import contextlib
import functools
import gc
import random
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from ..compat import dynamo_compat, torch_compat
from ..facts import WATCHER
from .branches import is_by_statement
from .calls import PART, CallWatcher, CompiledCall, TooLongError
from .differences import unchanged
from .snapshots import Node, ValueSnapshots
from .surroundings import SurroundingState

_SEED = 0
_MOST_GRADIENTS = 4
"""The most gradients of one input to record: an input may be part of several backward passes."""
_STATE_ELEMENTS = 1 << 14
"""The most elements of a parameter or buffer to record. The limit is lower than for results, since every call
records all parameters and buffers."""


def set_seeds(seed: int) -> None:
    """Seed the random numbers of Python, torch and, if NumPy is imported, NumPy."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)


@contextlib.contextmanager
def same_draws() -> Iterator[None]:
    """Restore the random state of Python and torch at the end of the context.

    Draws in the context do not change later draws.
    """
    saved = random.getstate(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(saved[0])
        torch.set_rng_state(saved[1])


def random_states() -> dict[str, str]:
    """Return a digest of the state of each source of random numbers."""
    states: dict[str, Any] = {"Python": random.getstate(), "torch": torch.get_rng_state().numpy().tobytes()}
    if torch.cuda.is_initialized():
        states["CUDA"] = torch.cuda.get_rng_state().numpy().tobytes()
    if "numpy" in sys.modules:
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        states["NumPy"] = name, keys.tobytes(), rest
    return {name: sha256(repr(state).encode()).hexdigest() for name, state in states.items()}


def new_record(call: CompiledCall) -> dict[str, Any]:
    """Return the empty recording of a call."""
    return {
        "name": call.name,
        "values": [],
        "gradients": {},
        "grads": {},
        "random": {},
        "error": None,
        "incomplete": False,
        "unchanged": [],
        "modes": [],
    }


def modes_of(modules: Iterable[torch.nn.Module]) -> list[tuple[torch.nn.Module, bool]]:
    """Return modules and their submodules, each with its mode: true is training mode."""
    return [(inner, inner.training) for module in modules for inner in module.modules()]


def set_modes(modes: Iterable[tuple[torch.nn.Module, bool]]) -> None:
    """Put each module into the given mode; true is training mode."""
    for module, training in modes:
        if module.training != training:
            module.training = training


class CallRecorder(CallWatcher):
    """A recorder of the results and side effects of calls."""

    def __init__(
        self,
        *,
        other_mode: bool = False,
        compiled: bool = True,
        keep: Callable[[CompiledCall], object] = bool,
    ) -> None:
        super().__init__(compiled=compiled)
        self._keep_call = keep
        self._other_mode = other_mode
        self._modes: list[tuple[torch.nn.Module, bool]] = []
        """The modules of the running call, with their original modes."""
        self.raised: list[list[str]] = []
        self._records: list[dict[str, Any]] = []
        self._surroundings: SurroundingState | None = None
        self._left: list[tuple[str, Node]] = []
        self._again: list[dict[str, Any]] = []
        """The recordings of repeated calls."""
        self._given: list[tuple[str, Node]] = []
        self._watched: list[tuple[dict[str, Any], str, weakref.ref[torch.Tensor]]] = []
        # A backward pass in a compiled function would compile the hooks, too.
        self._keep = torch.compiler.disable(self._keep_gradient)

    def install(self) -> None:
        """Record calls from now on, and seed random numbers.

        The seed is the same in every recorded run.
        """
        super().install()
        setattr(builtins, WATCHER, self._watch)
        self._surroundings = SurroundingState()
        set_seeds(_SEED)

    def _watch(
        self, function: Callable[..., Any], part: Callable[..., Any], is_method: bool
    ) -> Callable[..., Any]:
        """Report the calls of a function of which only a part is compiled.

        The calls of a method are those of the method of an object, without the object as an argument.
        """
        setattr(function, PART, part)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = types.MethodType(function, args[0]) if is_method else function
            return self._wrap(bound, bound, {})(*args[is_method:], **kwargs)

        dynamo_compat.leave_alone(call)
        return call

    def finish(self) -> None:
        """Record gradients and surroundings when the program has ended."""
        self.over = True
        gc.collect()  # else an unreachable tensor would have a gradient in some runs and not in others
        for record, place, reference in self._watched:
            tensor = reference()
            if tensor is not None and tensor.is_leaf and tensor.grad is not None:
                record["grads"][place] = ValueSnapshots(_STATE_ELEMENTS).take(place, tensor.grad)
        if self._surroundings is not None:
            self._left = self._surroundings.take()

    def save(self, path: Path) -> None:
        """Write the recording to a file."""
        whole = {
            "calls": self._records,
            "raised": self.raised,
            "left out": self.left_out,
            "again": self._again,
            "left": self._left,
        }
        torch.save(whole, path)

    def make_again(self, call: CompiledCall, words: str, gradients: bool) -> None:
        """Repeat a call, and record it.

        ``words`` describe the call's values. With ``gradients``, record the call's gradients, too.
        """
        set_seeds(_SEED)
        record = {**new_record(call), "again": words, "form": _form_of(call)}
        self._set_modes(call, record)
        self._given = self._inputs(call, ValueSnapshots())
        try:
            result = (call.compiled if self._compiled else call.function)(*call.args, **call.kwargs)
            found = gradients_of(call, result) if gradients else {}
        except BaseException as error:
            self._keep_error(call, error, record)
            record["error"][1] = ""  # the message can name values, which compiled code may word differently
            if isinstance(error, TooLongError):
                raise
        else:
            record["gradients"] = found
            self._keep_values(call, [("result", result)], record)
        finally:
            self._reset_modes()
            self._again.append(record)

    def begin(self, call: CompiledCall) -> None:
        """Begin the recording of a call, and watch the gradients of its inputs."""
        self._keep_call(call)
        record = new_record(call)
        self._records.append(record)
        self._set_modes(call, record)
        self._given = self._inputs(call, ValueSnapshots())
        for place, tensor in differentiable(call):
            if tensor.requires_grad:
                tensor.register_hook(functools.partial(self._keep, record, place))
                if tensor.is_leaf:
                    self._watched.append((record, place, weakref.ref(tensor)))

    def end(self, call: CompiledCall, result: Any) -> None:
        """Record the result and the side effects of a call."""
        try:
            self._keep_values(call, [("result", result)], self._records[-1])
        finally:
            self._reset_modes()

    def fail(self, call: CompiledCall, error: Exception) -> None:
        """Record the exception of a call, and the side effects that the call had before."""
        try:
            self._keep_error(call, error, self._records[-1])
        finally:
            self._reset_modes()

    def _keep_error(self, call: CompiledCall, error: BaseException, record: dict[str, Any]) -> None:
        of_compiler = torch_compat.is_internal(type(error).__module__)
        record["error"] = [type(error).__qualname__, str(error), of_compiler, is_by_statement(error)]
        self._keep_values(call, [], record)

    def _set_modes(self, call: CompiledCall, record: dict[str, Any]) -> None:
        """Record each module's training or evaluation mode; with ``other_mode``, flip it."""
        roots = [module for _, module in modules_of(call)]
        record["modes"] = ["training" if module.training else "evaluation" for module in roots]
        if self._other_mode:
            self._modes = modes_of(roots)
            for module, training in [(module, module.training) for module in roots]:
                module.train(not training)

    def _reset_modes(self) -> None:
        set_modes(self._modes)
        self._modes = []

    def _keep_values(
        self, call: CompiledCall, results: list[tuple[str, Any]], record: dict[str, Any]
    ) -> None:
        record["random"] = random_states()
        snapshots = ValueSnapshots()
        # The modules still have the modes that they had at the begin, or they would seem to be changed.
        record["values"] = inputs = self._inputs(call, snapshots)
        # After an edit, a caller may pass other values; changes that a call makes to them must be equal.
        record["unchanged"] = unchanged(self._given, inputs)
        self._given = []
        for place, value in results:
            snapshots.elements = 1 << 20
            record["values"].append((place, snapshots.take(place, value)))
        for place, module in modules_of(call):
            snapshots.elements = _STATE_ELEMENTS
            record["values"].append((place, snapshots.take(place, module)))
        record["incomplete"] = snapshots.incomplete

    def _inputs(self, call: CompiledCall, snapshots: ValueSnapshots) -> list[tuple[str, Node]]:
        taken = []
        for place, value in inputs_of(call):
            snapshots.elements = _STATE_ELEMENTS if isinstance(value, torch.nn.Module) else 1 << 20
            taken.append((place, snapshots.take(place, value)))
        return taken

    def _keep_gradient(self, record: dict[str, Any], place: str, gradient: torch.Tensor) -> None:
        if self.over:
            return  # a repeated call also triggers the hook
        kept = record["gradients"].setdefault(place, [])
        if len(kept) < _MOST_GRADIENTS:
            kept.append(ValueSnapshots().take(place, gradient))


def inputs_of(call: CompiledCall) -> list[tuple[str, Any]]:
    """Return the arguments of a call, with names such as ``input[0]``."""
    named = [(f"input `{name}`", value) for name, value in call.kwargs.items()]
    return [*((f"input[{index}]", value) for index, value in enumerate(call.args)), *named]


def gradients_of(call: CompiledCall, result: Any) -> dict[str, Node]:
    """Return the gradients of a weighted sum of all results.

    The gradients are with respect to inputs and parameters that are leaves.
    """
    outputs = [value for _, value in tensors_in("", result) if value.requires_grad and value.numel()]
    leaves = {
        place: value for place, value in differentiable(call) if value.requires_grad and value.is_leaf
    }  # fmt: skip
    if not outputs or not leaves:
        return {}
    set_seeds(_SEED)
    weights = [torch.rand(value.shape).to(value) for value in outputs]
    found = torch.autograd.grad(outputs, list(leaves.values()), weights, allow_unused=True)
    return {
        place: ValueSnapshots().take(place, gradient)
        for place, gradient in zip(leaves, found, strict=True)
        if gradient is not None
    }


def differentiable(call: CompiledCall) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors and parameters that a call can read, with their names."""
    yield from tensors_in("input", (call.args, call.kwargs))
    for place, module in modules_of(call):
        yield from tensors_in(place, module)
    yield from ((name, value) for name, value in _named(call) if isinstance(value, torch.Tensor))


def modules_of(call: CompiledCall) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yield the modules that a function uses, except its arguments, with their names."""
    if call.owner is not None:
        yield f"`{call.name}`", call.owner
        return
    for name, value in _named(call):
        if isinstance(value, torch.nn.Module):
            # torch's wrapper of a compiled module has ids of this process, so take the module itself.
            yield name, next(value.children(), value) if dynamo_compat.is_compiled(value) else value


def _named(call: CompiledCall) -> Iterator[tuple[str, Any]]:
    """Yield the closure variables and globals that a function names: name and value."""
    named: list[tuple[str, Callable[[], Any]]] = []
    for function in call.functions:
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        named += [(name, functools.partial(getattr, cell, "cell_contents", None)) for name, cell in cells]
        named += [
            (name, functools.partial(function.__globals__.get, name)) for name in function.__code__.co_names
        ]
    yield from ((f"`{name}`", get()) for name, get in dict(named).items())


def tensors_in(place: str, value: Any, depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors in a value, and its modules' parameters, with their names."""
    if isinstance(value, torch.Tensor):
        yield place, value
    elif isinstance(value, torch.nn.Module):
        if "_parameters" in vars(value):  # it may lack `super().__init__()`
            yield from ((f"{place}.{key}", item) for key, item in value.named_parameters())
    elif isinstance(value, (list, tuple)) and depth < 8:
        for index, item in enumerate(value):
            yield from tensors_in(f"{place}[{index}]", item, depth + 1)
    elif isinstance(value, dict) and depth < 8:
        for key, item in value.items():
            yield from tensors_in(f"{place}[{key!r}]", item, depth + 1)


def _form_of(call: CompiledCall) -> list[str]:
    """Return the name and type of each argument of a call."""
    given = [*enumerate(call.args), *call.kwargs.items()]
    return [f"{place}: {type(value).__qualname__}" for place, value in given]
