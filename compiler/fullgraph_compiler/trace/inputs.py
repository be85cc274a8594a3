"""Inputs of compiled frames: tensors, and the values of symbols.

At its first use, Dynamo describes an input tensor in two records: a ``describe_tensor``, then a
``describe_source`` with the tensor's expression (``L['x'][0]``) and the same ids of tensor and describer. A
number that is not a constant of the compilation has a ``create_symbol``.
(``torch/_subclasses/meta_utils.py``, ``torch/fx/experimental/symbolic_shapes.py``, 2.11 to 2.15.)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from operator import index
from typing import Any, Final

from ..facts import FrameInputs, InputTensor
from ..facts.dtypes import short_name
from .record import TraceRecord

_SYMBOL: Final = "create_symbol"
TENSOR_RECORDS: Final = frozenset(("describe_tensor", "describe_source"))
"""The records about input tensors, which no other fact needs."""

_MOST_DIMENSIONS: Final = 64
"""The most dimensions of a tensor in torch."""
_DEVICE: Final = re.compile(r"device\(type='(\w+)'(?:, index=(\d+))?\)")
_OF_SELF: Final = "L['self']."


class InputReader:
    """A collector of the inputs in the last attempt of one compilation.

    Damaged records are skipped.
    """

    def __init__(self) -> None:
        self._attempt = 0
        self._described: dict[tuple[int, int], Mapping[str, Any]] = {}
        """Tensors whose source has not been read yet, by the ids of describer and tensor."""
        self._tensors: dict[str, InputTensor] = {}
        self._numbers: dict[str, int | float] = {}

    def feed(self, record: TraceRecord) -> None:
        """Read a record."""
        if record.attempt != self._attempt:
            self._attempt = record.attempt
            self._clear()
        with suppress(KeyError, TypeError, ValueError, IndexError, AttributeError):
            self._note(record.name, record.body)

    def take(self, compile_id: str) -> Iterator[FrameInputs]:
        """Yield the inputs that were fed since the last call, unless there are none."""
        if self._tensors or self._numbers:
            yield FrameInputs(compile_id, tuple(self._tensors.values()), tuple(self._numbers.items()))
        self._clear()

    def _clear(self) -> None:
        self._described.clear()
        self._tensors.clear()
        self._numbers.clear()

    def _note(self, name: str, body: Any) -> None:
        if name == "describe_tensor":
            self._described[index(body["describer_id"]), index(body["id"])] = body
        elif name == "describe_source":
            source = _text(body["source"])
            described = self._described.pop((index(body["describer_id"]), index(body["id"])))
            # A module has thousands of parameters; one is enough to show that there are any.
            if not (self._tensors and source.startswith(_OF_SELF)):
                self._tensors.setdefault(source, _tensor(source, described))
        elif name == _SYMBOL and (number := _number(_text(body["val"]))) is not None:
            self._numbers.setdefault(_text(body["source"]), number)


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
    """Return the value of a symbol; ``None`` if it is not finite.

    Raise ``ValueError`` if the text is not a number.
    """
    try:
        return int(text)
    except ValueError:
        number = float(text)
        return number if math.isfinite(number) else None
