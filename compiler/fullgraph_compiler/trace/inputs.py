"""Inputs of compiled frames: the tensors that a log describes, and the values of symbols.

Dynamo describes an input when it is first used: ``describe_tensor``, then under the same number of the same
describer ``describe_source`` with the expression that gives it (``L['x'][0]``). A number that is no constant
of the compilation has a ``create_symbol``. (``torch/_subclasses/meta_utils.py``,
``torch/fx/experimental/symbolic_shapes.py``, 2.11 to 2.15.)
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import index
from typing import Any, Final

from ..facts.dtypes import short_name
from .record import TraceRecord
from .stacks import original_function

INPUT_RECORDS: Final = frozenset(("dynamo_start", "describe_tensor", "describe_source", "create_symbol"))
"""The records that :class:`InputReader` knows."""

_MOST_DIMENSIONS: Final = 64
"""As many as torch allows."""
_DEVICE: Final = re.compile(r"device\(type='(\w+)'(?:, index=(\d+))?\)")


@dataclass(frozen=True, slots=True)
class InputTensor:
    """A tensor among the inputs of a frame.

    ``source`` is torch's expression for it (``L['x'][0]``), ``dtype`` the short name (``f32``). ``stride`` is
    empty for a layout that has none.
    """

    source: str
    dtype: str
    size: tuple[int, ...]
    stride: tuple[int, ...]
    device: str
    requires_grad: bool
    is_parameter: bool


@dataclass(frozen=True, slots=True)
class FrameInputs:
    """The inputs of one compilation's frame, in the order of their first use.

    ``numbers`` has the values of those that became symbols, by their source. ``resumes`` says that the frame
    continues after a graph break: its inputs are variables of the function.
    """

    tensors: tuple[InputTensor, ...] = ()
    numbers: Mapping[str, int | float] = field(default_factory=dict)
    resumes: bool = False


@dataclass
class _Attempt:
    """The inputs in the records of one attempt at a compilation so far; the last attempt counts."""

    number: int
    resumes: bool = False
    described: dict[tuple[int, int], Mapping[str, Any]] = field(default_factory=dict)
    """Tensors whose source has not been logged yet, by the describer's id and their id there."""
    tensors: dict[str, InputTensor] = field(default_factory=dict)
    numbers: dict[str, int | float] = field(default_factory=dict)


class InputReader:
    """Collector of the inputs of frames by compile id. It skips damaged records."""

    def __init__(self) -> None:
        self._attempts: dict[str, _Attempt] = {}

    @property
    def inputs(self) -> Mapping[str, FrameInputs]:
        """The inputs so far, by compile id."""
        return {
            compile_id: FrameInputs(tuple(last.tensors.values()), dict(last.numbers), last.resumes)
            for compile_id, last in self._attempts.items()
        }

    def feed(self, record: TraceRecord) -> None:
        """Read a record."""
        if record.name not in INPUT_RECORDS or not record.compile_id:
            return
        with suppress(KeyError, TypeError, ValueError, IndexError, AttributeError):
            self._note(record.name, record.body, self._attempt(record))

    def _attempt(self, record: TraceRecord) -> _Attempt:
        last = self._attempts.get(record.compile_id)
        if last is None or record.name == "dynamo_start":
            last = self._attempts[record.compile_id] = _Attempt(record.attempt)
        elif record.attempt != last.number:
            last = self._attempts[record.compile_id] = _Attempt(record.attempt, last.resumes)
        return last

    @staticmethod
    def _note(name: str, body: Any, attempt: _Attempt) -> None:
        if name == "dynamo_start":
            function = body["stack"][-1]["name"]
            attempt.resumes = original_function(function) != function
        elif name == "describe_tensor":
            attempt.described[index(body["describer_id"]), index(body["id"])] = body
        elif name == "describe_source":
            source = _text(body["source"])
            tensor = attempt.described.pop((index(body["describer_id"]), index(body["id"])))
            attempt.tensors.setdefault(source, _tensor(source, tensor))
        elif (number := _number(_text(body["val"]))) is not None:
            attempt.numbers.setdefault(_text(body["source"]), number)


def _tensor(source: str, body: Mapping[str, Any]) -> InputTensor:
    device = _DEVICE.fullmatch(body["device"])
    kind, number = device.groups() if device else (_text(body["device"]), None)
    return InputTensor(
        source=source,
        dtype=short_name(_text(body["dtype"])),
        size=_sizes(body["size"]),
        stride=_sizes(body.get("stride") or ()),
        device=kind if number is None else f"{kind}:{number}",
        requires_grad=bool(body.get("requires_grad")),
        is_parameter=bool(body.get("is_parameter")),
    )


def _sizes(values: Any) -> tuple[int, ...]:
    sizes = tuple(map(index, values))
    if len(sizes) > _MOST_DIMENSIONS or any(size < 0 for size in sizes):
        raise ValueError("no sizes")
    return sizes


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _number(text: str) -> int | float | None:
    """Read the value of a symbol; return ``None`` if it is not finite. Raises ``ValueError``."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
        return number if math.isfinite(number) else None
