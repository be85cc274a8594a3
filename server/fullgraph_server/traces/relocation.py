"""Facts from another machine, moved to the files of the workspace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from types import NoneType
from typing import Any, Final

from fullgraph_compiler.facts import Fact, StackFrame
from fullgraph_compiler.trace.lines import MOST_ROWS

from ..workspace.source import SourceFile
from .lines import ExecutedFile, as_it_ran
from .paths import PathMap

_LARGEST: Final = 1 << 62
"""The limit on the absolute value of numbers in facts; torch does not write larger numbers."""


class Relocation:
    """A map from places in a log to local places.

    ``quoted`` are the source lines that the log quotes, by remote file and row.
    """

    def __init__(self, paths: PathMap, quoted: Mapping[str, Mapping[int, str]]) -> None:
        self._paths = paths
        here: defaultdict[str, dict[int, str]] = defaultdict(dict)
        for filename, lines in quoted.items():
            if source := paths.source(filename):
                here[source.filename].update(lines)
        self._quoted = here
        self._ran: dict[str, ExecutedFile | None] = {}
        self._frames: dict[StackFrame, StackFrame] = {}
        self._tuples: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self.files: dict[str, SourceFile] = {}
        """The workspace's files that facts refer to, by local path, with the texts that ran."""
        self.damaged = 0
        """The number of facts that were left out because a value has a wrong type."""

    def line(self, filename: str, row: int) -> str:
        """Return the text of a line of a remote file; empty if no local file matches."""
        ran = self._file(filename)
        return ran.source.line(ran.row(row)) if ran else ""

    def facts(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Yield the facts with local paths and rows.

        Facts with values of a wrong type are left out.
        """
        for fact in facts:
            try:
                yield self._value(fact)
            except TypeError:
                self.damaged += 1

    def _file(self, filename: str) -> ExecutedFile | None:
        if filename not in self._ran:
            source = self._paths.source(filename)
            ran = as_it_ran(source, self._quoted.get(source.filename, {})) if source else None
            self._ran[filename] = ran
            if ran:
                self.files[ran.source.filename] = ran.source
        return self._ran[filename]

    def _place(self, filename: str, row: int) -> tuple[str, int]:
        row = min(max(row, 1), MOST_ROWS)
        ran = self._file(filename)
        return (ran.source.filename, ran.row(row)) if ran else (self._paths.name(filename), row)

    def _frame(self, frame: StackFrame) -> StackFrame:
        moved = self._frames.get(frame)
        if moved is None:
            for name, kind in _kinds(StackFrame).items():
                _check(getattr(frame, name), kind)
            filename, row = self._place(frame.filename, frame.row)
            end_row = None if frame.end_row is None else row + frame.end_row - frame.row
            moved = self._frames[frame] = replace(frame, filename=filename, row=row, end_row=end_row)
        return moved

    def _value(self, value: Any) -> Any:
        if isinstance(value, StackFrame):
            return self._frame(value)
        if isinstance(value, tuple):
            return self._tuple(value)
        kinds = _kinds(value.__class__)
        changes = {}
        for name, kind in kinds.items():
            item = getattr(value, name)
            _check(item, kind)
            if (new := self._value(item)) is not item:
                changes[name] = new
        if "filename" in kinds:
            changes["filename"], row = self._place(value.filename, getattr(value, "row", 1))
            if "row" in kinds:
                changes["row"] = row
        return replace(value, **changes) if changes else value

    def _tuple(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if values and isinstance(values[0], tuple):
            return tuple(map(self._value, values))  # the stacks of a kernel
        if not values or not is_dataclass(values[0]):
            return values
        if not isinstance(values[0], StackFrame):
            return tuple(map(self._value, values))
        moved = self._tuples.get(values)
        if moved is None:
            moved = self._tuples[values] = tuple(map(self._frame, values))
        return moved


def _check(value: Any, kind: tuple[type, ...]) -> None:
    if kind is _TEXTS:
        if not (isinstance(value, tuple) and all(isinstance(item, str) for item in value)):
            raise TypeError("no texts")
    elif kind and not isinstance(value, kind):
        raise TypeError(f"a {type(value).__name__} is no {kind[0].__name__}")
    if isinstance(value, (int, float)) and not -_LARGEST < value < _LARGEST:
        raise TypeError("no number of torch's")


_TEXTS: Final = (tuple, str)
_SIMPLE: Final[Mapping[str, tuple[type, ...]]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "float": (float, int),
    "int | None": (int, NoneType),
    "Stack": (tuple,),
    "tuple[str, ...]": _TEXTS,
}
"""The allowed types, by the annotation of a field; a damaged log can have values of other types."""


@cache
def _kinds(cls: type[Any]) -> Mapping[str, tuple[type, ...]]:
    """Return the allowed types of each field of a dataclass.

    The types of a field that is not checked are empty.
    """
    own = fields(cls) if is_dataclass(cls) else ()
    return {field.name: _SIMPLE.get(str(field.type), ()) for field in own}
