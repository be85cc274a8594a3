"""The path of each call of a compiled function through uncompiled code.

A path lists each instruction that ran.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import torch

from ..facts import Stack, StackFrame
from ..observe.stacks import calling_stack
from ..verify.calls import CallWatcher, CompiledCall
from ..verify.snapshots import is_plain
from .followed import is_followed
from .hooks import HookRegistry
from .results import tensors_in
from .translated import NumpyMismatch, NumpyWatcher

ENTERED = (1 << 32) - 1
"""The offset in an event that stands for the start of a frame, not for an instruction."""
_MOST_EVENTS = 100_000
_LONGEST = 60
_MOST_BITS = 200
_MOST_SHARING = 50
_PLAIN = (type(None), bool, int, float, str)
_IMPURE = frozenset(
    ("os", "_collections_abc", "genericpath", "time", "random", "datetime", "uuid", "secrets")
)
"""Python modules with functions that may return different values for equal arguments."""
_ASKED = (torch.compiler.is_compiling.__code__, torch.compiler.is_dynamo_compiling.__code__)


@dataclass(frozen=True, slots=True)
class PathFrame:
    """A frame in a call: its code, and the frame and instruction that called it.

    ``parent`` is the index of the calling frame, or -1 for the outermost frame.
    """

    code: CodeType
    parent: int
    offset: int


@dataclass(frozen=True, slots=True)
class PathValue:
    """A plain value that occurred in a frame.

    It is either the value of the local variable ``name``, or what a call at the instruction ``offset``
    returned.
    """

    frame: int
    row: int
    offset: int
    name: str
    value: str


@dataclass
class CallPath:
    """The path of an uncompiled call, with values, writes to inputs, and NumPy calls.

    An event has the index of a frame in its upper 32 bits, and in the lower bits the offset of an instruction
    or ``ENTERED``. ``shape`` lists the sizes and plain values of the inputs, ``kind`` the properties on which
    every graph is specialized.
    """

    number: int
    turn: int
    name: str
    caller: Stack
    kind: tuple[str, ...]
    shape: tuple[str, ...]
    shared: frozenset[tuple[str, str]]
    settings: dict[str, str]
    events: array[int] = field(default_factory=lambda: array("q"))
    frames: list[PathFrame] = field(default_factory=list)
    values: list[PathValue] = field(default_factory=list)
    writes: list[tuple[str, int, int]] = field(default_factory=list)
    """The name of each input that was written to, with the frame and the row of the write."""
    translated: list[tuple[int, int, NumpyMismatch]] = field(default_factory=list)
    asked: list[tuple[int, int]] = field(default_factory=list)
    """The frame and the offset of each instruction that asks torch whether it is compiling."""

    def stack(self, frame: int, offset: int, row: int = 0) -> Stack:
        """Return the stack from the program to an instruction, or to ``row`` if given."""
        calls: list[StackFrame] = []
        while frame >= 0:
            entered = self.frames[frame]
            calls.append(place(entered.code, offset, row))
            frame, offset, row = entered.parent, entered.offset, 0
        return (*self.caller, *reversed(calls))


def place(code: CodeType, offset: int, row: int = 0) -> StackFrame:
    """Return the place of an instruction, or of the whole line ``row`` if given."""
    positions = getattr(code, "co_positions", None)  # since Python 3.11
    if row or positions is None:
        rows = (line for start, end, line in code.co_lines() if line and start <= offset < end)
        return StackFrame(code.co_filename, row or next(rows, code.co_firstlineno), code.co_name)
    first, last, column, end = list(positions())[offset // 2]
    return StackFrame(code.co_filename, first or code.co_firstlineno, code.co_name, column, last, end)


class PathRecorder(CallWatcher):
    """A recorder of paths of outermost calls of compiled functions, run uncompiled."""

    def __init__(self) -> None:
        super().__init__(compiled=False)
        self.paths: list[CallPath] = []
        self.hooks = HookRegistry(lambda: self.calls)
        self._before: Callable[..., Any] | None = None
        self._numpy = NumpyWatcher(self._translate)
        self._tracer: _PathTracer | None = None

    def install(self) -> None:
        """Start to record calls and hooks."""
        super().install()
        self.hooks.install()

    def begin(self, call: CompiledCall) -> None:
        """Start to record the path of a call."""
        inputs = list(_inputs(call))
        path = CallPath(
            call.number,
            call.turn,
            call.name,
            tuple(frame for frame in calling_stack(sys._getframe(1)) if is_followed(frame.filename)),
            tuple(map(_kind_of, inputs)),
            tuple(map(_shape_of, inputs)),
            frozenset(_sharing(inputs)),
            _settings(),
        )
        self.paths.append(path)
        self._tracer = _PathTracer(path, [(name, value) for name, value in inputs if _has_version(value)])
        self._before = sys.gettrace()
        self._numpy.install()
        # Without this, and the same in ``_step``, Python 3.12 and 3.13 report no instructions for the first
        # call of a function.
        sys._getframe().f_trace_opcodes = True
        sys.settrace(self._tracer.enter)

    def leave(self, _call: CompiledCall) -> None:
        """Stop recording the path of the call."""
        sys.settrace(self._before)
        self._numpy.remove()
        self._tracer = None

    def _translate(self, frame: FrameType, found: NumpyMismatch) -> None:
        if self._tracer is not None:
            self._tracer.translate(frame, found)


class _PathTracer:
    """The functions for ``sys.settrace`` that record the path of one call."""

    def __init__(self, path: CallPath, inputs: list[tuple[str, torch.Tensor]]) -> None:
        self._path = path
        self._inputs = inputs
        self._versions = [tensor._version for _, tensor in inputs]
        self._numbers: dict[FrameType, int] = {}
        self._rows: dict[int, int] = {}
        self._locals: dict[int, dict[str, str]] = {}

    def enter(self, frame: FrameType, _event: str, _: Any) -> Any:
        if len(self._path.events) >= _MOST_EVENTS:
            return None
        above = frame.f_back
        caller = self._numbers.get(above) if above is not None else None
        if not is_followed(frame.f_code.co_filename):
            if above is None or caller is None:
                return None
            if frame.f_code in _ASKED:
                self._path.asked.append((caller, above.f_lasti))
            return self._returning if frame.f_globals.get("__name__") in _IMPURE else None
        parent, offset = self._parent(frame)
        number = len(self._path.frames)
        self._numbers[frame] = number
        self._path.frames.append(PathFrame(frame.f_code, parent, offset))
        self._rows[number] = frame.f_code.co_firstlineno
        self._locals[number] = dict(_plain(frame))
        self._path.events.append(number << 32 | ENTERED)
        frame.f_trace_opcodes = True
        return self._step

    def translate(self, frame: FrameType, found: NumpyMismatch) -> None:
        number = self._numbers.get(frame)
        if number is not None:
            self._path.translated.append((number, frame.f_lasti, found))

    def _parent(self, frame: FrameType) -> tuple[int, int]:
        """Return the nearest recorded frame above ``frame``, and the calling instruction."""
        above = frame.f_back
        while above is not None:
            if above in self._numbers:
                return self._numbers[above], above.f_lasti
            above = above.f_back
        return -1, 0

    def _step(self, frame: FrameType, event: str, _: Any) -> Any:
        number = self._numbers[frame]
        more = len(self._path.events) < _MOST_EVENTS
        if event == "opcode":
            if more:
                self._path.events.append(number << 32 | frame.f_lasti)
        elif event in ("line", "return"):
            frame.f_trace_opcodes = more
            self._look(frame, number)
            self._rows[number] = frame.f_lineno
        return self._step

    def _look(self, frame: FrameType, number: int) -> None:
        """Record the values that a finished line assigned, and the inputs it wrote to."""
        row, known = self._rows[number], self._locals[number]
        for name, value in _plain(frame):
            if known.get(name) != value:
                known[name] = value
                self._path.values.append(PathValue(number, row, 0, name, value))
        for index, (name, tensor) in enumerate(self._inputs):
            if tensor._version != self._versions[index]:
                self._versions[index] = tensor._version
                self._path.writes.append((name, number, row))

    def _returning(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "return" and frame.f_back in self._numbers and (text := _text(value)) is not None:
            number, offset = self._numbers[frame.f_back], frame.f_back.f_lasti
            self._path.values.append(PathValue(number, 0, offset, "", text))
        return self._returning


def _plain(frame: FrameType) -> Iterator[tuple[str, str]]:
    for name, value in frame.f_locals.items():
        if (text := _text(value)) is not None:
            yield name, text


def _text(value: Any) -> str | None:
    """Return the text of a number, a boolean, a string or the value ``None``.

    Return ``None`` for all other values and for huge integers.
    """
    if type(value) in _PLAIN and not (type(value) is int and value.bit_length() > _MOST_BITS):
        text = repr(value[:_LONGEST] if type(value) is str else value)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return None


# -- inputs ------------------------------------------------------------------------------------


def _inputs(call: CompiledCall) -> Iterator[tuple[str, Any]]:
    """Yield the tensors and plain values in a call's arguments, with their names."""
    try:
        given = inspect.signature(call.function).bind(*call.args, **call.kwargs).arguments
    except (TypeError, ValueError):
        given = {str(place): value for place, value in enumerate(call.args)} | call.kwargs
    for name, value in given.items():
        if type(value) in _PLAIN:
            yield name, value
        for inner, tensor in tensors_in(value):
            yield f"{name}{inner}", tensor


