"""Stacks of user code, without Dynamo's resume functions, and their file names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..facts import Stack, StackFrame
from .compilation import CompileState, graph_of
from .guards import GuardPlace
from .record import UNKNOWN_FILE

_RESUMES = "torch_dynamo_resume_in_"
_AT = "_at_"


def original_function(name: str) -> str:
    """Return the function that a resume function continues, or ``name`` unchanged."""
    start, end = 0, len(name)
    while name.startswith(_RESUMES, start, end):
        place = name.rfind(_AT, start, end)
        if place <= start + len(_RESUMES) or not name[place + len(_AT) : end].isdecimal():
            break
        start, end = start + len(_RESUMES), place
    return name[start:end]


def resumed_row(name: str) -> int | None:
    """Return the row at which a resume function continues, ``None`` for another name."""
    return None if original_function(name) == name else int(name.rpartition(_AT)[2])


def join_stacks(outer: Stack, inner: Stack) -> Stack:
    """Join the calls that led to a frame with the calls inside the frame.

    A resume function is called by the function that it continues: for the user, both are one call.
    """
    joined: list[StackFrame] = []
    for frame in (*outer, *inner):
        function = original_function(frame.function)
        if function != frame.function:
            frame = replace(frame, function=function)
            if joined and (joined[-1].function, joined[-1].filename) == (function, frame.filename):
                joined.pop()
        joined.append(frame)
    return tuple(joined)


class StackReader:
    """A reader of stacks in which numbers stand for file names.

    A trace defines each number before it is first used.
    """

    def __init__(self) -> None:
        self._strings: dict[int, str] = {}
        self._first_rows: dict[tuple[str, str], set[int]] = {}
        self._long_names: dict[tuple[str, str], str] = {}

    def intern(self, body: Any) -> None:
        """Record which text a number stands for."""
        if isinstance(body, (list, tuple)) and len(body) == 2 and isinstance(body[1], int):
            self._strings[body[1]] = str(body[0])

    def structured(self, frames: Any) -> Stack:
        """Read the stack of a record."""
        if not isinstance(frames, list):
            return ()
        return tuple(
            StackFrame(self._strings.get(f["filename"], UNKNOWN_FILE), f["line"] or 1, f["name"])
            for f in frames
            if isinstance(f, dict) and {"filename", "line", "name"} <= f.keys()
        )

    def joined(self, frames: Any) -> Stack:
        """Read a record's stack; join resume functions with the functions they continue."""
        return join_stacks((), self.structured(frames))

    def first_row(self, frame: StackFrame, *, resumes: bool) -> int:
        """Return the row in which a frame's function begins.

        For a resume function, the row is known from earlier frames of the same function.
        """
        rows = self._first_rows.setdefault((frame.filename, frame.function), set())
        if not resumes:
            rows.add(frame.row)
        return max((row for row in rows if row <= frame.row), default=frame.row)

    def at(self, place: GuardPlace | None, compilation: CompileState | None) -> Stack:
        """Return a guard's place as a stack, with the full name of its file.

        The place itself has a shortened name.
        """
        if place is None:
            return ()
        key = (compilation.started.filename if compilation else "", place.file)
        if key not in self._long_names:
            names = self._filenames(compilation)
            self._long_names[key] = next((name for name in names if name.endswith(place.file)), place.file)
        return (StackFrame(self._long_names[key], place.row, original_function(place.function)),)

    def _filenames(self, compilation: CompileState | None) -> Iterator[str]:
        """Yield all known file names, the compilation's own files first."""
        if compilation:
            yield compilation.started.filename
            if compilation.filenames is None:
                graph = graph_of(compilation)
                names = (node.frame.filename for node in (graph.nodes if graph else ()))
                compilation.filenames = tuple(dict.fromkeys(names))
            yield from compilation.filenames
        yield from self._strings.values()
