"""Stacks of the user's code, as a person would tell them."""

from __future__ import annotations

from dataclasses import replace

from ..facts import Stack, StackFrame

_RESUMES = "torch_dynamo_resume_in_"
_AT = "_at_"


def original_function(name: str) -> str:
    """The function that a resume function continues; ``name`` itself when it is none."""
    start, end = 0, len(name)
    while name.startswith(_RESUMES, start, end):
        place = name.rfind(_AT, start, end)
        if place <= start + len(_RESUMES) or not name[place + len(_AT) : end].isdecimal():
            break
        start, end = start + len(_RESUMES), place
    return name[start:end]


def join_stacks(outer: Stack, inner: Stack) -> Stack:
    """One stack of the calls that led to a frame and those inside it.

    A resume function is called by the function that it continues: the two are one call to a person.
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
