"""Parsers of torch's texts: the message of a graph break, a traceback.

The message is made by ``format_graph_break_message`` and ``unimplemented`` in
``torch/_dynamo/exc.py``::

    <gb_type>
      Explanation: ...
      Hint: ...
      Developer debug context: ...
     For more details about this graph break, please visit: <url>/gbNNNN.html

The labels have been the same since torch 2.8. Where one break led to another, the message of the
second follows the first's behind a line of asterisks: the first is the cause.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..facts import Stack, StackFrame

_URL = re.compile(r"^https?://\S*/(gb\d+)\.html$")
_LABEL = re.compile(r"^\s*(Explanation|Hint|Developer debug context): ?")
_MORE = re.compile(r"^\s*For more details about this graph break")
_INTRODUCTION = re.compile(r"^(Graph break in user code at .*|Graph Break Reason: .*:)$")
"""The lines before the reason: the place, and how Dynamo goes on."""
_SEE = re.compile(r"^For more information about this error, see: (https?://\S+)$", re.MULTILINE)
"""The line in which a ``UserError`` names its page of the documentation."""
_ANOTHER = re.compile(r"^\*\*\* While handling this graph break")
_FRAME = re.compile(r'^\s*File "(?P<file>.+)", line (?P<row>\d+), in (?P<function>.+)')
_USER_CODE = re.compile(
    r"^(from user code:|User code traceback:|User stack trace:|The graph break occurred in)"
)
_CARETS = re.compile(r"^\s*([~^]+)\s*$")
"""Python's marks below a line: ``~~^~~``."""
_TRACEBACK = "Traceback (most recent call last):"


Source: TypeAlias = Callable[[str, int], str]
"""A function from a file name and a row to the text of that line; empty where it is not available."""


def no_source(_filename: str, _row: int) -> str:
    """Return no text, for a log of a run whose files are not available."""
    return ""


@dataclass(frozen=True, slots=True)
class Message:
    """A graph break in torch's words. ``code`` is ``GB0059`` or empty."""

    reason: str
    explanation: str = ""
    hints: tuple[str, ...] = ()
    context: str = ""
    code: str = ""
    url: str = ""


def parse_message(text: str) -> Message:
    """Read the first graph-break message in ``text``; text without labels is the reason."""
    reason = explanation = context = ""
    hints: list[str] = []
    part: list[str] = []
    label = ""
    url: re.Match[str] | None = None

    def close() -> None:
        nonlocal explanation, context
        value = _unwrap(part)
        if label == "Explanation":
            explanation = value
        elif label == "Hint":
            hints.append(value)
        elif label == "Developer debug context":
            context = value
        part.clear()

    for line in text.splitlines():
        found = _LABEL.match(line)
        if found:
            close()
            label = found.group(1)
            part.append(line[found.end() :])
        elif _MORE.match(line):
            url = _URL.match(line.rstrip().rpartition(" ")[2])
            break
        elif _ANOTHER.match(line) or line.startswith(_TRACEBACK) or _USER_CODE.match(line):
            break
        elif label:
            part.append(line)
        elif not reason and line.strip() and not _INTRODUCTION.match(line):
            reason = line.strip().removeprefix("Graph Break Reason: ")
    close()
    page = _SEE.search(text)
    return Message(
        reason=reason,
        explanation=explanation,
        hints=tuple(hints),
        context=context,
        code=url.group(1).upper() if url else "",
        url=url.group(0) if url else page.group(1) if page else "",
    )


def first_line(text: str) -> str:
    """Return the line of an error message that says what happened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # "backend='x' raised:" introduces the error itself.
    if len(lines) > 1 and lines[0].endswith("raised:"):
        return f"{lines[0]} {lines[1]}".removesuffix(":")
    return lines[0] if lines else ""


def parse_user_stack(text: str, source: Source = no_source) -> Stack:
    """Read the stack under "User code traceback:" or "from user code:"; empty where there is none."""
    lines = text.splitlines()
    start = next((index for index, line in enumerate(lines) if _USER_CODE.match(line)), None)
    return () if start is None else parse_frames(lines[start + 1 :], source)


def parse_frames(lines: list[str], source: Source = no_source) -> Stack:
    """Read the frames of a traceback, outermost first, up to the next traceback.

    Carets below a line give its columns, if ``source`` has the line with its indentation.
    """
    frames = []
    for index, line in enumerate(lines):
        if line.startswith(_TRACEBACK):
            break
        found = _FRAME.match(line)
        if found:
            frame = StackFrame(found["file"], int(found["row"]), found["function"])
            frames.append(_placed(frame, lines[index + 1 : index + 3], source))
    return tuple(frames)


def _placed(frame: StackFrame, below: list[str], source: Source) -> StackFrame:
    """Add columns to a frame.

    ``below`` holds the frame's source line, without its indentation, and perhaps a line of carets.
    """
    carets = _CARETS.match(below[1]) if len(below) > 1 else None
    if not carets:
        return frame
    text = below[0].strip()
    line = source(frame.filename, frame.row).rstrip()
    if not text or not line.endswith(text):
        return frame
    # Both lines have the same indentation before what counts.
    shift = len(line) - len(text) - (len(below[0]) - len(below[0].lstrip()))
    places = (_characters(below[0], width) + shift for width in carets.span(1))
    column, end_column = (len(line[:place].encode("utf-8", "surrogatepass")) for place in places)
    return replace(frame, column=column, end_row=frame.row, end_column=end_column)


def _characters(line: str, width: int) -> int:
    """Count the characters that fill a width on the screen, by which torch places its carets."""
    for number, character in enumerate(line):
        if width <= 0:
            return number
        width -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return len(line)


def _unwrap(lines: list[str]) -> str:
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(line.rstrip() for line in lines).strip()