def _kind_of(named: tuple[str, Any]) -> str:
    name, value = named
    if isinstance(value, torch.Tensor):
        return f"{name} {value.dtype} {value.device} {value.ndim} {value.requires_grad}"
    return f"{name} {type(value)}" if type(value) in (int, float) else f"{name} {value!r}"


def _shape_of(named: tuple[str, Any]) -> str:
    name, value = named
    if isinstance(value, torch.Tensor):
        return f"{name} {[*value.shape]}"
    # Python limits the decimal digits of an integer, but not the hexadecimal ones.
    return f"{name} {hex(value) if type(value) is int else repr(value)}"


def _sharing(inputs: list[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the names of each pair of inputs that share memory.

    If more than ``_MOST_SHARING`` inputs share the same memory, only the first of them are paired.
    """
    owners: dict[int, list[str]] = {}
    for name, value in inputs:
        if _has_version(value) and value.numel():
            owners.setdefault(value.untyped_storage().data_ptr(), []).append(name)
    for names in owners.values():
        yield from itertools.combinations(names[:_MOST_SHARING], 2)


def _has_version(value: Any) -> bool:
    """Return whether a value is a plain tensor whose version counter counts writes."""
    return isinstance(value, torch.Tensor) and is_plain(value) and not value.is_inference()


def _settings() -> dict[str, str]:
    """Return torch's global settings: values by the expressions that read them."""
    read = {
        'torch.get_autocast_dtype("cpu")': lambda: torch.get_autocast_dtype("cpu"),
        'torch.get_autocast_dtype("cuda")': lambda: torch.get_autocast_dtype("cuda"),
        'torch.is_autocast_enabled("cpu")': lambda: torch.is_autocast_enabled("cpu"),
        'torch.is_autocast_enabled("cuda")': lambda: torch.is_autocast_enabled("cuda"),
        "torch.get_default_dtype()": torch.get_default_dtype,
        "torch.is_grad_enabled()": torch.is_grad_enabled,
        "torch.are_deterministic_algorithms_enabled()": torch.are_deterministic_algorithms_enabled,
        "torch.get_float32_matmul_precision()": torch.get_float32_matmul_precision,
    }
    return {name: str(value()) for name, value in read.items()}
