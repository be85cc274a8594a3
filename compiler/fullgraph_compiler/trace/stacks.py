"""Stacks of the user's code, without the functions that Dynamo makes."""

from __future__ import annotations

from dataclasses import replace

from ..facts import Stack, StackFrame

_RESUMES = "torch_dynamo_resume_in_"
_AT = "_at_"


def original_function(name: str) -> str:
    """Return the function that a resume function continues; ``name`` itself if it is no resume function."""
    start, end = 0, len(name)
    while name.startswith(_RESUMES, start, end):
        place = name.rfind(_AT, start, end)
        if place <= start + len(_RESUMES) or not name[place + len(_AT) : end].isdecimal():
            break
        start, end = start + len(_RESUMES), place
    return name[start:end]


def resumed_row(name: str) -> int | None:
    """Return the row from which a resume function goes on; ``None`` for any other function."""
    return None if original_function(name) == name else int(name.rpartition(_AT)[2])


def join_stacks(outer: Stack, inner: Stack) -> Stack:
    """Join the calls that led to a frame and those inside it.

    A resume function is called by the function that it continues: to the user, both are one call.
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
