"""Details of a record that only the observed process knows, as JSON in its log.

The details are ``TraceRecord.seen``. They have a separate key in the value of the event, which other readers
of the log ignore. The frames of all stacks are listed once, and refer to files by number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Any, Final

from .capture import NamedTensor, Symbol
from .stacks import Stack, StackFrame

KEY: Final = "fullgraph"


def with_seen(body: Mapping[str, Any], seen: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an event's value, with the details that a log can hold added to it."""
    table = _RecordTable()
    values = {name: write(seen[name], table) for name, (write, _) in _FORMS.items() if name in seen}
    return {**body, KEY: {"files": [*table.files], "frames": [*table.frames], **values}} if values else body


def read_seen(body: Any) -> dict[str, Any]:
    """Return the details in the value of an event; empty if there are none.

    Raise ``ValueError`` if the details are damaged.
    """
    written = body.get(KEY) if isinstance(body, Mapping) else None
    if written is None:
        return {}
    try:
        frames = _frames(written)
        return {name: read(written[name], frames) for name, (_, read) in _FORMS.items() if name in written}
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        raise ValueError("what was seen of a record is damaged") from error


class _RecordTable:
    """The files and frames of one record, each with its number."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.frames: dict[tuple[Any, ...], int] = {}

    def frame(self, frame: StackFrame) -> int:
        file = self.files.setdefault(frame.filename, len(self.files))
        place = (file, frame.row, frame.function, frame.column, frame.end_row, frame.end_column)
        return self.frames.setdefault(place, len(self.frames))

    def stack(self, stack: Iterable[StackFrame]) -> list[int]:
        return [self.frame(frame) for frame in stack]


def _frames(written: Mapping[str, Any]) -> list[StackFrame]:
    files = [*map(_text, written["files"])]
    return [
        StackFrame(files[file], _number(row) or 1, _text(function), *map(_number, columns))
        for file, row, function, *columns in written["frames"]
    ]


def _write_stacks(stacks: Mapping[str, Stack], table: _RecordTable) -> list[Any]:
    """Write each stack once, with the names of all items that share it."""
    names: dict[Stack, list[str]] = {}
    for name, stack in stacks.items():
        names.setdefault(stack, []).append(name)
    return [[table.stack(stack), having] for stack, having in names.items()]


def _read_stacks(written: Any, frames: list[StackFrame]) -> dict[str, Stack]:
    pairs = ((_read_stack(stack, frames), having) for stack, having in written)
    return {_text(name): stack for stack, having in pairs for name in having}


def _read_stack(written: Any, frames: list[StackFrame]) -> Stack:
    return tuple(frames[number] for number in written)


def _write_names(names: tuple[tuple[NamedTensor, ...], tuple[Symbol, ...]], table: _RecordTable) -> list[Any]:
    tensors, symbols = names
    return [
        [[x.name, x.tensor, x.stride, x.device, table.frame(x.frame), x.parameter] for x in tensors],
        [[symbol.name, symbol.source, symbol.value] for symbol in symbols],
    ]


def _read_names(written: Any, frames: list[StackFrame]) -> tuple[tuple[NamedTensor, ...], tuple[Symbol, ...]]:
    tensors, symbols = written
    return (
        tuple(
            NamedTensor(
                _text(name), _text(tensor), _text(stride), _text(device), frames[frame], _flag(parameter)
            )
            for name, tensor, stride, device, frame, parameter in tensors
        ),
        tuple(Symbol(_text(name), _text(source), _number(value)) for name, source, value in symbols),
    )


def _read_nodes(written: Any, _: list[StackFrame]) -> dict[str, list[str]]:
    return {_text(launch): [*map(_text, names)] for launch, names in written.items()}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _number(value: Any) -> int | None:
    if not isinstance(value, (int, NoneType)):
        raise TypeError
    return value


def _same(value: Any, _: _RecordTable) -> Any:
    return value


_STACK: Final = (lambda stack, table: table.stack(stack), _read_stack)
_FORMS: Final[
    Mapping[str, tuple[Callable[[Any, _RecordTable], Any], Callable[[Any, list[StackFrame]], Any]]]
] = {
    "stack": _STACK,
    "calls": _STACK,
    "guard_stacks": (_write_stacks, _read_stacks),
    "guard_values": (_same, lambda values, _: {_text(key): _text(item) for key, item in values.items()}),
    "names": (_write_names, _read_names),
    "nodes": (_same, _read_nodes),
    "filename": (_same, lambda text, _: _text(text)),
    "operator": (_same, lambda text, _: _text(text)),
    "fatal": (_same, lambda flag, _: _flag(flag)),
}
"""For each detail, the functions that write and read it."""
