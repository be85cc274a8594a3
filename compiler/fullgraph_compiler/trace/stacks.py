"""Stacks of the user's code, as a person would tell them."""

from __future__ import annotations

import re
from dataclasses import replace

from ..facts import Stack, StackFrame

_RESUME = re.compile(r"^torch_dynamo_resume_in_(?P<function>.+)_at_\d+$")


def original_function(name: str) -> str:
    """The function that a resume function continues; ``name`` itself when it is none."""
    found = _RESUME.match(name)
    return original_function(found["function"]) if found else name


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
